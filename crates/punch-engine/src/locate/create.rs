//! Creates the folder of a store, which only a write may do, and finds out beforehand whether that is possible.

use std::{
    io::{self, ErrorKind, Write},
    path::Path,
};

use super::{LocateError, Location, LocationRule, usable};
use punch_store::platform;

impl Location {
    /// Makes the folder if it is missing: private to its owner, and beside code with a `.gitignore` that ignores the
    /// whole folder and itself. Not the database.
    pub fn create(&self) -> Result<(), LocateError> {
        let mut builder = platform::private_folders();
        // Only a place that the user chose may lack its parents; elsewhere a missing parent means that the project went.
        builder.recursive(matches!(self.kind, LocationRule::Given | LocationRule::Server));
        match builder.create(&self.dir) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(self.read_only(&error)),
            // Without this sync, power loss could remove the folder and every acknowledged write in it. Not every file
            // system can sync a folder; that is not an error.
            Ok(()) => drop(platform::sync_folder(platform::folder_of(&self.dir))),
            Err(_) => {}
        }
        if !matches!(self.kind, LocationRule::Given | LocationRule::Server) {
            usable(&self.dir)?;
        }
        match self.kind {
            // Outside git too: the user may type `git init` and `git add .` later.
            LocationRule::InTree | LocationRule::Outside => {
                ignore_itself(&self.dir).map_err(|error| self.read_only(&error))
            }
            LocationRule::Git | LocationRule::Given | LocationRule::Server => Ok(()),
        }
    }

    /// Fails with `store_read_only` if a write could not succeed: in a sandbox that protects `.git`, on a read-only
    /// mount, in another user's folder. Changes nothing.
    pub fn writable(&self) -> Result<(), LocateError> {
        let there = |path: &&Path| path.symlink_metadata().is_ok();
        let folder = self.dir.ancestors().find(there);
        let database = Some(self.database.as_path()).filter(there);
        for path in folder.into_iter().chain(database) {
            platform::writable(path).map_err(|error| self.read_only(&error))?;
        }
        Ok(())
    }

    /// Whether other users may read the database or enter its folder; unknown where there are no such permissions.
    pub fn open_to_others(&self) -> Option<bool> {
        let mode = |path: &Path| path.symlink_metadata().ok().and_then(|found| platform::mode(&found));
        // A closed folder protects what is in it.
        Some(mode(&self.dir)? & 0o011 != 0 && mode(&self.database)? & 0o066 != 0)
    }

    fn read_only(&self, cause: &io::Error) -> LocateError {
        LocateError::ReadOnly { path: self.dir.clone(), cause: cause.to_string() }
    }
}

fn ignore_itself(dir: &Path) -> io::Result<()> {
    match platform::create_private(&dir.join(".gitignore")) {
        Ok(mut file) => file.write_all(b"*\n"),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}
