//! A plan, whole or partial. A partial plan (a slice) never reports something as absent that was not loaded; it returns
//! the [`Footprint`] that it needs.

mod links;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use crate::{Event, Fields, Footprint, Need, Policy, Refusal, Status, Todo};
use links::Links;

/// The immutable number of a todo inside its plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Uid(pub u64);

/// The immutable number of a phase inside its plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PhaseUid(pub u64);

/// A named section of the plan. Names may repeat; a phase may be empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// Never reused.
    pub uid: PhaseUid,
    /// The name as given.
    pub name: String,
}

/// How many live todos have each status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Not started.
    pub pending: u64,
    /// Worked on.
    pub in_progress: u64,
    /// Done.
    pub completed: u64,
    /// Given up.
    pub cancelled: u64,
    /// Not achieved.
    pub failed: u64,
    /// Set aside; these are among the pending ones. Absent in rows from before todos could be parked.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub parked: u64,
    /// Open without content, so that there is nothing to do; none of these is parked. Absent where there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub blank: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Counts {
    /// The counter of one status.
    pub const fn of(&mut self, status: Status) -> &mut u64 {
        match status {
            Status::Pending => &mut self.pending,
            Status::InProgress => &mut self.in_progress,
            Status::Completed => &mut self.completed,
            Status::Cancelled => &mut self.cancelled,
            Status::Failed => &mut self.failed,
        }
    }

    /// Counts a live todo.
    pub(crate) fn add(&mut self, todo: &Fields) {
        *self.of(todo.status) += 1;
        self.parked += u64::from(todo.is_parked());
        self.blank += u64::from(todo.is_blank());
    }

    /// No longer counts a todo that was counted before.
    pub(crate) fn subtract(&mut self, todo: &Fields) {
        let count = self.of(todo.status);
        *count = count.saturating_sub(1);
        self.parked = self.parked.saturating_sub(u64::from(todo.is_parked()));
        self.blank = self.blank.saturating_sub(u64::from(todo.is_blank()));
    }

    /// Open work: pending and in progress, without what is parked or has no content (rule 44).
    pub const fn open(&self) -> u64 {
        self.listed().saturating_sub(self.parked + self.blank)
    }

    /// What a list of open todos shows: pending and in progress, parked ones too.
    pub const fn listed(&self) -> u64 {
        self.pending + self.in_progress
    }

    /// All live todos that are not parked and that are done or have content.
    pub const fn active(&self) -> u64 {
        self.total().saturating_sub(self.parked + self.blank)
    }

    /// All live todos.
    pub const fn total(&self) -> u64 {
        self.pending + self.in_progress + self.completed + self.cancelled + self.failed
    }
}

/// What the plan itself stores, one row. A field that an older row lacks reads as its default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanRow {
    /// Grows by one with every write that changed something.
    pub revision: u64,
    /// Phases in order.
    pub phases: Vec<Phase>,
    /// The plan's own policy; a dialect may relax parts of it for its session.
    pub policy: Policy,
    /// Live todos per status.
    pub counts: Counts,
    /// The largest position ever given.
    pub last_position: i64,
    /// The next `T-n`.
    pub next_number: u64,
    /// The next uid of a todo.
    pub next_uid: u64,
    /// The next uid of a phase.
    pub next_phase: u64,
    /// The last fence given.
    pub last_fence: u64,
    /// Dangling dependencies in the whole plan: while 0, there are none to bind.
    pub dangling: u64,
    /// Suspended edges in the whole plan: while 0, a small write need not look for circles that opened.
    pub suspended: u64,
    /// Time of the last write; `now` never goes below it.
    pub last_time: i64,
}

impl Default for PlanRow {
    fn default() -> Self {
        Self {
            revision: 0,
            phases: Vec::new(),
            policy: Policy::default(),
            counts: Counts::default(),
            last_position: 0,
            next_number: 1,
            next_uid: 1,
            next_phase: 1,
            last_fence: 0,
            dangling: 0,
            suspended: 0,
            last_time: 0,
        }
    }
}

impl PlanRow {
    /// The phase of this name.
    pub fn phase_named(&self, name: &str) -> Result<PhaseUid, Refusal> {
        let found = self.phases.iter().find(|phase| phase.name == name);
        found.map(|phase| phase.uid).ok_or_else(|| {
            let near = crate::text::nearest(name, self.phases.iter().map(|phase| phase.name.as_str()), 3);
            Refusal::UnknownPhase { name: name.to_owned(), near }
        })
    }
}

/// The number in an id of the form `T-7`. Numbers beyond 2^53 are left alone: the counter never gets there.
pub(crate) fn made_number(id: &str) -> Option<u64> {
    let digits = id.strip_prefix("T-").filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))?;
    digits.parse().ok().filter(|number| *number < 1 << 53)
}

