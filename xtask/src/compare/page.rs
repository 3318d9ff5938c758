//! The page with the results. It says where Punchlist does not lead, and why.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use super::install::ComparedTools;
use super::{ComparisonPart, ComparisonRow, Unit, chart, machine};
use crate::TaskResult;

/// Reasons for rows that Punchlist may lose, by the beginning of the row's name.
const REASONS: [(&str, &str); 0] = [];

/// Writes the page and its pictures.
pub fn write(folder: &Path, parts: &[ComparisonPart], installed: &ComparedTools) -> TaskResult {
    let put = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|cause| format!("cannot write {}: {cause}", path.display()))
    };
    fs::create_dir_all(folder).map_err(|cause| format!("cannot make {}: {cause}", folder.display()))?;
    for part in parts {
        put(&format!("{}.svg", part.file), &chart::draw(part))?;
    }
    put("README.md", &page(parts, installed))
}

fn page(parts: &[ComparisonPart], installed: &ComparedTools) -> String {
    let mut out = String::from("# Compared with other tools\n\n");
    let _ = writeln!(
        out,
        "Made by `cargo xtask compare` on {} ({}). Every tool did the same work in the same run. Less is better in every table; the best \
         figure of a row is bold. CPU time is used where other work on the machine would change the clock.\n",
        machine::date(),
        machine::description()
    );
    out.push_str("| tool | version |\n|---|---|\n");
    for (name, version) in &installed.versions {
        let _ = writeln!(out, "| {name} | {version} |");
    }
    let only_servers: Vec<&str> = ["Shrimp", "beads-mcp"].into_iter().filter(|tool| installed.has(tool)).collect();
    if !only_servers.is_empty() {
        let _ =
            writeln!(out, "\nMeasured over MCP only, because they have no command line: {}.", only_servers.join(", "));
    }
    if !installed.missing.is_empty() {
        out.push_str("\nNot compared:\n\n");
        for (name, reason) in &installed.missing {
            let _ = writeln!(out, "- {name}: {reason}.");
        }
    }
    for part in parts {
        let _ = write!(out, "\n## {}\n\n{}\n\n![{}]({}.svg)\n\n", part.title, part.method, part.title, part.file);
        table(&mut out, part);
        if !part.counts.is_empty() {
            let _ = write!(out, "\n- {}\n", part.counts.join("\n- "));
        }
    }
    let behind: Vec<&ComparisonRow> = parts.iter().flat_map(|part| &part.rows).filter(|row| !leads(row)).collect();
    out.push_str("\n## Where Punchlist does not lead\n\n");
    if behind.is_empty() {
        out.push_str("Nowhere in this run.\n");
    }
    for row in behind {
        let reason = REASONS.iter().find(|(begin, _)| row.what.starts_with(begin)).map(|(_, reason)| *reason);
        let _ = writeln!(out, "- {}: {}.", row.what, reason.unwrap_or("no reason is known yet"));
    }
    out
}

fn table(out: &mut String, part: &ComparisonPart) {
    let Some(first) = part.rows.first() else { return };
    let tools: Vec<&str> = first.figures.iter().map(|figure| figure.tool.as_str()).collect();
    let _ = writeln!(out, "| | {} |\n|---|{}", tools.join(" | "), "---:|".repeat(tools.len()));
    for row in &part.rows {
        let best = best(row);
        let cell = |value: Option<f64>| match value {
            None => "–".to_owned(),
            Some(value) if Some(value) == best => format!("**{}**", figure(value, row.unit)),
            Some(value) => figure(value, row.unit),
        };
        let cells: Vec<String> = row.figures.iter().map(|figure| cell(figure.value)).collect();
        let _ = writeln!(out, "| {} | {} |", row.what, cells.join(" | "));
    }
}

/// The smallest number of a row.
fn best(row: &ComparisonRow) -> Option<f64> {
    row.figures.iter().filter_map(|figure| figure.value).min_by(f64::total_cmp)
}

/// Returns true if no other tool has a smaller number.
fn leads(row: &ComparisonRow) -> bool {
    row.figures.first().and_then(|figure| figure.value) == best(row)
}

/// A number as it is read.
pub fn figure(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Cpu | Unit::Wall if value < 10.0 => format!("{value:.1} ms"),
        Unit::Cpu | Unit::Wall => format!("{} ms", thousands(value.round() as u64)),
        Unit::Tokens | Unit::Lost => thousands(value.round() as u64),
    }
}

/// A number with commas.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::ToolFigure;
    use super::*;

    fn row(values: &[Option<f64>]) -> ComparisonRow {
        let figures = values.iter().map(|value| ToolFigure { tool: "x".into(), value: *value }).collect();
        ComparisonRow { what: "work".into(), unit: Unit::Cpu, figures }
    }

    #[test]
    fn the_first_tool_leads_if_none_is_better() {
        assert!(leads(&row(&[Some(1.0), Some(2.0), None])) && leads(&row(&[Some(0.0), Some(0.0)])));
        assert!(!leads(&row(&[Some(2.0), Some(1.0)])));
    }

    #[test]
    fn the_page_says_what_was_counted_and_who_has_only_a_server() {
        let part = ComparisonPart {
            title: "Lost",
            file: "lost",
            method: "As usual.",
            rows: vec![row(&[Some(0.0)])],
            counts: vec!["Punchlist: at once, 200 writes acknowledged; killed 9 times, 30 writes acknowledged".into()],
        };
        let installed = ComparedTools {
            punch: "punch".into(),
            npm: "npm".into(),
            beads_mcp: None,
            beads_rust: None,
            versions: vec![("Punchlist".into(), "1".into()), ("Shrimp".into(), "2".into())],
            missing: Vec::new(),
        };
        let page = page(&[part], &installed);
        assert!(page.contains("\n- Punchlist: at once, 200 writes acknowledged; killed 9 times"), "{page}");
        assert!(page.contains("because they have no command line: Shrimp.\n"), "{page}");
    }

    #[test]
    fn numbers_are_easy_to_read() {
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(figure(2.345, Unit::Cpu), "2.3 ms");
        assert_eq!(figure(6_049.7, Unit::Wall), "6,050 ms");
        assert_eq!(figure(740.0, Unit::Tokens), "740");
    }
}
