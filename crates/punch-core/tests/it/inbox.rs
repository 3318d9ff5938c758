//! The inbox: what is in it, in which order, and how many todos wait for each item.

use std::collections::BTreeSet;

use insta::assert_snapshot;
use proptest::prelude::*;
use punch_core::inbox::{
    Approval, ApprovalFact, FileConflictFact, InboxFacts, InboxItem, InboxKind, LimitSpending, QuestionFact, RunFact,
    SeenFact, StoppedFact, WorkerFact, inbox,
};
use punch_core::view::Cap;
use punch_core::view::inbox::{capped, count, full};
use punch_core::view::spans;
use punch_core::{Dep, Hold, HoldKind, Label, Plan, RunOutcome, Status, Uid, text};
use punch_testkit::batches::{batch, sequences};
use punch_testkit::inbox::needs;

use crate::pair::Pair;
use crate::sample::{Sample, hold, text as any_text, waits};

const NOW: i64 = 10_000_000;

fn facts(plan: &Plan) -> InboxFacts<'_> {
    InboxFacts {
        plan,
        plan_name: "main",
        plan_flag: None,
        questions: &[],
        file_conflicts: &[],
        approvals: &[],
        runs: &[],
        fleet: None,
        workers: &[],
        stopped: &[],
        unread_failures: &[],
        quiet_after: 900_000,
        seen: None,
        last_by_user: false,
        now: NOW,
    }
}

fn plan() -> Plan {
    let mut plan = Sample::new()
        .with(0, Status::Failed, "Port the store", |t| {
            t.last_error = Some("the tests do not pass\nat all".into());
            t.finished_at = Some(7);
        })
        .with(0, Status::Pending, "Write the docs", |t| t.hold = Some(hold("which color?")))
        .with(0, Status::Pending, "Ship", |t| waits(t, &[1, 4]))
        .with(0, Status::Cancelled, "Old road", |t| t.finished_at = Some(3))
        .with(0, Status::Pending, "After the ship", |t| waits(t, &[3]))
        .with(0, Status::Pending, "Lost", |t| {
            t.depends_on = vec![Dep::Dangling("gone one".into())];
            t.derived.unmet = 1;
        })
        .with(0, Status::InProgress, "Slow work", |t| t.owner = Some("claude".into()))
        .plan;
    for (uid, level) in [(3, 2), (5, 3)] {
        let mut todo = plan.get(Uid(uid)).unwrap().clone();
        todo.derived.level = level;
        plan.put(todo);
    }
    plan
}

#[test]
fn an_agent_that_stopped_is_news_while_work_is_left_and_until_the_user_looks() {
    let stopped = [StoppedFact { name: "claude".into(), because: "this turn did not touch the plan".into(), at: 9 }];
    let quiet = |plan: &Plan, seen: Option<i64>| {
        let seen = seen.map(|at| SeenFact { revision: 1, at });
        let items = inbox(&InboxFacts { stopped: &stopped, seen, ..facts(plan) });
        items.into_iter().filter(|item| item.kind == InboxKind::Quiet).map(|item| item.text).collect::<Vec<_>>()
    };
    let mut open = Sample::new().todo(0, Status::Pending, "Ship").plan;
    open.row.counts.pending = 1;
    let text = "claude stopped with work left: this turn did not touch the plan";
    assert_eq!((quiet(&open, None), quiet(&open, Some(8))), (vec![text.to_owned()], vec![text.to_owned()]));
    assert_eq!(quiet(&open, Some(9)), [""; 0]);
    assert_eq!(quiet(&Sample::new().todo(0, Status::Completed, "Ship").plan, None), [""; 0]);
}

#[test]
fn a_todo_that_no_worker_can_take_is_stuck() {
    let plan = Sample::new()
        .with(0, Status::Pending, "Train", |todo| todo.labels = labels(&["runs-on:gpu", "runs-on:linux", "ml"]))
        .todo(0, Status::Pending, "Anywhere")
        .plan;
    let stuck = |fleet: Option<&[BTreeSet<Label>]>| {
        let items = inbox(&InboxFacts { fleet, ..facts(&plan) });
        items.into_iter().map(|item| (item.kind, item.text)).collect::<Vec<_>>()
    };
    assert_eq!(stuck(None), [], "no fleet works on the plan");
    let text = "Train: no worker can take it: none has the label `gpu` and `linux`".to_owned();
    let apart = [labels(&["gpu"]), labels(&["linux"])];
    assert_eq!(stuck(Some(&apart)), [(InboxKind::Stuck, text.clone())], "one worker needs all of them");
    assert_eq!(stuck(Some(&[])), [(InboxKind::Stuck, text)]);
    assert_eq!(stuck(Some(&[labels(&["gpu", "linux", "mac"])])), []);
}

