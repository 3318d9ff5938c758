//! Words that texts of this project do not use. Reads Markdown and Rust files line by line, so comments, messages and
//! names are all covered. Each entry says what to write instead; the reasons are in `docs/style.md`.

use std::fs;
use std::path::Path;

use crate::{TaskResult, links, process, sources};

/// A retired phrase.
struct RetiredPhrase {
    /// The phrase, in lower case. It is found as whole words.
    phrase: &'static str,
    /// What to write instead.
    instead: &'static str,
    /// Words directly before it that make it right.
    unless_after: &'static [&'static str],
    /// Words directly after it that make it right.
    unless_before: &'static [&'static str],
}

const fn retired(phrase: &'static str, instead: &'static str) -> RetiredPhrase {
    RetiredPhrase { phrase, instead, unless_after: &[], unless_before: &[] }
}

/// Subjects for which "is no" is plain English.
const THERE: &[&str] = &["there", "it", "that", "this"];

/// Words after "is no" that are plain English.
const LONGER: &[&str] = &["longer", "more", "one", "different", "better", "worse", "such", "use", "good", "need"];

/// As `LONGER`, and what is called a no-op.
const NO_OPS: &[&str] = &["longer", "more", "one", "different", "better", "worse", "such", "ops"];

/// Words after "is told" that make it plain English: someone is told something.
const TELLING: &[&str] =
    &["that", "to", "what", "when", "why", "which", "how", "about", "if", "by", "so", "everything"];

const RETIRED: &[RetiredPhrase] = &[
    RetiredPhrase {
        phrase: "is told",
        instead: "report, warn, print, show",
        unless_after: &[],
        unless_before: TELLING,
    },
    RetiredPhrase {
        phrase: "are told",
        instead: "report, warn, print, show",
        unless_after: &[],
        unless_before: TELLING,
    },
    retired("told apart", "distinguish"),
    retired("go on", "continue"),
    retired("goes on", "continues"),
    retired("going on with", "continue with"),
    retired("take back", "undo"),
    retired("takes back", "undo"),
    retired("took back", "undo"),
    retired("taken back", "undone"),
    retired("taking back", "undo"),
    retired("went on", "continued"),
    retired("gone on", "continued"),
    retired("mend", "fix"),
    retired("mended", "fixed"),
    retired("mends", "fixes"),
    retired("mending", "fixing"),
    retired("a person", "you, or the user"),
    retired("a human", "you, or the user"),
    retired("somebody", "someone, or name the role"),
    retired("anybody", "anyone, or name the role"),
    retired("work tree", "worktree"),
    retired("work trees", "worktrees"),
    retired("waits itself", "is blocked"),
    retired("stands still", "is blocked"),
    retired("unwired", "disconnected"),
    retired("was let stop", "was allowed to stop"),
    retired("not let stop", "not allowed to stop"),
    retired("so many", "at most N"),
    retired("by now", "already"),
    retired("behind the write", "after the write"),
    retired("behind a write", "after a write"),
    retired("todo(s)", "the right plural"),
    retired("colour", "color"),
    retired("colours", "colors"),
    retired("coloured", "colored"),
    retired("behaviour", "behavior"),
    RetiredPhrase {
        phrase: "is no",
        instead: "is not a …, invalid, unknown",
        unless_after: THERE,
        unless_before: LONGER,
    },
    RetiredPhrase { phrase: "are no", instead: "are not …", unless_after: &["there"], unless_before: NO_OPS },
];

/// Phrases that pages for users do not use either; in code they may be about something else.
const RETIRED_ON_PAGES: &[RetiredPhrase] = &[
    retired("anew", "again"),
    retired("in the meantime", "since then, while …"),
    retired("behind it", "after it"),
    retired("wired", "connected"),
    retired("names no", "does not name, unknown"),
    retired("everybody", "everyone, or name the role"),
    retired("circle", "cycle"),
    retired("circles", "cycles"),
    retired("says nothing", "does not say, is silent"),
];

