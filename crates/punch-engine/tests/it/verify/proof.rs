//! What `done` needs, and under which conditions a check counts.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use punch_core::{Edit, Keep, Op, Ref, Status, Verify};
use punch_engine::{Checker, WriteRequest};

use super::{NEVER, World, code, shell};

#[test]
fn a_check_that_passes_finishes_with_its_evidence() {
    let world = World::with("printf hello");
    world.done().unwrap();
    let todo = world.todo();
    assert_eq!(todo.status, Status::Completed);
    let [evidence] = todo.evidence.as_slice() else { panic!("{:?}", todo.evidence) };
    assert_eq!(evidence.exit_code, Some(0));
    assert_eq!(evidence.command, Some(shell("printf hello")));
    assert_eq!(evidence.text.as_deref(), Some("hello"));
    let hash = "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    assert_eq!(evidence.output_hash.as_deref(), Some(hash));
    assert_eq!(evidence.commit, Some(world.sandbox.git("p", &["rev-parse", "HEAD"])));
    assert!(evidence.at > 0);
}

#[test]
fn a_check_that_fails_leaves_the_todo_open_and_shows_the_end_of_its_output() {
    let world = World::with("echo one; echo two >&2; exit 7");
    let error = world.done().unwrap_err();
    assert_eq!(error.code(), "verify_failed");
    assert_eq!(error.message(), "the check of `T-1` failed (exit code 7): `echo one; echo two >&2; exit 7`\none\ntwo");
    assert_eq!(error.hint(), "fix the problem, then run `punch verify T-1`");
    assert_eq!(world.status(), Status::Pending);
}

#[test]
fn of_many_lines_the_last_are_shown() {
    let error = World::with("seq 1 3000; exit 1").done().unwrap_err().message();
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!((lines.len(), lines[2], lines[51]), (52, "2951", "3000"));
    assert!(lines[1].starts_with("… ") && lines[1].ends_with(" earlier lines"), "{}", lines[1]);
}

#[test]
fn a_command_without_consent_never_runs() {
    let world = World::new();
    world.add("touch ran");
    assert_eq!(code(world.done()), "needs_consent");
    let nowhere = Checker { consents: None, ..world.checker(Duration::from_secs(60), NEVER) };
    assert_eq!(code(world.done_with(&nowhere)), "needs_consent");
    assert!(!world.root.join("ran").exists());
    world.consents().give(&shell("touch ran")).unwrap();
    world.done().unwrap();
    assert!(world.root.join("ran").exists(), "it runs at the top of the worktree");
}

#[test]
fn consent_to_one_command_is_none_to_what_it_is_changed_to() {
    let world = World::with("true");
    let edit = Edit { verify: Keep::Set(Some(shell("true; touch ran"))), ..Edit::default() };
    world.submit(&[Op::Edit(Ref::Id("T-1".into()), edit)]).unwrap();
    assert_eq!(code(world.done()), "needs_consent");
    assert!(!world.root.join("ran").exists());
}

/// Does something while the check runs.
fn meanwhile(world: &World, what: &(dyn Fn() + Sync)) -> &'static str {
    let first = AtomicBool::new(true);
    let stopped = || {
        if first.swap(false, Ordering::Relaxed) {
            what();
            std::fs::write(world.root.join("go"), "").unwrap();
        }
        false
    };
    code(world.done_with(&world.checker(Duration::from_secs(60), &stopped)))
}

#[test]
fn a_command_that_changed_while_it_ran_does_not_count() {
    let world = World::with("while [ ! -e go ]; do :; done");
    let edit = Edit { verify: Keep::Set(Some(shell("false"))), ..Edit::default() };
    let change = || drop(world.submit(&[Op::Edit(Ref::Id("T-1".into()), edit.clone())]).unwrap());
    assert_eq!(meanwhile(&world, &change), "needs_verification");
    assert_eq!(world.status(), Status::Pending);
}

#[test]
fn a_claim_while_it_ran_makes_the_check_too_late() {
    let world = World::with("while [ ! -e go ]; do :; done");
    let claim = || {
        let uid = world.todo().uid;
        world.engine.claim(world.plan, &WriteRequest::by("other", Some("other")), uid, 60_000_000).unwrap();
    };
    assert_eq!(meanwhile(&world, &claim), "stale_fence");
    assert_eq!(world.status(), Status::InProgress);
}

#[test]
fn what_is_refused_anyway_is_not_checked() {
    let world = World::with("touch ran");
    let uid = world.todo().uid;
    world.engine.claim(world.plan, &WriteRequest::by("other", Some("other")), uid, 60_000_000).unwrap();
    assert_eq!(code(world.done()), "leased");
    assert!(!world.root.join("ran").exists());
}

