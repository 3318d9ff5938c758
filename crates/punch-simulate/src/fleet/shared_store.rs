//! One memory store behind several connections, as one server has them.

use std::sync::Arc;

use punch_store::{Catalogue, Changes, Durability, MemoryStore, PlanId, Snapshot, Store, StoreError, Tx};

/// A connection.
#[derive(Clone)]
pub(super) struct SharedStore(Arc<MemoryStore>);

impl Default for SharedStore {
    fn default() -> Self {
        Self(Arc::new(MemoryStore::new()))
    }
}

impl Store for SharedStore {
    fn identity(&self) -> Result<String, StoreError> {
        self.0.identity()
    }

    fn write(
        &self,
        plan: PlanId,
        durability: Durability,
        body: &mut dyn FnMut(&mut dyn Tx) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.0.write(plan, durability, body)
    }

    fn read(
        &self,
        plan: PlanId,
        body: &mut dyn FnMut(&dyn Snapshot) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.0.read(plan, body)
    }

    fn browse(&self, body: &mut dyn FnMut(&dyn Catalogue) -> Result<(), StoreError>) -> Result<(), StoreError> {
        self.0.browse(body)
    }

    fn create_plan(&self, name: &str, now: i64) -> Result<PlanId, StoreError> {
        self.0.create_plan(name, now)
    }

    fn stamp(&self, plan: Option<PlanId>) -> Result<Option<u64>, StoreError> {
        self.0.stamp(plan)
    }

    fn changes(&self) -> Box<dyn Changes> {
        self.0.changes()
    }
}
