//! Runs that go well, and what they are refused for.

use serde_json::Value;

use super::Stage;
use crate::world::World;

#[test]
fn a_plan_is_worked_to_its_end_in_the_order_of_its_dependencies() {
    let stage = Stage::new();
    stage.add(&["work one", "work two"]);
    stage.world.ok(&["add", "work three", "--needs", "T-1", "--needs", "T-2"]);
    stage.world.ok(&["add", "work four", "--needs", "T-3"]);
    let run = stage.ends(&["--agents", "2", "--json"], 0);
    let events: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(events.iter().all(|event| event["schema"] == 1));
    assert_eq!(events[0]["event"], "begun");
    let last = events.last().unwrap();
    assert_eq!((&last["event"], &last["outcome"], &last["completed"]), (&"ended".into(), &"done".into(), &4.into()));
    let order = stage.trace("order");
    assert_eq!(order[4..], ["begin T-3", "end T-3", "begin T-4", "end T-4"]);
    let told = stage.world.ok(&["runs"]);
    assert!(told.contains("done") && told.contains("80,000 tokens (estimated), 4 turns"), "{told}");
    let story = stage.world.ok(&["runs", "show", "1"]);
    for part in ["run 1: done", "works on T-4", "T-4 is reported as done", "T-4 is done: ", "T-4: 20,000 tokens"] {
        assert!(story.contains(part), "{part}\n{story}");
    }
    assert_eq!(stage.world.json(&["runs", "show", "1"])["ledger"].as_array().unwrap().len(), 4);
    assert_eq!(stage.world.refused(&["runs", "show", "9"]), (1, "unknown_run".into()));
    stage.world.sound();
    // Nothing is left to do: a run that is over at once.
    assert!(stage.ends(&[], 0).stdout.ends_with("done: run 2, nothing to run: no todo is open\n"));
}

#[test]
fn what_fails_is_tried_once_more_with_the_failure_told_and_the_rest_goes_on() {
    let stage = Stage::new();
    stage.add(&["learn it", "refuse it", "work on"]);
    stage.world.ok(&["add", "work behind it", "--needs", "T-2"]);
    stage.world.ok(&["edit", "T-1", "--verify", "test -e made-T-1"]);
    stage.world.punch(&["verify", "--allow", "T-1"]);
    let run = stage.ends(&["--agents", "2"], 1);
    assert!(
        run.stdout.starts_with("  T-2 failed: exit code 7: I cannot do this\nstalled: run 1, 2 completed"),
        "{}",
        run.render()
    );
    let again = "T-1 failed, retrying: the check of `T-1` failed (exit code 1): `test -e made-T-1`";
    assert!(run.stderr.contains(again), "{}", run.render());
    let todo = stage.todo("T-1");
    assert_eq!((&todo["status"], &todo["attempts"]), (&"completed".into(), &1.into()));
    assert_eq!((stage.status("T-2"), stage.status("T-3")), ("failed".into(), "completed".into()));
    let count = |id: &str| stage.trace("begun").iter().filter(|line| *line == id).count();
    assert_eq!((count("T-1"), count("T-2"), count("T-3"), count("T-4")), (2, 2, 1, 0));
}

#[test]
fn a_run_that_fails_the_last_of_a_batch_leaves_a_checkpoint() {
    let stage = Stage::on(World::with_git());
    stage.add(&["work on", "refuse it"]);
    stage.world.ok(&["next", "--budget", "100000"]);
    stage.ends(&["--agents", "1"], 1);
    assert_eq!((stage.status("T-1"), stage.status("T-2")), ("completed".into(), "failed".into()));
    let saved = stage.world.json(&["checkpoint", "show"])["checkpoint"].clone();
    assert_eq!((&saved["why"], &saved["todos"]["failed"]), (&"batch".into(), &serde_json::json!(["T-2"])));
    assert_eq!(saved["git"]["commit"].as_str().map(str::len), Some(40));
}

#[test]
fn todos_that_touch_the_same_files_are_never_worked_on_at_once() {
    let stage = Stage::new();
    for n in 0..3 {
        stage.world.ok(&["add", &format!("slow 0.05 {n}"), "--files", "src/**"]);
    }
    stage.ends(&["--agents", "3"], 0);
    let order = stage.trace("order");
    assert_eq!(order.len(), 6);
    for pair in order.chunks(2) {
        assert_eq!(pair[0].strip_prefix("begin "), pair[1].strip_prefix("end "), "{order:?}");
    }
}

