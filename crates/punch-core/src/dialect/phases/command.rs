//! The `/todo` commands as they answer where there is no editor and no clipboard.

use super::call::{PhaseOp, Target};
use super::list::{Phase, Task};
use super::{find, markdown, step};
use crate::{Status, text};

/// What a command leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// It is done.
    Said(Said),
    /// A file is wanted first.
    Effect(Effect),
}

/// The end of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// What the user reads.
    pub output: String,
    /// The list after it.
    pub phases: Vec<Phase>,
    /// It could not be done: nothing fits, or it was said wrongly.
    pub refused: bool,
}

/// What the caller does with a file, because nothing here touches one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Write this text, then answer with [`exported`].
    Export {
        /// As typed, or the default name.
        path: String,
        /// What to write.
        markdown: String,
    },
    /// Read this file, then continue with [`finish_import`].
    Import {
        /// As typed, or the default name.
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
pub fn run(phases: &[Phase], line: &str) -> Reply {
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
        "export" => return Reply::Effect(Effect::Export { path, markdown: markdown::write(phases) }),
        "import" => return Reply::Effect(Effect::Import { path }),
        "append" => append(phases, rest),
        "start" => start(phases, rest),
        "done" => mark(phases, rest, PhaseOp::Done, "completed"),
        "drop" => mark(phases, rest, PhaseOp::Drop, "abandoned"),
        "rm" => remove(phases, rest),
        "help" | "?" => unchanged(phases, USAGE),
        _ => refused(phases, "Unknown /todo subcommand. Use append, start, done, drop, rm, copy, export, import."),
    };
    Reply::Said(said)
}

/// What the user reads after the file was written.
pub fn exported(path: &str) -> String {
    format!("Wrote todos to {path}")
}

/// Replaces the list by what the file says, or refuses the whole file.
pub fn finish_import(phases: &[Phase], path: &str, file: &str) -> Said {
    let reading = markdown::read(file);
    if !reading.errors.is_empty() {
        return refused(phases, format!("Could not parse {path}:\n  {}", reading.errors.join("\n  ")));
    }
    let tasks: usize = reading.phases.iter().map(|phase| phase.tasks.len()).sum();
    let output = format!("Imported {} phase(s), {tasks} task(s) from {path}.", reading.phases.len());
    Said { output, phases: reading.phases, refused: false }
}

fn unchanged(phases: &[Phase], output: impl Into<String>) -> Said {
    Said { output: output.into(), phases: phases.to_vec(), refused: false }
}

fn refused(phases: &[Phase], output: impl Into<String>) -> Said {
    Said { refused: true, ..unchanged(phases, output) }
}

fn shown(phases: &[Phase], empty: &str) -> String {
    if phases.is_empty() { empty.to_owned() } else { text::js_trim(&markdown::write(phases)).to_owned() }
}

fn stepped(phases: &[Phase], op: PhaseOp, output: impl Into<String>) -> Said {
    Said { output: output.into(), phases: step::step(phases, &[op]).phases, refused: false }
}

/// Unlike the op, this neither minds a duplicate nor makes a task active.
fn append(phases: &[Phase], rest: &str) -> Said {
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
        phases.push(Phase::new(new));
        phases.len() - 1
    });
    let content = find::capital(&words.join(" "));
    let output = format!("Appended to {}: {content}", phases[index].name);
    phases[index].tasks.push(Task::new(content, Status::Pending));
    Said { output, phases, refused: false }
}

fn start(phases: &[Phase], query: &str) -> Said {
    if query.is_empty() {
        return refused(phases, "Usage: /todo start <task>");
    }
    match find::task(phases, query) {
        Some(Task { content, .. }) => {
            let op = PhaseOp::Start { task: Some(content.clone()) };
            stepped(phases, op, format!("Started: {content}"))
        }
        None => refused(phases, format!("No task matched \"{query}\". Use /todo to list current tasks.")),
    }
}

fn mark(phases: &[Phase], query: &str, op: fn(Target) -> PhaseOp, word: &str) -> Said {
    match meant(phases, query) {
        Some(Target::All) => stepped(phases, op(Target::All), format!("Marked all tasks {word}.")),
        Some(Target::Task(content)) => {
            let output = format!("Marked {word}: {content}");
            stepped(phases, op(Target::Task(content)), output)
        }
        Some(Target::Phase(name)) => {
            let output = format!("Marked phase {name} {word}.");
            stepped(phases, op(Target::Phase(name)), output)
        }
        None => unmatched(phases, query),
    }
}

fn remove(phases: &[Phase], query: &str) -> Said {
    match meant(phases, query) {
        // Without a name this command takes the phases along, which the op does not.
        Some(Target::All) => Said { output: "Cleared all todos.".to_owned(), phases: Vec::new(), refused: false },
        Some(Target::Task(content)) => {
            let output = format!("Removed: {content}");
            stepped(phases, PhaseOp::Rm(Target::Task(content)), output)
        }
        Some(Target::Phase(name)) => {
            let output = format!("Removed phase: {name}");
            stepped(phases, PhaseOp::Rm(Target::Phase(name)), output)
        }
        None => unmatched(phases, query),
    }
}

fn unmatched(phases: &[Phase], query: &str) -> Said {
    refused(phases, format!("No task or phase matched \"{query}\"."))
}

fn meant(phases: &[Phase], query: &str) -> Option<Target> {
    if query.is_empty() {
        return Some(Target::All);
    }
    let task = find::task(phases, query).map(|task| Target::Task(task.content.clone()));
    task.or_else(|| find::phase(phases, query).map(|i| Target::Phase(phases[i].name.clone())))
}
