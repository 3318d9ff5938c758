//! The page with the results. It says where Punchlist does not lead, and why.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use super::install::ComparedTools;
use super::{ComparisonPart, ComparisonRow, ToolFigure, Unit, chart, machine};
use crate::{TaskResult, process};

/// What Punchlist does in a row that others may not do, by the beginning of the row's name. The figures of both are printed beside
/// it, so that nothing is hidden where a reason is weak.
const REASONS: [(&str, &str); 7] = [
    (
        "import ",
        "Punchlist checks every dependency, and stores an event for each todo so that the import can be undone",
    ),
    ("add a todo", "Punchlist checks for cycles, and stores an event so that the change can be undone"),
    ("start a todo", "Punchlist checks what the todo depends on, and stores an event so that the change can be undone"),
    ("finish a todo", "Punchlist finds what is ready now, and stores an event so that the change can be undone"),
    ("what can be started", "Punchlist leaves out what other agents have claimed and what is on hold"),
    ("definitions of the tools", "Punchlist's tools also describe checks, holds and questions"),
    ("whole session", "Punchlist's answers also name what is ready next"),
];

/// The page.
pub const PATH: &str = "docs/benchmarks/compare.md";

/// Pages that lead to this one: the line that the link is added after, and the link.
const LINKS: [(&str, &str, &str); 2] = [
    (
        "README.md",
        "[how fast plans in PostgreSQL are](docs/benchmarks/fleet.md).",
        "[How it compares with other tools](docs/benchmarks/compare.md), measured in one run.",
    ),
    (
        "docs/README.md",
        "[What Punchlist costs in tokens](benchmarks/tokens.md)",
        "| [Compared with other tools](benchmarks/compare.md) | see what the same work costs with other todo tools, and what they lose |",
    ),
];

/// Writes the page and its pictures.
pub fn write(parts: &[ComparisonPart], installed: &ComparedTools, source: &str) -> TaskResult {
    let page_path = process::root().join(PATH);
    let folder = page_path.parent().ok_or("the page has no folder")?;
    let put = |path: &Path, text: &str| {
        fs::write(path, text).map_err(|cause| format!("cannot write {}: {cause}", path.display()))
    };
    fs::create_dir_all(folder).map_err(|cause| format!("cannot make {}: {cause}", folder.display()))?;
    for part in parts {
        put(&folder.join(picture(part)), &chart::draw(part))?;
    }
    put(&page_path, &page(parts, installed, source))
}

fn picture(part: &ComparisonPart) -> String {
    format!("compare-{}.svg", part.file)
}

/// Adds links to the page where readers look for it. Before the page is there, they would lead nowhere.
pub fn link() -> TaskResult {
    for (file, after, link) in LINKS {
        let path = process::root().join(file);
        let text = fs::read_to_string(&path).map_err(|cause| format!("{}: {cause}", path.display()))?;
        match linked(&text, after, link) {
            Some(text) => {
                fs::write(&path, text).map_err(|cause| format!("cannot write {}: {cause}", path.display()))?
            }
            None => println!("    link the page from {file} by hand: {link}"),
        }
    }
    Ok(())
}

/// The text with the link in a line of its own after the given one; `None` if that line is missing.
fn linked(text: &str, after: &str, link: &str) -> Option<String> {
    if text.contains(link) {
        return Some(text.to_owned());
    }
    let (before, rest) = text.split_once(after)?;
    let (end, rest) = rest.split_once('\n')?;
    Some(format!("{before}{after}{end}\n{link}\n{rest}"))
}

