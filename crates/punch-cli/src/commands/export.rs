//! `punch export`: the whole plan as a document that `punch import` reads back.

use std::path::PathBuf;

use clap::Args;
use punch_core::format::{Format, Written};
use punch_core::{Plan, text};
use serde_json::{Value, json};

use super::import;
use crate::failure::Failure;
use crate::project::{Project, ProjectPlan};
use crate::reply::Reply;
use crate::{files, output, task_folder};

const EXAMPLES: &str = "\
Examples:
  punch export > plan.json
  punch export --format markdown TODO.md
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
    /// The format by name
    #[arg(long, value_name = "FORMAT", value_parser = import::format, default_value = "extended")]
    format: Format,
    /// List the formats of import and export
    #[arg(long, exclusive = true)]
    formats: bool,
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
        let name = self.format.name();
        let Some(Written { text: document, lost }) = punch_engine::written(self.format, &plan) else {
            let message = format!("{name} can only be imported");
            return Err(Failure::usage(&message, "`punch export --formats` lists the formats"));
        };
        let count = plan.row.counts.total();
        let note = lost.iter().map(|lost| text::neutral(lost).into_owned()).collect::<Vec<_>>().join(", ");
        let note = if note.is_empty() { note } else { format!("note: {name} cannot carry: {note}") };
        match self.file.filter(|file| !files::is_dash(file)) {
            Some(file) => {
                if self.format == Format::ClaudeTasks && file.is_dir() {
                    task_folder::write(&file, &document)?;
                } else {
                    files::replace(&file, &document)?;
                }
                let mut json = json!({"exported": count, "file": file.display().to_string(), "format": name});
                if !lost.is_empty() {
                    json["lost"] = json!(lost);
                }
                let shown = text::neutral(&file.display().to_string()).into_owned();
                Ok(Reply::new(format!("{count} todos written to {shown}\n{note}"), json))
            }
            // The extended format is one JSON object with `schema` already.
            None if as_json && self.format != Format::Extended => {
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

fn formats() -> Reply {
    let line = |format: Format| {
        let only = if format.writes() { "" } else { " (only imported)" };
        format!("{:<15} {}{only}", format.name(), format.spec().about)
    };
    let lines: Vec<String> = Format::all().map(line).collect();
    let one = |format: Format| json!({"name": format.name(), "about": format.spec().about, "writes": format.writes()});
    Reply::new(lines.join("\n"), json!({"formats": Format::all().map(one).collect::<Vec<Value>>()}))
}
