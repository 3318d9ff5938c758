//! The share that is truly done, as a chart of bars.

use std::fmt::Write;

use super::profile::PROFILES;
use super::table::ArmFigures;

const WIDTH: f64 = 760.0;
const LABEL: f64 = 190.0;
const BAR: f64 = 11.0;
const GROUP: f64 = 46.0;
const TOP: f64 = 56.0;
const COLORS: [&str; 3] = ["#0a7d5a", "#3b82c4", "#b7791f"];

pub fn svg(figures: &ArmFigures) -> String {
    let groups = f64::from(u8::try_from(figures.arms.len()).unwrap_or(u8::MAX));
    let height = TOP + GROUP * groups + 34.0;
    let scale = WIDTH - LABEL - 60.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"system-ui, sans-serif\" \
         font-size=\"12\" role=\"img\" aria-label=\"Share of the plan that is truly done, by arm and profile\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text x=\"16\" y=\"24\" font-size=\"15\" font-weight=\"600\" fill=\"#1a1a1a\">Share of the plan that is truly done</text>\n"
    );
    for (at, profile) in (0_u8..).zip(PROFILES) {
        let x = LABEL + f64::from(at) * 110.0;
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"34\" width=\"10\" height=\"10\" fill=\"{}\"/><text x=\"{}\" y=\"43\" \
             fill=\"#444\">{} model</text>",
            COLORS[usize::from(at)],
            x + 15.0,
            profile.name
        );
    }
    for tenth in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let x = LABEL + scale * tenth;
        let bottom = TOP + GROUP * groups;
        let _ = writeln!(
            out,
            "<line x1=\"{x}\" y1=\"{TOP}\" x2=\"{x}\" y2=\"{bottom}\" stroke=\"#ddd\"/><text x=\"{x}\" y=\"{}\" \
             text-anchor=\"middle\" fill=\"#666\">{tenth}</text>",
            bottom + 18.0
        );
    }
    for (at, arm) in (0_u8..).zip(figures.arms.iter().copied()) {
        let y = TOP + GROUP * f64::from(at) + 4.0;
        let weight = if arm.is_real() { "600" } else { "400" };
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" font-weight=\"{weight}\" fill=\"#1a1a1a\">{}</text>",
            LABEL - 10.0,
            y + 21.0,
            arm.title()
        );
        for (bar, profile) in (0_u8..).zip(PROFILES) {
            let Some(row) = figures.row(arm, profile.name) else { continue };
            let (top, width) = (y + f64::from(bar) * (BAR + 1.0), scale * row.share);
            let _ = writeln!(
                out,
                "<rect x=\"{LABEL}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{BAR}\" fill=\"{}\"/><text x=\"{:.1}\" \
                 y=\"{:.1}\" font-size=\"10\" fill=\"#444\">{:.2}</text>",
                COLORS[usize::from(bar)],
                LABEL + width + 5.0,
                top + 9.0,
                row.share
            );
        }
    }
    out.push_str("</svg>\n");
    out
}
