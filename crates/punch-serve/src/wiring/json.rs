//! Wanted parts put into a JSON file, and taken out. Every step reads the text anew, so that places are always right.

use serde_json::{Value, json};

use super::Wrong;
use super::commands::{Entry, is_our_handler, is_ours};
use super::jsonc::{Kind, Tree, insert, member, put, remove};

/// The text with every entry.
pub fn wire(text: &str, entries: &[Entry]) -> Result<String, Wrong> {
    let inside = text.trim_start_matches('\u{feff}');
    let mark = &text[..text.len() - inside.len()];
    let mut text = if inside.trim().is_empty() { format!("{mark}{{}}\n") } else { text.to_owned() };
    for entry in entries {
        text = match entry {
            Entry::Member(path, value) => set(&text, path, value)?,
            Entry::Default(path, value) => match find(&Tree::read(&text)?, path)? {
                Some(_) => text,
                None => set(&text, path, value)?,
            },
            Entry::Item(path, value) => push(&text, path, value)?,
        };
    }
    Tree::read(&text)?;
    Ok(text)
}

/// The text without any entry, and without what got empty by it except `kept`.
pub fn unwire(text: &str, entries: &[Entry], kept: &[Vec<String>]) -> Result<String, Wrong> {
    let mut text = text.to_owned();
    Tree::read(&text)?;
    for entry in entries {
        let path = entry.path();
        let without = match entry {
            Entry::Member(path, _) => drop_member(&text, path)?,
            Entry::Item(path, value) => drop_items(&text, path, value)?,
            Entry::Default(..) => continue,
        };
        if without != text {
            let holders = if matches!(entry, Entry::Item(..)) { path.len() } else { path.len() - 1 };
            text = prune(&without, &path[..holders], kept)?;
        }
    }
    Ok(text)
}

/// The containers on the way to the entries that are there.
pub fn containers(text: &str, entries: &[Entry]) -> Vec<Vec<String>> {
    let Ok(tree) = Tree::read(text) else { return Vec::new() };
    let mut out = Vec::new();
    for entry in entries {
        for length in 1..=entry.path().len() {
            let path: Vec<String> = entry.path()[..length].iter().map(|name| (*name).to_owned()).collect();
            if !out.contains(&path) && find(&tree, &entry.path()[..length]).is_ok_and(|found| found.is_some()) {
                out.push(path);
            }
        }
    }
    out
}

/// Whether the text is an object with nothing in it, or with nothing but what a new file gets anyway.
pub fn is_bare(text: &str) -> bool {
    let bare = |value: &Value| value.as_object().is_some_and(|map| map.keys().all(|key| key == "version"));
    let comments = text.contains("//") || text.contains("/*");
    !comments && Tree::read(text).is_ok_and(|tree| bare(tree.value()))
}

fn find(tree: &Tree, path: &[&str]) -> Result<Option<usize>, Wrong> {
    let mut node = tree.root();
    for name in path {
        match tree.member(node, name)? {
            Some(next) => node = next,
            None => return Ok(None),
        }
    }
    Ok(Some(node))
}

/// Sets a member; inside an object that is there only what differs.
fn set(text: &str, path: &[&str], value: &Value) -> Result<String, Wrong> {
    let tree = Tree::read(text)?;
    match (find(&tree, path)?, value) {
        (None, _) => grow(text, &tree, path, value),
        (Some(node), Value::Object(wanted)) if matches!(tree.node(node).kind, Kind::Object(_)) => {
            let mut text = text.to_owned();
            for (name, value) in wanted {
                let path: Vec<&str> = path.iter().copied().chain([name.as_str()]).collect();
                let tree = Tree::read(&text)?;
                text = match find(&tree, &path)? {
                    None => grow(&text, &tree, &path, value)?,
                    Some(node) if tree.value_of(node) == *value => text,
                    Some(node) => put(&text, &tree, node, value),
                };
            }
            Ok(text)
        }
        (Some(node), _) if tree.value_of(node) == *value => Ok(text.to_owned()),
        (Some(node), _) => Ok(put(text, &tree, node, value)),
    }
}

