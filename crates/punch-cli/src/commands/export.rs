//! `punch export`: the whole plan as a document that `punch import` reads back, or as a page for readers.

use std::path::{Path, PathBuf};

use clap::Args;
use punch_core::format::{Format, WrittenDocument};
use punch_core::view::{HistoryRow, RevisionStory};
use punch_core::{Plan, text};
use serde_json::{Value, json};

use super::import::{named, unknown_format};
use crate::failure::Failure;
use crate::project::{OpenProject, Project, ProjectPlan};
use crate::reply::VerbReply;
use crate::{environment, files, output, safety, task_folder};

const EXAMPLES: &str = "\
Examples:
  punch export > plan.json
  punch export TODO.md                       # a checklist: the file name decides
  punch export --format markdown TODO.md     # with every field, in comments
  punch export --format cursor-plan next.plan.md
  punch export --format html report.html     # one page for a pull request
  punch export --formats
  punch export | jq '.todos[].content'";

/// The arguments of `punch export`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ExportArgs {
    /// The file to write; standard output if it is omitted or `-`
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The format; without it the file name decides: `.md`, `.plan.md`, `.json`, `.jsonl`, `.html`
    #[arg(long, short, value_name = "FORMAT", value_parser = format)]
    format: Option<ExportTarget>,
    /// Overwrite an existing file without asking
    #[arg(long)]
    force: bool,
    /// List the formats of import and export
    #[arg(long, exclusive = true)]
    formats: bool,
}

/// What a plan is exported as.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ExportTarget {
    /// A format that `punch import` reads back.
    Format(Format),
    /// A report for readers.
    Html,
}

/// The name of the report.
const HTML: &str = "html";
/// What it is.
const REPORT: &str = "one page with plan, graph and history, without scripts";
/// Revisions that a report shows.
const REVISIONS: u64 = 200;

/// Reads the name of a format. The error offers only those that can be written.
fn format(name: &str) -> Result<ExportTarget, String> {
    let known =
        named(name).map(ExportTarget::Format).or((name.eq_ignore_ascii_case(HTML)).then_some(ExportTarget::Html));
    let names = || Format::all().filter(|format| format.writes()).map(Format::name).chain([HTML]);
    known.ok_or_else(|| unknown_format(name, names()))
}

impl ExportArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        if self.formats {
            return Ok(formats());
        }
        let as_json = project.global.json;
        let file = self.file.as_deref().filter(|file| !files::is_dash(file));
        let by_name = file.and_then(by_name);
        let target = self.format.or(by_name).unwrap_or(ExportTarget::Format(Format::Extended));
        let (plan, report) = match project.read()? {
            ProjectPlan::Plan(open) => (open.engine.whole(open.plan)?, report(&open, target)?),
            ProjectPlan::Empty(_) => {
                (Plan::new(), (target == ExportTarget::Html).then(|| html("main", &Plan::new(), &[], 0)))
            }
        };
        let (name, written) = match (target, report) {
            (ExportTarget::Html, report) => {
                (HTML, report.map(|text| WrittenDocument { text, lost: Default::default() }))
            }
            (ExportTarget::Format(format), _) => (format.name(), punch_engine::written(format, &plan)),
        };
        let Some(WrittenDocument { text: document, lost }) = written else {
            let message = format!("{name} can only be imported");
            return Err(Failure::usage(&message, "`punch export --formats` lists the formats"));
        };
        let count = plan.row.counts.total();
        let note = lost.iter().map(|lost| text::neutral(lost).into_owned()).collect::<Vec<_>>().join(", ");
        let note = if note.is_empty() { note } else { format!("note: {name} cannot carry: {note}") };
        match file {
            Some(file) => {
                if target == ExportTarget::Format(Format::ClaudeTasks) && file.is_dir() {
                    task_folder::write(file, &document)?;
                } else {
                    if !self.force && file.is_file() && !may_overwrite(file)? {
                        return Ok(VerbReply::new("Nothing was written.", json!({"exported": 0, "format": name})));
                    }
                    files::replace(file, &document)?;
                }
                let mut json = json!({"exported": count, "file": file.display().to_string(), "format": name});
                if !lost.is_empty() {
                    json["lost"] = json!(lost);
                }
                let shown = text::neutral(&file.display().to_string()).into_owned();
                let what = match target {
                    ExportTarget::Format(Format::Extended) => "JSON",
                    ExportTarget::Html => "HTML",
                    ExportTarget::Format(_) => name,
                };
                let mut lines = vec![format!("Wrote {} to {shown} ({what})", safety::count(count, "todo")), note];
                if self.format.is_none() && by_name.is_none() {
                    lines.push("note: the file name does not say which format; `--format` chooses one".to_owned());
                }
                lines.retain(|line| !line.is_empty());
                Ok(VerbReply::new(lines.join("\n"), json))
            }
            // The extended format is one JSON object with `schema` already.
            None if as_json && target != ExportTarget::Format(Format::Extended) => {
                let mut json = json!({"exported": count, "format": name, "document": document});
                if !lost.is_empty() {
                    json["lost"] = json!(lost);
                }
                Ok(VerbReply::new("", json))
            }
            None => {
                output::document(&document)?;
                if !note.is_empty() {
                    output::remark(&note);
                }
                Ok(VerbReply::printed())
            }
        }
    }
}

