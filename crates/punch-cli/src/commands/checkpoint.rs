//! `punch checkpoint`: saves and restores snapshots of the plan and the git state.

use clap::{Args, Subcommand};
use punch_core::text;
use punch_engine::{Code, EngineError, RestoreResult, Restoring, SavedCheckpoint, Saving};
use serde_json::json;

use super::checkpoint_views as views;
use crate::failure::Failure;
use crate::output;
use crate::project::{OpenProject, Project, ProjectPlan};
use crate::reply::VerbReply;

const EXAMPLES: &str = "\
Examples:
  punch checkpoint save 'before the big merge'
  punch checkpoint list
  punch checkpoint diff latest                   # how far the plan has come since
  punch checkpoint restore latest                # the plan; your files are never touched
  punch checkpoint show latest --patch | git apply";

/// Checkpoints that are listed, unless more are asked for.
const SHOWN: usize = 20;

/// The arguments of `punch checkpoint`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct CheckpointArgs {
    #[command(subcommand)]
    what: Option<CheckpointCommand>,
}

/// What can be done with checkpoints.
#[derive(Subcommand)]
enum CheckpointCommand {
    /// Save the state of the plan and the code
    Save {
        /// A note
        #[arg(value_name = "NOTE")]
        note: Option<String>,
        /// The older way to give the remark
        #[arg(long = "note", value_name = "TEXT", hide = true, conflicts_with = "note")]
        remark: Option<String>,
    },
    /// Show checkpoints, newest first
    List {
        /// Show at most N
        #[arg(long, value_name = "N", default_value_t = SHOWN)]
        limit: usize,
    },
    /// Show one checkpoint
    Show {
        /// Its id, or `latest`
        #[arg(default_value = "latest")]
        id: String,
        /// Print only the uncommitted changes, as a patch for `git apply`
        #[arg(long, conflicts_with = "json")]
        patch: bool,
    },
    /// Show what changed since a checkpoint
    Diff {
        /// Its id, or `latest`
        #[arg(default_value = "latest")]
        id: String,
    },
    /// Restore the plan, and reopen todos whose work is gone from git
    Restore {
        /// Its id, or `latest`
        id: String,
        /// Restore even if you are on another branch, or the commit is not in its history
        #[arg(long)]
        force: bool,
    },
    /// Delete old checkpoints
    Prune {
        /// Keep the N newest
        #[arg(long, value_name = "N", default_value_t = 10)]
        keep: usize,
    },
}

impl CheckpointArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        let what = self.what.unwrap_or(CheckpointCommand::List { limit: SHOWN });
        if let CheckpointCommand::Save { note, remark } = what {
            return save(&project.write()?, note.or(remark).as_deref());
        }
        let open = match (project.read()?, &what) {
            (ProjectPlan::Plan(open), _) => open,
            (ProjectPlan::Empty(project), CheckpointCommand::List { .. }) => {
                return Ok(views::list(&[], project.layout(0)));
            }
            (ProjectPlan::Empty(_), CheckpointCommand::Prune { .. }) => return Ok(pruned(&[])),
            (
                ProjectPlan::Empty(_),
                CheckpointCommand::Show { id, .. }
                | CheckpointCommand::Diff { id }
                | CheckpointCommand::Restore { id, .. },
            ) => {
                let unknown = punch_engine::CheckpointError::Unknown { id: id.clone(), near: Vec::new() };
                return Err(EngineError::from(unknown).into());
            }
            (ProjectPlan::Empty(_), CheckpointCommand::Save { .. }) => return Ok(VerbReply::printed()),
        };
        let layout = open.project.layout(open.engine.now());
        match what {
            CheckpointCommand::Save { note, remark } => save(&open, note.or(remark).as_deref()),
            CheckpointCommand::List { limit } => Ok(views::list(&open.engine.checkpoints(open.plan, limit)?, layout)),
            CheckpointCommand::Show { id, patch } => {
                let saved = open.engine.saved(open.plan, &id)?;
                if patch {
                    return print_patch(&saved);
                }
                Ok(VerbReply::new(views::whole(&saved, layout), json!({"checkpoint": saved.answer(true)})))
            }
            CheckpointCommand::Diff { id } => {
                let saved = open.engine.saved(open.plan, &id)?;
                let differs = open.engine.differs(open.plan, &saved)?;
                Ok(views::diff(&saved, &differs, &Code::look(&open.project.tree())))
            }
            CheckpointCommand::Restore { id, force } => restore(&open, &id, force),
            CheckpointCommand::Prune { keep } => Ok(pruned(&open.engine.prune_checkpoints(open.plan, keep)?)),
        }
    }
}

fn save(open: &OpenProject, notes: Option<&str>) -> Result<VerbReply, Failure> {
    let code = Code::look(&open.project.tree());
    let actor = open.project.actor();
    let saving = Saving { by: actor.by(), notes, ..Saving::default() };
    let saved = open.engine.checkpoint(open.plan, &code, &saving)?;
    let json = json!({"checkpoint": saved.answer(false)});
    Ok(VerbReply::new(views::line(&saved), json).after_write())
}

fn print_patch(saved: &SavedCheckpoint) -> Result<VerbReply, Failure> {
    let git = saved.git.as_ref();
    if let Some(why) = git.and_then(|git| git.patch_left_out.as_deref()) {
        let hint = "`punch checkpoint show` lists the files";
        return Err(Failure::refused("no_patch", format!("the patch was not stored: {}", text::neutral(why)), hint));
    }
    output::document(git.and_then(|git| git.patch.as_deref()).unwrap_or_default())?;
    Ok(VerbReply::printed())
}

fn restore(open: &OpenProject, id: &str, force: bool) -> Result<VerbReply, Failure> {
    let code = Code::look(&open.project.tree());
    let how = Restoring { force, reopen: open.project.config.settings.checkpoint_reopen.value };
    let restored = open.engine.restore(open.plan, &open.project.request(), &code, id, how)?;
    let RestoreResult { saved, safety, .. } = &restored;
    let json = json!({
        "checkpoint": saved.id,
        "safety": safety,
        "completed": restored.judged,
        "reopened": restored.reopened,
        "newer": restored.newer,
        "gone": restored.gone.len(),
        "next": restored.next,
        "git": saved.way_back(&code),
        "revision": restored.changed.outcome.plan.revision,
    });
    let wrote = !restored.changed.outcome.events.is_empty();
    Ok(VerbReply { wrote, ..VerbReply::new(views::restored(&restored, &code), json) })
}

fn pruned(ids: &[String]) -> VerbReply {
    let text = match ids.len() {
        0 => "No checkpoints to delete.".to_owned(),
        n => format!("Deleted {}.", crate::safety::count(n as u64, "checkpoint")),
    };
    VerbReply { wrote: !ids.is_empty(), ..VerbReply::new(text, json!({"forgotten": ids})) }
}
