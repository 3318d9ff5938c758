//! A claim protects: what other agents and workers may not do, what a user may, and who is offered what.

use proptest::prelude::*;
use punch_core::{
    Actor, Add, ApplyStop, Context, Edit, EventKind, Hold, HoldKind, Keep, ListPosition, Op, Plan, Policy, Ref,
    Refusal, Status, Todo, TodoProgress, Warning, apply,
};
use punch_testkit::ask::{self, ModelBatch};
use punch_testkit::batches::{batch, sequences};

use crate::pair::Pair;

const NOW: i64 = 1_000;

/// Who has the todo `a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claim {
    Nobody,
    Document,
    User,
    Ann,
    AnnBefore,
}

fn target() -> Ref {
    Ref::Id("a".into())
}

fn context(actor: Actor, now: i64) -> Context {
    Context { lease: 100, ..Context::new(now, actor, Policy::default()) }
}

fn put(plan: &mut Plan, ops: &[Op], actor: Actor, now: i64) {
    let outcome = apply(plan, ops, &context(actor, now)).unwrap();
    plan.commit(&outcome);
}

fn add(id: &str, status: Status) -> Op {
    let edit = Edit { content: Keep::Set(id.into()), ..Edit::default() };
    Op::Add(Add { id: Some(id.into()), edit, status, ..Add::default() })
}

fn scene(claim: Claim) -> Plan {
    let mut plan = Plan::new();
    let status = if claim == Claim::Document { Status::InProgress } else { Status::Pending };
    put(&mut plan, &[add("a", status), add("b", Status::Pending)], Actor::user().without_claims(), 1);
    let start = [Op::Start(target())];
    match claim {
        Claim::Nobody | Claim::Document => {}
        Claim::User => put(&mut plan, &start, Actor::user(), 2),
        Claim::Ann => put(&mut plan, &start, Actor::agent("claude", "ann"), NOW - 1),
        Claim::AnnBefore => put(&mut plan, &start, Actor::agent("claude", "ann"), NOW - 200),
    }
    plan
}

/// Every op on the todo, and whether it says something about the work on it. The match keeps the list complete.
fn ops() -> Vec<(Op, bool)> {
    let hold = Hold { kind: HoldKind::Human, reason: "ask".into(), until: None, by: String::new(), at: 0 };
    let done = |fence| Op::Done { target: target(), evidence: None, fence };
    let all = vec![
        Op::Start(target()),
        Op::Claim(target(), NOW + 50),
        Op::Renew(target(), NOW + 500),
        Op::Unclaim(target()),
        Op::HandOver(target(), "bob".into()),
        done(None),
        Op::Report { target: target(), evidence: None, fence: None },
        Op::Vouch { target: target(), stale: true, evidence: None },
        Op::Restore {
            target: target(),
            work: Box::new(TodoProgress { status: Status::Cancelled, ..TodoProgress::default() }),
        },
        Op::Drop(target()),
        Op::Fail(target(), "broke".into()),
        Op::Reopen(target()),
        Op::Hold(target(), hold),
        Op::Release(target()),
        Op::Block(target()),
        Op::Rm(target()),
        Op::Edit(target(), Edit { priority: Keep::Set(1), ..Edit::default() }),
        Op::Note(target(), "n".into()),
        Op::Move(target(), ListPosition::End),
        Op::Arrange(vec![target()]),
    ];
    all.into_iter()
        .map(|op| {
            let work = match op {
                Op::Start(_) | Op::Claim(..) | Op::Renew(..) | Op::Unclaim(_) | Op::HandOver(..) | Op::Done { .. } => {
                    true
                }
                Op::Report { .. } | Op::Vouch { .. } | Op::Restore { .. } | Op::Drop(_) | Op::Fail(..) => true,
                Op::Reopen(_) | Op::Hold(..) | Op::Release(_) | Op::Block(_) | Op::Rm(_) => true,
                Op::Edit(..) | Op::Note(..) | Op::Move(..) | Op::Arrange(_) => false,
                Op::Add(_) | Op::Phases(_) | Op::SetPolicy(_) | Op::Undo { .. } | Op::Redo => false,
                Op::RecordCheck { .. } | Op::Refute { .. } => false,
            };
            (op, work)
        })
        .collect()
}

