//! The `/todo` commands, with the answers that they give without an editor or a clipboard.

use super::call::{PhaseOp, PhasesTarget};
use super::list::{PhaseTask, TaskPhase};
use super::{find, markdown, step};
use crate::{Status, text};

/// What a command leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandReply {
    /// The command has run; this is its output.
    Said(CommandOutput),
    /// The command needs a file first.
    Effect(FileEffect),
}

/// The end of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandOutput {
    /// The text for the user.
    pub output: String,
    /// The list after it.
    pub phases: Vec<TaskPhase>,
    /// True if the command failed: nothing matches, or it was not valid.
    pub refused: bool,
}

/// What the caller does with a file, because nothing here touches one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileEffect {
    /// Write this text, then answer with [`exported`].
    Export {
        /// The path as typed, or the default name.
        path: String,
        /// The text to write.
        markdown: String,
    },
    /// Read this file, then continue with [`finish_import`].
    Import {
        /// The path as typed, or the default name.
        path: String,
    },
}

const DEFAULT_FILE: &str = "TODO.md";

const USAGE: &str = "Usage: /todo <verb> [args]
  /todo                              Show current todos
  /todo edit                         (TUI only) open in $EDITOR
  /todo copy                         Print todos as Markdown
  /todo export [<path>]              Write todos to file (default: TODO.md)
  /todo import [<path>]              Replace todos from file (default: TODO.md)
  /todo append [<phase>] <task...>   Append a task
  /todo start  <task>                Mark task in_progress (fuzzy match)
  /todo done   [<task|phase>]        Mark task/phase/all completed
  /todo drop   [<task|phase>]        Mark task/phase/all abandoned
  /todo rm     [<task|phase>]        Remove task/phase/all";

/// Runs what follows `/todo`.
pub fn run(phases: &[TaskPhase], line: &str) -> CommandReply {
    let line = text::js_trim(line);
    let (verb, rest) = line.split_once(text::is_js_space).unwrap_or((line, ""));
    let rest = text::js_trim(rest);
    let path = if rest.is_empty() { DEFAULT_FILE } else { rest }.to_owned();
    let said = match verb.to_lowercase().as_str() {
        "" => unchanged(phases, shown(phases, "No todos. Use /todo append <task> to start one.")),
        "edit" => {
            let output = "/todo edit requires the TUI editor; use /todo export then /todo import for \
                          non-interactive edits.";
            refused(phases, output)
        }
        "copy" => {
            let list = shown(phases, "No todos.");
            unchanged(phases, format!("Copy not available in ACP mode; printing instead:\n\n{list}"))
        }
        "export" if phases.is_empty() => unchanged(phases, "No todos to export."),
        "export" => return CommandReply::Effect(FileEffect::Export { path, markdown: markdown::write(phases) }),
        "import" => return CommandReply::Effect(FileEffect::Import { path }),
        "append" => append(phases, rest),
        "start" => start(phases, rest),
        "done" => mark(phases, rest, PhaseOp::Done, "completed"),
        "drop" => mark(phases, rest, PhaseOp::Drop, "abandoned"),
        "rm" => remove(phases, rest),
        "help" | "?" => unchanged(phases, USAGE),
        _ => refused(phases, "Unknown /todo subcommand. Use append, start, done, drop, rm, copy, export, import."),
    };
    CommandReply::Said(said)
}

/// What the user reads after the file was written.
pub fn exported(path: &str) -> String {
    format!("Wrote todos to {path}")
}

/// Replaces the list by what the file says, or refuses the whole file.
pub fn finish_import(phases: &[TaskPhase], path: &str, file: &str) -> CommandOutput {
    let reading = markdown::read(file);
    if !reading.errors.is_empty() {
        return refused(phases, format!("Could not parse {path}:\n  {}", reading.errors.join("\n  ")));
    }
    let tasks: usize = reading.phases.iter().map(|phase| phase.tasks.len()).sum();
    let output = format!("Imported {} phase(s), {tasks} task(s) from {path}.", reading.phases.len());
    CommandOutput { output, phases: reading.phases, refused: false }
}

