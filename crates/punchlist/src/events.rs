//! What happens in the plan, as it happens, by any actor: this session, another one, a user at a shell.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use punch_core::{Kind, Patch, Status, Todo};
use punch_engine::{Cursor, Engine, Followed, Follower, RevisionPage, todo_of};
use serde::Serialize;

use crate::{Error, Session};

/// How long a follower that can be closed waits at a time.
const LOOK: Duration = Duration::from_millis(200);

/// Fields that users and agents edit. The others follow from a change of status, such as times and owners.
const EDITED: &[&str] = &[
    "id",
    "content",
    "active_form",
    "description",
    "depends_on",
    "phase",
    "position",
    "priority",
    "labels",
    "complexity",
    "estimated_tokens",
    "criteria",
    "verify",
    "files",
    "hidden",
];

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Event {
    /// The write it belongs to.
    pub revision: u64,
    /// When, in milliseconds since the epoch.
    pub at: i64,
    /// Who did it.
    pub by: String,
    /// The todo it happened to, as it is now; none for phases and policies.
    pub todo: Option<Touched>,
    /// What happened.
    pub change: Change,
    /// The op behind it: a todo may become pending because an attempt failed, or because it was reopened.
    pub kind: Kind,
}

/// What happened to a todo or to the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "change", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Change {
    /// The todo is new.
    Added,
    /// Its status changed.
    Status {
        /// What it was. A todo that came with another status than pending was pending for a moment.
        from: Status,
        /// What it is.
        to: Status,
    },
    /// A note was added.
    Noted {
        /// The note. It is untrusted.
        text: String,
    },
    /// It was put on hold, or the reason changed.
    Held {
        /// Why. The text is untrusted.
        reason: String,
    },
    /// The hold ended.
    Released,
    /// Other fields changed.
    Edited {
        /// Their names.
        fields: Vec<&'static str>,
    },
    /// It was archived.
    Removed,
    /// It came back from the archive.
    Restored,
    /// The phases or the policy of the plan changed.
    Plan,
}

/// A todo that something happened to. Its text is untrusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Touched {
    /// Its id.
    pub id: String,
    /// What is to be done.
    pub content: String,
    /// The words that a UI shows while it is in progress.
    pub active_form: Option<String>,
    /// Where it stands.
    pub status: Status,
    /// It is archived.
    pub removed: bool,
}

/// What a subscription delivers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Update {
    /// Events in order and in whole revisions.
    Events(Vec<Event>),
    /// Leases or timers of these todos have ended. No event says so before the next write.
    TimePassed(Vec<Touched>),
    /// Events are missing, because they were pruned or the store was restored from a copy: read the plan anew. The
    /// subscription continues after the gap.
    Gap,
}

/// A subscription. Dropping it ends it. As an iterator it blocks until something happens, and ends after
/// [`Closer::close`].
pub struct Events {
    engine: Arc<Engine>,
    follower: Follower,
    closed: Arc<AtomicBool>,
}

/// Ends a subscription from another thread.
#[derive(Clone, Debug)]
pub struct Closer(Arc<AtomicBool>);

impl Closer {
    /// Ends the iteration, within a fraction of a second.
    pub fn close(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A callback that is called for every event until this is dropped.
#[derive(Debug)]
#[must_use = "dropping it ends the calls"]
pub struct Watching {
    closer: Closer,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.closer.close();
        if let Some(thread) = self.thread.take().filter(|thread| thread.thread().id() != std::thread::current().id()) {
            let _ = thread.join();
        }
    }
}

impl Session {
    /// Follows what happens from now on.
    ///
    /// ```
    /// # use punchlist::{Change, Op, Options, Session, Status, Update};
    /// # use std::time::Duration;
    /// # fn main() -> Result<(), punchlist::Error> {
    /// let session = Session::in_memory(Options::new("my-agent"))?;
    /// let mut events = session.subscribe()?;
    /// session.apply(&[Op::add("Write the parser"), Op::start("T-1")])?;
    /// let Some(Update::Events(happened)) = events.wait(Duration::from_secs(1))? else { panic!("nothing happened") };
    /// assert_eq!(happened[0].change, Change::Added);
    /// assert_eq!(happened[0].todo.as_ref().unwrap().id, "T-1");
    /// assert_eq!(happened[1].change, Change::Status { from: Status::Pending, to: Status::InProgress });
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
        Ok(Events { engine: Arc::clone(&self.engine), follower, closed: Arc::default() })
    }

