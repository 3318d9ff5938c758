//! `punch stats`: what todos took compared with their estimates; reported usage; what tools cost a model.

use clap::{Args, Subcommand};

use super::{cost, report, usage};
use crate::arguments::Global;
use crate::failure::Failure;
use crate::project::Project;
use crate::reply::VerbReply;

const EXAMPLES: &str = "\
Examples:
  punch stats                        # estimates and actuals
  punch stats record T-3 --tokens 18000
  punch stats cost                   # what the tools cost a model";

/// The arguments of `punch stats`.
#[derive(Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct StatsArgs {
    #[command(subcommand)]
    what: Option<StatsCommand>,
    #[command(flatten)]
    report: report::ReportArgs,
}

#[derive(Subcommand)]
enum StatsCommand {
    /// Record tokens and time spent on a todo
    Record(usage::UsageArgs),
    /// Show what tools and recorded calls cost a model
    Cost(cost::CostArgs),
}

impl StatsArgs {
    /// Runs the verb.
    pub fn run(self, global: Global) -> Result<VerbReply, Failure> {
        match self.what {
            None => self.report.run(Project::find(global)?),
            Some(StatsCommand::Record(usage)) => usage.run(Project::find(global)?),
            Some(StatsCommand::Cost(cost)) => cost.run(global),
        }
    }
}
