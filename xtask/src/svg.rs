//! Text of a terminal, with the escapes of its colors, as an SVG picture.

use std::fmt::Write;

/// Size of a character cell and of the frame, in pixels.
const CELL: (f64, f64) = (8.4, 19.0);
const FRAME: f64 = 18.0;

/// Colors of the terminal itself.
const BACKGROUND: &str = "#0d1117";
const TEXT: &str = "#c9d1d9";

/// How characters look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CharacterStyle {
    bold: bool,
    dim: bool,
    italic: bool,
    underline: bool,
    /// Foreground and background are exchanged.
    reversed: bool,
    /// One of the terminal's sixteen colors.
    color: Option<u8>,
}

impl CharacterStyle {
    /// Bold text in one of the terminal's sixteen colors, or in its usual one.
    pub fn bold(color: Option<u8>) -> Self {
        Self { bold: true, color, ..Self::default() }
    }

    /// Applies the codes of one escape, as in `1;32`.
    fn apply(&mut self, codes: &str) {
        let mut codes = codes.split(';').map(|code| code.parse::<u8>().unwrap_or(0));
        while let Some(code) = codes.next() {
            match code {
                // `38;5;N` is one of 256 colors, of which the first are the terminal's; `38;2;R;G;B` is any color.
                38 | 48 => match codes.next() {
                    Some(5) => {
                        let color = codes.next().filter(|color| usize::from(*color) < PALETTE.len());
                        self.color = if code == 38 { color } else { self.color };
                    }
                    Some(2) => {
                        codes.by_ref().take(3).for_each(drop);
                    }
                    _ => {}
                },
                0 => *self = Self::default(),
                1 => self.bold = true,
                2 => self.dim = true,
                3 => self.italic = true,
                4 => self.underline = true,
                7 => self.reversed = true,
                22 => (self.bold, self.dim) = (false, false),
                23 => self.italic = false,
                24 => self.underline = false,
                27 => self.reversed = false,
                30..=37 => self.color = Some(code - 30),
                90..=97 => self.color = Some(code - 90 + 8),
                39 => self.color = None,
                _ => {}
            }
        }
    }

    fn attributes(self) -> String {
        let mut out = String::new();
        match self.color.map(palette) {
            _ if self.reversed => {
                let _ = write!(out, " fill=\"{BACKGROUND}\"");
            }
            Some(color) => {
                let _ = write!(out, " fill=\"{color}\"");
            }
            None => {}
        }
        for (on, attribute) in [
            (self.bold, " font-weight=\"bold\""),
            (self.dim && !self.reversed, " opacity=\"0.6\""),
            (self.italic, " font-style=\"italic\""),
            (self.underline, " text-decoration=\"underline\""),
        ] {
            if on {
                out.push_str(attribute);
            }
        }
        out
    }
}

/// The sixteen colors, readable on the dark background of the pictures.
const PALETTE: [&str; 16] = [
    "#484f58", "#ff7b72", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#c9d1d9", "#8b949e", "#ffa198",
    "#7ee787", "#f2cc60", "#a5d6ff", "#e2c5ff", "#b3f0ff", "#f0f6fc",
];

fn palette(color: u8) -> &'static str {
    PALETTE[usize::from(color) % PALETTE.len()]
}

/// Splits a line with escapes into texts of one look. The look at the end of a line holds for the next one.
fn runs(line: &str, look: &mut CharacterStyle) -> Text {
    let mut out: Text = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        if let Some(escape) = rest.strip_prefix("\u{1b}[") {
            let end = escape.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(escape.len().saturating_sub(1));
            if escape[end..].starts_with('m') {
                look.apply(&escape[..end]);
            }
            rest = escape.get(end + 1..).unwrap_or_default();
            continue;
        }
        let end = rest.find('\u{1b}').filter(|end| *end > 0).unwrap_or(rest.len());
        out.push((*look, rest[..end].replace('\u{1b}', "")));
        rest = &rest[end..];
    }
    out
}

/// A line of text: pieces that look alike.
pub type Text = Vec<(CharacterStyle, String)>;

