//! The plan file on disk: read whole under a limit, replaced whole or not at all, by one process at a time, and only
//! if nobody changed it in between.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, UNIX_EPOCH};

use punch_core::plan_file::LIMIT;
use serde::{Deserialize, Serialize};

use super::FileError;
use crate::platform;

/// How long another process is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// What tells at a glance whether a file is still the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// When it was written, in nanoseconds since the epoch.
    pub modified: u64,
    /// Its size in bytes.
    pub size: u64,
}

/// A look at the file, without opening it. `None` if there is none.
pub fn look(path: &Path) -> Option<Look> {
    let found = fs::symlink_metadata(path).ok()?;
    let modified = found.modified().ok()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    Some(Look { modified: u64::try_from(modified.as_nanos()).unwrap_or(u64::MAX), size: found.len() })
}

/// The text of a plan file.
pub(super) fn read(path: &Path) -> Result<String, FileError> {
    let system = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => FileError::Missing(path.to_owned()),
        _ => FileError::System(path.to_owned(), error.to_string()),
    };
    let found = fs::symlink_metadata(path).map_err(system)?;
    // A link is not followed: what replaces the file would replace the link.
    if found.is_symlink() {
        let to = path.canonicalize().or_else(|_| fs::read_link(path)).unwrap_or_default();
        return Err(FileError::Link(path.to_owned(), to));
    }
    if !found.is_file() {
        return Err(FileError::NotFile(path.to_owned()));
    }
    if found.len() > LIMIT {
        return Err(FileError::TooLarge(path.to_owned()));
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(LIMIT + 1).read_to_end(&mut bytes)).map_err(system)?;
    if bytes.len() as u64 > LIMIT {
        return Err(FileError::TooLarge(path.to_owned()));
    }
    String::from_utf8(bytes).map_err(|error| FileError::NotText(path.to_owned(), error.utf8_error().valid_up_to() + 1))
}

/// Keeps other processes of ours from the files of a folder until the answer is dropped.
pub(super) fn turn(path: &Path) -> Result<Option<File>, FileError> {
    let folder = folder_of(path);
    let Ok(file) = File::open(folder) else { return Ok(None) };
    let until = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(fs::TryLockError::WouldBlock) if Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(3));
            }
            Err(fs::TryLockError::WouldBlock) => return Err(FileError::Busy(path.to_owned())),
            // Folders on some file systems cannot be locked; going on without is better than refusing there.
            Err(fs::TryLockError::Error(_)) => return Ok(None),
        }
    }
}

/// Replaces the file if it still says `before`. False if somebody else changed it.
pub(super) fn replace(path: &Path, before: &str, after: &str) -> Result<bool, FileError> {
    let system = |error: io::Error| FileError::System(path.to_owned(), error.to_string());
    let folder = folder_of(path);
    let (temporary, mut file) = temporary(path, folder).map_err(system)?;
    let written = (|| {
        platform::keep_mode(&fs::metadata(path)?, &file)?;
        file.write_all(after.as_bytes())?;
        file.sync_all()
    })();
    // As late as can be: an editor that saves now must not lose what it saved.
    let still = written.map_err(system).and_then(|()| Ok(read(path)? == before));
    match still {
        Ok(true) => {
            let renamed = fs::rename(&temporary, path).map_err(system);
            if renamed.is_err() {
                let _ = fs::remove_file(&temporary);
            }
            platform::sync_folder(folder);
            renamed.map(|()| true)
        }
        other => {
            let _ = fs::remove_file(&temporary);
            other
        }
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A new file in the same folder, so that renaming it moves no bytes. Its name ends so that no editor lists it and no
/// watcher takes it for a plan file.
fn temporary(path: &Path, folder: &Path) -> io::Result<(PathBuf, File)> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    platform::create_with(&mut options, 0o600);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let process = std::process::id();
    for attempt in 0..100 {
        let path = folder.join(format!(".{name}.{process}.{attempt}.tmp"));
        match options.open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return opened.map(|file| (path, file)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
