//! Edits of a text by byte ranges. Plan files, settings of agents and our own configuration belong to users: everything
//! that is not edited stays as it is, to the byte.

use std::ops::Range;

/// The byte order mark that some editors put at the beginning of a file.
pub const BYTE_ORDER_MARK: char = '\u{feff}';

/// Bytes to replace, and the text that replaces them.
pub type TextSplice = (Range<usize>, String);

/// The text with one range replaced.
pub fn splice(text: &str, at: Range<usize>, new: &str) -> String {
    format!("{}{new}{}", &text[..at.start], &text[at.end..])
}

/// The text with several ranges replaced. Insertions at one place keep their order. Of ranges that overlap, the bytes in
/// between are dropped: callers read the result again before they use it.
pub fn splice_all(text: &str, mut splices: Vec<TextSplice>) -> String {
    splices.sort_by_key(|(range, _)| (range.start, range.end));
    let mut out = String::with_capacity(text.len() + splices.len() * 16);
    let mut done = 0;
    for (range, new) in splices {
        out.push_str(text.get(done..range.start).unwrap_or_default());
        out.push_str(&new);
        done = range.end.max(done);
    }
    out.push_str(&text[done..]);
    out
}

/// Where the line of a byte begins, after a byte order mark.
pub fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or_else(|| mark_end(text), |newline| newline + 1)
}

/// Where the line of a byte ends, after its line break.
pub fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |newline| at + newline + 1)
}

/// The line break of a text: `\r\n` if it has any.
pub fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// Returns true if there is nothing in the text but white space and a byte order mark.
pub fn is_blank(text: &str) -> bool {
    text.trim_start_matches(BYTE_ORDER_MARK).trim().is_empty()
}

/// Where the text begins, after a byte order mark.
pub fn mark_end(text: &str) -> usize {
    text.len() - text.trim_start_matches(BYTE_ORDER_MARK).len()
}
