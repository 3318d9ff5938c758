//! `punch store restore`: replaces the store with a copy. The replaced store is kept.

use std::path::{Path, PathBuf};

use clap::Args;
use punch_core::text;
use punch_engine::locate::Location;
use punch_store::{OpenMode, StoreError, StoreObstacle, restore};
use serde_json::json;

use crate::failure::Failure;
use crate::guard;
use crate::open_store;
use crate::reply::VerbReply;
use crate::safety::{Safety, count};

/// The number of replaced stores that are kept in `backups/`.
const MOST_REPLACED: usize = 10;

/// The arguments of `punch store restore`.
#[derive(Args)]
#[group(required = true, multiple = false)]
pub struct RestoreArgs {
    /// The copy to restore
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The hourly copy in your state folder
    #[arg(long)]
    copy: bool,
}

impl RestoreArgs {
    /// Runs the verb.
    pub fn run(self, location: Location) -> Result<VerbReply, Failure> {
        guard::only_user("replace the store")?;
        let location = &super::in_file(location)?;
        let from = match self.file {
            Some(file) => file,
            None => {
                let copy = Safety::of(location).map(|safety| safety.copy().to_owned());
                let none = || {
                    Failure::usage(
                        "there is no home folder, so there are no copies",
                        "name the copy: `punch store restore FILE`",
                    )
                };
                copy.ok_or_else(none)?
            }
        };
        if !from.exists() {
            let hint = "`punch store info` lists the copies";
            return Err(Failure::refused("copy_missing", format!("no copy at `{}`", from.display()), hint));
        }
        if from.canonicalize().is_ok_and(|from| from == location.database) {
            return Err(Failure::usage("that is the store itself", "name a copy; `punch store info` lists them"));
        }
        location.create()?;
        let backup = keep(location)?;
        let aside = restore(&from, &location.database)?;
        forget_oldest(location, &from);
        let info = open_store::open(location, OpenMode::Existing, None)?.info()?;
        let replaced = aside.or(backup).map(|path| path.display().to_string());
        let mut message = format!(
            "Restored `{}` from `{}`: {}, {}.",
            text::neutral(&location.database.display().to_string()),
            text::neutral(&from.display().to_string()),
            count(info.plans, "plan"),
            count(info.todos, "todo")
        );
        if let Some(replaced) = &replaced {
            message.push_str(&format!("\nThe previous store is in `{}`", text::neutral(replaced)));
        }
        Ok(VerbReply::new(
            message,
            json!({
                "store": location.database.display().to_string(),
                "from": from.display().to_string(),
                "replaced": replaced,
                "plans": info.plans,
                "todos": info.todos,
            }),
        ))
    }
}

/// Deletes the oldest stores that restores replaced, so that they do not fill the disk. Never the copy `from` which the
/// store was just restored.
fn forget_oldest(location: &Location, from: &Path) {
    let from = from.canonicalize().unwrap_or_else(|_| from.to_owned());
    let entries = std::fs::read_dir(location.dir.join("backups")).into_iter().flatten().flatten();
    let is_replaced = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("replaced-") && name.ends_with(".db")
    };
    let mut replaced: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_replaced).collect();
    // Names begin with the time, so that they sort by age; two of one second differ by a number at the end.
    replaced.sort_by_key(|path| (path.to_string_lossy().len(), path.clone()));
    let surplus = replaced.len().saturating_sub(MOST_REPLACED);
    for old in replaced.iter().take(surplus).filter(|old| old.canonicalize().is_ok_and(|old| old != from)) {
        let _ = std::fs::remove_file(old);
    }
}

/// Copies the store that is about to be replaced. One that cannot be read is moved aside by `restore` itself.
fn keep(location: &Location) -> Result<Option<PathBuf>, Failure> {
    if !location.exists {
        return Ok(None);
    }
    match open_store::open(location, OpenMode::Existing, None) {
        Ok(store) => {
            let backup = super::fresh(location, "replaced", "db")?;
            store.backup_to(&backup)?;
            Ok(Some(backup))
        }
        Err(StoreError::Damaged { .. } | StoreError::TooNew { .. }) => Ok(None),
        Err(StoreError::Unavailable { reason: StoreObstacle::Foreign, .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
