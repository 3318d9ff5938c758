//! Gives back the work in progress of a conversation that ends. It stays in the list of that conversation, which
//! resumes it later unless someone else has started it since.

use punch_core::{Actor, Footprint, InProgressLimit, Op, Policy, Ref, Status, Uid};
use punch_store::{Ahead, PlanId, SessionKey, Tx};

use crate::submit::apply_in_transaction;
use crate::{Engine, EngineError, WriteRequest, session};

/// Several todos may have been in progress, and what they depend on may have changed since.
const fn lenient(policy: Policy) -> Policy {
    Policy { in_progress: InProgressLimit::Any, ..policy }
}

/// Ends the claims of `actor` on these todos: pending again, to be resumed. What it does not own stays as it is.
pub(crate) fn give_back(tx: &mut dyn Tx, actor: &Actor, todos: &[Uid], now: i64) -> Result<(), EngineError> {
    change(tx, actor, todos, now, Op::Unclaim)
}

/// Starts these todos for `actor`, if they can still be resumed.
pub(crate) fn take_up(tx: &mut dyn Tx, actor: &Actor, todos: &[Uid], now: i64) -> Result<(), EngineError> {
    change(tx, actor, todos, now, Op::Start)
}

/// One by one: a rule that refuses one of them says nothing about the others.
fn change(tx: &mut dyn Tx, actor: &Actor, todos: &[Uid], now: i64, op: impl Fn(Ref) -> Op) -> Result<(), EngineError> {
    let request = WriteRequest { preset: lenient, ..WriteRequest::of(actor.clone()) };
    for uid in todos {
        let first = Footprint { todos: [*uid].into(), ..Footprint::default() };
        let done = apply_in_transaction(tx, now, &request, &first, &mut |part, now| {
            let Some(todo) = part.get(*uid).filter(|todo| todo.is_live()) else { return Ok(Vec::new()) };
            let op = op(Ref::Uid(*uid));
            let fits = match &op {
                Op::Unclaim(_) => todo.status == Status::InProgress && todo.owner.as_deref() == actor.owner(),
                _ => todo.status_at(now) == Status::Pending && todo.flags.resume,
            };
            Ok(if fits { vec![op] } else { Vec::new() })
        });
        match done {
            Ok(_) | Err(EngineError::Refused(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

impl Engine {
    /// A conversation ends: no one works on these todos any more.
    pub(crate) fn end_work(
        &self,
        plan: PlanId,
        key: &SessionKey,
        request: &WriteRequest<'_>,
        todos: &[Uid],
    ) -> Result<(), EngineError> {
        self.write_for(plan, request, Ahead::default(), |tx, now| {
            let mut state = session::load(tx, key, plan)?;
            give_back(tx, &request.actor, todos, now)?;
            state.given_back = todos.to_vec();
            Ok(session::store(tx, key, plan, &state, now)?)
        })
    }

    /// A conversation resumes: what it gave back at its end is its own again.
    pub(crate) fn resume_work(
        &self,
        plan: PlanId,
        key: &SessionKey,
        request: &WriteRequest<'_>,
    ) -> Result<(), EngineError> {
        self.write_for(plan, request, Ahead::default(), |tx, now| {
            let mut state = session::load(tx, key, plan)?;
            take_up(tx, &request.actor, &std::mem::take(&mut state.given_back), now)?;
            Ok(session::store(tx, key, plan, &state, now)?)
        })
    }
}
