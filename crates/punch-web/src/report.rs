//! A plan as one HTML file for a pull request or a report: figures, todos by phase, graph and history. It needs no server, no
//! network and no script; every text is escaped in one place.

use std::fmt::Write as _;

use punch_core::reason::PlanReader;
use punch_core::time::utc;
use punch_core::view::{BoardRow, GraphLayout, HistoryRow, Plain, Progress};
use punch_core::{Plan, ShownStatus, Todo};

use crate::markdown::{self, Inline, MarkdownBlock};

/// Todos that the graph shows.
const NODES: usize = 300;

/// The size of a box of the graph, and the room between two of them, in pixels.
const WIDE: usize = 210;
const HIGH: usize = 34;
const GAP: usize = 60;
const SPACE: usize = 12;

/// Looks of the page. It has no other way to load any.
const STYLE: &str = include_str!("report.css");

/// What a report is made of.
pub struct PlanReport<'a> {
    /// The name of the plan.
    pub name: &'a str,
    /// The whole plan.
    pub plan: &'a Plan,
    /// The last revisions, newest first.
    pub history: &'a [HistoryRow],
    /// The time.
    pub now: i64,
}

impl PlanReport<'_> {
    /// The whole file.
    pub fn html(&self) -> String {
        let (plan, name) = (self.plan, Plain::text(self.name));
        let progress = Progress::of_counts(&plan.row.counts);
        let mut out = String::new();
        out.push_str("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        out.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
        out.push_str(
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n",
        );
        let title = escaped(name.as_str());
        let _ = writeln!(out, "<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>");
        let _ = writeln!(out, "<h1>{title}</h1>");
        let _ = writeln!(
            out,
            "<p>{} of {} done ({} %), revision {}, {}</p>",
            progress.completed,
            progress.total,
            progress.percent(),
            plan.row.revision,
            utc(self.now)
        );
        let _ = writeln!(out, "<progress max=\"100\" value=\"{}\"></progress>", progress.percent());
        self.todos(&mut out);
        self.graph(&mut out);
        self.revisions(&mut out);
        out.push_str("</body>\n</html>\n");
        out
    }

    fn todos(&self, out: &mut String) {
        let reader = PlanReader::new(self.plan, self.now);
        let live = self.plan.live();
        if live.is_empty() {
            out.push_str("<p>No todos.</p>\n");
            return;
        }
        let phases = self.plan.row.phases.iter().map(|phase| (Some(phase.uid), Some(&phase.name)));
        for (uid, name) in std::iter::once((None, None)).chain(phases) {
            let todos: Vec<&&Todo> = live.iter().filter(|todo| todo.phase == uid).collect();
            if todos.is_empty() {
                continue;
            }
            let heading = name.map_or_else(|| "Todos".to_owned(), |name| Plain::text(name).to_string());
            let _ = writeln!(out, "<h2>{}</h2>\n<ul class=\"todos\">", escaped(&heading));
            for todo in todos {
                item(out, &BoardRow::of(reader, todo), todo);
            }
            out.push_str("</ul>\n");
        }
    }

    fn graph(&self, out: &mut String) {
        let todos: Vec<&Todo> = self.plan.live().into_iter().take(NODES).collect();
        let has_edges = todos.iter().any(|todo| !todo.depends_on.is_empty());
        if !has_edges {
            return;
        }
        let layout = GraphLayout::of(PlanReader::new(self.plan, self.now), &todos);
        let at = |layer: usize, order: usize| (10 + layer * (WIDE + GAP), 10 + order * (HIGH + SPACE));
        let places: std::collections::HashMap<_, _> =
            layout.nodes.iter().map(|node| (node.row.uid, at(node.layer, node.order))).collect();
        let width = places.values().map(|place| place.0).max().unwrap_or(0) + WIDE + 10;
        let height = places.values().map(|place| place.1).max().unwrap_or(0) + HIGH + 10;
        out.push_str("<h2>Graph</h2>\n<div class=\"graph\">\n");
        let _ =
            writeln!(out, "<svg role=\"img\" aria-label=\"dependency graph\" width=\"{width}\" height=\"{height}\">");
        for node in &layout.nodes {
            let Some((x, y)) = places.get(&node.row.uid) else { continue };
            for (from_x, from_y) in node.edges.iter().filter_map(|edge| places.get(&edge.uid?)) {
                let (start_x, start_y, end_y) = (from_x + WIDE, from_y + HIGH / 2, y + HIGH / 2);
                let middle = (start_x + x) / 2;
                let _ = writeln!(
                    out,
                    "<path d=\"M{start_x} {start_y} C{middle} {start_y} {middle} {end_y} {x} {end_y}\"/>"
                );
            }
        }
        for node in &layout.nodes {
            let Some((x, y)) = places.get(&node.row.uid) else { continue };
            let text = punch_core::text::clip(node.row.text.as_str(), 22);
            let _ = writeln!(
                out,
                "<g class=\"{}\"><title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{WIDE}\" height=\"{HIGH}\" rx=\"4\"/><text x=\"{}\" y=\"{}\">{} {}</text></g>",
                node.row.status.name(),
                escaped(&format!("{} {}: {}", node.row.id, node.row.status.word(), node.row.text)),
                x + 8,
                y + 22,
                escaped(node.row.id.as_str()),
                escaped(&text)
            );
        }
        out.push_str("</svg>\n</div>\n");
        let left = self.plan.live().len().saturating_sub(NODES);
        if left > 0 {
            let are = if left == 1 { "todo is" } else { "todos are" };
            let _ = writeln!(out, "<p>{left} more {are} not in the graph.</p>");
        }
    }

    fn revisions(&self, out: &mut String) {
        if self.history.is_empty() {
            return;
        }
        out.push_str("<h2>History</h2>\n<table>\n");
        for row in self.history {
            let undone = row.undone_by.map(|by| format!(" (undone by {by})")).unwrap_or_default();
            let _ = writeln!(
                out,
                "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}{}</td></tr>",
                row.revision,
                utc(row.at),
                escaped(row.by.as_str()),
                escaped(row.changes.as_str()),
                undone
            );
        }
        out.push_str("</table>\n");
    }
}

