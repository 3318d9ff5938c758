//! Records what an agent's tools change and check while a todo is in progress (decision 0110). It is stored with the
//! session, so a report writes one row at most, and becomes evidence when the todo is completed.

use std::path::{Component, Path};

use punch_core::drive::{ToolUse, UNCHECKED, ask_for_checks, drift_note, missing_evidence};
use punch_core::evidence::{Observation, ShellStep, selected, selects, steps};
use punch_core::{Evidence, Op, Ref, Refusal, Status, Todo, Uid, VerifyMode, files};
use punch_store::{PlanId, Snapshot};

use super::HostReport;
use super::listen::{Listener, PlanSession, ReportOutcome};
use super::naming::TodoNaming;
use crate::config::Settings;
use crate::{Engine, EngineError, Role, SessionState, observed_work};

/// Todos that a session was asked about.
const ASKED: usize = 20;

impl SessionState {
    /// Remembers that its agent was asked for a check of a todo.
    pub(crate) fn add_asked(&mut self, uid: Uid) {
        self.asked.retain(|known| *known != uid);
        self.asked.push(uid);
        self.asked.drain(..self.asked.len().saturating_sub(ASKED));
        self.asked_again.retain(|known| self.asked.contains(known));
    }
}

impl Listener<'_> {
    /// Records what a tool changed and checked. Returns a note for the agent if it changed a file outside those that its
    /// todo declares, once for each todo.
    pub(super) fn observe_work(
        &self,
        tool: &ToolUse,
        who: &mut PlanSession,
        outcome: &mut ReportOutcome,
    ) -> Result<Option<String>, EngineError> {
        if !who.state.asked.is_empty() && self.ran_unseen_check(tool) {
            // It did what it was asked for, and nobody can see the result: asking again would not help.
            who.state.asked_again.clone_from(&who.state.asked);
        }
        let steps = self.steps(tool);
        if steps.is_empty() {
            return Ok(None);
        }
        if who.bound() {
            let own = self.own_work(&who.owner, &who.state)?;
            return Ok(self.take_steps(steps, &own, &mut who.state, outcome));
        }
        // A subagent without todos works on those of its main agent.
        let helps = self.report.key.subagent().is_some() && who.state.role != Role::Worker;
        let Some(mut main) = self.main()?.filter(|_| helps) else { return Ok(None) };
        let own = self.own_work(self.report.key.session_id(), &main)?;
        let before = main.clone();
        let note = self.take_steps(steps, &own, &mut main, outcome);
        if main != before {
            outcome.main = Some(main);
        }
        Ok(note)
    }

    fn take_steps(
        &self,
        steps: Vec<ShellStep>,
        own: &[Todo],
        state: &mut SessionState,
        outcome: &mut ReportOutcome,
    ) -> Option<String> {
        let mut note = None;
        let naming = TodoNaming::of(state, self.settings);
        for step in steps {
            let todos = match &step {
                ShellStep::Changed(path) => changed_for(path, own, state).into_iter().collect(),
                ShellStep::Checked(run) => checked_for(&run.command, own, state),
            };
            for todo in todos {
                let seen = observation(state, todo);
                if let ShellStep::Changed(path) = &step
                    && is_drift(todo, path)
                    && seen.drifted(path)
                {
                    note = Some(drift_note(&naming.name(todo), path, &todo.files));
                    outcome.drift = Some((todo.uid, seen.drift(self.now)));
                }
                seen.take(step.clone(), self.now);
            }
        }
        // Of an observation that saw nothing new nothing is stored.
        state.observed.retain(|(uid, seen)| {
            let empty = Observation { started_at: seen.started_at, ..Observation::default() };
            *seen != empty && own.iter().any(|todo| todo.uid == *uid)
        });
        note
    }

    /// What the tool did, with paths relative to the worktree. Files elsewhere do not belong to the work.
    fn steps(&self, tool: &ToolUse) -> Vec<ShellStep> {
        let patched = tool.ran.iter().flat_map(|ran| &ran.files);
        let mut out: Vec<ShellStep> = tool.files.iter().chain(patched).cloned().map(ShellStep::Changed).collect();
        if let Some(ran) = &tool.ran {
            out.extend(steps(&ran.line, ran.exit_code, &self.settings.own_checks()));
        }
        out.retain_mut(|step| match step {
            ShellStep::Changed(path) if path.is_empty() => true,
            ShellStep::Changed(path) => match inside(self.report.tree.as_deref(), path) {
                Some(inner) => {
                    *path = inner;
                    true
                }
                None => false,
            },
            ShellStep::Checked(_) => true,
        });
        out
    }

    /// Returns true for a check whose exit code the agent does not report.
    fn ran_unseen_check(&self, tool: &ToolUse) -> bool {
        let unseen = tool.ran.as_ref().filter(|ran| ran.exit_code.is_none());
        let checks = |line: &str| steps(line, Some(0), &self.settings.own_checks()).iter().any(is_check);
        unseen.is_some_and(|ran| checks(&ran.line))
    }

    /// The todos that a session has in progress.
    fn own_work(&self, owner: &str, state: &SessionState) -> Result<Vec<Todo>, EngineError> {
        let mine = |todo: &&Todo| {
            let owned = match todo.owner.as_deref() {
                Some(name) => name == owner,
                None => state.scope.contains(&todo.uid),
            };
            owned && todo.status_at(self.now) == Status::InProgress
        };
        Ok(self.running()?.iter().filter(mine).cloned().collect())
    }

    /// Adds to a continuation which todos stay open because they lack a passing check: those whose last check failed,
    /// and once more those for which no check was seen.
    pub(super) fn ask_again(&self, who: &mut PlanSession, outcome: &mut ReportOutcome) -> Result<(), EngineError> {
        let Some(text) = outcome.effect.go_on.as_mut().filter(|_| !who.state.asked.is_empty()) else { return Ok(()) };
        let running = self.own_work(&who.owner, &who.state)?;
        let asked: Vec<&Todo> = running.iter().filter(|todo| who.state.asked.contains(&todo.uid)).collect();
        let naming = TodoNaming::of(&who.state, self.settings);
        let refusal = |todo: &&Todo| {
            let seen = observed_work::work(&who.state, todo, self.now).evidence?;
            let command = seen.command.as_ref().filter(|_| !seen.passed())?.line();
            Some(Refusal::FailingCheck { id: naming.name(todo), command, outcome: seen.outcome() })
        };
        let (failing, mut unchecked): (Vec<&Todo>, Vec<&Todo>) =
            asked.into_iter().partition(|todo| refusal(todo).is_some());
        unchecked.retain(|todo| !who.state.asked_again.contains(&todo.uid));
        unchecked.truncate(UNCHECKED);
        let failing = failing.iter().filter_map(refusal).filter_map(|refusal| missing_evidence(&refusal)).take(2);
        for line in failing.chain(ask_for_checks(&unchecked, who.words(self.settings))) {
            text.push('\n');
            text.push_str(&line);
        }
        who.state.asked_again.extend(unchecked.iter().map(|todo| todo.uid));
        Ok(())
    }
}

