//! All that differs between systems: who owns a file, how private it is, which file a path leads to.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;
use std::time::UNIX_EPOCH;

use punch_core::hash::fnv1a;

/// What a path leads to. Two openings of one path are the same store exactly if this is equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity(u64, u64);

impl Identity {
    /// The number of the file in its file system.
    pub const fn number(self) -> u64 {
        self.1
    }
}

#[cfg(unix)]
mod system {
    use std::fs::{DirBuilder, Metadata, OpenOptions};
    use std::io;
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
    use std::path::Path;

    pub fn private(options: &mut OpenOptions) -> &mut OpenOptions {
        options.mode(0o600)
    }

    /// Neither follows a link in place of the file nor waits for whoever holds the other end of a pipe.
    pub fn direct(options: &mut OpenOptions) -> &mut OpenOptions {
        use rustix::fs::OFlags;
        options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
    }

    pub fn create_dir(path: &Path) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)
    }

    pub fn is_ours(meta: &Metadata) -> bool {
        meta.uid() == rustix::process::geteuid().as_raw()
    }

    /// Asks the system, which knows of access lists and read-only mounts. Opening the file to find out is no way:
    /// closing it again would drop the locks that SQLite has on it.
    pub fn writable(path: &Path) -> bool {
        use rustix::fs::{Access, AtFlags, CWD, accessat};
        accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS).is_ok()
    }

    pub fn identity(meta: &Metadata) -> (u64, u64) {
        (meta.dev(), meta.ino())
    }

    /// Makes a rename or a new file survive power loss.
    pub fn sync_dir(path: &Path) -> io::Result<()> {
        std::fs::File::open(path)?.sync_all()
    }
}

#[cfg(not(unix))]
mod system {
    use std::fs::{Metadata, OpenOptions};
    use std::io;
    use std::path::Path;

    // Access lists are inherited from the folder; there is no mode to set and no number to compare.
    pub fn private(options: &mut OpenOptions) -> &mut OpenOptions {
        options
    }

    pub fn direct(options: &mut OpenOptions) -> &mut OpenOptions {
        options
    }

    pub fn create_dir(path: &Path) -> io::Result<()> {
        std::fs::create_dir_all(path)
    }

    pub fn is_ours(_meta: &Metadata) -> bool {
        true
    }

    pub fn writable(path: &Path) -> bool {
        !std::fs::metadata(path).is_ok_and(|meta| meta.permissions().readonly())
    }

    pub fn identity(_meta: &Metadata) -> (u64, u64) {
        (0, 0)
    }

    pub fn sync_dir(_path: &Path) -> io::Result<()> {
        Ok(())
    }
}

pub(crate) use system::{create_dir, is_ours, sync_dir, writable};

/// A new empty file that only this user can open; fails if the path is taken.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    system::private(OpenOptions::new().read(true).write(true).create_new(true)).open(path)
}

/// A file for locking, made if it is missing, never truncated. A link in its place is refused.
pub(crate) fn open_lock(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    system::direct(system::private(options.read(true).write(true).create(true).truncate(false))).open(path)
}

/// An existing file, to be read. A link in its place is refused.
pub(crate) fn open_to_read(path: &Path) -> io::Result<File> {
    system::direct(OpenOptions::new().read(true)).open(path)
}

/// A number for the time since the system was started, which no other such time has; 0 where the system has none. What
/// was written to a file and not synced can only be lost when it changes.
pub(crate) fn boot() -> u64 {
    let mut id = [0; 36];
    let read = File::open("/proc/sys/kernel/random/boot_id").and_then(|mut file| file.read_exact(&mut id));
    read.map_or(0, |()| fnv1a(id))
}

/// Which file the path leads to now, links not followed.
pub(crate) fn identity(path: &Path) -> io::Result<Identity> {
    let (device, number) = system::identity(&fs::symlink_metadata(path)?);
    Ok(Identity(device, number))
}

/// What tells a file from every other one and from its own earlier states, as text of always the same length.
pub(crate) fn appearance(path: &Path) -> io::Result<String> {
    let meta = fs::symlink_metadata(path)?;
    let (device, number) = system::identity(&meta);
    let changed = meta.modified()?.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    Ok(format!("{device:020} {number:020} {:020} {changed:020}\n", meta.len()))
}
