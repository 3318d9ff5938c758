//! What the crate promises: every public item of the sources, in a listing that is checked in. A change of the listing is a
//! change for users, so it shows up in a review.

use std::fmt::Write;
use std::fs;
use std::path::Path;

/// The declarations of a formatted source file: `pub` items, fields and variants of public types, up to their bodies.
fn declarations(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut lines = text.lines().peekable();
    let mut public_enum = None;
    while let Some(line) = lines.next() {
        if line.starts_with("#[cfg(test)]") {
            break;
        }
        let (trimmed, indent) = (line.trim_start(), line.len() - line.trim_start().len());
        if public_enum == Some(indent) && trimmed == "}" {
            public_enum = None;
        }
        let is_variant = public_enum.is_some_and(|at| indent == at + 4) && trimmed.starts_with(char::is_uppercase);
        let is_impl = trimmed.starts_with("impl") && indent == 0;
        if !trimmed.starts_with("pub ") && !is_variant && !is_impl {
            continue;
        }
        let mut item = trimmed.to_owned();
        let ends =
            |item: &str| item.ends_with(['{', ';', ',', '}']) && item.matches('(').count() == item.matches(')').count();
        while !ends(&item) {
            let Some(next) = lines.next() else { break };
            let glue = if item.ends_with('(') || next.trim_start().starts_with(')') { "" } else { " " };
            item = format!("{item}{glue}{}", next.trim());
        }
        if item.starts_with("pub enum") {
            public_enum = Some(indent);
        }
        out.push(format!("{}{}", " ".repeat(indent), item.trim_end_matches(['{', ' ', ';', ','])));
    }
    out
}

fn listing(root: &Path) -> String {
    let mut files: Vec<_> = fs::read_dir(root.join("src")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut out = String::new();
    for file in files {
        let found = declarations(&fs::read_to_string(&file).unwrap());
        // An `impl` without public items says nothing.
        let kept = found.iter().enumerate().filter(|(at, line)| {
            let inner = found.get(at + 1).is_some_and(|next| next.starts_with(' '));
            !line.starts_with("impl") || inner || line.contains(" for ")
        });
        let lines: Vec<&str> = kept.map(|(_, line)| line.as_str()).collect();
        if !lines.is_empty() {
            let _ = writeln!(out, "# {}\n{}\n", file.file_name().unwrap().to_string_lossy(), lines.join("\n"));
        }
    }
    out
}

#[test]
fn the_public_api_is_the_one_that_is_checked_in() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (file, found) = (root.join("public-api.txt"), listing(root));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&file, &found).unwrap();
    }
    let known = fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(known, found, "the public API changed: run with UPDATE_DOCS=1, and look at the difference");
}
