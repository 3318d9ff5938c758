//! `punch import`: todos from a file into the plan, all or nothing.

use std::path::PathBuf;

use clap::Args;
use punch_core::text;
use punch_engine::{Format, How, Request};
use serde_json::json;

use crate::failure::Failure;
use crate::files;
use crate::project::Project;
use crate::reply::Reply;

const EXAMPLES: &str = "\
Examples:
  punch import plan.json
  punch import TODO.md --dry-run
  punch import - --format extended < plan.json
  punch import plan.md --replace         # archives what is there first";

/// Warnings shown.
const SHOWN: usize = 10;

/// The arguments of `punch import`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Import {
    /// The file; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// extended (JSON) or markdown; without it the content tells
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    format: Option<Format>,
    /// Change nothing, only say what would come
    #[arg(long)]
    dry_run: bool,
    /// Archive what is in the plan first
    #[arg(long)]
    replace: bool,
    /// Keep circular dependencies, waiting for ever, instead of refusing them
    #[arg(long)]
    circles: bool,
}

/// Reads the name of a format.
pub fn format(name: &str) -> Result<Format, String> {
    let names = Format::ALL.iter().map(|f| f.name()).collect::<Vec<_>>().join(", ");
    Format::ALL.iter().copied().find(|f| f.name() == name).ok_or_else(|| format!("use one of {names}"))
}

impl Import {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<Reply, Failure> {
        let input = files::read(&self.file)?;
        let input = input.strip_prefix('\u{feff}').unwrap_or(&input);
        let format = self.format.unwrap_or_else(|| recognise(input));
        let how = How { replace: self.replace, circles: self.circles, dry_run: self.dry_run };
        if self.replace && input.trim().is_empty() {
            let message = "the input is empty; with --replace that would archive everything";
            return Err(Failure::usage(message, "check what was to be imported; `punch rm --all` archives everything"));
        }
        let open = project.write()?;
        let request = Request { detail: false, ..open.project.request() };
        let done = open.engine.import(open.plan, &request, format, input, how)?;
        let (outcome, ignored) = (&done.changed.outcome, &done.ignored);
        let count = outcome.added.len();
        let verb = if self.dry_run { "would be imported" } else { "imported" };
        let mut lines = vec![format!("{count} todos {verb}")];
        let gone = outcome.rows.iter().filter(|t| !t.is_live()).count();
        if self.replace {
            lines.push(format!("{gone} {}", if self.dry_run { "would be archived" } else { "archived" }));
        }
        let warnings: Vec<String> = outcome.warnings.iter().map(punch_core::Warning::message).collect();
        lines.extend(warnings.iter().take(SHOWN).map(|w| format!("note: {}", text::neutral(w))));
        if warnings.len() > SHOWN {
            lines.push(format!("note: {} more, see --json", warnings.len() - SHOWN));
        }
        if !ignored.is_empty() {
            let mut names: Vec<String> = ignored.iter().take(SHOWN).map(|n| text::neutral(n).into_owned()).collect();
            names.extend((ignored.len() > SHOWN).then(|| format!("{} more", ignored.len() - SHOWN)));
            lines.push(format!("note: left out, not understood: {}", names.join(", ")));
        }
        let json = json!({
            "imported": count,
            "archived": gone,
            "warnings": warnings,
            "ignored": ignored,
            "revision": outcome.plan.revision,
            "dryRun": self.dry_run,
            "format": format.name(),
        });
        Ok(Reply { wrote: !self.dry_run, ..Reply::new(lines.join("\n"), json) })
    }
}

/// JSON begins with `{` or `[`; a Markdown list does not, unless it begins with a link.
fn recognise(input: &str) -> Format {
    if input.trim_start().starts_with(['{', '[']) { Format::Extended } else { Format::Markdown }
}
