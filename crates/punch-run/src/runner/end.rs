//! The end of a run: whether it has been reached, the outcome, and what blocks the todos that are still open.

use std::collections::HashSet;

use punch_core::drive::roots;
use punch_core::reason::{Cause, PlanReader, WorkLimits};
use punch_core::time::utc;
use punch_core::{Status, Todo, Uid};
use punch_engine::{CheckpointReason, Code, RunEnd, RunOutcome, Saving, WorkTree};

use super::plan_cache::PlanCache;
use super::seat::Seat;
use super::{RunResult, Runner, StopCause};
use crate::error::RunError;
use crate::observer::{RunEvent, line};
use crate::worktree::ResultState;

/// Number of lines about what blocks open todos.
const NAMED: usize = 20;

/// Number of todos visited to find out what blocks the open ones.
const VISITS: usize = 20_000;

impl Runner<'_, '_> {
    /// Returns true if no seat is at work and no todo will become ready.
    pub(super) fn is_over(&mut self) -> Result<bool, RunError> {
        if self.seats.iter().any(|seat| !seat.state.is_idle()) {
            return Ok(false);
        }
        if self.stop.is_some() {
            return match self.fleet {
                // The worker stays, and so does the run: the user may continue it.
                Some(part) if !self.interrupt.is_asked() => self.is_stopped_part_over(part),
                _ => Ok(true),
            };
        }
        if let Some(part) = self.fleet {
            return self.is_part_over(part);
        }
        if self.seats.iter().all(Seat::is_stopped) && self.seats.iter().any(|seat| seat.stop_requested) {
            self.stop = Some(StopCause::Interrupted);
            return Ok(true);
        }
        if self.is_paused() && self.plan()?.row.counts.open() > 0 {
            self.report_waiting("the run is paused; `punch run resume` continues it");
            return Ok(false);
        }
        let broken = self.seats.iter().all(Seat::is_broken);
        // A todo waits for a resting seat, or could not be started just now and is tried again.
        if !broken && self.best(&HashSet::new())?.is_some() {
            self.stop = self.usage_limit_of_all().map(StopCause::Budget);
            return Ok(self.stop.is_some());
        }
        if self.check_plan()? {
            return Ok(false);
        }
        if broken || !self.may_wait()? {
            return Ok(true);
        }
        self.report_waiting("nothing can start now; the run waits for a timer or another worker");
        Ok(false)
    }

    /// Returns the usage limit that keeps the last agents from working, in words, if the run does not wait for its reset.
    fn usage_limit_of_all(&self) -> Option<String> {
        if !self.seats.iter().all(Seat::is_out) {
            return None;
        }
        let mut limited = self.seats.iter().filter_map(|seat| Some((seat, seat.sleep.as_ref()?)));
        let (seat, sleep) = limited.next()?;
        let reset = sleep.reset.map(|at| format!("; it is reset at {}", utc(at))).unwrap_or_default();
        let (name, message) = (line(&seat.name), &sleep.message);
        Some(line(&format!("{name} reached its usage limit{reset} ({message}). `punch run` resumes this run")))
    }

    /// Returns true if the user paused the run, or every seat that could work.
    fn is_paused(&self) -> bool {
        let waits = |seat: &Seat| seat.paused || seat.is_stopped();
        self.paused || (self.seats.iter().all(waits) && self.seats.iter().any(|seat| seat.paused))
    }

    pub(super) fn report_waiting(&mut self, what: &str) {
        if !self.waiting {
            self.waiting = true;
            self.report(&RunEvent::Waiting { what: what.into() });
        }
    }

    /// Returns true if time alone will make a todo ready soon: a timer ends, or another owner's lease runs out.
    fn may_wait(&mut self) -> Result<bool, RunError> {
        let now = self.world.engine.now();
        let longest = i64::try_from(self.world.settings.run_idle.value.as_millis()).unwrap_or(i64::MAX);
        let next = self.persist(|engine| engine.read(self.world.plan, |snapshot| Ok(snapshot.next_moment(now)?)))?;
        Ok(next.is_some_and(|next| next.saturating_sub(now) <= longest))
    }

    /// Determines the outcome, cleans up the lanes, and records and reports the outcome.
    pub(super) fn end(&mut self) -> Result<RunResult, RunError> {
        if let Some(finished) = self.end_part()? {
            return Ok(finished);
        }
        let stop = self.stop.take();
        let now = self.world.engine.now();
        let broken = self.seats.iter().find(|seat| seat.is_broken()).map(|seat| seat.start_error.clone());
        self.cache = PlanCache::default();
        let (limits, takes_oversize) = (WorkLimits::of(&self.schedule_request()), self.options.oversize);
        let plan = self.plan()?;
        let reader = PlanReader::new(plan, now).within(limits);
        let failed = plan.row.counts.failed;
        let (outcome, mut because) = match stop {
            Some(StopCause::Interrupted) => (RunOutcome::Interrupted, Vec::new()),
            Some(StopCause::Budget(why)) => (RunOutcome::Budget, vec![why]),
            None => {
                let mut found = unfinished(reader, takes_oversize);
                let outcome = if found.is_empty() { RunOutcome::Done } else { RunOutcome::Stalled };
                found.extend(optional(reader));
                (outcome, found)
            }
        };
        if outcome == RunOutcome::Stalled {
            because.splice(0..0, broken);
        }
        if self.completed > 0 {
            self.checkpoint("the end of a run");
        }
        let result = self.lanes.map(|lanes| self.close_lanes(lanes, &mut because)).transpose()?.flatten();
        let ended = RunEnd { outcome, because: because.clone(), result };
        let (completed, spent) = (self.completed, self.meter.sum());
        self.report(&RunEvent::Ended { outcome, because: because.clone(), completed, failed, spent });
        self.notify(ended_message(&self.world.plan_name, self.run.id, &ended, completed));
        self.publish();
        self.persist(|engine| engine.end_run(self.world.plan, self.run.id, &ended))?;
        Ok(RunResult { run: self.run.id, outcome, because, completed, spent })
    }

