//! The same calls on three backends: same answers, same events, same plans.

use punch_core::{Event, Outcome, Plan, Policy, Refusal};
use punch_store::{Durability, MemoryStore, OpenMode, PlanId, SqliteStore, Store, StoreAdmin};

use crate::contract::ops::Call;
use crate::contract::random::for_any_calls;
use crate::contract::submit::{context, look, submit, whole};
use crate::{create, options};

/// What a backend answered to calls, and what it holds afterwards.
type Told = (Vec<Result<Outcome, Vec<Refusal>>>, Plan, Vec<Event>);

fn run(store: &dyn Store, calls: &[Call]) -> Told {
    let plan: PlanId = store.create_plan("main", 0).unwrap();
    let mut now = 0;
    let mut answers = Vec::new();
    for call in calls {
        now += call.pause;
        let cancelled_dep = look(store, plan, |s| s.row()).policy.cancelled_dep;
        let ctx = context(now, call.owner, Policy { cancelled_dep, ..call.policy });
        answers.push(submit(store, plan, Durability::Relaxed, &call.ops, &ctx).unwrap());
    }
    (answers, whole(store, plan), look(store, plan, |s| s.events(0, usize::MAX)))
}

#[test]
fn the_same_calls_have_the_same_answers_on_every_backend() {
    let Some(options) = options() else { return };
    let server = create(&options);
    let case = std::cell::Cell::new(0);
    for_any_calls(40, |calls| {
        let memory = run(&MemoryStore::new(), calls);
        let folder = tempfile::tempdir().unwrap();
        let file = SqliteStore::open(&folder.path().join("store.db"), OpenMode::Create).unwrap();
        assert_eq!(run(&file, calls), memory, "SQLite");
        case.set(case.get() + 1);
        let project = punch_store_pg::PgOptions { project: format!("case {}", case.get()), ..options.clone() };
        let server = create(&project);
        assert_eq!(run(&server, calls), memory, "PostgreSQL");
        assert_eq!(server.check().unwrap(), [""; 0]);
    });
    drop(server);
}
