//! What a model reads about evidence that is missing and about files that its todo does not declare: one sentence each, of at
//! most [`OBSERVED_TOKENS`] tokens, and one question for the checks of several todos.

use super::{Vocabulary, by_content, estimate, quote};
use crate::{Refusal, Todo};

/// Tokens that a sentence may cost.
pub const OBSERVED_TOKENS: usize = 60;

/// Bytes of each quoted text. The first length with which everything fits is used.
const ROOMS: [usize; 5] = [80, 56, 40, 24, 8];

/// Tells an agent once that it changed a file outside those that its todo declares.
pub fn drift_note(id: &str, path: &str, declared: &[String]) -> String {
    let more = match declared.len() {
        0 | 1 => String::new(),
        n => format!(" and {} more", n - 1),
    };
    let first = declared.first().map_or("", String::as_str);
    fitting(|room| {
        let (id, path, first) = (quote(id, room), quote(path, room), quote(first, room));
        format!("Note: {path} is not among the files of {id} ({first}{more}). Keep to them, or tell the user why not.")
    })
}

/// Explains to an agent why its todo is not done yet; `None` for refusals that are not about evidence.
pub fn missing_evidence(refusal: &Refusal) -> Option<String> {
    Some(match refusal {
        Refusal::FailingCheck { id, command, outcome } => fitting(|room| {
            let (id, command) = (quote(id, room), quote(command, room));
            format!("{id} is not done: `{command}` {outcome}. Fix it, run it again, then mark {id} completed.")
        }),
        Refusal::NeedsCheck { id, outdated } => fitting(|room| {
            let id = quote(id, room);
            let why = match outdated {
                true => "files changed after the last passing check",
                false => "no passing check was seen",
            };
            format!("{id} is not done yet: {why}. Run its tests, build or lint once, then mark it completed again.")
        }),
        _ => return None,
    })
}

/// Todos that one question for checks names.
pub const UNCHECKED: usize = 4;

/// Bytes of a todo's content in such a question.
const CONTENTS: usize = 48;

/// Asks an agent that wants to stop for checks of todos that its own list calls done. Names each by its content too, because
/// the list may have no ids.
pub fn ask_for_checks(todos: &[&Todo], words: Vocabulary) -> Option<String> {
    let one = |todo: &&Todo| match words.takes_ids() {
        true => format!("{} ({})", quote(&todo.id, 24), quote(&todo.content, CONTENTS)),
        false => by_content(&todo.content),
    };
    let named: Vec<String> = todos.iter().take(UNCHECKED).map(one).collect();
    let asks = "Run their tests, build or lint and fix what fails, then stop as usual. This is not asked again.";
    (!named.is_empty())
        .then(|| format!("Not done yet, because no passing check was seen: {}. {asks}", named.join(", ")))
}

fn fitting(text: impl Fn(usize) -> String) -> String {
    let fits = |text: &String| estimate(text) <= OBSERVED_TOKENS;
    ROOMS.iter().map(|room| text(*room)).find(fits).unwrap_or_else(|| text(ROOMS[ROOMS.len() - 1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_short_and_say_what_to_do() {
        let files = ["src/parser/**".to_owned(), "tests/**".to_owned()];
        let said = drift_note("T-1", "src/lexer.rs", &files);
        assert_eq!(
            said,
            "Note: src/lexer.rs is not among the files of T-1 (src/parser/** and 1 more). Keep to them, or tell the user \
             why not."
        );
        let hostile = "\u{202e}]}{\"ß日".repeat(100);
        let refusals = [
            Refusal::FailingCheck {
                id: hostile.clone(),
                command: hostile.clone(),
                outcome: "failed with exit code 101".into(),
            },
            Refusal::NeedsCheck { id: hostile.clone(), outdated: true },
            Refusal::NeedsCheck { id: hostile.clone(), outdated: false },
        ];
        let mut texts: Vec<String> = refusals.iter().filter_map(missing_evidence).collect();
        texts.extend([said, drift_note(&hostile, &hostile, std::slice::from_ref(&hostile))]);
        assert_eq!(texts.len(), 5);
        for text in texts {
            assert!(estimate(&text) <= OBSERVED_TOKENS, "{} {text}", estimate(&text));
        }
        assert_eq!(missing_evidence(&Refusal::NeedsEvidence { id: "a".into() }), None);
    }
}
