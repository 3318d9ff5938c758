//! Which turn came before this one in a conversation, from what its host writes down. Hosts append: what a person wound
//! back stays in the file, and only the way back from its end tells what the model still sees.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use punch_core::drive::Before;
use punch_engine::{Earlier, Find};
use serde::Deserialize;

use super::{Heard, Host, transcript};

/// Files of one conversation, and entries of a folder, that are looked through.
const FILES: usize = 8;
const ENTRIES: usize = 10_000;

/// How the turn before that of a report is found.
pub(super) fn earlier(heard: &Heard) -> Earlier {
    if let Some(before) = &heard.before {
        return Earlier::Told(before.clone());
    }
    let find: Find = match heard.host {
        Host::Claude => |file, turn, known| {
            transcript::find(file, u64::MAX, |text, _| claude(text, turn, known)).unwrap_or(Before::Unknown)
        },
        Host::Codex => codex,
        Host::Qwen | Host::Gemini | Host::Cursor | Host::Opencode => return Earlier::Unknown,
    };
    match &heard.transcript {
        // Reports from inside a subagent name the file of its main agent.
        Some(file) if heard.key.subagent().is_none() => Earlier::Written(file.clone(), find),
        _ => Earlier::Unknown,
    }
}

/// A line of Claude Code's: each names the one that it follows.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    uuid: Option<String>,
    parent_uuid: Option<String>,
    /// What a summary stands for.
    logical_parent_uuid: Option<String>,
    prompt_id: Option<String>,
    #[serde(default)]
    is_sidechain: bool,
}

/// `None` if the way back leads out of the text.
fn claude(text: &str, turn: &str, known: &dyn Fn(&str) -> bool) -> Option<Before> {
    let lines = text.lines().filter(|line| line.contains("\"parentUuid\""));
    let lines: Vec<Line> = lines.filter_map(|line| serde_json::from_str(line).ok()).collect();
    let lines: Vec<&Line> = lines.iter().filter(|line| !line.is_sidechain).collect();
    let by_uuid: HashMap<&str, &Line> = lines.iter().filter_map(|line| Some((line.uuid.as_deref()?, *line))).collect();
    let mut at = *lines.iter().find(|line| line.prompt_id.as_deref() == Some(turn))?;
    // A circle would be damage; there are no more steps than lines.
    for _ in 0..lines.len() {
        let Some(next) = at.parent_uuid.as_deref().or(at.logical_parent_uuid.as_deref()) else {
            return Some(Before::Nothing);
        };
        at = by_uuid.get(next)?;
        if let Some(other) = at.prompt_id.as_deref().filter(|id| *id != turn && known(id)) {
            return Some(Before::Turn(other.to_owned()));
        }
    }
    Some(Before::Unknown)
}

