//! `punch todo`: the commands of the phases dialect on the live plan, with its own words.

use std::path::Path;

use clap::Args;
use punch_core::dialect::list;
use punch_core::dialect::phases::{self, CommandOutput, FileEffect, TaskPhase};
use punch_core::{ApplyStop, Footprint, Op, Plan, Refusal, text};
use punch_engine::{EngineError, WriteRequest};
use serde_json::json;

use crate::editor::EditorDraft;
use crate::failure::{Exit, Failure};
use crate::files;
use crate::project::{OpenProject, Project, ProjectPlan};
use crate::reply::VerbReply;
use crate::safety::count;

const EXAMPLES: &str = "\
Examples:
  punch todo                              # the list as Markdown
  punch todo append Auth 'Port the store' # into a phase, created if it is new
  punch todo start port
  punch todo done Auth                    # a task, or a whole phase
  punch todo export TODO.md               # and import, edit, copy, drop, rm, help

Flags of punch go before the command: `punch --json todo done port`.";

/// Whole lines that fit, and how many do not.
fn clipped(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    // Room for the line that tells.
    let room = most.saturating_sub(80);
    let mut lines = text.split_inclusive('\n').peekable();
    let mut out = String::new();
    while let Some(line) = lines.next_if(|line| out.len() + line.len() <= room) {
        out.push_str(line);
    }
    format!("{out}… and {} more lines; `punch todo` in a shell shows them\n", lines.count())
}

const HELP: &str = "\
Usage: punch todo [COMMAND]
  punch todo                         Show the todos as Markdown
  punch todo edit                    Open them in your editor
  punch todo copy                    Print them as Markdown
  punch todo export [FILE]           Write them to a file (TODO.md)
  punch todo import [FILE]           Replace them with those of a file (TODO.md)
  punch todo append [PHASE] TASK     Add a task
  punch todo start TASK              Start a task, by a part of its text
  punch todo done [TASK|PHASE]       Complete a task, a phase or everything
  punch todo drop [TASK|PHASE]       Cancel a task, a phase or everything
  punch todo rm [TASK|PHASE]         Remove a task, a phase or everything";

/// What an empty list looks like in the editor.
const TEMPLATE: &str = "# Todos\n- [ ] (replace this with your tasks)\n";

/// The arguments of `punch todo`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct TodoArgs {
    /// append, start, done, drop, rm, edit, copy, export, import or help, and what it takes
    #[arg(value_name = "COMMAND", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
    /// Cut the answer to N bytes, for a model's context; goes before the command
    #[arg(long, value_name = "BYTES")]
    clip: Option<usize>,
}

impl TodoArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        let clip = self.clip;
        let reply = self.answer(project)?;
        let Some(most) = clip else { return Ok(reply) };
        Ok(VerbReply { body: clipped(&reply.body.plain(), most).into(), ..reply })
    }

    fn answer(self, project: Project) -> Result<VerbReply, Failure> {
        let line = line(&self.words);
        if line.trim().eq_ignore_ascii_case("edit") {
            return edit(project);
        }
        let (place, shown) = look(project)?;
        match line.trim().to_lowercase().as_str() {
            "help" | "?" => return Ok(list_reply(HELP.to_owned(), false, &shown, None)),
            // There is no clipboard to copy to: the list is what the command without a word shows.
            "copy" => return Ok(list_reply(markdown(&shown), false, &shown, None)),
            _ => {}
        }
        match phases::run(&shown, &line) {
            phases::CommandReply::Effect(FileEffect::Export { path, markdown }) => {
                files::replace(Path::new(&path), &markdown)?;
                Ok(list_reply(phases::exported(&path), false, &shown, None))
            }
            phases::CommandReply::Effect(FileEffect::Import { path }) => {
                let file = files::read(Path::new(&path))?;
                change(&place.write()?, None, &|now| imported(phases::finish_import(now, &path, &file), &path))
            }
            phases::CommandReply::Said(outcome) if outcome.phases == shown => {
                let is_hint = outcome.refused || shown.is_empty();
                let output = if is_hint { in_shell_words(&outcome.output) } else { outcome.output };
                Ok(list_reply(output, outcome.refused, &shown, None))
            }
            phases::CommandReply::Said(_) => change(&place.write()?, None, &|now| match phases::run(now, &line) {
                phases::CommandReply::Said(outcome) => outcome,
                // The same line asks for a file always or never.
                phases::CommandReply::Effect(_) => {
                    CommandOutput { output: String::new(), phases: now.to_vec(), refused: true }
                }
            }),
        }
    }
}

/// The list as Markdown.
fn markdown(phases: &[TaskPhase]) -> String {
    if phases.is_empty() { "No todos.".to_owned() } else { phases::write(phases).trim().to_owned() }
}

/// The answer to an import, with the right number of each noun.
fn imported(said: CommandOutput, path: &str) -> CommandOutput {
    if said.refused {
        return said;
    }
    let tasks: usize = said.phases.iter().map(|phase| phase.tasks.len()).sum();
    let (phases, tasks) = (count(said.phases.len() as u64, "phase"), count(tasks as u64, "task"));
    CommandOutput { output: format!("Imported {phases}, {tasks} from {path}."), ..said }
}

