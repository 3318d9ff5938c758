//! `punch export`: the whole plan as a document that `punch import` reads back.

use std::path::PathBuf;

use clap::Args;
use punch_core::Plan;
use punch_engine::Format;
use serde_json::json;

use super::import;
use crate::failure::Failure;
use crate::project::Project;
use crate::reply::Reply;
use crate::{files, output};

const EXAMPLES: &str = "\
Examples:
  punch export > plan.json
  punch export --format markdown TODO.md
  punch export | jq '.todos[].content'";

/// The arguments of `punch export`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Export {
    /// The file, written whole or not at all; `-` or nothing is standard output
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// extended (JSON) or markdown
    #[arg(long, value_name = "FORMAT", value_parser = import::format, default_value = "extended")]
    format: Format,
}

impl Export {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<Reply, Failure> {
        let as_json = project.global.json;
        let plan = match project.read()? {
            Ok(open) => open.engine.whole(open.plan)?,
            Err(_) => Plan::new(),
        };
        let (count, document) = (plan.row.counts.total(), self.format.write(&plan));
        match self.file.filter(|file| !files::is_dash(file)) {
            Some(file) => {
                files::replace(&file, &document)?;
                let json = json!({"exported": count, "file": file.display().to_string(), "format": self.format.name()});
                let shown = punch_core::text::neutral(&file.display().to_string()).into_owned();
                Ok(Reply::new(format!("{count} todos written to {shown}"), json))
            }
            // The extended format is one JSON object with `schema` already.
            None if as_json && self.format != Format::Extended => {
                Ok(Reply::new("", json!({"exported": count, "format": self.format.name(), "document": document})))
            }
            None => {
                output::document(&document)?;
                Ok(Reply::printed())
            }
        }
    }
}
