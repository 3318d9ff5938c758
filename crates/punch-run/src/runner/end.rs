//! The end of a run: whether it is there, what it is called, and what stands in the way of the rest.

use std::collections::HashSet;

use punch_core::drive::roots;
use punch_core::{Plan, Status, Todo, Uid};
use punch_engine::{Code, Ended, RunOutcome, Saving, Why, WorkTree};

use super::plan_cache::PlanCache;
use super::seat::Seat;
use super::{Finished, Runner, Stop};
use crate::error::RunError;
use crate::run_event::{RunEvent, line};
use crate::worktree::Finish;

/// Roots that are named.
const NAMED: usize = 20;

/// Todos looked at to find them.
const VISITS: usize = 20_000;

impl Runner<'_, '_> {
    /// Nothing is under way, and nothing will come.
    pub(super) fn is_over(&mut self) -> Result<bool, RunError> {
        if self.seats.iter().any(|seat| !seat.state.is_idle()) {
            return Ok(false);
        }
        if self.stop.is_some() {
            return Ok(true);
        }
        let broken = self.seats.iter().all(Seat::is_broken);
        // What can be started waits for a seat that rests, or was refused just now and is looked at again.
        if !broken && self.best(&HashSet::new())?.is_some() {
            return Ok(false);
        }
        if broken || !self.may_wait()? {
            return Ok(true);
        }
        if !self.waiting {
            self.waiting = true;
            self.report(&RunEvent::Waiting {
                what: "nothing can be started now; time or somebody else will change that".into(),
            });
        }
        Ok(false)
    }

    /// Time alone will change something before long: a timer ends, a lease of somebody else runs out.
    fn may_wait(&mut self) -> Result<bool, RunError> {
        let now = self.world.engine.now();
        let longest = i64::try_from(self.world.settings.run_idle.value.as_millis()).unwrap_or(i64::MAX);
        let next = self.persist(|engine| engine.read(self.world.plan, |snapshot| Ok(snapshot.next_moment(now)?)))?;
        Ok(next.is_some_and(|next| next.saturating_sub(now) <= longest))
    }

    /// Says how it ended, keeps that, and tidies up.
    pub(super) fn end(&mut self) -> Result<Finished, RunError> {
        let stop = self.stop.take();
        let skip = self.options.skip_optional;
        let now = self.world.engine.now();
        let broken = self.seats.iter().find(|seat| seat.is_broken()).map(|seat| seat.start_error.clone());
        self.cache = PlanCache::default();
        let plan = self.plan()?;
        let failed = plan.row.counts.failed;
        let (outcome, mut because) = match stop {
            Some(Stop::Interrupted) => (RunOutcome::Interrupted, Vec::new()),
            Some(Stop::Budget(why)) => (RunOutcome::Budget, vec![why]),
            None => {
                let found = standing(plan, skip, now);
                let done = found.is_empty();
                (if done { RunOutcome::Done } else { RunOutcome::Stalled }, found)
            }
        };
        if outcome == RunOutcome::Stalled {
            because.splice(0..0, broken);
        }
        if self.completed > 0 {
            self.checkpoint("the end of a run");
        }
        if let Some(lanes) = self.lanes {
            self.tidy(lanes, &mut because)?;
        }
        let ended = Ended { outcome, because: because.clone() };
        self.persist(|engine| engine.end_run(self.world.plan, self.run.id, &ended))?;
        let (completed, spent) = (self.completed, self.meter.sum());
        self.report(&RunEvent::Ended { outcome, because: because.clone(), completed, failed, spent });
        Ok(Finished { run: self.run.id, outcome, because, completed, spent })
    }

    fn tidy(&self, lanes: &crate::worktree::Lanes, because: &mut Vec<String>) -> Result<(), RunError> {
        for left in lanes.sweep("Work that was not taken in\n")? {
            let branch = left.branch.map(|branch| format!("branch `{branch}`"));
            let folder = left.folder.map(|folder| format!("folder {}", folder.display()));
            let what: Vec<String> = [branch, folder, left.reason].into_iter().flatten().collect();
            because.push(line(&format!("work is left: {}", what.join(", "))));
        }
        match lanes.finish()? {
            Finish::Nothing | Finish::TakenIn => {}
            Finish::Waiting { branch, commits, command } => {
                because.push(format!("{commits} commits are on `{branch}`; take them in with `{command}`"));
            }
        }
        Ok(())
    }

    /// Keeps where plan and code stand. Without one the run goes on all the same.
    pub(super) fn checkpoint(&self, notes: &str) {
        let tree = WorkTree { root: self.world.root.clone(), git: None, consents: None };
        let (code, actor) = (Code::look(&tree), self.actor(None));
        let saving = Saving { why: Why::Batch, by: actor.by(), notes: Some(notes) };
        if let Err(error) = self.world.engine.checkpoint(self.world.plan, &code, &saving) {
            self.remark(format!("no checkpoint: {}", error.message()));
        }
    }
}

/// What is not done, and where waiting for it begins; nothing if all is done.
fn standing(plan: &Plan, skip_optional: bool, now: i64) -> Vec<String> {
    let now = now.max(plan.row.last_time);
    let live = plan.live();
    let failed = live.iter().filter(|todo| todo.status == Status::Failed).map(|todo| {
        let why = todo.last_error.as_deref().map(|why| format!(": {}", line(why))).unwrap_or_default();
        line(&format!("{} failed{why}", todo.id))
    });
    let mut out: Vec<String> = failed.collect();
    let wanted = |todo: &&&Todo| todo.status.is_open() && !(skip_optional && todo.effective_priority() >= 5);
    let open: Vec<Uid> = live.iter().filter(wanted).map(|todo| todo.uid).collect();
    if !open.is_empty() {
        let found = roots(plan, &open, None, now, VISITS).unwrap_or_default();
        // What failed is told already.
        let ids: Vec<&str> = live.iter().filter(|t| t.status == Status::Failed).map(|t| t.id.as_str()).collect();
        out.extend(
            found.named.iter().filter(|block| !ids.contains(&block.id.as_str())).map(|block| line(&block.text())),
        );
        if out.is_empty() {
            out.push(format!("{} todos are open, and none can be started", open.len()));
        }
    }
    let more = out.len().saturating_sub(NAMED);
    out.truncate(NAMED);
    if more > 0 {
        out.push(format!("… and {more} more"));
    }
    out
}
