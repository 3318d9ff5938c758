//! `done` with proof: what the rules refuse for want of evidence is checked outside the transaction and asked again,
//! on condition that fence and command are still those that were checked.

use punch_core::{Evidence, Footprint, Op, Plan, Ref, Refusal, Uid};
use punch_store::{Durability, PlanId, SessionKey};

use super::{Checker, VerifyError};
use crate::submit::apply_in_transaction;
use crate::{Engine, EngineError, Request, session};

/// How results of checks are signed: the engine found them.
const CHECKS: &str = "punch";

/// Bytes of output that are stored with an open todo.
const STORED: usize = 4 * 1024;

/// Checks that passed, by todo.
#[derive(Clone, Debug, Default)]
pub struct Proofs {
    found: Vec<Proof>,
}

/// A check that passed.
#[derive(Clone, Debug)]
pub struct Proof {
    uid: Uid,
    id: String,
    fence: u64,
    evidence: Evidence,
}

impl Proofs {
    /// The op with the proof of its todo, if it finishes one and there is one. What the worker says is kept beside
    /// what the check printed.
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

    /// Takes one more.
    pub fn push(&mut self, proof: Proof) {
        self.found.push(proof);
    }

    /// The first todo that is refused only for want of a check that is not here yet. One that is asked for again
    /// although it is here has got another command.
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
    /// Tries a write; for every todo that the rules refuse for want of evidence, runs its check and tries again with
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
    pub fn prove(&self, plan: PlanId, checker: &Checker<'_>, id: &str) -> Result<Proof, EngineError> {
        self.prove_for(plan, None, checker, id)
    }

    /// Runs the check of a todo that a session called done. Without proof the session remembers that the completion was
    /// refused, and hears of it until the check passes.
    pub fn prove_for(
        &self,
        plan: PlanId,
        session: Option<&SessionKey>,
        checker: &Checker<'_>,
        id: &str,
    ) -> Result<Proof, EngineError> {
        let todo = self.read(plan, |snapshot| Ok(snapshot.find(id)?))?;
        let todo = todo.ok_or_else(|| EngineError::NotFound { given: id.to_owned(), near: Vec::new() })?;
        let (error, found) = match checker.check(&todo) {
            Ok((evidence, ran)) => match (evidence.exit_code, &todo.verify) {
                (Some(0), _) | (_, None) => {
                    return Ok(Proof { uid: todo.uid, id: todo.id.clone(), fence: todo.fence, evidence });
                }
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
        self.record_check(plan, session, todo.uid, found);
        Err(error.into())
    }

    /// Remembers for a session that a todo was called done without a check that passed; nothing ran.
    pub fn note_unproven(&self, plan: PlanId, session: &SessionKey, id: &str) {
        if let Ok(Some(todo)) = self.read(plan, |snapshot| Ok(snapshot.find(id)?)) {
            self.record_check(plan, Some(session), todo.uid, None);
        }
    }

    /// Stores checks that passed and could not complete their todos for another reason.
    pub(crate) fn record_passed(&self, plan: PlanId, proofs: &Proofs) {
        for proof in &proofs.found {
            self.record_check(plan, None, proof.uid, Some(proof.evidence.clone()));
        }
    }

    /// Stores what a check found. A failure to store it does not withhold the result.
    fn record_check(&self, plan: PlanId, session: Option<&SessionKey>, uid: Uid, found: Option<Evidence>) {
        let found = found.map(|found| Evidence { text: found.text.as_deref().map(end_of), ..found });
        let written = self.write(plan, Durability::Relaxed, |tx, now| {
            if let Some(found) = &found {
                let first = Footprint { todos: [uid].into(), ..Footprint::default() };
                let op = Op::RecordCheck { target: Ref::Uid(uid), found: found.clone() };
                apply_in_transaction(tx, now, &Request::by(CHECKS, None), &first, &mut |_, _| Ok(vec![op.clone()]))?;
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

/// The end of an output, small enough to be stored for every try.
fn end_of(output: &str) -> String {
    let from = output.len().saturating_sub(STORED);
    let from = (from..=output.len()).find(|at| output.is_char_boundary(*at)).unwrap_or_default();
    output[from..].to_owned()
}
