//! Usage limits of agents: the run waits and finishes the plan, or ends with a line that says why.

use super::Stage;

/// A stage whose agent refuses to work until `$TRACES/rested` exists, which its first refusal makes.
fn limited(message: &str, exit: u8) -> Stage {
    let mut stage = Stage::new();
    let agent = stage.spec.trim_start_matches("exec:").to_owned();
    stage.spec =
        format!("exec:if mkdir \"$TRACES/rested\" 2>/dev/null; then echo '{message}'; exit {exit}; fi; exec {agent}");
    stage
}

#[test]
fn a_run_sleeps_through_a_usage_limit_and_finishes_the_plan() {
    let stage = limited("Your quota will reset after 2s", 75);
    stage.add(&["work a", "work b", "work c", "work d"]);
    let run = stage.ends(&[], 0);
    assert!(
        run.stderr.contains("exec reached its usage limit (Your quota will reset after 2s): sleeps until 20"),
        "{}",
        run.render()
    );
    assert!(
        run.stderr.contains("T-1 was returned to the queue: the usage limit of its agent is reached"),
        "{}",
        run.render()
    );
    assert_eq!(stage.trace("done").len(), 4);
    for id in ["T-1", "T-2", "T-3", "T-4"] {
        assert_eq!(stage.status(id), "completed");
        assert_eq!(stage.todo(id)["attempts"].as_u64().unwrap_or_default(), 0, "{id}: a limit is not an attempt");
    }
    let shown = stage.world.ok(&["run", "show"]);
    assert!(shown.contains("reached its usage limit"), "{shown}");
}

#[test]
fn other_seats_with_the_same_agent_do_not_ask_again() {
    let stage = limited("come back later, try again in 2 seconds", 1);
    stage.add(&["work a", "work b", "work c"]);
    let mut command = stage.command(&["--agents", "3"]);
    command.env("PUNCH_RUN_LIMIT_TEXT", "Come back LATER");
    let run = crate::world::finished(command.output().unwrap());
    assert_eq!(run.exit, Some(0), "{}", run.render());
    assert_eq!(run.stderr.matches("reached its usage limit").count(), 1, "{}", run.render());
    assert_eq!(stage.trace("done").len(), 3);
}

#[test]
fn a_run_that_does_not_wait_ends_with_a_clear_line_and_resumes_later() {
    let stage = limited("Claude AI usage limit reached|4102444800", 1);
    stage.add(&["work a", "work b"]);
    let mut command = stage.command(&[]);
    command.env("PUNCH_RUN_LIMIT_WAIT", "0s");
    let run = crate::world::finished(command.output().unwrap());
    assert_eq!(run.exit, Some(4), "{}", run.render());
    let line = "exec reached its usage limit; it is reset at 2100-01-01 00:00:00Z (Claude AI usage limit reached|4102444800). `punch run` resumes this run";
    assert!(run.stdout.contains(line), "{}", run.render());
    assert_eq!(stage.status("T-1"), "pending");
    assert_eq!(stage.todo("T-1")["attempts"].as_u64().unwrap_or_default(), 0);
    let run = stage.ends(&[], 0);
    assert!(run.stdout.contains("done: run 1"), "{}", run.render());
}

#[test]
fn another_agent_works_while_one_waits_for_its_limit() {
    let stage = limited("Claude AI usage limit reached|4102444800", 1);
    stage.add(&["work a", "work b", "work c"]);
    let other = Stage::new().spec.clone();
    let mut command = stage.command(&["--agent", &other, "--agents", "2"]);
    command.env("PUNCH_RUN_LIMIT_WAIT", "0s");
    let run = crate::world::finished(command.output().unwrap());
    assert_eq!(run.exit, Some(0), "{}", run.render());
    assert_eq!(stage.trace("done").len(), 3);
}