fn unchanged(phases: &[TaskPhase], output: impl Into<String>) -> CommandOutput {
    CommandOutput { output: output.into(), phases: phases.to_vec(), refused: false }
}

fn refused(phases: &[TaskPhase], output: impl Into<String>) -> CommandOutput {
    CommandOutput { refused: true, ..unchanged(phases, output) }
}

fn shown(phases: &[TaskPhase], empty: &str) -> String {
    if phases.is_empty() { empty.to_owned() } else { text::js_trim(&markdown::write(phases)).to_owned() }
}

fn stepped(phases: &[TaskPhase], op: PhaseOp, output: impl Into<String>) -> CommandOutput {
    CommandOutput { output: output.into(), phases: step::step(phases, &[op]).phases, refused: false }
}

/// Unlike the op, this neither minds a duplicate nor makes a task active.
fn append(phases: &[TaskPhase], rest: &str) -> CommandOutput {
    let mut words = find::words(rest);
    if words.is_empty() {
        return refused(phases, "Usage: /todo append [<phase>] <task...>");
    }
    let mut phases = phases.to_vec();
    let (index, new) = if words.len() == 1 {
        (phases.len().checked_sub(1), "Todos".to_owned())
    } else {
        let name = words.remove(0);
        (find::phase(&phases, &name), find::title(&name))
    };
    let index = index.unwrap_or_else(|| {
        phases.push(TaskPhase::new(new));
        phases.len() - 1
    });
    let content = find::capital(&words.join(" "));
    let output = format!("Appended to {}: {content}", phases[index].name);
    phases[index].tasks.push(PhaseTask::new(content, Status::Pending));
    CommandOutput { output, phases, refused: false }
}

fn start(phases: &[TaskPhase], query: &str) -> CommandOutput {
    if query.is_empty() {
        return refused(phases, "Usage: /todo start <task>");
    }
    match find::task(phases, query) {
        Some(PhaseTask { content, .. }) => {
            let op = PhaseOp::Start { task: Some(content.clone()) };
            stepped(phases, op, format!("Started: {content}"))
        }
        None => refused(phases, format!("No task matched \"{query}\". Use /todo to list current tasks.")),
    }
}

fn mark(phases: &[TaskPhase], query: &str, op: fn(PhasesTarget) -> PhaseOp, word: &str) -> CommandOutput {
    match meant(phases, query) {
        Some(PhasesTarget::All) => stepped(phases, op(PhasesTarget::All), format!("Marked all tasks {word}.")),
        Some(PhasesTarget::Task(content)) => {
            let output = format!("Marked {word}: {content}");
            stepped(phases, op(PhasesTarget::Task(content)), output)
        }
        Some(PhasesTarget::Phase(name)) => {
            let output = format!("Marked phase {name} {word}.");
            stepped(phases, op(PhasesTarget::Phase(name)), output)
        }
        None => unmatched(phases, query),
    }
}

fn remove(phases: &[TaskPhase], query: &str) -> CommandOutput {
    match meant(phases, query) {
        // Without a name this command takes the phases along, which the op does not.
        Some(PhasesTarget::All) => {
            CommandOutput { output: "Cleared all todos.".to_owned(), phases: Vec::new(), refused: false }
        }
        Some(PhasesTarget::Task(content)) => {
            let output = format!("Removed: {content}");
            stepped(phases, PhaseOp::Rm(PhasesTarget::Task(content)), output)
        }
        Some(PhasesTarget::Phase(name)) => {
            let output = format!("Removed phase: {name}");
            stepped(phases, PhaseOp::Rm(PhasesTarget::Phase(name)), output)
        }
        None => unmatched(phases, query),
    }
}

fn unmatched(phases: &[TaskPhase], query: &str) -> CommandOutput {
    refused(phases, format!("No task or phase matched \"{query}\"."))
}

fn meant(phases: &[TaskPhase], query: &str) -> Option<PhasesTarget> {
    if query.is_empty() {
        return Some(PhasesTarget::All);
    }
    let task = find::task(phases, query).map(|task| PhasesTarget::Task(task.content.clone()));
    task.or_else(|| find::phase(phases, query).map(|i| PhasesTarget::Phase(phases[i].name.clone())))
}
