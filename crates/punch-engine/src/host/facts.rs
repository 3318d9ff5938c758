//! Collects the facts of a decision from as few rows as possible: the plan row, what is in progress, the head of the
//! ready list. It reads more only if none of these can be worked on, to name what blocks them.

use std::borrow::Cow;

use punch_core::drive::{
    Cover, NextRun, Offers, PlanFacts, Roots, Selection, UNPROVEN, Unproven, roots, select, survey,
};
use punch_core::view::Progress;
use punch_core::{EventKind, FieldChange, Footprint, Patch, Plan, Todo, Uid};
use punch_store::{Snapshot, Which};

use super::listen::{Listener, PlanSession, RUNNING};
use crate::{EngineError, OfferedElsewhere, ReadyQuery, offers};

/// Ready todos looked at.
const PAGE: usize = 20;
/// Open todos from which blocks are looked for.
const STARTS: usize = 2_000;
/// Todos looked at to find them.
const VISITS: usize = 5_000;
/// Steps down before everything is loaded at once, and the largest plan for which that is done.
const ROUNDS: usize = 16;
const WHOLE: u64 = 20_000;
/// Events looked at to find progress.
const EVENTS: usize = 4_096;

impl Listener<'_> {
    /// Returns the facts for a session; with `whole`, also what blocks the open todos.
    pub(super) fn facts(&self, who: &PlanSession, whole: bool) -> Result<PlanFacts, EngineError> {
        let cover = who.cover();
        let looked = FactQuery {
            snapshot: self.snapshot,
            cover: &cover,
            owner: &who.owner,
            skip_optional: self.settings.keep_going_skip_optional.value,
            now: self.now,
        };
        let mut facts = looked.facts(who.state.drive.seen, whole)?;
        if !who.state.unproven.is_empty() || !facts.unproven.is_empty() {
            let next_run = self.next_run(who)?;
            let (shell, by_itself) = (next_run == NextRun::Shell, next_run == NextRun::ByItself);
            let next = std::mem::take(&mut facts.unproven);
            let mut unproven: Vec<Unproven> =
                next.into_iter().map(|one| Unproven { shell, by_itself, ..one }).collect();
            for one in self.unproven(&who.state.unproven, next_run)? {
                if !unproven.iter().any(|known| known.id == one.id) {
                    unproven.push(one);
                }
            }
            // What the agent can do something about comes first.
            unproven.sort_by_key(|one| one.pending.is_some());
            unproven.truncate(UNPROVEN);
            facts.unproven = unproven;
        }
        Ok(facts)
    }

    /// Those of the given todos that are still open and wait for their check, the latest first.
    pub(super) fn unproven(&self, uids: &[Uid], next_run: NextRun) -> Result<Vec<Unproven>, EngineError> {
        let part = self.part(uids)?;
        let unapproved = &self.report.checks.unapproved;
        let one = |uid: &Uid| {
            let one = Unproven::of(part.get(*uid)?, next_run)?;
            Some(if unapproved.contains(uid) { one.awaiting_approval() } else { one })
        };
        Ok(uids.iter().rev().filter_map(one).collect())
    }

    /// Forgets refused completions of todos that no longer wait for their check.
    pub(super) fn forget_proven(&self, who: &mut PlanSession) -> Result<(), EngineError> {
        let part = self.part(&who.state.unproven)?;
        who.state.unproven.retain(|uid| part.get(*uid).is_some_and(|todo| Unproven::of(todo, NextRun::Tool).is_some()));
        Ok(())
    }

    pub(super) fn part(&self, uids: &[Uid]) -> Result<Plan, EngineError> {
        let mut part = Plan::default();
        if !uids.is_empty() {
            part = Plan::slice(self.snapshot.row()?);
            let todos = uids.iter().copied().collect();
            self.snapshot.load(&Footprint { todos, ..Footprint::default() }, &mut part)?;
        }
        Ok(part)
    }
}

/// A question about a plan.
pub(crate) struct FactQuery<'a> {
    pub snapshot: &'a dyn Snapshot,
    pub cover: &'a Cover,
    pub owner: &'a str,
    pub skip_optional: bool,
    pub now: i64,
}

