//! Checks of todos that the session called done: starts those that have to run, and waits for them as long as the hook has
//! time.

use std::time::Duration;

use punch_core::drive::HostEvent;
use punch_core::{Todo, Uid, Verify};
use punch_engine::{BackgroundChecks, Engine, EngineError, Git, HookChecks, HostReport};
use punch_store::PlanId;

use super::HookRunner;

/// How long a stop waits for checks: less than agents give a hook, and than the hook gives itself.
const AT_STOP: Duration = Duration::from_secs(6);

/// How long the use of a tool waits for checks: most of those that are over at once are over by then.
const AFTER_TOOL: Duration = Duration::from_millis(700);

impl HookRunner<'_> {
    /// What starts checks for this session; `None` where the runner or nobody does.
    pub(super) fn starter(&self) -> Option<&dyn BackgroundChecks> {
        self.checks.filter(|_| self.assigned.is_none() && self.root.is_some())
    }

    /// Starts the checks of todos that the session called done before, if the event is one before which their results
    /// matter. A stop waits for them.
    pub(super) fn settle_checks(&self, engine: &Engine, report: &HostReport) -> Result<HookChecks, EngineError> {
        let Some(starter) = self.starter() else { return Ok(HookChecks::default()) };
        let mut checks = HookChecks { starts: true, ..HookChecks::default() };
        let wait = match report.event {
            HostEvent::Stopping { .. } if self.settings.keep_going_enabled.value => AT_STOP,
            HostEvent::Stopping { .. } | HostEvent::Prompted { by_person: true } => Duration::ZERO,
            _ => return Ok(checks),
        };
        let Some(plan) = engine.choose(&report.choice)? else { return Ok(checks) };
        if matches!(report.event, HostEvent::Stopping { .. }) {
            engine.report_plan_check_for(plan.id, report, self.settings)?;
        }
        let todos = engine.called_done(plan.id, &report.key)?;
        if todos.is_empty() {
            return Ok(checks);
        }
        // Files that are as they were when the check failed need no other check.
        let tree = self.root.as_deref().and_then(Git::at).and_then(|git| git.tree_hash().ok());
        let is_due = |todo: &Todo| {
            let failed_here = todo.failed_check().is_some_and(|failed| tree.is_some() && failed.tree == tree);
            todo.flags.reported || !failed_here
        };
        let due: Vec<Todo> = todos.into_iter().filter(is_due).collect();
        checks.unapproved = self.start_checks(engine, starter, report, plan.id, &due)?;
        let running: Vec<Uid> = due.iter().map(|todo| todo.uid).collect();
        starter.locks().wait(plan.id, &running, wait);
        Ok(checks)
    }

    /// Starts the checks of todos that the session has just called done, and explains the results of those that are
    /// over.
    pub(super) fn check_called_done(
        &self,
        engine: &Engine,
        report: &mut HostReport,
        uids: &[Uid],
    ) -> Result<Option<String>, EngineError> {
        let (Some(starter), Some(plan)) = (self.starter(), engine.choose(&report.choice)?) else { return Ok(None) };
        let todos = engine.called_done(plan.id, &report.key)?;
        let todos: Vec<Todo> = todos.into_iter().filter(|todo| uids.contains(&todo.uid)).collect();
        report.checks.unapproved = self.start_checks(engine, starter, report, plan.id, &todos)?;
        starter.locks().wait(plan.id, uids, AFTER_TOOL);
        engine.explain_checks(plan.id, report, uids)
    }

    /// Starts checks that are not running. Returns the todos whose checks the user has to approve first.
    fn start_checks(
        &self,
        engine: &Engine,
        starter: &dyn BackgroundChecks,
        report: &HostReport,
        plan: PlanId,
        todos: &[Todo],
    ) -> Result<Vec<Uid>, EngineError> {
        let mut unapproved = Vec::new();
        for todo in todos.iter().filter(|todo| !starter.locks().is_running(plan, todo.uid)) {
            if !todo.flags.reported {
                engine.report_done(plan, report, self.settings, todo.uid)?;
            }
            let plan_check = self.settings.plan_check();
            let is_approved = |command: &Verify| {
                let approved = self.consents.as_ref().is_some_and(|consents| consents.has(command));
                approved || plan_check.as_ref() == Some(command)
            };
            match todo.verify.as_ref().is_some_and(is_approved) {
                // The todo stays reported if the check does not start; the next stop tries again.
                true => drop(starter.start(plan, todo.uid, &report.agent)),
                false => unapproved.push(todo.uid),
            }
        }
        Ok(unapproved)
    }
}