    /// Calls `f` with every event from now on, on a thread of its own, until the result is dropped.
    pub fn on_change(&self, mut f: impl FnMut(&Event) + Send + 'static) -> Result<Watching, Error> {
        let events = self.subscribe()?;
        let closer = events.closer();
        let thread = std::thread::Builder::new().name("punchlist-events".to_owned()).spawn(move || {
            for update in events {
                if let Ok(Update::Events(events)) = update {
                    events.iter().for_each(&mut f);
                }
            }
        });
        let thread = thread.map_err(|cause| Error {
            code: "no_thread",
            message: format!("cannot start a thread for events: {cause}"),
            hint: "poll with `Events::wait` instead".to_owned(),
        })?;
        Ok(Watching { closer, thread: Some(thread) })
    }
}

impl Events {
    /// Returns what happened since the last call; waits for it, and returns `None` after `timeout`. A process that is far
    /// behind gets it in pages.
    pub fn wait(&mut self, timeout: Duration) -> Result<Option<Update>, Error> {
        let found = self.follower.next(&self.engine, timeout)?;
        let now = self.engine.now();
        Ok(found.and_then(|found| match found {
            Followed::Revisions(page) => Some(Update::Events(events(&page, now))),
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

    /// What ends the iteration from another thread.
    pub fn closer(&self) -> Closer {
        Closer(Arc::clone(&self.closed))
    }
}

impl Iterator for Events {
    type Item = Result<Update, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.closed.load(Ordering::Relaxed) {
            match self.wait(LOOK) {
                Ok(None) => {}
                Ok(Some(update)) => return Some(Ok(update)),
                Err(error) => return Some(Err(error)),
            }
        }
        None
    }
}

impl Touched {
    fn of(todo: &Todo, now: i64) -> Self {
        Self {
            id: todo.id.clone(),
            content: todo.content.clone(),
            active_form: todo.active_form.clone(),
            status: todo.status_at(now),
            removed: !todo.is_live(),
        }
    }
}

fn events(page: &RevisionPage, now: i64) -> Vec<Event> {
    let todo = |event: &punch_core::Event| page.touched.get(todo_of(event)?).map(|todo| Touched::of(todo, now));
    let all = page.revisions.iter().flat_map(|revision| &revision.events);
    all.flat_map(|event| {
        changes(event).into_iter().map(move |change| Event {
            revision: event.revision,
            at: event.at,
            by: event.by.clone(),
            todo: todo(event),
            change,
            kind: event.kind,
        })
    })
    .collect()
}

/// What an event says, in the order in which a UI would show it.
fn changes(event: &punch_core::Event) -> Vec<Change> {
    let Patch::Todo(_, patches) = &event.patch else { return vec![Change::Plan] };
    let added = event.kind == Kind::Added;
    let (mut out, mut fields) = (Vec::new(), Vec::new());
    if added {
        out.push(Change::Added);
    }
    for patch in patches {
        match patch {
            punch_core::Change::Status(status) => out.push(Change::Status { from: status.before, to: status.after }),
            punch_core::Change::Notes(notes) => {
                out.extend(notes.added.iter().map(|note| Change::Noted { text: note.text.clone() }));
            }
            punch_core::Change::Removed(removed) => {
                out.push(if removed.after.is_some() { Change::Removed } else { Change::Restored });
            }
            punch_core::Change::Hold(hold) => out.push(match &hold.after {
                Some(hold) => Change::Held { reason: hold.reason.clone() },
                None => Change::Released,
            }),
            // The fields of a new todo are not edits.
            other if !added && EDITED.contains(&other.field()) => fields.push(other.field()),
            _ => {}
        }
    }
    if !fields.is_empty() {
        out.push(Change::Edited { fields });
    }
    out
}
