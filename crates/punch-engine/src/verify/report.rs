//! Decides about a todo that an agent reported as done: runs its check, then completes the todo or refutes the report.
//! Runs in a separate process, which may outlive the hook or server that started it.

use punch_core::{Evidence, Footprint, Op, Policy, Ref, Todo, Uid, VerifyMode};
use punch_store::PlanId;

use super::prove::{PassedCheck, Proofs, known_failure};
use super::{Checker, VerifyError};
use crate::{Engine, EngineError, WriteRequest};

/// What the check of a reported todo led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportVerdict {
    /// It passed, and the todo is completed.
    Completed,
    /// It failed: the todo is no longer reported, and an attempt is counted.
    Refuted,
    /// The check passed, but the todo has changed since: only the result is stored.
    Stored,
    /// There is nothing to decide: the todo is closed, gone, or has no check.
    Moot,
    /// The check did not run to its end, for this reason. Nothing is stored, and the todo stays reported.
    NotRun(VerifyError),
}

impl Engine {
    /// Runs the check of a todo and acts on what it finds. A failure in the same files still holds, and the check does not
    /// run again.
    pub fn judge_report(
        &self,
        plan: PlanId,
        todo: Uid,
        checker: &Checker<'_>,
        request: &WriteRequest<'_>,
    ) -> Result<ReportVerdict, EngineError> {
        let part = self.slice(plan, &Footprint { todos: [todo].into(), ..Footprint::default() })?;
        let open = |todo: &&Todo| todo.is_live() && todo.status.is_open() && todo.verify.is_some();
        let Some(todo) = part.get(todo).filter(open) else { return Ok(ReportVerdict::Moot) };
        let tree = checker.tree_hash();
        let evidence = match known_failure(todo, tree.as_deref()) {
            Some(known) => known.clone(),
            None => match checker.check(todo) {
                Ok((evidence, _)) => Evidence { tree, ..evidence },
                Err(error) => match error.found() {
                    Some(found) => Evidence { tree, ..found },
                    None => return Ok(ReportVerdict::NotRun(error)),
                },
            },
        };
        if evidence.passed() && todo.flags.reported {
            let mut proofs = Proofs::default();
            proofs.push(PassedCheck::of(todo, evidence.clone()));
            let preset: fn(Policy) -> Policy = |policy| Policy { verify: VerifyMode::Command, ..policy };
            let done = Op::Done { target: Ref::Uid(todo.uid), evidence: None, fence: Some(todo.fence) };
            let commit = evidence.commit.clone();
            let request = WriteRequest { preset, proofs: Some(&proofs), commit: commit.as_deref(), ..request.clone() };
            match self.submit(plan, &request, &[done]) {
                Ok(_) => return Ok(ReportVerdict::Completed),
                // Someone else has it now, or it has another command.
                Err(EngineError::Refused(_)) => {}
                Err(error) => return Err(error),
            }
        }
        self.record_judged(plan, todo.uid, &evidence)?;
        Ok(if evidence.passed() { ReportVerdict::Stored } else { ReportVerdict::Refuted })
    }
}
