//! Replaces files as a whole. Readers see the old content or the new one, never a part, also after power loss.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::NamedTempFile;

use crate::{own_files, platform};

/// How names of content end that is not in place yet.
const ENDING: &str = ".tmp";

/// After this time, content that no process has locked belongs to a process that was killed.
const ABANDONED: Duration = Duration::from_secs(60);

/// New content for a file, complete on disk under another name. Dropping it leaves the file as it is.
#[derive(Debug)]
pub struct Replacement {
    file: NamedTempFile,
    path: PathBuf,
}

impl Replacement {
    /// Writes the content beside the file. An existing file passes its mode on; a new file gets `mode`, less the umask.
    /// Only a missing or a regular file can be replaced: renaming over a link, a pipe or a device would destroy it.
    pub fn new(path: &Path, content: &[u8], mode: u32) -> io::Result<Self> {
        let old = match fs::symlink_metadata(path) {
            Ok(old) if !old.is_file() => {
                let message = if old.is_symlink() { "it is a link" } else { "it is not a regular file" };
                return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
            }
            Ok(old) => Some(old),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        // In the same folder, so that renaming it moves no bytes. The name keeps it out of file lists and watchers.
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let (folder, prefix) = (platform::folder_of(path), format!(".{name}."));
        remove_leftovers(folder, &prefix);
        let mut file = tempfile::Builder::new()
            .prefix(&prefix)
            .suffix(ENDING)
            .make_in(folder, |path| platform::options(mode).write(true).create_new(true).open(path))?;
        // Shows others that this one is not a leftover. Without locks, its age does.
        let _ = file.as_file().try_lock();
        if let Some(old) = old {
            file.as_file().set_permissions(old.permissions())?;
        }
        file.write_all(content)?;
        file.as_file().sync_all()?;
        Ok(Self { file, path: path.to_owned() })
    }

    /// Puts the content in place.
    pub fn commit(self) -> io::Result<()> {
        self.file.persist(&self.path)?;
        sync_folder(&self.path);
        Ok(())
    }

    /// Puts the content in place unless the file already exists; then the existing file wins.
    pub fn commit_if_missing(self) -> io::Result<()> {
        match self.file.persist_noclobber(&self.path) {
            Err(failed) if failed.error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
            // Some file systems know neither links nor renames that fail on an existing file.
            Err(failed) => failed.file.persist(&self.path)?,
            Ok(file) => file,
        };
        sync_folder(&self.path);
        Ok(())
    }
}

/// Removes what processes that were killed left behind: content for this file that no process is writing any more.
fn remove_leftovers(folder: &Path, prefix: &str) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_leftover =
            entry.file_name().to_str().is_some_and(|name| name.starts_with(prefix) && name.ends_with(ENDING));
        if is_leftover && is_abandoned(&entry.path()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// A file that another process has just created is not locked yet for a moment, so its age counts too.
fn is_abandoned(path: &Path) -> bool {
    let Ok(file) = own_files::open_own(path) else { return false };
    let modified = file.metadata().and_then(|found| found.modified());
    let is_old = modified.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > ABANDONED));
    is_old && file.try_lock().is_ok()
}

/// Not every file system can sync a folder. That is not a failure: the rename itself has happened.
fn sync_folder(path: &Path) {
    let _ = platform::sync_folder(platform::folder_of(path));
}

/// Replaces a file, or creates it with the permissions `mode`, less the umask; see [`Replacement::new`].
pub fn replace_file(path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    Replacement::new(path, content, mode)?.commit()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = entries.collect();
        names.sort();
        names
    }

    #[test]
    fn a_new_file_gets_the_mode_and_an_old_one_keeps_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        replace_file(&path, b"one", 0o600).unwrap();
        assert_eq!((fs::read(&path).unwrap().as_slice(), mode(&path)), (&b"one"[..], 0o600));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o754)).unwrap();
        replace_file(&path, b"two", 0o600).unwrap();
        assert_eq!((fs::read(&path).unwrap().as_slice(), mode(&path)), (&b"two"[..], 0o754));
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[test]
    fn what_is_not_a_regular_file_is_refused_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("target"), "kept").unwrap();
        symlink(at("target"), at("link")).unwrap();
        symlink(at("nowhere"), at("dangling")).unwrap();
        fs::create_dir(at("folder")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        for name in ["link", "dangling", "folder", "pipe"] {
            let before = fs::symlink_metadata(at(name)).unwrap().file_type();
            assert!(replace_file(&at(name), b"new", 0o600).is_err(), "{name}");
            assert_eq!(fs::symlink_metadata(at(name)).unwrap().file_type(), before, "{name}");
        }
        assert_eq!(fs::read(at("target")).unwrap(), b"kept");
        assert_eq!(names(folder.path()), ["dangling", "folder", "link", "pipe", "target"]);
    }

    #[test]
    fn what_killed_processes_left_behind_is_removed_and_what_others_write_now_stays() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let long_ago = std::time::SystemTime::now() - 2 * ABANDONED;
        let age = |name: &str| fs::File::options().write(true).open(at(name)).unwrap().set_modified(long_ago).unwrap();
        for name in [".a.killed.tmp", ".a.young.tmp", ".b.killed.tmp", ".a.killed", "a.killed.tmp"] {
            fs::write(at(name), "half").unwrap();
        }
        let writing = Replacement::new(&at("a"), b"other", 0o600).unwrap();
        let in_work = writing.file.path().file_name().unwrap().to_str().unwrap().to_owned();
        [".a.killed.tmp", ".b.killed.tmp", ".a.killed", "a.killed.tmp", &in_work].iter().for_each(|name| age(name));
        replace_file(&at("a"), b"new", 0o600).unwrap();
        let mut kept = vec![".a.killed", ".a.young.tmp", ".b.killed.tmp", "a", "a.killed.tmp", &in_work];
        kept.sort_unstable();
        assert_eq!(names(folder.path()), kept);
        writing.commit().unwrap();
        assert_eq!(fs::read(at("a")).unwrap(), b"other");
    }

    #[test]
    fn a_dropped_replacement_changes_nothing_and_an_existing_file_can_win() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        drop(Replacement::new(&path, b"dropped", 0o600).unwrap());
        assert_eq!(names(folder.path()), [""; 0]);
        let late = Replacement::new(&path, b"late", 0o600).unwrap();
        Replacement::new(&path, b"first", 0o600).unwrap().commit_if_missing().unwrap();
        late.commit_if_missing().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert_eq!(names(folder.path()), ["a"]);
    }
}
