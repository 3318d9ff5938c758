//! The plan file on disk: read completely, up to a size limit, and replaced atomically by one process at a time, only
//! if it has not changed in between.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::string::FromUtf8Error;
use std::time::{Duration, Instant, UNIX_EPOCH};

use punch_core::plan_file::LIMIT;
use punch_store::{Replacement, platform};

use super::{FileError, FileStamp};

/// How long another process is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// A look at the file, without opening it. `None` if there is none.
pub fn look(path: &Path) -> Option<FileStamp> {
    let found = fs::symlink_metadata(path).ok()?;
    let modified = found.modified().ok()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    Some(FileStamp { modified: u64::try_from(modified.as_nanos()).unwrap_or(u64::MAX), size: found.len() })
}

/// The text of a plan file.
pub(super) fn read(path: &Path) -> Result<String, FileError> {
    let named = || path.to_owned();
    let system = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => FileError::Missing { path: named() },
        _ => FileError::System { path: named(), cause: error.to_string() },
    };
    let found = fs::symlink_metadata(path).map_err(system)?;
    // A link is not followed: what replaces the file would replace the link. The folder was stored without links; if it
    // leads elsewhere now, the file there is another one.
    let folder = platform::folder_of(path);
    let moved = folder.is_absolute() && folder.canonicalize().is_ok_and(|real| real != folder);
    if found.is_symlink() || moved {
        let to = path.canonicalize().or_else(|_| fs::read_link(path)).unwrap_or_default();
        return Err(FileError::Link { path: named(), to });
    }
    if !found.is_file() {
        return Err(FileError::NotFile { path: named() });
    }
    if found.len() > LIMIT {
        return Err(FileError::TooLarge { path: named() });
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(LIMIT + 1).read_to_end(&mut bytes)).map_err(system)?;
    if bytes.len() as u64 > LIMIT {
        return Err(FileError::TooLarge { path: named() });
    }
    let wrong_byte = |error: FromUtf8Error| error.utf8_error().valid_up_to() + 1;
    String::from_utf8(bytes).map_err(|error| FileError::NotText { path: named(), byte: wrong_byte(error) })
}

/// Keeps other processes of ours from the files of a folder until the answer is dropped.
pub(super) fn turn(path: &Path) -> Result<Option<File>, FileError> {
    let Ok(file) = File::open(platform::folder_of(path)) else { return Ok(None) };
    let until = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(fs::TryLockError::WouldBlock) if Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(3));
            }
            Err(fs::TryLockError::WouldBlock) => return Err(FileError::Busy { path: path.to_owned() }),
            // Folders on some file systems cannot be locked; going on without is better than refusing there.
            Err(fs::TryLockError::Error(_)) => return Ok(None),
        }
    }
}

/// Replaces the file if it still says `before`. False if another program changed it.
pub(super) fn replace(path: &Path, before: &str, after: &str) -> Result<bool, FileError> {
    let system = |error: io::Error| FileError::System { path: path.to_owned(), cause: error.to_string() };
    let replacement = Replacement::new(path, after.as_bytes(), 0o600).map_err(system)?;
    // As late as possible: an editor that saves now must not lose what it saved.
    if read(path)? != before {
        return Ok(false);
    }
    replacement.commit().map_err(system)?;
    Ok(true)
}
