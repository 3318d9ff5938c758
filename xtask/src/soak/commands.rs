//! Writers on the command line: an agent that works on todos, one that undoes, and one that imports.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::LEASE;
use super::check::USER;
use super::journal::{JournalEntry, RevisionMark};
use super::writer::Writer;

/// Adds, claims, completes and disturbs todos, its own and those of others.
pub fn works(writer: &mut Writer<'_>) -> Result<(), String> {
    while writer.goes_on() {
        match writer.random.below(100) {
            0..30 => add(writer)?,
            30..60 => claim(writer)?,
            60..70 => {
                let id = writer.id();
                done(writer, id, None)?;
            }
            choice => {
                let id = writer.id();
                let arguments = match choice {
                    70..75 => vec!["reopen", &id],
                    75..80 => vec!["edit", &id, "--priority", "2"],
                    80..85 => vec!["note", &id, "seen"],
                    85..88 => vec!["hold", &id, "waiting"],
                    88..91 => vec!["release", &id],
                    91..93 => vec!["drop", &id],
                    93..95 => vec!["rm", &id],
                    95..97 => vec!["start", &id],
                    _ => vec!["list", "--all"],
                };
                let command = command(writer, &arguments);
                writer.act(command)?;
            }
        }
    }
    Ok(())
}

/// Undoes and redoes, its own changes and those of others; adds todos to have something to undo.
pub fn undoes(writer: &mut Writer<'_>) -> Result<(), String> {
    while writer.goes_on() {
        let choice = writer.random.below(100);
        if choice < 30 {
            add(writer)?;
            continue;
        }
        let named = (writer.random.below(40) + 1).to_string();
        let (arguments, own) = match choice {
            30..60 => (vec!["undo"], true),
            60..70 => (vec!["undo", "--any"], false),
            70..80 => (vec!["undo", &named], false),
            _ => (vec!["redo"], true),
        };
        let command = command(writer, &arguments);
        let ended = writer.act(command)?;
        let Some(answer) = ended.answer else { continue };
        let change = answer["undone"].as_u64().or_else(|| answer["redone"].as_u64());
        let target = answer["undoRevision"].as_u64().or(change);
        if let (Some(target), Some(revision)) = (target, answer["revision"].as_u64()) {
            let by = writer.name.clone();
            writer.shared.journal.add(JournalEntry::Undo { by, target, revision, own });
            writer.ordered(RevisionMark::Revision(revision), (ended.asked, ended.answered));
        }
    }
    Ok(())
}

/// Imports files with several todos.
pub fn imports(writer: &mut Writer<'_>) -> Result<(), String> {
    let file = writer.shared.place.folder.join(format!("import-{}.json", writer.label));
    while writer.goes_on() {
        let contents = writer.contents(6);
        let todos: Vec<Value> = contents
            .iter()
            .map(|content| json!({"content": content, "status": "pending", "activeForm": content}))
            .collect();
        fs::write(&file, json!({"todos": todos}).to_string()).map_err(|cause| cause.to_string())?;
        let file = file.display().to_string();
        let command = command(writer, &["import", &file, "--format", "todowrite"]);
        let ended = writer.act(command)?;
        writer.added(contents, ended.outcome, (ended.asked, ended.answered));
    }
    Ok(())
}

/// Reports tokens for the one todo of its plan.
pub fn spends(writer: &mut Writer<'_>) -> Result<(), String> {
    while writer.goes_on() {
        let tokens = writer.random.below(1_000) + 1;
        let command = command(writer, &["usage", "T-1", "--attempt", "1", "--tokens", &tokens.to_string()]);
        let ended = writer.act(command)?;
        writer.shared.journal.add(JournalEntry::Spent { tokens, outcome: ended.outcome });
    }
    Ok(())
}

fn add(writer: &mut Writer<'_>) -> Result<(), String> {
    let contents = writer.contents(3);
    let mut arguments = vec!["add"];
    arguments.extend(contents.iter().map(String::as_str));
    let command = command(writer, &arguments);
    let ended = writer.act(command)?;
    writer.added(contents, ended.outcome, (ended.asked, ended.answered));
    Ok(())
}

/// Claims what is best and mostly completes it with its fence.
fn claim(writer: &mut Writer<'_>) -> Result<(), String> {
    let lease = format!("{LEASE}ms");
    let command = command(writer, &["claim", "--lease", &lease]);
    let ended = writer.act(command)?;
    let Some(answer) = ended.answer else { return Ok(()) };
    let (Some(id), Some(fence)) = (answer["todo"]["id"].as_str(), answer["fence"].as_u64()) else { return Ok(()) };
    let id = id.to_owned();
    writer.claimed(&id, fence, (ended.asked, ended.answered));
    if writer.random.percent(60) {
        done(writer, id, Some(fence))?;
    }
    Ok(())
}

fn done(writer: &mut Writer<'_>, id: String, fence: Option<u64>) -> Result<(), String> {
    let fence = fence.map(|fence| fence.to_string());
    let mut arguments = vec!["done", id.as_str()];
    arguments.extend(fence.as_deref().map(|fence| ["--fence", fence]).into_iter().flatten());
    let command = command(writer, &arguments);
    let ended = writer.act(command)?;
    let times = (ended.asked, ended.answered);
    writer.completed(id, ended.answer.and_then(|answer| answer["revision"].as_u64()), times);
    Ok(())
}

/// The user says nothing about itself; an agent's environment has its mark and its session.
fn command(writer: &Writer<'_>, arguments: &[&str]) -> Command {
    let mut command = writer.command(arguments);
    command.arg("--json");
    if writer.name != USER {
        command.env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", &writer.name);
    }
    command
}
