//! Links servers to the conversations behind them. A server without a session acts under a key of its own. The hook
//! that sees the answer of a tool knows the session, the arguments and the receipt, and links the two, every time: after
//! `/clear` or `/resume` the same server works for another conversation. [`crate::expected_call`] does the same before
//! the call.

use std::collections::{BTreeSet, HashSet};

use punch_core::hash::fnv1a;
use punch_core::{Actor, EventKind, Footprint, Op, Patch, Ref, Uid};
use punch_store::{Catalogue, Durability, PlanId, SessionKey, StoreError, Tx, Which};
use serde_json::{Value, json};

use crate::submit::apply_in_transaction;
use crate::{Engine, EngineError, Role, SessionState, WriteRequest, session};

/// Under which a session keeps what its last write looked like.
const RECEIPT: &str = "receipt";

/// Under which the record of a server keeps whose it is: a session, or `false` once it serves several in turn.
pub(crate) const LINKED: &str = "linked";

/// Under which the record of a server keeps the session before that one.
const LINKED_BEFORE: &str = "linked_before";

/// Sessions that are looked at, the most recent first.
const LOOKED_AT: usize = 50;

/// The fingerprint that distinguishes one write from others, without the order of keys and arguments that name the
/// caller.
pub fn fingerprint(arguments: &Value) -> String {
    let mut arguments = arguments.clone();
    if let Value::Object(map) = &mut arguments {
        for key in ["session", "subagent", "plan", "wait_for_previous"] {
            punch_core::json::take(map, key);
        }
    }
    let mut bytes = arguments.to_string().into_bytes();
    bytes.sort_unstable();
    format!("{:016x}", fnv1a(bytes))
}

/// Whose calls a server makes, as its own session record says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SessionLink {
    /// Those of one conversation.
    Session(SessionKey),
    /// Those of several in turn: it acts under its own name, and every receipt says whose the write was.
    Several,
}

/// Records a write with the server that made it, so that its receipt can be recognized. Only where nothing in the call
/// says whose it is.
pub(crate) fn note(state: &mut SessionState, server: Option<&SessionKey>, key: &SessionKey, arguments: &Value) {
    if server.is_none() && !key.is_provisional() {
        return;
    }
    state.server = server.filter(|server| *server != key).map(|server| server.session_id().to_owned());
    state.more.insert(RECEIPT.to_owned(), fingerprint(arguments).into());
}

/// Returns the session that a server calls for; `None` as long as nothing has linked it.
pub(crate) fn of_server(catalogue: &dyn Catalogue, server: &SessionKey) -> Result<Option<SessionLink>, StoreError> {
    let state = catalogue.session(server)?.map(|session| session::read(&session));
    Ok(state.and_then(|state| {
        let linked = state.more.get(LINKED)?;
        let Some(host) = linked.get("host").and_then(Value::as_str) else { return Some(SessionLink::Several) };
        let subagent = linked.get("subagent").and_then(Value::as_str);
        Some(SessionLink::Session(SessionKey::new(host, subagent)))
    }))
}

/// Links a server to a session.
pub(crate) fn set(tx: &mut dyn Tx, server: &SessionKey, session: &SessionKey, now: i64) -> Result<(), StoreError> {
    let found = tx.session(server)?;
    let mut state = found.as_ref().map(session::read).unwrap_or_default();
    let before = state.more.insert(LINKED.to_owned(), value(session));
    if before != state.more.get(LINKED).cloned() {
        session::keep(tx, server, found.and_then(|found| found.plan), &state, now)?;
    }
    Ok(())
}

fn value(session: &SessionKey) -> Value {
    json!({"host": session.session_id(), "subagent": session.subagent()})
}

/// The session that one of our own making was linked to.
pub(crate) fn linked(catalogue: &dyn Catalogue, key: &SessionKey) -> Result<Option<SessionKey>, StoreError> {
    if !key.is_provisional() {
        return Ok(None);
    }
    Ok(match of_server(catalogue, key)? {
        Some(SessionLink::Session(session)) => Some(session),
        Some(SessionLink::Several) | None => None,
    })
}

impl Engine {
    /// The session that an anonymous one was linked to.
    pub fn linked(&self, key: &SessionKey) -> Result<Option<SessionKey>, EngineError> {
        if !key.is_provisional() {
            return Ok(None);
        }
        self.browse(|catalogue| linked(catalogue, key))
    }

    /// Links `key` to the server that wrote `revision` with these arguments, whatever session that server acted as: what
    /// the call wrote becomes the work of `key`, and the server acts as `key` from now on. Answers whether there was
    /// one. Without the very arguments nothing is linked: a call that only read gets the same receipt.
    pub fn link(&self, key: &SessionKey, revision: u64, arguments: &Value) -> Result<bool, EngineError> {
        if key.session_id().is_empty() || key.is_provisional() {
            return Ok(false);
        }
        // The server knew which session called: checked first, because most hosts tell it.
        let main = SessionKey::new(key.session_id(), None);
        for known in [key, &main] {
            if self.session(known)?.is_some_and(|(_, state)| state.shown == revision && state.dialect.is_some()) {
                return Ok(false);
            }
        }
        let wanted = fingerprint(arguments);
        let sessions = self.browse(|catalogue| catalogue.sessions(None, i64::MIN, LOOKED_AT))?;
        let mut fitting = sessions.into_iter().filter_map(|found| {
            let state = session::read(&found);
            let fits = state.shown == revision && state.more.get(RECEIPT).and_then(Value::as_str) == Some(&wanted);
            let server = if found.key.is_provisional() { found.key.session_id().to_owned() } else { state.server? };
            fits.then_some((found.key, SessionKey::new(server, None), found.plan?))
        });
        let (Some((from, server, plan)), None) = (fitting.next(), fitting.next()) else { return Ok(false) };
        let written = MisattributedWrite { server: &server, from: &from, to: key, revision };
        self.write(plan, Durability::Full, |tx, now| written.take_over(tx, plan, now))?;
        Ok(true)
    }
}