const fn is_check(step: &ShellStep) -> bool {
    matches!(step, ShellStep::Checked(_))
}

/// The todo that a change belongs to: the one in progress that was started last. A todo that waits for its check keeps the
/// files that it changed, unless the one after it changed them too.
fn changed_for<'t>(path: &str, own: &'t [Todo], state: &SessionState) -> Option<&'t Todo> {
    let changed = |todo: &&Todo| files_of(todo, state).any(|file| file == path);
    let latest = started_last(own, state)?;
    last_asked(own, state, changed).filter(|_| !changed(&latest)).or(Some(latest))
}

/// The todos that a check counts for. One that selects a part of the project counts for the todos with files in that part; if
/// none has any, it answers the last question for a check, or belongs to what was started last.
fn checked_for<'t>(command: &str, own: &'t [Todo], state: &SessionState) -> Vec<&'t Todo> {
    let parts = selected(command);
    if parts.is_empty() {
        return own.iter().collect();
    }
    let is_selected = |todo: &&Todo| files_of(todo, state).any(|file| parts.iter().any(|part| selects(part, file)));
    let found: Vec<&Todo> = own.iter().filter(is_selected).collect();
    if !found.is_empty() {
        return found;
    }
    // Of a todo whose files are known, none is in that part.
    let unknown = last_asked(own, state, |todo| files_of(todo, state).next().is_none());
    unknown.or_else(|| last_asked(own, state, |_| true)).or_else(|| started_last(own, state)).into_iter().collect()
}

/// The todo in progress that was started last; one that waits for its check only if there is no other.
fn started_last<'t>(own: &'t [Todo], state: &SessionState) -> Option<&'t Todo> {
    own.iter().max_by_key(|todo| (!state.asked.contains(&todo.uid), todo.started_at, todo.uid))
}

/// The todo in progress that the agent was asked about last.
fn last_asked<'t>(own: &'t [Todo], state: &SessionState, which: impl Fn(&&Todo) -> bool) -> Option<&'t Todo> {
    let named = |uid: &Uid| own.iter().find(|todo| todo.uid == *uid && which(todo));
    state.asked.iter().rev().find_map(named)
}

