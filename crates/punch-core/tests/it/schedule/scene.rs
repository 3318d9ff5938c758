//! Plans to schedule, written down as what a checker needs to know about them.

use proptest::prelude::*;
use punch_core::schedule::ScheduleRequest;
use punch_core::{
    Actor, Add, Complexity, Context, Edit, Hold, HoldKind, Keep, Op, Plan, Policy, Ref, StartGate, Status, apply,
};
use punch_testkit::work::Piece;

/// The time of everything.
pub const NOW: i64 = 1_000;

/// One todo.
#[derive(Clone, Debug)]
pub struct Task {
    pub tokens: u64,
    pub priority: u8,
    pub deps: Vec<usize>,
    pub files: Vec<&'static str>,
    pub status: Status,
    pub held: bool,
}

impl Task {
    pub fn is_open(&self) -> bool {
        matches!(self.status, Status::Pending | Status::InProgress)
    }
}

/// Few todos with everything that can stand in the way of one.
pub fn tasks() -> impl Strategy<Value = Vec<Task>> {
    let status = prop_oneof![
        12 => Just(Status::Pending),
        1 => Just(Status::InProgress),
        2 => Just(Status::Completed),
        1 => Just(Status::Cancelled),
    ];
    let files = prop::sample::subsequence(vec!["src/a.rs", "src/*", "docs/x", "docs"], 0..2);
    let files = prop_oneof![3 => Just(vec![]), 2 => files];
    let deps = prop::collection::vec(any::<prop::sample::Index>(), 0..3);
    let held = prop::bool::weighted(0.05);
    let tokens = prop_oneof![1 => Just(0u64), 9 => 1u64..60];
    let task = (tokens, 1u8..=5, deps, files, status, held);
    prop::collection::vec(task, 0..16).prop_map(|tasks| {
        let mut out = Vec::new();
        for (at, (tokens, priority, deps, files, status, held)) in tasks.into_iter().enumerate() {
            let mut deps: Vec<usize> = if at == 0 { vec![] } else { deps.iter().map(|d| d.index(at)).collect() };
            deps.sort_unstable();
            deps.dedup();
            let held = held && status == Status::Pending;
            out.push(Task { tokens, priority, deps, files, status, held });
        }
        out
    })
}

pub fn asks() -> impl Strategy<Value = ScheduleRequest> {
    let context = prop_oneof![0u64..40, 60u64..300];
    (1u32..5, context, any::<bool>()).prop_map(|(agents, context, skip_optional)| ScheduleRequest {
        agents,
        context,
        skip_optional,
        oversize: true,
        ..ScheduleRequest::default()
    })
}

/// From a seeded plan.
pub fn of_pieces(pieces: &[Piece]) -> Vec<Task> {
    let tokens = |word: &str| Complexity::parse(word).unwrap().tokens();
    let task = |piece: &Piece| Task {
        tokens: tokens(piece.complexity),
        priority: piece.priority,
        deps: piece.deps.clone(),
        files: vec![],
        status: Status::Pending,
        held: false,
    };
    pieces.iter().map(task).collect()
}

/// The plan with these todos, `0`, `1`, … by id.
pub fn plan(tasks: &[Task]) -> Plan {
    let mut ops: Vec<Op> = tasks
        .iter()
        .enumerate()
        .map(|(at, task)| {
            let edit = Edit {
                content: Keep::Set(format!("task {at}")),
                depends_on: Keep::Set(task.deps.iter().map(|dep| Ref::New(*dep)).collect()),
                priority: Keep::Set(task.priority),
                estimated_tokens: Keep::Set(Some(task.tokens)),
                files: Keep::Set(task.files.iter().map(|file| (*file).to_owned()).collect()),
                ..Edit::default()
            };
            Op::Add(Add { id: Some(at.to_string()), edit, ..Add::default() })
        })
        .collect();
    for (at, task) in tasks.iter().enumerate() {
        let target = Ref::New(at);
        match task.status {
            Status::Pending if task.held => {
                let hold =
                    Hold { kind: HoldKind::Human, reason: "ask".into(), until: None, by: "test".into(), at: NOW };
                ops.push(Op::Hold(target, hold));
            }
            Status::Pending => {}
            Status::InProgress => ops.push(Op::Start(target)),
            Status::Completed => ops.push(Op::Done { target, evidence: None, fence: None }),
            Status::Cancelled => ops.push(Op::Drop(target)),
            Status::Failed => unreachable!(),
        }
    }
    let policy =
        Policy { start_gate: StartGate::Warn, in_progress: punch_core::InProgressLimit::Any, ..Policy::default() };
    let context = Context::new(NOW, Actor::parse("test", None), policy);
    let mut plan = Plan::new();
    let outcome = apply(&plan, &ops, &context).unwrap();
    plan.commit(&outcome);
    plan
}

/// The best priority among itself and the open todos that wait for it.
pub fn effective(tasks: &[Task]) -> Vec<u8> {
    let mut out: Vec<u8> = tasks.iter().map(|task| task.priority).collect();
    for at in (0..tasks.len()).rev().filter(|at| tasks[*at].is_open()) {
        for dep in tasks[at].deps.iter().copied().filter(|dep| tasks[*dep].is_open()) {
            out[dep] = out[dep].min(out[at]);
        }
    }
    out
}

/// Can be worked on: open, not held, and nothing it needs is held or given up.
pub fn workable(tasks: &[Task], skip_optional: bool) -> Vec<bool> {
    let effective = effective(tasks);
    let mut out = Vec::new();
    for (at, task) in tasks.iter().enumerate() {
        let met = |dep: &usize| match tasks[*dep].status {
            Status::Completed => true,
            Status::Pending | Status::InProgress => out[*dep],
            Status::Cancelled | Status::Failed => false,
        };
        let skipped = skip_optional && effective[at] == 5;
        out.push(task.is_open() && !task.held && !skipped && task.deps.iter().all(met));
    }
    out
}
