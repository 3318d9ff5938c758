//! Untrusted text: shortening, neutralizing, and the white space of JavaScript where a dialect demands it.

use std::borrow::Cow;

/// At most `limit` characters; a cut is marked with `…`.
pub fn clip(text: &str, limit: usize) -> Cow<'_, str> {
    // No text has more characters than bytes.
    if text.len() <= limit || text.chars().nth(limit).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out: String = text.chars().take(limit.saturating_sub(1)).collect();
    out.push('…');
    Cow::Owned(out)
}

/// Makes text safe for a terminal, for a model and for one line: control characters, escapes, line breaks, marks that
/// reorder text, and characters that no reader sees become visible stand-ins. The number of characters stays the same.
pub fn neutral(text: &str) -> Cow<'_, str> {
    if is_plain(text) || !text.chars().any(|c| is_unsafe(c) || joins(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let (mut before, mut rest) = (None, text.chars().peekable());
    while let Some(c) = rest.next() {
        // Some scripts and emoji need joiners, one at a time and between visible characters. Anywhere else they could
        // hide a text for models alone.
        let is_needed =
            before.is_some_and(is_joined) && (is_selector(c) || rest.peek().copied().is_some_and(is_joined));
        out.push(if is_unsafe(c) || (joins(c) && !is_needed) { stand_in(c) } else { c });
        before = Some(c);
    }
    Cow::Owned(out)
}

/// Makes a text of several lines safe for a terminal and for a model: each line as [`neutral`] does.
pub fn neutral_lines(text: &str) -> Cow<'_, str> {
    if text.split('\n').all(|line| matches!(neutral(line), Cow::Borrowed(_))) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.split('\n').map(neutral).collect::<Vec<_>>().join("\n"))
}

/// Writes what [`neutral`] would replace in a JSON text as escapes of JSON: programs read the same, and readers of the text
/// see that it is there.
pub fn escaped_json(json: &str) -> Cow<'_, str> {
    let hides = |c: char| c >= '\u{7f}' && is_unsafe(c);
    if !json.contains(hides) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 64);
    for c in json.chars() {
        match hides(c) {
            true => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}"))),
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Makes one line of a text: line breaks and tabs become spaces, and nothing stands at its ends that would be trimmed.
/// Everything else stays, for what is stored.
pub fn one_line(text: &str) -> String {
    if is_plain(text) {
        return text.trim().to_owned();
    }
    let line: String = text.chars().map(|c| if stand_in(c) == ' ' && is_unsafe(c) { ' ' } else { c }).collect();
    line.trim().to_owned()
}

/// Returns true if the text has nothing but visible ASCII characters and spaces, as most texts have.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
}

/// Returns true if a reader sees nothing of the text.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || is_unsafe(c) || joins(c))
}

/// Takes their meaning from tags that frame what hosts tell models, such as `</system-reminder>`: closing tags, and opening
/// ones whose name has several words. Types and plain markup, such as `Vec<String>` and `<b>`, stay.
pub fn without_tags(text: &str) -> Cow<'_, str> {
    if !text.contains('<') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, tag) = rest.split_at(at);
        out.push_str(before);
        out.push_str(if is_frame(&tag[1..]) { "&lt;" } else { "<" });
        rest = &tag[1..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Returns true if this, after a `<`, is a tag that could begin or end a part of a model's context.
fn is_frame(tag: &str) -> bool {
    let name = tag.trim_start();
    if let Some(name) = name.strip_prefix('/') {
        return name.trim_start().starts_with(|c: char| c.is_alphabetic());
    }
    let end = name.find(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_' | ':'));
    let name = &name[..end.unwrap_or(name.len())];
    name.starts_with(|c: char| c.is_alphabetic())
        && (name.contains(['-', '_', ':']) || name.eq_ignore_ascii_case("system"))
        // A path of types is not a tag.
        && !name.contains("::")
}

fn stand_in(c: char) -> char {
    match c {
        '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' | '\u{85}' => ' ',
        c if (c as u32) < 0x20 => char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        _ => '\u{fffd}',
    }
}

/// Control characters, marks that reorder what a reader sees, and characters that a reader does not see at all, among them
/// the tags in which a text for models alone can be written.
pub(crate) fn is_unsafe(c: char) -> bool {
    // Nothing of the sort comes before the soft hyphen but controls.
    if c < '\u{ad}' {
        return c.is_control();
    }
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0d}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Joiners, and the choice between text and emoji.
const fn joins(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}') || is_selector(c)
}

const fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe0e}' | '\u{fe0f}')
}

/// Returns true if a joiner makes sense beside this character. Keycaps are digits with a selector.
fn is_joined(c: char) -> bool {
    let is_visible = !c.is_ascii() || c.is_ascii_digit() || matches!(c, '#' | '*');
    is_visible && !is_unsafe(c) && !matches!(c, '\u{200c}' | '\u{200d}')
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
    let allowed = (given.len() / 3).max(1);
    let digits = |name: &[char]| name.iter().copied().filter(char::is_ascii_digit).collect::<String>();
    let number = digits(&given);
    let mut scored: Vec<(usize, &str)> = known
        .take(20_000)
        .filter(|name| name.chars().take(60).count().abs_diff(given.len()) <= allowed)
        // Another number is another thing, not a slip of the finger: T-9 is not nearly T-1. A long one is typed wrong.
        .filter(|name| number.len() > 5 || digits(&name.chars().take(60).collect::<Vec<_>>()) == number)
        .map(|name| (distance(&given, name), name))
        .filter(|(d, _)| *d <= allowed)
        .collect();
    scored.sort_unstable();
    scored.into_iter().take(limit).map(|(_, name)| name.to_owned()).collect()
}

