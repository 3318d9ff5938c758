//! Checks a reported todo on a thread of its own: settles the work of the lane, runs the todo's command, publishes the
//! commit, and completes the todo under its fence. Only this code completes todos in a run.

use punch_core::{Actor, Evidence, Footprint, Op, Policy, Ref, Refusal, Status, Todo, VerifyMode};
use punch_engine::{Checker, EngineError, GIT_ELSEWHERE, PassedCheck, Proofs, VerifyError, WorkTree, WriteRequest};

use super::seat::CheckVerdict;
use super::store_retry::StoreRetry;
use super::{Runner, RunnerMessage};
use crate::observer::{RunEvent, line};
use crate::worktree::{Lane, Lanes, PublishResult, SettleResult, WorktreeError};

/// Number of checks before giving up on a result branch or a todo that keeps changing.
const ROUNDS: usize = 5;

/// Number of checks whose work may be overtaken by that of others. In later ones no other check moves the result branch: a
/// slow check would lose against quick ones forever.
const OVERTAKEN: usize = 2;

impl Runner<'_, '_> {
    /// Begins the check of a todo; its verdict comes as a message. A todo that was worked on in a lane cannot be judged
    /// without it.
    pub(super) fn check(&mut self, todo: Todo, owner: String, lane: Option<Lane>, environment: Vec<(String, String)>) {
        if let Some(part) = self.fleet {
            return self.check_in_fleet(part, todo, owner, lane, environment);
        }
        let (store, send, lanes, run) = (self.store_retry(), self.send.clone(), self.lanes, self.run.id);
        let lane = match lanes {
            Some(lanes) if lane.is_none() => lanes.open(&todo.id).map(Some),
            _ => Ok(lane),
        };
        self.scope.spawn(move || {
            let uid = todo.uid;
            let verdict = match lane {
                Ok(lane) => Check { store, run, todo, owner, lane: lanes.zip(lane), environment, proof: None }.run(),
                Err(error) => Ok(CheckVerdict::Hold(format!("cannot create its worktree: {error}"))),
            };
            // The receiver is gone if the run has ended: the todo stays reported.
            let _ = send.send(RunnerMessage::Checked(uid, verdict));
        });
    }
}

pub(super) struct Check<'e> {
    pub store: StoreRetry<'e>,
    pub run: u64,
    pub todo: Todo,
    pub owner: String,
    pub lane: Option<(&'e Lanes, Lane)>,
    /// Variables of the lane.
    pub environment: Vec<(String, String)>,
    /// A check that a worker of the fleet has run, and the commit for which it passed.
    pub proof: Option<(String, Evidence)>,
}

