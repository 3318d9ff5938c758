//! `punch store`: the store as a file.

mod accept;
mod backup;
mod copy;
mod info;
mod prune;
mod restore;

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand};
use punch_engine::locate::{self, Location};
use punch_store::{StoreError, StoreLabel, StoreObstacle, create_own_folder};

use crate::arguments::Global;
use crate::environment;
use crate::failure::Failure;
use crate::reply::VerbReply;

const EXAMPLES: &str = "\
Examples:
  punch store info
  punch store backup                       # into `backups/` beside the store
  punch store backup ../plan.db
  punch store restore ../plan.db           # keeps the current one beside it
  punch store restore --copy               # from the hourly copy in your state folder
  punch store accept                       # continue after a damaged or deleted `store.db-wal`
  punch store copy .git/punch postgres://db/plans
  punch store prune --before 500 --export events.jsonl

The newest changes may be in `store.db-wal`: copy with `punch store backup`, or the whole folder, not `store.db` alone.";

/// The arguments of `punch store`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct StoreArgs {
    #[command(subcommand)]
    action: StoreCommand,
}

/// What to do with the store.
#[derive(Subcommand)]
enum StoreCommand {
    /// Show where the store is, its size, and its copies
    Info(info::InfoArgs),
    /// Copy the store to a file
    Backup(backup::BackupArgs),
    /// Restore the store from a copy; the current one is kept beside it
    Restore(restore::RestoreArgs),
    /// Continue after the store has lost writes, with what is left
    Accept(accept::AcceptArgs),
    /// Copy all plans to another store and verify the copy
    Copy(copy::CopyArgs),
    /// Export old events to a file and delete them; the plan stays, but those revisions can no longer be undone
    Prune(prune::PruneArgs),
}

impl StoreArgs {
    /// Runs the verb.
    pub fn run(self, global: Global) -> Result<VerbReply, Failure> {
        let location = || -> Result<Location, Failure> { Ok(locate::locate(&environment::surroundings(&global)?)?) };
        match self.action {
            StoreCommand::Info(verb) => verb.run(&location()?),
            StoreCommand::Backup(verb) => verb.run(&location()?),
            StoreCommand::Restore(verb) => verb.run(location()?),
            StoreCommand::Accept(verb) => verb.run(&in_file(location()?)?),
            StoreCommand::Copy(verb) => verb.run(&environment::surroundings(&global)?),
            StoreCommand::Prune(verb) => verb.run(crate::project::Project::find(global)?),
        }
    }
}

/// A name in `backups/` beside the store that is not taken; the folder is made.
fn fresh(location: &Location, stem: &str, ending: &str) -> Result<PathBuf, Failure> {
    let folder = location.dir.join("backups");
    create_own_folder(&folder).map_err(|cause| Failure::File(folder.display().to_string(), cause))?;
    let at = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let name = |n: u32| match n {
        1 => format!("{stem}-{at}.{ending}"),
        n => format!("{stem}-{at}-{n}.{ending}"),
    };
    let free = (1..).map(|n| folder.join(name(n))).find(|path| !path.exists());
    Ok(free.unwrap_or_else(|| folder.join(name(0))))
}

/// Fails for a store on a server.
fn in_file(location: Location) -> Result<Location, Failure> {
    if location.server.is_none() {
        return Ok(location);
    }
    let message = format!("`{}` is on a server, which has its own backups", location.shown());
    Err(Failure::refused(
        "store_on_server",
        message,
        "`punch store copy FILE ADDRESS` copies a backup into an empty project",
    ))
}

/// Fails if something is there already.
fn refuse_taken(path: &std::path::Path, hint: &str) -> Result<(), Failure> {
    match path.symlink_metadata() {
        Ok(_) => Err(Failure::refused("file_exists", format!("`{}` already exists", path.display()), hint)),
        Err(_) => Ok(()),
    }
}

/// Fails if there is no store.
fn need(location: &Location) -> Result<(), Failure> {
    if location.exists {
        return Ok(());
    }
    let (store, why) = (StoreLabel::file(&location.database), "it does not exist yet".to_owned());
    Err(StoreError::Unavailable { store, reason: StoreObstacle::Missing, why }.into())
}