/// Todos with their graph, whole or partial.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The plan row.
    pub row: PlanRow,
    /// Loaded todos, removed ones too. Shared, because a todo is large: nodes of the tree that are half empty stay small, and
    /// a copy of the plan copies no todo.
    todos: BTreeMap<Uid, Arc<Todo>>,
    /// Live todos by id. Made when something first asks: most readers of a whole plan never do, and making it takes as long
    /// as reading a tenth of the plan.
    /// Copies of the plan share it until it changes.
    ids: OnceLock<Arc<HashMap<String, Uid>>>,
    /// What waits for what. Made when something first asks, and shared like the ids.
    links: OnceLock<Arc<Links>>,
    /// Live todos in progress.
    running: BTreeSet<Uid>,
    /// Events of revisions that a revert asked for.
    events: BTreeMap<u64, Vec<Event>>,
    /// What was looked up and answered in full. `all` means the whole plan is here.
    loaded: Footprint,
}

impl PartialEq for Plan {
    /// Compares what the other fields follow from.
    fn eq(&self, other: &Self) -> bool {
        self.row == other.row && self.todos == other.todos && self.events == other.events && self.loaded == other.loaded
    }
}

impl Plan {
    /// An empty, whole plan.
    pub fn new() -> Self {
        Self { loaded: Footprint::everything(), ..Self::default() }
    }

    /// A slice that has loaded nothing but the plan row.
    pub fn slice(row: PlanRow) -> Self {
        Self { row, ..Self::default() }
    }

    /// Puts a todo into the plan, replacing an older version of it, and keeps every lookup in step.
    pub fn put(&mut self, todo: Todo) {
        self.replace(todo);
    }

    /// Puts a todo into the plan like [`Plan::put`], and returns the older version of it.
    pub fn replace(&mut self, todo: Todo) -> Option<Arc<Todo>> {
        self.put_shared(Arc::new(todo))
    }

    /// Replaces a todo like [`Plan::replace`], without copying it.
    pub fn put_shared(&mut self, todo: Arc<Todo>) -> Option<Arc<Todo>> {
        let before = self.todos.insert(todo.uid, Arc::clone(&todo));
        let (old, new) = (before.as_deref().filter(|old| old.is_live()), Some(&*todo).filter(|todo| todo.is_live()));
        if let Some(ids) = self.ids.get_mut().filter(|_| old.map(|old| &old.id) != new.map(|new| &new.id)) {
            let ids = Arc::make_mut(ids);
            if let Some(old) = old.filter(|old| ids.get(&old.id) == Some(&old.uid)) {
                ids.remove(&old.id);
            }
            ids.extend(new.map(|new| (new.id.clone(), new.uid)));
        }
        let (waited, waits) = (old.map(|old| &old.depends_on), new.map(|new| &new.depends_on));
        if let Some(links) = self.links.get_mut().filter(|_| waited != waits) {
            let links = Arc::make_mut(links);
            if let Some(old) = old {
                links.remove(old);
            }
            if let Some(new) = new {
                links.add(new);
            }
        }
        match new.is_some_and(|new| new.status == Status::InProgress) {
            true => self.running.insert(todo.uid),
            false => self.running.remove(&todo.uid),
        };
        before
    }

    fn id_map(&self) -> &HashMap<String, Uid> {
        let live = || self.all().filter(|todo| todo.is_live());
        self.ids.get_or_init(|| Arc::new(live().map(|todo| (todo.id.clone(), todo.uid)).collect()))
    }

    fn links(&self) -> &Links {
        self.links.get_or_init(|| Arc::new(Links::of(self.all().filter(|todo| todo.is_live()))))
    }

    /// Takes the outcome of a write over.
    pub fn commit(&mut self, outcome: &crate::Outcome) {
        self.row = outcome.plan.clone();
        for todo in &outcome.rows {
            self.put(todo.clone());
        }
        for uid in &outcome.added {
            // Nothing could depend on it before it existed, so a slice knows all its dependents.
            self.loaded.dependents.insert(*uid);
        }
    }

    /// Says that a lookup was answered in full by the todos put so far (a slice loader calls it).
    pub fn mark_loaded(&mut self, footprint: Footprint) {
        self.loaded.merge(footprint);
    }

    /// Keeps the events of a revision for a revert.
    pub fn put_events(&mut self, revision: u64, events: Vec<Event>) {
        self.events.insert(revision, events);
    }

    /// The events of a revision, if they were loaded.
    pub fn events(&self, revision: u64) -> Option<&[Event]> {
        self.events.get(&revision).map(Vec::as_slice)
    }

    /// A loaded todo, removed or not.
    pub fn get(&self, uid: Uid) -> Option<&Todo> {
        self.todos.get(&uid).map(Arc::as_ref)
    }

    /// A loaded todo, to be put into another plan.
    pub fn share(&self, uid: Uid) -> Option<Arc<Todo>> {
        self.todos.get(&uid).cloned()
    }

    /// A loaded live todo by id.
    pub fn by_id(&self, id: &str) -> Option<&Todo> {
        self.id_map().get(id).and_then(|uid| self.get(*uid))
    }

