//! The inbox as lines: one per item, with the command to type below it if the reader is the user.

use super::cap::{CappedLines, LineEnd};
use super::{Cap, Plain, SpanRole, ViewLine};
use crate::inbox::InboxItem;

/// An item for programs, as `punch inbox --json` prints it.
pub fn record(item: &InboxItem) -> serde_json::Value {
    serde_json::json!({
        "kind": item.kind.name(),
        "todo": item.todo,
        "text": item.text,
        "since": item.since,
        "blocks": item.blocks,
        "action": item.action,
    })
}

/// What an empty inbox reads as.
pub const EMPTY: &str = "Nothing needs you.";

/// The width of the longest kind, and a gap.
const KIND: usize = 10;

/// The inbox for the user: every item with the command to type.
pub fn full(items: &[InboxItem]) -> Vec<ViewLine> {
    if items.is_empty() {
        return vec![EMPTY.into()];
    }
    let indent = || ViewLine::default().with(SpanRole::Text, " ".repeat(KIND));
    let action = |item: &InboxItem| indent().with(SpanRole::Command, item.action.as_str());
    items.iter().flat_map(|item| [line(item), action(item)]).collect()
}

/// The inbox for a model: without commands, which are for the user, and within a size limit.
pub fn capped(items: &[InboxItem], cap: Cap) -> String {
    if items.is_empty() {
        return "Nothing needs the user.".to_owned();
    }
    let mut page = CappedLines::new(cap, String::new());
    for (at, item) in items.iter().enumerate() {
        let then = if at + 1 < items.len() { LineEnd::More } else { LineEnd::End };
        if !page.line(line(item), then) {
            return page.end(items.len() - at);
        }
    }
    page.end(0)
}

/// How many things need the user, for a line among others.
pub fn count(items: usize) -> String {
    match items {
        0 => EMPTY.to_owned(),
        1 => "1 thing needs you: `punch inbox`".to_owned(),
        more => format!("{more} things need you: `punch inbox`"),
    }
}

fn line(item: &InboxItem) -> ViewLine {
    let mut line = ViewLine::default().with(SpanRole::Heading, format!("{:KIND$}", item.kind.name()));
    if let Some(id) = &item.todo {
        line = line.id(&Plain::id(id)).with(SpanRole::Text, "  ");
    }
    let blocks = match item.blocks {
        0 => String::new(),
        1 => " (blocks 1 open todo)".to_owned(),
        more => format!(" (blocks {more} open todos)"),
    };
    line.with(SpanRole::Text, item.text.as_str()).with(SpanRole::Detail, blocks)
}
