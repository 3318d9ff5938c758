//! Everything about files that differs between operating systems: owners, permissions, identity, locks. The other crates
//! use it too. Where a system has no such notion, the answer is `None` or "allowed".

#[cfg(feature = "sqlite")]
use std::fs;
use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
#[cfg(feature = "sqlite")]
use std::io::Read;
use std::path::Path;
#[cfg(feature = "sqlite")]
use std::time::UNIX_EPOCH;

#[cfg(feature = "sqlite")]
use punch_core::hash::fnv1a;

pub use system::{device, has_two_ends, lock_folder, mode, owner, path_from_bytes, sync_folder, user, writable};

/// Identifies the file that a path leads to. Two paths lead to one store exactly if their identities are equal.
#[cfg(feature = "sqlite")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileIdentity(u64, u64);

#[cfg(feature = "sqlite")]
impl FileIdentity {
    /// The number of the file in its file system.
    pub const fn number(self) -> u64 {
        self.1
    }
}

#[cfg(unix)]
mod system {
    use std::ffi::OsStr;
    use std::fs::{DirBuilder, File, FileType, Metadata, OpenOptions};
    use std::io;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
    use std::path::{Path, PathBuf};

    use rustix::fs::{Access, AtFlags, CWD, OFlags, accessat};

    /// The path that these bytes spell.
    pub fn path_from_bytes(bytes: &[u8]) -> Option<PathBuf> {
        Some(PathBuf::from(OsStr::from_bytes(bytes)))
    }

    /// The user this process acts as.
    pub fn user() -> Option<u32> {
        Some(rustix::process::geteuid().as_raw())
    }

    /// The user a file belongs to.
    pub fn owner(of: &Metadata) -> Option<u32> {
        Some(of.uid())
    }

    /// The file system a file is on.
    pub fn device(of: &Metadata) -> Option<u64> {
        Some(of.dev())
    }

    /// The permission bits of a file.
    pub fn mode(of: &Metadata) -> Option<u32> {
        Some(of.permissions().mode() & 0o7777)
    }

    /// Fails if this process may not write to the path. Asks the kernel, because mode bits know nothing of read-only
    /// mounts, access lists and sandboxes. Opening a store to find out is not an option: closing it again would drop the
    /// locks that SQLite has on it.
    pub fn writable(path: &Path) -> io::Result<()> {
        accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS).map_err(io::Error::from)
    }

    /// Returns true for pipes and sockets: opening one could wait for another process.
    pub fn has_two_ends(kind: FileType) -> bool {
        kind.is_fifo() || kind.is_socket()
    }

    /// Waits for other processes that lock this folder, and keeps them out until the result is dropped. `None` if the
    /// folder cannot be locked, as on some network file systems: continuing is better than refusing there.
    pub fn lock_folder(folder: &Path) -> Option<File> {
        let file = File::open(folder).ok()?;
        file.lock().ok()?;
        Some(file)
    }

    /// Makes a rename or a new file in the folder survive power loss.
    pub fn sync_folder(folder: &Path) -> io::Result<()> {
        File::open(folder)?.sync_all()
    }

    pub fn set_file_mode(options: &mut OpenOptions, mode: u32) {
        options.mode(mode);
    }

    pub fn set_folder_mode(builder: &mut DirBuilder, mode: u32) {
        builder.mode(mode);
    }

    pub fn open_in_place(options: &mut OpenOptions) {
        options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
    }

    #[cfg(feature = "sqlite")]
    pub fn identity(meta: &Metadata) -> (u64, u64) {
        (meta.dev(), meta.ino())
    }
}

#[cfg(not(unix))]
mod system {
    use std::fs::{DirBuilder, File, FileType, Metadata, OpenOptions};
    use std::io;
    use std::path::{Path, PathBuf};

    /// The path that these bytes spell.
    pub fn path_from_bytes(bytes: &[u8]) -> Option<PathBuf> {
        std::str::from_utf8(bytes).ok().map(PathBuf::from)
    }

