//! The inbox as lines: one for each item, and the command to type below it where the reader is the user.

use super::cap::{Page, Then};
use super::{Cap, Line, Plain, Role};
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
pub fn full(items: &[InboxItem]) -> Vec<Line> {
    if items.is_empty() {
        return vec![EMPTY.into()];
    }
    let indent = || Line::default().with(Role::Text, " ".repeat(KIND));
    let action = |item: &InboxItem| indent().with(Role::Command, item.action.as_str());
    items.iter().flat_map(|item| [line(item), action(item)]).collect()
}

/// The inbox for a model: without commands, which are for the user, and within a size limit.
pub fn capped(items: &[InboxItem], cap: Cap) -> String {
    if items.is_empty() {
        return "Nothing needs the user.".to_owned();
    }
    let mut page = Page::new(cap, String::new());
    for (at, item) in items.iter().enumerate() {
        let then = if at + 1 < items.len() { Then::More } else { Then::End };
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

fn line(item: &InboxItem) -> Line {
    let mut line = Line::default().with(Role::Heading, format!("{:KIND$}", item.kind.name()));
    if let Some(id) = &item.todo {
        line = line.id(&Plain::id(id)).with(Role::Text, "  ");
    }
    let blocks = match item.blocks {
        0 => String::new(),
        1 => " (blocks 1 open todo)".to_owned(),
        more => format!(" (blocks {more} open todos)"),
    };
    line.with(Role::Text, item.text.as_str()).with(Role::Detail, blocks)
}
