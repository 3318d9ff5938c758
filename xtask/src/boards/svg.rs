//! A screen with the escapes of its colors as an SVG picture.

use std::fmt::Write;

/// Size of a character in the picture.
const CELL: (f64, f64) = (8.4, 17.0);
/// The colors of a terminal with a dark background, by their ANSI numbers.
const COLORS: [&str; 8] = ["#1d2021", "#fb4934", "#b8bb26", "#fabd2f", "#83a598", "#d3869b", "#8ec07c", "#ebdbb2"];

/// How a piece of text looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Style {
    color: Option<usize>,
    is_bold: bool,
    is_dim: bool,
    is_reversed: bool,
}

/// Draws a screen of this many columns.
pub fn svg(screen: &str, columns: usize) -> String {
    let rows: Vec<&str> = screen.lines().collect();
    let (width, height) = (columns as f64 * CELL.0 + 16.0, rows.len() as f64 * CELL.1 + 16.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"ui-monospace, Menlo, Consolas, \
         monospace\" font-size=\"14\">\n<rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"{}\"/>\n",
        COLORS[0]
    );
    let mut style = Style::default();
    for (at, row) in rows.iter().enumerate() {
        let y = 8.0 + CELL.1 * (at as f64 + 0.75);
        let mut column = 0;
        for (text, with) in pieces(row, &mut style) {
            let count = text.chars().count();
            let x = 8.0 + column as f64 * CELL.0;
            column += count;
            draw(&mut out, &text, with, (x, y), count as f64 * CELL.0);
        }
    }
    out.push_str("</svg>\n");
    out
}

fn draw(out: &mut String, text: &str, style: Style, (x, y): (f64, f64), width: f64) {
    if text.trim().is_empty() && !style.is_reversed {
        return;
    }
    let mut color = COLORS[style.color.unwrap_or(7)];
    if style.is_reversed {
        let top = y - CELL.1 * 0.75;
        let _ = writeln!(
            out,
            "<rect x=\"{x:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{}\" fill=\"{color}\"/>",
            CELL.1
        );
        color = COLORS[0];
    }
    let weight = if style.is_bold { " font-weight=\"bold\"" } else { "" };
    let faint = if style.is_dim { " fill-opacity=\"0.6\"" } else { "" };
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _ = writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" textLength=\"{width:.1}\" xml:space=\"preserve\" fill=\"{color}\"{weight}{faint}>{text}</text>"
    );
}

/// The pieces of a row that look alike. A style lasts until it is changed, over the ends of rows.
fn pieces(row: &str, style: &mut Style) -> Vec<(String, Style)> {
    let mut out = Vec::new();
    let mut text = String::new();
    let mut rest = row.chars();
    while let Some(c) = rest.next() {
        if c != '\x1b' {
            text.push(c);
            continue;
        }
        let codes: String = rest.by_ref().skip(1).take_while(|c| *c != 'm').collect();
        if !text.is_empty() {
            out.push((std::mem::take(&mut text), *style));
        }
        for code in codes.split(';').map(|code| code.parse::<usize>().unwrap_or(0)) {
            match code {
                0 => *style = Style::default(),
                1 => style.is_bold = true,
                2 => style.is_dim = true,
                7 => style.is_reversed = true,
                22 => (style.is_bold, style.is_dim) = (false, false),
                27 => style.is_reversed = false,
                30..=37 => style.color = Some(code - 30),
                39 => style.color = None,
                _ => {}
            }
        }
    }
    out.push((text, *style));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_and_marks_become_text_in_its_place() {
        let picture = svg("a\x1b[1;31mb<\x1b[0m c\n\x1b[7mx", 5);
        assert!(picture.contains(">a</text>"));
        assert!(picture.contains("fill=\"#fb4934\" font-weight=\"bold\">b&lt;</text>"), "{picture}");
        assert!(picture.contains("fill=\"#1d2021\">x</text>"), "{picture}");
    }
}