fn actors() -> Vec<Actor> {
    vec![
        Actor::user(),
        Actor::user().without_claims(),
        Actor::named_user("bob"),
        Actor::agent("codex", "bob"),
        Actor::worker("codex", "bob"),
        Actor::agent("codex", "run:1/1.1"),
        Actor::runner(1, Some("run:1/1.1")),
        Actor::runner(1, None),
        Actor::agent("claude", "ann"),
    ]
}

fn is_unnamed_user(actor: &Actor) -> bool {
    *actor == Actor::user() || *actor == Actor::user().without_claims()
}

/// Said in full, without a look at the code that decides it.
fn is_kept_out(claim: Claim, actor: &Actor) -> bool {
    match claim {
        Claim::Nobody | Claim::Document | Claim::AnnBefore => false,
        Claim::Ann => !is_unnamed_user(actor) && actor.owner() != Some("ann"),
        Claim::User => actor.owner().is_some(),
    }
}

fn work(todo: &Todo) -> (Status, bool, Option<String>, u64, Option<Hold>, Option<i64>) {
    let (owner, hold) = (todo.owner.clone(), todo.hold.clone());
    (todo.status, todo.is_live(), owner, todo.fence, hold, todo.lease_until)
}

#[test]
fn every_op_of_every_actor_in_every_state_of_a_claim() {
    for claim in [Claim::Nobody, Claim::Document, Claim::User, Claim::Ann, Claim::AnnBefore] {
        for actor in actors() {
            for (op, is_work) in ops() {
                let plan = scene(claim);
                let what = format!("{claim:?}, {actor:?}, {op:?}");
                let before = plan.by_id("a").unwrap().clone();
                let done = apply(&plan, std::slice::from_ref(&op), &context(actor.clone(), NOW));
                if is_work && is_kept_out(claim, &actor) {
                    let Err(ApplyStop::Refused(refusals)) = done else { panic!("{what}: {done:?}") };
                    let owner = (claim == Claim::Ann).then(|| "ann".to_owned());
                    let until = (claim == Claim::Ann).then_some(NOW + 99);
                    assert_eq!(refusals, [Refusal::Leased { id: "a".into(), owner, until, free: None }], "{what}");
                    continue;
                }
                let outcome = match done {
                    Ok(outcome) => outcome,
                    Err(ApplyStop::Refused(refusals)) => {
                        // A claim is only given on what is ready.
                        let claims = matches!(op, Op::Claim(..)) && before.status == Status::InProgress;
                        assert!(claims || refusals.iter().all(|r| r.code() != "leased"), "{what}: {refusals:?}");
                        continue;
                    }
                    Err(stop) => panic!("{what}: {stop:?}"),
                };
                let mut after = plan.clone();
                after.commit(&outcome);
                let ended = Warning::ClaimEnded { id: "a".into(), owner: "ann".into() };
                let overridden = claim == Claim::Ann
                    && is_unnamed_user(&actor)
                    && work(after.get(before.uid).unwrap()) != work(&before);
                assert_eq!(outcome.warnings.contains(&ended), overridden, "{what}: {:?}", outcome.warnings);
            }
        }
    }
}

#[test]
fn what_an_agent_starts_is_claimed_and_what_a_user_starts_is_too() {
    let todo = |claim| scene(claim).by_id("a").unwrap().clone();
    let ann = todo(Claim::Ann);
    assert_eq!((ann.owner.as_deref(), ann.lease_until, ann.fence), (Some("ann"), Some(NOW + 99), 1));
    let user = todo(Claim::User);
    assert_eq!((user.owner.as_deref(), user.lease_until, user.fence), (None, None, 1));
    assert!(user.is_claimed_by_user());
    assert!(!todo(Claim::Document).is_claimed_by_user());
    // A list that arrives with something in progress claims it as well.
    let mut plan = Plan::new();
    put(&mut plan, &[add("x", Status::InProgress)], Actor::agent("claude", "ann"), NOW);
    assert_eq!(plan.by_id("x").unwrap().lease_until, Some(NOW + 100));
}

