//! The index of the core.

use punch_core::graph::{Edge, Index, Spec, State};
use punch_core::{Actor, Add, Context, Edit, Keep, Op, Plan, Policy, Ref, apply};

use crate::shape::{Random, Shape};
use crate::{Report, measured};

pub fn run(shape: &Shape, op: &str) -> Option<Report> {
    let specs: Vec<Spec> = (0..shape.len()).map(|n| spec(shape, n)).collect();
    let edges: Vec<Edge> = shape.edges().map(|(from, to)| Edge { from, to, suspended: false }).collect();
    if op == "build" {
        let index = measured(|| Index::build(&specs, &edges)).ok()?;
        return Some(Report { ops: specs.len(), bytes: Some(index.memory()) });
    }
    let mut index = Index::build(&specs, &edges).ok()?;
    drop((specs, edges));
    match op {
        "complete" => Some(complete(&mut index).into()),
        "last" => last(&mut index),
        "take" => Some(take(&mut index).into()),
        "append" => {
            let ops = append(shape, &mut index);
            Some(Report { ops, bytes: Some(index.memory() * shape.deps.len() / index.len()) })
        }
        "edge" | "near" => {
            let pairs = shape.pairs(op, 1_000);
            for &(from, to) in &pairs {
                let _ = measured(|| index.add_edge(from, to));
            }
            Some(pairs.len().into())
        }
        "apply" => whole_apply(shape),
        _ => None,
    }
}

fn spec(shape: &Shape, n: u32) -> Spec {
    Spec { position: n.into(), priority: shape.priorities[n as usize], ..Spec::default() }
}

/// Completes everything in order of the ready set; choosing is not counted.
fn complete(index: &mut Index) -> usize {
    let mut freed = Vec::with_capacity(index.len());
    let mut ops = 0;
    while let Some(n) = index.first_ready() {
        freed.clear();
        measured(|| index.set_status(n, State::DONE, &mut freed));
        ops += 1;
    }
    ops
}

/// Completes everything but counts only the last one: nothing open is left, so every pull in the plan changes.
fn last(index: &mut Index) -> Option<Report> {
    let mut freed = Vec::with_capacity(index.len());
    for _ in 1..index.len() {
        let n = index.first_ready()?;
        index.set_status(n, State::DONE, &mut freed);
    }
    let n = index.first_ready()?;
    measured(|| index.set_status(n, State::DONE, &mut freed));
    Some(1.into())
}

/// Like [`complete`], with choosing: what a worker's "done, what next?" costs.
fn take(index: &mut Index) -> usize {
    let mut freed = Vec::with_capacity(index.len());
    let mut ops = 0;
    let mut next = index.first_ready();
    while let Some(n) = next {
        freed.clear();
        next = measured(|| {
            index.set_status(n, State::DONE, &mut freed);
            index.first_ready()
        });
        ops += 1;
    }
    ops
}

fn append(shape: &Shape, index: &mut Index) -> usize {
    let mut random = Random(3);
    let count = 1_000;
    for _ in 0..count {
        let deps = shape.new_deps(&mut random);
        let spec = Spec { position: index.len() as i64, ..Spec::default() };
        measured(|| index.append(&spec, &deps));
    }
    count
}

/// "Complete one" through `apply` with its events, on a whole plan: what every change pays before anything is stored.
/// Taking the outcome over is not counted.
fn whole_apply(shape: &Shape) -> Option<Report> {
    let ctx = Context::new(1, Actor::parse("bench", None), Policy::default());
    let mut plan = Plan::new();
    let outcome = apply(&plan, &adds(shape), &ctx).ok()?;
    plan.commit(&outcome);
    let count = outcome.added.len().min(1_000);
    // Dependencies have lower numbers, so in this order everything is ready when its turn comes.
    for uid in outcome.added.iter().take(count) {
        let done = [Op::Done { target: Ref::Uid(*uid), evidence: None, fence: None }];
        let outcome = measured(|| apply(&plan, &done, &ctx)).ok()?;
        plan.commit(&outcome);
    }
    Some(count.into())
}

fn adds(shape: &Shape) -> Vec<Op> {
    let add = |(n, deps): (usize, &Vec<u32>)| {
        let edit = Edit {
            content: Keep::Set(format!("Todo number {n} of the plan")),
            depends_on: Keep::Set(deps.iter().map(|d| Ref::New(*d as usize)).collect()),
            priority: Keep::Set(shape.priorities[n]),
            ..Edit::default()
        };
        Op::Add(Add { edit, ..Add::default() })
    };
    shape.deps.iter().enumerate().map(add).collect()
}
