//! A slice that has loaded what was asked for gives the same outcome as the whole plan.

use proptest::prelude::*;
use punch_core::{
    Actor, Add, ApplyStop, Context, Edit, Footprint, Keep, Op, Outcome, Plan, Policy, Ref, Refusal, Status, Todo, Uid,
    apply,
};
use punch_testkit::batches::{batch, sequences};

use crate::bridge;
use crate::pair::Pair;

/// Loads from a whole plan what was asked for, and counts rows.
struct Loader<'a> {
    whole: &'a Plan,
    slice: Plan,
    rows: std::collections::BTreeSet<Uid>,
    rounds: usize,
    everything: bool,
}

impl<'a> Loader<'a> {
    fn new(whole: &'a Plan) -> Self {
        let slice = Plan::slice(whole.row.clone());
        Self { whole, slice, rows: std::collections::BTreeSet::new(), rounds: 0, everything: false }
    }

    fn put(&mut self, todo: Option<&Todo>) {
        if let Some(todo) = todo {
            self.rows.insert(todo.uid);
            self.slice.put(todo.clone());
        }
    }

    fn load(&mut self, need: Footprint) {
        let whole = self.whole;
        for id in &need.ids {
            self.put(whole.by_id(id));
        }
        for uid in &need.todos {
            self.put(whole.get(*uid));
        }
        for uid in &need.dependents {
            for dependent in whole.dependents_of(*uid).unwrap() {
                self.put(whole.get(*dependent));
            }
        }
        for owner in &need.running {
            for todo in whole.running_of(owner.as_deref()).unwrap() {
                self.put(Some(todo));
            }
        }
        if need.all_running {
            whole.running().for_each(|todo| self.put(Some(todo)));
        }
        if need.first {
            self.put(whole.live().first().copied());
        }
        for id in &need.dangling {
            for uid in whole.waiting_for_id(id).unwrap() {
                self.put(whole.get(*uid));
            }
        }
        for revision in &need.revisions {
            if let Some(events) = whole.events(*revision) {
                self.slice.put_events(*revision, events.to_vec());
            }
        }
        if need.all {
            self.everything = true;
            whole.all().for_each(|todo| self.put(Some(todo)));
        }
        self.slice.mark_loaded(need);
    }

    fn run(&mut self, ops: &[Op], ctx: &Context) -> Result<Outcome, Vec<Refusal>> {
        self.load(Footprint::of(ops));
        loop {
            match apply(&self.slice, ops, ctx) {
                Ok(outcome) => return Ok(outcome),
                Err(ApplyStop::Refused(refusals)) => return Err(refusals),
                Err(ApplyStop::Need(_)) if self.rounds == 8 => self.load(Footprint::everything()),
                Err(ApplyStop::Need(need)) => self.load(*need),
            }
            self.rounds += 1;
            assert!(self.rounds < 12, "a slice with everything still asks");
        }
    }
}

/// Suggestions come from what is loaded; everything else is the same.
fn without_near(refusals: Vec<Refusal>) -> Vec<Refusal> {
    let strip = |refusal| match refusal {
        Refusal::UnknownTodo { id, .. } => Refusal::UnknownTodo { id, near: Vec::new() },
        Refusal::UnknownDependency { id, missing, .. } => Refusal::UnknownDependency { id, missing, near: Vec::new() },
        other => other,
    };
    refusals.into_iter().map(strip).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_slice_gives_what_the_whole_plan_gives(choices in sequences(14)) {
        let mut pair = Pair::new();
        for bytes in &choices {
            let batch = batch(bytes, &pair.model);
            let whole = pair.plan.clone();
            let got = pair.run(&batch).map_err(TestCaseError::fail)?;
            let ctx = bridge::context(&batch, pair.model.now);
            let mut loader = Loader::new(&whole);
            let sliced = loader.run(&bridge::ops(&batch), &ctx);
            prop_assert_eq!(sliced.map_err(without_near), got.map_err(without_near));
        }
    }

    #[test]
    fn a_slice_undoes_what_the_whole_plan_undoes(choices in sequences(10), which in any::<prop::sample::Index>()) {
        let mut pair = Pair::new();
        for bytes in &choices {
            let batch = batch(bytes, &pair.model);
            let _ = pair.run(&batch).map_err(TestCaseError::fail)?;
        }
        let revision = which.index(pair.plan.row.revision as usize + 1) as u64;
        for events in pair.log.chunk_by(|a, b| a.revision == b.revision) {
            pair.plan.put_events(events[0].revision, events.to_vec());
        }
        let ctx = Context::new(pair.model.now, Actor::parse("test", None), Policy::default());
        let ops = [Op::Undo { revision: Some(revision), any: false }];
        let undone = bridge::submit(&pair.plan, &ops, &ctx);
        prop_assert_eq!(&Loader::new(&pair.plan).run(&ops, &ctx), &undone);
        if let Ok(outcome) = undone {
            pair.plan.commit(&outcome);
            crate::pair::rederived(&pair.plan).map_err(TestCaseError::fail)?;
        }
    }
}

const WIDTH: u64 = 50;

