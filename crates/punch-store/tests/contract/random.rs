//! Arbitrary writes: what a store holds afterwards is what a plan in memory holds, and rules on loaded slices say
//! what rules on the whole plan say.

use std::collections::BTreeMap;

use proptest::test_runner::{Config, TestRunner};
use punch_core::{ApplyStop, Context, Event, Footprint, Op, Outcome, Plan, Refusal, Status, Todo, Warning, apply};
use punch_store::{Durability, ListMark, PlanId, ReadyMark, Snapshot, Store, StoreError, Which};

use super::Place;
use super::ops::{Call, calls};
use super::submit::{context, look, submit, whole};

/// The plan as it should be.
#[derive(Default)]
struct Oracle {
    plan: Plan,
    log: BTreeMap<u64, Vec<Event>>,
}

impl Oracle {
    fn apply(&mut self, ops: &[Op], ctx: &Context) -> Result<Outcome, Vec<Refusal>> {
        loop {
            match apply(&self.plan, ops, ctx) {
                Ok(outcome) => return Ok(outcome),
                Err(ApplyStop::Refused(refusals)) => return Err(refusals),
                Err(ApplyStop::Need(need)) => {
                    let revisions = Footprint { revisions: need.revisions.clone(), ..Footprint::default() };
                    assert!(!need.revisions.is_empty() && *need == revisions, "a whole plan needs {need:?}");
                    for revision in need.revisions {
                        self.plan.put_events(revision, self.log.get(&revision).cloned().unwrap_or_default());
                    }
                }
            }
        }
    }

    fn take(&mut self, outcome: &Outcome) {
        self.plan.commit(outcome);
        if !outcome.events.is_empty() {
            self.log.insert(outcome.plan.revision, outcome.events.clone());
        }
    }
}

pub fn a_store_holds_what_was_put_and_slices_are_enough(open: fn() -> Option<Place<dyn Store>>) {
    if open().is_none() {
        return;
    }
    for_any_calls(48, |calls| open().iter().for_each(|place| follow(place.store.as_ref(), calls)));
}

pub fn for_any_calls(cases: u32, f: impl Fn(&[Call])) {
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    runner
        .run(&calls(30), |calls| {
            f(&calls);
            Ok(())
        })
        .unwrap();
}

pub fn follow(store: &dyn Store, calls: &[Call]) {
    let other = store.create_plan("other", 0).unwrap();
    let plan = store.create_plan("main", 0).unwrap();
    let mut oracle = Oracle { plan: Plan::new(), ..Oracle::default() };
    let mut now = 0;
    for call in calls {
        now += call.pause;
        let policy = punch_core::Policy { cancelled_dep: oracle.plan.row.policy.cancelled_dep, ..call.policy };
        let ctx = context(now, call.owner, policy);
        let expected = oracle.apply(&call.ops, &ctx);
        let found = submit(store, plan, Durability::Relaxed, &call.ops, &ctx).unwrap();
        match (expected, found) {
            (Ok(expected), Ok(found)) => {
                assert_eq!(without_order(&found), without_order(&expected), "{call:?}");
                oracle.take(&found);
            }
            (Err(expected), Err(found)) => assert_eq!(codes(&found), codes(&expected), "{call:?}"),
            (expected, found) => panic!("{call:?}\nwhole plan: {expected:?}\nslices: {found:?}"),
        }
        same(store, plan, &oracle);
        questions(store, plan, &oracle, now);
    }
    same(store, other, &Oracle { plan: Plan::new(), ..Oracle::default() });
}

/// Warnings may come in another order where a slice met things in another order.
fn without_order(outcome: &Outcome) -> (Outcome, Vec<String>) {
    let mut warnings: Vec<String> = outcome.warnings.iter().map(Warning::message).collect();
    warnings.sort();
    (Outcome { warnings: Vec::new(), ..outcome.clone() }, warnings)
}

/// Suggestions of near ids depend on what is loaded.
fn codes(refusals: &[Refusal]) -> Vec<&'static str> {
    refusals.iter().map(Refusal::code).collect()
}

fn same(store: &dyn Store, plan: PlanId, oracle: &Oracle) {
    let stored = whole(store, plan);
    assert_eq!(stored.row, oracle.plan.row);
    assert_eq!(stored.all().collect::<Vec<_>>(), oracle.plan.all().collect::<Vec<_>>());
    let events = look(store, plan, |s| s.events(0, usize::MAX));
    assert_eq!(events, oracle.log.values().flatten().cloned().collect::<Vec<_>>());
    let revisions: Vec<u64> = oracle.log.keys().copied().collect();
    assert_eq!(revisions, (1..=oracle.plan.row.revision).collect::<Vec<_>>(), "revisions without gaps");
    assert_eq!(look(store, plan, |s| Ok(s.info()?.revision)), oracle.plan.row.revision);
}

