//! `punch check-reported`: decides about a todo that an agent reported as done. Hooks and servers start it and do not
//! wait for it, so problems go to the log of hooks.

use clap::Args;
use punch_core::Uid;
use punch_engine::{CheckLocks, Checker, EngineError, WriteRequest};
use punch_store::PlanId;

use super::notify_inbox::Notifier;
use crate::arguments::Global;
use crate::failure::{Exit, Failure};
use crate::project::Project;
use crate::{hook_log, output};

/// Help at length.
pub const LONG_ABOUT: &str = "\
Run the check of a todo that an agent reported as done, and complete the todo if it passes.

Hooks and servers start this, not you: use `punch verify`. The command must be approved. While it runs, no other check of the \
todo starts on this machine.";

/// The arguments of `punch check-reported`.
#[derive(Args)]
pub struct CheckReportedArgs {
    /// The number of the plan
    #[arg(value_name = "PLAN")]
    plan_number: i64,
    /// The number of the todo
    #[arg(value_name = "TODO")]
    todo_number: u64,
    /// The agent that reported it
    agent: String,
}

impl CheckReportedArgs {
    /// Runs the check. Never fails: no one would read the error.
    pub fn run(self, global: Global) -> Exit {
        let what = format!("check of #{} for {}", self.todo_number, self.agent);
        if let Err(failure) = self.judge(global) {
            let (message, _) = failure.text().unwrap_or_default();
            hook_log::say(None, &format!("{what}: {}: {message}", failure.code()));
        }
        Exit::Ok
    }

    fn judge(self, global: Global) -> Result<(), Failure> {
        let project = Project::find(global)?;
        let (plan, uid) = (PlanId(self.plan_number), Uid(self.todo_number));
        let locks = CheckLocks::beside(&project.location.database);
        let lock = locks.take(plan, uid).map_err(|cause| Failure::File("the lock of the check".into(), cause))?;
        let Some(lock) = lock else { return Ok(()) };
        output::document("running\n")?;
        let Some(engine) = project.engine()? else { return Ok(()) };
        let settings = project.config.for_agent(&self.agent);
        let checker = Checker { limit: settings.verify_timeout.value, ..project.checker() };
        let part = punch_core::Footprint { todos: [uid].into(), ..Default::default() };
        let owner = engine.slice(plan, &part)?.get(uid).and_then(|todo| todo.owner.clone());
        let request = WriteRequest {
            settings: Some(settings),
            tree: Some(&project.location.project_root),
            ..WriteRequest::by(&self.agent, owner.as_deref())
        };
        let verdict = engine.judge_report(plan, uid, &checker, &request);
        drop(lock);
        if let Some(notifier) = Notifier::of(&project) {
            notifier.start();
        }
        if let Some(safety) = project.safety() {
            safety.keep();
        }
        match verdict? {
            punch_engine::ReportVerdict::NotRun(error) => Err(EngineError::from(error).into()),
            _ => Ok(()),
        }
    }
}
