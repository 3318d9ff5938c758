//! `punch plan link` and the verbs beside it: a Markdown file that you edit and the plan follows. `punch plan-file` is the
//! older name of them all.

mod views;
mod watch;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use punch_core::text;
use punch_engine::plan_file::{FileError, SyncOptions};
use punch_engine::{EngineError, WriteRequest};
use serde_json::json;

use crate::commands::assign::{To, hand_out};
use crate::failure::Failure;
use crate::files;
use crate::project::{OpenProject, Project};
use crate::reply::VerbReply;

const EXAMPLES: &str = "\
Examples:
  punch plan link PLAN.md           # adds its todos to the plan and keeps their boxes up to date
  punch plan status
  punch plan sync                   # merges the changes on both sides
  punch plan sync --add             # adds the other todos of the plan to the file
  punch plan sync --watch           # until you press Ctrl-C
  punch plan build --to claude      # starts Claude Code on everything that is not done
  punch plan unlink                 # the file stays";

/// The arguments of `punch plan-file`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct PlanFileArgs {
    #[command(subcommand)]
    what: PlanFileVerb,
}

/// What can be done with a plan file.
#[derive(Subcommand)]
pub enum PlanFileVerb {
    /// Link the plan to a Markdown file and merge both
    Link {
        /// A Markdown file with a checklist, or with `todos` in YAML front matter
        file: PathBuf,
        /// Also add todos to the file that it does not have
        #[arg(long)]
        add: bool,
    },
    /// Show what changed in the plan and in the linked file since the last sync
    Status,
    /// Merge the changes of the plan and the linked file
    Sync {
        /// Also add todos to the file that it does not have
        #[arg(long)]
        add: bool,
        /// Keep syncing until you press Ctrl-C
        #[arg(long)]
        watch: bool,
    },
    /// Start an agent on everything in the linked file that is not done
    Build {
        #[command(flatten)]
        to: To,
    },
    /// Unlink the file and leave it as it is
    Unlink,
}

impl PlanFileArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        self.what.run(project)
    }
}

impl PlanFileVerb {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        match self {
            PlanFileVerb::Link { file, add } => {
                let path = absolute(&file)?;
                let open = project.write()?;
                let synced = open.engine.link_plan_file(open.plan, &request(&open), &path, SyncOptions { add })?;
                let mut reply = views::synced(&synced);
                let name = text::neutral(&file.display().to_string()).into_owned();
                reply.body.push(format!(
                    "Linked `{name}`: its boxes are ticked as work is done, and `punch plan sync` merges your edits"
                ));
                Ok(reply)
            }
            PlanFileVerb::Status => {
                let open = linked(project)?;
                let standing = open.engine.plan_file_standing(open.plan)?;
                Ok(views::standing(&standing, open.engine.now()))
            }
            PlanFileVerb::Sync { add, watch: false } => {
                let open = linked(project)?;
                let synced = open.engine.sync_plan_file(open.plan, &request(&open), SyncOptions { add })?;
                Ok(views::synced(&synced))
            }
            PlanFileVerb::Sync { add, watch: true } => watch::run(&linked(project)?, SyncOptions { add }),
            PlanFileVerb::Build { to } => build(&linked(project)?, &to),
            PlanFileVerb::Unlink => {
                let open = linked(project)?;
                // A file that is gone or cannot be read has nothing that could still be merged.
                let standing = open.engine.plan_file_standing(open.plan).ok();
                Ok(views::unlinked(&open.engine.unlink_plan_file(open.plan)?, standing.as_ref()))
            }
        }
    }
}

/// What people just wrote counts; what is completed or cancelled does not.
fn build(open: &OpenProject, to: &To) -> Result<VerbReply, Failure> {
    open.engine.sync_plan_file(open.plan, &request(open), SyncOptions::default())?;
    let todos = open.engine.to_build(open.plan)?;
    if todos.is_empty() {
        return Ok(VerbReply::new("Everything in the plan file is done.", json!({"ids": []})));
    }
    hand_out(open, &todos, to, |session, ids| Ok(open.engine.note_built(open.plan, session, ids)?))
}

/// A project without a store has no plan file.
fn linked(project: Project) -> Result<OpenProject, Failure> {
    project.read()?.plan().ok_or_else(|| EngineError::from(FileError::NotLinked).into())
}

fn request(open: &OpenProject) -> WriteRequest<'_> {
    // Nothing is shown that would need more to be loaded.
    WriteRequest { detail: false, ..open.project.request() }
}

/// The whole path, with links among its folders resolved and the file itself as it is named.
fn absolute(file: &Path) -> Result<PathBuf, Failure> {
    let whole = std::path::absolute(file).map_err(|cause| files::failed(file, cause))?;
    let Some((folder, name)) = whole.parent().zip(whole.file_name()) else { return Ok(whole) };
    Ok(folder.canonicalize().map_err(|cause| files::failed(file, cause))?.join(name))
}
