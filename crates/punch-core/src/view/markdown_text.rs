//! What the Markdown writer and reader must agree on: markers, the comment that carries the rest, and which texts
//! read back exactly as they are shown.

use serde_json::{Map, Value};

use crate::format::outline;
use crate::{ShownStatus, Status, text};

/// What starts the comment. Inside, JSON without `<` and `>` ends it safely.
const OPEN: &str = "<!-- punch ";
const CLOSE: &str = "-->";
/// How much of a text is shown that the line itself cannot hold exactly, in characters.
const SHOWN: usize = 200;

/// The start of a todo line.
pub(super) fn bullet(status: Status) -> String {
    format!("- {} ", ShownStatus::from(status).check_box())
}

/// A line cut into its parts.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum MarkdownLine<'a> {
    /// Nothing but white space.
    Blank,
    /// `# text`, any level.
    Heading(&'a str),
    /// `- [m] text`, how far it is indented, and the marker.
    Item { indent: usize, marker: &'a str, text: &'a str },
    /// `> text`.
    Quote(&'a str),
    /// Anything else; `text` without the indent.
    Other { indent: usize, text: &'a str },
}

impl<'a> MarkdownLine<'a> {
    /// Reads a line without its line break.
    pub(super) fn of(line: &'a str) -> Self {
        let text = line.trim_start_matches([' ', '\t']);
        let indent = line.len() - text.len();
        if text.trim().is_empty() {
            return Self::Blank;
        }
        if let Some(quoted) = text.strip_prefix('>') {
            return Self::Quote(quoted.strip_prefix(' ').unwrap_or(quoted));
        }
        let level = text.bytes().take_while(|b| *b == b'#').count();
        if indent == 0 && (1..=6).contains(&level) {
            let name = &text[level..];
            if name.is_empty() || name.starts_with([' ', '\t']) {
                return Self::Heading(name.trim());
            }
        }
        match item(text) {
            Some((marker, text)) => Self::Item { indent, marker, text: text.trim() },
            None => Self::Other { indent, text },
        }
    }
}

/// `- [m] text`, also with `*`, `+` or a number in front.
fn item(text: &str) -> Option<(&str, &str)> {
    let digits = text.bytes().take(9).take_while(u8::is_ascii_digit).count();
    let rest = if digits > 0 { text[digits..].strip_prefix(['.', ')']) } else { text.strip_prefix(['-', '*', '+']) }?;
    let rest = rest.strip_prefix([' ', '\t'])?.trim_start_matches([' ', '\t']).strip_prefix('[')?;
    let (marker, rest) = rest.split_once(']')?;
    let marker = outline::mark(marker)?;
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then_some((marker, rest))
}

/// The status of a marker.
pub(super) fn status(marker: &str) -> Option<Status> {
    Some(match marker {
        // Work that was put off gets a hold where it is read.
        " " | "~" => Status::Pending,
        ">" | "/" => Status::InProgress,
        "x" | "X" | "✓" | "✔" => Status::Completed,
        "-" => Status::Cancelled,
        "!" => Status::Failed,
        _ => return None,
    })
}

/// A line reads back exactly: one line, nothing at its ends to trim, nothing invisible, no comment marks.
pub(super) fn is_plain(text: &str) -> bool {
    !text.is_empty()
        && text.trim() == text
        && !text.chars().any(text::is_unsafe)
        && !text.contains("<!--")
        && !text.contains(CLOSE)
}

/// A line of a longer text reads back exactly: like [`is_plain`], but its indent is kept.
pub(super) fn is_plain_line(line: &str) -> bool {
    is_plain(line.trim_start_matches(' '))
}

/// What a reader sees of a text that is not plain. Always plain itself.
pub(super) fn shown(text: &str) -> String {
    let line = text::neutral(&text::clip(text, SHOWN)).replace("<!--", "<! --").replace(CLOSE, "-- >");
    match line.trim() {
        "" => "(empty)".to_owned(),
        line => line.to_owned(),
    }
}

/// A short stamp of what was shown, to notice that the user edited it (FNV-1a).
pub(super) fn stamp(shown: &str) -> String {
    let hash = shown.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{hash:08x}")
}

/// The comment with the rest, to be put behind a line; nothing for an empty object.
pub(super) fn comment(rest: Map<String, Value>) -> String {
    if rest.is_empty() {
        return String::new();
    }
    let mut out = format!(" {OPEN}");
    for c in Value::Object(rest).to_string().chars() {
        // `<` and `>` would end or nest the comment, a back tick could start code, the others are invisible.
        if matches!(c, '<' | '>' | '`') || text::is_unsafe(c) {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        } else {
            out.push(c);
        }
    }
    out.push(' ');
    out.push_str(CLOSE);
    out
}

/// Cuts a line into the text the user sees and the object in its comment.
pub(super) fn split_comment(line: &str) -> Result<(&str, Map<String, Value>), String> {
    let Some(at) = line.rfind(OPEN) else { return Ok((line.trim(), Map::new())) };
    let inside = line[at + OPEN.len()..].trim_end();
    let Some(json) = inside.strip_suffix(CLOSE) else {
        return Err("the punch comment must end the line with `-->`".to_owned());
    };
    match serde_json::from_str(json) {
        Ok(Value::Object(rest)) => Ok((line[..at].trim(), rest)),
        Ok(_) => Err("the punch comment must hold a JSON object".to_owned()),
        Err(error) => Err(format!("the punch comment is not JSON: {error}")),
    }
}
