//! Cursor's plan file: YAML front matter with `name`, `overview` and `todos`, Markdown below. Newer ones group their
//! todos in `phases`. Name, overview and the text below describe the plan, not a todo: an import leaves them out.

use std::collections::BTreeSet;

use serde_json::Value;

use super::build::DocumentBuilder;
use super::{Format, extra, yaml};
use crate::plan_file::{column, tree};
use crate::{Document, ParsedDocument, Record, Refusal, Status};

/// The front matter of a text, and what follows it.
pub(crate) fn front_matter(text: &str) -> Option<(&str, &str)> {
    let (first, rest) = text.split_once('\n')?;
    if first.trim_end() != "---" {
        return None;
    }
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if matches!(line.trim_end(), "---" | "...") {
            return Some((&rest[..at], &rest[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

/// Reads a plan file.
pub(super) fn read(text: &str) -> Result<ParsedDocument, Refusal> {
    let mut build = DocumentBuilder::new(Format::CursorPlan);
    let Some((front, body)) = front_matter(text) else {
        build.error("line 1", "no front matter; a plan file begins with `---`, YAML with `todos`, and `---`");
        return build.finish();
    };
    let value = match yaml::read(front) {
        Ok(value) => value,
        Err(((line, column), what)) => {
            build.error(&format!("line {}, column {column}", line + 1), &what);
            return build.finish();
        }
    };
    let tree = tree::read(front);
    let place = |path: &str| {
        let at = tree.as_ref()?.find(path)?.start;
        let above = front[..at].matches('\n').count();
        Some(format!("line {}, column {}", above + 2, column(front, at) + 1))
    };
    let Some(mut plan) = build.item(value, "line 2, column 1") else { return build.finish() };
    for todo in plan.list("todos").into_iter().enumerate() {
        read_todo(&mut build, todo, "todos", None);
    }
    for (n, phase) in plan.list("phases").into_iter().enumerate() {
        let at = format!("phases[{n}]");
        let Some(mut phase) = build.item(phase, &at) else { continue };
        let name = phase.unquoted(&["name", "title"]);
        let index = build.document.phases.len();
        build.document.phases.push(name);
        for todo in phase.list("todos").into_iter().enumerate() {
            read_todo(&mut build, todo, &format!("{at}.todos"), Some(index as u64));
        }
        let (_, rest, errors) = phase.finish();
        errors.into_iter().for_each(|(key, what)| build.error(&format!("{at}.{key}"), &what));
        rest.keys().for_each(|key| build.ignore(&format!("{at}.{key}")));
    }
    let (_, rest, errors) = plan.finish();
    errors.into_iter().for_each(|(key, what)| build.error(&key, &what));
    rest.iter().filter(|(_, value)| !value.is_null()).for_each(|(key, _)| build.ignore(key));
    if !body.trim().is_empty() {
        build.ignore("the text below the front matter");
    }
    build.locate(place);
    build.finish()
}

fn read_todo(build: &mut DocumentBuilder, (n, value): (usize, Value), list: &str, phase_index: Option<u64>) {
    let Some(mut item) = build.item(value, &format!("{list}[{n}]")) else { return };
    let standing = item.status("status", &[]);
    let record = Record {
        id: item.filled("id"),
        content: item.unquoted(&["content"]),
        status: standing.state,
        hold: standing.hold,
        depends_on: item.ids("dependencies"),
        phase_index,
        ..Record::default()
    };
    build.push(record, item);
}

/// Writes a plan file: the list in front matter, nothing below. Phases are written if all todos have one.
pub(super) fn write(document: &Document, lost: &mut BTreeSet<String>) -> String {
    let place = document.phase_places();
    let grouped = !document.records.is_empty() && document.records.iter().all(|record| place(record).is_some());
    let mut out = String::from("---\nname: Plan\noverview: \"\"\n");
    if !grouped {
        if document.records.iter().any(|record| record.phase.is_some()) {
            lost.insert("phase".to_owned());
        }
        out.push_str(if document.records.is_empty() { "todos: []\n" } else { "todos:\n" });
        document.records.iter().for_each(|record| todo(&mut out, record, "  ", lost));
    } else {
        let order: Vec<Option<usize>> = document.records.iter().map(&place).collect();
        if !order.is_sorted() {
            lost.insert("order".to_owned());
        }
        out.push_str("todos: []\nphases:\n");
        for (phase, name) in document.phases.iter().enumerate() {
            out.push_str(&format!("  - name: {}\n    todos:", yaml::quoted(name)));
            let mut todos = document.records.iter().filter(|record| place(record) == Some(phase)).peekable();
            out.push_str(if todos.peek().is_none() { " []\n" } else { "\n" });
            todos.for_each(|record| todo(&mut out, record, "      ", lost));
        }
    }
    out.push_str("---\n");
    out
}

fn todo(out: &mut String, record: &Record, indent: &str, lost: &mut BTreeSet<String>) {
    // The first line of an item carries its dash.
    let start = out.len() + indent.len();
    let mut put = |key: &str, value: &str| out.push_str(&format!("{indent}  {key}: {value}\n"));
    put("id", &yaml::quoted(record.id.as_deref().unwrap_or_default()));
    put("content", &yaml::quoted(&record.content));
    put("status", four(record.status.stored(), lost));
    if !record.depends_on.is_empty() {
        put("dependencies", &yaml::flow(&record.depends_on.as_slice().into()));
    }
    for (key, value) in extra::of(record, Format::CursorPlan.name()).into_iter().flatten() {
        put(&yaml::quoted(key), &yaml::flow(value));
    }
    out.replace_range(start..start + 1, "-");
}

/// The word of formats that have four statuses.
pub(crate) fn four(status: Status, lost: &mut BTreeSet<String>) -> &'static str {
    match status {
        Status::Failed => {
            lost.insert("status failed (written as cancelled)".to_owned());
            Status::Cancelled.name()
        }
        other => other.name(),
    }
}
