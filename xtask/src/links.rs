//! Links in Markdown files: every relative link must lead to a file of the tree, and every anchor to a heading or an
//! explicit `id`. Links to other hosts are not followed, because the gate needs no network.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::{TaskResult, process, sources};

/// Folders that hold no documentation of ours.
const SKIPPED: &[&str] = &["target", "node_modules", ".git"];

/// Fails with every dead link and unknown anchor.
pub fn check() -> TaskResult {
    let root = process::root();
    let mut anchors = HashMap::new();
    let mut wrong = Vec::new();
    for file in markdown_files(&root)? {
        let text = fs::read_to_string(&file).map_err(|cause| format!("{}: {cause}", file.display()))?;
        for (line, link) in links(&text) {
            if let Some(what) = problem(&file, &link, &mut anchors) {
                let name = file.strip_prefix(&root).unwrap_or(&file).display();
                wrong.push(format!("{name}:{line}: `{link}` {what}"));
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// Lists the Markdown files of the tree.
pub fn markdown_files(root: &Path) -> Result<Vec<PathBuf>, String> {
    let mut out = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in sources::entries(&folder)? {
            let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if entry.is_dir() && !entry.is_symlink() && !SKIPPED.contains(&name.as_str()) {
                open.push(entry);
            } else if name.ends_with(".md") && !entry.is_symlink() {
                out.push(entry);
            }
        }
    }
    out.sort();
    Ok(out)
}

/// Says what is wrong with a link in a file; `None` if it leads somewhere.
fn problem(file: &Path, link: &str, anchors: &mut HashMap<PathBuf, HashSet<String>>) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
    let target = if path.is_empty() { file.to_owned() } else { tidy(&file.parent()?.join(path)) };
    if !target.exists() {
        return Some("does not exist".to_owned());
    }
    let anchor = anchor?;
    if target.extension().is_none_or(|extension| extension != "md") {
        return Some("has an anchor, but is not Markdown".to_owned());
    }
    let known = anchors.entry(target.clone()).or_insert_with(|| {
        let text = fs::read_to_string(&target).unwrap_or_default();
        headings(&text)
    });
    (!known.contains(anchor)).then(|| format!("has no heading for `#{anchor}`"))
}

/// Resolves `..` and `.` without asking the file system.
fn tidy(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}

/// Lines of prose with their numbers from 1: code fences are skipped, and inline code is blanked out.
fn prose(text: &str) -> impl Iterator<Item = (usize, String)> + '_ {
    let mut fence = false;
    text.lines().enumerate().filter_map(move |(n, line)| {
        let marks = line.trim_start();
        if marks.starts_with("```") || marks.starts_with("~~~") {
            fence = !fence;
            return None;
        }
        let blank = |(at, part): (usize, &str)| if at % 2 == 1 { "code".to_owned() } else { part.to_owned() };
        (!fence).then(|| (n + 1, line.split('`').enumerate().map(blank).collect::<String>()))
    })
}

/// Targets of `[text](target)`, of `[name]: target`, and of `href` and `src` attributes.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut out = Vec::new();
    for (n, line) in prose(text) {
        for part in line.split("](").skip(1) {
            let target = part.split([')', ' ']).next().unwrap_or_default();
            out.push((n, target.to_owned()));
        }
        for attribute in ["href=\"", "src=\"", "srcset=\""] {
            let quoted = line.split(attribute).skip(1).filter_map(|part| part.split('"').next());
            out.extend(quoted.map(|target| (n, target.to_owned())));
        }
        let definition = line.strip_prefix('[').and_then(|rest| rest.split_once("]: "));
        if let Some((name, target)) = definition.filter(|(name, _)| !name.contains(']')) {
            debug_assert!(!name.is_empty());
            out.push((n, target.split_whitespace().next().unwrap_or_default().to_owned()));
        }
    }
    out
}

/// Anchors of a page as GitHub makes them from its headings, and explicit ids.
fn headings(text: &str) -> HashSet<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut out = HashSet::new();
    let mut fence = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fence = !fence;
        }
        for attribute in ["id=\"", "name=\""] {
            let quoted = line.split(attribute).skip(1).filter_map(|part| part.split('"').next());
            out.extend(quoted.map(str::to_owned));
        }
        let title = line.trim_start_matches('#');
        if fence || title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let slug = slug(title);
        let count = seen.entry(slug.clone()).or_default();
        out.insert(if *count == 0 { slug.clone() } else { format!("{slug}-{count}") });
        *count += 1;
    }
    out
}

/// The anchor of a heading: lower case, blanks as hyphens, without punctuation; of a link only its text.
fn slug(title: &str) -> String {
    let mut text = String::new();
    let mut rest = title.trim();
    while let Some((before, after)) = rest.split_once("](") {
        text.push_str(before);
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_outside_code_only() {
        let text = "See [a](x.md#y), `[b](gone.md)` and <img src=\"i.svg\">.\n```\n[c](gone.md)\n```\n[d]: e.md";
        let found: Vec<(usize, String)> = links(text);
        assert_eq!(found, [(1, "x.md#y".into()), (1, "i.svg".into()), (5, "e.md".into())]);
    }

    #[test]
    fn anchors_are_made_as_on_github() {
        let known = headings("# Who wins\n## `punch run`: how it ends\n### Who wins\n<a id=\"here\"></a>\n#no\n");
        let mut known: Vec<&str> = known.iter().map(String::as_str).collect();
        known.sort_unstable();
        assert_eq!(known, ["here", "punch-run-how-it-ends", "who-wins", "who-wins-1"]);
    }

    #[test]
    fn a_dead_link_and_an_unknown_anchor_are_reported() {
        let page = process::root().join("docs/style.md");
        let mut anchors = HashMap::new();
        assert_eq!(problem(&page, "rules.md", &mut anchors), None);
        assert_eq!(problem(&page, "../README.md", &mut anchors), None);
        assert_eq!(problem(&page, "https://example.org/x", &mut anchors), None);
        assert!(problem(&page, "gone.md", &mut anchors).is_some());
        assert!(problem(&page, "rules.md#gone", &mut anchors).is_some());
    }
}
