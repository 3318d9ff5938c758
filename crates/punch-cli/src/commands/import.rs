//! `punch import`: todos from a file into the plan, all or nothing.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;
use punch_core::format::{self, Format};
use punch_core::{Status, Todo, Warning, text};
use punch_engine::{Brings, ImportOptions, PlanChange, WriteRequest};
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::project::Project;
use crate::reply::VerbReply;
use crate::{files, safety, task_folder};

const EXAMPLES: &str = "\
Examples:
  punch import plan.json
  punch import TODO.md --dry-run
  punch import .taskmaster/tasks/tasks.json
  punch import ~/.claude/tasks/SESSION   # a folder of Claude Code's tasks
  punch import - --format extended < plan.json
  punch import plan.md                   # again: updates what is there
  punch import plan.md --replace         # archives what is there first

`punch export --formats` lists the formats.";

/// Warnings shown.
const SHOWN: usize = 10;

/// The arguments of `punch import`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ImportArgs {
    /// The file, or a folder of tasks; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The format; detected from content and file name if omitted
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    format: Option<Format>,
    /// Show what would be imported, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Archive what is in the plan first
    #[arg(long)]
    replace: bool,
    /// Add every todo, even if it is already in the plan
    #[arg(long, conflicts_with = "replace")]
    new: bool,
    /// Import circular dependencies as blocked instead of refusing them
    #[arg(long = "allow-cycles", alias = "circles")]
    circles: bool,
}

/// Reads the name of a format.
pub fn format(name: &str) -> Result<Format, String> {
    named(name).ok_or_else(|| unknown_format(name, Format::all().map(Format::name)))
}

/// The format of this name, with or without hyphens; `json` is the one with everything a plan has.
pub fn named(name: &str) -> Option<Format> {
    let bare = |name: &str| name.replace(['-', '_'], "").to_lowercase();
    let given = bare(name);
    if given == "json" {
        return Some(Format::Extended);
    }
    Format::all().find(|format| bare(format.name()) == given)
}

/// The error about a format of an unknown name.
pub fn unknown_format<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<&str> = ["json"].into_iter().chain(known).collect();
    match text::nearest(given, known.iter().copied(), 1).as_slice() {
        [near, ..] => format!("unknown format; did you mean `{near}`?"),
        [] => format!("use one of {}", known.join(", ")),
    }
}

