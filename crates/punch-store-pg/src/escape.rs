//! Text as PostgreSQL can hold it. It has no NUL in text; `\x01` escapes it: `\x01` becomes `\x01\x01`, NUL becomes
//! `\x01\x02`. Keys are also cut to what an index can hold.

use std::borrow::Cow;

use punch_core::hash::fnv1a;

const MARK: char = '\u{1}';

/// Keys up to this length are stored as they are. An index entry holds 2,700 bytes.
const LONGEST_KEY: usize = 1_000;

/// Text without NUL.
pub fn escape(text: &str) -> Cow<'_, str> {
    // Without a branch for every byte: nearly no text has one, and all of it is looked at.
    if !text.bytes().fold(false, |found, byte| found | (byte <= 1)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\0' => out.extend([MARK, '\u{2}']),
            MARK => out.extend([MARK, MARK]),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// What [`escape`] was given.
pub fn unescape(text: String) -> String {
    if !text.contains(MARK) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, if c == MARK { chars.next() } else { None }) {
            (MARK, Some('\u{2}')) => out.push('\0'),
            (MARK, _) => out.push(MARK),
            (c, _) => out.push(c),
        }
    }
    out
}

/// The text under which an id is found. Two long ids may share one, so whoever looks something up compares the id itself.
pub fn key(text: &str) -> Cow<'_, str> {
    let escaped = escape(text);
    if escaped.len() <= LONGEST_KEY {
        return escaped;
    }
    let mut end = LONGEST_KEY / 2;
    while !escaped.is_char_boundary(end) {
        end -= 1;
    }
    Cow::Owned(format!("{}{MARK}\u{3}{:016x}", &escaped[..end], fnv1a(escaped.bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_comes_back_and_holds_no_nul() {
        for text in ["", "plain", "d\0", "\0\0", "\u{1}", "\u{1}\u{2}", "\u{1}\0\u{1}", "ü\0\u{2}é"] {
            let stored = escape(text);
            assert!(!stored.contains('\0'), "{text:?}");
            assert_eq!(unescape(stored.clone().into_owned()), text);
        }
        assert_ne!(escape("\u{1}\u{2}"), escape("\0"));
    }

    #[test]
    fn keys_fit_into_an_index() {
        assert_eq!(key("d\0"), "d\u{1}\u{2}");
        let long = "ü".repeat(5_000);
        assert!(key(&long).len() < LONGEST_KEY);
        assert_ne!(key(&long), key(&format!("{long}x")));
    }
}
