//! What happens in the plan, as it happens, by any actor: this session, another one, a user at a shell.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use punch_core::{Footprint, Kind, Patch, Plan, Status, Uid};
use punch_engine::{Engine, EngineError};
use punch_store::{Changes, PlanId};

use crate::{Error, Session};

/// Events of one look at the store; the rest comes with the next.
const PAGE: usize = 1_000;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The write it belongs to.
    pub revision: u64,
    /// When, in milliseconds.
    pub at: i64,
    /// Who.
    pub by: String,
    /// What kind of thing.
    pub kind: Kind,
    /// The todo it happened to, as it is now; none for phases and policies.
    pub todo: Option<Touched>,
}

/// A todo that something happened to. Its text is untrusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    /// Its id.
    pub id: String,
    /// What is to be done.
    pub content: String,
    /// Where it stands.
    pub status: Status,
    /// It is archived.
    pub removed: bool,
}

/// A subscription. Dropping it ends it.
pub struct Events {
    engine: Arc<Engine>,
    plan: PlanId,
    changes: Box<dyn Changes>,
    seen: u64,
}

impl Session {
    /// Follows what happens from now on.
    ///
    /// ```
    /// # use punchlist::{Kind, Options, Session};
    /// # use serde_json::json;
    /// # use std::time::Duration;
    /// # fn main() -> Result<(), punchlist::Error> {
    /// let session = Session::in_memory(Options::new("my-agent"))?;
    /// let mut events = session.subscribe()?;
    /// session.call("todo_write", &json!({"ops": [{"op": "add", "content": "Write the parser"}]}))?;
    /// let happened = events.wait(Duration::from_secs(1))?;
    /// assert_eq!(happened[0].kind, Kind::Added);
    /// assert_eq!(happened[0].todo.as_ref().unwrap().id, "T-1");
    /// # Ok(())
    /// # }
    /// ```
    pub fn subscribe(&self) -> Result<Events, Error> {
        self.subscribe_since(self.revision()?)
    }

    /// Follows what happened after a revision and what will.
    pub fn subscribe_since(&self, revision: u64) -> Result<Events, Error> {
        let changes = self.engine.store().changes();
        Ok(Events { engine: Arc::clone(&self.engine), plan: self.plan, changes, seen: revision })
    }
}

impl Events {
    /// What happened since the last call, in order and in whole revisions; waits for it until `timeout` is over, then
    /// nothing. A process that is far behind gets it in pages.
    pub fn wait(&mut self, timeout: Duration) -> Result<Vec<Event>, Error> {
        let end = Instant::now().checked_add(timeout);
        loop {
            let found = self.look()?;
            // A wake-up may be about a session or another plan.
            let left = end.map_or(timeout, |end| end.saturating_duration_since(Instant::now()));
            if !found.is_empty() || left.is_zero() {
                return Ok(found);
            }
            self.changes.wait(left)?;
        }
    }

    /// The revision up to which it has answered.
    pub const fn seen(&self) -> u64 {
        self.seen
    }

    fn look(&mut self) -> Result<Vec<Event>, Error> {
        let seen = self.seen;
        let found = self.engine.read(self.plan, |snapshot| {
            let events = snapshot.events(seen, PAGE)?;
            let mut part = Plan::slice(snapshot.row()?);
            let todos: BTreeSet<Uid> = events.iter().filter_map(|event| of(&event.patch)).collect();
            snapshot.load(&Footprint { todos, ..Footprint::default() }, &mut part)?;
            Ok::<_, EngineError>((events, part))
        });
        let (events, part) = found?;
        let now = self.engine.now();
        let touched = |uid: Uid| {
            let todo = part.get(uid)?;
            let (id, content) = (todo.id.clone(), todo.content.clone());
            Some(Touched { id, content, status: todo.status_at(now), removed: !todo.is_live() })
        };
        self.seen = events.last().map_or(seen, |event| event.revision);
        let told = |event: punch_core::Event| Event {
            revision: event.revision,
            at: event.at,
            kind: event.kind,
            todo: of(&event.patch).and_then(touched),
            by: event.by,
        };
        Ok(events.into_iter().map(told).collect())
    }
}

const fn of(patch: &Patch) -> Option<Uid> {
    match patch {
        Patch::Todo(uid, _) => Some(*uid),
        Patch::Phases(_) | Patch::Policy(_) => None,
    }
}