#[test]
fn what_waits_for_another_is_not_checked() {
    let world = World::new();
    world.add("true");
    world.add("touch ran");
    world.consents().give(&shell("touch ran")).unwrap();
    let edit = Edit { depends_on: Keep::Set(vec![Ref::Id("T-1".into())]), ..Edit::default() };
    world.submit(&[Op::Edit(Ref::Id("T-2".into()), edit)]).unwrap();
    let refused = world.engine.proving(world.plan, &world.checker(Duration::from_secs(60), NEVER), |_| {
        world.submit(&[Op::Done { target: Ref::Id("T-2".into()), evidence: None, fence: None }])
    });
    assert_eq!(code(refused), "not_ready");
    assert!(!world.root.join("ran").exists());
}

#[test]
fn what_the_worker_says_is_kept_beside_what_the_check_printed() {
    let world = World::with("echo fine");
    let checker = world.checker(Duration::from_secs(60), NEVER);
    let said = punch_core::Evidence { text: Some("looked at it".into()), ..Default::default() };
    world
        .engine
        .proving(world.plan, &checker, |proofs| {
            let done = Op::Done { target: Ref::Uid(world.todo().uid), evidence: Some(said.clone()), fence: None };
            world.submit(&[proofs.complete(done, None)])
        })
        .unwrap();
    assert_eq!(world.todo().evidence[0].text.as_deref(), Some("looked at it\nfine"));
}

#[test]
fn arguments_are_not_read_by_a_shell() {
    let world = World::new();
    let command = Verify::Argv(vec!["test".into(), "$(touch ran)".into(), "=".into(), "$(touch ran)".into()]);
    world.add("x");
    let edit = Edit { verify: Keep::Set(Some(command.clone())), ..Edit::default() };
    world.submit(&[Op::Edit(Ref::Id("T-1".into()), edit)]).unwrap();
    world.consents().give(&command).unwrap();
    world.done().unwrap();
    assert!(!world.root.join("ran").exists());
}

#[test]
fn a_commit_made_while_it_ran_is_not_the_one_that_was_checked() {
    let commit = "git -c user.name=t -c user.email=t@example.org commit -q --allow-empty -m y";
    let world = World::with(commit);
    world.done().unwrap();
    assert_eq!(world.todo().evidence[0].commit, None);
}

#[test]
fn every_result_is_stored_with_the_open_todo() {
    let world = World::with("cat result; exit $(cat code)");
    let tries = [("1", "first\n"), ("7", "second\n")];
    for (code, output) in tries {
        std::fs::write(world.root.join("code"), code).unwrap();
        std::fs::write(world.root.join("result"), output).unwrap();
        world.done().unwrap_err();
    }
    let todo = world.todo();
    assert_eq!(todo.status, Status::Pending);
    let [check] = todo.evidence.as_slice() else { panic!("the last one in a row: {:?}", todo.evidence) };
    assert_eq!((check.exit_code, check.text.as_deref()), (Some(7), Some("second")));
    assert_eq!(check.commit, Some(world.sandbox.git("p", &["rev-parse", "HEAD"])));
    assert!(check.at > 0 && check.output_hash.is_some());
    std::fs::write(world.root.join("code"), "0").unwrap();
    world.done().unwrap();
    let todo = world.todo();
    assert_eq!(todo.evidence.iter().map(|e| e.exit_code).collect::<Vec<_>>(), [Some(7), Some(0)]);
    assert!(todo.last_check().unwrap().passed() && todo.failed_check().is_none());
}

#[test]
fn a_check_that_did_not_finish_is_stored_and_one_that_did_not_run_is_not() {
    let world = World::with("echo begun; sleep 1000");
    assert_eq!(code(world.done_with(&world.checker(Duration::from_millis(700), NEVER))), "verify_timeout");
    let todo = world.todo();
    let check = todo.failed_check().unwrap();
    assert_eq!((check.exit_code, check.text.as_deref()), (None, Some("begun\n(stopped after 700ms)")));
    let world = World::new();
    world.add("true");
    assert_eq!(code(world.done()), "needs_consent");
    assert_eq!(world.todo().evidence, []);
    let world = World::with("sleep 1000");
    assert_eq!(code(world.done_with(&world.checker(Duration::from_secs(60), &|| true))), "verify_stopped");
    assert_eq!(world.todo().evidence, [], "what was stopped from outside counts as not run");
}

#[test]
fn a_check_that_passes_is_stored_although_done_is_refused_for_another_reason() {
    let world = World::with("while [ ! -e go ]; do :; done");
    let claim = || {
        let uid = world.todo().uid;
        world.engine.claim(world.plan, &WriteRequest::by("other", Some("other")), uid, 60_000_000).unwrap();
    };
    assert_eq!(meanwhile(&world, &claim), "stale_fence");
    assert!(world.todo().last_check().unwrap().passed());
    assert_eq!(world.status(), Status::InProgress);
}

#[test]
fn a_long_output_is_cut_before_it_is_stored() {
    let world = World::with("head -c 30000 /dev/zero | tr '\\0' x; echo; echo last; exit 1");
    world.done().unwrap_err();
    let todo = world.todo();
    let text = todo.evidence[0].text.as_deref().unwrap();
    assert!(text.len() <= 4 * 1024 && text.ends_with("x\nlast"), "{}", text.len());
}
