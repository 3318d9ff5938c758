//! The only code that opens files that Punchlist keeps for itself: beside the store, and in the user's state folder.
//! Others may be able to write there: an agent in the worktree of an in-tree store, or whoever packed an archive. So a
//! link in place of a file is never followed, a pipe is never waited for, and whatever is created belongs to this user
//! alone. Files that the user names on the command line are opened elsewhere.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

use crate::platform;

/// Opens a file for reading.
pub fn open_own(path: &Path) -> io::Result<File> {
    open(platform::direct_options().read(true), path)
}

/// Reads a file that has at most `limit` bytes.
pub fn read_own(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_own(path)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("it is larger than {limit} bytes")));
    }
    Ok(bytes)
}

/// Opens a file for reading and writing, creates it if it is missing, and never truncates it. For locks and logs.
pub fn update_own(path: &Path) -> io::Result<File> {
    open(platform::direct_options().read(true).write(true).create(true).truncate(false), path)
}

/// Opens a file for writing at its end, and creates it if it is missing.
pub fn append_own(path: &Path) -> io::Result<File> {
    open(platform::direct_options().append(true).create(true), path)
}

/// Creates a folder that only this user may enter, with all its parents. An existing folder stays as it is; a link in its
/// place is refused.
pub fn create_own_folder(path: &Path) -> io::Result<()> {
    match platform::create_private_folders(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let found = fs::symlink_metadata(path)?;
    if found.is_dir() {
        return Ok(());
    }
    let message = if found.is_symlink() { "it is a link" } else { "it is not a folder" };
    Err(io::Error::new(io::ErrorKind::InvalidInput, message))
}

fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let refused = |message: &str| io::Error::new(io::ErrorKind::InvalidInput, message);
    let is_link = || fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    let is_pipe = || fs::symlink_metadata(path).is_ok_and(|found| platform::has_two_ends(found.file_type()));
    let file = match options.open(path) {
        Err(_) if is_link() => return Err(refused("it is a link")),
        Err(_) if is_pipe() => return Err(refused("it is not a regular file")),
        opened => opened?,
    };
    // Looked at after opening: what the path leads to may have changed in between.
    if file.metadata()?.is_file() { Ok(file) } else { Err(refused("it is not a regular file")) }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn links_pipes_and_folders_are_refused_and_stay_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("target"), "kept").unwrap();
        fs::create_dir(at("folder")).unwrap();
        symlink(at("target"), at("link")).unwrap();
        symlink(at("nowhere"), at("dangling")).unwrap();
        symlink(at("folder"), at("linked-folder")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        for name in ["link", "dangling", "linked-folder", "pipe", "folder"] {
            assert!(open_own(&at(name)).is_err(), "{name} was opened");
            assert!(read_own(&at(name), 100).is_err(), "{name} was read");
            assert!(update_own(&at(name)).is_err(), "{name} was opened for writing");
            assert!(append_own(&at(name)).is_err(), "{name} was opened for appending");
            assert_eq!(create_own_folder(&at(name)).is_ok(), name == "folder", "{name}");
        }
        assert_eq!(fs::read(at("target")).unwrap(), b"kept");
        assert!(!at("nowhere").exists());
    }

    #[test]
    fn what_is_created_is_private_and_reading_has_a_limit() {
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        let deep = folder.path().join("a/b");
        create_own_folder(&deep).unwrap();
        create_own_folder(&deep).unwrap();
        assert_eq!([mode(&deep), mode(deep.parent().unwrap())], [0o700, 0o700]);
        let (log, lock) = (deep.join("log"), deep.join("lock"));
        io::Write::write_all(&mut append_own(&log).unwrap(), b"12345").unwrap();
        update_own(&lock).unwrap();
        assert_eq!([mode(&log), mode(&lock)], [0o600, 0o600]);
        assert_eq!(read_own(&log, 5).unwrap(), b"12345");
        assert!(read_own(&log, 4).is_err());
    }
}
