//! What happens in the plan, as it happens, by any actor: this session, another one, a user at a shell.

use std::sync::Arc;
use std::time::Duration;

use punch_core::{Kind, Status, Todo};
use punch_engine::{Cursor, Engine, Followed, Follower, RevisionPage, todo_of};

use crate::{Error, Session};

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

/// What a subscription delivers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Update {
    /// Events in order and in whole revisions.
    Events(Vec<Event>),
    /// Leases or timers of these todos have ended. No event says so before the next write.
    TimePassed(Vec<Touched>),
    /// Events are missing, because they were pruned or the store was restored from a copy: read the plan anew. The
    /// subscription continues after the gap.
    Gap,
}

/// A subscription. Dropping it ends it.
pub struct Events {
    engine: Arc<Engine>,
    follower: Follower,
}

impl Session {
    /// Follows what happens from now on.
    ///
    /// ```
    /// # use punchlist::{Kind, Options, Session, Update};
    /// # use serde_json::json;
    /// # use std::time::Duration;
    /// # fn main() -> Result<(), punchlist::Error> {
    /// let session = Session::in_memory(Options::new("my-agent"))?;
    /// let mut events = session.subscribe()?;
    /// session.call("todo_write", &json!({"ops": [{"op": "add", "content": "Write the parser"}]}))?;
    /// let Some(Update::Events(happened)) = events.wait(Duration::from_secs(1))? else { panic!("nothing happened") };
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
        let cursor = Cursor::at(revision, self.engine.now());
        let follower = Follower::new(&self.engine, self.plan, cursor);
        Ok(Events { engine: Arc::clone(&self.engine), follower })
    }
}

impl Events {
    /// Returns what happened since the last call; waits for it, and returns `None` after `timeout`. A process that is far
    /// behind gets it in pages.
    pub fn wait(&mut self, timeout: Duration) -> Result<Option<Update>, Error> {
        let found = self.follower.next(&self.engine, timeout)?;
        let now = self.engine.now();
        Ok(found.and_then(|found| match found {
            Followed::Revisions(page) => Some(Update::Events(events(page, now))),
            Followed::TimePassed { todos, .. } => {
                Some(Update::TimePassed(todos.iter().map(|todo| Touched::of(todo, now)).collect()))
            }
            Followed::Gap(_) => Some(Update::Gap),
            // Not asked for.
            Followed::Activity(_) => None,
        }))
    }

    /// The revision up to which it has answered.
    pub const fn seen(&self) -> u64 {
        self.follower.cursor().revision
    }
}

impl Touched {
    fn of(todo: &Todo, now: i64) -> Self {
        let (id, content) = (todo.id.clone(), todo.content.clone());
        Self { id, content, status: todo.status_at(now), removed: !todo.is_live() }
    }
}

fn events(page: RevisionPage, now: i64) -> Vec<Event> {
    let todo = |event: &punch_core::Event| page.touched.get(todo_of(event)?).map(|todo| Touched::of(todo, now));
    let event = |event: punch_core::Event| Event {
        revision: event.revision,
        at: event.at,
        kind: event.kind,
        todo: todo(&event),
        by: event.by,
    };
    page.revisions.into_iter().flat_map(|revision| revision.events).map(event).collect()
}
