//! Facts about one clone, in a file beside it, because a path is valid on one machine only. The file holds the facts
//! for every store that the clone has used, by the identity of the store.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use punch_store::{
    CloneFacts, CloneFactsTx, PlanId, Replacement, StoreError, StoreLabel, StoreObstacle, create_own_folder, platform,
    read_own, update_own,
};
use serde::{Deserialize, Serialize};

use crate::fail;
use crate::view::PgTransaction;

/// A larger file is not ours.
const LARGEST: u64 = 16 << 20;

/// Facts of one store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct StoreFacts {
    worktree_plans: BTreeMap<String, i64>,
    plan_files: BTreeMap<i64, String>,
}

/// A change of one fact.
#[derive(Clone, Debug)]
pub enum FactsChange {
    Worktree(String, PlanId),
    PlanFile(PlanId, Option<String>),
}

/// The file, or memory where there is none.
pub struct CloneFile {
    path: Option<PathBuf>,
    identity: String,
    label: StoreLabel,
    memory: Mutex<StoreFacts>,
}

impl CloneFile {
    pub fn new(path: Option<PathBuf>, identity: &str, label: &StoreLabel) -> Self {
        Self { path, identity: identity.to_owned(), label: label.clone(), memory: Mutex::default() }
    }

    fn read(&self) -> Result<StoreFacts, StoreError> {
        let Some(path) = &self.path else {
            return Ok(self.memory.lock().unwrap_or_else(PoisonError::into_inner).clone());
        };
        Ok(self.read_all(path)?.remove(&self.identity).unwrap_or_default())
    }

    fn read_all(&self, path: &Path) -> Result<BTreeMap<String, StoreFacts>, StoreError> {
        let bytes = match read_own(path, LARGEST) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
            Err(error) => return Err(self.failed(path, "read", &error)),
        };
        serde_json::from_slice(&bytes)
            .map_err(|e| fail::damaged(&self.label, format!("`{}` cannot be read: {e}", path.display())))
    }

    /// Changes facts; processes of this clone come one after the other.
    pub fn change(&self, changes: &[FactsChange]) -> Result<(), StoreError> {
        if changes.is_empty() {
            return Ok(());
        }
        let Some(path) = &self.path else {
            apply(&mut self.memory.lock().unwrap_or_else(PoisonError::into_inner), changes);
            return Ok(());
        };
        let failed = |what: &str, error: &std::io::Error| self.failed(path, what, error);
        create_own_folder(platform::folder_of(path)).map_err(|e| failed("create the folder of", &e))?;
        let lock = update_own(&path.with_added_extension("lock")).map_err(|e| failed("lock", &e))?;
        // A file system without locks: the last one wins, and what is lost is a preference of this clone.
        let _ = lock.lock();
        let mut all = self.read_all(path)?;
        apply(all.entry(self.identity.clone()).or_default(), changes);
        let json = serde_json::to_vec(&all).map_err(|e| failed("write", &e.into()))?;
        Replacement::new(path, &json, 0o600).and_then(Replacement::commit).map_err(|e| failed("write", &e))
    }

    fn failed(&self, path: &Path, what: &str, error: &std::io::Error) -> StoreError {
        let why = format!("cannot {what} `{}`, which holds the settings of this clone: {error}", path.display());
        fail::unavailable(&self.label, StoreObstacle::System, why)
    }
}

fn apply(facts: &mut StoreFacts, changes: &[FactsChange]) {
    for change in changes {
        match change {
            FactsChange::Worktree(worktree, plan) => drop(facts.worktree_plans.insert(worktree.clone(), plan.0)),
            FactsChange::PlanFile(plan, Some(body)) => drop(facts.plan_files.insert(plan.0, body.clone())),
            FactsChange::PlanFile(plan, None) => drop(facts.plan_files.remove(&plan.0)),
        }
    }
}

impl PgTransaction<'_> {
    fn known_facts(&self) -> Result<StoreFacts, StoreError> {
        let mut facts = self.store.facts.read()?;
        apply(&mut facts, &self.facts.borrow());
        Ok(facts)
    }
}

impl CloneFacts for PgTransaction<'_> {
    fn worktree_plan(&self, worktree: &str) -> Result<Option<PlanId>, StoreError> {
        Ok(self.known_facts()?.worktree_plans.get(worktree).copied().map(PlanId))
    }

    fn plan_file(&self, plan: PlanId) -> Result<Option<String>, StoreError> {
        Ok(self.known_facts()?.plan_files.get(&plan.0).cloned())
    }
}

impl CloneFactsTx for PgTransaction<'_> {
    fn put_worktree_plan(&mut self, worktree: &str) -> Result<(), StoreError> {
        self.change_plan(|_, _| {});
        self.facts.get_mut().push(FactsChange::Worktree(worktree.to_owned(), self.plan));
        Ok(())
    }

    fn put_plan_file(&mut self, body: Option<&str>) -> Result<(), StoreError> {
        self.change_plan(|_, _| {});
        self.facts.get_mut().push(FactsChange::PlanFile(self.plan, body.map(str::to_owned)));
        Ok(())
    }
}
