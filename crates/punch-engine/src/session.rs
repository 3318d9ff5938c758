//! What the engine knows about a session: role, what it was shown, and whether it is bound to a plan.

use std::collections::BTreeMap;

use punch_core::drive::{ContextUse, Counters, Cover};
use punch_core::evidence::Observation;
use punch_core::{Dialect, Uid};
use punch_store::{PlanId, SessionKey, SessionRow, Snapshot, StoreError, Tx};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::host::SessionMeter;
use crate::process::ProcessId;
use crate::{Engine, EngineError};

/// Todos outside its list that a session is remembered to know.
const BESIDE: usize = 200;

/// What a session may do (rule 39).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Role {
    /// Everything.
    #[default]
    Owner,
    /// Report on what was assigned to it.
    Worker,
    /// Nothing; no tools are offered.
    None,
}

/// The engine's part of a session record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionState {
    /// The dialect of its last write.
    #[serde(deserialize_with = "known_dialect")]
    pub dialect: Option<Dialect>,
    /// The role, which says what the session may do.
    pub role: Role,
    /// The todos it was shown: written by it, put back for it, or assigned to it. A replacement archives only these
    /// (rule 8).
    pub scope: Vec<Uid>,
    /// Open todos that the session is responsible for although it was not shown them: they did not fit into the text
    /// when its list was restored, the user added them, or the program around it wrote them. Leaving them out of the
    /// next list changes nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub beyond: Vec<Uid>,
    /// Todos outside its list that an answer or a reading displayed: it may name them, and leaving them out of a list
    /// says nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<Uid>,
    /// Names that it uses for todos, where the id of the todo is another.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub names: BTreeMap<String, String>,
    /// The revision at which it was last shown them (rule 9).
    pub shown: u64,
    /// The revision up to which todos that the user added became part of what it answers for.
    #[serde(skip_serializing_if = "is_zero")]
    pub taken_up: u64,
    /// Todos that the user changed and that did not fit into the sentence about it, each with the revision after which
    /// it changed: the next sentence begins with them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unnamed: Vec<(Uid, u64)>,
    /// It wrote, started or claimed something; keep-going acts only for such sessions.
    pub bound: bool,
    /// The agent program, once its host has reported something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The question that its agent asks in its own terminal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asking: Option<u64>,
    /// The process of its agent, as a hook last saw it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessId>,
    /// How full its context was when its agent last wanted to stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<ContextUse>,
    /// What it had in progress when it ended: its own again when it resumes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub given_back: Vec<Uid>,
    /// The server that last wrote as this session although the call did not name it. Cleared when the session begins
    /// again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// It did not begin with its agent process, so that a server of that process may have another session's name.
    #[serde(skip_serializing_if = "is_false")]
    pub switched: bool,
    /// Percent of its context at which the last checkpoint was made.
    #[serde(skip_serializing_if = "is_zero")]
    pub saved: u8,
    /// Todos that it called done and that stay open until their check passes, the latest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unproven: Vec<Uid>,
    /// The todos among them whose check was running, or waiting for approval, when the session was last informed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub awaited: Vec<Uid>,
    /// What its tools changed and checked, for each todo in progress.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub observed: Vec<(Uid, Observation)>,
    /// Todos that it called done and whose agent was asked for a check, the latest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<Uid>,
    /// The todos among them whose agent was asked once more when it wanted to stop.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub asked_again: Vec<Uid>,
    /// What was used, and for which todos.
    #[serde(skip_serializing_if = "crate::host::is_unused")]
    pub meter: SessionMeter,
    /// Continuations, turns, reminders.
    #[serde(skip_serializing_if = "is_untouched")]
    pub drive: Counters,
    /// What a newer version keeps.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// Reads the name of a dialect; a name that only a newer version knows must not cost the rest of the session.
fn known_dialect<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Dialect>, D::Error> {
    Ok(Option::<String>::deserialize(from)?.and_then(|name| Dialect::parse(&name)))
}

