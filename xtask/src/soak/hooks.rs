//! Writers that are agents with lists of their own: each change of the list is reported by a hook and mirrored into the
//! plan.

use std::io::Write;
use std::process::Stdio;
use std::time::Instant;

use serde_json::{Value, json};

use super::journal::JournalEntry;
use super::soak_plan;
use super::writer::Writer;

/// Of a hundred hooks, how many are followed by a damaged one.
const DAMAGED: u64 = 8;

/// Items of one list.
const ITEMS: usize = 8;

/// Changes of one list, until the next conversation begins.
const CHANGES: u64 = 25;

/// Reports lists until the end: items come, advance, go back and leave.
pub fn mirrors(writer: &mut Writer<'_>) -> Result<(), String> {
    let mut conversation = 0;
    while writer.goes_on() {
        conversation += 1;
        let session = format!("{}-{conversation}", writer.label);
        let mut items: Vec<(String, &str)> = Vec::new();
        let mut all = Vec::new();
        for change in 0..CHANGES {
            if !writer.goes_on() {
                break;
            }
            change_list(writer, &mut items, &mut all);
            let report = report(&session, change, &items).to_string();
            hook(writer, report.as_bytes())?;
            if writer.random.percent(DAMAGED) {
                damaged(writer, change)?;
            }
        }
        writer.shared.journal.add(JournalEntry::Listed { contents: all });
    }
    Ok(())
}

fn change_list(writer: &mut Writer<'_>, items: &mut Vec<(String, &'static str)>, all: &mut Vec<String>) {
    let at = usize::try_from(writer.random.below(items.len() as u64)).unwrap_or(0);
    match writer.random.below(10) {
        0..4 if items.len() < ITEMS => {
            let contents = writer.contents(1);
            all.extend(contents.clone());
            items.extend(contents.into_iter().map(|content| (content, "pending")));
        }
        4 if !items.is_empty() => {
            items.remove(at);
        }
        // One that someone else may have claimed goes back: it must not be taken from them.
        choice => {
            if let Some(item) = items.get_mut(at) {
                item.1 = match choice {
                    5..7 => "in_progress",
                    7..9 => "completed",
                    _ => "pending",
                };
            }
        }
    }
}

/// A report that was damaged on its way: whatever it says now, the hook ends well.
fn damaged(writer: &mut Writer<'_>, change: u64) -> Result<(), String> {
    // A list of its own, with contents that no one else has even when they are damaged.
    let session = format!("odd-{}", writer.label);
    let items = [("odd one".to_owned(), "pending"), ("odd two".to_owned(), "completed")];
    let mut report = report(&session, change, &items).to_string().into_bytes();
    for _ in 0..=writer.random.below(3) {
        let at = usize::try_from(writer.random.below(report.len() as u64)).unwrap_or(0);
        match writer.random.below(3) {
            0 => report.truncate(at),
            1 => drop(report.splice(at..(at + 1).min(report.len()), [])),
            _ => report.insert(at, u8::try_from(writer.random.below(256)).unwrap_or(0)),
        }
    }
    hook(writer, &report)
}

fn report(session: &str, change: u64, items: &[(String, &str)]) -> Value {
    let todos: Vec<Value> = items
        .iter()
        .map(|(content, status)| json!({"content": content, "status": status, "activeForm": content}))
        .collect();
    json!({"session_id": session, "hook_event_name": "PostToolUse", "tool_name": "TodoWrite",
        "tool_use_id": format!("{session}-{change}"), "tool_input": {"todos": todos}, "tool_response": {}})
}

fn hook(writer: &mut Writer<'_>, report: &[u8]) -> Result<(), String> {
    let mut command = writer.command(&["hook", "--agent", "claude", "PostToolUse"]);
    let asked = Instant::now();
    let child = command.stdin(Stdio::piped()).spawn();
    let mut child = child.map_err(|cause| format!("cannot start punch hook: {cause}"))?;
    if let Some(mut stdin) = child.stdin.take() {
        // One that is killed reads no more.
        let _ = stdin.write_all(report);
    }
    let fate = writer.shared.place.fate(&mut writer.random);
    let ended = soak_plan::end(child, asked, fate)?;
    writer.shared.journal.count(ended.code.is_none());
    match ended.code {
        None | Some(0) => Ok(()),
        Some(code) => Err(format!("{}: a hook ended with exit code {code}: {}", writer.label, ended.complaint)),
    }
}
