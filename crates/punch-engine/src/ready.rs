//! Which todos can be started now, best first, and which to work on next, for every surface.

use std::collections::HashSet;

use punch_core::drive::Offers;
use punch_core::reason::{self, PlanReader, WorkLimits, is_busy, is_startable, own_work};
use punch_core::{Footprint, Plan, Todo, Uid};
use punch_store::{ReadyMark, Snapshot, StoreError, Which};

use crate::offers;

/// Ready todos looked at in one step after the first one.
const PAGE: usize = 64;
/// The number of todos that are loaded one by one to explain one of them; if more block it, everything is loaded.
const WALKED: usize = 5_000;

/// What becomes of todos that another session was sent to and has not started yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfferedElsewhere {
    /// They are ready like all others: users see everything.
    Included,
    /// They come last: a claim takes one of them rather than nothing.
    Last,
    /// They are left out: no two sessions are sent to the same todo.
    LeftOut,
}

/// The caller that looks for work.
#[derive(Clone, Copy, Debug)]
pub struct ReadyQuery<'a> {
    /// The name under which the reader works; `None` is the user.
    pub owner: Option<&'a str>,
    /// The todos that a worker was assigned; `None` for a reader that sees the whole plan.
    pub scope: Option<&'a [Uid]>,
    /// What becomes of todos that another session was sent to.
    pub offered: OfferedElsewhere,
    /// The time.
    pub now: i64,
}

impl<'a> ReadyQuery<'a> {
    /// Everything that can be started, as users see it.
    pub const fn of_plan(now: i64) -> Self {
        Self { owner: None, scope: None, offered: OfferedElsewhere::Included, now }
    }

    /// What an owner should be sent to: not what other sessions were sent to. The user may take anything.
    pub const fn for_owner(owner: Option<&'a str>, scope: Option<&'a [Uid]>, now: i64) -> Self {
        let offered = match (owner, scope) {
            (Some(_), None) => OfferedElsewhere::LeftOut,
            _ => OfferedElsewhere::Included,
        };
        Self { owner, scope, offered, now }
    }

    /// Returns at most `limit` todos that can be started now, best first: ready, with content, touching no files of work in
    /// progress. Those that no context window can hold come last.
    pub fn ready(&self, snapshot: &dyn Snapshot, limit: usize) -> Result<Vec<Todo>, StoreError> {
        let mut found = ReadyScan::of(*self);
        if self.offered != OfferedElsewhere::Included {
            found.offers = offers::load(snapshot)?;
        }
        if let Some(scope) = self.scope {
            let mut todos = assigned(snapshot, scope)?;
            todos.retain(|todo| todo.is_ready(self.now));
            todos.sort_by_key(ReadyMark::of);
            found.take(snapshot, todos)?;
        } else {
            let (mut after, mut page) = (None, if limit == 1 { 1 } else { limit.min(PAGE) });
            while found.free.len() < limit {
                let todos = snapshot.ready(self.now, after, page)?;
                let Some(last) = todos.last() else { break };
                (after, page) = (Some(ReadyMark::of(last)), PAGE);
                found.take(snapshot, todos)?;
            }
        }
        let mut out = found.free;
        if self.offered == OfferedElsewhere::Last {
            out.extend(found.offered);
        }
        out.extend(found.oversize);
        out.truncate(limit);
        Ok(out)
    }

    /// Returns what to work on next: what the reader has in progress, else the best todo that can be started.
    pub fn next(&self, snapshot: &dyn Snapshot) -> Result<Option<Todo>, StoreError> {
        if snapshot.row()?.counts.in_progress > 0 {
            let mut running = snapshot.list(Which::Running, None, usize::MAX)?;
            if let Some(scope) = self.scope {
                let scope: HashSet<Uid> = scope.iter().copied().collect();
                running.retain(|todo| scope.contains(&todo.uid));
            }
            if let Some(own) = own_work(&running, self.owner, self.now).first() {
                return Ok(Some((*own).clone()));
            }
        }
        Ok(self.ready(snapshot, 1)?.pop())
    }
}

/// Ready todos, sorted out as they are read.
struct ReadyScan<'a> {
    query: ReadyQuery<'a>,
    offers: Offers,
    /// Work in progress, once a todo with files was met.
    busy: Option<Vec<Todo>>,
    free: Vec<Todo>,
    oversize: Vec<Todo>,
    offered: Vec<Todo>,
}

impl<'a> ReadyScan<'a> {
    fn of(query: ReadyQuery<'a>) -> Self {
        let (offers, busy) = (Offers::default(), None);
        Self { query, offers, busy, free: Vec::new(), oversize: Vec::new(), offered: Vec::new() }
    }

    fn take(&mut self, snapshot: &dyn Snapshot, todos: Vec<Todo>) -> Result<(), StoreError> {
        let ReadyQuery { owner, now, .. } = self.query;
        for todo in todos {
            if !todo.files.is_empty() && self.busy.is_none() {
                let mut running = snapshot.list(Which::Running, None, usize::MAX)?;
                running.retain(|other| !other.files.is_empty() && is_busy(other, now));
                self.busy = Some(running);
            }
            if !is_startable(&todo, self.busy.iter().flatten(), now) {
                continue;
            }
            match self.offers.holder(todo.uid, owner, now) {
                None if WorkLimits::USUAL.is_oversize(&todo) => self.oversize.push(todo),
                None => self.free.push(todo),
                Some(_) => self.offered.push(todo),
            }
        }
        Ok(())
    }
}

/// The todos that a worker was assigned and that are still in the plan, in list order.
pub(crate) fn assigned(snapshot: &dyn Snapshot, scope: &[Uid]) -> Result<Vec<Todo>, StoreError> {
    let mut part = Plan::slice(snapshot.row()?);
    snapshot.load(&Footprint { todos: scope.iter().copied().collect(), ..Footprint::default() }, &mut part)?;
    let mine: HashSet<Uid> = scope.iter().copied().collect();
    Ok(part.live().into_iter().filter(|todo| mine.contains(&todo.uid)).cloned().collect())
}

/// Loads what it takes to say why these todos of a slice wait.
pub fn load_reasons(snapshot: &dyn Snapshot, part: &mut Plan, uids: &[Uid]) -> Result<(), StoreError> {
    // First the dependencies, then the work in progress that touches their files. What does not exist is not asked for
    // again.
    for _ in 0..2 {
        match reason::need(part, uids.iter().filter_map(|uid| part.get(*uid))) {
            Ok(()) => break,
            Err(need) => snapshot.load(&need, part)?,
        }
    }
    Ok(())
}

/// Loads what it takes to say where the waiting of one todo begins: everything that it waits for, however indirectly.
pub(crate) fn load_roots(snapshot: &dyn Snapshot, part: &mut Plan, uid: Uid, now: i64) -> Result<(), StoreError> {
    snapshot.load(&Footprint { todos: [uid].into(), ..Footprint::default() }, part)?;
    let mut seen = HashSet::from([uid]);
    let mut layer = vec![uid];
    while !layer.is_empty() {
        if seen.len() > WALKED {
            return snapshot.load(&Footprint::everything(), part);
        }
        load_reasons(snapshot, part, &layer)?;
        let reader = PlanReader::new(part, now);
        let waiting = layer.iter().filter_map(|uid| part.get(*uid));
        let mut next: Vec<Uid> =
            waiting.flat_map(|todo| reader.reasons(todo)).filter_map(|reason| reason.uid).collect();
        next.retain(|uid| seen.insert(*uid));
        layer = next;
    }
    Ok(())
}