fn questions(store: &dyn Store, plan: PlanId, oracle: &Oracle, now: i64) {
    for now in [now, now + 5_000, now + 50_000] {
        let mut ready: Vec<&Todo> = oracle.plan.all().filter(|todo| todo.is_ready(now)).collect();
        ready.sort_by_key(|todo| (todo.effective_priority(), todo.position, todo.uid));
        let found = look(store, plan, |s| pages(|last: Option<&Todo>| s.ready(now, last.map(ReadyMark::of), 2)));
        assert_eq!(found.iter().collect::<Vec<_>>(), ready);
    }
    for which in [Which::Live, Which::Open, Which::Unfinished, Which::Running, Which::Held] {
        let mut listed = oracle.plan.live();
        listed.retain(|todo| match which {
            Which::Live => true,
            Which::Open => todo.status.is_open(),
            Which::Unfinished => todo.status.is_open() || todo.status == Status::Failed,
            Which::Running => todo.status == Status::InProgress,
            Which::Held => todo.status == Status::Pending && todo.derived.unmet == 0 && todo.hold.is_some(),
        });
        let found = look(store, plan, |s| pages(|last| s.list(which, last.map(ListMark::of), 3)));
        assert_eq!(found.iter().collect::<Vec<_>>(), listed);
    }
    look(store, plan, |s| {
        for todo in oracle.plan.all() {
            assert_eq!(s.find(&todo.id)?.as_ref(), oracle.plan.by_id(&todo.id));
            lookups(s, oracle, todo)?;
            let contents = [todo.content.clone(), "nothing".to_owned()].into();
            let mut saying = oracle.plan.live();
            saying.retain(|other| other.status.is_open() && other.content == todo.content);
            assert_eq!(s.find_open_by_content(&contents)?.iter().collect::<Vec<_>>(), saying);
        }
        Ok(())
    });
}

/// Each lookup on its own is answered in full, and marked.
fn lookups(snapshot: &dyn Snapshot, oracle: &Oracle, todo: &Todo) -> Result<(), StoreError> {
    let mut slice = Plan::slice(snapshot.row()?);
    let footprint = Footprint {
        ids: [todo.id.clone(), "nobody".to_owned()].into(),
        dependents: [todo.uid].into(),
        running: [todo.owner.clone()].into(),
        dangling: [todo.id.clone()].into(),
        ..Footprint::default()
    };
    snapshot.load(&footprint, &mut slice)?;
    assert_eq!(slice.find_id(&todo.id), oracle.plan.find_id(&todo.id));
    assert_eq!(slice.find_id("nobody"), Ok(None));
    assert_eq!(slice.dependents_of(todo.uid), oracle.plan.dependents_of(todo.uid));
    assert_eq!(slice.running_of(todo.owner.as_deref()), oracle.plan.running_of(todo.owner.as_deref()));
    assert_eq!(slice.waiting_for_id(&todo.id), oracle.plan.waiting_for_id(&todo.id));
    let mut slice = Plan::slice(snapshot.row()?);
    snapshot.load(&Footprint { all_running: true, ..Footprint::default() }, &mut slice)?;
    assert_eq!(
        slice.all_running().unwrap().collect::<Vec<_>>(),
        oracle.plan.all_running().unwrap().collect::<Vec<_>>()
    );
    let mut slice = Plan::slice(snapshot.row()?);
    snapshot.load(&Footprint { first: true, ..Footprint::default() }, &mut slice)?;
    assert_eq!(slice.first_position(), oracle.plan.first_position());
    let mut slice = Plan::slice(snapshot.row()?);
    snapshot.load(&Footprint { todos: [todo.uid].into(), ..Footprint::default() }, &mut slice)?;
    assert_eq!(slice.all().collect::<Vec<_>>(), [todo]);
    Ok(())
}

fn pages(mut page: impl FnMut(Option<&Todo>) -> Result<Vec<Todo>, StoreError>) -> Result<Vec<Todo>, StoreError> {
    let mut out: Vec<Todo> = Vec::new();
    loop {
        let next = page(out.last())?;
        if next.is_empty() {
            return Ok(out);
        }
        out.extend(next);
    }
}
