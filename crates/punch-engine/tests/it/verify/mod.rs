//! Todos that a command proves, with commands of every kind.

mod misbehaves;
mod proof;
mod recheck;
mod report;

use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use punch_core::{Add, Edit, Keep, Op, Policy, Ref, Status, Todo, Verify, VerifyMode};
use punch_engine::{Checker, Consents, Engine, EngineError, PlanChange, PlanChoice, WriteRequest};
use punch_store::{MemoryStore, OpenMode, PlanId, SqliteStore};

use crate::sandbox::Sandbox;

pub struct World {
    pub sandbox: Sandbox,
    pub engine: Engine,
    pub plan: PlanId,
    pub root: PathBuf,
}

const NEVER: &(dyn Fn() -> bool + Sync) = &|| false;

impl World {
    /// A plan that wants proof, for the repository `p`.
    pub fn new() -> Self {
        let sandbox = Sandbox::with_repository();
        let time = AtomicI64::new(1_000);
        let clock = Box::new(move || time.fetch_add(1_000, Ordering::Relaxed));
        let engine = Engine::new(Box::new(MemoryStore::new()), clock);
        let plan = engine.choose_or_create(&PlanChoice::default()).unwrap();
        let policy = Policy { verify: VerifyMode::Command, ..Policy::default() };
        let root = sandbox.path("p");
        // An approval counts for the store in a file; the plan itself is in memory.
        let folder = sandbox.path("store");
        std::fs::create_dir_all(&folder).unwrap();
        SqliteStore::open(&folder.join("store.db"), OpenMode::Create).unwrap();
        let world = Self { sandbox, engine, plan, root };
        world.submit(&[Op::SetPolicy(policy)]).unwrap();
        world
    }

    /// Creates a world with one todo, `T-1`, and consent to its command.
    pub fn with(line: &str) -> Self {
        let world = Self::new();
        world.add(line);
        world.consents().give(&shell(line)).unwrap();
        world
    }

    pub fn add(&self, line: &str) {
        let edit = Edit { content: Keep::Set("one".into()), verify: Keep::Set(Some(shell(line))), ..Edit::default() };
        self.submit(&[Op::Add(Add { edit, ..Add::default() })]).unwrap();
    }

    pub fn submit(&self, ops: &[Op]) -> Result<PlanChange, EngineError> {
        self.engine.submit(self.plan, &WriteRequest::by("t", None), ops)
    }

    pub fn consents(&self) -> Consents {
        Consents::new(&self.sandbox.path("state"), &self.sandbox.path("store/store.db"), &self.root)
    }

    pub fn checker<'a>(&self, limit: Duration, stopped: &'a (dyn Fn() -> bool + Sync)) -> Checker<'a> {
        Checker {
            root: self.root.clone(),
            git: None,
            limit,
            cut_short: false,
            shell: true,
            consents: Some(self.consents()),
            plan_check: None,
            stopped,
            without: &[],
            environment: &[],
        }
    }

    /// `done` with a check that may take a minute.
    pub fn done(&self) -> Result<PlanChange, EngineError> {
        self.done_with(&self.checker(Duration::from_secs(60), NEVER))
    }

    pub fn done_with(&self, checker: &Checker<'_>) -> Result<PlanChange, EngineError> {
        self.engine.proving(self.plan, checker, |proofs| {
            let done = Op::Done { target: Ref::Id("T-1".into()), evidence: None, fence: None };
            self.submit(&[proofs.complete(done, None)])
        })
    }

    pub fn todo(&self) -> Todo {
        self.engine.read(self.plan, |snapshot| Ok(snapshot.find("T-1")?)).unwrap().unwrap()
    }

    pub fn status(&self) -> Status {
        self.todo().status
    }
}

pub fn shell(line: &str) -> Verify {
    Verify::Shell(line.to_owned())
}

/// The code of a refusal.
pub fn code<T: std::fmt::Debug>(result: Result<T, EngineError>) -> &'static str {
    result.unwrap_err().code()
}
