//! The working copy of one write: touched rows on top of the plan, which is only read. A lookup that a slice cannot
//! answer returns the footprint to load.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::{ApplyStop, Context, Undone};
use crate::graph::Net;
use crate::reason::{PlanReader, WaitReason};
use crate::{
    CancelledDep, Dep, Event, EventKind, Fields, Footprint, NO_PULL, Need, Patch, Plan, PlanRow, Refusal, Status, Todo,
    Uid, Warning,
};

pub(super) struct PlanDraft<'a> {
    pub plan: &'a Plan,
    pub ctx: &'a Context,
    /// The time of what this write records: never before the last event.
    pub now: i64,
    /// The current time, against which leases and timers are judged: a last event in the future stops nothing from ending.
    pub clock: i64,
    pub row: PlanRow,
    pub rows: BTreeMap<Uid, Todo>,
    /// Todos made by this batch; one `added` event covers their story at the end.
    pub fresh: BTreeSet<Uid>,
    /// Live ids that changed hands in this batch.
    pub ids: HashMap<String, Option<Uid>>,
    linked: BTreeMap<Uid, BTreeSet<Uid>>,
    unlinked: BTreeMap<Uid, BTreeSet<Uid>>,
    /// Todos that this write brought into progress and that are in progress still.
    pub active: BTreeSet<Uid>,
    pub events: Vec<Event>,
    /// The revision that this write undoes.
    pub undoes: Option<Undone>,
    pub warnings: Vec<Warning>,
    /// Todos whose level must be looked at again.
    pub relevel: BTreeSet<Uid>,
    /// Todos whose pull may have become weaker.
    pub repull: BTreeSet<Uid>,
    /// Todos whose edges, openness or priority may have strengthened the pull of what they depend on.
    pub strengthen: BTreeSet<Uid>,
    pub order: Option<super::order::LiveOrder>,
    /// The active dependencies of todos that have many, for lookups one by one.
    active_deps: RefCell<HashMap<Uid, HashSet<Uid>>>,
}

/// From this many dependencies on, looking for one in the list costs more than a set of them.
const MANY: usize = 32;

impl<'a> PlanDraft<'a> {
    pub fn new(plan: &'a Plan, ctx: &'a Context) -> Self {
        Self {
            plan,
            ctx,
            now: ctx.now.max(plan.row.last_time),
            clock: ctx.now,
            row: plan.row.clone(),
            rows: BTreeMap::new(),
            fresh: BTreeSet::new(),
            ids: HashMap::new(),
            linked: BTreeMap::new(),
            unlinked: BTreeMap::new(),
            active: BTreeSet::new(),
            events: Vec::new(),
            undoes: None,
            warnings: Vec::new(),
            relevel: BTreeSet::new(),
            repull: BTreeSet::new(),
            strengthen: BTreeSet::new(),
            order: None,
            active_deps: RefCell::default(),
        }
    }

    /// The todo as this write has it.
    pub fn get(&self, uid: Uid) -> Result<&Todo, Need> {
        match self.rows.get(&uid) {
            Some(todo) => Ok(todo),
            None => self.plan.need(uid),
        }
    }

    /// The todo, copied into the draft so that it can change.
    pub fn touch(&mut self, uid: Uid) -> Result<&mut Todo, Need> {
        use std::collections::btree_map::Entry;
        match self.rows.entry(uid) {
            Entry::Occupied(entry) => Ok(entry.into_mut()),
            Entry::Vacant(entry) => Ok(entry.insert(self.plan.need(uid)?.clone())),
        }
    }

    /// Changes stored fields, counts the todo again and records what changed. Edges, liveness and statuses go through their own functions,
    /// which keep the graph in step.
    pub fn edit(&mut self, uid: Uid, kind: EventKind, f: impl FnOnce(&mut Todo)) -> Result<(), Need> {
        let fresh = self.fresh.contains(&uid);
        let (now, mut counts) = (self.now, self.row.counts);
        let todo = self.touch(uid)?;
        let before = todo.fields.clone();
        f(todo);
        if before.removed.is_none() {
            counts.subtract(&before);
        }
        if todo.is_live() {
            counts.add(&todo.fields);
        }
        self.row.counts = counts;
        if fresh {
            return Ok(());
        }
        let todo = self.touch(uid)?;
        let changes = before.changes(&todo.fields);
        if !changes.is_empty() {
            todo.updated_at = now;
            self.event(kind, Patch::Todo(uid, changes));
        }
        Ok(())
    }

    pub fn event(&mut self, kind: EventKind, patch: Patch) {
        let seq = u32::try_from(self.events.len()).unwrap_or(u32::MAX);
        let revision = self.row.revision + 1;
        let actor = &self.ctx.actor;
        let (by, owner) = (actor.by().to_owned(), actor.owner().map(str::to_owned));
        let undoes = self.undoes.as_ref().map(|undone| undone.revision);
        self.events.push(Event { revision, seq, kind, at: self.now, by, patch, owner, undoes });
    }

