//! `punch plan-file`: a `.plan.md` that people edit and the plan follows.

mod views;
mod watch;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use punch_engine::plan_file::{FileError, SyncOptions};
use punch_engine::{EngineError, Request};
use serde_json::json;

use crate::commands::assign::{To, hand_out};
use crate::failure::Failure;
use crate::files;
use crate::project::{Open, Project};
use crate::reply::Reply;

const EXAMPLES: &str = "\
Examples:
  punch plan-file link release.plan.md   # its todos come in; from now on their status is written into it
  punch plan-file status
  punch plan-file sync                   # brings over what was changed on both sides
  punch plan-file sync --add             # puts the other todos of the plan into the file too
  punch plan-file sync --watch           # until ctrl-c
  punch plan-file build --to claude      # a new conversation for all that is not completed or cancelled
  punch plan-file unlink                 # the file stays";

/// The arguments of `punch plan-file`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct PlanFile {
    #[command(subcommand)]
    what: What,
}

/// What can be done with a plan file.
#[derive(Subcommand)]
enum What {
    /// Link the plan to a file and bring both together
    Link {
        /// A file with YAML front matter that has `todos`
        file: PathBuf,
        /// Put todos that the file lacks into it
        #[arg(long)]
        add: bool,
    },
    /// Show what was changed on each side since both agreed, and who has to do with the file
    Status,
    /// Bring over what was changed on each side
    Sync {
        /// Put todos that the file lacks into it
        #[arg(long)]
        add: bool,
        /// Go on whenever the file or the plan changes, until interrupted
        #[arg(long)]
        watch: bool,
    },
    /// Give what is still to be done in the file to a new conversation of an agent
    Build {
        #[command(flatten)]
        to: To,
    },
    /// Forget the file; it stays as it is
    Unlink,
}

impl PlanFile {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<Reply, Failure> {
        match self.what {
            What::Link { file, add } => {
                let path = absolute(&file)?;
                let open = project.write()?;
                let synced = open.engine.link_plan_file(open.plan, &request(&open), &path, SyncOptions { add })?;
                Ok(views::synced(&synced))
            }
            What::Status => {
                let open = linked(project)?;
                let standing = open.engine.plan_file_standing(open.plan)?;
                Ok(views::standing(&standing, open.engine.now()))
            }
            What::Sync { add, watch: false } => {
                let open = linked(project)?;
                let synced = open.engine.sync_plan_file(open.plan, &request(&open), SyncOptions { add })?;
                Ok(views::synced(&synced))
            }
            What::Sync { add, watch: true } => watch::run(&linked(project)?, SyncOptions { add }),
            What::Build { to } => build(&linked(project)?, &to),
            What::Unlink => {
                let open = linked(project)?;
                Ok(views::unlinked(&open.engine.unlink_plan_file(open.plan)?))
            }
        }
    }
}

/// What people just wrote counts; what is completed or cancelled does not.
fn build(open: &Open, to: &To) -> Result<Reply, Failure> {
    open.engine.sync_plan_file(open.plan, &request(open), SyncOptions::default())?;
    let todos = open.engine.to_build(open.plan)?;
    if todos.is_empty() {
        return Ok(Reply::new("Nothing in the plan file is left to be done.", json!({"ids": []})));
    }
    hand_out(open, &todos, to, |session, ids| Ok(open.engine.note_built(open.plan, session, ids)?))
}

/// A project without a store has no plan file.
fn linked(project: Project) -> Result<Open, Failure> {
    project.read()?.plan().ok_or_else(|| EngineError::from(FileError::NotLinked).into())
}

fn request(open: &Open) -> Request<'_> {
    // Nothing is shown that would need more to be loaded.
    Request { detail: false, ..open.project.request() }
}

/// The whole path, with links among its folders resolved and the file itself as it is named.
fn absolute(file: &Path) -> Result<PathBuf, Failure> {
    let whole = std::path::absolute(file).map_err(|cause| files::failed(file, cause))?;
    let Some((folder, name)) = whole.parent().zip(whole.file_name()) else { return Ok(whole) };
    Ok(folder.canonicalize().map_err(|cause| files::failed(file, cause))?.join(name))
}
