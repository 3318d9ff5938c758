//! Results of checks on open todos, and what `done` needs in a plan that wants proof.

use punch_core::{
    Actor, Add, ApplyStop, Context, Edit, Evidence, Flags, Keep, MissingEvidence, Op, Plan, Policy, Ref, Status, Todo,
    Verify, VerifyMode, Warning, apply,
};

fn id() -> Ref {
    Ref::Id("T-1".into())
}

fn plan(verify: Option<&str>) -> Plan {
    let verify = verify.map(|line| Verify::Shell(line.into()));
    let edit = Edit { content: Keep::Set("one".into()), verify: Keep::Set(verify), ..Edit::default() };
    let mut plan = Plan::new();
    run(&mut plan, Op::Add(Add { edit, ..Add::default() }), Policy::default()).unwrap();
    plan
}

fn run(plan: &mut Plan, op: Op, policy: Policy) -> Result<Vec<Warning>, &'static str> {
    let now = plan.row.last_time + 60_000;
    let ctx = Context::new(now, Actor::user(), policy);
    match apply(plan, &[op], &ctx) {
        Ok(outcome) => {
            plan.commit(&outcome);
            Ok(outcome.warnings)
        }
        Err(ApplyStop::Refused(refusals)) => Err(refusals[0].code()),
        Err(ApplyStop::Need(need)) => panic!("{need:?}"),
    }
}

fn todo(plan: &Plan) -> &Todo {
    plan.by_id("T-1").unwrap()
}

fn check(command: &str, exit: Option<i32>, output: &str) -> Op {
    let command = Some(Verify::Shell(command.into()));
    let found = Evidence { text: Some(output.into()), command, exit_code: exit, ..Evidence::default() };
    Op::RecordCheck { target: id(), found }
}

fn done(text: Option<&str>) -> Op {
    let evidence = text.map(|text| Evidence { text: Some(text.into()), ..Evidence::default() });
    Op::Done { target: id(), evidence, fence: None }
}

const WANTS: Policy = Policy { verify: VerifyMode::Command, ..NATIVE };
const STRICT: Policy = Policy { missing_evidence: MissingEvidence::Refuse, ..WANTS };
const NATIVE: Policy = Policy {
    start_gate: punch_core::StartGate::Strict,
    in_progress: punch_core::InProgressLimit::One,
    on_cycle: punch_core::OnCycle::Refuse,
    missing_dep: punch_core::MissingDep::Refuse,
    cancelled_dep: punch_core::CancelledDep::Block,
    on_remove: punch_core::OnRemove::Detach,
    dep_on_running: punch_core::DepOnRunning::Keep,
    verify: VerifyMode::Claim,
    missing_evidence: MissingEvidence::Mark,
    attempts: punch_core::Attempts(punch_core::ATTEMPTS),
};

#[test]
fn a_failed_check_is_stored_with_the_open_todo_and_only_the_last_one_in_a_row() {
    let mut plan = plan(Some("make"));
    for (n, exit) in [Some(1), None, Some(2)].into_iter().enumerate() {
        run(&mut plan, check("make", exit, &format!("try {n}")), NATIVE).unwrap();
    }
    let todo = todo(&plan);
    assert_eq!((todo.status, todo.evidence.len()), (Status::Pending, 1));
    let last = todo.failed_check().unwrap();
    assert_eq!((last.exit_code, last.text.as_deref(), last.at), (Some(2), Some("try 2"), 240_000));
    assert_eq!(plan.row.revision, 4, "each is an event");
}

#[test]
fn a_check_of_another_command_or_of_a_closed_todo_says_nothing() {
    let mut plan = plan(Some("make"));
    run(&mut plan, check("make test", Some(1), ""), NATIVE).unwrap();
    assert_eq!(todo(&plan).evidence, []);
    run(&mut plan, check("make", Some(1), ""), NATIVE).unwrap();
    let edit = Edit { verify: Keep::Set(Some(Verify::Shell("make test".into()))), ..Edit::default() };
    run(&mut plan, Op::Edit(id(), edit), NATIVE).unwrap();
    assert_eq!(todo(&plan).last_check(), None, "what its old command found is not a check of the new one");
    run(&mut plan, Op::Drop(id()), NATIVE).unwrap();
    let revision = plan.row.revision;
    run(&mut plan, check("make test", Some(1), ""), NATIVE).unwrap();
    assert_eq!(plan.row.revision, revision);
}

