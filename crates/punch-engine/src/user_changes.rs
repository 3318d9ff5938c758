//! What the user changes while a session works, and how the session learns of it: once, in the answer to its next tool
//! call or in the context that the next hook adds. Also makes todos that the user adds part of what the session must
//! finish, and records which session was informed of what (decision 0045).

use std::collections::{BTreeMap, BTreeSet};

use punch_core::drive::{Cover, UserChange, UserChangesText, user_changes};
use punch_core::time::ago;
use punch_core::{Actor, Dialect, Event, EventKind, Footprint, Plan, Uid, text};
use punch_store::{Durability, PlanId, SessionKey, SessionRow, Snapshot, StoreError, Tx};

use crate::activity::{self, ActivityKind};
use crate::call::names::SessionNames;
use crate::config::Settings;
use crate::{Cursor, Engine, EngineError, Revisions, Role, SessionState, follow, session, todo_of};

/// Events that are looked at in one step, and steps.
const EVENTS: usize = 2_000;
const PAGES: usize = 10;

/// What a session reads if the log no longer says what changed.
const PLAN_MAY_DIFFER: &str =
    "The plan may have changed while you worked, and its history no longer says how: read the plan again.";

/// Events without a change of the user after which it is recorded that they were looked at.
const WORTH_A_WRITE: u64 = 256;

/// Sessions that are asked whether they still have to be informed, the most recent first.
const SESSIONS: usize = 50;

/// A session that may have to be informed, at one moment of its plan.
pub(crate) struct Informing<'a> {
    pub snapshot: &'a dyn Snapshot,
    pub session: &'a SessionKey,
    /// The name under which the user signs, where the user has one.
    pub user: Option<&'a str>,
    pub now: i64,
}

/// What the user did that a session was not informed of.
#[derive(Default)]
pub(crate) struct UnseenChanges {
    /// Changes to todos of the session, in the order of the first event.
    changes: Vec<UserChange>,
    /// Todos that the user added.
    added: BTreeSet<Uid>,
    /// The ids of the changed todos.
    ids: BTreeMap<Uid, String>,
    /// The last revision that was looked at.
    pub until: u64,
    /// Events after the revision are no longer in the log, so what they changed is unknown.
    has_gap: bool,
}

/// What a session is informed of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UserChangeNotice {
    /// One sentence.
    pub text: String,
    /// The todos that it names, with their ids.
    todos: Vec<(Uid, String)>,
}

impl UnseenChanges {
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && !self.has_gap
    }

    /// Nothing but new todos, which a list shows.
    pub fn is_in_list(&self) -> bool {
        !self.has_gap && self.changes.iter().all(|change| self.added.contains(&change.uid))
    }
}

impl<'a> Informing<'a> {
    /// Informs the session: from now on it counts as informed of everything up to this moment, and answers for what the
    /// user added. Nothing for a session that is bound to no todos.
    pub fn inform(&self, state: &mut SessionState) -> Result<Option<UserChangeNotice>, EngineError> {
        let since = state.informed();
        self.inform_since(state, since, &[])
    }

    /// Informs the session of what happened after a revision, also to todos that were in its list before its last write.
    pub fn inform_since(
        &self,
        state: &mut SessionState,
        since: u64,
        listed: &[Uid],
    ) -> Result<Option<UserChangeNotice>, EngineError> {
        if !state.bound {
            return Ok(None);
        }
        let found = self.found(state, since, listed)?;
        self.take_up(state, &found)?;
        state.drive.told = found.until;
        Ok(found.notice(state, since))
    }

    /// Counts the session as informed of everything up to this moment, without reading events: all new ones are its own.
    pub fn skip_own(&self, state: &mut SessionState) -> Result<(), EngineError> {
        if state.bound {
            state.drive.told = self.snapshot.row()?.revision;
            state.taken_up = state.drive.told;
        }
        Ok(())
    }

    /// Makes todos that the user added part of what the session must finish, without informing it. Events that were looked
    /// at for this before are not read again: a stop must not cost more with every change of the user.
    pub fn take_up_new(&self, state: &mut SessionState) -> Result<(), EngineError> {
        let is_informed = state.taken_up <= state.informed();
        let found = self.uninformed(state, state.taken_up.max(state.informed()))?;
        self.take_up(state, &found)?;
        if found.is_empty() && is_informed {
            state.drive.told = found.until;
        }
        Ok(())
    }

    /// What the session was not informed of since a revision.
    pub fn uninformed(&self, state: &SessionState, since: u64) -> Result<UnseenChanges, EngineError> {
        self.found(state, since, &[])
    }