impl FactQuery<'_> {
    pub fn facts(&self, seen_revision: u64, whole: bool) -> Result<PlanFacts, EngineError> {
        let row = self.snapshot.row()?;
        let running = match row.counts.in_progress {
            0 => Vec::new(),
            _ => self.running(row.counts.in_progress)?,
        };
        let offers = offers::load(self.snapshot)?;
        let mut slice = Plan::slice(row.clone());
        let (counts, selected) = match self.cover {
            Cover::Plan => (row.counts, self.select(&running)?),
            Cover::List(uids) => {
                let todos = uids.iter().copied().collect();
                self.snapshot.load(&Footprint { todos, ..Footprint::default() }, &mut slice)?;
                let covered = uids.iter().filter_map(|uid| slice.get(*uid));
                let covered: Vec<Cow<'_, Todo>> = covered.map(|todo| self.as_offered(todo, &offers)).collect();
                let covered = covered.iter().map(|todo| &**todo);
                survey(covered, &running, Some(self.owner), self.skip_optional, self.now)
            }
        };
        let mut facts = PlanFacts {
            revision: row.revision,
            open: counts.open(),
            total: Progress::of_counts(&counts).total,
            failed: counts.failed,
            next: selected.next,
            conflicts: selected.conflicts,
            unproven: selected.failing.into_iter().collect(),
            progress: self.progress(seen_revision, row.revision)?,
            roots: Roots::default(),
        };
        if whole && facts.next.is_none() && facts.open > 0 {
            facts.roots = self.roots(&mut slice, &offers)?;
        }
        Ok(facts)
    }

    fn running(&self, total: u64) -> Result<Vec<Todo>, EngineError> {
        let mut running = self.snapshot.list(Which::Running, None, RUNNING)?;
        if total > RUNNING as u64 {
            let mut own = Plan::slice(self.snapshot.row()?);
            let owners = [Some(self.owner.to_owned()), None].into();
            self.snapshot.load(&Footprint { running: owners, ..Footprint::default() }, &mut own)?;
            running.extend(own.all().filter(|t| !running.iter().any(|r| r.uid == t.uid)).cloned().collect::<Vec<_>>());
        }
        Ok(running)
    }

    /// The best todo that can be started is nearly always enough; a few more show the conflicts with it.
    fn select(&self, running: &[Todo]) -> Result<Selection, EngineError> {
        let query =
            ReadyQuery { owner: Some(self.owner), scope: None, offered: OfferedElsewhere::LeftOut, now: self.now };
        let ready = query.ready(self.snapshot, PAGE)?;
        let ready: Vec<&Todo> = ready.iter().collect();
        Ok(select(running, &ready, Some(self.owner), self.skip_optional, self.now))
    }

    /// A todo that another session was sent to is that session's for now.
    fn as_offered<'t>(&self, todo: &'t Todo, offers: &Offers) -> Cow<'t, Todo> {
        offers.seen_by(todo, Some(self.owner), self.now)
    }

    fn roots(&self, slice: &mut Plan, offers: &Offers) -> Result<Roots, EngineError> {
        let (starts, cut) = match self.cover {
            Cover::List(uids) => {
                let covered: Vec<Todo> = uids.iter().filter_map(|uid| slice.get(*uid)).cloned().collect();
                covered.iter().for_each(|t| slice.put(self.as_offered(t, offers).into_owned()));
                (uids.clone(), false)
            }
            Cover::Plan => {
                let mut starts = self.snapshot.list(Which::Open, None, STARTS)?;
                let cut = starts.len() >= STARTS;
                if cut {
                    // Most waiting begins with these, wherever in the list they are.
                    starts.extend(self.snapshot.list(Which::Held, None, STARTS)?);
                    starts.extend(self.snapshot.list(Which::Running, None, RUNNING)?);
                }
                let uids: Vec<Uid> = starts.iter().map(|t| t.uid).collect();
                starts.iter().for_each(|t| slice.put(self.as_offered(t, offers).into_owned()));
                (uids, cut)
            }
        };
        for round in 0.. {
            match roots(slice, &starts, Some(self.owner), self.now, VISITS) {
                Ok(mut found) => {
                    found.cut |= cut;
                    return Ok(found);
                }
                Err(_) if round == ROUNDS && slice.row.counts.total() <= WHOLE => {
                    self.snapshot.load(&Footprint::everything(), slice)?;
                }
                // An unknown uid is not answered; then there is nothing more to load.
                Err(_) if round > ROUNDS => break,
                Err(need) => self.snapshot.load(&need, slice)?,
            }
        }
        Ok(Roots { cut: true, ..Roots::default() })
    }

    /// The status of a covered todo changed after a revision. What others have is their progress; a lease that ran
    /// out is nobody's.
    fn progress(&self, seen_revision: u64, revision: u64) -> Result<bool, EngineError> {
        let (mut since, mut looked) = (seen_revision, 0);
        while since < revision && looked < EVENTS {
            let events = self.snapshot.events(since, 256)?;
            let Some(last) = events.last() else { break };
            since = last.revision;
            looked += events.len();
            for event in &events {
                let Patch::Todo(uid, changes) = &event.patch else { continue };
                let moved = changes.iter().any(|change| matches!(change, FieldChange::Status(_)));
                if moved && !matches!(event.kind, EventKind::Added | EventKind::LeaseExpired) && self.covers(*uid)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn covers(&self, uid: Uid) -> Result<bool, EngineError> {
        if let Cover::List(uids) = self.cover {
            return Ok(uids.contains(&uid));
        }
        let mut one = Plan::slice(self.snapshot.row()?);
        self.snapshot.load(&Footprint { todos: [uid].into(), ..Footprint::default() }, &mut one)?;
        Ok(one.get(uid).is_some_and(|t| t.owner.as_deref().is_none_or(|owner| owner == self.owner)))
    }
}