/// A write that turned out to be another conversation's.
struct MisattributedWrite<'a> {
    /// The server that made it.
    server: &'a SessionKey,
    /// The session that the server acted as: its own, or a conversation that was there before.
    from: &'a SessionKey,
    /// The session that the write belongs to.
    to: &'a SessionKey,
    revision: u64,
}

impl MisattributedWrite<'_> {
    fn take_over(&self, tx: &mut dyn Tx, plan: PlanId, now: i64) -> Result<(), EngineError> {
        let mut old = session::load(tx, self.from, plan)?;
        let mut new = session::load(tx, self.to, plan)?;
        let touched = self.moved(tx, &mut old)?;
        let known: HashSet<Uid> = new.scope.iter().copied().collect();
        new.scope.extend(touched.iter().filter(|uid| !known.contains(uid)));
        new.shown = new.shown.max(old.shown);
        if !new.bound {
            new.drive.told = old.drive.told.max(new.drive.told);
        }
        if self.is_anonymous() {
            let known: HashSet<Uid> = new.beside.iter().copied().collect();
            new.beside.extend(old.beside.iter().filter(|uid| !known.contains(uid)));
            new.names.extend(old.names.clone());
        }
        if self.is_anonymous() {
            old.unproven.iter().for_each(|uid| new.add_unproven(*uid));
        }
        new.bound |= old.bound;
        if old.role == Role::Worker && self.is_anonymous() {
            new.role = Role::Worker;
        }
        new.dialect = old.dialect.or(new.dialect);
        new.server = Some(self.server.session_id().to_owned());
        punch_core::json::take(&mut old.more, RECEIPT);
        if let Some(revision) = self.hand_over(tx, &touched, now)? {
            new.shown = new.shown.max(revision);
        }
        session::store(tx, self.from, plan, &old, now)?;
        session::store(tx, self.to, plan, &new, now)?;
        Ok(relink(tx, self.server, self.to, now)?)
    }

    fn is_anonymous(&self) -> bool {
        self.from == self.server
    }

    /// What becomes the other session's: all that a server did under its own name, and of a conversation that was there
    /// before only what this write touched. What the write added leaves that conversation's list.
    fn moved(&self, tx: &dyn Tx, old: &mut SessionState) -> Result<Vec<Uid>, EngineError> {
        if self.is_anonymous() {
            return Ok(std::mem::take(&mut old.scope));
        }
        let (mut touched, mut added) = (BTreeSet::new(), BTreeSet::new());
        for event in tx.events_of(self.revision)? {
            if let Patch::Todo(uid, _) = event.patch {
                touched.insert(uid);
                if event.kind == EventKind::Added {
                    added.insert(uid);
                }
            }
        }
        old.scope.retain(|uid| !added.contains(uid));
        Ok(touched.into_iter().collect())
    }

    /// Makes the other session the owner of what is in progress; answers the revision of that.
    fn hand_over(&self, tx: &mut dyn Tx, touched: &[Uid], now: i64) -> Result<Option<u64>, EngineError> {
        let (before, after) = (self.from.full_name(), self.to.full_name());
        let mut running = tx.list(Which::Running, None, usize::MAX)?;
        running.retain(|todo| todo.owner.as_deref() == Some(&before) && !todo.lease_expired(now));
        let moved: Vec<Uid> = running.iter().map(|todo| todo.uid).filter(|uid| touched.contains(uid)).collect();
        if moved.is_empty() {
            return Ok(None);
        }
        let request = WriteRequest::of(Actor::agent(self.to.session_id(), &before));
        let first = Footprint { todos: moved.iter().copied().collect(), ..Footprint::default() };
        let ops: Vec<Op> = moved.iter().map(|uid| Op::HandOver(Ref::Uid(*uid), after.clone())).collect();
        match apply_in_transaction(tx, now, &request, &first, &mut |_, _| Ok(ops.clone())) {
            Ok(_) | Err(EngineError::Refused(_)) => {}
            Err(error) => return Err(error),
        }
        Ok(Some(tx.row()?.revision))
    }
}

/// Links a server to the session of a receipt. One that comes back to the session before the last serves several
/// conversations in turn, and a receipt comes too late to know which one calls next.
fn relink(tx: &mut dyn Tx, server: &SessionKey, session: &SessionKey, now: i64) -> Result<(), StoreError> {
    let found = tx.session(server)?;
    let mut state = found.as_ref().map(session::read).unwrap_or_default();
    let wanted = value(session);
    let link = match state.more.get(LINKED).cloned() {
        Some(current) if current == wanted => return Ok(()),
        Some(current) if !current.is_object() => return Ok(()),
        Some(current) => match state.more.insert(LINKED_BEFORE.to_owned(), current) {
            Some(earlier) if earlier == wanted => Value::Bool(false),
            Some(_) | None => wanted,
        },
        None => wanted,
    };
    state.more.insert(LINKED.to_owned(), link);
    session::keep(tx, server, found.and_then(|found| found.plan), &state, now)
}
