//! What differs between operating systems: owners, devices, permissions, locks. Nothing else in the crate asks which
//! one it runs on. Where a system has no such notion the answer is "unknown" or "allowed".

#[cfg(unix)]
pub(crate) use unix::*;

#[cfg(not(unix))]
pub(crate) use other::*;

#[cfg(unix)]
mod unix {
    use std::{
        ffi::OsStr,
        fs::{DirBuilder, File, FileType, Metadata, OpenOptions, Permissions},
        io,
        os::unix::{
            ffi::OsStrExt,
            fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt},
        },
        path::{Path, PathBuf},
    };

    use rustix::fs::{Access, AtFlags, CWD, accessat};

    /// The path that these bytes spell.
    pub(crate) fn path(bytes: &[u8]) -> Option<PathBuf> {
        Some(PathBuf::from(OsStr::from_bytes(bytes)))
    }

    /// The user this process acts as.
    pub(crate) fn user() -> Option<u32> {
        Some(rustix::process::geteuid().as_raw())
    }

    /// The user a file belongs to.
    pub(crate) fn owner(of: &Metadata) -> Option<u32> {
        Some(of.uid())
    }

    /// The file system a file is on.
    pub(crate) fn device(of: &Metadata) -> Option<u64> {
        Some(of.dev())
    }

    /// The permission bits of a file.
    pub(crate) fn mode(of: &Metadata) -> Option<u32> {
        Some(of.permissions().mode() & 0o7777)
    }

    /// Fails if this process may not write there. Asks the kernel, because mode bits know nothing of read-only
    /// mounts, access lists and sandboxes.
    pub(crate) fn writable(path: &Path) -> io::Result<()> {
        accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS).map_err(io::Error::from)
    }

    /// Whether opening it could wait for another process.
    pub(crate) fn may_block(kind: FileType) -> bool {
        kind.is_fifo() || kind.is_socket()
    }

    /// Makes folders that only their owner may enter.
    pub(crate) fn private_folders() -> DirBuilder {
        let mut builder = DirBuilder::new();
        builder.mode(0o700);
        builder
    }

    /// Lets a new file have these permissions, less the umask.
    pub(crate) fn create_with(options: &mut OpenOptions, mode: u32) {
        options.mode(mode);
    }

    /// The permission bits of a file, to be given to its successor.
    pub(crate) fn keep_mode(of: &Metadata, to: &File) -> io::Result<()> {
        to.set_permissions(Permissions::from_mode(of.permissions().mode() & 0o7777))
    }

    /// Keeps other processes that ask the same out until the answer is dropped. Folders on some network file
    /// systems cannot be locked; going on without is better than refusing there.
    pub(crate) fn lock_folder(folder: &Path) -> Option<File> {
        let file = File::open(folder).ok()?;
        file.lock().ok()?;
        Some(file)
    }

    /// Makes a rename inside the folder survive a loss of power.
    pub(crate) fn sync_folder(folder: &Path) {
        // Not every file system can; the rename itself has happened.
        let _ = File::open(folder).and_then(|file| file.sync_all());
    }
}

#[cfg(not(unix))]
mod other {
    use std::{
        fs::{DirBuilder, File, FileType, Metadata, OpenOptions},
        io,
        path::{Path, PathBuf},
    };

    /// The path that these bytes spell.
    pub(crate) fn path(bytes: &[u8]) -> Option<PathBuf> {
        std::str::from_utf8(bytes).ok().map(PathBuf::from)
    }

    /// The user this process acts as.
    pub(crate) fn user() -> Option<u32> {
        None
    }

    /// The user a file belongs to.
    pub(crate) fn owner(_of: &Metadata) -> Option<u32> {
        None
    }

    /// The file system a file is on.
    pub(crate) fn device(_of: &Metadata) -> Option<u64> {
        None
    }

    /// The permission bits of a file.
    pub(crate) fn mode(_of: &Metadata) -> Option<u32> {
        None
    }

    /// Fails if this process may not write there.
    pub(crate) fn writable(path: &Path) -> io::Result<()> {
        if path.metadata()?.permissions().readonly() { Err(io::ErrorKind::PermissionDenied.into()) } else { Ok(()) }
    }

    /// Whether opening it could wait for another process.
    pub(crate) fn may_block(_kind: FileType) -> bool {
        false
    }

    /// Makes folders that only their owner may enter.
    pub(crate) fn private_folders() -> DirBuilder {
        DirBuilder::new()
    }

    /// Lets a new file have these permissions.
    pub(crate) fn create_with(_options: &mut OpenOptions, _mode: u32) {}

    /// The permission bits of a file, to be given to its successor.
    pub(crate) fn keep_mode(_of: &Metadata, _to: &File) -> io::Result<()> {
        Ok(())
    }

    /// Keeps other processes that ask the same out until the answer is dropped.
    pub(crate) fn lock_folder(_folder: &Path) -> Option<File> {
        None
    }

    /// Makes a rename inside the folder survive a loss of power.
    pub(crate) fn sync_folder(_folder: &Path) {}
}