/// A hint of the dialect, which knows the command as `/todo`, in the words of a shell.
fn in_shell_words(hint: &str) -> String {
    const HINTS: [&str; 4] = ["Usage: /todo", "Unknown /todo", "No todos. Use /todo", "Use /todo to list"];
    HINTS.iter().fold(hint.to_owned(), |out, hint| out.replace(hint, &hint.replace("/todo", "punch todo")))
}

/// The words as they were typed: where the command counts words, one that the shell kept together stays so.
fn line(words: &[String]) -> String {
    let quoted = |word: &String| {
        if word.is_empty() || word.contains(|c: char| text::is_js_space(c) || matches!(c, '"' | '\\')) {
            format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""))
        } else {
            word.clone()
        }
    };
    match words {
        [verb, rest @ ..] if !rest.is_empty() && verb.eq_ignore_ascii_case("append") => {
            let rest: Vec<String> = rest.iter().map(quoted).collect();
            format!("{verb} {}", rest.join(" "))
        }
        words => words.join(" "),
    }
}

fn look(project: Project) -> Result<(ProjectPlan, Vec<TaskPhase>), Failure> {
    let found = project.read()?;
    let shown = match &found {
        ProjectPlan::Plan(open) => phases::project(&open.engine.whole(open.plan)?),
        ProjectPlan::Empty(_) => Vec::new(),
    };
    Ok((found, shown))
}

/// Runs one step on the list as it is in the transaction. Lists that were read from a text carry no handles: with
/// `base`, the list the person was shown, or for a whole new list, they are matched by content.
fn change(
    open: &OpenProject,
    base: Option<&[TaskPhase]>,
    step: &dyn Fn(&[TaskPhase]) -> CommandOutput,
) -> Result<VerbReply, Failure> {
    let mut outcome = None;
    let commit = open.project.tree().commit();
    // This format keeps one task in progress all by itself: that does not claim it.
    let actor = open.project.actor().without_claims();
    let request = WriteRequest { preset: phases::policy, commit: commit.as_deref(), actor, ..open.project.request() };
    let mut ask = |plan: &Plan, _| -> Result<Vec<Op>, ApplyStop> {
        plan.need_whole()?;
        let now = phases::project(plan);
        let next = step(&now);
        let base = phases::to_list(base.unwrap_or(&now));
        let mut new = phases::to_list(&next.phases);
        if new.items.iter().all(|item| item.uid.is_none()) {
            list::match_list(&mut new, &base);
        }
        outcome = Some((next.output, next.refused));
        Ok(list::diff(&base, &new, plan))
    };
    let changed = open.engine.submit_with(open.plan, &request, &Footprint::everything(), &mut ask)?;
    let (output, refused) = outcome.unwrap_or_default();
    Ok(list_reply(output, refused, &phases::project(&changed.plan), Some(changed.outcome.plan.revision)))
}

fn edit(project: Project) -> Result<VerbReply, Failure> {
    let (place, shown) = look(project)?;
    let text = if shown.is_empty() { TEMPLATE.to_owned() } else { phases::write(&shown) };
    let draft = EditorDraft::new("todo.md", &text, &phases::phases_to_json(&shown).to_string())?;
    let edited = draft.edit().and_then(|written| {
        if written == text {
            return Ok(list_reply("Todos unchanged.".to_owned(), false, &shown, None));
        }
        let reading = phases::read(&written);
        let tasks: usize = reading.phases.iter().map(|phase| phase.tasks.len()).sum();
        if !reading.errors.is_empty() || (tasks == 0 && !shown.is_empty()) {
            let what = match reading.errors.as_slice() {
                [] => "no tasks are left; `punch todo rm` clears the list".to_owned(),
                errors => errors.join("; "),
            };
            return Err(EngineError::from(Refusal::Invalid { at: String::new(), what }).into());
        }
        let (phases, tasks) = (count(reading.phases.len() as u64, "phase"), count(tasks as u64, "task"));
        let output = format!("Todos updated from editor: {phases}, {tasks}.");
        let step =
            |_: &[TaskPhase]| CommandOutput { output: output.clone(), phases: reading.phases.clone(), refused: false };
        change(&place.write()?, Some(&shown), &step)
    });
    match &edited {
        Ok(_) => draft.close(),
        Err(_) => draft.keep("punch todo import"),
    }
    edited
}

fn list_reply(output: String, refused: bool, phases: &[TaskPhase], revision: Option<u64>) -> VerbReply {
    // The words are the dialect's; what tasks hold must still not reach the terminal raw.
    let safe = text::neutral_lines(&output).into_owned();
    let json = json!({"output": output, "phases": phases::phases_to_json(phases), "revision": revision});
    let reply = VerbReply::new(safe, json);
    let exit = if refused { Exit::Refused } else { Exit::Ok };
    VerbReply { exit, wrote: revision.is_some(), ..reply }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clipped_answer_has_whole_lines_and_keeps_its_size() {
        let text: String = (0..500).map(|n| format!("- [ ] number {n}\n")).collect();
        for most in [0, 79, 100, 2_000, 4_000] {
            let clipped = clipped(&text, most);
            assert!(clipped.len() <= most.max(80), "{most}: {}", clipped.len());
            let shown = clipped.lines().count() - 1;
            assert!(
                clipped.ends_with(&format!("… and {} more lines; `punch todo` in a shell shows them\n", 500 - shown))
            );
        }
        assert_eq!(clipped(&text, text.len()), text);
    }
}
