//! `punch cost`: what a dialect and a recorded session cost a model, estimated.

use std::path::{Path, PathBuf};

use clap::Args;
use punch_engine::call::Dialect;
use punch_serve::cost::{CallTokens, Price, replay};
use punch_serve::{ToolGroup, ToolOffers};
use serde_json::{Value, json};

use super::mcp::dialects;
use crate::arguments::Global;
use crate::failure::Failure;
use crate::files;
use crate::project::Project;
use crate::reply::VerbReply;

const EXAMPLES: &str = "\
Examples:
  punch stats cost
  punch stats cost --dialect cursor
  punch stats cost --dialect todowrite --replay examples/todowrite.jsonl";

/// The arguments of `punch cost`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct CostArgs {
    /// One dialect instead of all
    #[arg(long, value_name = "NAME", value_parser = dialects())]
    dialect: Option<Dialect>,
    /// Recorded calls as `punch replay` reads them; needs --dialect
    #[arg(long, value_name = "FILE", requires = "dialect")]
    replay: Option<PathBuf>,
}

impl CostArgs {
    /// Counts.
    pub fn run(self, global: Global) -> Result<VerbReply, Failure> {
        let chosen: &[Dialect] = self.dialect.as_ref().map_or(&Dialect::ALL[..], std::slice::from_ref);
        let (mut lines, mut rows) = (Vec::new(), Vec::new());
        for dialect in chosen {
            let price = Price::of(&ToolOffers::new(*dialect, &[]));
            let tools: Vec<String> = price.tools.iter().map(|(name, tokens)| format!("{name} {tokens}")).collect();
            lines.push(format!(
                "{:<10} {:>5} tokens: {}; instructions {}",
                dialect.name(),
                price.offered() + price.instructions,
                tools.join(", "),
                price.instructions
            ));
            rows.push(row(*dialect, &price));
        }
        if chosen.contains(&Dialect::Native) {
            let more = Price::of(&ToolOffers::new(Dialect::Native, &ToolGroup::ALL));
            let extra = more.offered() - Price::of(&ToolOffers::new(Dialect::Native, &[])).offered();
            let groups = ToolGroup::ALL.map(ToolGroup::name).join(",");
            lines.push(format!("{:<10} {extra:>5} more tokens with `punch mcp --tools {groups}`", ""));
        }
        let mut json = json!({"estimate": "bytes / 4", "surfaces": rows});
        // Prices are known without a project; what was spent is shown where there is one.
        let spent = Project::find(global).ok().and_then(|project| project.engine().ok().flatten()?.spent().ok());
        if let Some(spent) = spent.filter(|spent| spent.sessions > 0) {
            lines.push(format!(
                "{} so far: {} tokens of reminders, {} tokens of continuations",
                if spent.sessions == 1 { "1 session".to_owned() } else { format!("{} sessions", spent.sessions) },
                spent.reminders,
                spent.continuations
            ));
            json["spent"] = json!({"sessions": spent.sessions, "reminders": spent.reminders,
                "continuations": spent.continuations});
        }
        if let (Some(path), Some(dialect)) = (&self.replay, self.dialect) {
            let spent = recorded(path, dialect)?;
            lines.push(format!(
                "{}: {} tokens written, {} tokens read",
                crate::safety::count(spent.calls as u64, "call"),
                spent.arguments,
                spent.results
            ));
            json["replay"] = json!({"calls": spent.calls, "arguments": spent.arguments, "results": spent.results});
        }
        lines.push("Estimated at four bytes per token.".into());
        Ok(VerbReply::new(lines.join("\n"), json))
    }
}

fn row(dialect: Dialect, price: &Price) -> Value {
    let tools: Value = price.tools.iter().map(|(name, tokens)| json!({"name": name, "tokens": tokens})).collect();
    json!({"dialect": dialect.name(), "tokens": price.offered(), "instructions": price.instructions, "tools": tools})
}

fn recorded(path: &Path, dialect: Dialect) -> Result<CallTokens, Failure> {
    let shown = path.display().to_string();
    let text = files::read(path)?;
    let mut spent = CallTokens::default();
    for (n, line) in text.split('\n').enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let at = |message: &str, hint: &str| Failure::usage(&format!("`{shown}` line {}: {message}", n + 1), hint);
        let value: Value = serde_json::from_str(line).map_err(|error| {
            at(&format!("not JSON: {error}"), "every line is one recording, see `punch replay --help`")
        })?;
        replay(dialect, &value, &mut spent).map_err(|problem| at(&problem.message, &problem.hint))?;
    }
    Ok(spent)
}