fn is_zero<T: Default + PartialEq>(number: &T) -> bool {
    *number == T::default()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_false(switched: &bool) -> bool {
    !*switched
}

fn is_untouched(counters: &Counters) -> bool {
    *counters == Counters::default()
}

/// Refused completions that a session remembers.
const UNPROVEN: usize = 20;

impl SessionState {
    /// The session wrote revision `after` on a plan at `before`, and was shown its list as it is now. It still has to be
    /// informed of what the user changed up to `before`, unless it was.
    pub(crate) fn wrote(&mut self, before: u64, after: u64) {
        self.shown = after;
        self.bind(before, after);
        self.drive.wrote();
    }

    /// Makes the session answer for what it wrote, from the revision `before` to `after`.
    pub(crate) const fn bind(&mut self, before: u64, after: u64) {
        self.passes_on(before, after);
        if !self.bound && self.drive.seen == 0 {
            // What happened before it began is not its progress, and need not be read to find out.
            self.drive.seen = before;
        }
        self.bound = true;
    }

    /// Moves on up to where it is informed of the user's changes, if it was informed of all of them at `before`.
    const fn passes_on(&mut self, before: u64, after: u64) {
        let first = !self.bound && self.drive.told == 0;
        if first || self.drive.told == before {
            self.drive.told = after;
        }
    }

    /// The revision up to which it was informed of the user's changes.
    pub(crate) const fn informed(&self) -> u64 {
        // Older versions noted what was shown only.
        if self.drive.told == 0 { self.shown } else { self.drive.told }
    }

    /// Which todos it answers for: those who think in lists for their list, workers for what they were given.
    pub(crate) fn cover(&self) -> Cover {
        match self.thinks_in_lists() || self.role == Role::Worker {
            true => {
                let beyond = self.beyond.iter().filter(|uid| !self.scope.contains(uid));
                Cover::List(self.scope.iter().chain(beyond).copied().collect())
            }
            false => Cover::Plan,
        }
    }

    pub(crate) const fn thinks_in_lists(&self) -> bool {
        matches!(self.dialect, Some(Dialect::Cursor | Dialect::Phases | Dialect::Todowrite))
    }

    /// Todos outside its list were displayed to it. Returns whether that is new; only the newest are remembered.
    pub(crate) fn displayed(&mut self, todos: impl IntoIterator<Item = Uid>) -> bool {
        let before = self.beside.len();
        for uid in todos {
            if !self.scope.contains(&uid) && !self.beside.contains(&uid) {
                self.beside.push(uid);
            }
        }
        let new = self.beside.len() > before;
        let surplus = self.beside.len().saturating_sub(BESIDE);
        self.beside.drain(..surplus);
        new
    }

    /// Remembers a completion that a check refused.
    pub(crate) fn add_unproven(&mut self, uid: Uid) {
        self.unproven.retain(|known| *known != uid);
        self.unproven.push(uid);
        self.unproven.drain(..self.unproven.len().saturating_sub(UNPROVEN));
    }

    /// Remembers that the session waits for the check of a todo.
    pub(crate) fn await_check(&mut self, uid: Uid) {
        self.awaited.retain(|known| *known != uid);
        self.awaited.push(uid);
        self.awaited.drain(..self.awaited.len().saturating_sub(UNPROVEN));
    }

    /// What it may do: a role from outside counts first, and a subagent to which nothing was assigned may only read.
    pub fn role_of(&self, key: &SessionKey, given: Option<Role>) -> Role {
        given.unwrap_or(match self.role {
            Role::Owner if key.subagent().is_some() => Role::Worker,
            role => role,
        })
    }
}

impl Engine {
    /// What is known about a session, and the plan it is bound to.
    pub fn session(&self, key: &SessionKey) -> Result<Option<(Option<PlanId>, SessionState)>, EngineError> {
        let found = self.browse(|catalogue| catalogue.session(key))?;
        Ok(found.map(|session| (session.plan, read(&session))))
    }
}

/// A record from an older version is read as far as possible.
pub(crate) fn read(session: &SessionRow) -> SessionState {
    serde_json::from_str(&session.body).unwrap_or_default()
}

/// The state inside a transaction; a session that was never seen, or belongs to another plan, starts afresh, but in the
/// role it has.
pub(crate) fn load(snapshot: &dyn Snapshot, key: &SessionKey, plan: PlanId) -> Result<SessionState, StoreError> {
    let Some(session) = snapshot.session(key)? else { return Ok(SessionState::default()) };
    let state = read(&session);
    Ok(match session.plan.is_none_or(|bound| bound == plan) {
        true => state,
        false => SessionState { role: state.role, ..SessionState::default() },
    })
}

/// Stores the state of a session that is bound to a plan. A session without an id is not stored: it would match every other
/// one without an id.
pub(crate) fn store(
    tx: &mut dyn Tx,
    key: &SessionKey,
    plan: PlanId,
    state: &SessionState,
    now: i64,
) -> Result<(), StoreError> {
    keep(tx, key, Some(plan), state, now)
}

/// Stores the state of a session that may be bound to no plan yet.
pub(crate) fn keep(
    tx: &mut dyn Tx,
    key: &SessionKey,
    plan: Option<PlanId>,
    state: &SessionState,
    now: i64,
) -> Result<(), StoreError> {
    if key.session_id().is_empty() {
        return Ok(());
    }
    let body = serde_json::to_string(state).unwrap_or_default();
    tx.put_session(&SessionRow { key: key.clone(), plan, seen_at: now, body })
}
