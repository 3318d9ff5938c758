//! `punch export`: the whole plan as a document that `punch import` reads back.

use std::path::{Path, PathBuf};

use clap::Args;
use punch_core::format::{Format, Written};
use punch_core::{Plan, text};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::project::{Project, ProjectPlan};
use crate::reply::Reply;
use crate::{environment, files, output, safety, task_folder};

const EXAMPLES: &str = "\
Examples:
  punch export > plan.json
  punch export TODO.md                       # Markdown: the file name decides
  punch export --format checklist TODO.md
  punch export --format cursor-plan next.plan.md
  punch export --formats
  punch export | jq '.todos[].content'";

/// The arguments of `punch export`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Export {
    /// The file, written whole or not at all; `-` or nothing is standard output
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The format; without it the file name decides: `.md`, `.plan.md`, `.jsonl`, else JSON
    #[arg(long, short, value_name = "FORMAT", value_parser = format)]
    format: Option<Format>,
    /// Overwrite an existing file without asking
    #[arg(long)]
    force: bool,
    /// List the formats of import and export
    #[arg(long, exclusive = true)]
    formats: bool,
}

/// Reads the name of a format. The error offers only those that can be written.
fn format(name: &str) -> Result<Format, String> {
    let names = || Format::all().filter(|format| format.writes()).map(Format::name).collect::<Vec<_>>().join(", ");
    Format::named(name).ok_or_else(|| format!("use one of {}", names()))
}

impl Export {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<Reply, Failure> {
        if self.formats {
            return Ok(formats());
        }
        let as_json = project.global.json;
        let plan = match project.read()? {
            ProjectPlan::Plan(open) => open.engine.whole(open.plan)?,
            ProjectPlan::Empty(_) => Plan::new(),
        };
        let file = self.file.as_deref().filter(|file| !files::is_dash(file));
        let format = self.format.unwrap_or_else(|| file.map_or(Format::Extended, by_name));
        let name = format.name();
        let Some(Written { text: document, lost }) = punch_engine::written(format, &plan) else {
            let message = format!("{name} can only be imported");
            return Err(Failure::usage(&message, "`punch export --formats` lists the formats"));
        };
        let count = plan.row.counts.total();
        let note = lost.iter().map(|lost| text::neutral(lost).into_owned()).collect::<Vec<_>>().join(", ");
        let note = if note.is_empty() { note } else { format!("note: {name} cannot carry: {note}") };
        match file {
            Some(file) => {
                if format == Format::ClaudeTasks && file.is_dir() {
                    task_folder::write(file, &document)?;
                } else {
                    if !self.force && file.is_file() && !may_overwrite(file)? {
                        return Ok(Reply::new("Nothing was written.", json!({"exported": 0, "format": name})));
                    }
                    files::replace(file, &document)?;
                }
                let mut json = json!({"exported": count, "file": file.display().to_string(), "format": name});
                if !lost.is_empty() {
                    json["lost"] = json!(lost);
                }
                let shown = text::neutral(&file.display().to_string()).into_owned();
                Ok(Reply::new(format!("Wrote {} to {shown} ({name})\n{note}", safety::count(count, "todo")), json))
            }
            // The extended format is one JSON object with `schema` already.
            None if as_json && format != Format::Extended => {
                let mut json = json!({"exported": count, "format": name, "document": document});
                if !lost.is_empty() {
                    json["lost"] = json!(lost);
                }
                Ok(Reply::new("", json))
            }
            None => {
                output::document(&document)?;
                if !note.is_empty() {
                    output::remark(&note);
                }
                Ok(Reply::printed())
            }
        }
    }
}

/// The format that a file name asks for.
fn by_name(file: &Path) -> Format {
    let name = file.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let endings = [(".plan.md", "cursor-plan"), (".md", "markdown"), (".markdown", "markdown"), (".jsonl", "beads")];
    let found = endings.iter().find(|(ending, _)| name.ends_with(ending));
    found.and_then(|(_, format)| Format::named(format)).unwrap_or(Format::Extended)
}

/// Asks on a terminal; elsewhere only `--force` overwrites.
fn may_overwrite(file: &Path) -> Result<bool, Failure> {
    let shown = text::neutral(&file.display().to_string()).into_owned();
    if environment::is_attended() && environment::inside_agent().is_none() {
        return output::ask(&format!("`{shown}` exists. Overwrite it?"));
    }
    Err(Failure::refused("file_exists", format!("`{shown}` exists"), "add `--force` to overwrite it"))
}

fn formats() -> Reply {
    let line = |format: Format| {
        let only = if format.writes() { "" } else { " (only imported)" };
        format!("{:<15} {}{only}", format.name(), format.spec().about)
    };
    let lines: Vec<String> = Format::all().map(line).collect();
    let one = |format: Format| json!({"name": format.name(), "about": format.spec().about, "writes": format.writes()});
    Reply::new(lines.join("\n"), json!({"formats": Format::all().map(one).collect::<Vec<Value>>()}))
}
