//! Inserts our entries into a JSON file and removes them. Every step parses the text again, so that positions are
//! always right.

use punch_core::splice::{is_blank, mark_end};
use serde_json::{Value, json};

use super::SettingsFileError;
use super::commands::{HOOKS, Hooks, SettingsEntry, is_our_group, is_our_handler, is_our_server, with_kept_arguments};
use super::jsonc::{JsonKind, JsonTree, insert, member, put, remove};

/// The text with every entry.
pub fn wire(text: &str, entries: &[SettingsEntry]) -> Result<String, SettingsFileError> {
    let mut text = if is_blank(text) { format!("{}{{}}\n", &text[..mark_end(text)]) } else { text.to_owned() };
    for entry in entries {
        let path = entry.path();
        text = match entry {
            SettingsEntry::Member(_, value) => set(&text, &path, value)?,
            SettingsEntry::Server(_, value) => {
                let tree = JsonTree::read(&text)?;
                let there = find(&tree, &path)?;
                if let Some(node) = there.filter(|node| !is_our_server(&tree.value_of(*node))) {
                    let what = format!("`{}` is another server called `punch`: rename it", path.join("."));
                    return Err(tree.wrong(node, what));
                }
                let there = there.map_or(Value::Null, |node| tree.value_of(node).clone());
                set(&text, &path, &with_kept_arguments(value, &there))?
            }
            SettingsEntry::Default(_, value) => match find(&JsonTree::read(&text)?, &path)? {
                Some(_) => text,
                None => set(&text, &path, value)?,
            },
            SettingsEntry::Item(_, value) => push(&text, &path, value, &|item| item == value)?,
            SettingsEntry::Hooks(hooks) => wire_hooks(&text, hooks)?,
            SettingsEntry::Absent(entry) => unwire(&text, std::slice::from_ref(&**entry), &[])?,
        };
    }
    JsonTree::read(&text)?;
    Ok(text)
}

/// Returns the text without any entry, and without what became empty, except `kept`.
pub fn unwire(text: &str, entries: &[SettingsEntry], kept: &[Vec<String>]) -> Result<String, SettingsFileError> {
    if is_blank(text) {
        return Ok(text.to_owned());
    }
    let mut text = text.to_owned();
    JsonTree::read(&text)?;
    for entry in entries {
        let path = entry.path();
        let (without, holders) = match entry {
            SettingsEntry::Member(..) => (drop_member(&text, &path)?, path.len() - 1),
            SettingsEntry::Server(..) => {
                let tree = JsonTree::read(&text)?;
                match find(&tree, &path)?.is_some_and(|node| is_our_server(&tree.value_of(node))) {
                    true => (drop_member(&text, &path)?, path.len() - 1),
                    false => continue,
                }
            }
            SettingsEntry::Item(_, value) => (drop_items(&text, &path, &|item| item == value)?, path.len()),
            SettingsEntry::Hooks(hooks) => {
                text = drop_hooks(&text, hooks.agent, &[], kept)?;
                continue;
            }
            SettingsEntry::Default(..) => continue,
            SettingsEntry::Absent(entry) => {
                text = unwire(&text, std::slice::from_ref(&**entry), kept)?;
                continue;
            }
        };
        if without != text {
            text = prune(&without, &path[..holders], kept)?;
        }
    }
    Ok(text)
}

/// The containers on the way to the entries that are there.
pub fn containers(text: &str, entries: &[SettingsEntry]) -> Vec<Vec<String>> {
    let Ok(tree) = JsonTree::read(text) else { return Vec::new() };
    let mut out: Vec<Vec<String>> = Vec::new();
    let mut add = |path: &[&str]| {
        let owned: Vec<String> = path.iter().map(|name| (*name).to_owned()).collect();
        if !out.contains(&owned) && find(&tree, path).is_ok_and(|found| found.is_some()) {
            out.push(owned);
        }
    };
    for entry in entries {
        let path = entry.path();
        (1..=path.len()).for_each(|length| add(&path[..length]));
        if matches!(entry, SettingsEntry::Hooks(_)) {
            events(&tree).iter().for_each(|event| add(&[HOOKS, event]));
        }
    }
    out
}