    /// Every loaded todo in uid order, removed ones too.
    pub fn all(&self) -> impl Iterator<Item = &Todo> {
        self.todos.values().map(Arc::as_ref)
    }

    /// Every loaded live todo in list order.
    pub fn live(&self) -> Vec<&Todo> {
        let mut out: Vec<&Todo> = self.all().filter(|t| t.is_live()).collect();
        out.sort_by_key(|t| (t.position, t.uid));
        out
    }

    /// Every loaded live todo that is stored as in progress, in uid order.
    pub fn running(&self) -> impl Iterator<Item = &Todo> {
        self.running.iter().filter_map(|uid| self.get(*uid))
    }

    /// The name of a phase.
    pub fn phase(&self, uid: PhaseUid) -> Option<&Phase> {
        self.row.phases.iter().find(|p| p.uid == uid)
    }

    /// Loaded ids of live todos, in no order.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.id_map().keys().map(String::as_str)
    }

    /// The todo, or what must be loaded first.
    pub fn need(&self, uid: Uid) -> Result<&Todo, Need> {
        self.get(uid).ok_or_else(|| Box::new(Footprint { todos: [uid].into(), ..Footprint::default() }))
    }

    /// The live todo with that uid, `None` if there is none, or what must be loaded first.
    pub fn find_uid(&self, uid: Uid) -> Result<Option<&Todo>, Need> {
        match self.get(uid) {
            Some(todo) => Ok(Some(todo).filter(|todo| todo.is_live())),
            None if self.loaded.all || self.loaded.todos.contains(&uid) => Ok(None),
            None => Err(Box::new(Footprint { todos: [uid].into(), ..Footprint::default() })),
        }
    }

    /// The live todo with that id, `None` if there is none, or what must be loaded first.
    pub fn find_id(&self, id: &str) -> Result<Option<Uid>, Need> {
        match self.id_map().get(id) {
            Some(uid) => Ok(Some(*uid)),
            None if self.loaded.all || self.loaded.ids.contains(id) => Ok(None),
            None => Err(Box::new(Footprint { ids: [id.to_owned()].into(), ..Footprint::default() })),
        }
    }

    /// Returns the todos that depend on a todo (active and suspended edges), or what must be loaded first.
    pub fn dependents_of(&self, uid: Uid) -> Result<&BTreeSet<Uid>, Need> {
        static NONE: BTreeSet<Uid> = BTreeSet::new();
        if self.loaded.all || self.loaded.dependents.contains(&uid) {
            return Ok(self.links().dependents.get(&uid).unwrap_or(&NONE));
        }
        Err(Box::new(Footprint { dependents: [uid].into(), ..Footprint::default() }))
    }

    /// Returns the todos that wait for an unknown id, or what must be loaded first.
    pub fn waiting_for_id(&self, id: &str) -> Result<&BTreeSet<Uid>, Need> {
        static NONE: BTreeSet<Uid> = BTreeSet::new();
        if self.row.dangling == 0 {
            return Ok(&NONE);
        }
        if self.loaded.all || self.loaded.dangling.contains(id) {
            return Ok(self.links().dangling.get(id).unwrap_or(&NONE));
        }
        Err(Box::new(Footprint { dangling: [id.to_owned()].into(), ..Footprint::default() }))
    }

    /// The todos that `owner` has in progress, or what must be loaded first.
    pub fn running_of(&self, owner: Option<&str>) -> Result<Vec<&Todo>, Need> {
        let key = owner.map(str::to_owned);
        if self.row.counts.in_progress == 0 {
            return Ok(Vec::new());
        }
        if !self.loaded.all && !self.loaded.all_running && !self.loaded.running.contains(&key) {
            return Err(Box::new(Footprint { running: [key].into(), ..Footprint::default() }));
        }
        Ok(self.running().filter(|t| t.owner.as_deref() == owner).collect())
    }

    /// Every live todo that is stored as in progress, in uid order, or what must be loaded first.
    pub fn all_running(&self) -> Result<impl Iterator<Item = &Todo>, Need> {
        if self.loaded.all || self.loaded.all_running || self.row.counts.in_progress == 0 {
            return Ok(self.running());
        }
        Err(Box::new(Footprint { all_running: true, ..Footprint::default() }))
    }

    /// The position of the first todo in the list, or what must be loaded first.
    pub fn first_position(&self) -> Result<Option<i64>, Need> {
        if !self.loaded.all && !self.loaded.first {
            return Err(Box::new(Footprint { first: true, ..Footprint::default() }));
        }
        Ok(self.all().filter(|todo| todo.is_live()).map(|todo| todo.position).min())
    }

    /// Fails unless the whole plan is here.
    pub fn need_whole(&self) -> Result<(), Need> {
        if self.loaded.all { Ok(()) } else { Err(Box::new(Footprint::everything())) }
    }
}
