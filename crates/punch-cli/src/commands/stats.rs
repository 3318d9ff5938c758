//! `punch stats`: what todos took compared with their estimates; reported usage; what tools cost a model.

use clap::{Args, Subcommand};

use super::{cost, report, usage};
use crate::arguments::Global;
use crate::failure::Failure;
use crate::project::Project;
use crate::reply::Reply;

const EXAMPLES: &str = "\
Examples:
  punch stats                        # estimates and actuals
  punch stats record T-3 --tokens 18000
  punch stats cost                   # what the tools cost a model";

/// The arguments of `punch stats`.
#[derive(Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Stats {
    #[command(subcommand)]
    what: Option<What>,
    #[command(flatten)]
    report: report::Report,
}

#[derive(Subcommand)]
enum What {
    /// Record tokens and time spent on a todo
    Record(usage::Usage),
    /// Show what tools and recorded calls cost a model
    Cost(cost::Cost),
}

impl Stats {
    /// Runs the verb.
    pub fn run(self, global: Global) -> Result<Reply, Failure> {
        match self.what {
            None => self.report.run(Project::find(global)?),
            Some(What::Record(usage)) => usage.run(Project::find(global)?),
            Some(What::Cost(cost)) => cost.run(global),
        }
    }
}
