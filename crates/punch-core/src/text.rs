//! Text from outside: shortening, neutralising, and the white space of JavaScript where a dialect demands it.

use std::borrow::Cow;

/// At most `limit` characters; a cut is marked with `…`.
pub fn clip(text: &str, limit: usize) -> Cow<'_, str> {
    if text.chars().nth(limit).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out: String = text.chars().take(limit.saturating_sub(1)).collect();
    out.push('…');
    Cow::Owned(out)
}

/// Makes text safe for a terminal and for one line: control characters, escapes, bidi overrides and line breaks
/// become visible stand-ins.
pub fn neutral(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if is_unsafe(c) { stand_in(c) } else { c }).collect())
}

fn stand_in(c: char) -> char {
    match c {
        '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' | '\u{85}' => ' ',
        c if (c as u32) < 0x20 => char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        _ => '\u{fffd}',
    }
}

/// Control characters, and the marks that reorder or hide what a reader sees.
pub(crate) fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}')
}

/// Quotes a word for a POSIX shell where it needs quotes, in a command that is shown to a user: unsafe characters become
/// stand-ins.
pub fn shell(word: &str) -> Cow<'_, str> {
    if is_plain_word(word) { Cow::Borrowed(word) } else { Cow::Owned(shell_exact(&neutral(word))) }
}

/// Quotes a word for a POSIX shell where it needs quotes, in a command that is stored and run: every character stays.
pub fn shell_exact(word: &str) -> String {
    if is_plain_word(word) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

fn is_plain_word(word: &str) -> bool {
    // The shell of Windows knows no single quotes, and paths there have backslashes.
    let backslash = if cfg!(windows) { '\\' } else { '/' };
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c) || c == backslash;
    !word.is_empty() && word.chars().all(plain)
}

/// The white space of JavaScript's `\s` and `trim`. Rust's differs on U+FEFF and U+0085.
pub const fn is_js_space(c: char) -> bool {
    matches!(
        c,
        '\t' | '\n' | '\u{b}' | '\u{c}' | '\r' | ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'
            ..='\u{200a}' | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}' | '\u{feff}'
    )
}

/// JavaScript's `trim`.
pub fn js_trim(text: &str) -> &str {
    text.trim_matches(is_js_space)
}

/// JavaScript's `trimEnd`.
pub fn js_trim_end(text: &str) -> &str {
    text.trim_end_matches(is_js_space)
}

/// Length in UTF-16 units, what JavaScript's `length` says.
pub fn utf16_len(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// The known names nearest to `given` by edit distance, best first, at most `limit`.
pub fn nearest<'a>(given: &str, known: impl Iterator<Item = &'a str>, limit: usize) -> Vec<String> {
    // The distance is quadratic in the length and linear in the number of names: both are bounded here.
    let given: Vec<char> = given.chars().take(40).flat_map(char::to_lowercase).collect();
    let allowed = (given.len() / 3).max(2);
    let mut scored: Vec<(usize, &str)> = known
        .take(20_000)
        .filter(|name| name.chars().take(60).count().abs_diff(given.len()) <= allowed)
        .map(|name| (distance(&given, name), name))
        .filter(|(d, _)| *d <= allowed)
        .collect();
    scored.sort_unstable();
    scored.into_iter().take(limit).map(|(_, name)| name.to_owned()).collect()
}

fn distance(a: &[char], b: &str) -> usize {
    let b: Vec<char> = b.chars().take(40).flat_map(char::to_lowercase).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substitute = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = substitute.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell_where_needed() {
        for (word, quoted) in [("T-1", "T-1"), ("Write it", "'Write it'"), ("it's", r"'it'\''s'"), ("", "''")] {
            assert_eq!(shell(word), quoted);
            assert_eq!(shell_exact(word), quoted);
        }
        assert_eq!(shell("a\u{1b}b"), "'a\u{241b}b'");
        assert_eq!(shell_exact("a\u{1b}b"), "'a\u{1b}b'");
    }
}