/// The text of the page.
pub fn page(parts: &[ComparisonPart], installed: &ComparedTools, source: &str) -> String {
    let mut out = String::from("# Compared with other tools\n\n");
    let _ = writeln!(
        out,
        "Made by `cargo xtask compare` on {} from {source} ({}). Every tool did the same work in the same run. Less is better in every \
         table; the best figure of a row is bold. CPU time is used where other work on the machine would change the clock. A dash means \
         that a tool has no such function, or was not measured.\n",
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
        let _ = write!(out, "\n## {}\n\n{}\n\n![{}]({})\n\n", part.title, part.method, part.title, picture(part));
        table(&mut out, part);
        if !part.counts.is_empty() {
            let _ = write!(out, "\n- {}\n", part.counts.join("\n- "));
        }
        if !part.problems.is_empty() {
            let _ = write!(out, "\nWhat failed:\n\n- {}\n", part.problems.join("\n- "));
        }
    }
    let behind: Vec<&ComparisonRow> = parts.iter().flat_map(|part| &part.rows).filter(|row| !leads(row)).collect();
    out.push_str("\n## Where Punchlist does not lead\n\n");
    if behind.is_empty() {
        out.push_str("Nowhere in this run.\n");
    }
    for row in behind {
        let _ = writeln!(out, "- {}.", behind_by(row));
    }
    out
}

/// The figures of a row that another tool leads, and what Punchlist does there.
fn behind_by(row: &ComparisonRow) -> String {
    let named = |tool: &ToolFigure| {
        let value = tool.value.map_or_else(|| "no figure".to_owned(), |value| figure(value, row.unit));
        format!("{} {value}", tool.tool)
    };
    let leader = row.figures.iter().find(|tool| tool.value.is_some() && tool.value == best(row));
    let figures: Vec<String> = leader.into_iter().chain(row.figures.first()).map(named).collect();
    let reason = REASONS.iter().find(|(begin, _)| row.what.starts_with(begin));
    let reason = reason.map_or_else(String::new, |(_, reason)| format!("; {reason}"));
    format!("{}: {}{reason}", row.what, figures.join(", "))
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
            method: "As usual.".into(),
            rows: vec![row(&[Some(0.0)])],
            counts: vec!["Punchlist: at once, 200 writes acknowledged; killed 9 times, 30 writes acknowledged".into()],
            problems: vec!["Task Master, add: killed after 180 s".into()],
        };
        let installed = ComparedTools {
            punch: "punch".into(),
            npm: "npm".into(),
            beads_mcp: None,
            beads_rust: None,
            versions: vec![("Punchlist".into(), "1".into()), ("Shrimp".into(), "2".into())],
            missing: Vec::new(),
        };
        let page = page(&[part], &installed, "commit abc");
        assert!(page.contains(" from commit abc (") && page.contains("(compare-lost.svg)"), "{page}");
        assert!(page.contains("\nWhat failed:\n\n- Task Master, add: killed after 180 s\n"), "{page}");
        assert!(page.contains("\n- Punchlist: at once, 200 writes acknowledged; killed 9 times"), "{page}");
        assert!(page.contains("because they have no command line: Shrimp.\n"), "{page}");
    }

    #[test]
    fn a_row_that_another_tool_leads_says_by_how_much() {
        let mut row = row(&[Some(2.0), Some(1.0), None]);
        row.figures[0].tool = "Punchlist".into();
        assert_eq!(behind_by(&row), "work: x 1.0 ms, Punchlist 2.0 ms");
        row.what = "add a todo with a dependency, 100 todos".into();
        assert!(behind_by(&row).contains("Punchlist 2.0 ms; Punchlist checks for cycles"), "{}", behind_by(&row));
    }

    #[test]
    fn the_page_is_linked_once_from_where_readers_look() {
        for (file, after, link) in LINKS {
            let text = fs::read_to_string(process::root().join(file)).unwrap_or_else(|cause| panic!("{cause}"));
            let once = linked(&text, after, link).unwrap_or_else(|| panic!("{file} has no line with {after}"));
            assert_eq!(once.matches(link).count(), 1);
            assert_eq!(linked(&once, after, link), Some(once.clone()));
        }
        assert_eq!(linked("a\nb\n", "b", "c"), Some("a\nb\nc\n".to_owned()));
        assert_eq!(linked("a\n", "b", "c"), None);
    }

    #[test]
    fn numbers_are_easy_to_read() {
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(figure(2.345, Unit::Cpu), "2.3 ms");
        assert_eq!(figure(6_049.7, Unit::Wall), "6,050 ms");
        assert_eq!(figure(740.0, Unit::Tokens), "740");
    }
}
