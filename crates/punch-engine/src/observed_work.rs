//! What hooks saw of the work on the todos that a batch completes, read from the sessions of their owners.

use std::collections::BTreeMap;

use punch_core::{Actor, ObservedWork, Op, Plan, Ref, Status, Todo, Uid, WorkerId};
use punch_store::{Catalogue, SessionKey, Snapshot, StoreError};

use crate::assign::worker_key;
use crate::link::linked;
use crate::{SessionState, session};

/// Reads what was seen of the work that these ops complete; nothing is read if they complete none. Nothing was seen of a
/// todo that no session has in progress; the session that completes it answers for it.
pub(crate) fn of_completions(
    snapshot: &dyn Snapshot,
    ops: &[Op],
    plan: &Plan,
    actor: &Actor,
    now: i64,
) -> Result<BTreeMap<Uid, ObservedWork>, StoreError> {
    let mut found = BTreeMap::new();
    let mut owners: BTreeMap<String, Option<SessionState>> = BTreeMap::new();
    for op in ops {
        let Op::Done { target, .. } = op else { continue };
        let Some(todo) = named(plan, target).filter(|todo| todo.status.is_open()) else { continue };
        let is_running = todo.status == Status::InProgress;
        let owner = if is_running { todo.owner.as_deref() } else { actor.owner().filter(|_| !actor.is_user()) };
        let Some(owner) = owner else { continue };
        if !owners.contains_key(owner) {
            owners.insert(owner.to_owned(), of_owner(snapshot, owner)?);
        }
        let Some(Some(state)) = owners.get(owner) else { continue };
        let seen = ObservedWork { asked: state.asked.contains(&todo.uid), evidence: None };
        let seen = if is_running { work(state, todo, now) } else { seen };
        // The runner completes what its workers did, and nobody is left to ask.
        let asked = seen.asked || WorkerId::of(owner).is_some();
        found.insert(todo.uid, ObservedWork { asked, ..seen });
    }
    Ok(found)
}

/// What a session saw of a todo.
pub(crate) fn work(state: &SessionState, todo: &Todo, now: i64) -> ObservedWork {
    let seen = state.observed.iter().find(|(uid, seen)| *uid == todo.uid && seen.started_at == todo.started_at);
    let evidence = seen.map(|(_, seen)| seen.evidence(now));
    ObservedWork { evidence, asked: state.asked.contains(&todo.uid) }
}

fn named<'p>(plan: &'p Plan, target: &Ref) -> Option<&'p Todo> {
    match target {
        Ref::Uid(uid) => plan.get(*uid),
        Ref::Id(id) => plan.by_id(id),
        Ref::New(_) => None,
    }
}

/// The session under whose name a todo is in progress, if its agent reports through hooks: only those are watched. For a
/// worker of a run it is the conversation that took up the assignment.
fn of_owner(snapshot: &dyn Snapshot, owner: &str) -> Result<Option<SessionState>, StoreError> {
    let catalogue: &dyn Catalogue = snapshot;
    let worker = WorkerId::of(owner).map(|id| Ok(worker_key(snapshot.info()?.id, &id))).transpose()?;
    let key = match worker {
        Some(assigned) => match linked(catalogue, &assigned)? {
            Some(key) => key,
            None => return Ok(None),
        },
        None => SessionKey::new(owner, None),
    };
    let mut found = catalogue.session(&key)?;
    if let (None, Some((main, subagent))) = (&found, owner.rsplit_once('/')) {
        found = catalogue.session(&SessionKey::new(main, Some(subagent)))?;
    }
    Ok(found.as_ref().map(session::read).filter(|state| state.agent.is_some()))
}
