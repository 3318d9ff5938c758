//! Writes that a program makes for its session without a tool call. They count as work of the session: it is bound to
//! the plan, its claims are renewed, and it is responsible for the todos that it touched.

use std::collections::{BTreeSet, HashSet};

use punch_core::{Dialect, EventKind, Patch, Uid};
use punch_store::{PlanId, SessionKey, Tx};

use crate::{EngineError, PlanChange, WriteRequest, claim, offers, session};

/// Todos of a session that are remembered.
pub(crate) const REMEMBERED: usize = 10_000;

/// A session that writes without a tool call.
#[derive(Clone, Copy, Debug)]
pub struct WritingSession<'a> {
    /// The session.
    pub key: &'a SessionKey,
    /// The dialect of its tools.
    pub dialect: Dialect,
}

impl WritingSession<'_> {
    /// Records a write with the session, inside the transaction of the write. `before` is the revision that it began with.
    pub(crate) fn record(
        self,
        tx: &mut dyn Tx,
        plan: PlanId,
        request: &WriteRequest<'_>,
        changed: &PlanChange,
        before: u64,
    ) -> Result<(), EngineError> {
        claim::keep_own(tx, changed.now, request)?;
        let begins =
            changed.outcome.events.iter().any(|event| matches!(event.kind, EventKind::Started | EventKind::Claimed));
        if let Some(owner) = request.actor.owner().filter(|_| begins) {
            // It has started something: whatever it was sent to is free again.
            offers::record(tx, owner, None, changed.now)?;
        }
        let mut state = session::load(tx, self.key, plan)?;
        state.bind(before, changed.outcome.plan.revision);
        state.drive.wrote();
        state.dialect.get_or_insert(self.dialect);
        // The model has not seen what the program wrote: leaving it out of a list removes nothing.
        let known: HashSet<Uid> = state.scope.iter().chain(&state.beyond).copied().collect();
        let new: BTreeSet<Uid> = touched(changed).filter(|uid| !known.contains(uid)).collect();
        let room = REMEMBERED.saturating_sub(state.beyond.len());
        state.beyond.extend(new.into_iter().take(room));
        Ok(session::store(tx, self.key, plan, &state, changed.now)?)
    }
}

/// The todos that a write is about.
pub(crate) fn touched(changed: &PlanChange) -> impl Iterator<Item = Uid> {
    changed.outcome.events.iter().filter_map(|event| match &event.patch {
        Patch::Todo(uid, _) => Some(*uid),
        Patch::Phases(_) | Patch::Policy(_) => None,
    })
}
