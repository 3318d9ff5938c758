//! `punch store backup`: copies the store as it is now, without blocking writers.

use std::path::PathBuf;

use clap::Args;
use punch_core::text;
use punch_engine::locate::Location;
use punch_store::OpenMode;
use serde_json::json;

use crate::failure::Failure;
use crate::open_store;
use crate::reply::VerbReply;
use crate::safety::bytes;

/// The arguments of `punch store backup`.
#[derive(Args)]
pub struct BackupArgs {
    /// Where to; by default a new file in `backups/` beside the store
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

impl BackupArgs {
    /// Runs the verb.
    pub fn run(self, location: &Location) -> Result<VerbReply, Failure> {
        super::need(location)?;
        let store = open_store::open(location, OpenMode::Existing, None)?;
        let file = match self.file {
            Some(file) => file,
            None => super::fresh(location, "store", "db")?,
        };
        if !self.force {
            super::refuse_taken(&file, "choose another name, or replace it with `--force`")?;
        } else if file
            .canonicalize()
            .is_ok_and(|file| location.database.canonicalize().is_ok_and(|store| store == file))
        {
            return Err(Failure::usage("that is the store itself", "name another file"));
        }
        store.backup_to(&file)?;
        let size = std::fs::metadata(&file).map_or(0, |found| found.len());
        let name = file.display().to_string();
        let message = format!("Copied to `{}` ({}).", text::neutral(&name), bytes(size));
        Ok(VerbReply::new(message, json!({"file": name, "bytes": size})))
    }
}
