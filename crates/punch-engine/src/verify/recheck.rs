//! Checks completed todos again: those that pass get new evidence, the others are marked stale. None is reopened.

use punch_core::{Evidence, Op, Plan, Policy, Ref, Status, Todo, Uid, VerifyMode};
use punch_store::PlanId;

use super::{Checker, VerifyError};
use crate::{Engine, EngineError, PlanChange, WriteRequest};

/// A completed todo that was checked again.
#[derive(Debug)]
pub struct RecheckResult {
    /// The todo.
    pub uid: Uid,
    /// Its exit code was 0.
    pub passed: bool,
    /// The exit code, and the end of what was printed.
    pub evidence: Evidence,
    /// The write that recorded it.
    pub changed: PlanChange,
}

impl Engine {
    /// Checks a completed todo again and records the result.
    pub fn recheck(
        &self,
        plan: PlanId,
        request: &WriteRequest<'_>,
        checker: &Checker<'_>,
        todo: &Todo,
    ) -> Result<RecheckResult, EngineError> {
        let tree = checker.tree_hash();
        let (evidence, _) = checker.check(todo)?;
        let evidence = Evidence { tree, ..evidence };
        let (uid, passed) = (todo.uid, evidence.exit_code == Some(0));
        let first = punch_core::Footprint { todos: [uid].into(), ..Default::default() };
        let mut ask = |part: &Plan, _: i64| {
            let now = part.need(uid)?;
            // The check does not count for a todo that was reopened or got another command in between.
            let same = now.status == Status::Completed && now.verify == todo.verify && now.is_live();
            let vouch = Op::Vouch { target: Ref::Uid(uid), stale: !passed, evidence: Some(evidence.clone()) };
            Ok(if same { vec![vouch] } else { Vec::new() })
        };
        let changed = self.submit_with(plan, request, &first, &mut ask)?;
        Ok(RecheckResult { uid, passed, evidence, changed })
    }

    /// Completed todos with a verify command, in list order; with `stale` only those that nothing vouches for at this
    /// commit.
    pub fn to_recheck(&self, plan: PlanId, checker: &Checker<'_>, stale: bool) -> Result<Vec<Todo>, EngineError> {
        let commit = checker.commit();
        let whole = self.whole(plan)?;
        let wanted = |todo: &&Todo| {
            todo.status == Status::Completed && todo.verify.is_some() && (!stale || !vouched(todo, commit.as_deref()))
        };
        Ok(whole.live().into_iter().filter(|todo| wanted(todo)).cloned().collect())
    }

    /// Finishes a todo under the condition that its check passes, whatever the plan asks of `done`.
    pub fn verify(
        &self,
        plan: PlanId,
        request: &WriteRequest<'_>,
        checker: &Checker<'_>,
        todo: &Todo,
        fence: Option<u64>,
    ) -> Result<PlanChange, EngineError> {
        if todo.verify.is_none() {
            return Err(VerifyError::NoCommand { id: todo.id.clone() }.into());
        }
        let request =
            WriteRequest { preset: |policy| Policy { verify: VerifyMode::Command, ..policy }, ..request.clone() };
        self.proving(plan, checker, |proofs| {
            let done = Op::Done { target: Ref::Uid(todo.uid), evidence: None, fence };
            self.submit(plan, &WriteRequest { proofs: Some(proofs), ..request.clone() }, &[done])
        })
    }
}

/// The last check of its command passed, at this commit, and no later check contradicts it. Without git the commit does
/// not matter.
fn vouched(todo: &Todo, commit: Option<&str>) -> bool {
    let last =
        todo.evidence.iter().rev().find(|evidence| evidence.command.is_some() && evidence.command == todo.verify);
    !todo.flags.stale
        && last.is_some_and(|last| last.exit_code == Some(0) && (commit.is_none() || last.commit.as_deref() == commit))
}
