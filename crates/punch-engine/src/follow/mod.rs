//! Following a plan: whole revisions after a cursor, or a gap where the log no longer reaches. Everything that keeps up
//! with a plan uses this: boards, subscribers, runners, hooks and `punch log --follow` (decision 0036).

mod follower;
mod plan_refresher;

use std::collections::BTreeSet;
use std::time::Duration;

use punch_core::{Actor, Event, Footprint, Patch, Plan, PlanRow, Uid};
use punch_store::{PlanId, Snapshot};

use crate::{Engine, EngineError};
pub use follower::{Follower, FollowerItem};
pub use plan_refresher::{PlanRefresher, RefreshResult, TodoChanges};

/// How far a follower has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// The last revision that was delivered.
    pub revision: u64,
    /// When that revision was written, if known. A store whose revision of this number is from another time was restored
    /// from a copy and written to since.
    written_at: Option<i64>,
    /// The time up to which ended leases and timers were delivered.
    time: i64,
}

impl Cursor {
    /// A cursor after a revision, for leases and timers that end after `now`.
    pub const fn at(revision: u64, now: i64) -> Self {
        Self { revision, written_at: None, time: now }
    }

    /// A cursor after everything that a plan holds at `now`.
    pub const fn end_of(row: &PlanRow, now: i64) -> Self {
        Self { revision: row.revision, written_at: Some(row.last_time), time: now }
    }

    /// Returns true if the plan has another revision of this number than the one that was delivered.
    fn is_of_another_log(&self, snapshot: &dyn Snapshot, row: &PlanRow) -> Result<bool, EngineError> {
        let Some(written_at) = self.written_at else { return Ok(false) };
        let found = match row.revision == self.revision {
            true => Some(row.last_time),
            // What is pruned cannot be compared.
            false => snapshot.events_head(self.revision, 1)?.0.first().map(|event| event.at),
        };
        Ok(found.is_some_and(|found| found != written_at))
    }
}

/// One write to a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// Its number; the first write of a plan has 1, and none is left out.
    pub number: u64,
    /// When, in milliseconds since the epoch.
    pub at: i64,
    /// The actor that made the revision.
    pub by: Actor,
    /// What happened, in order; never empty.
    pub events: Vec<Event>,
}

impl Revision {
    /// Makes a revision of the events that have its number; `None` without events.
    pub(crate) fn of(events: Vec<Event>) -> Option<Self> {
        let first = events.first()?;
        let by = Actor::parse(&first.by, first.owner.as_deref());
        Some(Self { number: first.revision, at: first.at, by, events })
    }

    /// Returns the todos that its events are about, each once. [`RevisionPage::touched`] holds them.
    pub fn todos(&self) -> BTreeSet<Uid> {
        self.events.iter().filter_map(todo_of).collect()
    }
}

/// Consecutive revisions, oldest first, and the todos that they touched.
#[derive(Debug)]
pub struct RevisionPage {
    /// The revisions; none if nothing was written after the cursor.
    pub revisions: Vec<Revision>,
    /// The touched todos as they were when the page was read. Only these are loaded.
    pub touched: Box<Plan>,
    /// The cursor for the next page.
    pub next: u64,
    /// Whether there are revisions after this page.
    pub more: bool,
}

/// The log does not reach from the cursor to the present: events were pruned, or the store is an older copy. Read the
/// plan again and continue after `revision`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The last revision of the plan.
    pub revision: u64,
}

/// What there is after a cursor.
#[derive(Debug)]
pub enum Revisions {
    /// Whole revisions, or none.
    Page(RevisionPage),
    /// Something is missing.
    Gap(Gap),
}

impl Engine {
    /// Returns whole revisions after `since`. The page ends with the revision in which `limit` events are reached.
    pub fn revisions(&self, plan: PlanId, since: u64, limit: usize) -> Result<Revisions, EngineError> {
        self.read(plan, |snapshot| revisions_after(snapshot, Cursor::at(since, 0), limit))
    }

    /// Waits until something happens after revision `since`; `None` after `timeout`. To wait again and again, keep a
    /// [`Follower`].
    pub fn wait(&self, plan: PlanId, since: u64, timeout: Duration) -> Result<Option<FollowerItem>, EngineError> {
        Follower::new(self, plan, Cursor::at(since, self.now())).next(self, timeout)
    }

    /// Follows a plan from this moment on.
    pub fn follow(&self, plan: PlanId) -> Result<Follower, EngineError> {
        let cursor = self.read(plan, |snapshot| Ok(Cursor::end_of(&snapshot.row()?, self.now())))?;
        Ok(Follower::new(self, plan, cursor))
    }
}

/// Returns whole revisions of one moment of a plan. The page ends with the revision in which `limit` events are reached.
pub fn revisions_after(snapshot: &dyn Snapshot, cursor: Cursor, limit: usize) -> Result<Revisions, EngineError> {
    let mut found = events_after(snapshot, cursor, limit)?;
    if let Revisions::Page(page) = &mut found
        && !page.revisions.is_empty()
    {
        let events = page.revisions.iter().flat_map(|revision| &revision.events);
        let todos: BTreeSet<Uid> = events.filter_map(todo_of).collect();
        snapshot.load(&Footprint { todos, ..Footprint::default() }, &mut page.touched)?;
    }
    Ok(found)
}

/// Returns whole revisions like [`revisions_after`], without the todos that they touched.
pub(crate) fn events_after(snapshot: &dyn Snapshot, cursor: Cursor, limit: usize) -> Result<Revisions, EngineError> {
    let (row, since) = (snapshot.row()?, cursor.revision);
    let last = row.revision;
    let gap = Ok(Revisions::Gap(Gap { revision: last }));
    if since > last || cursor.is_of_another_log(snapshot, &row)? {
        return gap;
    }
    let mut page =
        RevisionPage { revisions: Vec::new(), touched: Box::new(Plan::slice(row)), next: since, more: since < last };
    if !page.more || limit == 0 {
        return Ok(Revisions::Page(page));
    }
    let mut events = snapshot.events(since, limit)?.into_iter().peekable();
    while let Some(first) = events.next() {
        let number = first.revision;
        let rest = std::iter::from_fn(|| events.next_if(|event| event.revision == number));
        let revision = Revision::of(std::iter::once(first).chain(rest).collect());
        let Some(revision) = revision.filter(|revision| revision.number == page.next + 1) else { return gap };
        page.next = revision.number;
        page.revisions.push(revision);
    }
    if page.next == since {
        return gap;
    }
    page.more = page.next < last;
    Ok(Revisions::Page(page))
}

/// Returns the todo that an event is about.
pub const fn todo_of(event: &Event) -> Option<Uid> {
    match &event.patch {
        Patch::Todo(uid, _) => Some(*uid),
        Patch::Phases(_) | Patch::Policy(_) => None,
    }
}
