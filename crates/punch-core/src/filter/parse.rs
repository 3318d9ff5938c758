//! From text to terms.

use super::{FilterState, Term, Test};
use crate::{Refusal, text};

/// Every key, as hints name them.
const KEYS: [&str; 7] = ["is", "by", "p", "needs", "under", "phase", "label"];

pub(super) fn terms(given: &str) -> Result<Vec<Term>, Refusal> {
    let mut out = Vec::new();
    let mut rest = given.trim_start();
    while !rest.is_empty() {
        let negated = rest.len() > 1 && rest.starts_with('-');
        let (word, after) = word(if negated { &rest[1..] } else { rest })?;
        out.push(Term { negated, test: test(&word)? });
        rest = after.trim_start();
    }
    Ok(out)
}

/// A word as it was typed: what stands in quotes, and where its first colon outside of quotes is.
struct Word {
    text: String,
    colon: Option<usize>,
}

/// The first word, and what follows it. Quotes keep blanks and colons together.
fn word(given: &str) -> Result<(Word, &str), Refusal> {
    let (mut out, mut quote) = (Word { text: String::new(), colon: None }, None);
    for (at, c) in given.char_indices() {
        match quote {
            Some(end) if c == end => quote = None,
            Some(_) => out.text.push(c),
            None if matches!(c, '"' | '\'') => quote = Some(c),
            None if c.is_whitespace() => return Ok((out, &given[at..])),
            None => {
                if c == ':' && out.colon.is_none() {
                    out.colon = Some(out.text.len());
                }
                out.text.push(c);
            }
        }
    }
    match quote {
        None => Ok((out, "")),
        Some(quote) => Err(invalid(given, &format!("a {quote} is missing at the end"))),
    }
}

fn test(word: &Word) -> Result<Test, Refusal> {
    let lower = word.text.to_lowercase();
    let Some(colon) = word.colon.filter(|at| *at > 0) else {
        return Ok(match lower.strip_prefix('#').filter(|label| !label.is_empty()) {
            Some(label) => Test::Label(label.to_owned()),
            None => Test::Text(lower),
        });
    };
    let (key, value) = (&lower[..colon], lower[colon + 1..].trim());
    if !KEYS.contains(&key) {
        let near = text::nearest(key, KEYS.into_iter(), 1);
        let near = near.first().map(|near| format!("; did you mean `{near}:`?")).unwrap_or_default();
        let keys = KEYS.map(|key| format!("`{key}:`")).join(", ");
        let what = format!("unknown key `{key}:`{near} (keys: {keys}; quote the word to search for it)");
        return Err(invalid(&word.text, &what));
    }
    if value.is_empty() {
        return Err(invalid(&word.text, &format!("`{key}:` needs a value")));
    }
    Ok(match key {
        "is" => Test::State(state(value).ok_or_else(|| {
            let names = FilterState::ALL.map(FilterState::name);
            let near = text::nearest(value, names.into_iter(), 1);
            let near = near.first().map(|near| format!("; did you mean `is:{near}`?")).unwrap_or_default();
            invalid(&word.text, &format!("unknown state `{value}`{near} (states: {})", names.join(", ")))
        })?),
        "by" => Test::Owner(value.trim_start_matches('@').to_owned()),
        "p" => {
            let priority = value.strip_prefix('p').unwrap_or(value).parse().ok().filter(|p| (1..=5).contains(p));
            Test::Priority(priority.ok_or_else(|| invalid(&word.text, "a priority is a number from 1 to 5"))?)
        }
        // Ids keep their case.
        "needs" => Test::Needs(word.text[colon + 1..].trim().to_owned()),
        "under" => Test::Under(word.text[colon + 1..].trim().to_owned()),
        "phase" => Test::Phase(value.to_owned()),
        _ => Test::Label(value.trim_start_matches('#').to_owned()),
    })
}

/// The name of a state, or another word for it.
fn state(name: &str) -> Option<FilterState> {
    let name = name.replace(['-', ' '], "_");
    FilterState::parse(&name).or(match name.as_str() {
        "completed" => Some(FilterState::Done),
        "canceled" | "dropped" => Some(FilterState::Cancelled),
        "in_progress" | "running" | "started" => Some(FilterState::Working),
        "on_hold" => Some(FilterState::Held),
        "pending" => Some(FilterState::Open),
        "new" => Some(FilterState::Unseen),
        _ => None,
    })
}

fn invalid(given: &str, what: &str) -> Refusal {
    Refusal::Invalid { at: format!("filter `{}`", text::clip(given, 60)), what: what.to_owned() }
}
