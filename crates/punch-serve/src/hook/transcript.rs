//! What hosts write down about a conversation, read from where it was last read to, or at its end. Whatever else than a
//! regular file stands there is not opened (a pipe would never answer), and never more than some megabytes are read.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use punch_engine::{Mark, Reading};

use super::usage::said;
use super::{Heard, Meaning};

/// Bytes at the end of a transcript that are read.
const TAIL: u64 = 256 * 1024;

/// Bytes that are read at once of what is new. What lies before is passed over: the context at its end is known all the
/// same, only a shortening on the way is not.
const AT_ONCE: u64 = 4 << 20;

/// What was used since a mark.
pub(super) fn since(heard: &Heard, mark: &Mark) -> Option<Reading> {
    // Reports from inside a subagent name the file of its main agent.
    if heard.key.subagent().is_some() && heard.meaning != Meaning::SubagentStop {
        return None;
    }
    written(heard, mark).or_else(|| {
        let mut to = mark.clone();
        let grown = to.take(heard.context?.used);
        Some(Reading { to, grown })
    })
}

fn written(heard: &Heard, mark: &Mark) -> Option<Reading> {
    let path = heard.transcript.as_deref()?;
    let (mut file, len) = open(path)?;
    let name = path.to_str()?.to_owned();
    let same = mark.file.as_ref() == Some(&name) && mark.at <= len;
    let mut to = Mark { file: Some(name), ..mark.clone() };
    // A subagent's file holds its work and nothing else; of another file only the end counts.
    let whole = same || (mark.file.is_none() && heard.key.subagent().is_some());
    let from = match whole {
        true => to.at.min(len).max(len.saturating_sub(AT_ONCE)),
        false => len.saturating_sub(TAIL),
    };
    let cut = from > 0 && !(same && from == mark.at);
    let text = piece(&mut file, from, len - from)?;
    // A line that is still being written is read the next time.
    let end = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let begin = if cut { text.iter().position(|byte| *byte == b'\n').map_or(end, |at| at + 1) } else { 0 };
    to.at = from + end as u64;
    let text = String::from_utf8_lossy(text.get(begin..end).unwrap_or_default());
    let mut sizes = text.lines().filter_map(|line| said(heard, line)).map(|said| said.used);
    let grown = match whole {
        true => sizes.fold(0, |sum: u64, size| sum.saturating_add(to.take(size))),
        false => sizes.next_back().map_or(0, |size| to.take(size)),
    };
    (to.context.is_some() || to.at > 0).then_some(Reading { to, grown })
}

/// The last lines of a file.
pub(super) fn tail(path: &Path) -> Option<String> {
    Some(end(path, TAIL, u64::MAX)?.0)
}

/// What `find` finds in the last lines before byte `until` of a file; it is asked with more of them if it finds nothing.
/// Its second argument says whether they begin with the file.
pub(super) fn find<T>(path: &Path, until: u64, find: impl Fn(&str, bool) -> Option<T>) -> Option<T> {
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
pub(super) fn first_line(path: &Path) -> Option<String> {
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

fn open(path: &Path) -> Option<(File, u64)> {
    if !path.is_absolute() || !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let file = File::open(path).ok()?;
    let len = file.metadata().ok().filter(std::fs::Metadata::is_file)?.len();
    Some((file, len))
}

fn piece(file: &mut File, from: u64, len: u64) -> Option<Vec<u8>> {
    file.seek(SeekFrom::Start(from)).ok()?;
    let mut bytes = Vec::new();
    file.take(len).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
