//! Lines of a given width: parts that are cut, filled and set against the right edge; text that is wrapped.

use punch_core::view::width;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::look::BoardLook;

pub(super) fn columns(text: &str) -> usize {
    width::columns(text)
}

pub(super) fn fit(text: &str, room: usize, look: BoardLook) -> String {
    width::fit(text, room, look.glyphs.ellipsis()).into_owned()
}

pub(super) fn pad(text: &str, room: usize, look: BoardLook) -> String {
    width::pad(text, room, look.glyphs.ellipsis())
}

/// The end of a text, at most this many columns of it.
pub(super) fn end_of(text: &str, room: usize) -> &str {
    let (mut start, mut used) = (text.len(), 0);
    for (at, c) in text.char_indices().rev() {
        used += columns(c.encode_utf8(&mut [0; 4]));
        if used > room {
            break;
        }
        start = at;
    }
    &text[start..]
}

/// A line that is being put together from the left, with a part against the right edge.
pub(super) struct LineBuilder {
    look: BoardLook,
    width: usize,
    used: usize,
    spans: Vec<Span<'static>>,
}

impl LineBuilder {
    pub(super) const fn new(look: BoardLook, width: usize) -> Self {
        Self { look, width, used: 0, spans: Vec::new() }
    }

    pub(super) const fn left(&self) -> usize {
        self.width.saturating_sub(self.used)
    }

    /// Appends text, cut to what is left.
    pub(super) fn put(&mut self, text: &str, style: Style) -> &mut Self {
        let text = fit(text, self.left(), self.look);
        self.used += columns(&text);
        self.spans.push(Span::styled(text, style));
        self
    }

    /// Appends text in a column of its own.
    pub(super) fn column(&mut self, text: &str, room: usize, style: Style) -> &mut Self {
        let text = pad(text, room.min(self.left()), self.look);
        self.used += columns(&text);
        self.spans.push(Span::styled(text, style));
        self
    }

    /// Fills up to a column.
    pub(super) fn to(&mut self, column: usize) -> &mut Self {
        if column > self.used {
            let text = " ".repeat(column.min(self.width).saturating_sub(self.used));
            self.used += text.len();
            self.spans.push(Span::raw(text));
        }
        self
    }

    pub(super) fn line(self) -> Line<'static> {
        Line::from(self.spans)
    }
}

/// Breaks a line between words, and inside words that are wider than the room; `hanging` columns are left free on all lines
/// but the first.
pub(super) fn wrap(text: &str, room: usize, hanging: usize) -> Vec<String> {
    let room = room.max(hanging + 4);
    let mut out = Vec::new();
    let mut line = String::new();
    let indent = " ".repeat(hanging);
    for word in text.split_inclusive(' ') {
        let bare = word.trim_end_matches(' ');
        if columns(&line) + columns(bare) > room && columns(line.trim()) > 0 {
            out.push(std::mem::replace(&mut line, indent.clone()));
        }
        for c in word.chars() {
            let wide = columns(c.encode_utf8(&mut [0; 4]));
            if columns(&line) + wide > room {
                if c == ' ' {
                    continue;
                }
                out.push(std::mem::replace(&mut line, indent.clone()));
            }
            line.push(c);
        }
    }
    out.push(line);
    out
}

/// A time span as people say it in two or three characters.
pub(super) fn age(ms: i64) -> String {
    let minutes = ms.max(0) / 60_000;
    match minutes {
        0 => "now".to_owned(),
        1..60 => format!("{minutes}m"),
        60..2_880 => format!("{}h{:02}m", minutes / 60, minutes % 60),
        _ => format!("{}d", minutes / 1_440),
    }
}

/// How long something takes or has taken.
pub fn span(ms: i64) -> String {
    if ms < 60_000 { "<1m".to_owned() } else { age(ms) }
}

/// A number of tokens in three digits or so.
pub(super) fn tokens(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => format!("{}k", count / 1_000),
        _ => format!("{:.1}M", count as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_broken_between_words_and_inside_long_ones() {
        assert_eq!(wrap("one two three", 8, 2), ["one two ", "  three"]);
        assert_eq!(wrap("abcdefghij", 4, 0), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("", 4, 0), [""]);
        assert_eq!(wrap("語語語", 4, 0), ["語語", "語"]);
    }

    #[test]
    fn the_end_of_a_text_is_measured_in_columns() {
        for (text, room, end) in
            [("abc", 2, "bc"), ("語語語", 5, "語語"), ("a語", 2, "語"), ("語", 1, ""), ("ab", 9, "ab")]
        {
            assert_eq!(end_of(text, room), end, "{text} in {room}");
        }
    }

    #[test]
    fn spans_of_time_are_short() {
        let texts: Vec<String> = [0, 59, 60, 3_600, 86_400 * 3].iter().map(|s| age(s * 1000)).collect();
        assert_eq!(texts, ["now", "now", "1m", "1h00m", "3d"]);
    }
}
