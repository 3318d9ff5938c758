//! Reads the end of an agent's transcript of a conversation. Only regular files are opened (a pipe would never answer),
//! and never more than a few megabytes are read.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Bytes at the end of a transcript that are read.
pub const TAIL: u64 = 256 * 1024;

/// Bytes that are read at once.
pub const AT_ONCE: u64 = 4 << 20;

/// The last lines of a file.
pub fn tail(path: &Path) -> Option<String> {
    Some(end(path, TAIL, u64::MAX)?.0)
}

/// What `find` finds in the last lines before byte `until` of a file; it is asked with more of them if it finds nothing.
/// Its second argument says whether they begin with the file.
pub(crate) fn find<T>(path: &Path, until: u64, find: impl Fn(&str, bool) -> Option<T>) -> Option<T> {
    for room in [TAIL, AT_ONCE] {
        let (text, whole) = end(path, room, until)?;
        let found = find(&text, whole);
        if found.is_some() || whole {
            return found;
        }
    }
    None
}

/// The first line of a file, if it is not too long.
pub(crate) fn first_line(path: &Path) -> Option<String> {
    let (mut file, len) = open(path)?;
    let text = piece(&mut file, 0, len.min(TAIL))?;
    let end = text.iter().position(|byte| *byte == b'\n')?;
    Some(String::from_utf8_lossy(&text[..end]).into_owned())
}

fn end(path: &Path, room: u64, until: u64) -> Option<(String, bool)> {
    let (mut file, len) = open(path)?;
    let until = until.min(len);
    let from = until.saturating_sub(room);
    let text = String::from_utf8_lossy(&piece(&mut file, from, until - from)?).into_owned();
    // The first line was cut, unless it is the file's first.
    let text = match (from, text.split_once('\n')) {
        (0, _) => text,
        (_, Some((_, rest))) => rest.to_owned(),
        (_, None) => String::new(),
    };
    Some((text, from == 0))
}

/// Opens a transcript, with its length.
pub fn open(path: &Path) -> Option<(File, u64)> {
    if !path.is_absolute() || !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let file = File::open(path).ok()?;
    let len = file.metadata().ok().filter(std::fs::Metadata::is_file)?.len();
    Some((file, len))
}

/// Reads a piece of a file.
pub fn piece(file: &mut File, from: u64, len: u64) -> Option<Vec<u8>> {
    file.seek(SeekFrom::Start(from)).ok()?;
    let mut bytes = Vec::new();
    file.take(len).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
