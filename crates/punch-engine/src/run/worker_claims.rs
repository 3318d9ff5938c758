//! Claims of workers of a run. A claim and its session are written in one transaction.

use punch_core::{Actor, Footprint, Op, Plan, Ref, Status, Todo, Uid};
use punch_store::{Durability, PlanId, SessionKey, Tx};

use crate::claim::claim;
use crate::submit::apply_in_transaction;
use crate::{Engine, EngineError, Role, WriteRequest, link, session};

impl Engine {
    /// Claims a todo for a worker for `lease` milliseconds. The session of the worker, and the conversation that
    /// presented that session, are bound to the todo. Returns the todo with its new fence.
    pub fn claim_for_worker(
        &self,
        plan: PlanId,
        request: &WriteRequest<'_>,
        session: &SessionKey,
        uid: Uid,
        lease: i64,
    ) -> Result<Todo, EngineError> {
        self.write(plan, request.durability, |tx, now| {
            let claimed = claim(tx, now, request, uid, lease)?;
            let revision = claimed.changed.outcome.plan.revision;
            let linked = link::linked(tx, session)?;
            for key in [Some(session), linked.as_ref()].into_iter().flatten() {
                answer_for(tx, plan, key, uid, revision, now)?;
            }
            let todo = claimed.changed.plan.get(uid).cloned();
            todo.ok_or_else(|| EngineError::NotFound { given: format!("#{}", uid.0), near: Vec::new() })
        })
    }

    /// Opens a todo again that a worker has in progress under this fence, unless it was reported as done. Returns
    /// whether it did.
    pub fn reopen_unreported(&self, plan: PlanId, run: u64, todo: &Todo) -> Result<bool, EngineError> {
        let (uid, fence) = (todo.uid, todo.fence);
        self.write(plan, Durability::Full, |tx, now| {
            let mut part = Plan::slice(tx.row()?);
            let first = Footprint { todos: [uid].into(), ..Footprint::default() };
            tx.load(&first, &mut part)?;
            let still = |found: &&Todo| found.status == Status::InProgress && found.fence == fence && found.is_live();
            let Some(found) = part.get(uid).filter(still).filter(|found| !found.flags.reported) else {
                return Ok(false);
            };
            let request = WriteRequest::of(Actor::runner(run, found.owner.as_deref()));
            apply_in_transaction(tx, now, &request, &first, &mut |_, _| Ok(vec![Op::Reopen(Ref::Uid(uid))]))?;
            Ok(true)
        })
    }
}

fn answer_for(
    tx: &mut dyn Tx,
    plan: PlanId,
    key: &SessionKey,
    uid: Uid,
    revision: u64,
    now: i64,
) -> Result<(), EngineError> {
    let mut state = session::load(tx, key, plan)?;
    (state.role, state.bound, state.shown) = (Role::Worker, true, revision);
    if !state.scope.contains(&uid) {
        state.scope.push(uid);
    }
    Ok(session::store(tx, key, plan, &state, now)?)
}
