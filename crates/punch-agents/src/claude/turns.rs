//! Finds the turn before a turn in Claude Code's transcript. The file is only appended to: what the user rewound stays
//! in it, and only the path back from its end shows what the model still sees.

use std::collections::HashMap;
use std::path::Path;

use punch_core::drive::TurnBefore;
use serde::Deserialize;

use crate::transcript;

/// Finds the turn before `turn`.
pub(super) fn earlier(file: &Path, turn: &str, known: &dyn Fn(&str) -> bool) -> TurnBefore {
    transcript::find(file, u64::MAX, |text, _| before(text, turn, known)).unwrap_or(TurnBefore::Unknown)
}

/// A line: each names the one that it follows.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClaudeLine {
    uuid: Option<String>,
    parent_uuid: Option<String>,
    /// What a summary stands for.
    logical_parent_uuid: Option<String>,
    prompt_id: Option<String>,
    #[serde(default)]
    is_sidechain: bool,
}

/// `None` if the way back leads out of the text.
fn before(text: &str, turn: &str, known: &dyn Fn(&str) -> bool) -> Option<TurnBefore> {
    let lines = text.lines().filter(|line| line.contains("\"parentUuid\""));
    let lines: Vec<ClaudeLine> = lines.filter_map(|line| serde_json::from_str(line).ok()).collect();
    let lines: Vec<&ClaudeLine> = lines.iter().filter(|line| !line.is_sidechain).collect();
    let by_uuid: HashMap<&str, &ClaudeLine> =
        lines.iter().filter_map(|line| Some((line.uuid.as_deref()?, *line))).collect();
    let mut at = *lines.iter().find(|line| line.prompt_id.as_deref() == Some(turn))?;
    // A circle would be damage; there are no more steps than lines.
    for _ in 0..lines.len() {
        let Some(next) = at.parent_uuid.as_deref().or(at.logical_parent_uuid.as_deref()) else {
            return Some(TurnBefore::Nothing);
        };
        at = by_uuid.get(next)?;
        if let Some(other) = at.prompt_id.as_deref().filter(|id| *id != turn && known(id)) {
            return Some(TurnBefore::Turn(other.to_owned()));
        }
    }
    Some(TurnBefore::Unknown)
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
        let turn = |id: &str| Some(TurnBefore::Turn(id.to_owned()));
        assert_eq!(before(&written(), "p2", &any), turn("p1"));
        assert_eq!(before(&written(), "p3", &any), turn("p1"), "p2 is forgotten");
        assert_eq!(before(&written(), "p1", &any), Some(TurnBefore::Nothing));
        assert_eq!(before(&written(), "p2", &|id| id == "p2"), Some(TurnBefore::Nothing), "the store is younger");
        assert_eq!(before(&written(), "p9", &any), None, "not written yet");
        let half = written().split_off(written().find("\"d\"").unwrap() + 60);
        assert_eq!(before(&half, "p3", &any), None, "more of the file is needed");
        let summary = json!({"uuid": "s", "parentUuid": null, "logicalParentUuid": "e", "subtype": "compact_boundary"});
        let after = format!("{}{summary}\n{}", written(), line("h", Some("s"), Some("p4")));
        assert_eq!(before(&after, "p4", &any), turn("p2"), "a summary stands for what it follows");
        let circle = [line("a", Some("b"), Some("p1")), line("b", Some("a"), None)].concat();
        assert_eq!(before(&circle, "p1", &any), Some(TurnBefore::Unknown));
    }
}
