//! What people and the world do to a plan during a run: edited, added, removed, done; the store gone, locked,
//! read-only.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Child;

use super::Stage;
use crate::world::finished;

/// A run whose agent has begun; it continues when it gets the signal `go`.
fn begun(stage: &Stage, more: &[&str]) -> Child {
    let run = stage.command(more).spawn().unwrap();
    stage.wait_for("the agent", || !stage.trace("begun").is_empty());
    run
}

fn ended(stage: &Stage, run: Child, exit: i32) -> crate::punch::Run {
    let run = finished(run.wait_with_output().unwrap());
    assert_eq!((run.exit, stage.alive().len()), (Some(exit), 0), "{}", run.render());
    run
}

#[test]
fn a_todo_that_is_removed_while_an_agent_works_on_it_ends_that_agent() {
    let stage = Stage::new();
    stage.add(&["hang on", "work"]);
    let run = stage.command(&["--agents", "2"]).spawn().unwrap();
    stage.wait_for("both agents", || stage.trace("begun").len() == 2);
    stage.world.ok(&["rm", "T-1"]);
    let run = ended(&stage, run, 0);
    assert!(run.stderr.contains("T-1 was returned to the queue: it was removed from the plan"), "{}", run.render());
}

#[test]
fn todos_that_are_added_while_a_run_goes_on_are_worked_on_too() {
    let stage = Stage::new();
    stage.add(&["grow it"]);
    stage.ends(&[], 0);
    assert_eq!((stage.status("T-2").as_str(), stage.trace("done")), ("completed", vec!["T-1".into(), "T-2".into()]));
}

#[test]
fn a_store_that_is_gone_for_a_while_is_waited_for() {
    let stage = Stage::new();
    stage.add(&["slow 0.3 a", "work b"]);
    let run = stage.command(&[]).spawn().unwrap();
    stage.wait_for("the agent", || !stage.trace("begun").is_empty());
    let (here, away) = (stage.world.project.join(".punch"), stage.world.project.join("away"));
    fs::rename(&here, &away).unwrap();
    stage.wait_for("the work", || !stage.trace("done").is_empty());
    fs::rename(&away, &here).unwrap();
    let run = finished(run.wait_with_output().unwrap());
    assert_eq!((run.exit, stage.alive().len()), (Some(0), 0), "{}", run.render());
    assert_eq!((stage.status("T-1"), stage.status("T-2")), ("completed".into(), "completed".into()));
}

#[test]
fn a_command_that_is_given_to_a_todo_meanwhile_decides_about_it() {
    let stage = Stage::new();
    stage.add(&["await go; work", "work"]);
    let run = begun(&stage, &[]);
    stage.world.ok(&["edit", "T-1", "--verify", "test -e made-T-2"]);
    stage.world.punch(&["verify", "--allow", "T-1"]);
    stage.signal("go");
    let run = ended(&stage, run, 1);
    assert!(
        run.stdout.contains("T-1 failed: the check of `T-1` failed (exit code 1): `test -e made-T-2`"),
        "{}",
        run.render()
    );
    assert_eq!((stage.todo("T-1")["attempts"].as_u64(), stage.status("T-2")), (Some(2), "completed".into()));
}

#[test]
fn a_command_that_nobody_agreed_to_holds_a_todo_for_a_person() {
    let stage = Stage::new();
    stage.add(&["await go; work"]);
    let run = begun(&stage, &[]);
    stage.world.ok(&["edit", "T-1", "--verify", "touch ran"]);
    stage.signal("go");
    let run = ended(&stage, run, 1);
    assert!(run.stdout.contains("T-1") && run.stdout.contains("\nstalled: run 1, 0 completed"), "{}", run.render());
    let todo = stage.todo("T-1");
    assert_eq!((&todo["status"], &todo["hold"]["kind"]), (&"blocked".into(), &"human".into()), "{todo}");
    assert!(!stage.world.project.join("ran").exists());
}

