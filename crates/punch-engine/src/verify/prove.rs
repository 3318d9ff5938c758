//! Completes todos that need proof: when the rules refuse `done` for lack of evidence, runs the check outside the
//! transaction and submits again, provided that fence and command are still those that were checked.

use punch_core::{Evidence, Footprint, Op, Plan, Ref, Refusal, Status, Todo, Uid, Verify, text};
use punch_store::{Durability, PlanId, SessionKey};

use super::{Checker, VerifyError};
use crate::submit::apply_in_transaction;
use crate::{Engine, EngineError, WriteRequest, session};

/// How results of checks are signed: the engine found them.
pub(crate) const CHECKS: &str = "punch";

/// Bytes of output that are stored with an open todo.
const STORED: usize = 4 * 1024;

/// Returns the failure that the check of a todo found in exactly these files, with the command that the todo has now. What
/// passed is checked again: the todo may have been opened again because someone does not believe it.
pub(super) fn known_failure<'t>(todo: &'t Todo, tree: Option<&str>) -> Option<&'t Evidence> {
    todo.failed_check().filter(|failed| tree.is_some() && failed.tree.as_deref() == tree)
}

/// Checks that passed, by todo.
#[derive(Clone, Debug, Default)]
pub struct Proofs {
    found: Vec<PassedCheck>,
}

/// A check that passed.
#[derive(Clone, Debug)]
pub struct PassedCheck {
    uid: Uid,
    id: String,
    fence: u64,
    evidence: Evidence,
}

impl PassedCheck {
    /// A check that passed for a todo, under the claim that the todo has now.
    pub fn of(todo: &Todo, evidence: Evidence) -> Self {
        Self { uid: todo.uid, id: todo.id.clone(), fence: todo.fence, evidence }
    }

    /// Returns the evidence that the check produced.
    pub const fn evidence(&self) -> &Evidence {
        &self.evidence
    }
}

impl Proofs {
    /// Returns the op with the proof of its todo, if it finishes one and there is proof. The worker's words are stored
    /// beside the output of the check.
    #[must_use]
    pub fn complete(&self, op: Op, plan: Option<&Plan>) -> Op {
        let Op::Done { target, evidence, fence } = op else { return op };
        let uid = |id: &str| plan.and_then(|plan| plan.by_id(id)).map(|todo| todo.uid);
        let proof = self.found.iter().find(|proof| match &target {
            Ref::Uid(uid) => *uid == proof.uid,
            // The id may have gone to another todo since.
            Ref::Id(id) => *id == proof.id && uid(id).is_none_or(|uid| uid == proof.uid),
            Ref::New(_) => false,
        });
        let Some(proof) = proof else { return Op::Done { target, evidence, fence } };
        let said = evidence.and_then(|evidence| evidence.text);
        let text = match (said, &proof.evidence.text) {
            (Some(said), Some(printed)) => Some(format!("{said}\n{printed}")),
            (said, printed) => said.or_else(|| printed.clone()),
        };
        Op::Done {
            target: Ref::Uid(proof.uid),
            evidence: Some(Evidence { text, ..proof.evidence.clone() }),
            fence: fence.or(Some(proof.fence)),
        }
    }

    /// Takes one more, if there is one.
    pub fn extend(&mut self, proof: Option<PassedCheck>) {
        self.found.extend(proof);
    }

    /// Takes one more.
    pub fn push(&mut self, proof: PassedCheck) {
        self.found.push(proof);
    }

    /// Returns the first todo that is refused only because its check is missing. If it is refused again although its
    /// check has run, its command has changed.
    pub fn wanting(&self, error: &EngineError) -> Option<String> {
        let EngineError::Refused(refusals) = error else { return None };
        let wanting = refusals.iter().find_map(|refusal| match refusal {
            Refusal::NeedsVerification { id } => Some(id),
            _ => None,
        })?;
        self.found.iter().all(|known| known.id != *wanting).then(|| wanting.clone())
    }
}