#[test]
fn starting_again_prolongs_and_taking_over_makes_old_answers_late() {
    let mut plan = scene(Claim::Ann);
    put(&mut plan, &[Op::Start(target())], Actor::agent("claude", "ann"), NOW + 50);
    assert_eq!((plan.by_id("a").unwrap().lease_until, plan.by_id("a").unwrap().fence), (Some(NOW + 150), 1));
    // The lease runs out; until someone else claims it, the owner's late answer counts.
    let late = [Op::Done { target: target(), evidence: None, fence: Some(1) }];
    assert!(apply(&plan, &late, &context(Actor::agent("claude", "ann"), NOW + 500)).is_ok());
    put(&mut plan, &[Op::Start(target())], Actor::agent("codex", "bob"), NOW + 500);
    assert_eq!(plan.by_id("a").unwrap().owner.as_deref(), Some("bob"));
    let refused = apply(&plan, &late, &context(Actor::agent("claude", "ann"), NOW + 501));
    assert!(matches!(refused, Err(ApplyStop::Refused(r)) if r[0].code() == "stale_fence"));
}

#[test]
fn a_completed_todo_is_not_started_again_by_the_way() {
    let mut plan = scene(Claim::Nobody);
    put(&mut plan, &[Op::Done { target: target(), evidence: None, fence: None }], Actor::user(), NOW);
    for actor in [Actor::user(), Actor::agent("codex", "bob")] {
        let Err(ApplyStop::Refused(refusals)) = apply(&plan, &[Op::Start(target())], &context(actor, NOW)) else {
            panic!("started")
        };
        assert_eq!(refusals[0].code(), "transition");
        assert!(refusals[0].hint().contains("punch reopen a"), "{}", refusals[0].hint());
    }
}

#[test]
fn a_claim_that_is_given_back_is_free_and_to_be_resumed() {
    let mut plan = scene(Claim::Ann);
    put(&mut plan, &[Op::Unclaim(target())], Actor::agent("claude", "ann"), NOW);
    let todo = plan.by_id("a").unwrap();
    assert_eq!((todo.status, todo.flags.resume, todo.lease_until), (Status::Pending, true, None));
    put(&mut plan, &[Op::Start(target())], Actor::agent("codex", "bob"), NOW);
    assert_eq!(plan.by_id("a").unwrap().owner.as_deref(), Some("bob"));
}

#[test]
fn a_claim_that_is_handed_over_keeps_its_lease_and_fence() {
    let mut plan = scene(Claim::Ann);
    put(&mut plan, &[Op::HandOver(target(), "bob".into())], Actor::agent("claude", "ann"), NOW);
    let todo = plan.by_id("a").unwrap();
    assert_eq!((todo.owner.as_deref(), todo.lease_until, todo.fence), (Some("bob"), Some(NOW + 99), 1));
}

#[test]
fn no_undo_ends_the_claim_of_another_agent() {
    let mut plan = scene(Claim::Ann);
    let revision = plan.row.revision;
    let events = apply(&scene(Claim::Nobody), &[Op::Start(target())], &context(Actor::agent("claude", "ann"), NOW - 1));
    plan.put_events(revision, events.unwrap().events);
    let revert = [Op::Undo { revision: Some(revision), any: true }];
    let refused = apply(&plan, &revert, &context(Actor::agent("codex", "bob"), NOW));
    assert!(matches!(refused, Err(ApplyStop::Refused(r)) if r[0].code() == "leased"));
    let outcome = apply(&plan, &revert, &context(Actor::user(), NOW)).unwrap();
    assert_eq!(outcome.warnings, [Warning::ClaimEnded { id: "a".into(), owner: "ann".into() }]);
    assert!(outcome.events.iter().all(|event| event.kind == EventKind::Reverted));
    assert!(apply(&plan, &revert, &context(Actor::agent("claude", "ann"), NOW)).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever other agents ask for, the work on a claimed todo stays as it is while the lease lives.
    #[test]
    fn no_agent_changes_the_work_on_what_another_has_claimed(choices in sequences(16)) {
        let mut pair = Pair::new();
        for bytes in &choices {
            let batch: ModelBatch = batch(bytes, &pair.model);
            let claimed: Vec<Todo> = pair.plan.live().into_iter().cloned().collect();
            let _ = pair.run(&batch).map_err(TestCaseError::fail)?;
            let now = pair.model.now;
            let Some(owner) = &batch.owner else { continue };
            for todo in claimed.iter().filter(|todo| todo.leased_by_other(Some(owner), now)) {
                let after = pair.plan.get(todo.uid).unwrap();
                prop_assert_eq!(work(after), work(todo), "{:?} by {}", batch.asks, owner);
            }
        }
        prop_assert!(pair.model.items.iter().all(|item| item.status == ask::ModelStatus::Active || item.lease.is_none()));
    }
}
