//! Parses a filter into terms.

use super::{FilterError, FilterState, Term, Test};
use crate::text;

/// Every key, as hints name them.
const KEYS: [&str; 7] = ["is", "by", "p", "needs", "under", "phase", "label"];

pub(super) fn terms(given: &str) -> Result<Vec<Term>, FilterError> {
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
struct FilterWord {
    text: String,
    colon: Option<usize>,
}

/// The first word, and what follows it. Quotes keep blanks and colons together.
fn word(given: &str) -> Result<(FilterWord, &str), FilterError> {
    let (mut out, mut quote) = (FilterWord { text: String::new(), colon: None }, None);
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
        Some(quote) => Err(invalid(given, &format!("a {quote} is missing at the end"), "close the quotes")),
    }
}

fn test(word: &FilterWord) -> Result<Test, FilterError> {
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
        let hint = format!("use {keys}, or quote the word to search for it");
        return Err(invalid(&word.text, &format!("unknown key `{key}:`{near}"), &hint));
    }
    if value.is_empty() {
        let hint = format!("write one after the colon; `punch help filters` shows what `{key}:` takes");
        return Err(invalid(&word.text, &format!("`{key}:` needs a value"), &hint));
    }
    Ok(match key {
        "is" => Test::State(FilterState::named(value).ok_or_else(|| {
            let names = FilterState::ALL.map(FilterState::name);
            let near = text::nearest(value, names.into_iter(), 1);
            let near = near.first().map(|near| format!("; did you mean `is:{near}`?")).unwrap_or_default();
            invalid(&word.text, &format!("unknown state `{value}`{near}"), &format!("use one of {}", names.join(", ")))
        })?),
        "by" => Test::Owner(value.trim_start_matches('@').to_owned()),
        "p" => {
            let number = || value.strip_prefix('p').unwrap_or(value).parse().ok().filter(|p| (1..=5).contains(p));
            let priority = match value.to_lowercase().as_str() {
                "urgent" | "highest" => Some(1),
                "high" => Some(2),
                "medium" | "normal" => Some(3),
                "low" => Some(4),
                "lowest" => Some(5),
                _ => number(),
            };
            Test::Priority(priority.ok_or_else(|| {
                let what = format!("unknown priority `{value}`");
                invalid(&word.text, &what, "use a number from 1 to 5, for example `p:1`")
            })?)
        }
        // Ids keep their case.
        "needs" => Test::Needs(word.text[colon + 1..].trim().to_owned()),
        "under" => Test::Under(word.text[colon + 1..].trim().to_owned()),
        "phase" => Test::Phase(value.to_owned()),
        _ => Test::Label(value.trim_start_matches('#').to_owned()),
    })
}

impl FilterState {
    /// The state of a name, or of another word for it.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.replace(['-', ' '], "_");
        Self::parse(&name).or(match name.as_str() {
            "completed" => Some(Self::Done),
            "canceled" | "dropped" => Some(Self::Cancelled),
            "in_progress" | "running" | "started" => Some(Self::Working),
            "on_hold" => Some(Self::Held),
            "pending" => Some(Self::Open),
            "new" => Some(Self::Unseen),
            _ => None,
        })
    }
}

fn invalid(given: &str, what: &str, hint: &str) -> FilterError {
    FilterError { term: text::clip(given, 60).into_owned(), what: what.to_owned(), hint: hint.to_owned() }
}