fn labels(words: &[&str]) -> BTreeSet<Label> {
    Label::parse_all(words.iter().copied()).unwrap()
}

#[test]
fn a_hold_because_of_a_conflict_is_a_conflict_and_other_holds_do_not_need_the_user() {
    let held = |kind| Sample::new().with(0, Status::Pending, "x", |t| t.hold = Some(Hold { kind, ..hold("why") })).plan;
    let kinds = |kind| inbox(&facts(&held(kind))).iter().map(|item| item.kind).collect::<Vec<_>>();
    for kind in HoldKind::ALL {
        let expected = match kind {
            HoldKind::Human => vec![InboxKind::Hold],
            HoldKind::Conflict => vec![InboxKind::Conflict],
            HoldKind::External | HoldKind::Timer | HoldKind::Job | HoldKind::Other | HoldKind::Parked => vec![],
            unknown => panic!("does `{}` need the user?", unknown.name()),
        };
        assert_eq!(kinds(kind), expected, "{}", kind.name());
    }
}

#[test]
fn everything_that_needs_the_user_is_listed_with_a_command() {
    let plan = plan();
    let question = QuestionFact {
        id: Some(1),
        agent: "claude".into(),
        text: "Allow `npm test`?".into(),
        todo: Some(Uid(5)),
        run: Some(3),
        since: 9,
    };
    let conflict = FileConflictFact { text: "status of T-2: the file says done".into(), todo: Some(Uid(2)), since: 8 };
    let approvals = [
        ApprovalFact { what: Approval::Check("make test".into()), todos: vec![Uid(3), Uid(5)], since: 4 },
        ApprovalFact { what: Approval::Setting("run.agent".into(), "my agent".into()), todos: vec![], since: 2 },
    ];
    let tokens =
        |used| LimitSpending { what: "tokens", text: format!("{used} of 100 tokens"), used, limit: 100, since: 5 };
    let run = RunFact { number: 3, spending: vec![tokens(81)], ..RunFact::default() };
    let unmerged = RunFact {
        number: 1,
        ended_at: Some(1),
        outcome: Some(RunOutcome::Done),
        unmerged: Some("punch/main-1/result".into()),
        ..RunFact::default()
    };
    let ended = RunFact {
        number: 2,
        ended_at: Some(6),
        outcome: Some(RunOutcome::Stalled),
        because: Some("T-1 failed".into()),
        revision: 4,
        ..RunFact::default()
    };
    let worker = WorkerFact { name: "claude".into(), todo: Some(Uid(7)), run: None, last_sign: NOW - 900_001 };
    let items = inbox(&InboxFacts {
        questions: &[question],
        file_conflicts: &[conflict],
        approvals: &approvals,
        runs: &[run, ended, unmerged],
        workers: &[worker],
        ..facts(&plan)
    });
    assert_snapshot!(spans::text(&full(&items)), @r#"
    question  T-5  After the ship: claude asks: Allow `npm test`?
              punch watch
    hold      T-2  Write the docs: which color?
              punch unhold T-2 --note '…'
    conflict  T-2  Write the docs: status of T-2: the file says done
              punch plan status
    failed    T-1  Port the store: the tests do not pass at all (blocks 2 open todos)
              punch reopen T-1
    stuck     T-4  Old road: cancelled, but other todos wait for it (blocks 2 open todos)
              punch reopen T-4
    stuck     T-6  Lost: waits for `gone one`, which does not exist (blocks 1 open todo)
              punch edit T-6 --drop-needs 'gone one'
    stuck     run 2 has stalled (T-1 failed)
              punch log --new
    approval  T-3  Ship: its check is not approved (1 more todo uses it): make test (blocks 2 open todos)
              punch verify --allow T-3
    approval  the setting `run.agent` of this project is not approved: my agent
              punch config set run.agent 'my agent'
    budget    run 3 has used 81% of its tokens: 81 of 100 tokens
              punch run show 3
    quiet     T-7  Slow work: no activity from claude; last seen 15 minutes ago
              punch show T-7
    finished  run 1 is done; its work on `punch/main-1/result` is not merged
              git merge punch/main-1/result
    "#);
    let kinds: Vec<InboxKind> = items.iter().map(|item| item.kind).collect();
    assert!(kinds.is_sorted() && InboxKind::ALL.iter().all(|kind| kinds.contains(kind)), "{kinds:?}");
    assert_snapshot!(capped(&items, Cap::new(5, 4_000)), @"
    question  T-5  After the ship: claude asks: Allow `npm test`?
    hold      T-2  Write the docs: which color?
    conflict  T-2  Write the docs: status of T-2: the file says done
    failed    T-1  Port the store: the tests do not pass at all (blocks 2 open todos)
    +8 more
    ");
}

#[test]
fn limits_and_silence_count_only_beyond_their_bounds() {
    let plan = Plan::new();
    let spending = |used| vec![LimitSpending { what: "tokens", text: String::new(), used, limit: 100, since: 5 }];
    let kinds = |runs: &[RunFact], workers: &[WorkerFact], seen| -> Vec<InboxKind> {
        inbox(&InboxFacts { runs, workers, seen, ..facts(&plan) }).iter().map(|item| item.kind).collect()
    };
    let run = |used| [RunFact { number: 1, spending: spending(used), ..RunFact::default() }];
    assert_eq!(kinds(&run(80), &[], None), []);
    assert_eq!(kinds(&run(81), &[], None), [InboxKind::Budget]);
    let worker = |last_sign| [WorkerFact { name: "x".into(), last_sign, ..WorkerFact::default() }];
    assert_eq!(kinds(&[], &worker(NOW - 900_000), None), []);
    assert_eq!(kinds(&[], &worker(NOW - 900_001), None), [InboxKind::Quiet]);
    let ended = |outcome| [RunFact { number: 1, ended_at: Some(50), outcome, revision: 3, ..RunFact::default() }];
    let seen = |revision, at| Some(SeenFact { revision, at });
    assert_eq!(kinds(&ended(Some(RunOutcome::Done)), &[], None), [InboxKind::Finished]);
    assert_eq!(kinds(&ended(Some(RunOutcome::Budget)), &[], None), [InboxKind::Budget]);
    assert_eq!(kinds(&ended(Some(RunOutcome::Done)), &[], seen(3, 50)), []);
    let budget = inbox(&InboxFacts { runs: &ended(Some(RunOutcome::Budget)), ..facts(&plan) });
    assert_eq!(budget[0].action, "punch log --new", "the command after which it is gone");
    assert_eq!(kinds(&ended(Some(RunOutcome::Budget)), &[], seen(3, 50)), []);
    assert_eq!(
        kinds(&ended(Some(RunOutcome::Done)), &[], seen(3, 49)),
        [InboxKind::Finished],
        "it ended after the look"
    );
    assert_eq!(kinds(&ended(Some(RunOutcome::Done)), &[], seen(2, 60)), [InboxKind::Finished], "set back");
}

#[test]
fn an_agent_that_asks_is_not_quiet() {
    let plan = plan();
    let kinds = |todo, asked| -> Vec<InboxKind> {
        let question = QuestionFact { todo: asked, ..QuestionFact::default() };
        let worker = WorkerFact { name: "x".into(), todo, ..WorkerFact::default() };
        let items = inbox(&InboxFacts { questions: &[question], workers: &[worker], ..facts(&plan) });
        items.iter().map(|item| item.kind).filter(|kind| *kind == InboxKind::Quiet).collect()
    };
    assert_eq!(kinds(Some(Uid(7)), Some(Uid(7))), []);
    assert_eq!(kinds(Some(Uid(7)), Some(Uid(6))), [InboxKind::Quiet]);
    assert_eq!(kinds(None, None), [InboxKind::Quiet], "neither is about a todo");
}

#[test]
fn a_finished_plan_is_in_the_inbox_until_it_is_looked_at() {
    let mut plan = Sample::new().todo(0, Status::Completed, "a").todo(0, Status::Cancelled, "b").plan;
    (plan.row.counts.completed, plan.row.counts.cancelled, plan.row.revision) = (1, 1, 5);
    let texts = |plan: &Plan, seen| -> Vec<String> {
        inbox(&InboxFacts { seen, ..facts(plan) }).into_iter().map(|item| item.text).collect()
    };
    assert_eq!(texts(&plan, None), ["the plan `main` is finished: 1 of 1 done"]);
    assert_eq!(texts(&plan, Some(SeenFact { revision: 4, at: NOW })).len(), 1);
    assert_eq!(texts(&plan, Some(SeenFact { revision: 5, at: 0 })), [""; 0]);
    assert_eq!(inbox(&InboxFacts { last_by_user: true, ..facts(&plan) }), []);
    plan.row.counts.pending = 1;
    assert_eq!(texts(&plan, None), [""; 0]);
    (plan.row.counts.pending, plan.row.counts.failed) = (0, 1);
    assert_eq!(texts(&plan, None), [""; 0], "a plan with a failed todo is not finished");
    assert_eq!(texts(&Plan::new(), None), [""; 0]);
}

#[test]
fn an_empty_inbox_says_so_and_counts_are_in_words() {
    assert_eq!(spans::text(&full(&[])), "Nothing needs you.");
    assert_eq!(capped(&[], Cap::default()), "Nothing needs the user.");
    assert_eq!(count(1), "1 thing needs you: `punch inbox`");
    assert_eq!(count(3), "3 things need you: `punch inbox`");
}

#[test]
fn commands_name_the_plan_where_they_would_mean_another_one() {
    let plan = plan();
    let items = inbox(&InboxFacts { plan_flag: Some("my plan"), ..facts(&plan) });
    assert_eq!(items[0].action, "punch unhold T-2 --plan 'my plan' --note '…'");
}

/// Sorted as promised.
fn ordered(items: &[InboxItem]) -> bool {
    items.is_sorted_by_key(|item| (item.kind, std::cmp::Reverse(item.blocks), item.since))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_inbox_of_a_plan_is_that_of_the_naive_model(choices in sequences(12)) {
        let mut pair = Pair::new();
        for bytes in &choices {
            let batch = batch(bytes, &pair.model);
            let _ = pair.run(&batch).map_err(TestCaseError::fail)?;
        }
        let items = inbox(&InboxFacts { now: pair.model.now, ..facts(&pair.plan) });
        prop_assert!(ordered(&items), "{items:?}");
        let mut found: Vec<_> = items
            .iter()
            .filter(|item| item.kind != InboxKind::Finished)
            .map(|item| (item.kind.name(), item.todo.clone().unwrap_or_default(), item.blocks as usize))
            .collect();
        found.sort();
        prop_assert_eq!(found, needs(&pair.model, "reported as blocked"));
    }

    #[test]
    fn no_text_breaks_a_line_or_a_command(content in any_text(), id in any_text(), other in any_text()) {
        let mut plan = Sample::new().with(0, Status::Failed, &content, |t| t.last_error = Some(other.clone())).plan;
        let mut todo = plan.get(Uid(1)).unwrap().clone();
        todo.id.clone_from(&id);
        plan.put(todo);
        let question = QuestionFact { agent: other.clone(), text: content.clone(), todo: Some(Uid(1)), ..Default::default() };
        let worker = WorkerFact { name: other.clone(), ..Default::default() };
        let approval = ApprovalFact { what: Approval::Check(other.clone()), todos: vec![Uid(1)], since: 0 };
        let setting = ApprovalFact { what: Approval::Setting(id.clone(), other.clone()), todos: vec![], since: 0 };
        let items = inbox(&InboxFacts {
            plan_name: &other,
            plan_flag: Some(&id),
            questions: &[question],
            workers: &[worker],
            approvals: &[approval, setting],
            ..facts(&plan)
        });
        prop_assert_eq!(items.len(), 5);
        for item in &items {
            prop_assert_eq!(text::neutral(&item.text), item.text.as_str());
            prop_assert_eq!(text::neutral(&item.action), item.action.as_str());
            prop_assert!(item.text.chars().count() <= 301);
        }
        prop_assert_eq!(full(&items).len(), 2 * items.len());
    }
}