/// Returns true if the text is an object with nothing in it but the defaults that a new file gets.
pub fn is_bare(text: &str, entries: &[SettingsEntry]) -> bool {
    let is_default = |name: &str, value: &Value| {
        let same = |entry: &SettingsEntry| matches!(entry, SettingsEntry::Default(path, wanted) if *path == [name] && wanted == value);
        entries.iter().any(same)
    };
    is_blank(text)
        || JsonTree::read(text).is_ok_and(|tree| {
            let members = tree.value().as_object();
            tree.comment.is_none() && members.is_some_and(|map| map.iter().all(|(name, value)| is_default(name, value)))
        })
}

/// One group for each event, and none of another version's events.
fn wire_hooks(text: &str, hooks: &Hooks) -> Result<String, SettingsFileError> {
    let mut text = text.to_owned();
    let value = JsonTree::read(&text)?.value().clone();
    let is_ours = |group: &Value| is_our_group(group, hooks.agent);
    for (event, group) in &hooks.events {
        text = match value[HOOKS][event].as_array() {
            Some(groups) if groups.iter().filter(|group| is_ours(group)).eq([group]) => text,
            _ => push(&text, &[HOOKS, event], group, &is_ours)?,
        };
        // A user may have put a hook of ours into a group with others.
        if is_mixed(&value, event, hooks.agent) {
            text = drop_handlers(&text, &[HOOKS, event], hooks.agent)?;
        }
    }
    let wanted: Vec<&str> = hooks.events.iter().map(|(event, _)| event.as_str()).collect();
    drop_hooks(&text, hooks.agent, &wanted, &[])
}

/// Removes the hooks of an agent from all events but `except`.
fn drop_hooks(text: &str, agent: &str, except: &[&str], kept: &[Vec<String>]) -> Result<String, SettingsFileError> {
    let mut text = text.to_owned();
    let tree = JsonTree::read(&text)?;
    let value = tree.value();
    for event in events(&tree).iter().filter(|event| !except.contains(&event.as_str())) {
        let path = [HOOKS, event];
        let groups = value[HOOKS][event].as_array().map_or(&[][..], Vec::as_slice);
        let (has_ours, mixed) = (groups.iter().any(|group| is_our_group(group, agent)), is_mixed(value, event, agent));
        if has_ours {
            text = drop_items(&text, &path, &|item| is_our_group(item, agent))?;
        }
        if mixed {
            text = drop_handlers(&text, &path, agent)?;
        }
        if has_ours || mixed {
            text = prune(&text, &path, kept)?;
        }
    }
    Ok(text)
}

/// Returns true if one of our hooks is in a group with others.
fn is_mixed(value: &Value, event: &str, agent: &str) -> bool {
    let groups = value[HOOKS][event].as_array().map_or(&[][..], Vec::as_slice);
    groups.iter().filter(|group| !is_our_group(group, agent)).any(|group| {
        let handlers = group[HOOKS].as_array().map_or(&[][..], Vec::as_slice);
        handlers.iter().any(|handler| is_our_handler(handler, agent))
    })
}

/// The names of all events with hooks.
fn events(tree: &JsonTree) -> Vec<String> {
    match tree.value().get(HOOKS) {
        Some(Value::Object(events)) => events.keys().cloned().collect(),
        _ => Vec::new(),
    }
}

