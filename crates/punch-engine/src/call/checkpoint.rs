//! The checkpoint tool: save, list, restore. Git is asked before the transaction.

use punch_core::text;
use punch_store::PlanId;
use serde_json::json;

use super::arguments::CheckpointCall;
use super::render::capped;
use super::{ToolAnswer, ToolCaller};
use crate::{Code, Engine, EngineError, RestoreResult, Restoring, Role, SavedCheckpoint, Saving, session};

/// Checkpoints that are listed.
const LISTED: usize = 10;

impl Engine {
    pub(super) fn call_checkpoint(
        &self,
        plan: PlanId,
        caller: &ToolCaller<'_>,
        call: &CheckpointCall,
    ) -> Result<ToolAnswer, EngineError> {
        let code = || caller.work.tree.as_ref().map(Code::look).unwrap_or_default();
        let (text, structured) = match call {
            CheckpointCall::Save { note } => {
                let saving = Saving { by: caller.actor.by(), notes: note.as_deref(), ..Saving::default() };
                let saved = self.checkpoint(plan, &code(), &saving)?;
                (format!("Saved {}", line(&saved)), json!({"id": saved.id, "todos": saved.todos}))
            }
            CheckpointCall::List => {
                let all = self.checkpoints(plan, LISTED)?;
                let lines: Vec<String> = all.iter().map(line).collect();
                let text = if lines.is_empty() { "No checkpoints.".to_owned() } else { lines.join("\n") };
                (text, json!({"checkpoints": all.iter().map(|saved| &saved.id).collect::<Vec<_>>()}))
            }
            CheckpointCall::Restore { id } => {
                self.may_restore(plan, caller)?;
                let id = id.as_deref().unwrap_or("latest");
                let reopen = caller.settings.is_none_or(|settings| settings.checkpoint_reopen.value);
                // Only agents call tools, and only the user uses force.
                let how = Restoring { force: false, reopen };
                let code = code();
                let restored = self.restore(plan, &caller.request(|policy| policy), &code, id, how)?;
                let back = restored.saved.way_back(&code);
                let structured = json!({
                    "id": restored.saved.id,
                    "reopened": restored.reopened,
                    "next": restored.next,
                    "git": back,
                });
                (told(&restored, &back), structured)
            }
        };
        let revision = self.read(plan, |snapshot| Ok(snapshot.row()?.revision))?;
        Ok(ToolAnswer::new(capped(&text), structured, revision))
    }

    /// A worker answers for its own todos only (rule 39).
    fn may_restore(&self, plan: PlanId, caller: &ToolCaller<'_>) -> Result<(), EngineError> {
        let role = self.read(plan, |snapshot| {
            let state = session::load(snapshot, &caller.session, plan)?;
            Ok(state.role_of(&caller.session, caller.role))
        })?;
        match role {
            Role::Owner => Ok(()),
            Role::Worker | Role::None => Err(EngineError::NotAllowed { what: "restore the plan".into() }),
        }
    }
}

fn line(saved: &SavedCheckpoint) -> String {
    let (done, left) = (saved.todos.completed.len(), saved.todos.remaining.len());
    let commit = saved.git.as_ref().and_then(|git| git.commit.as_deref());
    let commit = commit.map(|commit| format!(", commit {}", commit.get(..12).unwrap_or(commit))).unwrap_or_default();
    let notes = saved.notes.as_ref().map(|notes| format!(": {}", text::clip(&text::neutral(notes), 120)));
    format!("{}: {done} done, {left} left{commit}{}", saved.id, notes.unwrap_or_default())
}

fn told(restored: &RestoreResult, back: &[String]) -> String {
    let mut out = vec![format!("Restored {}. Files were not touched.", restored.saved.id)];
    let names = |ids: &[String]| -> String {
        let shown: Vec<String> = ids.iter().take(30).map(|id| text::neutral(id).into_owned()).collect();
        let more = ids.len().saturating_sub(shown.len());
        format!("{}{}", shown.join(", "), if more > 0 { format!(" and {more} more") } else { String::new() })
    };
    let stale = restored.judged.iter().filter(|judged| judged.verdict == crate::CommitVerdict::Stale);
    let stale: Vec<String> = stale.map(|judged| judged.id.clone()).collect();
    if !stale.is_empty() {
        out.push(format!("Their work is no longer in git: {}", names(&stale)));
    }
    if !restored.reopened.is_empty() {
        out.push(format!("Reopened: {}", names(&restored.reopened)));
    }
    out.extend(restored.safety.iter().map(|id| format!("The previous state was saved as {id}.")));
    if !back.is_empty() {
        out.push(format!("To restore its code too: {}", back.join("; ")));
    }
    out.extend(restored.next.iter().map(|id| format!("Next: {}", text::neutral(id))));
    out.join("\n")
}
