//! Tool calls that a hook saw before they reach a server. A server is started once, but the conversation behind it
//! changes with `/clear` and `/resume`, and only hooks know the new session. The hook that runs before one of our tools
//! records who is about to call; the server finds the record by the call's id, or by its arguments where the host sends
//! no id, and acts as that session from then on.

use punch_core::drive::SessionStart;
use punch_store::{Catalogue, Durability, ExpectedCall, PlanId, SessionKey, Snapshot, StoreError, Tx};
use serde_json::Value;

use crate::link::{self, SessionLink};
use crate::{Engine, EngineError, SessionState, session};

/// How long a record without an id may wait for its call, in milliseconds. Other agents may send the same arguments.
const PATIENCE: i64 = 60_000;

/// A call of one of our tools, as the hook before it knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct UpcomingCall {
    /// The host's id of the call.
    pub id: Option<String>,
    /// The arguments of the call.
    pub arguments: Value,
    /// The host starts the server with the name of its first session.
    pub named_at_start: bool,
}

/// A call that does not name its session, as the server received it.
#[derive(Clone, Copy, Debug)]
pub struct UnnamedCall<'a> {
    /// The key of the server itself.
    pub server: &'a SessionKey,
    /// The session that the server was started for.
    pub started_for: Option<&'a SessionKey>,
    /// The host's id of the call.
    pub id: Option<&'a str>,
    /// The arguments of the call.
    pub arguments: &'a Value,
}

impl SessionState {
    /// Resets which server a conversation talks to when it begins or resumes. Nothing is stored about an unknown
    /// conversation: its first receipt shows which server it has.
    pub(crate) fn restart(&mut self, how: SessionStart) {
        if how != SessionStart::Compact && *self != Self::default() {
            self.server = None;
            self.switched = how != SessionStart::Startup;
        }
    }
}

/// Whether the server cannot know yet that calls of this session are its own.
pub(crate) fn is_needed(
    snapshot: &dyn Snapshot,
    key: &SessionKey,
    state: &SessionState,
    call: &UpcomingCall,
) -> Result<bool, StoreError> {
    let Some(server) = &state.server else { return Ok(!call.named_at_start || state.switched) };
    Ok(match link::of_server(snapshot, &SessionKey::new(server.clone(), None))? {
        Some(SessionLink::Session(linked)) => linked != *key,
        Some(SessionLink::Several) => true,
        None => false,
    })
}

/// Records a call that is about to come.
pub(crate) fn record(
    tx: &mut dyn Tx,
    key: &SessionKey,
    plan: PlanId,
    call: &UpcomingCall,
    now: i64,
) -> Result<(), StoreError> {
    tx.put_expected_call(&ExpectedCall {
        seq: 0,
        session: key.clone(),
        plan,
        call: call.id.clone(),
        fingerprint: link::fingerprint(&call.arguments),
        at: now,
    })
}

/// The session that makes a call: the one a hook announced, else the one that the server was last linked to, else the
/// one it was started for, unless that has ended, else the server itself. With the announcement, if there was one.
pub(crate) fn resolve(
    catalogue: &dyn Catalogue,
    call: &UnnamedCall<'_>,
    now: i64,
) -> Result<(SessionKey, Option<ExpectedCall>), StoreError> {
    if let Some(expected) = find(catalogue, call, now)? {
        return Ok((expected.session.clone(), Some(expected)));
    }
    let known = match (link::of_server(catalogue, call.server)?, call.started_for) {
        (Some(SessionLink::Session(session)), _) => Some(session),
        (Some(SessionLink::Several), _) | (None, None) => None,
        (None, Some(started_for)) => Some(link::linked(catalogue, started_for)?.unwrap_or_else(|| started_for.clone())),
    };
    let session = match known {
        // Its window has another conversation now, and the receipt will say which.
        Some(session) if is_over(catalogue, &session)? => call.server.clone(),
        Some(session) => session,
        None => call.server.clone(),
    };
    Ok((session, None))
}

fn is_over(catalogue: &dyn Catalogue, session: &SessionKey) -> Result<bool, StoreError> {
    Ok(catalogue.session(session)?.is_some_and(|found| session::read(&found).drive.ended))
}

impl Engine {
    /// The session that makes a call which does not name one. An announced call links the server to its session.
    pub fn session_of_call(&self, call: &UnnamedCall<'_>) -> Result<SessionKey, EngineError> {
        let now = self.now();
        let (session, expected) = self.browse(|catalogue| resolve(catalogue, call, now))?;
        self.met(call.server, expected.as_ref());
        Ok(session)
    }

    /// The announced call has come: the server acts as its session from now on. If that cannot be stored the call is
    /// answered all the same, and the next one is announced again.
    pub(crate) fn met(&self, server: &SessionKey, expected: Option<&ExpectedCall>) {
        if let Some(expected) = expected
            && let Err(error) = self.meet(server, expected)
        {
            self.trouble(&error);
        }
    }

    fn meet(&self, server: &SessionKey, expected: &ExpectedCall) -> Result<(), EngineError> {
        let session = &expected.session;
        self.write(expected.plan, Durability::Relaxed, |tx, now| {
            tx.forget_expected_call(expected)?;
            link::set(tx, server, session, now)?;
            let found = tx.session(session)?;
            let mut state = found.as_ref().map(session::read).unwrap_or_default();
            state.server = Some(server.session_id().to_owned());
            Ok(session::keep(tx, session, found.and_then(|found| found.plan), &state, now)?)
        })
    }
}

fn find(catalogue: &dyn Catalogue, call: &UnnamedCall<'_>, now: i64) -> Result<Option<ExpectedCall>, StoreError> {
    let all = catalogue.expected_calls()?;
    if all.is_empty() {
        return Ok(None);
    }
    if let Some(id) = call.id {
        return Ok(all.into_iter().rfind(|expected| expected.call.as_deref() == Some(id)));
    }
    let wanted = link::fingerprint(call.arguments);
    let fits = |expected: &ExpectedCall| expected.fingerprint == wanted && now.saturating_sub(expected.at) < PATIENCE;
    let mut fitting = all.into_iter().filter(fits);
    let Some(first) = fitting.next() else { return Ok(None) };
    // Two conversations that are about to say the same cannot be distinguished.
    Ok(fitting.all(|other| other.session == first.session).then_some(first))
}
