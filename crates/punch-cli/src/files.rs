//! Files that a person names: read whole as text, written whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use punch_core::Refusal;
use punch_engine::EngineError;

use crate::failure::Failure;

/// The text of a file, or of standard input for `-`.
pub fn read(path: &Path) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    if is_dash(path) {
        io::stdin().lock().read_to_end(&mut bytes).map_err(Failure::Input)?;
    } else {
        bytes = fs::read(path).map_err(|cause| failed(path, cause))?;
    }
    utf8(path, bytes)
}

fn utf8(path: &Path, bytes: Vec<u8>) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|error| {
        let what = format!("not UTF-8 text (byte {} is wrong)", error.utf8_error().valid_up_to() + 1);
        EngineError::from(Refusal::Invalid { at: named(path), what }).into()
    })
}

fn named(path: &Path) -> String {
    if is_dash(path) { "standard input".to_owned() } else { path.display().to_string() }
}

/// What an import reads at most, in bytes.
pub const LIMIT: u64 = 64 * 1024 * 1024;

/// The same, but no more than so many bytes: what is longer is refused before it is in memory.
pub fn read_up_to(path: &Path, limit: u64) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    if is_dash(path) {
        io::stdin().lock().take(limit + 1).read_to_end(&mut bytes).map_err(Failure::Input)?;
    } else {
        let file = File::open(path).map_err(|cause| failed(path, cause))?;
        file.take(limit + 1).read_to_end(&mut bytes).map_err(|cause| failed(path, cause))?;
    }
    if bytes.len() as u64 > limit {
        let message = format!("{} is larger than {} MiB", named(path), LIMIT / 1024 / 1024);
        return Err(Failure::refused("too_large", message, "import it in parts"));
    }
    utf8(path, bytes)
}

/// `-` means standard input or output.
pub fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Writes a file so that readers see the old one or the new one, also after a loss of power. An existing file keeps
/// its permissions, a new one gets 0644; a link stays a link.
pub fn replace(path: &Path, text: &str) -> Result<(), Failure> {
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    write(&target, text).map_err(|cause| failed(path, cause))
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let old = fs::metadata(path).ok();
    // A device or a pipe cannot be replaced, only written to.
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        return fs::write(path, text);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (temporary, mut file) = temporary(folder)?;
    let written = (|| {
        if let Some(old) = &old {
            file.set_permissions(old.permissions())?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    } else if let Ok(folder) = File::open(folder) {
        // Not every file system can; the rename itself has happened.
        let _ = folder.sync_all();
    }
    written
}

fn temporary(folder: &Path) -> io::Result<(PathBuf, File)> {
    let process = std::process::id();
    for attempt in 0..100 {
        let path = folder.join(format!(".punch.{process}.{attempt}.tmp"));
        match create(&path, 0o644) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return opened.map(|file| (path, file)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Makes a file that was not there.
pub fn create(path: &Path, mode: u32) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    options.open(path)
}

/// Makes a folder that was not there and that nobody else may enter.
pub fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// A failure that names the file.
pub fn failed(path: &Path, cause: io::Error) -> Failure {
    Failure::File(path.display().to_string(), cause)
}
