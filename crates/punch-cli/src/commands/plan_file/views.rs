//! The output of the commands about a linked plan file, as text and as JSON.

use std::collections::HashMap;

use punch_core::plan_file::{MergeConflict, PlanFileMerge, PlanFileTodo};
use punch_core::text;
use punch_engine::plan_file::{PlanFileLink, PlanFileStatus, SyncResult};
use serde_json::{Value, json};

use crate::reply::VerbReply;
use crate::safety::{ago, count};

/// Ids and conflicts that are named.
const NAMED: usize = 10;

/// What a sync did.
pub fn synced(synced: &SyncResult) -> VerbReply {
    let mut parts: Vec<String> = Vec::new();
    let taken = [(&synced.added, "added"), (&synced.changed, "changed"), (&synced.archived, "archived")];
    let taken = taken.into_iter().filter(|(ids, _)| !ids.is_empty());
    let taken: Vec<String> = taken.map(|(ids, word)| format!("{} {word}", ids.len())).collect();
    if !taken.is_empty() {
        parts.push(format!("plan: {}", taken.join(", ")));
    }
    if synced.wrote {
        parts.push(format!("file: {} changed", synced.edits));
    }
    let mut lines = match parts.is_empty() {
        true => vec!["The plan and the file are in sync.".to_owned()],
        false => vec![parts.join("; ")],
    };
    lines.extend(conflicts(&synced.conflicts));
    for (id, why) in synced.refused.iter().take(NAMED) {
        let (id, why) = (text::neutral(id), text::clip(why, 200));
        lines.push(format!("refused: the status of {id} was not taken from the file: {}", text::neutral(&why)));
    }
    if !synced.absent.is_empty() {
        lines.push(format!("not in the file: {} (`punch plan sync --add` adds them)", named(&synced.absent)));
    }
    if !synced.gone.is_empty() {
        lines.push(format!("archived in the plan, still in the file: {}", named(&synced.gone)));
    }
    let reply = VerbReply::new(lines.join("\n"), as_json(synced));
    if synced.took() { reply.after_write() } else { reply }
}

/// What a synchronization changed, as JSON.
pub fn as_json(synced: &SyncResult) -> Value {
    let refused: Vec<Value> = synced.refused.iter().map(|(id, why)| json!({"id": id, "why": why})).collect();
    json!({
        "path": synced.path, "wrote": synced.wrote, "edits": synced.edits,
        "added": synced.added, "changed": synced.changed, "archived": synced.archived,
        "conflicts": synced.conflicts, "refused": refused, "absent": synced.absent, "gone": synced.gone,
        "revision": synced.revision,
    })
}

/// What changed in a plan file and its plan since the last sync.
pub fn standing(standing: &PlanFileStatus, now: i64) -> VerbReply {
    let (link, merged) = (&standing.link, &standing.merged);
    let since = std::time::Duration::from_millis(now.saturating_sub(link.at).unsigned_abs());
    let mut lines = vec![
        text::neutral(&link.path.display().to_string()).into_owned(),
        format!("{}; last synced at revision {}, {}", count(standing.todos as u64, "todo"), link.revision, ago(since)),
    ];
    let coming = coming(merged);
    if coming > 0 {
        lines.push(format!("{} to pull into the plan", count(coming as u64, "change")));
    }
    if !merged.writes.is_empty() {
        lines.push(format!("{} to write to the file", count(merged.writes.len() as u64, "change")));
    }
    if coming == 0 && merged.writes.is_empty() {
        lines.push("in sync".to_owned());
    } else {
        let object = if coming + merged.writes.len() == 1 { "it" } else { "them" };
        lines.push(format!("`punch plan sync` merges {object}"));
    }
    lines.extend(conflicts(&merged.conflicts));
    if !merged.absent.is_empty() {
        let ids: Vec<String> = merged.absent.iter().map(|item| item.id.clone()).collect();
        lines.push(format!("not in the file: {}", named(&ids)));
    }
    lines.extend(link.conflicts.iter().rev().take(NAMED).map(|known| format!("earlier {}", conflict(known))));
    lines.push(format!("linked by {}", text::neutral(&link.created_by)));
    if !link.edited_by.is_empty() {
        lines.push(format!("edited by {}", named(&link.edited_by)));
    }
    for (session, ids) in link.built_by.iter().take(NAMED) {
        lines.push(format!("built by {}: {}", text::neutral(session), named(ids)));
    }
    let ids = |ids: &[PlanFileTodo]| ids.iter().map(|item| item.id.clone()).collect::<Vec<_>>();
    VerbReply::new(
        lines.join("\n"),
        json!({
            "path": link.path, "todos": standing.todos, "revision": link.revision, "at": link.at,
            "coming": coming, "writing": merged.writes.len(), "conflicts": merged.conflicts,
            "earlierConflicts": link.conflicts, "absent": ids(&merged.absent), "gone": merged.gone,
            "deleted": merged.deleted,
            "createdBy": link.created_by, "editedBy": link.edited_by, "builtBy": link.built_by,
        }),
    )
}

/// The answer to an unlink: also the changes that a sync would have merged, for they stay on their own side now.
pub fn unlinked(link: &PlanFileLink, standing: Option<&PlanFileStatus>) -> VerbReply {
    let path = link.path.display().to_string();
    let (coming, writing) = standing.map_or((0, 0), |known| (coming(&known.merged), known.merged.writes.len()));
    let mut lines = vec![format!("`{}` is no longer linked; it stays as it is", text::neutral(&path))];
    if coming > 0 {
        lines.push(format!("note: {} in the file never reached the plan", count(coming as u64, "change")));
    }
    if writing > 0 {
        lines.push(format!("note: {} in the plan never reached the file", count(writing as u64, "change")));
    }
    VerbReply::new(lines.join("\n"), json!({"path": link.path, "coming": coming, "writing": writing}))
}

/// Todos that people changed, brought in or deleted.
fn coming(merged: &PlanFileMerge) -> usize {
    let before: HashMap<&str, &PlanFileTodo> = merged.before.iter().map(|item| (item.id.as_str(), item)).collect();
    let changed = |item: &&PlanFileTodo| before.get(item.id.as_str()) != Some(item);
    merged.after.iter().filter(changed).count() + merged.deleted.len()
}

fn conflicts(all: &[MergeConflict]) -> Vec<String> {
    let mut lines: Vec<String> = all.iter().take(NAMED).map(conflict).collect();
    if all.len() > NAMED {
        lines.push(format!("{}; --json shows all", count((all.len() - NAMED) as u64, "more conflict")));
    }
    lines
}

fn conflict(conflict: &MergeConflict) -> String {
    format!("conflict: {}", conflict.text())
}

fn named(ids: &[String]) -> String {
    let mut out: Vec<String> =
        ids.iter().take(NAMED).map(|id| text::neutral(&text::clip(id, 60)).into_owned()).collect();
    if ids.len() > NAMED {
        out.push(format!("{} more", ids.len() - NAMED));
    }
    out.join(", ")
}
