//! Whether a folder may be used as a store: a real folder of this user. A link could lead a write to another place,
//! and what another user owns may hold anything.

use std::{
    fs::{self, Metadata},
    io::ErrorKind,
    path::Path,
};

use super::LocateError;
use punch_store::platform;

/// The name of the database in a store folder.
pub(super) const DATABASE: &str = "store.db";

/// Whether the folder is there; fails if what is there must not be used.
pub(super) fn usable(dir: &Path) -> Result<bool, LocateError> {
    let Some(found) = entry(dir)? else { return Ok(false) };
    judge(dir, &found, platform::user())?;
    Ok(true)
}

/// Whether the folder holds a database.
pub(super) fn is_store(dir: &Path) -> Result<bool, LocateError> {
    let database = dir.join(DATABASE);
    match entry(&database)? {
        Some(found) if found.is_symlink() => Err(LocateError::Symlink { path: database }),
        Some(found) if found.is_file() => Ok(true),
        Some(_) => Err(LocateError::NotAFile { path: database }),
        None => Ok(false),
    }
}

fn judge(dir: &Path, found: &Metadata, user: Option<u32>) -> Result<(), LocateError> {
    let path = dir.to_owned();
    if found.is_symlink() {
        return Err(LocateError::Symlink { path });
    }
    if !found.is_dir() {
        return Err(LocateError::NotAFolder { path });
    }
    match (platform::owner(found), user) {
        (Some(owner), Some(user)) if owner != user => Err(LocateError::OtherOwner { path, owner, user }),
        _ => Ok(()),
    }
}

/// The entry itself, a link not followed.
fn entry(path: &Path) -> Result<Option<Metadata>, LocateError> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        // "No store here" would let the caller make a second one.
        Err(error) => Err(LocateError::Unreadable { path: path.to_owned(), cause: error.to_string() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_another_user_is_refused() {
        let here = tempfile::tempdir().unwrap();
        let found = fs::symlink_metadata(here.path()).unwrap();
        let Some(owner) = platform::owner(&found) else { return };
        assert_eq!(judge(here.path(), &found, Some(owner)), Ok(()));
        let refused = judge(here.path(), &found, Some(owner + 1));
        assert_eq!(refused, Err(LocateError::OtherOwner { path: here.path().into(), owner, user: owner + 1 }));
    }
}
