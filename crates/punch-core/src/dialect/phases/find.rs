//! Finds the task or phase that a typed command refers to, by words and capitals.

use super::list::{PhaseTask, TaskPhase};
use crate::text;

/// Splits at white space; `"…"` keeps words together and `\` takes the next character as it is.
pub(super) fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quoted = false;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => word.push(chars.next().unwrap_or(c)),
            '"' => quoted = !quoted,
            c if text::is_js_space(c) && !quoted => words.push(std::mem::take(&mut word)),
            c => word.push(c),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// The first letter as a capital, the rest as it is.
pub(super) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    let mut out = String::with_capacity(text.len());
    if let Some(first) = chars.next() {
        push_capital(first, &mut out);
    }
    out.push_str(chars.as_str());
    out
}

/// The first letter of every word as a capital, the rest as it is.
pub(super) fn title(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at_start = true;
    for c in text.chars() {
        if at_start {
            push_capital(c, &mut out);
        } else {
            out.push(c);
        }
        at_start = text::is_js_space(c);
    }
    out
}

/// JavaScript sees the halves of a character outside the basic plane, and a half has no capital.
fn push_capital(c: char, out: &mut String) {
    if c.len_utf16() == 1 {
        out.extend(c.to_uppercase());
    } else {
        out.push(c);
    }
}

/// The task that is meant: the first equal one, else the only one that holds the words, else the only open one.
pub(super) fn task<'a>(phases: &'a [TaskPhase], query: &str) -> Option<&'a PhaseTask> {
    let query = query.to_lowercase();
    let mut holding = Vec::new();
    for task in phases.iter().flat_map(|phase| &phase.tasks) {
        let content = task.content.to_lowercase();
        if content == query {
            return Some(task);
        }
        if content.contains(&query) {
            holding.push(task);
        }
    }
    only(holding.iter()).or_else(|| only(holding.iter().filter(|task| task.status.is_open()))).copied()
}

/// The phase that is meant: the first equal one, else the only one that begins so, else the only one that holds it.
pub(super) fn phase(phases: &[TaskPhase], query: &str) -> Option<usize> {
    let query = query.to_lowercase();
    let names: Vec<String> = phases.iter().map(|phase| phase.name.to_lowercase()).collect();
    let indexed = || names.iter().enumerate();
    let equal = indexed().find(|(_, name)| **name == query);
    let found = equal
        .or_else(|| only(indexed().filter(|(_, name)| name.starts_with(&query))))
        .or_else(|| only(indexed().filter(|(_, name)| name.contains(&query))));
    found.map(|(index, _)| index)
}

fn only<T>(mut found: impl Iterator<Item = T>) -> Option<T> {
    let first = found.next()?;
    found.next().is_none().then_some(first)
}
