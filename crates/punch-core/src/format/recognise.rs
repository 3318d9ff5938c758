//! Recognizes the format of a text by its content. The file name decides only where the content is ambiguous.

use super::peek::{ValueShape, peek};
use super::{Format, outline, plan_file, spec};

/// The format of a text. Never fails: what is not recognized is for the native formats to refuse, with a place.
pub fn recognise(text: &str, file: Option<&str>) -> Format {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let file = file.map(str::to_ascii_lowercase).unwrap_or_default();
    let markdown = file.ends_with(".md") || file.ends_with(".markdown");
    let is_named_json = file.ends_with(".json") || file.ends_with(".jsonl");
    if text.trim_start().starts_with(['{', '[']) || (is_named_json && !text.trim().is_empty()) {
        let shape = peek(text).or_else(|| peek(text.lines().find(|line| !line.trim().is_empty())?));
        match shape {
            Some(shape) => return json(&shape),
            // A list of Markdown may begin with a link.
            None if !markdown => return broken(&file),
            None => {}
        }
    }
    in_markdown(text, &file)
}

/// JSON that cannot be read: its reader shall say why.
fn broken(file: &str) -> Format {
    let named = Format::all().find(|format| {
        let endings = format.spec().files.iter().filter(|ending| !ending.starts_with('.'));
        endings.into_iter().any(|ending| file.ends_with(ending))
    });
    named.unwrap_or(Format::Extended)
}

fn json(shape: &ValueShape) -> Format {
    match shape {
        ValueShape::List(items) => list(items),
        ValueShape::Map(_) => object(shape),
        ValueShape::Text(_) | ValueShape::Other => Format::Extended,
    }
}

fn object(shape: &ValueShape) -> Format {
    let list_of = |key: &str, inside: &str| shape.list(key).is_some_and(|items| items.iter().any(|i| i.has(inside)));
    if list_of("plan", "step") || shape.list("plan").is_some_and(<[ValueShape]>::is_empty) {
        return Format::Codex;
    }
    for key in ["todos", "finalTodos", "final_todos"] {
        match shape.list(key) {
            // Only our own has phases as names next to its todos.
            Some(_) if shape.has("schema") || shape.has("phases") => return Format::Extended,
            Some(items) => return list(items),
            None => {}
        }
    }
    if shape.list("tasks").is_some() || shape.values().any(|tag| tag.list("tasks").is_some()) {
        return Format::TaskMaster;
    }
    if shape.has("subject") || shape.values().any(|file| file.has("subject")) {
        return Format::ClaudeTasks;
    }
    match shape.get("type").and_then(ValueShape::text) {
        Some("session" | "message" | "custom") => return Format::PhasesSession,
        Some(_) if !shape.has("title") => return Format::Codex,
        _ => {}
    }
    list(std::slice::from_ref(shape))
}

/// Recognizes a list by the keys of its items.
fn list(items: &[ValueShape]) -> Format {
    let any = |key: &str| items.iter().any(|item| item.has(key));
    let text = |key: &str| items.iter().filter_map(|item| item.get(key)?.text()).next();
    let only = |known: &[&str]| items.iter().all(|item| item.keys().all(|key| known.contains(&key)));
    if any("step") && !any("content") {
        Format::Codex
    } else if any("subject") {
        Format::ClaudeTasks
    } else if any("uuid") && any("description") {
        Format::Taskwarrior
    } else if any("issue_type") || (any("title") && (any("created_at") || any("depends_on_id"))) {
        Format::Beads
    } else if text("status").is_some_and(|status| status.starts_with("TODO_STATUS_")) || text("createdAt").is_some() {
        Format::CursorAgent
    } else if any("content") && text("priority").is_some() {
        Format::OpenCode
    } else if any("content") && any("dependencies") && !any("dependsOn") {
        Format::CursorTodos
    } else if (any("activeForm") && only(&["content", "status", "activeForm"])) || (any("content") && any("blockedBy"))
    {
        Format::TodoWrite
    } else {
        Format::Extended
    }
}

fn in_markdown(text: &str, file: &str) -> Format {
    let front = plan_file::front_matter(text).map(|(front, _)| front);
    let keyed = |key: &str| front.is_some_and(|front| front.lines().any(|line| line.starts_with(key)));
    if keyed("todos:") || keyed("\"todos\":") || file.ends_with(".plan.md") {
        return Format::CursorPlan;
    }
    if text.contains("<!-- punch ") {
        return Format::Markdown;
    }
    let outline = outline::read(text);
    let labelled = spec::labelled(&outline);
    if labelled > 0 && (labelled * 2 >= outline.entries.len() || file.ends_with("tasks.md")) {
        return Format::Spec;
    }
    let nested = outline.entries.iter().any(|entry| entry.parent.is_some());
    let unboxed = !outline.entries.is_empty() && !outline.boxed();
    // What our own Markdown reads alike is left to it.
    if nested || unboxed || outline.fences > 0 || front.is_some() { Format::Checklist } else { Format::Markdown }
}