#[test]
fn done_after_a_failed_check_warns_with_what_failed_and_when() {
    let mut plan = plan(Some("make"));
    run(&mut plan, check("make", Some(2), ""), NATIVE).unwrap();
    let warnings = run(&mut plan, done(None), NATIVE).unwrap();
    let messages: Vec<String> = warnings.iter().map(Warning::message).collect();
    assert_eq!(messages, ["`T-1` is marked done, but its check `make` failed with exit code 2 1 minute ago"]);
    assert_eq!(todo(&plan).status, Status::Completed);
}

#[test]
fn where_the_plan_wants_a_check_a_failed_one_refuses() {
    let mut plan = plan(Some("make"));
    run(&mut plan, check("make", Some(2), ""), WANTS).unwrap();
    for policy in [WANTS, STRICT] {
        assert_eq!(run(&mut plan, done(Some("it works")), policy), Err("needs_verification"));
    }
}

#[test]
fn a_todo_without_a_command_needs_evidence_in_words() {
    let mut plan = plan(None);
    assert_eq!(run(&mut plan, done(None), STRICT), Err("needs_evidence"));
    assert_eq!(run(&mut plan, done(Some("  \n")), STRICT), Err("needs_evidence"), "blanks are not words");
    run(&mut plan, done(Some("looked at it")), STRICT).unwrap();
    let todo = todo(&plan);
    assert_eq!((todo.status, todo.flags), (Status::Completed, Flags::default()));
}

#[test]
fn a_dialect_without_evidence_completes_it_as_unchecked() {
    let mut plan = plan(None);
    let warnings = run(&mut plan, done(None), WANTS).unwrap();
    assert_eq!(warnings, [Warning::Unchecked { id: "T-1".into() }]);
    assert!(todo(&plan).flags.unchecked);
    run(&mut plan, done(None), STRICT).unwrap();
    assert!(todo(&plan).flags.unchecked, "saying it again adds nothing");
    run(&mut plan, done(Some("looked at it")), STRICT).unwrap();
    assert!(!todo(&plan).flags.unchecked, "evidence that comes later takes the mark away");
    assert_eq!(todo(&plan).evidence.len(), 1);
    run(&mut plan, Op::Reopen(id()), WANTS).unwrap();
    run(&mut plan, done(None), NATIVE).unwrap();
    assert!(!todo(&plan).flags.unchecked, "where the plan asks for nothing, nothing is marked");
}

#[test]
fn what_arrives_completed_is_unchecked_too() {
    let edit = Edit { content: Keep::Set("two".into()), ..Edit::default() };
    let add = Op::Add(Add { edit, status: Status::Completed, ..Add::default() });
    let mut plan = Plan::new();
    assert_eq!(run(&mut plan, add.clone(), STRICT), Err("needs_evidence"));
    run(&mut plan, add, WANTS).unwrap();
    assert!(todo(&plan).flags.unchecked);
}

#[test]
fn what_a_worker_reported_is_evidence_for_the_runner() {
    let report = |text: Option<&str>| match done(text) {
        Op::Done { target, evidence, fence } => Op::Report { target, evidence, fence },
        op => op,
    };
    for (text, unchecked) in [(Some("12 tests pass"), false), (None, true)] {
        let mut plan = plan(None);
        run(&mut plan, Op::Start(id()), WANTS).unwrap();
        run(&mut plan, report(text), WANTS).unwrap();
        run(&mut plan, done(None), WANTS).unwrap();
        assert_eq!(todo(&plan).flags.unchecked, unchecked);
    }
}
