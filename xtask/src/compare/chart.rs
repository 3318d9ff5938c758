//! Bars on a logarithmic scale, as an SVG picture that can be read on light and dark pages.

use std::fmt::Write;

use super::page::figure;
use super::{ComparisonPart, ComparisonRow, Unit};

const WIDTH: f64 = 860.0;
const LABEL: f64 = 300.0;
const BAR: f64 = 14.0;
const GAP: f64 = 12.0;
const HEAD: f64 = 40.0;

/// Our color first; the others follow in the order of the tools.
const COLORS: [&str; 6] = ["#2da44e", "#8c959f", "#bf8700", "#8250df", "#0969da", "#cf222e"];

/// Draws all rows of a part.
pub fn draw(part: &ComparisonPart) -> String {
    let values = || part.rows.iter().flat_map(|row| &row.figures).filter_map(|figure| figure.value);
    let (least, most) = (values().fold(f64::INFINITY, f64::min).max(0.5), values().fold(1.0, f64::max).max(1.0));
    let height = HEAD + part.rows.iter().map(|row| row.figures.len() as f64 * BAR + GAP).sum::<f64>() + 10.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"system-ui, sans-serif\" font-size=\"11\">\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\" rx=\"6\"/>\n"
    );
    let tools: Vec<&str> =
        part.rows.first().map(|row| row.figures.iter().map(|f| f.tool.as_str()).collect()).unwrap_or_default();
    let mut x = 14.0;
    for (tool, color) in tools.iter().zip(COLORS) {
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"12\" width=\"11\" height=\"11\" fill=\"{color}\"/><text x=\"{}\" y=\"22\" fill=\"#1f2328\">{tool}</text>",
            x + 16.0
        );
        x += 34.0 + 6.6 * tool.chars().count() as f64;
    }
    let note = if part.rows.iter().all(|row| row.unit == Unit::Lost) { "" } else { "logarithmic, less is better" };
    let _ = writeln!(out, "<text x=\"{}\" y=\"22\" text-anchor=\"end\" fill=\"#656d76\">{note}</text>", WIDTH - 14.0);
    let mut y = HEAD;
    for row in &part.rows {
        bars(&mut out, row, y, least, most);
        y += row.figures.len() as f64 * BAR + GAP;
    }
    out.push_str("</svg>\n");
    out
}

fn bars(out: &mut String, row: &ComparisonRow, mut y: f64, least: f64, most: f64) {
    let middle = y + row.figures.len() as f64 * BAR / 2.0 + 4.0;
    let what = row.what.replace('`', "").replace('&', "&amp;").replace('<', "&lt;");
    let _ =
        writeln!(out, "<text x=\"{}\" y=\"{middle}\" text-anchor=\"end\" fill=\"#1f2328\">{what}</text>", LABEL - 10.0);
    for (tool, color) in row.figures.iter().zip(COLORS) {
        let text = tool.value.map_or_else(|| "–".to_owned(), |value| figure(value, row.unit));
        let room = WIDTH - LABEL - 90.0;
        let low = (least / 2.0).ln();
        let width = match tool.value {
            Some(value) if value > 0.0 => (value.ln() - low).max(0.0) / (most.ln() - low).max(0.1) * room,
            _ => 0.0,
        };
        let _ = writeln!(
            out,
            "<rect x=\"{LABEL}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{}\" fill=\"{color}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" fill=\"#1f2328\">{text}</text>",
            y,
            BAR - 3.0,
            LABEL + width + 5.0,
            y + BAR - 5.0
        );
        y += BAR;
    }
}