impl Engine {
    /// Tries a write. For every todo that the rules refuse for lack of evidence, runs its check and tries again with
    /// the proof. The first check that does not pass ends it.
    pub fn proving<T>(
        &self,
        plan: PlanId,
        checker: &Checker<'_>,
        mut attempt: impl FnMut(&Proofs) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let mut proofs = Proofs::default();
        loop {
            let error = match attempt(&proofs) {
                Err(error) => error,
                done => return done,
            };
            let Some(id) = proofs.wanting(&error) else {
                self.record_passed(plan, &proofs);
                return Err(error);
            };
            proofs.push(self.prove(plan, checker, &id)?);
        }
    }

    /// Runs the check of a todo. A result that proves nothing is stored with the todo as well.
    pub fn prove(&self, plan: PlanId, checker: &Checker<'_>, id: &str) -> Result<PassedCheck, EngineError> {
        self.prove_for(plan, None, checker, id)
    }

    /// Runs the check of a todo that a session called done. Without proof, the session remembers that the completion
    /// was refused, and reads about it until the check passes. For a session, a failure with the same files still
    /// counts: its check does not run again.
    pub fn prove_for(
        &self,
        plan: PlanId,
        session: Option<&SessionKey>,
        checker: &Checker<'_>,
        id: &str,
    ) -> Result<PassedCheck, EngineError> {
        let todo = self.read(plan, |snapshot| Ok(snapshot.find(id)?))?;
        let todo = todo.ok_or_else(|| EngineError::NotFound { given: id.to_owned(), near: Vec::new() })?;
        let tree = checker.tree_hash();
        if let Some(known) = known_failure(&todo, tree.as_deref()).filter(|_| session.is_some()) {
            self.record_check(plan, session, todo.uid, None);
            let again = match checker.shell {
                true => format!("(no file has changed since; `punch verify {}` runs it again)", text::shell(&todo.id)),
                false => "(no file has changed since)".to_owned(),
            };
            let text = known.text.iter().chain([&again]).map(String::as_str).collect::<Vec<_>>().join("\n");
            return Err(failed_with(&todo, &Evidence { text: Some(text), ..known.clone() }).into());
        }
        let (error, found) = match checker.check(&todo) {
            Ok((evidence, ran)) => match (evidence.exit_code, &todo.verify) {
                (Some(0), _) | (_, None) => return Ok(PassedCheck::of(&todo, Evidence { tree, ..evidence })),
                (exit, Some(command)) => {
                    let (exit, command) = (exit.unwrap_or(-1), command.clone());
                    (VerifyError::Failed { id: todo.id.clone(), command, exit, tail: ran.tail }, Some(evidence))
                }
            },
            Err(error) => {
                let found = error.found();
                (error, found)
            }
        };
        let found = found.map(|found| Evidence { tree, ..found });
        // A check that a call had no time for says nothing about the todo.
        let cut_short = checker.cut_short && matches!(error, VerifyError::Timeout { .. });
        self.record_check(plan, session, todo.uid, found.filter(|_| !cut_short));
        Err(error.into())
    }

    /// Returns what is known about a todo whose check another process has just ended: a proof if the todo is completed, an
    /// error if the check failed. `None` if neither.
    pub fn judged_meanwhile(
        &self,
        plan: PlanId,
        id: &str,
    ) -> Result<Option<Result<PassedCheck, EngineError>>, EngineError> {
        let Some(todo) = self.read(plan, |snapshot| Ok(snapshot.find(id)?))? else { return Ok(None) };
        if todo.status == Status::Completed {
            return Ok(Some(Ok(PassedCheck::of(&todo, todo.evidence.last().cloned().unwrap_or_default()))));
        }
        let failed = todo.failed_check().filter(|_| !todo.flags.reported);
        Ok(failed.map(|failed| Err(failed_with(&todo, failed).into())))
    }

    /// Remembers for a session that a todo was called done without a check that passed; nothing ran.
    pub fn note_unproven(&self, plan: PlanId, session: &SessionKey, id: &str) {
        if let Ok(Some(todo)) = self.read(plan, |snapshot| Ok(snapshot.find(id)?)) {
            self.record_check(plan, Some(session), todo.uid, None);
        }
    }