    /// The user this process acts as: unknown.
    pub fn user() -> Option<u32> {
        None
    }

    /// The user a file belongs to: unknown.
    pub fn owner(_of: &Metadata) -> Option<u32> {
        None
    }

    /// The file system a file is on: unknown.
    pub fn device(_of: &Metadata) -> Option<u64> {
        None
    }

    /// The permission bits of a file: there are none.
    pub fn mode(_of: &Metadata) -> Option<u32> {
        None
    }

    /// Fails if this process may not write to the path.
    pub fn writable(path: &Path) -> io::Result<()> {
        if path.metadata()?.permissions().readonly() { Err(io::ErrorKind::PermissionDenied.into()) } else { Ok(()) }
    }

    /// Returns true for pipes and sockets, which have no paths here.
    pub fn has_two_ends(_kind: FileType) -> bool {
        false
    }

    /// Folders cannot be locked here.
    pub fn lock_folder(_folder: &Path) -> Option<File> {
        None
    }

    /// Folders cannot be synced here.
    pub fn sync_folder(_folder: &Path) -> io::Result<()> {
        Ok(())
    }

    // Access lists are inherited from the folder; there is no mode to set and no number to compare.
    pub fn set_file_mode(_options: &mut OpenOptions, _mode: u32) {}

    pub fn set_folder_mode(_builder: &mut DirBuilder, _mode: u32) {}

    pub fn open_in_place(_options: &mut OpenOptions) {}

    #[cfg(feature = "sqlite")]
    pub fn identity(_meta: &Metadata) -> (u64, u64) {
        (0, 0)
    }
}

/// Returns true if the file belongs to the user this process acts as, or if the system does not say.
pub fn is_own(meta: &Metadata) -> bool {
    owner(meta) == user()
}

/// Options for opening files; a file that they create gets these permissions, less the umask.
pub fn options(mode: u32) -> OpenOptions {
    let mut options = OpenOptions::new();
    system::set_file_mode(&mut options, mode);
    options
}

/// Options for opening files that only this user may read. They neither follow a link in place of the file nor wait for
/// the other end of a pipe.
pub fn direct_options() -> OpenOptions {
    let mut options = options(0o600);
    system::open_in_place(&mut options);
    options
}

/// Creates folders that only their owner may enter.
pub fn private_folders() -> DirBuilder {
    let mut builder = DirBuilder::new();
    system::set_folder_mode(&mut builder, 0o700);
    builder
}

/// Creates a folder that only its owner may enter, with all its parents. An existing one stays as it is.
pub fn create_private_folders(path: &Path) -> io::Result<()> {
    private_folders().recursive(true).create(path)
}

/// Creates an empty file that only this user can open; fails if the path is taken.
pub fn create_private(path: &Path) -> io::Result<File> {
    options(0o600).read(true).write(true).create_new(true).open(path)
}

/// The folder of a path. The folder of a bare name is the working folder.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A number for the time since the system was started, which no other such time has; 0 where the system has none. What
/// was written to a file and not synced can only be lost when it changes.
#[cfg(feature = "sqlite")]
pub(crate) fn boot() -> u64 {
    let mut id = [0; 36];
    let read = File::open("/proc/sys/kernel/random/boot_id").and_then(|mut file| file.read_exact(&mut id));
    read.map_or(0, |()| fnv1a(id))
}

/// Identifies the file that the path leads to now, without following a link.
#[cfg(feature = "sqlite")]
pub(crate) fn identity(path: &Path) -> io::Result<FileIdentity> {
    let (device, number) = system::identity(&fs::symlink_metadata(path)?);
    Ok(FileIdentity(device, number))
}

/// A text of fixed length that distinguishes a file from every other file and from its own earlier states.
#[cfg(feature = "sqlite")]
pub(crate) fn appearance(path: &Path) -> io::Result<String> {
    let meta = fs::symlink_metadata(path)?;
    let (device, number) = system::identity(&meta);
    let changed = meta.modified()?.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    Ok(format!("{device:020} {number:020} {:020} {changed:020}\n", meta.len()))
}