    fn found(&self, state: &SessionState, since: u64, listed: &[Uid]) -> Result<UnseenChanges, EngineError> {
        let row = self.snapshot.row()?;
        let mut found = UnseenChanges { until: row.revision, ..UnseenChanges::default() };
        let unnamed: BTreeMap<Uid, u64> = state.unnamed.iter().copied().collect();
        let first = unnamed.values().copied().min().unwrap_or(since).min(since);
        if first >= row.revision {
            return Ok(found);
        }
        let from = |event: &Event| todo_of(event).and_then(|uid| unnamed.get(&uid)).map_or(since, |at| since.min(*at));
        let is_new = |event: &Event| event.revision > from(event) && self.is_by_user(event);
        let mut read = events_after(self.snapshot, first, self.now, &is_new)?;
        if read.has_gap && first < since {
            read = events_after(self.snapshot, since, self.now, &is_new)?;
        }
        // What was not read yet is for the next time. What is gone cannot be read.
        found.has_gap = read.has_gap && since < row.revision;
        found.until = if read.has_gap { row.revision } else { read.until.max(since) };
        let events = read.events;
        let (cover, is_main) = (state.cover(), state.role == Role::Owner);
        let concerns = |uid: &Uid, events: &[Event]| match &cover {
            Cover::Plan => true,
            Cover::List(own) => {
                let is_added = is_main && events.iter().any(|event| event.kind == EventKind::Added);
                is_added || own.contains(uid) || state.beside.contains(uid) || listed.contains(uid)
            }
        };
        let events: BTreeMap<Uid, Vec<Event>> =
            events.into_iter().filter(|(uid, events)| concerns(uid, events)).collect();
        if events.is_empty() {
            return Ok(found);
        }
        let mut part = Plan::slice(row);
        self.snapshot
            .load(&Footprint { todos: events.keys().copied().collect(), ..Footprint::default() }, &mut part)?;
        let names = SessionNames::of(state);
        let has_ids = !matches!(state.dialect, Some(Dialect::Todowrite | Dialect::Phases));
        let mut order: Vec<(&Uid, &Vec<Event>)> = events.iter().collect();
        order.sort_by_key(|(_, events)| events.first().map(|event| (event.revision, event.seq)));
        for (uid, events) in order {
            let Some(todo) = part.get(*uid) else { continue };
            if todo.is_live() && todo.status.is_open() && events.iter().any(|event| event.kind == EventKind::Added) {
                found.added.insert(*uid);
            }
            found.ids.insert(*uid, todo.id.clone());
            let id = has_ids.then(|| names.label(&todo.id));
            let events: Vec<&Event> = events.iter().collect();
            found.changes.extend(UserChange::of(todo, &events, id, self.now));
        }
        Ok(found)
    }

    /// A session that answers for a list also answers for open todos that the user added while it worked. Leaving them out
    /// of its next list removes nothing: it may never have seen them.
    pub fn take_up(&self, state: &mut SessionState, found: &UnseenChanges) -> Result<(), EngineError> {
        state.taken_up = found.until;
        let Cover::List(covered) = state.cover() else { return Ok(()) };
        if !state.bound || state.role == Role::Worker || self.session.subagent().is_some() {
            return Ok(());
        }
        state.beyond.extend(found.added.iter().filter(|uid| !covered.contains(uid)));
        Ok(())
    }

    fn is_by_user(&self, event: &Event) -> bool {
        // A user who gives a name signs with it; agents sign with the name of their program.
        Actor::parse(&event.by, None).is_user() || self.user == Some(event.by.as_str())
    }
}

impl UnseenChanges {
    /// Returns the sentence about what happened after a revision; `None` if there is nothing to report. What does not
    /// fit stays for the next one.
    pub fn notice(mut self, state: &mut SessionState, since: u64) -> Option<UserChangeNotice> {
        let earlier: BTreeMap<Uid, u64> = std::mem::take(&mut state.unnamed).into_iter().collect();
        if self.has_gap {
            return Some(UserChangeNotice { text: PLAN_MAY_DIFFER.to_owned(), todos: Vec::new() });
        }
        if self.changes.is_empty() {
            return None;
        }
        let UserChangesText { text, named, later } = user_changes(&mut self.changes);
        let later = self.changes[named..].iter().take(later);
        state.unnamed =
            later.map(|change| (change.uid, earlier.get(&change.uid).map_or(since, |at| since.min(*at)))).collect();
        let todo = |change: &UserChange| Some((change.uid, self.ids.get(&change.uid)?.clone()));
        Some(UserChangeNotice { text, todos: self.changes[..named].iter().filter_map(todo).collect() })
    }
}

impl UserChangeNotice {
    /// Records when the session was informed of which todos.
    pub fn record(&self, tx: &mut dyn Tx, session: &SessionKey, agent: &str, now: i64) -> Result<(), StoreError> {
        let source = session.full_name();
        self.todos.iter().try_for_each(|(uid, id)| {
            let kind = ActivityKind::Informed { agent: activity::one_line(agent), todo: activity::one_line(id) };
            activity::record(tx, Some(&source), Some(*uid), &kind, now)
        })
    }
}

/// The events after a revision that were read.
pub(crate) struct EventsRead {
    /// The relevant events of each todo, in order.
    pub events: BTreeMap<Uid, Vec<Event>>,
    /// The last revision that was read.
    pub until: u64,
    /// The log does not reach from there to the present: it was pruned.
    pub has_gap: bool,
    /// There is more to read after it.
    pub more: bool,
}

