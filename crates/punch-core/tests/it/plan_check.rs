//! When the check of a whole plan is due.

use punch_core::{
    Actor, Context, Evidence, Op, Plan, Policy, Ref, Status, Verify, VerifyMode, apply, due_plan_check, is_plan_check,
};

use punch_core::{Add, Edit, Keep};

fn command() -> Verify {
    Verify::Shell("make".into())
}

struct Story {
    plan: Plan,
    now: i64,
}

impl Story {
    fn new(todos: &[&str]) -> Self {
        let mut story = Self { plan: Plan::default(), now: 1_000 };
        let add = |content: &&str| {
            Op::Add(Add { edit: Edit { content: Keep::Set((*content).into()), ..Edit::default() }, ..Add::default() })
        };
        story.ask(&todos.iter().map(add).collect::<Vec<_>>());
        story
    }

    fn ask(&mut self, ops: &[Op]) {
        self.now += 1;
        let policy = Policy { verify: VerifyMode::Claim, ..Policy::default() };
        let ctx = Context {
            now: self.now,
            actor: Actor::agent("claude", "s"),
            policy,
            lease: Context::LEASE,
            observed: Default::default(),
        };
        let outcome = apply(&self.plan, ops, &ctx).unwrap();
        self.plan.commit(&outcome);
    }

    fn done(&mut self, id: &str, evidence: Option<Evidence>) {
        self.ask(&[Op::Done { target: Ref::Id(id.into()), evidence, fence: None }]);
    }

    /// Asks for the check if it is due.
    fn checks(&mut self) -> bool {
        let ops = due_plan_check(&self.plan, &command());
        if !ops.is_empty() {
            self.ask(&ops);
        }
        !ops.is_empty()
    }

    fn passed() -> Option<Evidence> {
        Some(Evidence { command: Some(command()), exit_code: Some(0), ..Evidence::default() })
    }
}

#[test]
fn it_is_due_once_everything_is_done_and_again_after_more_was_done() {
    let mut story = Story::new(&["a", "b"]);
    assert!(!story.checks());
    story.done("T-1", None);
    assert!(!story.checks());
    story.done("T-2", None);
    assert!(story.checks());
    let check = story.plan.by_id("T-3").unwrap().clone();
    assert!(is_plan_check(&check) && check.flags.reported);
    assert_eq!((check.status, check.verify.clone()), (Status::InProgress, Some(command())));
    assert!(!story.checks(), "it is asked for already");
    story.done("T-3", Story::passed());
    assert!(!story.checks(), "it has passed");
    let more = Edit { content: Keep::Set("c".into()), ..Edit::default() };
    story.ask(&[Op::Add(Add { edit: more, ..Add::default() })]);
    assert!(!story.checks());
    story.done("T-4", None);
    assert!(story.checks());
    assert_eq!(story.plan.live().into_iter().filter(|todo| is_plan_check(todo)).count(), 1, "the same todo");
}

#[test]
fn a_word_does_not_settle_it_and_you_do() {
    let mut story = Story::new(&["a"]);
    story.done("T-1", None);
    assert!(story.checks());
    story.done("T-2", None);
    assert!(story.checks(), "nothing has passed");
    let failed = Evidence { exit_code: Some(1), ..Story::passed().unwrap() };
    story.ask(&[Op::Refute { target: Ref::Id("T-2".into()), found: failed }]);
    assert!(!story.checks(), "it is open");
    story.ask(&[Op::Drop(Ref::Id("T-2".into()))]);
    assert!(!story.checks(), "you do not want it");
}

#[test]
fn a_plan_with_a_failed_todo_or_without_a_completed_one_is_not_finished() {
    let mut story = Story::new(&["a", "b"]);
    story.ask(&[Op::Drop(Ref::Id("T-1".into())), Op::Drop(Ref::Id("T-2".into()))]);
    assert!(!story.checks());
    let mut story = Story::new(&["a", "b"]);
    story.done("T-1", None);
    for _ in 0..2 {
        story.ask(&[Op::Start(Ref::Id("T-2".into()))]);
        story.ask(&[Op::Fail(Ref::Id("T-2".into()), "no".into())]);
    }
    assert_eq!(story.plan.by_id("T-2").unwrap().status, Status::Failed);
    assert!(!story.checks());
}
