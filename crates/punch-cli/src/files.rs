//! Files that the user names: read whole as text, written whole or not at all.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Read, StdinLock};
use std::path::Path;

use punch_core::Refusal;
use punch_engine::EngineError;
use punch_store::{platform, replace_file};

use crate::failure::Failure;
use crate::progress;

/// Standard input. On a terminal the user types now, and nothing else may be shown.
pub fn standard_input() -> StdinLock<'static> {
    if io::stdin().is_terminal() {
        progress::forbid();
    }
    io::stdin().lock()
}

/// The text of a file, or of standard input for `-`.
pub fn read(path: &Path) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    if is_dash(path) {
        standard_input().read_to_end(&mut bytes).map_err(Failure::Input)?;
    } else {
        open(path)?.read_to_end(&mut bytes).map_err(|cause| failed(path, cause))?;
    }
    utf8(path, bytes)
}

/// Opens a file that the user named. A pipe with a name is refused: it may have no other end, and opening it would wait
/// for one. What the shell passes as `/dev/fd/N` is open already.
fn open(path: &Path) -> Result<File, Failure> {
    let is_pipe = fs::metadata(path).is_ok_and(|found| platform::has_two_ends(found.file_type()));
    if is_pipe && !path.starts_with("/dev/") && !path.starts_with("/proc/") {
        let hint = format!("read it through standard input: use `-` as the file and add `< '{}'`", path.display());
        return Err(Failure::refused("not_a_file", format!("`{}` is a pipe", path.display()), &hint));
    }
    File::open(path).map_err(|cause| failed(path, cause))
}

fn utf8(path: &Path, bytes: Vec<u8>) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|error| {
        let what = format!("not UTF-8 text (byte {})", error.utf8_error().valid_up_to() + 1);
        EngineError::from(Refusal::Invalid { at: named(path), what }).into()
    })
}

fn named(path: &Path) -> String {
    if is_dash(path) { "standard input".to_owned() } else { path.display().to_string() }
}

/// What an import reads at most, in bytes.
pub const LIMIT: u64 = 64 * 1024 * 1024;

/// The text of a file, or of standard input for `-`, if it has at most `limit` bytes. A longer one is refused before it is
/// in memory.
pub fn read_up_to(path: &Path, limit: u64) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    if is_dash(path) {
        standard_input().take(limit + 1).read_to_end(&mut bytes).map_err(Failure::Input)?;
    } else {
        open(path)?.take(limit + 1).read_to_end(&mut bytes).map_err(|cause| failed(path, cause))?;
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

/// Replaces a file as a whole; readers see the old content or the new one. An existing file keeps its permissions, a new
/// one gets 0644; a link stays a link.
pub fn replace(path: &Path, text: &str) -> Result<(), Failure> {
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    // A device or a pipe cannot be replaced, only written to.
    let written = match fs::metadata(&target) {
        Ok(old) if !old.is_file() => fs::write(&target, text),
        _ => replace_file(&target, text.as_bytes(), 0o644),
    };
    written.map_err(|cause| failed(path, cause))
}

/// A failure that names the file.
pub fn failed(path: &Path, cause: io::Error) -> Failure {
    Failure::File(path.display().to_string(), cause)
}
