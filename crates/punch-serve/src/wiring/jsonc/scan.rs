//! Replaces comments and trailing commas with spaces. The result is JSON of the same length, so every position in it is
//! also a position in the file.

/// A text as plain JSON, and where it was more than that.
pub struct PlainJson {
    /// The text, with spaces in place of comments and trailing commas. Places in it are places in the file.
    pub text: String,
    /// Where the first comment begins.
    pub comment: Option<usize>,
    /// Where the first trailing comma is.
    pub trailing_comma: Option<usize>,
}

/// Turns a text into plain JSON of the same length. Broken JSON stays broken: the parser judges it.
pub fn plain(text: &str) -> PlainJson {
    let mut out = text.as_bytes().to_vec();
    let (mut comment, mut trailing_comma) = (None, None);
    let mut at = 0;
    let mut comma = None;
    if text.starts_with('\u{feff}') {
        out[..3].fill(b' ');
        at = 3;
    }
    while at < out.len() {
        match out[at] {
            b'"' => {
                at = string_end(&out, at);
                comma = None;
            }
            b'/' if matches!(out.get(at + 1), Some(b'/' | b'*')) => {
                let end = comment_end(&out, at);
                // An unfinished comment stays, and is an error.
                if end.is_none() {
                    break;
                }
                let end = end.unwrap_or(at);
                comment = comment.or(Some(at));
                // Line breaks stay, so that lines count the same; bytes of other characters become spaces each.
                out[at..end].iter_mut().filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
                at = end;
            }
            b',' => {
                comma = Some(at);
                at += 1;
            }
            b'}' | b']' => {
                if let Some(comma) = comma.take().filter(|comma| follows_value(&out, *comma)) {
                    out[comma] = b' ';
                    trailing_comma = trailing_comma.or(Some(comma));
                }
                at += 1;
            }
            b' ' | b'\t' | b'\n' | b'\r' => at += 1,
            _ => {
                comma = None;
                at += 1;
            }
        }
    }
    PlainJson { text: String::from_utf8(out).unwrap_or_default(), comment, trailing_comma }
}

/// `[,]` is not a trailing comma.
fn follows_value(text: &[u8], comma: usize) -> bool {
    let before = text[..comma].iter().rev().find(|byte| !byte.is_ascii_whitespace());
    !matches!(before, None | Some(b',' | b'[' | b'{' | b':'))
}

/// Behind the closing quote; the end of the text if there is none.
pub fn string_end(text: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < text.len() {
        match text[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// Behind a comment that starts here: before the line break, or behind `*/`.
pub fn comment_end(text: &[u8], start: usize) -> Option<usize> {
    if text.get(start + 1) == Some(&b'/') {
        let line = text[start..].iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        return Some(line.map_or(text.len(), |length| start + length));
    }
    let rest = text.get(start + 2..)?;
    rest.windows(2).position(|pair| pair == b"*/").map(|length| start + 2 + length + 2)
}
