//! Checkpoints of plans beside real git repositories.

mod batches;
mod files;
mod histories;
mod plans;
mod restores;

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use punch_core::{Add, Edit, Keep, Op, Ref, Status};
use punch_engine::config::Settings;
use punch_engine::{
    Code, Engine, EngineError, News, PlanChange, RestoreResult, Restoring, SavedCheckpoint, Saving, WorkTree,
    WriteRequest,
};
use punch_store::{MemoryStore, PlanId};

use crate::sandbox::Sandbox;

pub struct World {
    pub sandbox: Sandbox,
    pub engine: Engine,
    pub plan: PlanId,
    /// Checkpoints that nobody asked for.
    pub saved: Arc<Mutex<Vec<SavedCheckpoint>>>,
}

pub const GENTLY: Restoring = Restoring { force: false, reopen: true };
pub const ANYWAY: Restoring = Restoring { force: true, reopen: true };

impl World {
    /// A repository `p` with one commit, and an empty plan.
    pub fn new() -> Self {
        Self::beside(Sandbox::with_repository())
    }

    pub fn beside(sandbox: Sandbox) -> Self {
        // Ten seconds a look, so that checkpoints have names of their own.
        let time = AtomicI64::new(1_700_000_000_000);
        let clock = Box::new(move || time.fetch_add(10_000, Ordering::Relaxed));
        let saved = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&saved);
        let engine = Engine::new(Box::new(MemoryStore::new()), clock).telling(Box::new(move |news| match news {
            News::Checkpoint(made) => kept.lock().unwrap().push((*made).clone()),
            News::Trouble(error) => panic!("{}", error.message()),
        }));
        let plan = engine.choose_or_create(&Default::default()).unwrap();
        Self { sandbox, engine, plan, saved }
    }

    pub fn tree(&self) -> WorkTree {
        WorkTree { root: self.sandbox.path("p"), git: None, consents: None }
    }

    pub fn add(&self, content: &str, needs: &[&str]) {
        let deps = needs.iter().map(|id| Ref::Id((*id).into())).collect();
        let edit = Edit { content: Keep::Set(content.into()), depends_on: Keep::Set(deps), ..Edit::default() };
        self.submit(&[Op::Add(Add { edit, ..Add::default() })]).unwrap();
    }

    pub fn submit(&self, ops: &[Op]) -> Result<PlanChange, EngineError> {
        self.submit_under(None, ops)
    }

    pub fn submit_under(&self, settings: Option<&Settings>, ops: &[Op]) -> Result<PlanChange, EngineError> {
        let (tree, commit) = (self.tree(), self.tree().commit());
        let (commit, tree) = (commit.as_deref(), Some(tree.root.as_path()));
        self.engine.submit(self.plan, &WriteRequest { commit, tree, settings, ..WriteRequest::by("t", None) }, ops)
    }

    pub fn done(&self, id: &str) {
        self.submit(&[Op::Done { target: Ref::Id(id.into()), evidence: None, fence: None }]).unwrap();
    }

    /// Commits a file and finishes a todo with it.
    pub fn work(&self, id: &str) {
        self.sandbox.commit("p", &format!("{id}.txt"));
        self.done(id);
    }

    pub fn git(&self, arguments: &[&str]) -> String {
        self.sandbox.git("p", arguments)
    }

    pub fn save(&self) -> SavedCheckpoint {
        let saving = Saving { by: "t", ..Saving::default() };
        self.engine.checkpoint(self.plan, &Code::look(&self.tree()), &saving).unwrap()
    }

    pub fn restore(&self, id: &str, how: Restoring) -> Result<RestoreResult, EngineError> {
        self.engine.restore(
            self.plan,
            &WriteRequest::of(punch_core::Actor::user().signing("t")),
            &Code::look(&self.tree()),
            id,
            how,
        )
    }

    pub fn status(&self, id: &str) -> Status {
        self.engine.whole(self.plan).unwrap().by_id(id).unwrap().status
    }

    /// The ids in a status, in list order.
    pub fn in_status(&self, status: Status) -> Vec<String> {
        let whole = self.engine.whole(self.plan).unwrap();
        whole.live().into_iter().filter(|todo| todo.status == status).map(|todo| todo.id.clone()).collect()
    }
}

/// The verdicts of a restore as `id verdict`.
pub fn verdicts(restored: &RestoreResult) -> Vec<String> {
    restored.judged.iter().map(|judged| format!("{} {}", judged.id, judged.verdict.name())).collect()
}
