//! Batches of ops that mostly make sense: ids from a small pool, so that they meet.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use punch_core::{
    Add, CancelledDep, DepOnRunning, Edit, Hold, HoldKind, InProgressLimit, Keep, ListPosition, MissingDep, OnCycle,
    OnRemove, Op, PhaseRef, Policy, Ref, StartGate, Status,
};

/// One call: what, by whom, how long after the last one, under which policy.
#[derive(Clone, Debug)]
pub struct Call {
    pub ops: Vec<Op>,
    pub owner: Option<&'static str>,
    pub pause: i64,
    pub policy: Policy,
}

pub fn calls(count: usize) -> impl Strategy<Value = Vec<Call>> {
    vec(call(), 1..count)
}

fn call() -> impl Strategy<Value = Call> {
    let ops = prop_oneof![
        9 => vec(op(), 1..4),
        1 => (0..12u64).prop_map(|at| vec![Op::Undo { revision: (at > 0).then_some(at), any: true }]),
        1 => Just(vec![Op::Redo]),
    ];
    let owner = prop_oneof![Just(None), Just(Some("ann")), Just(Some("bob"))];
    (ops, owner, 0..4_000i64, policy()).prop_map(|(ops, owner, pause, policy)| Call { ops, owner, pause, policy })
}

fn policy() -> impl Strategy<Value = Policy> {
    let lenient = Policy {
        start_gate: StartGate::Warn,
        in_progress: InProgressLimit::Any,
        on_cycle: OnCycle::Suspend,
        missing_dep: MissingDep::Dangle,
        on_remove: OnRemove::Dangle,
        dep_on_running: DepOnRunning::Demote,
        ..Policy::default()
    };
    prop_oneof![2 => Just(lenient), 1 => Just(Policy::default())]
}

fn id() -> impl Strategy<Value = String> {
    // A quote, a NUL and letters outside ASCII must not matter to a store.
    prop_oneof![
        4 => (1..9u8).prop_map(|n| format!("T-{n}")),
        4 => proptest::sample::select(vec!["a", "b", "c'", "d\0", "ü"]).prop_map(str::to_owned),
    ]
}

fn target() -> impl Strategy<Value = Ref> {
    id().prop_map(Ref::Id)
}

fn place() -> impl Strategy<Value = ListPosition> {
    prop_oneof![
        3 => Just(ListPosition::End),
        1 => Just(ListPosition::First),
        1 => target().prop_map(ListPosition::Before),
        1 => target().prop_map(ListPosition::After),
    ]
}

fn hold() -> impl Strategy<Value = Hold> {
    let kind = prop_oneof![Just((HoldKind::Human, None)), (0..20_000i64).prop_map(|t| (HoldKind::Timer, Some(t)))];
    kind.prop_map(|(kind, until)| Hold { kind, reason: "so".into(), until, by: String::new(), at: 0 })
}

fn keep<T: Clone + std::fmt::Debug>(inner: impl Strategy<Value = T>) -> impl Strategy<Value = Keep<T>> {
    option::of(inner).prop_map(Keep::from_option)
}

fn edit() -> impl Strategy<Value = Edit> {
    let phase = proptest::sample::select(vec!["one", "two"]).prop_map(|name| Some(PhaseRef::Name(name.into())));
    let fields = (keep("[a-z ]{0,6}"), keep(vec(target(), 0..3)), vec(target(), 0..2), keep(phase), keep(1..6u8));
    fields.prop_map(|(content, depends_on, blocks, phase, priority)| Edit {
        content,
        depends_on,
        blocks,
        phase,
        priority,
        ..Edit::default()
    })
}

fn op() -> impl Strategy<Value = Op> {
    let status = prop_oneof![8 => Just(Status::Pending), 1 => Just(Status::InProgress), 1 => Just(Status::Completed)];
    let add = (option::of(id()), edit(), place(), status, option::weighted(0.1, hold()))
        .prop_map(|(id, edit, place, status, hold)| Op::Add(Add { id, edit, place, status, hold, ..Add::default() }));
    let rename = (target(), id()).prop_map(|(r, id)| Op::Edit(r, Edit { id: Keep::Set(id), ..Edit::default() }));
    let until = 0..40_000i64;
    let policy = prop_oneof![Just(CancelledDep::Block), Just(CancelledDep::Satisfy), Just(CancelledDep::Cascade)];
    prop_oneof![
        8 => add,
        3 => (target(), edit()).prop_map(|(r, edit)| Op::Edit(r, edit)),
        2 => rename,
        3 => target().prop_map(Op::Start),
        3 => (target(), until.clone()).prop_map(|(r, until)| Op::Claim(r, until)),
        2 => (target(), until).prop_map(|(r, until)| Op::Renew(r, until)),
        5 => target().prop_map(|target| Op::Done { target, evidence: None, fence: None }),
        1 => target().prop_map(Op::Drop),
        1 => target().prop_map(|r| Op::Fail(r, "broke".into())),
        2 => target().prop_map(Op::Reopen),
        2 => (target(), hold()).prop_map(|(r, hold)| Op::Hold(r, hold)),
        1 => target().prop_map(Op::Release),
        1 => target().prop_map(Op::Block),
        2 => target().prop_map(Op::Rm),
        1 => target().prop_map(|r| Op::Note(r, "noted\nin two lines".into())),
        2 => (target(), place()).prop_map(|(r, place)| Op::Move(r, place)),
        1 => vec(target(), 0..4).prop_map(Op::Arrange),
        1 => policy.prop_map(|cancelled_dep| Op::SetPolicy(Policy { cancelled_dep, ..Policy::default() })),
    ]
}
