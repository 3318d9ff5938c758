//! Claims the best ready todo for one owner, under a lease.

use punch_core::{Footprint, Op, Plan, Ref, Refusal, Todo, Uid};
use punch_store::{Ahead, PlanId, Tx};

use crate::submit::apply_in_transaction;
use crate::{Engine, EngineError, OfferedElsewhere, PlanChange, ReadyQuery, WriteRequest, offers};

/// The todo that was claimed, with its new fence.
#[derive(Clone, Debug)]
pub struct ClaimResult {
    /// The change that the write made.
    pub changed: PlanChange,
    /// The claimed todo.
    pub uid: Uid,
}

impl Engine {
    /// Claims the best ready todo for the request's owner until `now + lease` milliseconds; `None` if nothing is
    /// ready. Two claimers never get the same one: looking and taking are one transaction. Todos whose files
    /// overlap those of running ones are passed over; what another session was sent to comes last.
    pub fn claim_next(
        &self,
        plan: PlanId,
        request: &WriteRequest<'_>,
        lease: i64,
    ) -> Result<Option<ClaimResult>, EngineError> {
        let ahead = Ahead { ready: true, running: true, ..Ahead::default() };
        self.write_ahead(plan, request.durability, ahead, |tx, now| {
            let Some(uid) = best(tx, request.actor.owner(), None, now)? else { return Ok(None) };
            let claimed = claim(tx, now, request, uid, lease)?;
            // It has started something: whatever it was sent to is free again.
            if let Some(owner) = request.actor.owner() {
                offers::record(tx, owner, None, now)?;
            }
            Ok(Some(claimed))
        })
    }

    /// Claims one todo; refused if it is not ready or another owner has it.
    pub fn claim(
        &self,
        plan: PlanId,
        request: &WriteRequest<'_>,
        uid: Uid,
        lease: i64,
    ) -> Result<ClaimResult, EngineError> {
        let first = Footprint { todos: [uid].into(), ..Footprint::default() };
        let ahead = Ahead { running: true, ..Ahead::load(&first) };
        self.write_ahead(plan, request.durability, ahead, |tx, now| claim(tx, now, request, uid, lease))
    }
}

/// Prolongs the claims of the caller once a third of their lease has passed: a tool call is a sign of life, also where
/// no hook reports any.
pub(crate) fn keep_own(tx: &mut dyn Tx, now: i64, request: &WriteRequest<'_>) -> Result<(), EngineError> {
    let Some(owner) = request.actor.owner().filter(|_| request.actor.needs_lease()) else { return Ok(()) };
    if tx.row()?.counts.in_progress == 0 {
        return Ok(());
    }
    let (lease, owners) = (request.lease(), [Some(owner.to_owned())].into());
    let mut part = Plan::slice(tx.row()?);
    tx.load(&Footprint { running: owners, ..Footprint::default() }, &mut part)?;
    let running = part.running_of(Some(owner)).unwrap_or_default();
    let due = running.into_iter().filter(|todo| is_due(todo, lease, now));
    let ops: Vec<Op> = due.map(|todo| Op::Renew(Ref::Uid(todo.uid), now.saturating_add(lease))).collect();
    if ops.is_empty() {
        return Ok(());
    }
    let request = WriteRequest { if_revision: None, detail: false, ..request.clone() };
    match apply_in_transaction(tx, now, &request, &Footprint::default(), &mut |_, _| Ok(ops.clone())) {
        // Someone else has claimed it since; the claim is theirs.
        Ok(_) | Err(EngineError::Refused(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Returns true if a lease is live and a third of it has passed.
pub(crate) fn is_due(todo: &Todo, lease: i64, now: i64) -> bool {
    let left = todo.lease_until.map(|until| until.saturating_sub(now));
    left.is_some_and(|left| left > 0 && left < lease - lease / 3)
}

pub(crate) fn claim(
    tx: &mut dyn Tx,
    now: i64,
    request: &WriteRequest<'_>,
    uid: Uid,
    lease: i64,
) -> Result<ClaimResult, EngineError> {
    if request.actor.owner().is_none() {
        let what = "a claim needs an owner".to_owned();
        return Err(Refusal::Invalid { at: "owner".into(), what }.into());
    }
    let ops = [Op::Claim(Ref::Uid(uid), now.saturating_add(lease))];
    let first = Footprint { todos: [uid].into(), ..Footprint::default() };
    let changed = apply_in_transaction(tx, now, request, &first, &mut |_, _| Ok(ops.to_vec()))?;
    Ok(ClaimResult { changed, uid })
}

/// The best todo that can be started, if possible one that no other session was sent to.
pub(crate) fn best(
    tx: &dyn Tx,
    owner: Option<&str>,
    scope: Option<&[Uid]>,
    now: i64,
) -> Result<Option<Uid>, EngineError> {
    let query = ReadyQuery { owner, scope, offered: OfferedElsewhere::Last, now };
    Ok(query.ready(tx, 1)?.first().map(|todo| todo.uid))
}
