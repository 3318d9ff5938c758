//! Checks in a fleet. A worker settles its lane, runs the check if it should, pushes the branch, and only then hands
//! the todo in, so reported work can always be fetched. The coordinator fetches the branch and verifies it like the
//! lane of any run.

use punch_core::text::{clip, one_line};
use punch_core::{Evidence, Todo};
use punch_engine::config::VerifyPlace;
use punch_engine::{EngineError, HandedIn, WorkTree};

use super::check::{Check, not_taken_in};
use super::prepare::LaneSetup;
use super::seat::CheckVerdict;
use super::{Runner, RunnerMessage};
use crate::fleet::{FleetPart, FleetRole};
use crate::observer::{RunEvent, line};
use crate::worktree::{HeldReason, Lane, Lanes, PushResult, SettleResult, WorktreeError};

/// Number of pushes before giving up on a branch that keeps changing.
const ROUNDS: usize = 5;

/// Characters of the output of a check that are handed in with the work.
const OUTPUT: usize = 2_000;

impl Runner<'_, '_> {
    /// Begins to hand in the work on a todo, or to verify work that was handed in; the verdict comes as a message.
    pub(super) fn check_in_fleet(
        &mut self,
        part: FleetPart<'_>,
        todo: Todo,
        owner: String,
        lane: Option<Lane>,
        environment: Vec<(String, String)>,
    ) {
        let Some(lanes) = self.lanes else { return };
        let (store, send, run, setup) = (self.store_retry(), self.send.clone(), self.run.id, self.setup.clone());
        let work = self.handed_in.remove(&todo.uid);
        let part = part.part;
        self.scope.spawn(move || {
            let uid = todo.uid;
            let check = Check { store, run, todo, owner, lane: None, environment, proof: None };
            let verdict = match part {
                FleetRole::Worker => match lane.map_or_else(|| store.with_remote(|| lanes.open(&check.todo.id)), Ok) {
                    Ok(lane) => hand_in(&Check { lane: Some((lanes, lane)), ..check }),
                    Err(error) => Ok(CheckVerdict::Hold(format!("cannot create its worktree: {error}"))),
                },
                FleetRole::Coordinator => verify(check, lanes, &setup, work),
            };
            // The receiver is gone if the run has ended: the todo stays reported.
            let _ = send.send(RunnerMessage::Checked(uid, verdict));
        });
    }
}

/// Verifies handed-in work in a separate lane.
fn verify<'e>(
    check: Check<'e>,
    lanes: &'e Lanes,
    setup: &LaneSetup,
    work: Option<HandedIn>,
) -> Result<CheckVerdict, EngineError> {
    let (id, store) = (check.todo.id.clone(), check.store);
    if let Err(error) = store.with_remote(|| lanes.fetch()) {
        return Ok(not_taken_in(&error));
    }
    if let Some(work) = &work {
        match lanes.has_handed_in(&id, &work.commit) {
            Ok(true) => {}
            Ok(false) => {
                let (branch, commit) = (&work.branch, clip(&work.commit, 12));
                return Ok(CheckVerdict::Hold(format!(
                    "`{branch}` on the remote no longer has {commit}, the commit that was handed in: it was rewritten or \
                     deleted; push that commit again, then take the todo off hold"
                )));
            }
            Err(error) => return Ok(not_taken_in(&error)),
        }
    }
    if let Err(why) = setup.prepare(lanes, &check.todo, &check.environment, store) {
        return Ok(match store.interrupt.is_asked() {
            true => CheckVerdict::Stopped,
            false => CheckVerdict::Hold(format!("cannot prepare its worktree: {why}")),
        });
    }
    let lane = match lanes.open_known(&id) {
        Ok(lane) => lane,
        Err(error) => return Ok(not_taken_in(&error)),
    };
    let proof = work.and_then(|work| Some((work.commit, work.proof?)));
    let verdict = Check { lane: Some((lanes, lane.clone())), proof, ..check }.run();
    if let Err(error) = lanes.close(&lane, "Work that was not merged\n") {
        store.journal.report(&RunEvent::Remark { what: format!("a worktree was kept: {error}") });
    }
    verdict
}

/// Hands in the work of a lane.
fn hand_in(check: &Check<'_>) -> Result<CheckVerdict, EngineError> {
    for _ in 0..ROUNDS {
        match hand_in_once(check) {
            Ok(Some(verdict)) => return Ok(verdict),
            // Another process has pushed to the branch.
            Ok(None) => {}
            Err(error) => return check.verdict_on_error(error),
        }
    }
    Ok(CheckVerdict::Hold("its branch on the remote kept changing while it was pushed".to_owned()))
}

fn hand_in_once(check: &Check<'_>) -> Result<Option<CheckVerdict>, EngineError> {
    let lost = || Ok(Some(CheckVerdict::Lost("someone else has it now".to_owned())));
    let Some((lanes, lane)) = &check.lane else { return lost() };
    let Some(todo) = check.claimed_todo()? else { return lost() };
    if let Err(error) = check.store.with_remote(|| lanes.fetch()) {
        return Ok(Some(not_taken_in(&error)));
    }
    let message = format!("{}: {}", line(&todo.id), one_line(&todo.content));
    let (commit, is_merged) = match lanes.settle(lane, &message) {
        Ok(SettleResult::Ready { commit, .. } | SettleResult::Nothing { commit }) => (commit, true),
        // The coordinator meets the same conflict and reports it to the user, who can then find both sides on the
        // remote.
        Ok(SettleResult::Held(held)) if held.why == HeldReason::Conflict => match lanes.head(lane) {
            Ok(commit) => (commit, false),
            Err(error) => return Ok(Some(not_taken_in(&error))),
        },
        Ok(SettleResult::Held(held)) if held.is_conflict() => return Ok(Some(CheckVerdict::Conflict(held.reason()))),
        Ok(SettleResult::Held(held)) => return Ok(Some(CheckVerdict::Hold(held.reason()))),
        Err(error @ WorktreeError::Relinked { .. }) => {
            return Ok(Some(CheckVerdict::Hold(format!("{error}; {}", error.hint()))));
        }
        Err(error) => return Ok(Some(not_taken_in(&error))),
    };
    let world = check.store.world;
    let proof = if is_merged && world.settings.verify_where.value == VerifyPlace::Worker {
        let tree = WorkTree { root: lane.path.clone(), git: lanes.folders(lane), consents: world.consents.clone() };
        check.prove(&tree, &todo, None)?
    } else {
        None
    };
    // A worker that lost its claim while the check ran pushes nothing.
    if check.claimed_todo()?.is_none() {
        return lost();
    }
    match check.store.with_remote(|| lanes.push(lane, &commit)) {
        Ok(PushResult::Now) => {}
        Ok(PushResult::Moved) => return Ok(None),
        Err(error) => return Ok(Some(not_taken_in(&error))),
    }
    let short = |found: &Evidence| Evidence {
        text: found.text.as_deref().map(|text| clip(text, OUTPUT).into()),
        ..found.clone()
    };
    let work = HandedIn {
        uid: todo.uid,
        fence: check.todo.fence,
        commit,
        branch: lanes.remote_branch(&todo.id),
        proof: proof.as_ref().map(|proof| short(proof.evidence())),
    };
    let handed = check.store.persist(|engine| engine.hand_in(world.plan, check.run, &check.owner, &work))?;
    if handed { Ok(Some(CheckVerdict::HandedIn)) } else { lost() }
}