    /// The live todo with that id as this write has it.
    pub fn find_id(&self, id: &str) -> Result<Option<Uid>, Need> {
        match self.ids.get(id) {
            Some(found) => Ok(*found),
            None => self.plan.find_id(id),
        }
    }

    /// The live todo with that uid as this write has it.
    pub fn find_uid(&self, uid: Uid) -> Result<Option<Uid>, Need> {
        let found = match self.rows.get(&uid) {
            Some(todo) => Some(todo).filter(|todo| todo.is_live()),
            None => self.plan.find_uid(uid)?,
        };
        Ok(found.map(|todo| todo.uid))
    }

    /// The id of a todo for messages; never fails.
    pub fn id(&self, uid: Uid) -> String {
        self.get(uid).map(|t| t.id.clone()).unwrap_or_default()
    }

    /// Returns the todos that depend on `uid` (active and suspended edges), including the changes of this write.
    pub fn dependents_of(&self, uid: Uid) -> Result<Vec<Uid>, Need> {
        let added = self.linked.get(&uid);
        if self.fresh.contains(&uid) {
            return Ok(added.into_iter().flatten().copied().collect());
        }
        let base = self.plan.dependents_of(uid)?;
        let gone = self.unlinked.get(&uid);
        let mut out: Vec<Uid> = base.iter().copied().filter(|d| !gone.is_some_and(|g| g.contains(d))).collect();
        out.extend(
            added.into_iter().flatten().copied().filter(|d| !base.contains(d) || gone.is_some_and(|g| g.contains(d))),
        );
        Ok(out)
    }

    /// Returns true if any todo depends on this one. Cheaper than listing them.
    pub fn has_dependents(&self, uid: Uid) -> Result<bool, Need> {
        if self.linked.get(&uid).is_some_and(|set| !set.is_empty()) {
            return Ok(true);
        }
        if self.fresh.contains(&uid) {
            return Ok(false);
        }
        if self.unlinked.contains_key(&uid) {
            return Ok(!self.dependents_of(uid)?.is_empty());
        }
        Ok(!self.plan.dependents_of(uid)?.is_empty())
    }

    /// Replaces the dependencies of a todo: rows, reverse edges, counters, and what must be derived again.
    pub fn set_deps(&mut self, uid: Uid, deps: Vec<Dep>) -> Result<(), Need> {
        let old = self.get(uid)?.depends_on.clone();
        if old == deps {
            return Ok(());
        }
        self.unlink_deps(uid, &old);
        self.link_deps(uid, &deps);
        self.edit(uid, EventKind::Rewired, |t| t.depends_on = deps)?;
        self.recount(uid)?;
        self.relevel.insert(uid);
        Ok(())
    }

    /// Forgets the reverse edges of a todo (it is going, or its edges change).
    pub fn unlink_deps(&mut self, uid: Uid, deps: &[Dep]) {
        self.active_deps.get_mut().remove(&uid);
        for dep in deps {
            match dep {
                Dep::On(to) | Dep::Suspended(to) => {
                    if let Some(set) = self.linked.get_mut(to) {
                        set.remove(&uid);
                    }
                    if !self.fresh.contains(&uid) {
                        self.unlinked.entry(*to).or_default().insert(uid);
                    }
                    self.repull.insert(*to);
                    if matches!(dep, Dep::Suspended(_)) {
                        self.row.suspended = self.row.suspended.saturating_sub(1);
                    }
                }
                Dep::Dangling(_) => self.row.dangling = self.row.dangling.saturating_sub(1),
            }
        }
    }

    /// Enters the reverse edges of a todo.
    pub fn link_deps(&mut self, uid: Uid, deps: &[Dep]) {
        for dep in deps {
            match dep {
                Dep::On(to) | Dep::Suspended(to) => {
                    self.linked.entry(*to).or_default().insert(uid);
                    self.strengthen.insert(uid);
                    if matches!(dep, Dep::Suspended(_)) {
                        self.row.suspended += 1;
                    }
                }
                Dep::Dangling(_) => self.row.dangling += 1,
            }
        }
    }

    /// Returns true if the edge from `uid` to `dep` is part of the active graph.
    fn is_active(&self, uid: Uid, dep: Uid) -> Result<bool, Need> {
        let deps = &self.get(uid)?.depends_on;
        if deps.len() < MANY {
            return Ok(deps.contains(&Dep::On(dep)));
        }
        let active = |dep: &Dep| if let Dep::On(to) = dep { Some(*to) } else { None };
        let mut sets = self.active_deps.borrow_mut();
        Ok(sets.entry(uid).or_insert_with(|| deps.iter().filter_map(active).collect()).contains(&dep))
    }