fn item(out: &mut String, row: &BoardRow, todo: &Todo) {
    let _ = write!(
        out,
        "<li class=\"{}\"><span class=\"sign\" title=\"{}\">{}</span> <b>{}</b> {}",
        row.status.name(),
        row.status.word(),
        row.status.sign(),
        escaped(row.id.as_str()),
        escaped(row.text.as_str())
    );
    let mut marks: Vec<String> = vec![row.status.word().to_owned()];
    marks.extend(row.priority.map(|priority| format!("P{priority}")));
    marks.extend(row.labels.iter().map(|label| format!("#{label}")));
    marks.extend(row.owner.iter().map(|owner| format!("@{owner}")));
    marks.extend(row.why.iter().map(Plain::to_string));
    if row.status != ShownStatus::Ready || marks.len() > 1 {
        let _ = write!(out, " <small>{}</small>", escaped(&marks.join(" · ")));
    }
    if let Some(text) = todo.description.as_deref().filter(|text| !text.trim().is_empty()) {
        out.push_str("<details><summary>Description</summary>");
        blocks(out, &markdown::blocks(text));
        out.push_str("</details>");
    }
    out.push_str("</li>\n");
}

/// Blocks of Markdown; they are never deep.
fn blocks(out: &mut String, all: &[MarkdownBlock]) {
    for block in all {
        match block {
            MarkdownBlock::Paragraph { text } => wrapped(out, "p", text),
            // The page has headings of its own above.
            MarkdownBlock::Heading { text, .. } => wrapped(out, "h4", text),
            MarkdownBlock::Code { code, .. } => {
                let _ = write!(out, "<pre><code>{}</code></pre>", escaped(code));
            }
            MarkdownBlock::Quote { blocks: inner } => {
                out.push_str("<blockquote>");
                blocks(out, inner);
                out.push_str("</blockquote>");
            }
            MarkdownBlock::List { start, items } => {
                let _ = match start {
                    Some(start) => write!(out, "<ol start=\"{start}\">"),
                    None => write!(out, "<ul>"),
                };
                for item in items {
                    out.push_str("<li>");
                    out.push_str(match item.done {
                        Some(true) => "☑ ",
                        Some(false) => "☐ ",
                        None => "",
                    });
                    blocks(out, &item.blocks);
                    out.push_str("</li>");
                }
                out.push_str(if start.is_some() { "</ol>" } else { "</ul>" });
            }
            MarkdownBlock::Rule => out.push_str("<hr>"),
            MarkdownBlock::Table { head, rows } => {
                out.push_str("<table>");
                for (cell, row) in std::iter::once(("th", head)).chain(rows.iter().map(|row| ("td", row))) {
                    out.push_str("<tr>");
                    row.iter().for_each(|text| wrapped(out, cell, text));
                    out.push_str("</tr>");
                }
                out.push_str("</table>");
            }
        }
    }
}

fn wrapped(out: &mut String, tag: &str, text: &[Inline]) {
    let _ = write!(out, "<{tag}>");
    inlines(out, text);
    let _ = write!(out, "</{tag}>");
}

fn inlines(out: &mut String, all: &[Inline]) {
    for inline in all {
        match inline {
            Inline::Text { text } => out.push_str(&escaped(text)),
            Inline::Code { text } => {
                let _ = write!(out, "<code>{}</code>", escaped(text));
            }
            Inline::Em { text } => wrapped(out, "em", text),
            Inline::Strong { text } => wrapped(out, "strong", text),
            Inline::Del { text } => wrapped(out, "del", text),
            Inline::Link { href, text } => {
                let _ = write!(out, "<a href=\"{}\" rel=\"noopener noreferrer\">", escaped(href));
                inlines(out, text);
                out.push_str("</a>");
            }
            Inline::Break => out.push_str("<br>"),
        }
    }
}

/// Text in HTML, also inside an attribute.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