fn find(tree: &JsonTree, path: &[&str]) -> Result<Option<usize>, SettingsFileError> {
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
fn set(text: &str, path: &[&str], value: &Value) -> Result<String, SettingsFileError> {
    let tree = JsonTree::read(text)?;
    match (find(&tree, path)?, value) {
        (None, _) => grow(text, &tree, path, value),
        (Some(node), Value::Object(wanted)) if matches!(tree.node(node).kind, JsonKind::Object(_)) => {
            let mut text = text.to_owned();
            for (name, value) in wanted {
                let path: Vec<&str> = path.iter().copied().chain([name.as_str()]).collect();
                let tree = JsonTree::read(&text)?;
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
fn grow(text: &str, tree: &JsonTree, path: &[&str], value: &Value) -> Result<String, SettingsFileError> {
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
            grow(&text, &JsonTree::read(&text)?, path, value)
        }
    }
}

/// Makes sure that an array has one item of ours, and that it is this one.
fn push(
    text: &str,
    path: &[&str],
    value: &Value,
    is_ours: &dyn Fn(&Value) -> bool,
) -> Result<String, SettingsFileError> {
    let tree = JsonTree::read(text)?;
    let Some(node) = find(&tree, path)? else {
        return grow(text, &tree, path, &Value::Array(vec![value.clone()]));
    };
    let JsonKind::Array(items) = &tree.node(node).kind else {
        return Err(tree.wrong(node, format!("`{}` is not an array", path.join("."))));
    };
    let ours: Vec<Value> = items.iter().map(|item| tree.value_of(*item)).filter(is_ours).collect();
    if ours.len() == 1 && ours[0] == *value {
        return Ok(text.to_owned());
    }
    let text = drop_items(text, path, is_ours)?;
    let tree = JsonTree::read(&text)?;
    match find(&tree, path)? {
        Some(node) => Ok(insert(&text, &tree, node, (None, value))),
        None => grow(&text, &tree, path, &Value::Array(vec![value.clone()])),
    }
}

fn drop_member(text: &str, path: &[&str]) -> Result<String, SettingsFileError> {
    let tree = JsonTree::read(text)?;
    let Some((name, holders)) = path.split_last() else { return Ok(text.to_owned()) };
    let Some(holder) = find(&tree, holders)? else { return Ok(text.to_owned()) };
    let JsonKind::Object(members) = &tree.node(holder).kind else { return Ok(text.to_owned()) };
    Ok(match members.iter().position(|(key, ..)| key == name) {
        Some(index) => remove(text, &tree, holder, index),
        None => text.to_owned(),
    })
}

fn drop_items(text: &str, path: &[&str], is_ours: &dyn Fn(&Value) -> bool) -> Result<String, SettingsFileError> {
    let mut text = text.to_owned();
    loop {
        let tree = JsonTree::read(&text)?;
        let Some(node) = find(&tree, path)? else { return Ok(text) };
        let JsonKind::Array(items) = &tree.node(node).kind else { return Ok(text) };
        match items.iter().position(|item| is_ours(&tree.value_of(*item))) {
            Some(index) => text = remove(&text, &tree, node, index),
            None => return Ok(text),
        }
    }
}

/// Removes our hooks from groups that hold other hooks too. A group with nothing but ours stays.
fn drop_handlers(text: &str, path: &[&str], agent: &str) -> Result<String, SettingsFileError> {
    let mut text = text.to_owned();
    loop {
        let tree = JsonTree::read(&text)?;
        let Some(node) = find(&tree, path)? else { return Ok(text) };
        let JsonKind::Array(groups) = &tree.node(node).kind else { return Ok(text) };
        let ours = groups.iter().filter(|group| !is_our_group(&tree.value_of(**group), agent)).find_map(|group| {
            let handlers = tree.member(*group, HOOKS).ok().flatten()?;
            let JsonKind::Array(found) = &tree.node(handlers).kind else { return None };
            let index = found.iter().position(|handler| is_our_handler(&tree.value_of(*handler), agent))?;
            Some((handlers, index))
        });
        match ours {
            Some((handlers, index)) => text = remove(&text, &tree, handlers, index),
            None => return Ok(text),
        }
    }
}

/// Takes empty containers away, from the innermost outwards.
fn prune(text: &str, path: &[&str], kept: &[Vec<String>]) -> Result<String, SettingsFileError> {
    let mut text = text.to_owned();
    for length in (1..=path.len()).rev() {
        let path = &path[..length];
        let tree = JsonTree::read(&text)?;
        let Some(node) = find(&tree, path)? else { continue };
        let empty = match &tree.node(node).kind {
            JsonKind::Object(members) => members.is_empty(),
            JsonKind::Array(items) => items.is_empty(),
            JsonKind::Scalar => false,
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
