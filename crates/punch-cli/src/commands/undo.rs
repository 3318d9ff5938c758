//! `punch undo`: take a revision back, as a new revision.

use clap::Args;
use punch_core::{Patch, Refusal, Todo};
use punch_engine::EngineError;
use serde_json::json;

use crate::failure::Failure;
use crate::project::Project;
use crate::reply::{self, Reply};
use crate::story::{self, Story};

const EXAMPLES: &str = "\
Examples:
  punch undo                 # the last change that still stands
  punch undo 12              # one from `punch log`, if nothing later built on it";

/// Todos shown.
const SHOWN: usize = 20;

/// The arguments of `punch undo`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Undo {
    /// The revision to take back; without it the last one that is not taken back already
    #[arg(value_name = "REVISION")]
    revision: Option<u64>,
}

impl Undo {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<Reply, Failure> {
        let revision = self.revision.unwrap_or(0);
        let open = match project.read()? {
            Ok(open) => open,
            Err(_) => return Err(EngineError::from(Refusal::UnknownRevision { revision }).into()),
        };
        let request = open.project.request();
        let (undone, changed) = open.engine.undo(open.plan, &request, self.revision)?;
        let (story, names) = open.engine.read(open.plan, |snapshot| {
            let story = Story::of(&snapshot.events_of(undone)?);
            let mut names = punch_core::Plan::slice(snapshot.row()?);
            snapshot.load(&story::footprint(story.names()), &mut names)?;
            Ok((story, names))
        })?;
        let mut uids: Vec<_> = changed
            .outcome
            .events
            .iter()
            .filter_map(|event| if let Patch::Todo(uid, _) = event.patch { Some(uid) } else { None })
            .collect();
        uids.dedup();
        let todos: Vec<&Todo> = uids.iter().filter_map(|uid| changed.plan.get(*uid)).collect();
        let mut lines = vec![format!("took back revision {undone}: {}", story.tell(&names))];
        lines.extend(todos.iter().take(SHOWN).map(|t| reply::line(t, changed.now)));
        if todos.len() > SHOWN {
            lines.push(format!("and {} more", todos.len() - SHOWN));
        }
        let records = reply::records(&changed.plan, todos.iter().copied(), changed.now);
        let json = json!({"undone": undone, "revision": changed.outcome.plan.revision, "todos": records});
        Ok(Reply::new(lines.join("\n"), json).after_write())
    }
}
