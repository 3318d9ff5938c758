//! `punch store copy`: all plans from one store to another, between files and servers. The copy is compared with its source
//! before it counts.

use std::path::PathBuf;

use clap::Args;
use punch_core::text;
use punch_engine::locate::{self, Location, Surroundings};
use punch_store::{OpenMode, copy_store};
use serde_json::json;

use crate::failure::Failure;
use crate::open_store;
use crate::reply::VerbReply;
use crate::safety::count;

/// The arguments of `punch store copy`.
#[derive(Args)]
pub struct CopyArgs {
    /// The store to read: a folder, a file, or `postgres://…`
    #[arg(value_name = "FROM")]
    from: PathBuf,
    /// The store to write, which has no plans yet: a folder, or `postgres://…`
    #[arg(value_name = "TO")]
    to: PathBuf,
    /// The project on the server; by default PUNCH_PROJECT, or the name of the repository
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
}

impl CopyArgs {
    /// Runs the verb.
    pub fn run(self, around: &Surroundings) -> Result<VerbReply, Failure> {
        let place = |store: &PathBuf| -> Result<Location, Failure> {
            let mut around = around.clone();
            around.store_flag = Some(store.clone());
            around.project_env = self.project.clone().or(around.project_env);
            Ok(locate::locate(&around)?)
        };
        // A backup is a file of any name.
        let file = around.cwd.join(&self.from);
        let from = match file.parent().filter(|_| file.is_file()) {
            Some(folder) => Location { database: file.clone(), exists: true, ..place(&folder.to_owned())? },
            None => place(&self.from)?,
        };
        let to = place(&self.to)?;
        super::need(&from)?;
        let source = open_store::open(&from, OpenMode::Existing, None)?;
        if to.server.is_none() {
            to.create()?;
        }
        let target = open_store::open(&to, OpenMode::Create, None)?;
        let report = copy_store(&*source, &*target)?;
        let parts =
            [(report.plans, "plan"), (report.todos, "todo"), (report.events, "event"), (report.sessions, "session")];
        let parts: Vec<String> = parts.iter().map(|(number, noun)| count(*number, noun)).collect();
        let (from, to) = (from.shown(), to.shown());
        let message = format!(
            "Copied `{}` to `{}`: {}. Both have the same events.",
            text::neutral(&from),
            text::neutral(&to),
            parts.join(", ")
        );
        let json = json!({
            "from": from, "to": to, "plans": report.plans, "todos": report.todos, "events": report.events,
            "sessions": report.sessions,
        });
        Ok(VerbReply::new(message, json))
    }
}