impl Check<'_> {
    /// The error means that the store did not answer even after a while; the todo stays reported.
    pub(super) fn run(&self) -> Result<CheckVerdict, EngineError> {
        for round in 0..ROUNDS {
            let alone = self.lane.as_ref().filter(|_| round >= OVERTAKEN).map(|(lanes, _)| lanes.hold_result());
            match self.round(alone.is_some()) {
                Ok(Some(verdict)) => return Ok(verdict),
                // The result branch moved, or the command of the todo changed.
                Ok(None) => {}
                Err(error) => return self.verdict_on_error(error),
            }
        }
        Ok(CheckVerdict::Failed("the work of others kept changing while it was checked".to_owned()))
    }

    /// Returns the todo as it is now, if the claim still holds. Its command may have changed.
    pub(super) fn claimed_todo(&self) -> Result<Option<Todo>, EngineError> {
        let (uid, fence) = (self.todo.uid, self.todo.fence);
        let part = Footprint { todos: [uid].into(), ..Footprint::default() };
        let part = self.store.persist(|engine| engine.slice(self.store.world.plan, &part))?;
        let ours = |todo: &&Todo| todo.is_live() && todo.status == Status::InProgress && todo.fence == fence;
        Ok(part.get(uid).filter(ours).cloned())
    }

    /// Settles, checks and publishes the work; `None` if something has changed. `alone` if no other check can publish.
    fn round(&self, alone: bool) -> Result<Option<CheckVerdict>, EngineError> {
        let world = self.store.world;
        let Some(todo) = self.claimed_todo()? else {
            return Ok(Some(CheckVerdict::Lost("someone else has it now".to_owned())));
        };
        let mut is_unchanged = false;
        let (root, git, commit) = match &self.lane {
            None => (world.root.clone(), None, None),
            Some((lanes, lane)) => {
                // On one line: what follows could be read as trailers.
                let message = format!("{}: {}", line(&self.todo.id), punch_core::text::one_line(&self.todo.content));
                match self.store.with_remote(|| lanes.fetch()).and_then(|()| lanes.settle(lane, &message)) {
                    Ok(SettleResult::Held(held)) => {
                        let reason = held.reason();
                        return Ok(Some(match held.is_conflict() {
                            true => CheckVerdict::Conflict(reason),
                            false => CheckVerdict::Hold(reason),
                        }));
                    }
                    Ok(SettleResult::Ready { commit, .. }) => (lane.path.clone(), lanes.folders(lane), Some(commit)),
                    Ok(SettleResult::Nothing { commit }) => {
                        is_unchanged = true;
                        (lane.path.clone(), lanes.folders(lane), Some(commit))
                    }
                    // Another attempt would fail for the same reason: the user has to look at it.
                    Err(error @ WorktreeError::Relinked { .. }) => {
                        return Ok(Some(CheckVerdict::Hold(format!("{error}; {}", error.hint()))));
                    }
                    Err(error) => return Ok(Some(not_taken_in(&error))),
                }
            }
        };
        let tree = WorkTree { root, git, consents: world.consents.clone() };
        let plan = world.plan;
        let mut proofs = Proofs::default();
        proofs.extend(self.prove(&tree, &todo, commit.as_deref())?);
        if let (Some((lanes, lane)), Some(commit)) = (&self.lane, &commit) {
            // The result branch never moves back, so work without a valid claim must not get there.
            if self.claimed_todo()?.is_none() {
                return Ok(Some(CheckVerdict::Lost("someone else has it now".to_owned())));
            }
            let _turn = (!alone).then(|| lanes.share_result());
            match self.store.with_remote(|| lanes.publish(lane, commit)) {
                Ok(PublishResult::Now) => {}
                Ok(PublishResult::Moved) => return Ok(None),
                Ok(PublishResult::CheckedOut { path }) => {
                    let why = format!("`{}` is checked out in {path}: leave it there", lanes.result_branch());
                    return Ok(Some(CheckVerdict::Hold(why)));
                }
                Err(error) => return Ok(Some(not_taken_in(&error))),
            }
        }
        let commit = commit.or_else(|| tree.commit());
        let preset: fn(Policy) -> Policy = match todo.verify.is_some() {
            true => |policy| Policy { verify: VerifyMode::Command, ..policy },
            false => |policy| policy,
        };
        let request = WriteRequest {
            preset,
            settings: Some(world.settings),
            commit: commit.as_deref(),
            proofs: Some(&proofs),
            tree: Some(&tree.root),
            git: tree.git.as_ref(),
            ..WriteRequest::of(Actor::runner(self.run, Some(&self.owner)))
        };
        let done = Op::Done { target: Ref::Uid(self.todo.uid), evidence: None, fence: Some(self.todo.fence) };
        match self.store.persist(|engine| engine.submit(plan, &request, std::slice::from_ref(&done))) {
            Ok(_) => {
                if is_unchanged && todo.verify.is_none() {
                    let what = format!("{} is done without a check, and no file was changed for it", line(&todo.id));
                    self.store.journal.report(&RunEvent::Remark { what });
                }
                Ok(Some(CheckVerdict::Done))
            }
            Err(EngineError::Refused(refusals))
                if refusals.iter().any(|refusal| matches!(refusal, Refusal::NeedsVerification { .. })) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Runs the check of the todo, if it has one. What a worker has checked, for exactly this commit, is not checked again.
    pub(super) fn prove(
        &self,
        tree: &WorkTree,
        todo: &Todo,
        commit: Option<&str>,
    ) -> Result<Option<PassedCheck>, EngineError> {
        let world = self.store.world;
        if todo.verify.is_none() {
            return Ok(None);
        }
        let known = self.proof.as_ref().filter(|(checked, proof)| {
            Some(checked.as_str()) == commit && proof.command == todo.verify && proof.passed()
        });
        if let Some((_, evidence)) = known {
            return Ok(Some(PassedCheck::of(todo, evidence.clone())));
        }
        let stopped = || self.store.interrupt.is_asked();
        // Nothing may lead the command's git out of the lane.
        let without: &[&str] = if self.lane.is_some() { &GIT_ELSEWHERE } else { &[] };
        let environment = &self.environment;
        let plan_check = world.settings.plan_check();
        let checker =
            Checker { without, environment, plan_check, ..tree.checker(world.settings.verify_timeout.value, &stopped) };
        self.store.persist(|engine| engine.prove(world.plan, &checker, &todo.id)).map(Some)
    }

    pub(super) fn verdict_on_error(&self, error: EngineError) -> Result<CheckVerdict, EngineError> {
        Ok(match error {
            EngineError::Verify(VerifyError::Stopped { .. }) => CheckVerdict::Stopped,
            EngineError::Verify(error @ VerifyError::Consent { .. }) => {
                CheckVerdict::Hold(format!("{}; {}", error.message(), error.hint()))
            }
            EngineError::Verify(error) => CheckVerdict::Failed(error.message()),
            // The agent's own tests failed last, and the plan requires evidence.
            EngineError::Refused(refusals) if refusals.iter().any(is_failing) => CheckVerdict::Failed(words(&refusals)),
            EngineError::Refused(refusals) => CheckVerdict::Lost(words(&refusals)),
            EngineError::NotFound { .. } => CheckVerdict::Lost("it is not in the plan any more".to_owned()),
            error => return Err(error),
        })
    }
}

const fn is_failing(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::FailingCheck { .. })
}

fn words(refusals: &[Refusal]) -> String {
    refusals.first().map(Refusal::message).unwrap_or_default()
}

/// Returns the verdict on work that git does not take in. What the remote of a fleet refuses is not the agent's fault.
pub(super) fn not_taken_in(error: &WorktreeError) -> CheckVerdict {
    match error {
        WorktreeError::Remote { .. }
        | WorktreeError::Refused { .. }
        | WorktreeError::Rewritten { .. }
        | WorktreeError::RemoteBranchTaken { .. }
        | WorktreeError::BranchTaken { .. }
        | WorktreeError::NoRemote { .. } => CheckVerdict::Hold(format!("{error}; {}", error.hint())),
        error => CheckVerdict::Failed(format!("cannot merge its work: {error}")),
    }
}