    /// Closes the lanes, and returns the result branch if its commits have to be merged.
    fn close_lanes(
        &self,
        lanes: &crate::worktree::Lanes,
        because: &mut Vec<String>,
    ) -> Result<Option<String>, RunError> {
        for left in lanes.sweep("Work that was not merged\n")? {
            let branch = left.branch.map(|branch| format!("branch `{branch}`"));
            let folder = left.folder.map(|folder| format!("folder {}", folder.display()));
            let what: Vec<String> = [branch, folder, left.reason].into_iter().flatten().collect();
            because.push(line(&format!("work left behind: {}", what.join(", "))));
        }
        Ok(match lanes.finish()? {
            ResultState::Nothing | ResultState::TakenIn => None,
            ResultState::Waiting { branch, commits, command } => {
                because.push(match commits {
                    1 => format!("1 commit is on `{branch}`"),
                    commits => format!("{commits} commits are on `{branch}`"),
                });
                // On a separate line, so that it can be copied.
                because.push(format!("to merge: `{command}`"));
                Some(branch)
            }
        })
    }

    /// Saves a snapshot of the plan and the git state. The run continues if that fails.
    pub(super) fn checkpoint(&self, notes: &str) {
        let tree = WorkTree { root: self.world.root.clone(), git: None, consents: None };
        let (code, actor) = (Code::look(&tree), self.actor(None));
        let saving = Saving { why: CheckpointReason::Batch, by: actor.by(), notes: Some(notes) };
        if let Err(error) = self.world.engine.checkpoint(self.world.plan, &code, &saving) {
            self.remark(format!("no checkpoint: {}", error.message()));
        }
    }
}

/// Returns the text for the user who is not at the terminal.
fn ended_message(plan: &str, run: u64, ended: &RunEnd, completed: u64) -> String {
    let todos = if completed == 1 { "1 todo" } else { &format!("{completed} todos") };
    let head = format!("plan {plan}: run {run} ended ({}), {todos} completed\n", ended.outcome.name());
    ended.because.iter().fold(head, |text, why| text + why + "\n")
}

/// Returns what failed and what blocks the open todos, one line each; nothing if everything is done.
fn unfinished(reader: PlanReader<'_>, takes_oversize: bool) -> Vec<String> {
    let (plan, now) = (reader.plan, reader.now);
    let live = plan.live();
    let failed = live.iter().filter(|todo| todo.status == Status::Failed).map(|todo| {
        let why = todo.last_error.as_deref().map(|why| format!(": {}", line(why))).unwrap_or_default();
        line(&format!("{} failed{why}", todo.id))
    });
    let mut out: Vec<String> = failed.collect();
    let is_left_out = |todo: &Todo, cause| reader.left_out(todo).is_some_and(|reason| reason.cause == cause);
    let wanted = |todo: &&&Todo| todo.is_open_work() && !is_left_out(todo, Cause::Optional);
    let open: Vec<Uid> = live.iter().filter(wanted).map(|todo| todo.uid).collect();
    if !open.is_empty() {
        let found = roots(plan, &open, None, now, VISITS).unwrap_or_default();
        // Failed todos are already listed.
        let ids: Vec<&str> = live.iter().filter(|t| t.status == Status::Failed).map(|t| t.id.as_str()).collect();
        out.extend(
            found.named.iter().filter(|block| !ids.contains(&block.id.as_str())).map(|block| line(&block.text())),
        );
        let ready = live.iter().filter(wanted).filter(|todo| !takes_oversize && todo.is_ready(now));
        let oversize = ready.filter_map(|todo| reader.left_out(todo));
        out.extend(oversize.map(|reason| line(&format!("{}; split it, or run with `--oversize`", reason.text()))));
        if out.is_empty() {
            out.push(match open.len() {
                1 => "1 todo is open, but it cannot be started".to_owned(),
                open => format!("{open} todos are open, but none can be started"),
            });
        }
    }
    let more = out.len().saturating_sub(NAMED);
    out.truncate(NAMED);
    if more > 0 {
        out.push(format!("… and {more} more"));
    }
    out
}

/// Names the optional todos that a run without them leaves open.
fn optional(reader: PlanReader<'_>) -> Option<String> {
    let live = reader.plan.live();
    let is_left_out = |todo: &Todo| reader.left_out(todo).is_some_and(|reason| reason.cause == Cause::Optional);
    let left = live.iter().filter(|todo| todo.is_open_work() && is_left_out(todo));
    let mut ids: Vec<String> = left.map(|todo| line(&todo.id)).collect();
    let more = ids.len().saturating_sub(NAMED);
    ids.truncate(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!ids.is_empty()).then(|| format!("optional, so left open: {}{more}", ids.join(", ")))
}
