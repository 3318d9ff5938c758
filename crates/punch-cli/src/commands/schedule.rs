//! `punch schedule`: who would work on what, when, in which context window.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use punch_core::Format;
use punch_core::Plan;
use punch_core::reason::{PlanReader, WorkLimits};
use punch_core::schedule::{ScheduleOrder, ScheduleRequest, schedule};
use punch_core::view::{Cap, Gantt, ScheduleView};
use serde_json::Value;

use super::import::not_understood;
use crate::failure::Failure;
use crate::project::{Project, ProjectPlan, never_freed};
use crate::reply::VerbReply;
use crate::{environment, files, input, output};

const EXAMPLES: &str = "\
Examples:
  punch schedule
  punch schedule --agents 4 --context 200000
  punch schedule --policy level --json
  punch schedule --file plan.json --agents 2      # extended format, nothing is stored";

/// Lines of text without `--limit`.
const LINES: usize = 100;

/// The arguments of `punch schedule`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ScheduleArgs {
    /// list: best ready todo first; level: one parallel group after the other; makespan: longest path first
    #[arg(long, value_name = "POLICY", value_enum, default_value_t = SchedulePolicy::List)]
    policy: SchedulePolicy,
    /// How many agents work at once
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    agents: u32,
    /// Context window of each agent, in tokens
    #[arg(long, value_name = "N", default_value_t = WorkLimits::USUAL.context, value_parser = input::tokens)]
    context: u64,
    /// Leave out todos of priority 5 that nothing else waits for
    #[arg(long)]
    skip_optional: bool,
    /// Include todos that are larger than a whole window, last
    #[arg(long)]
    oversize: bool,
    /// Schedule this file in the extended format instead of the plan; `-` is standard input
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Print at most N lines of text
    #[arg(long, value_name = "N", default_value_t = LINES)]
    limit: usize,
}

#[derive(Clone, Copy, ValueEnum)]
enum SchedulePolicy {
    List,
    Level,
    Makespan,
}

impl ScheduleArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        let gantt = Gantt { width: project.width(), glyphs: project.glyphs(), cap: Cap::new(self.limit, usize::MAX) };
        let json = project.global.json;
        let (plan, now, calibration) = match &self.file {
            Some(file) => {
                let (text, now) = (files::read(file)?, environment::clock()());
                let (plan, ignored) = punch_engine::plan_of(Format::Extended, &text, now)?;
                if let Some(note) = not_understood(&ignored) {
                    output::remark(&note);
                }
                (plan, now, 1.0)
            }
            None => match project.read()? {
                ProjectPlan::Plan(open) => {
                    (open.engine.whole(open.plan)?, open.engine.now(), open.engine.calibration()?)
                }
                ProjectPlan::Empty(_) => (Plan::new(), 0, 1.0),
            },
        };
        let order = match self.policy {
            SchedulePolicy::List => ScheduleOrder::List,
            SchedulePolicy::Level => ScheduleOrder::Level,
            SchedulePolicy::Makespan => ScheduleOrder::Makespan,
        };
        let ask = ScheduleRequest {
            order,
            agents: self.agents,
            context: self.context,
            calibration,
            skip_optional: self.skip_optional,
            oversize: self.oversize,
        };
        let plan = never_freed(plan);
        if plan.row.counts.open() == 0 && !json {
            return Ok(VerbReply::new("Nothing to schedule: no todo is open.", Value::Null));
        }
        let made = schedule(&plan, &ask, now);
        let (lines, left) = gantt.draw(&ScheduleView::of(PlanReader::new(&plan, now), &made));
        if left > 0 && !json {
            output::remark(&format!(
                "{} not shown; --limit N shows more, --json all",
                crate::safety::count(left as u64, "more line")
            ));
        }
        Ok(VerbReply::new(lines, serde_json::to_value(&made).unwrap_or(Value::Null)))
    }
}
