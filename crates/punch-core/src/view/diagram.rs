//! The graph for other programs: DOT (Graphviz) and Mermaid, whole. Nodes are named by number and every text is
//! escaped, so that no content can end a label or become syntax.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;

use crate::reason::PlanReader;
use crate::{Dep, Plan, ShownStatus, Todo, Uid, text};

/// How much of a content stands in a node, in characters.
const LABEL: usize = 80;

/// The class and the color of a node.
const STYLES: [(&str, &str); 5] =
    [("ready", "#d9ecff"), ("blocked", "#eeeeee"), ("running", "#fff2b3"), ("done", "#d9f2d9"), ("dropped", "#f6d5d5")];

const fn style(status: ShownStatus) -> (&'static str, &'static str) {
    STYLES[match status {
        ShownStatus::Ready => 0,
        ShownStatus::Waiting | ShownStatus::Stuck | ShownStatus::Held | ShownStatus::Parked | ShownStatus::Empty => 1,
        ShownStatus::InProgress | ShownStatus::Stalled | ShownStatus::Reported => 2,
        ShownStatus::Completed => 3,
        ShownStatus::Cancelled | ShownStatus::Failed | ShownStatus::Archived => 4,
    }]
}

/// One arrow: from what must be done first to what waits for it.
enum Arrow<'a> {
    Active(Uid, Uid),
    Cycle(Uid, Uid),
    Missing(&'a str, Uid),
}

fn arrows<'a>(todos: &[&'a Todo]) -> Vec<Arrow<'a>> {
    let shown: HashSet<Uid> = todos.iter().map(|t| t.uid).collect();
    let mut out = Vec::new();
    for todo in todos {
        for dep in &todo.depends_on {
            match dep {
                Dep::On(to) if shown.contains(to) => out.push(Arrow::Active(*to, todo.uid)),
                Dep::Suspended(to) if shown.contains(to) => out.push(Arrow::Cycle(*to, todo.uid)),
                Dep::On(_) | Dep::Suspended(_) => {}
                Dep::Dangling(id) => out.push(Arrow::Missing(id, todo.uid)),
            }
        }
    }
    out
}

/// Unknown ids, numbered.
fn missing<'a>(arrows: &[Arrow<'a>]) -> BTreeMap<&'a str, usize> {
    let ids: std::collections::BTreeSet<&str> =
        arrows.iter().filter_map(|a| if let Arrow::Missing(id, _) = a { Some(*id) } else { None }).collect();
    ids.into_iter().zip(1..).collect()
}

/// These todos of the plan for Graphviz.
pub fn dot(plan: &Plan, todos: &[&Todo], now: i64) -> String {
    let mut out = String::from(
        "digraph plan {\n  rankdir=LR;\n  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\"];\n",
    );
    for todo in todos {
        let (_, color) = style(PlanReader::new(plan, now).shown(todo));
        let (id, content) = (dot_text(&todo.id), dot_text(&todo.content));
        let _ = writeln!(out, "  n{} [label=\"{id}\\n{content}\", fillcolor=\"{color}\"];", todo.uid.0);
    }
    let arrows = arrows(todos);
    let missing = missing(&arrows);
    for (id, n) in &missing {
        let _ = writeln!(out, "  m{n} [label=\"{}\\n(missing)\", style=dashed];", dot_text(id));
    }
    for arrow in &arrows {
        let _ = match arrow {
            Arrow::Active(from, to) => writeln!(out, "  n{} -> n{};", from.0, to.0),
            Arrow::Cycle(from, to) => writeln!(out, "  n{} -> n{} [style=dashed, color=red];", from.0, to.0),
            Arrow::Missing(id, to) => {
                writeln!(out, "  m{} -> n{} [style=dashed];", missing.get(id).copied().unwrap_or(0), to.0)
            }
        };
    }
    out.push_str("}\n");
    out
}

/// These todos of the plan for Mermaid.
pub fn mermaid(plan: &Plan, todos: &[&Todo], now: i64) -> String {
    let mut out = String::from("flowchart LR\n");
    for (name, color) in STYLES {
        let _ = writeln!(out, "  classDef {name} fill:{color},stroke:#666,color:#000");
    }
    for todo in todos {
        let (class, _) = style(PlanReader::new(plan, now).shown(todo));
        let (id, content) = (mermaid_text(&todo.id), mermaid_text(&todo.content));
        let _ = writeln!(out, "  n{}[\"{id}: {content}\"]:::{class}", todo.uid.0);
    }
    let arrows = arrows(todos);
    let missing = missing(&arrows);
    for (id, n) in &missing {
        let _ = writeln!(out, "  m{n}[\"{} (missing)\"]", mermaid_text(id));
    }
    for arrow in &arrows {
        let _ = match arrow {
            Arrow::Active(from, to) => writeln!(out, "  n{} --> n{}", from.0, to.0),
            Arrow::Cycle(from, to) => writeln!(out, "  n{} -. cycle .-> n{}", from.0, to.0),
            Arrow::Missing(id, to) => writeln!(out, "  m{} -.-> n{}", missing.get(id).copied().unwrap_or(0), to.0),
        };
    }
    out
}

/// Inside a quoted string of DOT a backslash begins an escape, and an ampersand an entity.
fn dot_text(raw: &str) -> String {
    let mut out = String::new();
    for c in text::neutral(&text::clip(raw, LABEL)).chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '&' => out.push_str("&amp;"),
            c => out.push(c),
        }
    }
    out
}

/// Mermaid writes what could be syntax, Markdown or HTML as `#number;`.
fn mermaid_text(raw: &str) -> String {
    let mut out = String::new();
    for c in text::neutral(&text::clip(raw, LABEL)).chars() {
        if c.is_ascii_punctuation() && !matches!(c, '-' | '.' | ',' | ':' | '/' | '(' | ')' | '\'' | '!' | '?') {
            let _ = write!(out, "#{};", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}
