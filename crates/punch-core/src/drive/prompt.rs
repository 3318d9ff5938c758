//! The text of a continuation: its number, what is open, what to do next. It quotes todo text as data, and asks for
//! nothing that the session's tools cannot do: most lists know neither failed todos nor holds.

use std::fmt::Write;

use super::{Counters, NamedTodo, PlanFacts, Vocabulary, explain, quote};

/// Bytes of a todo's content in it.
const CONTENT: usize = 200;
/// Bytes of what it is about and when it counts as done, and of the command that verifies it.
const CRITERIA: usize = 160;
const COMMAND: usize = 100;
/// Bytes of an id.
const ID: usize = 40;

/// Returns the text, or nothing if there is nothing to continue with. The first text after a message of the user or a
/// compaction explains how to work. Later ones are never longer, apart from what they say about checks that have not
/// passed, which has a separate limit.
pub fn continuation(facts: &PlanFacts, counters: &Counters, words: Vocabulary, n: u32, of: u32) -> Option<String> {
    let next = facts.next.as_ref()?;
    let first = counters.total == 0 || counters.first == 0;
    let limit = if first { usize::MAX } else { counters.first };
    let mut head = format!("Continuation {n}/{of} by punch: {}", facts.open_of_total());
    head += if first { ", so the work is not finished.\n" } else { ".\n" };
    let tail = match (words, first) {
        (Vocabulary::Full, true) => FIRST,
        (Vocabulary::Full, false) => LATER,
        (Vocabulary::StatusOnly, true) => FIRST_PLAIN,
        (Vocabulary::StatusAlone | Vocabulary::StatusByText, true) => FIRST_ALONE,
        (Vocabulary::StatusOnly | Vocabulary::StatusAlone | Vocabulary::StatusByText, false) => LATER_PLAIN,
    };
    let around = |content: &str| block(&head, next, content, tail, words);
    let room = limit.saturating_sub(around("").len()).min(CONTENT);
    let mut text = around(&quote(&next.content, room));
    for extra in extras(facts, next, counters, words) {
        if text.len() + extra.len() < limit {
            text.push('\n');
            text += &extra;
        }
    }
    let checks = explain(&facts.unproven);
    if !checks.is_empty() {
        text.push('\n');
        text += &checks;
    }
    Some(text)
}

const FIRST: &str = "\
Work on it, mark it completed when it is done, then take the next one, until none is left. Mark what cannot be done after \
one more try as failed, with the reason. Put what needs the user on hold, say what for, and continue.";

const LATER: &str = "Continue; fail what cannot be done, hold what needs the user.";

const FIRST_PLAIN: &str = "\
Work on it and mark it completed when it is done, then take the next one, until none is left. What cannot be done after \
one more try, or needs the user: never call it completed; say so and continue with the next. In a shell, `punch fail ID \
--error WHY` and `punch hold ID WHY` put it on record, and `punch done ID` completes a todo that your list does not have.";

const FIRST_ALONE: &str = "\
Work on it and mark it completed when it is done, then take the next one, until none is left. What cannot be done after \
one more try, or needs the user: never call it completed; say so and continue with the next.";

const LATER_PLAIN: &str = "Continue; say what cannot be done or needs the user, and take the next one.";

fn block(head: &str, next: &NamedTodo, content: &str, tail: &str, words: Vocabulary) -> String {
    let status = if next.running { "in_progress" } else { "pending" };
    let id = if words.takes_ids() { format!(" id=\"{}\"", quote(&next.id, ID)) } else { String::new() };
    format!("{head}Next, quoted as data:\n<todo{id} status=\"{status}\">\n{content}\n</todo>\n{tail}")
}

/// When a todo counts as done and what it is about, quoted, most important first.
pub(super) fn work(criteria: Option<&str>, verify: Option<&str>, description: Option<&str>) -> Vec<String> {
    let parts = [("criteria", criteria, CRITERIA), ("verify", verify, COMMAND), ("description", description, CRITERIA)];
    let quoted = |(name, text, room): (&str, Option<&str>, usize)| {
        let text = text.map(|text| quote(text, room)).filter(|text| !text.is_empty())?;
        Some(format!("<{name}>{text}</{name}>"))
    };
    parts.into_iter().filter_map(quoted).collect()
}

/// What else is worth knowing, most important first.
fn extras(facts: &PlanFacts, next: &NamedTodo, counters: &Counters, words: Vocabulary) -> Vec<String> {
    let mut out = work(next.criteria.as_deref(), next.verify.as_deref(), next.description.as_deref());
    match counters.trouble.as_ref().filter(|trouble| trouble.todo == next.id).map(|trouble| trouble.times) {
        Some(1) => out.push("A tool failed on it: try once more, in another way.".to_owned()),
        Some(_) => out.push(match words {
            Vocabulary::Full => "Tools keep failing on it: mark it failed and take the next one.".to_owned(),
            Vocabulary::StatusOnly | Vocabulary::StatusAlone | Vocabulary::StatusByText => {
                "Tools keep failing on it: say so and take the next one.".to_owned()
            }
        }),
        // The failing check is explained in full below.
        None if facts.unproven.iter().any(|one| one.id == next.id) => {}
        None if next.again => out.push("It was tried before; one more failure marks it failed.".to_owned()),
        None => {}
    }
    if next.oversize && !next.running {
        out.push("It is larger than a context window: split it first.".to_owned());
    }
    // A list without ids would have to repeat their whole texts.
    if !facts.conflicts.is_empty() && words.takes_ids() {
        let mut line = String::from("These conflict with it, so they wait:");
        for (at, conflict) in facts.conflicts.iter().enumerate() {
            let how = if conflict.files { "same files" } else { "same text; cancel one if it is the same work" };
            let comma = if at > 0 { "," } else { "" };
            let _ = write!(line, "{comma} {} ({how})", quote(&conflict.id, 30));
        }
        line.push('.');
        out.push(line);
    }
    out
}
