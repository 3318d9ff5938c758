//! A follower: a cursor and wake-ups. It holds no store, so its owner can open a store again and continue.

use std::time::{Duration, Instant};

use punch_core::Todo;
use punch_store::{Changes, PlanId, Snapshot};

use super::{Cursor, Gap, RevisionPage, Revisions, revisions_after};
use crate::activity::activity_after;
use crate::{ActivityPage, Engine, EngineError};

/// Events of one page; the rest comes with the next.
const PAGE: usize = 1_000;

/// The number of todos in one report of ended leases and timers. If more have ended at once, the plan has to be read
/// again.
const ENDED: usize = 1_000;

/// An item that a follower delivers.
#[derive(Debug)]
pub enum FollowerItem {
    /// Revisions in order; each is delivered once.
    Revisions(RevisionPage),
    /// Leases or timers of these todos have ended. No revision says so before the next write.
    TimePassed {
        /// The time at which this was found.
        at: i64,
        /// The todos as they are.
        todos: Vec<Todo>,
    },
    /// What happened around the plan, in order; only for a follower [with activity](Follower::with_activity).
    Activity(ActivityPage),
    /// Revisions are missing: read the plan again. The follower continues after the gap.
    Gap(Gap),
}

/// Follows one plan. It delivers everything after its cursor in order, however often the process was cut off in between.
///
/// Renewing a lease makes no revision and is not delivered; a todo whose lease was renewed is not among those of
/// [`FollowerItem::TimePassed`].
pub struct Follower {
    plan: PlanId,
    changes: Box<dyn Changes>,
    cursor: Cursor,
    /// The number of the last activity that was delivered; `None` if activity is not followed.
    activity: Option<u64>,
}

/// What one look at the store found.
enum FollowerLook {
    Found(FollowerItem),
    /// Nothing; the next lease or timer ends at this time.
    Nothing(Option<i64>),
}

impl Follower {
    /// Follows a plan from a cursor on, such as that of a follower of an earlier process.
    pub fn new(engine: &Engine, plan: PlanId, cursor: Cursor) -> Self {
        Self { plan, changes: engine.store().changes(), cursor, activity: None }
    }

    /// The plan that is followed.
    pub const fn plan(&self) -> PlanId {
        self.plan
    }

    /// How far it has come.
    pub const fn cursor(&self) -> Cursor {
        self.cursor
    }

    /// Returns this follower delivering also the activities of the plan with a number above `since`.
    #[must_use]
    pub fn with_activity(self, since: u64) -> Self {
        Self { activity: Some(since), ..self }
    }

    /// The number of the last activity that was delivered; `None` if activity is not followed.
    pub const fn activity(&self) -> Option<u64> {
        self.activity
    }

    /// Returns the next thing that happened; waits for it, and returns `None` after `timeout`.
    pub fn next(&mut self, engine: &Engine, timeout: Duration) -> Result<Option<FollowerItem>, EngineError> {
        let deadline = Instant::now().checked_add(timeout);
        loop {
            let now = engine.now();
            let (found, end) = engine.read(self.plan, |snapshot| {
                let found = self.look(snapshot, now)?;
                let is_gap = matches!(found, FollowerLook::Found(FollowerItem::Gap(_)));
                Ok((found, if is_gap { Some(Cursor::end_of(&snapshot.row()?, now)) } else { None }))
            })?;
            let next = match found {
                FollowerLook::Found(found) => {
                    self.advance(&found, end, now);
                    return Ok(Some(found));
                }
                FollowerLook::Nothing(next) => {
                    // Everything up to now was looked at. What a later write brings to light, such as a timer that ended
                    // while its todo waited for others, is part of that write.
                    self.cursor.time = self.cursor.time.max(now);
                    next
                }
            };
            let left = deadline.map_or(timeout, |end| end.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return Ok(None);
            }
            // A wake-up may be about a session or another plan.
            self.changes.wait(next.map_or(left, |at| left.min(until(now, at))))?;
        }
    }

    fn look(&self, snapshot: &dyn Snapshot, now: i64) -> Result<FollowerLook, EngineError> {
        match revisions_after(snapshot, self.cursor, PAGE)? {
            Revisions::Gap(gap) => return Ok(FollowerLook::Found(FollowerItem::Gap(gap))),
            Revisions::Page(page) if !page.revisions.is_empty() => {
                return Ok(FollowerLook::Found(FollowerItem::Revisions(page)));
            }
            Revisions::Page(_) => {}
        }
        if let Some(since) = self.activity {
            let page = activity_after(snapshot, since, PAGE)?;
            if page.has_gap || !page.records.is_empty() {
                return Ok(FollowerLook::Found(FollowerItem::Activity(page)));
            }
        }
        let todos = snapshot.ended(self.cursor.time, now, ENDED)?;
        match todos.len() {
            0 => Ok(FollowerLook::Nothing(snapshot.next_moment(now.max(self.cursor.time))?)),
            1..ENDED => Ok(FollowerLook::Found(FollowerItem::TimePassed { at: now, todos })),
            _ => Ok(FollowerLook::Found(FollowerItem::Gap(Gap { revision: self.cursor.revision }))),
        }
    }

    /// Moves the cursor past what was found; past a gap, to the `end` of the plan. With it the cursor knows which log
    /// that revision is of: a copy may be restored and written to before the next look.
    fn advance(&mut self, found: &FollowerItem, end: Option<Cursor>, now: i64) {
        match found {
            FollowerItem::Revisions(page) => {
                self.cursor.revision = page.next;
                self.cursor.written_at = page.revisions.last().map(|revision| revision.at);
            }
            FollowerItem::TimePassed { .. } => self.cursor.time = now,
            FollowerItem::Activity(page) => self.activity = Some(page.next),
            FollowerItem::Gap(gap) => self.cursor = end.unwrap_or(Cursor::at(gap.revision, now)),
        }
    }
}

/// How long it takes from `now` until `at`.
fn until(now: i64, at: i64) -> Duration {
    Duration::from_millis(u64::try_from(at.saturating_sub(now)).unwrap_or_default().max(1))
}
