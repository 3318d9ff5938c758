//! Whose calls were those? A server that is told no session acts under a key of its own. The hook that sees the answer
//! of a tool knows the session, the arguments and the receipt, and links the two.

use punch_core::hash::fnv1a;
use punch_core::{Footprint, InProgressLimit, Op, Ref};
use punch_store::{Catalogue, Durability, PlanId, SessionKey, StoreError};
use serde_json::{Value, json};

use crate::submit::settle;
use crate::{Engine, EngineError, Request, Role, SessionState, session};

/// The keys that servers make begin with this.
pub const ANONYMOUS: &str = "mcp-";

/// Under which a session keeps what its last write looked like.
const RECEIPT: &str = "receipt";

/// Under which an anonymous session keeps whose it is: a session, or `false` once several claimed it.
pub(crate) const LINKED: &str = "linked";

/// Anonymous sessions that are looked at, the most recent first.
const LOOKED_AT: usize = 50;

/// What tells one write from others: not the order of keys, nor arguments that name the caller.
pub fn fingerprint(arguments: &Value) -> String {
    let mut arguments = arguments.clone();
    if let Value::Object(map) = &mut arguments {
        for key in ["session", "subagent", "plan", "wait_for_previous"] {
            map.shift_remove(key);
        }
    }
    let mut bytes = arguments.to_string().into_bytes();
    bytes.sort_unstable();
    format!("{:016x}", fnv1a(bytes))
}

/// Notes a write, so that its receipt can be recognised. Only where nobody else says whose it is.
pub(crate) fn note(state: &mut SessionState, key: &SessionKey, arguments: &Value) {
    if key.host().starts_with(ANONYMOUS) {
        state.more.insert(RECEIPT.to_owned(), fingerprint(arguments).into());
    }
}

/// The same at one moment of the store.
pub(crate) fn linked(catalogue: &dyn Catalogue, key: &SessionKey) -> Result<Option<SessionKey>, StoreError> {
    if !key.host().starts_with(ANONYMOUS) {
        return Ok(None);
    }
    let state = catalogue.session(key)?.map(|session| session::read(&session));
    Ok(state.and_then(|state| {
        let host = state.more.get(LINKED)?.get("host")?.as_str()?.to_owned();
        let subagent = state.more.get(LINKED)?.get("subagent").and_then(Value::as_str);
        Some(SessionKey::new(host, subagent))
    }))
}

impl Engine {
    /// The session that an anonymous one was linked to.
    pub fn linked(&self, key: &SessionKey) -> Result<Option<SessionKey>, EngineError> {
        if !key.host().starts_with(ANONYMOUS) {
            return Ok(None);
        }
        self.browse(|catalogue| linked(catalogue, key))
    }

    /// Links `key` to the anonymous session that wrote `revision` with these arguments: scope, what it was shown, and
    /// the todos it works on become those of `key`. Answers whether there was one. Without the very arguments nothing
    /// is linked: the same receipt is also given to whoever only read.
    pub fn link(&self, key: &SessionKey, revision: u64, arguments: &Value) -> Result<bool, EngineError> {
        if key.host().is_empty() || key.host().starts_with(ANONYMOUS) {
            return Ok(false);
        }
        // The server knew whose call it was: one look, because most hosts tell it.
        let main = SessionKey::new(key.host(), None);
        for known in [key, &main] {
            if self.session(known)?.is_some_and(|(_, state)| state.shown == revision && state.dialect.is_some()) {
                return Ok(false);
            }
        }
        let wanted = fingerprint(arguments);
        let sessions = self.browse(|catalogue| catalogue.sessions())?;
        let anonymous = sessions.into_iter().filter(|session| session.key.host().starts_with(ANONYMOUS));
        let mut fitting = anonymous.take(LOOKED_AT).filter_map(|found| {
            let state = session::read(&found);
            let fits = state.shown == revision && state.more.get(RECEIPT).and_then(Value::as_str) == Some(&wanted);
            fits.then_some((found.key, found.plan?))
        });
        let (Some((anonymous, plan)), None) = (fitting.next(), fitting.next()) else { return Ok(false) };
        self.take_over(plan, &anonymous, key)?;
        Ok(true)
    }

    fn take_over(&self, plan: PlanId, from: &SessionKey, to: &SessionKey) -> Result<(), EngineError> {
        self.write(plan, Durability::Full, |tx, now| {
            let mut old = session::load(tx, from, plan)?;
            let mut new = session::load(tx, to, plan)?;
            let scope: Vec<_> = old.scope.iter().copied().filter(|uid| !new.scope.contains(uid)).collect();
            new.scope.extend(&scope);
            old.unproven.iter().for_each(|uid| new.add_unproven(*uid));
            new.shown = new.shown.max(old.shown);
            new.bound |= old.bound;
            if old.role == Role::Worker {
                new.role = Role::Worker;
            }
            new.dialect = old.dialect.clone().or(new.dialect);
            let owner = own_name(to);
            let request = Request {
                preset: |policy| punch_core::Policy {
                    in_progress: InProgressLimit::Any,
                    ..punch_core::dialect::mirror::policy(policy)
                },
                ..Request::by(to.host(), Some(&owner))
            };
            let before = own_name(from);
            let running = Footprint { running: [Some(before.clone())].into(), ..Footprint::default() };
            let done = settle(tx, now, &request, &running, &mut |part, now| {
                let mine = part.running_of(Some(&before))?.into_iter().filter(|todo| !todo.lease_expired(now));
                // Nobody may take a claim away from itself: a lease stays where its fence was given.
                let mine = mine.filter(|todo| todo.lease_until.is_none());
                Ok(mine.flat_map(|todo| [Op::Reopen(Ref::Uid(todo.uid)), Op::Start(Ref::Uid(todo.uid))]).collect())
            });
            match done {
                Ok(changed) => new.shown = new.shown.max(changed.outcome.plan.revision),
                Err(EngineError::Refused(_)) => {}
                Err(error) => return Err(error),
            }
            let whose = json!({"host": to.host(), "subagent": to.subagent()});
            let other = old.more.get(LINKED).is_some_and(|linked| *linked != whose);
            // Several conversations behind one server: it cannot be told which one calls next.
            old.more.insert(LINKED.to_owned(), if other { Value::Bool(false) } else { whose });
            session::store(tx, from, plan, &old, now)?;
            Ok(session::store(tx, to, plan, &new, now)?)
        })
    }
}

/// The owner under which a session works where no setting names one.
pub(crate) fn own_name(key: &SessionKey) -> String {
    match key.subagent() {
        Some(subagent) => format!("{}/{subagent}", key.host()),
        None => key.host().to_owned(),
    }
}
