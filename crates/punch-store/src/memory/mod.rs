//! A store that lives as long as the process, for tests and temporary plans. It is the simplest possible implementation
//! of every promise, with which other backends can be compared. A write works on a copy, which shares append-only data
//! with the original.

mod hand_out;
mod live;
mod read;
mod shared_map;
mod write;

use std::collections::BTreeMap;
use std::hash::BuildHasher;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use punch_core::{Event, Plan};

use shared_map::SharedMap;

use crate::hub::Hub;
use crate::{
    BrowseBody, Changes, CheckpointRow, CompletedFiles, ControlRecord, ControlScope, DecisionRow, Durability,
    ExpectedCall, LedgerEntry, PlanId, PlanInfo, ReadBody, SessionKey, SessionRow, Store, StoreError, StoreLabel,
    StoredRun, WorkerRecord, WriteBody,
};

/// Plans in memory.
#[derive(Debug)]
pub struct MemoryStore {
    identity: String,
    state: RwLock<MemoryState>,
    hub: Arc<Hub>,
}

#[derive(Clone, Debug, Default)]
struct MemoryState {
    plans: BTreeMap<PlanId, Arc<StoredPlan>>,
    sessions: Arc<BTreeMap<SessionKey, Arc<SessionRow>>>,
    decisions: SharedMap<(SessionKey, u64), DecisionRow>,
    completed_files: BTreeMap<u64, (PlanId, CompletedFiles)>,
    expected_calls: BTreeMap<u64, ExpectedCall>,
    worktree_plans: BTreeMap<String, PlanId>,
    controls: BTreeMap<ControlScope, ControlRecord>,
    workers: BTreeMap<String, WorkerRecord>,
}

/// Everything about one plan. The plan in it is whole.
#[derive(Clone, Debug)]
struct StoredPlan {
    info: PlanInfo,
    plan: Plan,
    events: SharedMap<u64, Vec<Event>>,
    baseline: Arc<Plan>,
    answers: SharedMap<String, (i64, String)>,
    checkpoints: BTreeMap<String, CheckpointRow>,
    ledger: Vec<LedgerEntry>,
    runs: BTreeMap<u64, StoredRun>,
    live: live::LiveRecords,
    handed_out: hand_out::HandedOut,
    plan_file: Option<String>,
}

/// One moment of the state, seen from one plan.
struct MemoryTransaction<S> {
    state: S,
    plan: PlanId,
    changed: bool,
    closing: Vec<Event>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        // The seed of a hash map is as random as the system has it.
        let random = || std::hash::RandomState::new().hash_one(std::process::id());
        let identity = format!("{:016x}{:016x}", random(), random());
        Self { identity, state: RwLock::default(), hub: Arc::default() }
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryState {
    fn kept(&self, plan: PlanId) -> Result<&StoredPlan, StoreError> {
        self.plans.get(&plan).map(Arc::as_ref).ok_or(StoreError::UnknownPlan { plan })
    }

    fn kept_mut(&mut self, plan: PlanId) -> Result<&mut StoredPlan, StoreError> {
        self.plans.get_mut(&plan).map(Arc::make_mut).ok_or(StoreError::UnknownPlan { plan })
    }

    /// Lets the copies of later writes share what was just committed.
    fn settle(&mut self, plan: PlanId) {
        self.decisions.settle();
        if let Some(kept) = self.plans.get_mut(&plan).and_then(Arc::get_mut) {
            kept.events.settle();
            kept.answers.settle();
            kept.live.activity.settle();
        }
    }

    /// Fails if a plan in use other than `but` has that name.
    fn name_is_free(&self, name: &str, but: Option<PlanId>) -> Result<(), StoreError> {
        let taken =
            self.plans.values().any(|k| k.info.name == name && k.info.archived.is_none() && Some(k.info.id) != but);
        if taken { Err(crate::store::name_taken(name)) } else { Ok(()) }
    }
}

impl Store for MemoryStore {
    fn write(&self, plan: PlanId, _durability: Durability, body: WriteBody<'_>) -> Result<(), StoreError> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.kept(plan)?;
        let mut view = MemoryTransaction { state: Box::new(state.clone()), plan, changed: false, closing: Vec::new() };
        body(&mut view)?;
        if view.changed {
            drop(std::mem::replace(&mut *state, *view.state));
            state.settle(plan);
            self.hub.bump();
        }
        Ok(())
    }

    fn read(&self, plan: PlanId, body: ReadBody<'_>) -> Result<(), StoreError> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner).clone();
        state.kept(plan)?;
        body(&MemoryTransaction { state: &state, plan, changed: false, closing: Vec::new() })
    }

    fn browse(&self, body: BrowseBody<'_>) -> Result<(), StoreError> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner).clone();
        body(&MemoryTransaction { state: &state, plan: PlanId(0), changed: false, closing: Vec::new() })
    }

    fn create_plan(&self, name: &str, now: i64) -> Result<PlanId, StoreError> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.name_is_free(name, None)?;
        let id = PlanId(state.plans.keys().next_back().map_or(1, |last| last.0 + 1));
        let info = PlanInfo { id, name: name.to_owned(), created_at: now, archived: None, revision: 0, pruned: 0 };
        let kept = StoredPlan {
            info,
            plan: Plan::new(),
            events: SharedMap::default(),
            baseline: Arc::new(Plan::new()),
            answers: SharedMap::default(),
            checkpoints: BTreeMap::new(),
            ledger: Vec::new(),
            runs: BTreeMap::new(),
            live: live::LiveRecords::default(),
            handed_out: hand_out::HandedOut::default(),
            plan_file: None,
        };
        state.plans.insert(id, Arc::new(kept));
        self.hub.bump();
        Ok(id)
    }

    fn identity(&self) -> Result<String, StoreError> {
        Ok(self.identity.clone())
    }

    fn stamp(&self, _plan: Option<PlanId>) -> Result<Option<u64>, StoreError> {
        Ok(Some(self.hub.seen()))
    }

    fn changes(&self) -> Box<dyn Changes> {
        Box::new(MemoryWaiter { seen: self.hub.seen(), hub: Arc::clone(&self.hub) })
    }
}

struct MemoryWaiter {
    hub: Arc<Hub>,
    seen: u64,
}

impl Changes for MemoryWaiter {
    fn wait(&mut self, timeout: Duration) -> Result<bool, StoreError> {
        let before = self.seen;
        self.seen = self.hub.wait(before, timeout);
        Ok(before != self.seen)
    }
}

fn failed(why: String) -> StoreError {
    StoreError::Failed { store: StoreLabel::memory(), why }
}
