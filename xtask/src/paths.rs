//! Finds paths in Rust source, grouped imports opened up. A rough reading, enough to keep honest people honest: it
//! skips comments, and takes everything else for code.

/// The first path in `text` that leads to `never`: the thing itself, something inside it, or a module above it
/// that was imported as such (or with `*`) and makes it reachable under another name.
pub fn reaching(text: &str, never: &str) -> Option<String> {
    let root = never.split("::").next().unwrap_or(never);
    all(text, root).into_iter().find(|path| {
        let path = path.trim_end_matches("::*");
        is_within(path, never) || is_within(never, path)
    })
}

fn is_within(path: &str, parent: &str) -> bool {
    path.strip_prefix(parent).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// Every path in `text` that starts at `root`.
fn all(text: &str, root: &str) -> Vec<String> {
    let words = words(text);
    let mut out = Vec::new();
    for (at, pair) in words.windows(2).enumerate() {
        // `crate::std::x` does not start at `std`.
        let begins = at == 0 || words[at - 1] != "::" || at < 2 || !is_name(words[at - 2]);
        if pair == [root, "::"] && begins {
            out.extend(tree(root, &words[at + 1..]));
        }
    }
    out
}

/// The paths of one import tree, from behind its root.
fn tree(root: &str, words: &[&str]) -> Vec<String> {
    let mut out = Vec::new();
    // One prefix per open group, and the path that is being read, if any.
    let mut prefixes: Vec<String> = Vec::new();
    let mut path = Some(root.to_owned());
    let mut after_colons = false;
    for &word in words {
        let grouped = !prefixes.is_empty();
        match (word, &path) {
            ("::", _) => {
                after_colons = true;
                continue;
            }
            ("{", Some(prefix)) if after_colons => {
                prefixes.push(prefix.clone());
                path = None;
            }
            ("," | "}", _) if grouped => {
                out.extend(path.take());
                if word == "}" {
                    prefixes.pop();
                }
                if prefixes.is_empty() {
                    return out;
                }
            }
            (name, Some(parent)) if after_colons && is_name(name) => path = Some(join(parent, name)),
            (name, None) if is_name(name) => path = prefixes.last().map(|prefix| join(prefix, name)),
            // A renaming inside a group; the path was complete before it.
            _ if grouped => {}
            _ => break,
        }
        after_colons = false;
    }
    out.extend(path);
    out
}

fn join(path: &str, name: &str) -> String {
    if name == "self" { path.to_owned() } else { format!("{path}::{name}") }
}

fn is_name(word: &str) -> bool {
    word == "*" || word.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Names, `::` and single signs, without comments and white space.
fn words(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    for line in text.lines() {
        let mut rest = line.split_once("//").map_or(line, |(code, _)| code).trim_start();
        while let Some(first) = rest.chars().next() {
            let length = if first.is_alphanumeric() || first == '_' {
                rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
            } else if rest.starts_with("::") {
                2
            } else {
                first.len_utf8()
            };
            let (word, tail) = rest.split_at(length);
            out.push(word);
            rest = tail.trim_start();
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_opened_up() {
        let text =
            "use std::{\n    collections::{BTreeMap, HashMap as Map}, // std::fs\n    fmt::{self, Write}, io,\n};";
        assert_eq!(
            all(text, "std"),
            ["std::collections::BTreeMap", "std::collections::HashMap", "std::fmt", "std::fmt::Write", "std::io"]
        );
    }

    #[test]
    fn plain_paths_end_where_the_path_ends() {
        assert_eq!(all("let x: std::time::Duration = f(a::b);", "std"), ["std::time::Duration"]);
        assert_eq!(all("if a == std::mem::take(b) { c } else { d }", "std"), ["std::mem::take"]);
        assert_eq!(all("my::std::fs::read()", "std"), [""; 0]);
    }

    #[test]
    fn a_thing_is_reached_directly_through_a_parent_or_by_a_star() {
        let never = "std::time::Instant";
        for text in ["std::time::Instant::now()", "use std::time;", "use std::time::*;", "use std::{time::{Instant}};"]
        {
            assert!(reaching(text, never).is_some(), "{text}");
        }
        for text in ["std::time::Duration", "use std::{time::Duration, fmt};", "// std::time::Instant"] {
            assert!(reaching(text, never).is_none(), "{text}");
        }
    }

    #[test]
    fn names_that_only_begin_alike_are_no_match() {
        assert_eq!(reaching("std::fs_extra::x", "std::fs"), None);
        assert_eq!(reaching("std::environment", "std::env"), None);
    }
}