/// The files that a todo changed, and those that it declares.
fn files_of<'s>(todo: &'s Todo, state: &'s SessionState) -> impl Iterator<Item = &'s str> {
    let seen = state.observed.iter().filter(move |(uid, seen)| *uid == todo.uid && seen.started_at == todo.started_at);
    seen.flat_map(|(_, seen)| &seen.files).chain(&todo.files).map(String::as_str)
}

/// Returns where the observation of a todo is stored; an observation of an earlier start is dropped.
fn observation<'s>(state: &'s mut SessionState, todo: &Todo) -> &'s mut Observation {
    let fresh = || Observation { started_at: todo.started_at, ..Observation::default() };
    let at = match state.observed.iter().position(|(uid, _)| *uid == todo.uid) {
        Some(at) => at,
        None => {
            state.observed.push((todo.uid, fresh()));
            state.observed.len() - 1
        }
    };
    let seen = &mut state.observed[at].1;
    if seen.started_at != todo.started_at {
        *seen = fresh();
    }
    seen
}

/// Returns true for a file that the todo does not declare. Lock files change along with others and belong to all of them.
fn is_drift(todo: &Todo, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let lock = Path::new(name).extension().is_some_and(|end| end == "lock")
        || matches!(name, "package-lock.json" | "pnpm-lock.yaml" | "go.sum");
    !path.is_empty() && !lock && !todo.files.is_empty() && !todo.files.iter().any(|glob| files::matches(glob, path))
}

/// A path relative to the worktree; `None` if it is elsewhere. Without a worktree only relative paths are known.
fn inside(tree: Option<&Path>, path: &str) -> Option<String> {
    let path = Path::new(path);
    let inner = if path.is_absolute() { path.strip_prefix(tree?).ok()? } else { path };
    let mut out = Vec::new();
    for part in inner.components() {
        match part {
            Component::Normal(part) => out.push(part.to_str()?),
            Component::CurDir => {}
            Component::ParentDir => drop(out.pop()?),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    let outside = matches!(out.first(), None | Some(&".git"));
    (!outside).then(|| out.join("/"))
}

/// Stores which files outside of a todo were changed.
pub(super) fn drift_op(uid: Uid, seen: &Evidence) -> Op {
    Op::RecordCheck { target: Ref::Uid(uid), found: seen.clone() }
}

impl Engine {
    /// Completes todos that the agent's own list calls done and that were refused for lack of a check. Todos whose
    /// check failed stay open.
    pub(super) fn complete_asked(
        &self,
        plan: PlanId,
        report: &HostReport,
        settings: &Settings,
        which: CompletionQuestion,
    ) -> Result<(), EngineError> {
        let wanted = self.read(plan, |snapshot| {
            let Some(found) = snapshot.session(&report.key)? else { return Ok(Vec::new()) };
            let state = crate::session::read(&found);
            let policy = settings.policy_over(snapshot.row()?.policy);
            if state.asked.is_empty() || !crate::call::is_mirrored(&state) || policy.verify != VerifyMode::Evidence {
                return Ok(Vec::new());
            }
            listed_done(snapshot, &state, self.now(), which)
        })?;
        for uid in wanted {
            let op = Op::Done { target: Ref::Uid(uid), evidence: None, fence: None };
            match self.submit(plan, &report.request(settings), &[op]) {
                Ok(_) | Err(EngineError::Refused(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Which of the todos that an agent was asked about are completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CompletionQuestion {
    /// Those whose check has passed since.
    Checked,
    /// Those and the ones that it was asked about twice.
    Twice,
    /// All of them: the agent stops.
    All,
}

/// The todos in progress that the agent was asked about, and that its own list still calls done.
fn listed_done(
    snapshot: &dyn Snapshot,
    state: &SessionState,
    now: i64,
    which: CompletionQuestion,
) -> Result<Vec<Uid>, EngineError> {
    let done = crate::call::called_done(state);
    let mut out = Vec::new();
    for uid in state.asked.iter().filter(|uid| done.contains(uid)) {
        let mut part = punch_core::Plan::slice(snapshot.row()?);
        snapshot.load(&punch_core::Footprint { todos: [*uid].into(), ..Default::default() }, &mut part)?;
        let Some(todo) = part.get(*uid).filter(|todo| todo.status == Status::InProgress) else { continue };
        let seen = observed_work::work(state, todo, now).evidence;
        let proof = seen.as_ref().and_then(Evidence::observed_proof);
        let is_wanted = match which {
            CompletionQuestion::Checked => false,
            CompletionQuestion::Twice => state.asked_again.contains(uid),
            CompletionQuestion::All => true,
        };
        if is_wanted || proof == Some(punch_core::Proof::Checked) {
            out.push(*uid);
        }
    }
    Ok(out)
}
