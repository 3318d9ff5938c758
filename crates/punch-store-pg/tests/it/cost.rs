//! What "complete one, get the next" costs: two round trips, and no more rows than it is about.

use std::time::{Duration, Instant};

use punch_core::{
    Actor, Add, ApplyStop, Context, Edit, Footprint, InProgressLimit, Keep, Op, Plan, Policy, Ref, apply,
};
use punch_store::{Ahead, Durability, PlanId, Store, StoreAdmin, StoreError, Tx};
use punch_store_pg::PgStore;
use punch_testkit::postgres;

use crate::contract::submit::must;
use crate::{create, options};

fn put(tx: &mut dyn Tx, ops: &[Op], first: &Footprint) -> Result<(), StoreError> {
    let policy = Policy { in_progress: InProgressLimit::Any, ..Policy::default() };
    let context = Context::new(tx.now().unwrap_or(0), Actor::parse("w", Some("w")), policy);
    let mut plan = Plan::slice(tx.row()?);
    tx.load(first, &mut plan)?;
    loop {
        match apply(&plan, ops, &context) {
            Ok(outcome) => return tx.put(&outcome),
            Err(ApplyStop::Need(need)) => tx.load(&need, &mut plan)?,
            Err(ApplyStop::Refused(refusals)) => panic!("{refusals:?}"),
        }
    }
}

fn todo(id: &str, needs: &[&str]) -> Op {
    let needs = needs.iter().map(|id| Ref::Id((*id).to_owned())).collect();
    let edit = Edit { content: Keep::Set(id.to_owned()), depends_on: Keep::Set(needs), ..Edit::default() };
    Op::Add(Add { id: Some(id.to_owned()), edit, ..Add::default() })
}

/// Completes what is held and claims the next one. Returns it with the number of round trips.
fn turn(store: &PgStore, plan: PlanId, held: Option<String>) -> (Option<String>, u64) {
    let done: Vec<Op> =
        held.into_iter().map(|id| Op::Done { target: Ref::Id(id), evidence: None, fence: None }).collect();
    let first = Footprint::of(&done);
    let ahead = Ahead { dependents: true, ready: true, ..Ahead::load(&first) };
    let before = store.round_trips();
    let mut next = None;
    let mut write = |tx: &mut dyn Tx| {
        if !done.is_empty() {
            put(tx, &done, &first)?;
        }
        let now = tx.now().unwrap_or(0);
        let Some(todo) = tx.ready(now, None, 1)?.pop() else { return Ok(()) };
        let first = Footprint { todos: [todo.uid].into(), ..Footprint::default() };
        put(tx, &[Op::Claim(Ref::Uid(todo.uid), now + 60_000)], &first)?;
        next = Some(todo.id.clone());
        Ok(())
    };
    store.write_ahead(plan, Durability::Full, ahead, &mut write).unwrap();
    (next, store.round_trips() - before)
}

#[test]
fn completing_one_and_getting_the_next_takes_two_round_trips() {
    let Some(options) = options() else { return };
    let store = create(&options);
    let plan = store.create_plan("main", 0).unwrap();
    let deps: [(&str, &[&str]); 5] = [("a", &[]), ("b", &["a"]), ("c", &["a", "b"]), ("d", &[]), ("e", &["c"])];
    must(&store, plan, 1, &deps.map(|(id, needs)| todo(id, needs)));
    let mut held: Option<String> = None;
    let mut order = Vec::new();
    for _ in 0..deps.len() + 1 {
        let trips;
        (held, trips) = turn(&store, plan, held);
        assert_eq!(trips, 2, "after {order:?}");
        order.extend(held.clone());
    }
    assert_eq!(order, ["a", "b", "c", "d", "e"]);
    assert_eq!(store.check().unwrap(), [""; 0]);
}

#[test]
fn many_todos_in_progress_do_not_hide_what_is_ready() {
    let Some(options) = options() else { return };
    let store = create(&options);
    let plan = store.create_plan("main", 0).unwrap();
    let ids: Vec<String> = (0..40).map(|n| format!("n{n:02}")).collect();
    must(&store, plan, 1, &ids.iter().map(|id| todo(id, &[])).collect::<Vec<_>>());
    // One client after the other takes one and keeps it.
    let taken: Vec<_> = ids.iter().take(20).map(|_| turn(&store, plan, None)).collect();
    assert_eq!(taken, ids.iter().take(20).map(|id| (Some(id.clone()), 2)).collect::<Vec<_>>());
    assert_eq!(turn(&store, plan, Some("n03".to_owned())), (Some("n20".to_owned()), 2));
}

/// Todos of a plan that is filled in parts. The server has no statistics before the first one.
const FILLED: usize = 2_700;

#[test]
fn after_an_import_a_write_reads_what_it_is_about() {
    let (Some(cluster), Some(options)) = (postgres::shared(), options()) else { return };
    let store = create(&options);
    let plan = store.create_plan("main", 0).unwrap();
    for part in 0..FILLED / 900 {
        let ids: Vec<String> = (0..900).map(|n| format!("n{}", part * 900 + n)).collect();
        must(&store, plan, 1, &ids.iter().map(|id| todo(id, &[])).collect::<Vec<_>>());
    }
    let turns = 100;
    let mut held = None;
    for _ in 0..turns {
        held = turn(&store, plan, held).0;
    }
    drop(store);
    let schema = options.address.rsplit_once('=').unwrap().1;
    let count = format!(
        "SELECT n_tup_upd, idx_tup_fetch + seq_tup_read FROM pg_stat_user_tables \
         WHERE schemaname = '{schema}' AND relname = 'todo'"
    );
    // The server counts with a delay.
    let begun = Instant::now();
    let (updated, read) = loop {
        let row = cluster.sql("postgres", &count).unwrap();
        let (updated, read) = row.trim().split_once('|').unwrap();
        let counts: (usize, usize) = (updated.parse().unwrap(), read.parse().unwrap());
        if counts.0 >= turns || begun.elapsed() > Duration::from_secs(20) {
            break counts;
        }
        std::thread::sleep(Duration::from_millis(100));
    };
    // Each turn updates two todos and reads about twenty rows, most of them to see what is ready.
    assert!(updated >= turns && read < FILLED * 2 + turns * 60, "{updated} updated, {read} read");
}