/// How many letters have to be added, removed, replaced or swapped with their neighbor.
fn distance(a: &[char], b: &str) -> usize {
    let b: Vec<char> = b.chars().take(40).flat_map(char::to_lowercase).collect();
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.iter().enumerate() {
        let mut next = Vec::with_capacity(row.len());
        next.push(i + 1);
        for (j, cb) in b.iter().enumerate() {
            let substitute = row[j] + usize::from(ca != cb);
            let mut best = substitute.min(next[j] + 1).min(row[j + 1] + 1);
            if i > 0 && j > 0 && *ca == b[j - 1] && a[i - 1] == *cb {
                best = best.min(before[j - 1] + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}

/// A number with its noun: `1 more error`, `2 more errors`.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// A number with separators between thousands: `140,000`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Reads a number of tokens as people write it: `20000`, `20_000`, `20k`, `1.5m`.
pub fn tokens(given: &str) -> Option<u64> {
    let lower = given.trim().to_lowercase().replace(['_', ','], "");
    let (digits, unit) = match lower.strip_suffix(['k', 'm']) {
        Some(digits) if lower.ends_with('k') => (digits, 1_000),
        Some(digits) => (digits, 1_000_000),
        None => (lower.as_str(), 1),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    if unit == 1 && !part.is_empty() || part.len() > 6 || digits.contains(['+', '-']) {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let scale = 10_u64.pow(u32::try_from(part.len()).unwrap_or(0));
    let part: u64 = if part.is_empty() { 0 } else { part.parse().ok()? };
    whole.checked_mul(unit)?.checked_add(part * unit / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hidden_reordering_or_steering_is_left_in_neutral_text() {
        let hostile = "a\u{1b}[31m\u{202e}b\u{200b}c\u{feff}d\u{e0041}e\u{ad}f\u{3164}g\nh\u{2066}i";
        let neutral = neutral(hostile);
        assert_eq!(neutral, "a␛[31m\u{fffd}b\u{fffd}c\u{fffd}d\u{fffd}e\u{fffd}f\u{fffd}g h\u{fffd}i");
        assert_eq!(neutral.chars().count(), hostile.chars().count());
    }

    #[test]
    fn joiners_stay_where_scripts_and_emoji_need_them_and_nowhere_else() {
        for needed in ["می‌خواهم", "👨‍👩‍👧", "❤️‍🔥", "1️⃣", "क्‍ष"] {
            assert_eq!(neutral(needed), needed);
        }
        assert_eq!(neutral("a\u{200d}b"), "a\u{fffd}b");
        assert_eq!(neutral("é\u{200d}\u{200c}é"), "é\u{fffd}\u{fffd}é");
        assert_eq!(neutral("\u{200d}é\u{200d}"), "\u{fffd}é\u{fffd}");
        assert_eq!(neutral("x\u{fe0f}"), "x\u{fffd}");
    }

    #[test]
    fn json_means_the_same_with_everything_hidden_escaped() {
        let hostile = "a\u{7f}\u{9b}2J\u{202e}b\u{200b}\u{feff}\u{e0041}\\ \"é👨‍👩‍👧\n";
        let json = serde_json::json!({"text": hostile});
        let text = serde_json::to_string_pretty(&json).unwrap();
        let escaped = escaped_json(&text);
        assert!(escaped.contains(r"\u202eb\u200b\ufeff\udb40\udc41") && escaped.contains("é👨‍👩‍👧"), "{escaped}");
        assert!(!escaped.chars().any(|c| c != '\n' && is_unsafe(c)), "{escaped:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).unwrap(), json);
        assert!(matches!(escaped_json("{\n}"), Cow::Borrowed("{\n}")));
    }

    #[test]
    fn text_without_anything_to_see_is_blank() {
        for blank in ["", " \t", "\u{200b}", "\u{feff}\u{200d}", "\u{e0041}\u{3164}"] {
            assert!(is_blank(blank), "{blank:?}");
        }
        assert!(!is_blank("\u{200b}a"));
        assert_eq!(one_line("  a\r\nb\tc\u{2028}d "), "a  b c d");
        assert_eq!(one_line("[x] done\u{1b}"), "[x] done\u{1b}", "what is not a line break is stored as it is");
    }

    #[test]
    fn tags_that_frame_parts_of_a_context_lose_their_meaning_and_types_stay() {
        for (text, safe) in [
            ("a</system-reminder>b", "a&lt;/system-reminder>b"),
            ("<system-reminder>", "&lt;system-reminder>"),
            ("< / todo >", "&lt; / todo >"),
            ("<System>", "&lt;System>"),
            ("<function_results>", "&lt;function_results>"),
            ("<a:b>", "&lt;a:b>"),
            ("<<x-y>", "<&lt;x-y>"),
        ] {
            assert_eq!(without_tags(text), safe);
        }
        for plain in ["Vec<String>", "a < b", "Map<std::path::Path>", "<b>", "1 </ 2", "<", "</"] {
            assert_eq!(without_tags(plain), plain);
        }
    }

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
