//! Finds the turn before a turn in Codex's transcript. Turns are written in order, and so is the number of last turns
//! that the user rewound.

use std::path::{Path, PathBuf};

use punch_core::drive::TurnBefore;
use serde::Deserialize;

use crate::transcript;

/// Files of one conversation, and entries of a folder, that are looked through.
const FILES: usize = 8;
const ENTRIES: usize = 10_000;

/// A line.
#[derive(Deserialize)]
struct CodexLine {
    #[serde(rename = "type")]
    kind: String,
    payload: Payload,
}

#[derive(Deserialize)]
struct Payload {
    #[serde(rename = "type")]
    kind: Option<String>,
    turn_id: Option<String>,
    num_turns: Option<usize>,
    history_base: Option<Base>,
}

/// A conversation that was rewound continues in a new file, which begins with how much of the old one still holds.
#[derive(Deserialize)]
struct Base {
    thread_id: String,
    end_byte_offset: u64,
}

/// Finds the turn before `turn`.
pub(super) fn earlier(file: &Path, turn: &str, known: &dyn Fn(&str) -> bool) -> TurnBefore {
    let found = transcript::find(file, u64::MAX, |text, whole| {
        let (turns, complete) = turns(text, whole);
        let at = turns.iter().rposition(|id| id == turn)?;
        let last = turns[..at].iter().rev().find(|id| known(id)).cloned();
        last.map(TurnBefore::Turn).or(complete.then_some(TurnBefore::Nothing))
    });
    match found {
        Some(TurnBefore::Nothing) => before_file(file, known),
        found => found.unwrap_or(TurnBefore::Unknown),
    }
}

/// The last turn of what a file continues from.
fn before_file(file: &Path, known: &dyn Fn(&str) -> bool) -> TurnBefore {
    let mut file = file.to_owned();
    for _ in 0..FILES {
        let Some(first) = transcript::first_line(&file) else { return TurnBefore::Unknown };
        let Ok(entry) = serde_json::from_str::<CodexLine>(&first) else { return TurnBefore::Unknown };
        let Some(base) = entry.payload.history_base else { return TurnBefore::Nothing };
        let Some(older) = older(&file, &base.thread_id) else { return TurnBefore::Unknown };
        let last = transcript::find(&older, base.end_byte_offset, |text, whole| {
            let (turns, _) = turns(text, whole);
            turns.into_iter().rev().find(|id| known(id))
        });
        match last {
            Some(turn) => return TurnBefore::Turn(turn),
            None => file = older,
        }
    }
    TurnBefore::Unknown
}

/// The file of the same conversation before this one: names begin with the time. Of another day it is not looked for.
fn older(file: &Path, thread: &str) -> Option<PathBuf> {
    let name = file.file_name()?.to_str()?;
    let names = std::fs::read_dir(file.parent()?)
        .ok()?
        .take(ENTRIES)
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let fits = |other: &String| other.as_str() < name && other.contains(thread) && other.ends_with(".jsonl");
    Some(file.with_file_name(names.filter(fits).max()?))
}

/// Turns are written in order, and so is how many of the last ones were undone. Answers those that still hold, and
/// whether the first of them is the first of the file.
fn turns(text: &str, whole: bool) -> (Vec<String>, bool) {
    let said = |line: &&str| line.contains("\"turn_context\"") || line.contains("\"thread_rolled_back\"");
    let mut turns: Vec<String> = Vec::new();
    let mut complete = whole;
    for entry in text.lines().filter(said).filter_map(|line| serde_json::from_str::<CodexLine>(line).ok()) {
        let payload = entry.payload;
        if entry.kind == "turn_context" {
            turns.extend(payload.turn_id.filter(|id| turns.last() != Some(id)));
        } else if payload.kind.as_deref() == Some("thread_rolled_back") {
            let taken = payload.num_turns.unwrap_or(0);
            complete &= taken <= turns.len();
            turns.truncate(turns.len().saturating_sub(taken));
        }
    }
    (turns, complete)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn any(_: &str) -> bool {
        true
    }

    fn context(id: &str) -> String {
        format!("{}\n", json!({"type": "turn_context", "payload": {"turn_id": id}}))
    }

    #[test]
    fn turns_that_were_rolled_back_are_not_before() {
        let back = |n: usize| {
            let payload = json!({"type": "thread_rolled_back", "num_turns": n});
            format!("{}\n", json!({"type": "event_msg", "payload": payload}))
        };
        let told = |text: &str, whole| {
            let (turns, complete) = turns(text, whole);
            (turns.join(" "), complete)
        };
        let text = [context("1"), context("1"), context("2"), context("3"), back(2), context("4")].concat();
        assert_eq!(told(&text, true), ("1 4".into(), true));
        assert_eq!(told(&[context("2"), back(2), context("4")].concat(), true), ("4".into(), false));
        assert_eq!(told("{}\n\"turn_context\"\n", false), (String::new(), false));
    }

    #[test]
    fn a_file_that_goes_on_from_a_part_of_another_is_followed_back() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let file = folder.path().join(name);
            std::fs::write(&file, text).unwrap();
            file
        };
        let meta = |base: serde_json::Value| {
            format!("{}\n", json!({"type": "session_meta", "payload": {"id": "t", "history_base": base}}))
        };
        let kept = meta(json!(null)) + &context("1");
        let first = put("rollout-1-t.jsonl", &(kept.clone() + &context("2")));
        assert_eq!(earlier(&first, "2", &any), TurnBefore::Turn("1".into()));
        assert_eq!(earlier(&first, "1", &any), TurnBefore::Nothing);
        assert_eq!(earlier(&first, "2", &|id| id == "2"), TurnBefore::Nothing, "the store is younger");
        let base = |end: usize| meta(json!({"thread_id": "t", "end_ordinal_exclusive": 1, "end_byte_offset": end}));
        let second = put("rollout-2-t_x.jsonl", &(base(kept.len()) + &context("3")));
        assert_eq!(earlier(&second, "3", &any), TurnBefore::Turn("1".into()), "turn 2 is forgotten");
        let third = put("rollout-3-t_y.jsonl", &(base(base(kept.len()).len()) + &context("4")));
        assert_eq!(earlier(&third, "4", &any), TurnBefore::Turn("1".into()), "through an empty part");
        let none = put("rollout-0-t.jsonl", &(base(9) + &context("5")));
        assert_eq!(earlier(&none, "5", &any), TurnBefore::Unknown, "the older file is gone");
        assert_eq!(earlier(&folder.path().join("no"), "5", &any), TurnBefore::Unknown);
    }
}