/// The lines of a text with escapes.
pub fn lines(text: &str) -> Vec<Text> {
    let mut look = CharacterStyle::default();
    text.lines().map(|line| runs(line, &mut look)).collect()
}

/// A picture of lines on a terminal of at least this many columns.
pub fn svg(lines: &[Text], columns: usize) -> String {
    let width = |line: &Text| line.iter().map(|(_, text)| text.chars().count()).sum::<usize>();
    let columns = lines.iter().map(width).max().unwrap_or_default().max(columns);
    let (wide, high) = (columns as f64 * CELL.0 + 2.0 * FRAME, lines.len() as f64 * CELL.1 + 2.0 * FRAME);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide:.0}\" height=\"{high:.0}\" viewBox=\"0 0 {wide:.0} {high:.0}\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{BACKGROUND}\"/>\n\
         <g font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" font-size=\"14\" \
         fill=\"{TEXT}\">\n"
    );
    for (row, line) in lines.iter().enumerate() {
        let y = FRAME + CELL.1 * (row as f64 + 0.75);
        let mut column = 0;
        for (look, text) in line {
            if look.reversed {
                let (x, top) = (FRAME + CELL.0 * column as f64, y - CELL.1 * 0.75);
                let (length, color) = (CELL.0 * text.chars().count() as f64, look.color.map_or(TEXT, palette));
                let _ = writeln!(
                    out,
                    "<rect x=\"{x:.1}\" y=\"{top:.1}\" width=\"{length:.1}\" height=\"{}\" fill=\"{color}\"/>",
                    CELL.1
                );
            }
            for (start, words) in chunks(text) {
                let x = FRAME + CELL.0 * (column + start) as f64;
                let length = CELL.0 * words.chars().count() as f64;
                let attributes = look.attributes();
                let _ = writeln!(
                    out,
                    "<text x=\"{x:.1}\" y=\"{y:.1}\" textLength=\"{length:.1}\"{attributes}>{}</text>",
                    escaped(words)
                );
            }
            column += text.chars().count();
        }
    }
    out.push_str("</g>\n</svg>\n");
    out
}

/// Words with the columns they start at. More than one blank separates, so that columns stay aligned in every font.
fn chunks(text: &str) -> Vec<(usize, &str)> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let blanks = rest.len() - rest.trim_start_matches(' ').len();
        let words = &rest[blanks..];
        let end = words.find("  ").unwrap_or(words.trim_end().len());
        if end > 0 {
            out.push((text[..at + blanks].chars().count(), &words[..end]));
        }
        at += blanks + end.max(usize::from(blanks == 0));
    }
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_become_looks() {
        let mut look = CharacterStyle::default();
        let found = runs("a \u{1b}[1;32mb\u{1b}[0m\u{1b}[2Kc", &mut look);
        let green = CharacterStyle { bold: true, color: Some(2), ..CharacterStyle::default() };
        assert_eq!(
            found,
            [
                (CharacterStyle::default(), "a ".to_owned()),
                (green, "b".to_owned()),
                (CharacterStyle::default(), "c".to_owned())
            ]
        );
    }

    #[test]
    fn colors_by_number_are_no_other_codes() {
        let mut look = CharacterStyle::default();
        look.apply("1;38;5;4;48;5;1");
        assert_eq!(look, CharacterStyle { bold: true, color: Some(4), ..CharacterStyle::default() });
        look.apply("38;2;1;3;4;39");
        assert_eq!(look, CharacterStyle::bold(None));
        look.apply("38;5;200");
        assert_eq!(look.color, None);
    }

    #[test]
    fn columns_are_kept_apart() {
        assert_eq!(chunks("  a b   ○ c "), [(2, "a b"), (8, "○ c")]);
        assert_eq!(chunks("   "), []);
    }

    #[test]
    fn text_of_a_picture_is_escaped() {
        let picture = svg(&lines("<&>\u{1b}[7;31mx"), 5);
        assert!(picture.contains("&lt;&amp;&gt;") && picture.ends_with("</svg>\n"), "{picture}");
        let cell = "fill=\"#ff7b72\"/>\n<text";
        assert!(picture.contains(cell) && picture.contains("fill=\"#0d1117\">x</text>"), "{picture}");
    }
}