#[test]
fn a_todo_that_a_person_completes_or_cancels_ends_its_agent_and_counts_once() {
    let stage = Stage::new();
    stage.add(&["hang on", "hang on too", "work"]);
    let run = stage.command(&["--agents", "2"]).spawn().unwrap();
    stage.wait_for("both agents", || stage.trace("begun").len() == 2);
    // What a worker has belongs to no other agent; a user may end its claim.
    assert_eq!(stage.world.refused(&["done", "T-1", "--owner", "other"]).0, 1);
    stage.world.ok(&["done", "T-1"]);
    stage.world.ok(&["drop", "T-2"]);
    let run = ended(&stage, run, 0);
    assert!(run.stderr.contains("T-1 was returned to the queue: someone has completed it"), "{}", run.render());
    assert!(run.stderr.contains("T-2 was returned to the queue: it was cancelled"), "{}", run.render());
    assert!(run.stdout.ends_with("done: run 1, 1 completed, tokens not reported (counted as 20,000), 1 turn\n"));
    assert_eq!((stage.status("T-1"), stage.status("T-3")), ("completed".into(), "completed".into()));
}

#[test]
fn a_todo_that_a_person_takes_over_is_not_completed_by_the_agent_that_had_it() {
    let stage = Stage::new();
    stage.add(&["await go; work", "work"]);
    let mut command = stage.command(&["--agents", "2"]);
    command.env("PUNCH_RUN_IDLE", "300ms");
    let run = command.spawn().unwrap();
    stage.wait_for("both agents", || stage.trace("begun").len() == 2);
    stage.world.ok(&["reopen", "T-1"]);
    stage.world.ok(&["claim", "T-1", "--owner", "me"]);
    stage.signal("go");
    let run = ended(&stage, run, 1);
    assert!(run.stderr.contains("T-1 was returned to the queue: someone else has it now"), "{}", run.render());
    let todo = stage.todo("T-1");
    assert_eq!((&todo["status"], &todo["owner"]), (&"in_progress".into(), &"me".into()), "{todo}");
    assert_eq!(stage.status("T-2"), "completed");
}

#[test]
fn dependencies_that_are_changed_meanwhile_hold() {
    let stage = Stage::new();
    stage.add(&["await go; work", "work", "work"]);
    stage.world.ok(&["edit", "T-3", "--needs", "T-1"]);
    let run = stage.command(&[]).spawn().unwrap();
    stage.wait_for("the agent", || !stage.trace("begun").is_empty());
    stage.world.ok(&["edit", "T-2", "--needs", "T-3"]);
    stage.signal("go");
    ended(&stage, run, 0);
    assert_eq!(stage.trace("done"), ["T-1", "T-3", "T-2"]);
}

#[test]
fn a_store_that_cannot_be_written_for_a_while_is_waited_for_and_the_check_is_not_repeated() {
    let stage = Stage::new();
    stage.world.ok(&["add", "work", "--verify", "echo x >> \"$TRACES/checks\"; [ ! -e hold ] || sleep 0.2"]);
    stage.world.punch(&["verify", "--allow", "T-1"]);
    stage.world.ok(&["reopen", "T-1"]);
    stage.signal("checks");
    // A writer that does not let go: the check is over, and cannot be written down.
    let store = stage.world.store();
    fs::write(stage.world.project.join("hold"), "").unwrap();
    let run = stage.command(&[]).spawn().unwrap();
    stage.wait_for("the check", || stage.trace("checks").len() == 1);
    let away = stage.world.root.join("away");
    fs::rename(store.parent().unwrap(), &away).unwrap();
    stage.wait_for("three seconds of trouble", {
        let since = std::time::Instant::now();
        move || since.elapsed().as_millis() > 3_000
    });
    fs::rename(&away, store.parent().unwrap()).unwrap();
    let run = ended(&stage, run, 0);
    assert_eq!((stage.status("T-1").as_str(), stage.trace("checks").len()), ("completed", 1), "{}", run.render());
    assert!(run.stderr.contains("the store does not answer, trying again"), "{}", run.render());
}

/// As root nothing is read-only: then this is a run like any other.
#[test]
fn a_store_that_is_read_only_for_a_while_is_waited_for() {
    let stage = Stage::new();
    stage.add(&["await go; work", "work"]);
    let run = begun(&stage, &[]);
    let store = stage.world.store();
    let folder = store.parent().unwrap().to_owned();
    let mode = |path: &std::path::Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    mode(&store, 0o400);
    mode(&folder, 0o500);
    stage.signal("go");
    stage.wait_for("the work", || !stage.trace("done").is_empty());
    mode(&folder, 0o700);
    mode(&store, 0o600);
    ended(&stage, run, 0);
    assert_eq!((stage.status("T-1"), stage.status("T-2")), ("completed".into(), "completed".into()));
    stage.world.sound();
}
