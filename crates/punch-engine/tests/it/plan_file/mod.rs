//! A plan and its plan file, on disk.

mod bad;
mod checklists;
mod following;
mod syncing;

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use punch_core::{Op, Ref};
use punch_engine::plan_file::{SyncOptions, SyncResult, look};
use punch_engine::{Engine, EngineError, News, PlanChoice, WriteRequest};
use punch_store::{MemoryStore, PlanId};
use tempfile::TempDir;

pub struct World {
    pub engine: Engine,
    pub plan: PlanId,
    pub path: PathBuf,
    pub troubles: Arc<Mutex<Vec<String>>>,
    _folder: TempDir,
}

pub const FILE: &str = "---\nname: Plan # ours\noverview: 'x'\ntodos:\n  - id: a\n    content: First\n    status: pending\n  \
                        # then\n  - id: b\n    content: \"Second\"\n    status: 'pending'\n    dependencies: [a]\n---\n\nText.\n";

/// A plan that is linked to a file with this text.
pub fn linked(text: &str) -> World {
    let world = unlinked(text);
    world
        .engine
        .link_plan_file(world.plan, &WriteRequest::by("user", None), &world.path, SyncOptions::default())
        .unwrap();
    world
}

pub fn unlinked(text: &str) -> World {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap().join("a.plan.md");
    fs::write(&path, text).unwrap();
    let troubles = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&troubles);
    let time = std::sync::atomic::AtomicI64::new(1_000);
    let clock = Box::new(move || time.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
    let engine = Engine::new(Box::new(MemoryStore::new()), clock).telling(Box::new(move |news: &News<'_>| {
        if let News::Trouble(error) = news {
            told.lock().unwrap().push(error.code().to_owned());
        }
    }));
    let plan = engine.choose_or_create(&PlanChoice::default()).unwrap();
    World { engine, plan, path, troubles, _folder: folder }
}

impl World {
    pub fn text(&self) -> String {
        fs::read_to_string(&self.path).unwrap()
    }

    pub fn edit(&self, from: &str, to: &str) {
        let text = self.text();
        assert!(text.contains(from), "{from:?} in {text}");
        fs::write(&self.path, text.replacen(from, to, 1)).unwrap();
    }

    pub fn ask(&self, ops: &[Op]) {
        self.engine.submit(self.plan, &WriteRequest::by("agent", Some("s-1")), ops).unwrap();
    }

    pub fn sync(&self) -> SyncResult {
        self.try_sync().unwrap()
    }

    pub fn try_sync(&self) -> Result<SyncResult, EngineError> {
        self.engine.sync_plan_file(self.plan, &WriteRequest::by("user", None), SyncOptions::default())
    }

    /// Id, content and status of everything, in list order.
    pub fn todos(&self) -> Vec<String> {
        let plan = self.engine.whole(self.plan).unwrap();
        plan.live().iter().map(|t| format!("{} {} {}", t.id, t.content, t.status.name())).collect()
    }

    /// Nothing touches the file meanwhile.
    pub fn untouched(&self, body: impl FnOnce()) {
        let before = (look(&self.path), self.text());
        body();
        assert_eq!((look(&self.path), self.text()), before);
    }

    pub fn troubles(&self) -> Vec<String> {
        std::mem::take(&mut self.troubles.lock().unwrap())
    }
}

pub fn id(id: &str) -> Ref {
    Ref::Id(id.into())
}

pub fn done(target: &str) -> Op {
    Op::Done { target: id(target), evidence: None, fence: None }
}