    /// Does a todo in this state count as met for those who wait for it (rule 16)?
    pub fn satisfies(&self, status: Status) -> bool {
        match status {
            Status::Completed => true,
            Status::Cancelled | Status::Failed => self.row.policy.cancelled_dep == CancelledDep::Satisfy,
            Status::Pending | Status::InProgress => false,
        }
    }

    /// Returns true if the dependency is unmet.
    pub fn is_unmet(&self, dep: &Dep) -> Result<bool, Need> {
        match dep.target() {
            Some(to) => Ok(!self.satisfies(self.get(to)?.status)),
            None => Ok(true),
        }
    }

    /// Counts the unmet dependencies of a todo from scratch.
    pub fn recount(&mut self, uid: Uid) -> Result<(), Need> {
        let deps = &self.get(uid)?.depends_on;
        Footprint::gather(deps.iter().map(|dep| self.is_unmet(dep)))?;
        let mut unmet = 0;
        for dep in deps {
            unmet += u32::from(self.is_unmet(dep)?);
        }
        if self.get(uid)?.derived.unmet != unmet {
            self.touch(uid)?.derived.unmet = unmet;
        }
        Ok(())
    }

    /// Returns everything that blocks the start of a todo.
    pub fn before_start(&self, uid: Uid) -> Result<Vec<WaitReason>, Need> {
        self.ask_around(uid, |reader, todo| reader.before_start(todo))
    }

    /// The todo in progress that touches the same files, and the files.
    pub fn file_conflict(&self, uid: Uid) -> Result<Option<WaitReason>, Need> {
        self.ask_around(uid, |reader, todo| reader.file_reason(todo))
    }

    /// Runs a query about a todo, with everything that may block it loaded.
    fn ask_around<T: Default>(&self, uid: Uid, question: impl FnOnce(PlanReader<'_>, &Todo) -> T) -> Result<T, Need> {
        let todo = self.get(uid)?;
        let mut around = Plan::slice(self.row.clone());
        for target in todo.depends_on.iter().filter_map(Dep::target) {
            around.put(self.get(target)?.clone());
        }
        if !todo.files.is_empty() {
            for other in self.plan.all_running()?.map(|todo| todo.uid).chain(self.active.iter().copied()) {
                around.put(self.get(other)?.clone());
            }
        }
        around.put(todo.clone());
        let reader = PlanReader::of(&around, self.ctx.actor.owner(), self.now);
        let answer = around.get(uid).map(|todo| question(reader, todo));
        Ok(answer.unwrap_or_default())
    }

    /// Known ids that look like `given`. Only the first refusals are read by anyone, and the search is not cheap.
    pub fn near(&self, given: &str, refusals: &[Refusal]) -> Vec<String> {
        if refusals.len() < 8 { crate::text::nearest(given, self.plan.ids(), 3) } else { Vec::new() }
    }

    pub fn refuse(&self, refusals: Vec<Refusal>) -> Result<(), ApplyStop> {
        if refusals.is_empty() { Ok(()) } else { Err(ApplyStop::Refused(refusals)) }
    }

    /// Puts a todo into the draft that starts from nothing.
    pub fn insert_fresh(&mut self, uid: Uid, fields: Fields) {
        self.fresh.insert(uid);
        self.row.counts.add(&fields);
        let mut todo = Todo::blank(uid);
        todo.fields = fields;
        todo.updated_at = self.now;
        self.rows.insert(uid, todo);
    }
}

impl Net for PlanDraft<'_> {
    type Node = Uid;
    type Need = Need;

    fn deps(&self, n: Uid, out: &mut Vec<Uid>) -> Result<(), Need> {
        out.extend(self.get(n)?.depends_on.iter().filter_map(|dep| match dep {
            Dep::On(to) => Some(*to),
            Dep::Suspended(_) | Dep::Dangling(_) => None,
        }));
        Ok(())
    }

    fn dependents(&self, n: Uid, out: &mut Vec<Uid>) -> Result<(), Need> {
        for d in self.dependents_of(n)? {
            if self.row.suspended == 0 || self.is_active(d, n)? {
                out.push(d);
            }
        }
        Ok(())
    }

    fn level(&self, n: Uid) -> Result<u32, Need> {
        Ok(self.get(n)?.derived.level)
    }

    fn set_level(&mut self, n: Uid, level: u32) -> Result<(), Need> {
        self.touch(n)?.derived.level = level;
        Ok(())
    }

    fn own(&self, n: Uid) -> Result<u8, Need> {
        Ok(self.get(n)?.priority)
    }

    fn open(&self, n: Uid) -> Result<bool, Need> {
        let todo = self.get(n)?;
        Ok(todo.is_live() && todo.status.is_open())
    }

    fn pull(&self, n: Uid) -> Result<u8, Need> {
        let todo = self.get(n)?;
        Ok(if todo.is_live() { todo.derived.pull } else { NO_PULL })
    }

    fn set_pull(&mut self, n: Uid, pull: u8) -> Result<(), Need> {
        self.touch(n)?.derived.pull = pull;
        Ok(())
    }
}
