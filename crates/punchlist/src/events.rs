//! Events of the plan as they happen, caused by any actor: this session, another one, or a user at a shell.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use punch_core::view::Progress;
use punch_core::{EventKind, Status, Todo};
use punch_engine::{ActivityKind, ActivityPage, Cursor, Engine, Follower, FollowerItem, RevisionPage, todo_of};
use serde::{Deserialize, Serialize};

use crate::change::changes;
use crate::{Change, Error, Session};

/// How long a follower that can be closed waits at a time.
const LOOK: Duration = Duration::from_millis(200);

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Event {
    /// The write it belongs to.
    pub revision: u64,
    /// When, in milliseconds since the epoch.
    pub at: i64,
    /// The actor that made the change.
    pub by: String,
    /// The todo it happened to, as it is now; none for what is not about one todo.
    pub todo: Option<Touched>,
    /// The change itself.
    pub change: Change,
    /// The op behind it: a todo may become pending because an attempt failed, or because it was reopened. None for progress
    /// and failed writes.
    pub kind: Option<EventKind>,
}

/// A todo that something happened to. Its text is untrusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Touched {
    /// The id of the todo.
    pub id: String,
    /// What is to be done.
    pub content: String,
    /// The words that a UI shows while it is in progress.
    pub active_form: Option<String>,
    /// The status of the todo.
    pub status: Status,
    /// True if the todo is archived.
    pub removed: bool,
}

/// An update that a subscription delivers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Update {
    /// Events in order: whole revisions, then how far the plan is; or failed writes.
    Events(Vec<Event>),
    /// Leases or timers of these todos have ended. No event says so before the next write.
    TimePassed(Vec<Touched>),
    /// Events are missing, because they were pruned or the store was restored from a copy: read the plan again. The
    /// subscription continues after the gap.
    Gap,
}

/// A subscription. Dropping it ends it. As an iterator it blocks until something happens, and ends after
/// [`Closer::close`].
pub struct Events {
    engine: Arc<Engine>,
    follower: Follower,
    closed: Arc<AtomicBool>,
    /// How far the plan was when that was last delivered.
    progress: Option<Progress>,
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
    /// # use std::time::{Duration, Instant};
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
        let row = self.engine.read(self.plan, |snapshot| Ok(snapshot.row()?))?;
        let progress = Progress::of_counts(&row.counts);
        Ok(Events { progress: Some(progress), ..self.subscribe_since(row.revision)? })
    }

    /// Follows what happened after a revision and what will. Failed writes are reported from now on.
    pub fn subscribe_since(&self, revision: u64) -> Result<Events, Error> {
        let cursor = Cursor::at(revision, self.engine.now());
        let activity = self.engine.last_activity(self.plan)?;
        let follower = Follower::new(&self.engine, self.plan, cursor).with_activity(activity);
        Ok(Events { engine: Arc::clone(&self.engine), follower, closed: Arc::default(), progress: None })
    }

    /// Calls `f` with every event from now on, on a separate thread, until the result is dropped.
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
        let deadline = Instant::now().checked_add(timeout);
        loop {
            let left = deadline.map_or(timeout, |end| end.saturating_duration_since(Instant::now()));
            let Some(found) = self.follower.next(&self.engine, left)? else { return Ok(None) };
            let now = self.engine.now();
            return Ok(Some(match found {
                FollowerItem::Revisions(page) => {
                    let mut all = events(&page, now);
                    all.extend(self.progressed(&page));
                    Update::Events(all)
                }
                FollowerItem::Activity(page) => match self.failed_writes(&page) {
                    failed if failed.is_empty() => continue,
                    failed => Update::Events(failed),
                },
                FollowerItem::TimePassed { todos, .. } => {
                    Update::TimePassed(todos.iter().map(|todo| Touched::of(todo, now)).collect())
                }
                FollowerItem::Gap(_) => Update::Gap,
            }));
        }
    }

    /// The event that says how far the plan is, if that changed.
    fn progressed(&mut self, page: &RevisionPage) -> Option<Event> {
        let progress = Progress::of_counts(&page.touched.row.counts);
        let last = page.revisions.last()?;
        (self.progress.replace(progress) != Some(progress)).then(|| Event {
            revision: last.number,
            at: last.at,
            by: last.by.by().to_owned(),
            todo: None,
            change: Change::Progress { progress },
            kind: None,
        })
    }

    fn failed_writes(&self, page: &ActivityPage) -> Vec<Event> {
        let failed = page.records.iter().filter_map(|record| match &record.kind {
            ActivityKind::WriteFailed { agent, error } => Some(Event {
                revision: self.seen(),
                at: record.at,
                by: agent.clone(),
                todo: None,
                change: Change::WriteFailed { message: error.clone() },
                kind: None,
            }),
            _ => None,
        });
        failed.collect()
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
            kind: Some(event.kind),
        })
    })
    .collect()
}