impl ImportArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        let (input, format) = self.input()?;
        let how =
            ImportOptions { replace: self.replace, update: !self.new, circles: self.circles, dry_run: self.dry_run };
        if self.replace && input.trim_start_matches('\u{feff}').trim().is_empty() {
            let message = "the input is empty; with --replace that would archive everything";
            return Err(Failure::usage(message, "check what was to be imported; `punch rm --all` archives everything"));
        }
        let open = project.write()?;
        let request = WriteRequest { detail: false, ..open.project.request() };
        let done = open.engine.import(open.plan, &request, format, &input, how)?;
        let (outcome, ignored) = (&done.changed.outcome, &done.ignored);
        let count = outcome.added.len();
        let verb = if self.dry_run { "would be imported" } else { "imported" };
        let mut lines = Vec::new();
        let (all, changed) = (done.known as u64, updated(&done.changed) as u64);
        if count > 0 || all == 0 {
            lines.push(format!("{} {verb}", safety::count(count as u64, "todo")));
        }
        if changed > 0 {
            let verb = if self.dry_run { "would be updated" } else { "updated" };
            lines.push(format!("{} {verb}", safety::count(changed, "todo")));
        }
        match all.saturating_sub(changed) {
            0 => {}
            same if lines.is_empty() => {
                lines.push(format!("Nothing changed: the plan already has {} from this file.", all_of(same)));
            }
            same => lines.push(format!("{} unchanged", safety::count(same, "todo"))),
        }
        if self.dry_run {
            lines.push(summary(format, &done.brings));
        }
        let gone = outcome.rows.iter().filter(|t| !t.is_live()).count();
        if self.replace {
            lines.push(format!("{gone} {}", if self.dry_run { "would be archived" } else { "archived" }));
        }
        let warnings: Vec<String> = outcome.warnings.iter().map(Warning::message).collect();
        lines.extend(warnings.iter().take(SHOWN).map(|w| format!("note: {}", text::neutral(w))));
        if warnings.len() > SHOWN {
            lines.push(format!("note: {} more, see --json", warnings.len() - SHOWN));
        }
        lines.extend(not_understood(ignored));
        let json = json!({
            "imported": count,
            "updated": updated(&done.changed),
            "archived": gone,
            "statuses": statuses(&done.brings),
            "dependencies": done.brings.dependencies,
            "phases": done.brings.phases,
            "warnings": warnings,
            "ignored": ignored,
            "revision": outcome.plan.revision,
            "dryRun": self.dry_run,
            "format": format.name(),
        });
        Ok(VerbReply { wrote: !self.dry_run, ..VerbReply::new(lines.join("\n"), json) })
    }

    /// The text and its format.
    fn input(&self) -> Result<(String, Format), Failure> {
        if !files::is_dash(&self.file) && self.file.is_dir() {
            if self.format.is_some_and(|format| format != Format::ClaudeTasks) {
                let message = "a folder can only be read as claude-tasks";
                return Err(Failure::usage(message, "name one file in it, or leave out --format"));
            }
            return Ok((task_folder::read(&self.file)?, Format::ClaudeTasks));
        }
        let input = files::read_up_to(&self.file, files::LIMIT)?;
        let name = self.file.to_string_lossy();
        let format = self.format.unwrap_or_else(|| format::recognise(&input, Some(&name)));
        Ok((input, format))
    }
}

/// `the only todo`, `all 7 todos`
fn all_of(todos: u64) -> String {
    if todos == 1 { "the only todo".to_owned() } else { format!("all {todos} todos") }
}

/// Todos that were there before and are changed now.
fn updated(changed: &PlanChange) -> usize {
    let is_new = |todo: &Todo| changed.outcome.added.contains(&todo.uid);
    changed.outcome.rows.iter().filter(|todo| todo.is_live() && todo.updated_at == changed.now && !is_new(todo)).count()
}

/// The warning about unknown names in the input.
pub fn not_understood(ignored: &BTreeSet<String>) -> Option<String> {
    let mut sorted: Vec<&String> = ignored.iter().collect();
    let number = |name: &str| name.strip_prefix("line ").and_then(|number| number.parse::<u64>().ok());
    sorted.sort_by_key(|name| (number(name), name.as_str()));
    let mut names: Vec<String> = sorted.into_iter().take(SHOWN).map(|n| text::neutral(n).into_owned()).collect();
    names.extend((ignored.len() > SHOWN).then(|| format!("{} more", ignored.len() - SHOWN)));
    (!names.is_empty()).then(|| format!("note: skipped, not understood: {}", names.join(", ")))
}

/// `as markdown: 3 pending, 1 completed; 2 dependencies; 1 phases`.
fn summary(format: Format, brings: &Brings) -> String {
    let counts: Vec<String> = Status::ALL
        .iter()
        .zip(brings.statuses)
        .filter(|(_, count)| *count > 0)
        .map(|(status, count)| format!("{count} {}", status.name()))
        .collect();
    let counts = if counts.is_empty() { "nothing".to_owned() } else { counts.join(", ") };
    let dependencies = match brings.dependencies {
        1 => "1 dependency".to_owned(),
        several => format!("{several} dependencies"),
    };
    let phases = safety::count(brings.phases as u64, "phase");
    format!("as {}: {counts}; {dependencies}; {phases}", format.name())
}

fn statuses(brings: &Brings) -> Map<String, Value> {
    Status::ALL.iter().zip(brings.statuses).map(|(status, count)| (status.name().to_owned(), count.into())).collect()
}