/// Files that must contain such a phrase, with the reason.
const EXEMPT: &[(&str, &str)] = &[
    ("xtask/src/wording.rs", "lists the phrases"),
    ("docs/style.md", "lists the phrases"),
    ("fuzz/", "checked by its own toolchain"),
];

/// Fails with every retired phrase.
pub fn check() -> TaskResult {
    let root = process::root();
    let mut files = links::markdown_files(&root)?;
    for folder in ["crates", "xtask"] {
        files.extend(sources::rust_files(&root.join(folder))?);
    }
    let mut wrong = Vec::new();
    for file in files {
        let name = file.strip_prefix(&root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        if EXEMPT.iter().any(|(path, _)| Path::new(&name).starts_with(path)) {
            continue;
        }
        let text = fs::read_to_string(&file).map_err(|cause| format!("{name}: {cause}"))?;
        let phrases: &[&[RetiredPhrase]] = if is_page(&name) { &[RETIRED, RETIRED_ON_PAGES] } else { &[RETIRED] };
        let found = phrases.iter().flat_map(|phrases| found(&text, phrases));
        wrong.extend(found.map(|(n, retired)| format!("{name}:{n}: `{}`: write {}", retired.phrase, retired.instead)));
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("{}\n{} phrases", wrong.join("\n"), wrong.len())) }
}

/// Returns true for Markdown that users read. Decisions are about code.
fn is_page(name: &str) -> bool {
    name.ends_with(".md") && !name.starts_with("docs/decisions/")
}

/// Every retired phrase of a text with its line from 1. A phrase may go over a line end.
fn found(text: &str, phrases: &'static [RetiredPhrase]) -> Vec<(usize, &'static RetiredPhrase)> {
    let mut out = Vec::new();
    let lines: Vec<String> = text.lines().map(|line| line.to_lowercase()).collect();
    for (n, line) in lines.iter().enumerate() {
        let next =
            lines.get(n + 1).map(|next| next.trim_start_matches(['/', '!', ' ', '-', '>', '\\'])).unwrap_or_default();
        let first = next.split_whitespace().next().unwrap_or_default();
        let joined = format!("{} {first}", line.trim_end().trim_end_matches('\\').trim_end());
        out.extend(
            phrases.iter().filter(|retired| occurs(&joined, line.len(), retired)).map(|retired| (n + 1, retired)),
        );
    }
    out
}

/// Returns true if the phrase begins in the first `end` bytes of the text, as whole words and not in a right use.
fn occurs(text: &str, end: usize, retired: &RetiredPhrase) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(retired.phrase).any(|(at, phrase)| {
        let (before, after) = (&text[..at], &text[at + phrase.len()..]);
        let whole = !before.ends_with(is_word) && !after.starts_with(is_word);
        let last = before.split(|c: char| !c.is_alphanumeric()).rfind(|word| !word.is_empty()).unwrap_or_default();
        let next = after.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty()).unwrap_or_default();
        at < end && whole && !retired.unless_after.contains(&last) && !retired.unless_before.contains(&next)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phrases(text: &str) -> Vec<(usize, &'static str)> {
        found(text, RETIRED).into_iter().map(|(n, retired)| (n, retired.phrase)).collect()
    }

    #[test]
    fn a_retired_phrase_is_found_in_any_case_and_over_a_line_end() {
        assert_eq!(
            phrases("// It goes on.\nfn a() {}\n/// Somebody is\n/// told."),
            [(1, "goes on"), (3, "is told"), (3, "somebody"),]
        );
    }

    #[test]
    fn pages_avoid_more_phrases_than_code_does() {
        assert!(is_page("README.md") && is_page("docs/run.md"));
        assert!(!is_page("docs/decisions/0034-one-why.md") && !is_page("xtask/src/main.rs"));
        assert_eq!(found("It is counted anew.", RETIRED_ON_PAGES).len(), 1);
        assert_eq!(phrases("It is counted anew."), []);
    }

    #[test]
    fn a_right_use_is_left_alone() {
        assert_eq!(phrases("There is no store. It is no longer open. cargo on, `is_told`, amendment."), []);
        assert_eq!(phrases("`x` is no id."), [(1, "is no")]);
    }
}
