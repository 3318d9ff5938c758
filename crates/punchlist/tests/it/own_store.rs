//! A store that the host writes itself, with the names of `punchlist::store` and nothing else.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use punchlist::store::{
    Ahead, BrowseBody, Changes, Durability, MemoryStore, PlanId, ReadBody, Store, StoreError, Tx, WriteBody,
};
use punchlist::{Finish, Next, Op, Options, Session, Update};
use serde_json::json;

/// Counts commits, and fails when it is told to.
#[derive(Clone)]
struct CountingStore {
    inner: Arc<MemoryStore>,
    commits: Arc<AtomicU32>,
    fails: Arc<AtomicU32>,
}

impl Store for CountingStore {
    fn identity(&self) -> Result<String, StoreError> {
        self.inner.identity()
    }

    fn write(&self, plan: PlanId, durability: Durability, body: WriteBody<'_>) -> Result<(), StoreError> {
        self.inner.write(plan, durability, &mut |tx: &mut dyn Tx| {
            body(tx)?;
            if self.fails.load(Ordering::Relaxed) > 0 { Err(StoreError::Abort) } else { Ok(()) }
        })?;
        self.commits.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn write_ahead(
        &self,
        plan: PlanId,
        durability: Durability,
        _ahead: Ahead<'_>,
        body: WriteBody<'_>,
    ) -> Result<(), StoreError> {
        self.write(plan, durability, body)
    }

    fn read(&self, plan: PlanId, body: ReadBody<'_>) -> Result<(), StoreError> {
        self.inner.read(plan, body)
    }

    fn browse(&self, body: BrowseBody<'_>) -> Result<(), StoreError> {
        self.inner.browse(body)
    }

    fn create_plan(&self, name: &str, now: i64) -> Result<PlanId, StoreError> {
        self.inner.create_plan(name, now)
    }

    fn stamp(&self, plan: Option<PlanId>) -> Result<Option<u64>, StoreError> {
        self.inner.stamp(plan)
    }

    fn changes(&self) -> Box<dyn Changes> {
        self.inner.changes()
    }
}

#[test]
fn a_session_works_over_a_store_that_the_host_wrote() {
    let store = CountingStore { inner: Arc::new(MemoryStore::new()), commits: Arc::default(), fails: Arc::default() };
    let session = Session::with_store(store.clone(), Options::new("host").session("chat")).unwrap();
    let mut events = session.subscribe().unwrap();
    let before = store.commits.load(Ordering::Relaxed);
    let call = json!({"ops": [{"op": "add", "id": "a", "content": "Write it"}, {"op": "start", "id": "a"}]});
    assert!(!session.call("todo_write", &call).unwrap().is_error);
    assert!(store.commits.load(Ordering::Relaxed) > before);
    assert!(matches!(events.wait(std::time::Duration::from_secs(5)).unwrap(), Some(Update::Events(_))));
    assert!(matches!(session.turn_ended(Finish::EndTurn).unwrap(), Next::Continue { open: 1, .. }));

    // What the store does not commit has not happened.
    let revision = session.revision().unwrap();
    store.fails.store(1, Ordering::Relaxed);
    assert!(session.apply(&[Op::done("a")]).is_err());
    store.fails.store(0, Ordering::Relaxed);
    assert_eq!(session.revision().unwrap(), revision);
    session.apply(&[Op::done("a")]).unwrap();

    // Another process over the same store resumes the conversation.
    let again = Session::with_store(store, Options::new("host").session("chat")).unwrap();
    assert_eq!(again.list().unwrap(), session.list().unwrap());
}
