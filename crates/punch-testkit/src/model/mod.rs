//! The naive model: a plain list of todos, every question answered by looking at all of them again.

mod edges;
mod fields;
mod names;
mod order;
mod removal;
mod standing;
mod state;
mod status;
pub mod table;

use crate::ask::{ModelBatch, ModelEvidence, ModelHold, ModelStatus};
use crate::rules::ModelRules;

pub use state::{Edge, ModelRow, ModelView};
pub use status::LEASE;

/// What a todo depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ModelDep {
    /// A todo by its key. Whether the edge is suspended is found by looking for circles.
    On(usize),
    /// An unknown id.
    Missing(String),
}

/// One todo. Its key is its place in [`Model::items`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ModelTodo {
    /// Unique among those not removed.
    pub id: String,
    /// What is to be done.
    pub content: String,
    /// The present-tense form.
    pub active_form: Option<String>,
    /// As stored.
    pub status: ModelStatus,
    /// In the order given.
    pub deps: Vec<ModelDep>,
    /// Why it waits.
    pub hold: Option<ModelHold>,
    /// Name of its phase.
    pub phase: Option<String>,
    /// 1 to 5.
    pub priority: u8,
    /// The files it touches, as one glob.
    pub files: Option<String>,
    /// The command that proves it.
    pub command: Option<String>,
    /// What was said and found, oldest first.
    pub evidence: Vec<ModelEvidence>,
    /// Who works on it or did.
    pub owner: Option<String>,
    /// The fence of the last claim.
    pub fence: u64,
    /// End of the lease.
    pub lease: Option<i64>,
    /// Failed attempts.
    pub attempts: u32,
    /// Why the last one failed.
    pub error: Option<String>,
    /// Remarks.
    pub notes: Vec<String>,
    /// Was being worked on before.
    pub resume: bool,
    /// Its worker says that it is done.
    pub reported: bool,
    /// Completed, and nothing vouches for it any more.
    pub stale: bool,
    /// Completed without the words or the check that its plan asks for.
    pub unchecked: bool,
    /// Something it was built on was reopened.
    pub stale_dependency: bool,
    /// When it was last started.
    pub started: Option<i64>,
    /// When it was closed.
    pub finished: Option<i64>,
    /// Archived.
    pub removed: bool,
}

/// Why a write was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct No {
    /// The stable code.
    pub code: &'static str,
    /// For a cycle: every edge as it would have been, by ids.
    pub edges: Vec<(String, String)>,
}

impl No {
    const fn new(code: &'static str) -> Self {
        Self { code, edges: Vec::new() }
    }
}

/// What a batch left behind besides the plan.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Numbers of the rows of the transition table that applied: those of ops, then those of checks.
    pub rows: Vec<usize>,
    /// Events of todos that were there before, by key: what the table has under *event*.
    pub events: Vec<(usize, &'static str)>,
    /// Warnings that the table names: the id of the todo, the name, and what the warning says besides.
    pub warnings: Vec<(String, &'static str, String)>,
}

/// A plan.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Model {
    /// Everything ever added.
    pub items: Vec<ModelTodo>,
    /// Keys of live todos in list order.
    pub order: Vec<usize>,
    /// Phase names in order.
    pub phases: Vec<String>,
    /// The plan's own rules.
    pub rules: ModelRules,
    /// The next number of a made id.
    pub number: u64,
    /// The last fence given.
    pub fence: u64,
    /// Now.
    pub now: i64,
}

impl Default for Model {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            order: Vec::new(),
            phases: Vec::new(),
            rules: ModelRules::NATIVE,
            number: 1,
            fence: 0,
            now: 0,
        }
    }
}

/// A batch while it runs.
struct ModelWrite<'a> {
    model: Model,
    before: &'a Model,
    batch: &'a ModelBatch,
    /// For each ask, the todo it is about; for an add, the new one.
    targets: Vec<Option<usize>>,
    /// Keys of the adds.
    added: Vec<usize>,
    removed: Vec<usize>,
    pending: status::Pending,
    trace: Trace,
}

impl ModelWrite<'_> {
    fn run(&mut self) -> Result<(), Vec<No>> {
        self.names()?;
        self.claims()?;
        self.removals();
        self.fields()?;
        self.order()?;
        self.edges()?;
        self.statuses()
    }
}

impl Model {
    /// Runs a batch, all or nothing. Time passes also for a refused one.
    pub fn apply(&mut self, batch: &ModelBatch) -> Result<(), Vec<No>> {
        self.apply_with_trace(batch).0
    }

    /// Runs a batch like [`Model::apply`] and also answers what happened on the way.
    pub fn apply_with_trace(&mut self, batch: &ModelBatch) -> (Result<(), Vec<No>>, Trace) {
        self.now += batch.elapsed;
        let mut write = ModelWrite {
            model: self.clone(),
            before: self,
            batch,
            targets: Vec::new(),
            added: Vec::new(),
            removed: Vec::new(),
            pending: status::Pending::default(),
            trace: Trace::default(),
        };
        let done = write.run();
        let (model, trace) = (write.model, write.trace);
        if done.is_ok() {
            *self = model;
        }
        (done, trace)
    }

    /// The live todo with that id.
    pub fn find(&self, id: &str) -> Option<usize> {
        self.order.iter().copied().find(|key| self.items[*key].id == id)
    }
}