/// Returns the plan with its history as a page, if that is requested.
fn report(open: &OpenProject, target: ExportTarget) -> Result<Option<String>, Failure> {
    if target != ExportTarget::Html {
        return Ok(None);
    }
    let (engine, id) = (&open.engine, open.plan);
    let plan = engine.whole(id)?;
    let name = engine.read(id, |snapshot| Ok(snapshot.info()?.name))?;
    let history = engine.history(id, REVISIONS)?;
    let rows: Vec<HistoryRow> =
        history.iter().map(|entry| entry.row(&plan, &RevisionStory::of(&entry.events))).collect();
    Ok(Some(html(&name, &plan, &rows, engine.now())))
}

fn html(name: &str, plan: &Plan, history: &[HistoryRow], now: i64) -> String {
    punch_web::report::PlanReport { name, plan, history, now }.html()
}

/// The format that a file name asks for, if its ending is known.
fn by_name(file: &Path) -> Option<ExportTarget> {
    let name = file.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let endings = [
        (".plan.md", ExportTarget::Format(Format::CursorPlan)),
        (".md", ExportTarget::Format(Format::Checklist)),
        (".markdown", ExportTarget::Format(Format::Checklist)),
        (".jsonl", ExportTarget::Format(Format::Beads)),
        (".json", ExportTarget::Format(Format::Extended)),
        (".html", ExportTarget::Html),
        (".htm", ExportTarget::Html),
    ];
    endings.into_iter().find(|(ending, _)| name.ends_with(ending)).map(|(_, target)| target)
}

/// Asks on a terminal; elsewhere only `--force` overwrites.
fn may_overwrite(file: &Path) -> Result<bool, Failure> {
    let shown = text::neutral(&file.display().to_string()).into_owned();
    if environment::is_attended() {
        return output::ask(&format!("`{shown}` exists. Overwrite it?"));
    }
    Err(Failure::refused("file_exists", format!("`{shown}` exists"), "add `--force` to overwrite it"))
}

fn formats() -> VerbReply {
    let line = |format: Format| {
        let only = if format.writes() { "" } else { " (only imported)" };
        format!("{:<15} {}{only}", format.name(), format.spec().about)
    };
    let report = format!("{HTML:<15} {REPORT} (only exported)");
    let lines: Vec<String> = Format::all().map(line).chain([report]).collect();
    let one = |format: Format| json!({"name": format.name(), "about": format.spec().about, "writes": format.writes()});
    let report = json!({"name": HTML, "about": REPORT, "writes": true});
    VerbReply::new(lines.join("\n"), json!({"formats": Format::all().map(one).chain([report]).collect::<Vec<Value>>()}))
}
