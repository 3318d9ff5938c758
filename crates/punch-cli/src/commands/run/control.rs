//! `punch run pause`, `resume` and `stop`: control a run in another process. `list` and `show` look at runs.

use clap::{Args, Subcommand};
use punch_core::Actor;
use punch_engine::ControlResult;
use punch_store::RequestedState;
use serde_json::json;

use crate::arguments::Global;
use crate::commands::runs::{RunsArgs, ShownRun};
use crate::failure::Failure;
use crate::guard;
use crate::project::Project;
use crate::reply::VerbReply;

/// What can be wanted of a run.
#[derive(Subcommand)]
pub enum RunControl {
    /// Finish work in progress and start nothing new
    Pause(ControlTarget),
    /// Continue a paused run or seat, or give a stopped seat work again
    Resume(ControlTarget),
    /// Stop agents and return their todos to the queue
    Stop(ControlTarget),
    /// List past runs: how they ended and what they cost
    List {
        /// Show at most N runs
        #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
        limit: usize,
    },
    /// Show one run: what happened, and what each todo cost
    Show(ShownRun),
}

/// The run or seat that is meant.
#[derive(Args)]
pub struct ControlTarget {
    /// The number of the run [default: the one that is running]
    #[arg(value_name = "RUN")]
    run: Option<u64>,
    /// Only this seat, as `punch run show` numbers them
    #[arg(long, value_name = "N")]
    seat: Option<u32>,
}

impl RunControl {
    /// Stores the user's request. The runner acts on it within a second.
    pub fn run(self, global: Global) -> Result<VerbReply, Failure> {
        let (target, wanted, verb) = match self {
            Self::List { limit } => return RunsArgs::list(limit).run(Project::find(global)?),
            Self::Show(run) => return RunsArgs::show(run).run(Project::find(global)?),
            Self::Pause(target) => (target, RequestedState::Pause, "pause"),
            Self::Resume(target) => (target, RequestedState::Go, "resume"),
            Self::Stop(target) => (target, RequestedState::Stop, "stop"),
        };
        guard::only_user(&format!("{verb} a run"))?;
        let none =
            || Failure::refused("not_running", "no run is active on this plan", "`punch run list` shows past runs");
        let Some(open) = Project::find_from(global, None, Vec::new())?.read()?.plan() else { return Err(none()) };
        let run = match target.run {
            Some(run) => run,
            None => open.engine.running(open.plan)?.ok_or_else(none)?.id,
        };
        match open.engine.control_run(open.plan, run, target.seat, wanted, &Actor::user())? {
            ControlResult::Stored => {}
            ControlResult::NoRun => {
                return Err(Failure::refused(
                    "unknown_run",
                    format!("there is no run {run}"),
                    "`punch run list` shows them",
                ));
            }
            ControlResult::NotRunning => {
                let hint = "`punch run` resumes the last run if it was cut short";
                return Err(Failure::refused("not_running", format!("run {run} is not running"), hint));
            }
            ControlResult::NoSeat => {
                let seat = target.seat.unwrap_or_default();
                let message = format!("run {run} has no seat {seat}");
                return Err(Failure::refused("unknown_seat", message, "`punch run show` lists its seats"));
            }
        }
        let what = target.seat.map_or_else(|| format!("Run {run}"), |seat| format!("Seat {seat} of run {run}"));
        let text = match (wanted, target.seat) {
            (RequestedState::Go, _) => format!("{what} continues."),
            (RequestedState::Pause, _) => format!("{what} finishes work in progress and starts nothing new."),
            (RequestedState::Stop, _) => format!("{what} stops; its agents are asked to end."),
        };
        let json = json!({"run": run, "seat": target.seat, "wanted": wanted.as_str()});
        Ok(VerbReply::new(text, json).after_write())
    }
}
