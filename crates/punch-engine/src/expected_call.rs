//! Tool calls that a hook saw before they reach a server. A server is started once, but the conversation behind it
//! changes with `/clear` and `/resume`, and only hooks know the new session. The hook that runs before one of our tools
//! records who is about to call; the server finds the record by the call's id, or by its arguments where the host sends
//! no id, and acts as that session from then on.

use punch_core::drive::Start;
use punch_store::{Catalogue, Durability, PlanId, SessionKey, Snapshot, StoreError, Tx};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::link::{self, Link};
use crate::{Engine, EngineError, SessionState, session};

/// The setting that holds the records. One row of bounded size needs no cleaning up.
const SETTING: &str = "expected_calls";

/// Records that are kept; the oldest make room.
const CAPACITY: usize = 32;

/// How long a record without an id may wait for its call, in milliseconds. Other agents may send the same arguments.
const PATIENCE: i64 = 60_000;

/// A call of one of our tools, as the hook before it knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct UpcomingCall {
    /// The host's id of the call.
    pub id: Option<String>,
    /// Its arguments.
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
    /// Its arguments.
    pub arguments: &'a Value,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Expected {
    host: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    subagent: Option<String>,
    plan: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    fingerprint: String,
    at: i64,
}

impl Expected {
    fn session(&self) -> SessionKey {
        SessionKey::new(self.host.clone(), self.subagent.as_deref())
    }
}

impl SessionState {
    /// A conversation begins or resumes: which server it talks to is open again. Of one that nothing is known about
    /// nothing is kept: its first receipt says which server it has.
    pub(crate) fn restart(&mut self, how: Start) {
        if how != Start::Compact && *self != Self::default() {
            self.server = None;
            self.switched = how != Start::Startup;
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
        Some(Link::Session(linked)) => linked != *key,
        Some(Link::Several) => true,
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
    let mut all = all(tx)?;
    all.retain(|other| other.id.is_some() || now.saturating_sub(other.at) < PATIENCE);
    let excess = (all.len() + 1).saturating_sub(CAPACITY);
    all.drain(..excess);
    all.push(Expected {
        host: key.session_id().to_owned(),
        subagent: key.subagent().map(str::to_owned),
        plan: plan.0,
        id: call.id.clone(),
        fingerprint: link::fingerprint(&call.arguments),
        at: now,
    });
    put(tx, &all)
}

/// The session that makes a call: the one a hook announced, else the one that the server was last linked to, else the
/// one it was started for, unless that has ended, else the server itself. With the announcement, if there was one.
pub(crate) fn resolve(
    catalogue: &dyn Catalogue,
    call: &UnnamedCall<'_>,
    now: i64,
) -> Result<(SessionKey, Option<Expected>), StoreError> {
    if let Some(expected) = find(catalogue, call, now)? {
        return Ok((expected.session(), Some(expected)));
    }
    let known = match (link::of_server(catalogue, call.server)?, call.started_for) {
        (Some(Link::Session(session)), _) => Some(session),
        (Some(Link::Several), _) | (None, None) => None,
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
    pub(crate) fn met(&self, server: &SessionKey, expected: Option<&Expected>) {
        if let Some(expected) = expected
            && let Err(error) = self.meet(server, expected)
        {
            self.trouble(&error);
        }
    }

    fn meet(&self, server: &SessionKey, expected: &Expected) -> Result<(), EngineError> {
        let session = expected.session();
        self.write(PlanId(expected.plan), Durability::Relaxed, |tx, now| {
            let mut rest = all(tx)?;
            rest.retain(|other| other != expected);
            put(tx, &rest)?;
            link::set(tx, server, &session, now)?;
            let found = tx.session(&session)?;
            let mut state = found.as_ref().map(session::read).unwrap_or_default();
            state.server = Some(server.session_id().to_owned());
            Ok(session::keep(tx, &session, found.and_then(|found| found.plan), &state, now)?)
        })
    }
}

fn find(catalogue: &dyn Catalogue, call: &UnnamedCall<'_>, now: i64) -> Result<Option<Expected>, StoreError> {
    let all = all(catalogue)?;
    if all.is_empty() {
        return Ok(None);
    }
    if let Some(id) = call.id {
        return Ok(all.into_iter().rfind(|expected| expected.id.as_deref() == Some(id)));
    }
    let wanted = link::fingerprint(call.arguments);
    let fits = |expected: &Expected| expected.fingerprint == wanted && now.saturating_sub(expected.at) < PATIENCE;
    let mut fitting = all.into_iter().filter(fits);
    let Some(first) = fitting.next() else { return Ok(None) };
    // Two conversations that are about to say the same cannot be told apart.
    Ok(fitting.all(|other| other.session() == first.session()).then_some(first))
}

fn all(catalogue: &dyn Catalogue) -> Result<Vec<Expected>, StoreError> {
    let text = catalogue.setting(SETTING)?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}

fn put(tx: &mut dyn Tx, all: &[Expected]) -> Result<(), StoreError> {
    let text = if all.is_empty() { None } else { serde_json::to_string(all).ok() };
    tx.put_setting(SETTING, text.as_deref())
}