/// Puts in what is missing of a path, with the value at its end: one container at a time, so that each gets its lines.
fn grow(text: &str, tree: &Tree, path: &[&str], value: &Value) -> Result<String, Wrong> {
    let mut node = tree.root();
    let mut rest = path;
    while let [name, further @ ..] = rest {
        match tree.member(node, name)? {
            Some(next) => (node, rest) = (next, further),
            None => break,
        }
    }
    match rest {
        [] => Ok(text.to_owned()),
        [name] => Ok(insert(text, tree, node, member(name, value))),
        [name, ..] => {
            let text = insert(text, tree, node, member(name, &json!({})));
            grow(&text, &Tree::read(&text)?, path, value)
        }
    }
}

/// One item of ours in an array, as it should be.
fn push(text: &str, path: &[&str], value: &Value) -> Result<String, Wrong> {
    let tree = Tree::read(text)?;
    let Some(node) = find(&tree, path)? else {
        return grow(text, &tree, path, &Value::Array(vec![value.clone()]));
    };
    let Kind::Array(items) = &tree.node(node).kind else {
        return Err(tree.wrong(node, format!("`{}` is no array", path.join("."))));
    };
    let ours: Vec<Value> = items.iter().map(|item| tree.value_of(*item)).filter(|item| is_ours(item, value)).collect();
    if ours.len() == 1 && ours[0] == *value {
        return Ok(text.to_owned());
    }
    let text = drop_items(text, path, value)?;
    let tree = Tree::read(&text)?;
    match find(&tree, path)? {
        Some(node) => Ok(insert(&text, &tree, node, (None, value))),
        None => grow(&text, &tree, path, &Value::Array(vec![value.clone()])),
    }
}

fn drop_member(text: &str, path: &[&str]) -> Result<String, Wrong> {
    let tree = Tree::read(text)?;
    let Some((name, holders)) = path.split_last() else { return Ok(text.to_owned()) };
    let Some(holder) = find(&tree, holders)? else { return Ok(text.to_owned()) };
    let Kind::Object(members) = &tree.node(holder).kind else { return Ok(text.to_owned()) };
    Ok(match members.iter().position(|(key, ..)| key == name) {
        Some(index) => remove(text, &tree, holder, index),
        None => text.to_owned(),
    })
}

fn drop_items(text: &str, path: &[&str], wanted: &Value) -> Result<String, Wrong> {
    let mut text = text.to_owned();
    loop {
        let tree = Tree::read(&text)?;
        let Some(node) = find(&tree, path)? else { return Ok(text) };
        let Kind::Array(items) = &tree.node(node).kind else { return Ok(text) };
        if let Some(index) = items.iter().position(|item| is_ours(&tree.value_of(*item), wanted)) {
            text = remove(&text, &tree, node, index);
            continue;
        }
        // A person may have put a hook of ours into a group with others.
        let mixed = items.iter().find_map(|item| {
            let hooks = tree.member(*item, "hooks").ok().flatten()?;
            let Kind::Array(handlers) = &tree.node(hooks).kind else { return None };
            let index = handlers.iter().position(|handler| is_our_handler(&tree.value_of(*handler), wanted))?;
            Some((hooks, index))
        });
        match mixed {
            Some((hooks, index)) => text = remove(&text, &tree, hooks, index),
            None => return Ok(text),
        }
    }
}

/// Takes empty containers away, from the innermost outwards.
fn prune(text: &str, path: &[&str], kept: &[Vec<String>]) -> Result<String, Wrong> {
    let mut text = text.to_owned();
    for length in (1..=path.len()).rev() {
        let path = &path[..length];
        let tree = Tree::read(&text)?;
        let Some(node) = find(&tree, path)? else { continue };
        let empty = match &tree.node(node).kind {
            Kind::Object(members) => members.is_empty(),
            Kind::Array(items) => items.is_empty(),
            Kind::Scalar => false,
        };
        let span = tree.node(node).span.clone();
        let commented = text[span].contains('/');
        if !empty || commented || kept.iter().any(|kept| kept.iter().map(String::as_str).eq(path.iter().copied())) {
            break;
        }
        text = drop_member(&text, path)?;
    }
    Ok(text)
}