#[test]
fn a_second_runner_of_the_same_plan_is_refused_and_one_of_another_plan_is_not() {
    let stage = Stage::new();
    stage.add(&["hang on"]);
    let mut first = stage.command(&[]).spawn().unwrap();
    stage.wait_for("the first agent", || !stage.trace("begun").is_empty());
    let second = stage.run(&["--json"]);
    assert_eq!(second.exit, Some(3), "{}", second.render());
    assert!(second.stdout.contains("run_taken") && second.stdout.contains(&first.id().to_string()));
    stage.world.ok(&["plan", "new", "other"]);
    stage.world.ok(&["add", "work", "--plan", "other"]);
    let other = stage.run(&["--plan", "other"]);
    assert_eq!(other.exit, Some(0), "{}", other.render());
    first.kill().unwrap();
    first.wait().unwrap();
    stage.all_gone();
}

#[test]
fn nothing_is_started_that_could_not_be_verified_in_the_end() {
    let stage = Stage::new();
    stage.world.ok(&["add", "work", "--verify", "rm -rf /"]);
    let run = stage.ends(&["--json"], 1);
    assert!(run.stdout.contains("needs_consent") && run.stdout.contains("rm -rf /"), "{}", run.render());
    assert!(run.stdout.contains("punch verify --allow T-1"), "{}", run.render());
    assert_eq!((stage.trace("begun").len(), stage.world.ok(&["runs"]).contains("No runs yet")), (0, true));
    let dry = stage.ends(&["--dry-run", "--agents", "2"], 0);
    assert!(dry.stdout.contains("checks that need your approval: T-1"), "{}", dry.stdout);
    assert_eq!(stage.trace("begun").len(), 0);
}

#[test]
fn arguments_that_make_no_sense_are_refused_before_anything_happens() {
    let stage = Stage::new();
    let world = &stage.world;
    assert_eq!(world.refused(&["run"]), (2, "usage".into()));
    assert_eq!(world.refused(&["run", "--agent", "gpt"]), (2, "usage".into()));
    assert_eq!(world.refused(&["run", "--agent", "exec:"]), (2, "usage".into()));
    assert_eq!(world.refused(&["run", "--agent", "exec:true", "--agents", "many"]).0, 2);
    assert_eq!(world.refused(&["run", "--agent", "exec:true", "--max-time", "soon"]).0, 2);
    assert_eq!(world.refused(&["run", "--agent", "exec:true"]), (1, "no_plan".into()));
    world.ok(&["config", "set", "run.agent", "exec:true"]);
    stage.add(&["anything"]);
    assert!(world.ok(&["run"]).starts_with("done: run 1, 1 completed"));
}

#[test]
fn a_run_names_what_it_leaves_open() {
    let stage = Stage::new();
    stage.add(&["work on it"]);
    stage.world.ok(&["add", "nice to have", "--priority", "5"]);
    let run = stage.run(&["--skip-optional"]);
    assert_eq!(run.exit, Some(0), "{}", run.render());
    assert!(run.stdout.contains("  optional, so left open: T-2\n"), "{}", run.render());
    stage.world.ok(&["add", "huge", "--tokens", "900000"]);
    let run = stage.run(&["--skip-optional"]);
    assert_eq!(run.exit, Some(1), "{}", run.render());
    let huge = "  T-3 (larger than a context window: 900,000 of 140,000 tokens); split it, or run with `--oversize`\n";
    assert!(run.stdout.contains(huge), "{}", run.render());
}

#[test]
fn a_program_finds_the_exact_id_of_its_todo_in_its_environment() {
    let stage = Stage::new();
    let long = "long".repeat(50);
    stage.world.ok(&["add", "work", "--id", &long]);
    stage.world.ok(&["run", "--agent", "exec:printf %s \"$PUNCH_TODO\" > id"]);
    assert_eq!(std::fs::read_to_string(stage.world.project.join("id")).unwrap(), long);
}

#[test]
fn a_todo_is_tried_as_often_as_the_settings_say() {
    for (attempts, value) in [(1, Some("1")), (3, None), (4, Some("4"))] {
        let stage = Stage::new();
        stage.add(&["refuse it"]);
        let mut command = stage.command(&[]);
        match value {
            Some(value) => command.env("PUNCH_RUN_ATTEMPTS", value),
            None => command.env_remove("PUNCH_RUN_ATTEMPTS"),
        };
        let run = crate::world::finished(command.output().unwrap());
        assert_eq!(run.exit, Some(1), "{}", run.render());
        assert_eq!(stage.trace("begun").len(), attempts, "{}", run.render());
        assert_eq!((stage.status("T-1"), &stage.todo("T-1")["attempts"]), ("failed".into(), &attempts.into()));
    }
}