/// Reads the events after a revision, a limited number of them.
pub(crate) fn events_after(
    snapshot: &dyn Snapshot,
    since: u64,
    now: i64,
    wanted: &dyn Fn(&Event) -> bool,
) -> Result<EventsRead, EngineError> {
    let mut read = EventsRead { events: BTreeMap::new(), until: since, has_gap: false, more: true };
    for _ in 0..PAGES {
        let Revisions::Page(page) = follow::events_after(snapshot, Cursor::at(read.until, now), EVENTS)? else {
            read.has_gap = true;
            break;
        };
        for event in page.revisions.into_iter().flat_map(|revision| revision.events).filter(|event| wanted(event)) {
            if let Some(uid) = todo_of(&event) {
                read.events.entry(uid).or_default().push(event);
            }
        }
        (read.until, read.more) = (page.next, page.more);
        if !page.more {
            break;
        }
    }
    Ok(read)
}

/// Which session was informed of the user's last changes to a todo, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InformedSession {
    /// The session.
    pub session: String,
    /// The agent program, if known.
    pub agent: String,
    /// When it was informed; `None` if it will be with its next tool call.
    pub at: Option<i64>,
}

impl InformedSession {
    /// In words, such as `claude (session 1a2b) 3 minutes ago`.
    pub fn line(&self, now: i64) -> String {
        let session = text::clip(&self.session, 40);
        let who = match self.agent.as_str() {
            "" => format!("session {session}"),
            agent => format!("{agent} (session {session})"),
        };
        match self.at {
            Some(at) => format!("{who} {}", ago(now.saturating_sub(at))),
            None => format!("{who}, at its next tool call"),
        }
    }
}

impl Engine {
    /// Informs a session after an answer that wrote nothing: a reading, or a refusal. That this cannot be done is not a reason
    /// to withhold the answer.
    pub(crate) fn inform(
        &self,
        plan: PlanId,
        session: &SessionKey,
        agent: &str,
        settings: Option<&Settings>,
    ) -> Option<String> {
        let user = settings.and_then(|settings| settings.owner.value.as_deref());
        if session.session_id().is_empty() {
            return None;
        }
        let is_due = self.read(plan, |snapshot| {
            let state = session::load(snapshot, session, plan)?;
            let revision = snapshot.row()?.revision;
            let behind = revision.saturating_sub(state.informed());
            if !state.bound || (behind == 0 && state.unnamed.is_empty()) {
                return Ok(false);
            }
            let informing = Informing { snapshot, session, user, now: self.now() };
            if behind > WORTH_A_WRITE {
                return Ok(true);
            }
            let found = informing.uninformed(&state, state.informed())?;
            // The next look continues where this one ended.
            Ok(!found.is_empty() || found.until < revision)
        });
        let informed = is_due.and_then(|is_due| match is_due {
            false => Ok(None),
            true => self.write(plan, Durability::Relaxed, |tx, now| {
                let mut state = session::load(tx, session, plan)?;
                let notice = Informing { snapshot: tx, session, user, now }.inform(&mut state)?;
                session::store(tx, session, plan, &state, now)?;
                if let Some(notice) = &notice {
                    notice.record(tx, session, agent, now)?;
                }
                Ok(notice.map(|notice| notice.text))
            }),
        });
        informed.unwrap_or_else(|error| {
            self.trouble(&error);
            None
        })
    }

    /// Returns which sessions were informed of the user's changes to a todo, newest first, and which still have to be.
    pub fn informed_sessions(
        &self,
        plan: PlanId,
        todo: Uid,
        settings: &Settings,
    ) -> Result<Vec<InformedSession>, EngineError> {
        let user = settings.owner.value.as_deref();
        self.read(plan, |snapshot| {
            let now = self.now();
            let mut found: Vec<InformedSession> = Vec::new();
            let waits = |session: &SessionRow| -> Result<bool, EngineError> {
                let state = session::read(session);
                let is_here = session.plan == Some(plan) && state.bound && !state.drive.ended;
                if !is_here || (state.informed() >= snapshot.row()?.revision && state.unnamed.is_empty()) {
                    return Ok(false);
                }
                let informing = Informing { snapshot, session: &session.key, user, now };
                let found = informing.uninformed(&state, state.informed())?;
                Ok(found.changes.iter().any(|change| change.uid == todo))
            };
            for session in &snapshot.sessions(Some(plan), i64::MIN, SESSIONS)? {
                if waits(session)? {
                    let agent = session::read(session).agent.unwrap_or_default();
                    found.push(InformedSession { session: session.key.full_name(), agent, at: None });
                }
            }
            for record in activity::about(snapshot, todo, SESSIONS)? {
                let ActivityKind::Informed { agent, .. } = record.kind else { continue };
                let session = record.source.unwrap_or_default();
                if !found.iter().any(|known| known.session == session && known.at.is_some()) {
                    found.push(InformedSession { session, agent, at: Some(record.at) });
                }
            }
            Ok(found)
        })
    }
}
