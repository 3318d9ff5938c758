//! `punch undo`: undo a revision, as a new revision.

use clap::Args;
use punch_core::reason::PlanReader;
use punch_core::view::history::{self, RevisionStory};
use punch_core::{Patch, Refusal, Todo, Uid, text};
use punch_engine::{EngineError, NARRATED, PlanChange, WriteRequest};
use serde_json::json;

use crate::failure::Failure;
use crate::guard;
use crate::project::{OpenProject, Project, never_freed};
use crate::reply::{self, Body, VerbReply};

const EXAMPLES: &str = "\
Examples:
  punch undo                 # your own latest change
  punch undo --any           # the latest change, by anyone
  punch undo 12              # revision 12 from `punch log`, if nothing later built on it
  punch redo                 # brings back what you undid last";

/// Todos shown.
const SHOWN: usize = 20;

/// The arguments of `punch undo`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct UndoArgs {
    /// The revision to undo, by anyone [default: your own latest change]
    #[arg(value_name = "REVISION")]
    revision: Option<u64>,
    /// Without a revision: undo the latest change, even if it is not yours
    #[arg(long)]
    any: bool,
}

impl UndoArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        if self.any {
            guard::only_user("undo changes of others with `--any`")?;
        }
        let nothing = match self.revision {
            Some(revision) => Refusal::UnknownRevision { revision },
            None => Refusal::NothingToUndo { others: None },
        };
        let open = project.read()?.plan().ok_or(EngineError::from(nothing))?;
        // What the todos wait for is part of the answer.
        let request = WriteRequest { detail: true, ..open.project.request() };
        let changed = never_freed(open.engine.undo(open.plan, &request, self.revision, self.any)?);
        answer(&open, &changed)
    }
}

/// What was undone or redone, whose it was, what stays, and the todos as they are now.
pub fn answer(open: &OpenProject, changed: &PlanChange) -> Result<VerbReply, Failure> {
    let Some(undone) = &changed.outcome.undone else { return Ok(VerbReply::printed()) };
    // A redo is described as the change that is in force again; an undo of a redo as the change that no longer is.
    let (story, names) = open.engine.read(open.plan, |snapshot| {
        let (events, total) = snapshot.events_head(undone.change, NARRATED)?;
        let story = RevisionStory::of(&events).and_more(total - events.len() as u64);
        let mut names = punch_core::Plan::slice(snapshot.row()?);
        snapshot.load(&history::footprint(story.names()), &mut names)?;
        Ok((story, names))
    })?;
    let mut uids: Vec<Uid> = Vec::new();
    for event in &changed.outcome.events {
        if let Patch::Todo(uid, _) = event.patch
            && !uids.contains(&uid)
        {
            uids.push(uid);
        }
    }
    let todos: Vec<&Todo> = uids.iter().filter_map(|uid| changed.plan.get(*uid)).collect();
    let verb = if undone.redo { "Redid" } else { "Undid" };
    let by = text::neutral(&text::clip(&undone.by, 40)).into_owned();
    let mut body = Body::from(format!("{verb} revision {} by {by}: {}", undone.change, story.words(&names)));
    let (reader, layout) = (PlanReader::new(&changed.plan, changed.now), open.project.layout(changed.now));
    body.push(reply::lines(reader, todos.iter().take(SHOWN).copied(), layout));
    if todos.len() > SHOWN {
        body.push(format!("and {} more", todos.len() - SHOWN));
    }
    let stays: Vec<String> =
        changed.outcome.warnings.iter().map(|warning| text::neutral(&warning.message()).into_owned()).collect();
    stays.iter().take(10).for_each(|warning| body.push(format!("note: {warning}")));
    let records = reply::records(&changed.plan, todos.iter().copied(), changed.now);
    let key = if undone.redo { "redone" } else { "undone" };
    let mut json = json!({
        key: undone.change,
        "by": undone.by,
        "revision": changed.outcome.plan.revision,
        "todos": records,
        "warnings": stays,
    });
    if undone.revision != undone.change {
        json["undoRevision"] = json!(undone.revision);
    }
    Ok(VerbReply::new(body, json).after_write())
}