    /// Records what a refused write leaves behind: checks that passed for it, and with its session that the agent was asked
    /// for a check.
    pub fn record_refused(&self, plan: PlanId, session: Option<&SessionKey>, proofs: &Proofs, error: &EngineError) {
        self.record_passed(plan, proofs);
        if let Some(session) = session {
            self.note_asked(plan, session, error);
        }
    }

    fn note_asked(&self, plan: PlanId, session: &SessionKey, error: &EngineError) {
        let EngineError::Refused(refusals) = error else { return };
        let asks = |refusal: &Refusal| match refusal {
            Refusal::NeedsCheck { id, .. } => Some(id.clone()),
            _ => None,
        };
        let asked: Vec<String> = refusals.iter().filter_map(asks).collect();
        if asked.is_empty() {
            return;
        }
        let written = self.write(plan, Durability::Relaxed, |tx, now| {
            let mut state = session::load(tx, session, plan)?;
            for id in &asked {
                if let Some(todo) = tx.find(id)? {
                    state.add_asked(todo.uid);
                }
            }
            Ok(session::keep(tx, session, state.bound.then_some(plan), &state, now)?)
        });
        if let Err(error) = written {
            self.trouble(&error);
        }
    }

    /// Stores checks that passed and could not complete their todos for another reason.
    pub(crate) fn record_passed(&self, plan: PlanId, proofs: &Proofs) {
        for proof in &proofs.found {
            self.record_check(plan, None, proof.uid, Some(proof.evidence.clone()));
        }
    }

    /// Stores what a check of a todo found that an agent reported as done.
    pub(super) fn record_judged(&self, plan: PlanId, uid: Uid, found: &Evidence) -> Result<(), EngineError> {
        let found = Evidence { text: found.text.as_deref().map(end_of), ..found.clone() };
        let first = Footprint { todos: [uid].into(), ..Footprint::default() };
        let request = WriteRequest { durability: Durability::Relaxed, ..WriteRequest::by(CHECKS, None) };
        self.submit_with(plan, &request, &first, &mut |_, _| Ok(vec![recorded(uid, &found, true)])).map(drop)
    }

    /// Stores what a check found. A failure to store it does not withhold the result.
    fn record_check(&self, plan: PlanId, session: Option<&SessionKey>, uid: Uid, found: Option<Evidence>) {
        let found = found.map(|found| Evidence { text: found.text.as_deref().map(end_of), ..found });
        let written = self.write(plan, Durability::Relaxed, |tx, now| {
            if let Some(found) = &found {
                let first = Footprint { todos: [uid].into(), ..Footprint::default() };
                let op = recorded(uid, found, session.is_some());
                apply_in_transaction(tx, now, &WriteRequest::by(CHECKS, None), &first, &mut |_, _| {
                    Ok(vec![op.clone()])
                })?;
            }
            if let Some(key) = session {
                let mut state = session::load(tx, key, plan)?;
                state.add_unproven(uid);
                state.drive.untouched = false;
                session::keep(tx, key, state.bound.then_some(plan), &state, now)?;
            }
            Ok(())
        });
        if let Err(error) = written {
            self.trouble(&error);
        }
    }
}

/// The op that stores what a check found. A failed check contradicts an agent that called the todo done.
fn recorded(uid: Uid, found: &Evidence, called_done: bool) -> Op {
    let (target, found) = (Ref::Uid(uid), found.clone());
    if called_done && !found.passed() { Op::Refute { target, found } } else { Op::RecordCheck { target, found } }
}

/// A stored result as the error that it was.
fn failed_with(todo: &Todo, found: &Evidence) -> VerifyError {
    let (id, command) = (todo.id.clone(), found.command.clone().unwrap_or(Verify::Shell(String::new())));
    VerifyError::Failed {
        id,
        command,
        exit: found.exit_code.unwrap_or(-1),
        tail: found.text.clone().unwrap_or_default(),
    }
}

/// The end of an output, small enough to be stored for every try.
fn end_of(output: &str) -> String {
    let from = output.len().saturating_sub(STORED);
    let from = (from..=output.len()).find(|at| output.is_char_boundary(*at)).unwrap_or_default();
    output[from..].to_owned()
}