/// 2,000 todos in 40 layers, each with three dependencies in the layer below; the first layers are done.
fn layers() -> Plan {
    let mut plan = Plan::new();
    let id = |n: u64| format!("n{n}");
    let adds: Vec<Op> = (0..2_000)
        .map(|n| {
            let layer = n / WIDTH;
            let below = |k: u64| Ref::Id(id((layer - 1) * WIDTH + (n * 7 + k * 13) % WIDTH));
            let deps = if layer == 0 { Vec::new() } else { (0..3).map(below).collect() };
            let status = if layer < 10 { Status::Completed } else { Status::Pending };
            let edit = Edit { content: Keep::Set(id(n)), depends_on: Keep::Set(deps), ..Edit::default() };
            Op::Add(Add { id: Some(id(n)), edit, status, ..Add::default() })
        })
        .collect();
    let outcome = bridge::submit(&plan, &adds, &context()).unwrap();
    plan.commit(&outcome);
    plan
}

fn context() -> Context {
    Context::new(1, Actor::parse("test", None), Policy::default())
}

#[test]
fn small_writes_to_a_large_plan_load_few_rows() {
    let mut plan = layers();
    let target = || Ref::Id("n520".to_owned());
    let last = || Ref::Id("n1999".to_owned());
    let done = |target| Op::Done { target, evidence: None, fence: None };
    let add = |deps: &[&str], priority| {
        let deps = deps.iter().map(|id| Ref::Id((*id).to_owned())).collect();
        let edit = Edit { depends_on: Keep::Set(deps), priority: Keep::Set(priority), ..Edit::default() };
        Op::Add(Add { edit, ..Add::default() })
    };
    let content = Edit { content: Keep::Set("new".to_owned()), ..Edit::default() };
    let renamed = Edit { id: Keep::Set("other".to_owned()), ..Edit::default() };
    let rewired =
        Edit { depends_on: Keep::Set(vec![Ref::Id("n460".to_owned()), Ref::Id("n461".to_owned())]), ..Edit::default() };
    let writes: [(&str, Op); 13] = [
        ("start", Op::Start(target())),
        ("edit of a running one", Op::Edit(target(), content.clone())),
        ("done", done(target())),
        ("reopen", Op::Reopen(target())),
        ("edit", Op::Edit(Ref::Id("n700".to_owned()), content)),
        ("rename", Op::Edit(Ref::Id("n701".to_owned()), renamed)),
        ("rewire", Op::Edit(Ref::Id("n521".to_owned()), rewired)),
        ("add", add(&[], 3)),
        ("add with three dependencies", add(&["n1999", "n700", "n502"], 3)),
        ("note", Op::Note(last(), "remark".to_owned())),
        ("drop", Op::Drop(last())),
        ("rm", Op::Rm(last())),
        ("start of another", Op::Start(Ref::Id("n530".to_owned()))),
    ];
    let mut seen = Vec::new();
    for (what, op) in writes {
        let ops = [op];
        let mut loader = Loader::new(&plan);
        let outcome = loader.run(&ops, &context()).unwrap_or_else(|refusals| panic!("{what}: {refusals:?}"));
        let (rows, rounds, everything) = (loader.rows.len(), loader.rounds, loader.everything);
        seen.push(format!("{what}: {rows} rows in {rounds} rounds"));
        assert!(!everything && rows <= 60, "{what} loads {rows} rows in {rounds} rounds, everything: {everything}");
        plan.commit(&outcome);
    }
    crate::pair::rederived(&plan).unwrap_or_else(|what| panic!("{what}"));
    assert!(seen.len() == 13, "{seen:#?}");
}

#[test]
fn undoing_a_small_write_to_a_large_plan_loads_few_rows() {
    let mut plan = layers();
    let target = || Ref::Id("n520".to_owned());
    let content = Edit { content: Keep::Set("new".to_owned()), ..Edit::default() };
    let add = Edit { depends_on: Keep::Set(vec![Ref::Id("n700".to_owned())]), ..Edit::default() };
    let writes: [(&str, Op); 6] = [
        ("start", Op::Start(target())),
        ("done", Op::Done { target: target(), evidence: None, fence: None }),
        ("reopen", Op::Reopen(target())),
        ("edit", Op::Edit(Ref::Id("n700".to_owned()), content)),
        ("add", Op::Add(Add { edit: add, ..Add::default() })),
        ("rm", Op::Rm(Ref::Id("n1999".to_owned()))),
    ];
    for (what, op) in writes {
        let outcome = bridge::submit(&plan, &[op], &context()).unwrap();
        plan.commit(&outcome);
        plan.put_events(outcome.plan.revision, outcome.events);
        for undo in [Op::Undo { revision: None, any: false }, Op::Redo] {
            let mut loader = Loader::new(&plan);
            let outcome = loader.run(&[undo], &context()).unwrap_or_else(|refusals| panic!("{what}: {refusals:?}"));
            let (rows, rounds) = (loader.rows.len(), loader.rounds);
            assert!(!loader.everything && rows <= 60, "undoing {what} loads {rows} rows in {rounds} rounds");
            plan.commit(&outcome);
            plan.put_events(outcome.plan.revision, outcome.events);
            crate::pair::rederived(&plan).unwrap_or_else(|wrong| panic!("{what}: {wrong}"));
        }
    }
}