/// A line of Codex's.
#[derive(Deserialize)]
struct Entry {
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

/// A conversation that was wound back goes on in a new file, which begins with how much of the old one still holds.
#[derive(Deserialize)]
struct Base {
    thread_id: String,
    end_byte_offset: u64,
}

fn codex(file: &Path, turn: &str, known: &dyn Fn(&str) -> bool) -> Before {
    let found = transcript::find(file, u64::MAX, |text, whole| {
        let (turns, complete) = turns(text, whole);
        let at = turns.iter().rposition(|id| id == turn)?;
        let last = turns[..at].iter().rev().find(|id| known(id)).cloned();
        last.map(Before::Turn).or(complete.then_some(Before::Nothing))
    });
    match found {
        Some(Before::Nothing) => before_file(file, known),
        found => found.unwrap_or(Before::Unknown),
    }
}

/// The last turn of what a file goes on from.
fn before_file(file: &Path, known: &dyn Fn(&str) -> bool) -> Before {
    let mut file = file.to_owned();
    for _ in 0..FILES {
        let Some(first) = transcript::first_line(&file) else { return Before::Unknown };
        let Ok(entry) = serde_json::from_str::<Entry>(&first) else { return Before::Unknown };
        let Some(base) = entry.payload.history_base else { return Before::Nothing };
        let Some(older) = older(&file, &base.thread_id) else { return Before::Unknown };
        let last = transcript::find(&older, base.end_byte_offset, |text, whole| {
            let (turns, _) = turns(text, whole);
            turns.into_iter().rev().find(|id| known(id))
        });
        match last {
            Some(turn) => return Before::Turn(turn),
            None => file = older,
        }
    }
    Before::Unknown
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

/// Turns are written in order, and so is how many of the last ones were taken back. Answers those that still hold, and
/// whether the first of them is the first of the file.
fn turns(text: &str, whole: bool) -> (Vec<String>, bool) {
    let said = |line: &&str| line.contains("\"turn_context\"") || line.contains("\"thread_rolled_back\"");
    let mut turns: Vec<String> = Vec::new();
    let mut complete = whole;
    for entry in text.lines().filter(said).filter_map(|line| serde_json::from_str::<Entry>(line).ok()) {
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

    fn line(uuid: &str, parent: Option<&str>, prompt: Option<&str>) -> String {
        format!("{}\n", json!({"uuid": uuid, "parentUuid": parent, "promptId": prompt, "type": "user"}))
    }

    /// Two turns, then one that follows the first.
    fn written() -> String {
        let lines = [
            line("a", None, Some("p1")),
            line("b", Some("a"), None),
            line("c", Some("b"), Some("p1")),
            line("d", Some("c"), Some("p2")),
            line("e", Some("d"), None),
            "{\"type\":\"cost-state\"}\nno JSON \"parentUuid\"\n".to_owned(),
            line("f", Some("b"), Some("p3")),
            line("g", Some("f"), None),
        ];
        lines.concat()
    }

    #[test]
    fn the_way_back_leads_past_what_was_wound_back() {
        let turn = |id: &str| Some(Before::Turn(id.to_owned()));
        assert_eq!(claude(&written(), "p2", &any), turn("p1"));
        assert_eq!(claude(&written(), "p3", &any), turn("p1"), "p2 is forgotten");
        assert_eq!(claude(&written(), "p1", &any), Some(Before::Nothing));
        assert_eq!(claude(&written(), "p2", &|id| id == "p2"), Some(Before::Nothing), "the store is younger");
        assert_eq!(claude(&written(), "p9", &any), None, "not written yet");
        let half = written().split_off(written().find("\"d\"").unwrap() + 60);
        assert_eq!(claude(&half, "p3", &any), None, "more of the file is needed");
        let summary = json!({"uuid": "s", "parentUuid": null, "logicalParentUuid": "e", "subtype": "compact_boundary"});
        let after = format!("{}{summary}\n{}", written(), line("h", Some("s"), Some("p4")));
        assert_eq!(claude(&after, "p4", &any), turn("p2"), "a summary stands for what it follows");
        let circle = [line("a", Some("b"), Some("p1")), line("b", Some("a"), None)].concat();
        assert_eq!(claude(&circle, "p1", &any), Some(Before::Unknown));
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
        assert_eq!(codex(&first, "2", &any), Before::Turn("1".into()));
        assert_eq!(codex(&first, "1", &any), Before::Nothing);
        assert_eq!(codex(&first, "2", &|id| id == "2"), Before::Nothing, "the store is younger");
        let base = |end: usize| meta(json!({"thread_id": "t", "end_ordinal_exclusive": 1, "end_byte_offset": end}));
        let second = put("rollout-2-t_x.jsonl", &(base(kept.len()) + &context("3")));
        assert_eq!(codex(&second, "3", &any), Before::Turn("1".into()), "turn 2 is forgotten");
        let third = put("rollout-3-t_y.jsonl", &(base(base(kept.len()).len()) + &context("4")));
        assert_eq!(codex(&third, "4", &any), Before::Turn("1".into()), "through an empty part");
        let none = put("rollout-0-t.jsonl", &(base(9) + &context("5")));
        assert_eq!(codex(&none, "5", &any), Before::Unknown, "the older file is gone");
        assert_eq!(codex(&folder.path().join("no"), "5", &any), Before::Unknown);
    }
}
