//! The meter: what stops a run, and that it never starts again.

use super::Stage;

#[test]
fn a_run_that_reached_its_limit_goes_on_only_when_it_may_spend_more() {
    let stage = Stage::new();
    stage.add(&["work a", "refuse b", "work c", "work d"]);
    let run = stage.ends(&["--max-turns", "2"], 4);
    assert!(run.stdout.contains("2 of 2 turns used\nlimit reached: run 1"), "{}", run.render());
    assert_eq!(stage.trace("begun").len(), 2, "a failed turn counts");
    let run = stage.ends(&["--max-turns", "2"], 4);
    assert!(run.stdout.contains("limit reached: run 1, 0 completed"), "{}", run.render());
    assert_eq!(stage.trace("begun").len(), 2, "the meter did not start again");
    stage.ends(&["--max-turns", "3"], 4);
    assert_eq!(stage.trace("begun").len(), 3);
    let run = stage.ends(&["--fresh", "--max-turns", "20"], 1);
    assert!(run.stdout.contains("stalled: run 2"), "{}", run.render());
}

#[test]
fn what_nobody_reports_counts_as_estimated() {
    let stage = Stage::new();
    stage.world.ok(&["add", "work a", "--tokens", "700"]);
    stage.world.ok(&["add", "work b", "--tokens", "700"]);
    stage.world.ok(&["add", "work c", "--tokens", "700"]);
    let run = stage.ends(&["--max-tokens", "1000"], 4);
    assert!(run.stdout.contains("1400 of 1000 tokens used (1400 of them estimated)"), "{}", run.render());
    assert_eq!(stage.trace("done").len(), 2);
    // An estimate teaches nothing about estimates.
    assert_eq!(stage.world.json(&["report"])["calibration"], 1.0);
}

#[test]
fn the_time_of_a_run_ends_its_agents() {
    let stage = Stage::new();
    stage.add(&["hang on", "deaf one"]);
    let run = stage.ends(&["--agents", "2", "--max-time", "1s"], 4);
    assert!(
        run.stdout.contains("the time limit of 1s was reached\nlimit reached: run 1, 0 completed"),
        "{}",
        run.render()
    );
    assert_eq!((stage.status("T-1"), stage.status("T-2")), ("pending".into(), "pending".into()));
    #[cfg(target_os = "linux")]
    {
        let shown = crate::serve::read(&stage.world, "/plans/main/runs/1");
        assert_eq!(shown["run"]["limits"]["time"], 1_000, "the board shows the limit: {shown}");
    }
}

#[test]
fn a_todo_that_has_used_up_its_own_limit_waits_for_a_person() {
    let stage = Stage::new();
    stage.add(&["refuse a", "work b"]);
    let mut command = stage.command(&[]);
    command.env("PUNCH_RUN_TODO_TURNS", "1");
    let run = crate::world::finished(command.output().unwrap());
    assert_eq!(run.exit, Some(1), "{}", run.render());
    assert!(run.stderr.contains("T-1 is waiting for you: its limit is reached: 1 of 1 turns"), "{}", run.render());
    assert_eq!(stage.status("T-2"), "completed");
    assert_eq!(stage.trace("begun").iter().filter(|id| *id == "T-1").count(), 1);
}

/// Kills the runner each time an agent has started, until a run ends by itself.
fn kill_after_each_start(stage: &Stage, flags: &[&str]) -> crate::punch::Run {
    for _ in 0..20 {
        let before = stage.trace("begun").len();
        let mut run = stage.command(flags).spawn().unwrap();
        stage.wait_for("a start or the end", || {
            stage.trace("begun").len() > before || run.try_wait().unwrap().is_some()
        });
        if run.try_wait().unwrap().is_some() {
            return crate::world::finished(run.wait_with_output().unwrap());
        }
        run.kill().unwrap();
        run.wait().unwrap();
        stage.all_gone();
    }
    panic!("the run never reaches its limit");
}

#[test]
fn a_runner_that_is_killed_again_and_again_starts_no_more_agents_than_its_limit_allows() {
    let stage = Stage::new();
    stage.add(&["hang a", "hang b", "hang c"]);
    let run = kill_after_each_start(&stage, &["--agents", "2", "--max-turns", "3"]);
    assert_eq!(run.exit, Some(4), "{}", run.render());
    assert!(stage.trace("begun").len() <= 3, "{:?}", stage.trace("begun"));
    assert!(run.stdout.contains("3 of 3 turns used"), "{}", run.render());
}

#[test]
fn tokens_of_turns_that_a_killed_runner_left_open_are_charged_as_estimated() {
    let stage = Stage::new();
    stage.world.ok(&["add", "hang a", "--tokens", "700"]);
    let run = kill_after_each_start(&stage, &["--max-tokens", "1000"]);
    assert_eq!(run.exit, Some(4), "{}", run.render());
    assert_eq!(stage.trace("begun").len(), 2);
    assert!(run.stdout.contains("1400 of 1000 tokens used (1400 of them estimated)"), "{}", run.render());
}
