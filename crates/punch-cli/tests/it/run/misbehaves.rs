//! Agents that do everything wrong that can be done wrong: each ends as it is said here, and nothing is left behind.

use std::fs;

use super::Stage;
use crate::world::finished;

fn impatient(stage: &Stage, more: &[&str], exit: i32) -> crate::punch::Run {
    let mut command = stage.command(more);
    command.env("PUNCH_RUN_IDLE", "400ms");
    let run = finished(command.output().unwrap());
    assert_eq!(run.exit, Some(exit), "{}", run.render());
    assert_eq!(stage.alive(), [0; 0], "{}", run.render());
    run
}

#[test]
fn garbage_fails_and_reaches_no_terminal() {
    let stage = Stage::new();
    stage.add(&["garbage out", "work on"]);
    let run = stage.ends(&[], 1);
    assert!(run.stdout.contains("T-1 failed: exit code 3"), "{}", run.render());
    assert!(!run.stderr.contains('\u{1b}') && !run.stdout.contains('\u{1b}'));
    assert_eq!(stage.status("T-2"), "completed");
}

#[test]
fn a_flood_costs_no_more_than_its_log() {
    let stage = Stage::new();
    stage.add(&["flood it"]);
    stage.ends(&[], 0);
    let logs = stage.logs();
    assert_eq!(logs.len(), 1);
    assert!((1_000_000..=4 * 1024 * 1024).contains(&logs[0]), "{logs:?}");
}

/// Megabytes without a line end, and as many lines as fit into some megabytes.
#[test]
fn a_line_without_end_and_lines_without_text_are_read_to_their_end() {
    let stage = Stage::new();
    stage.add(&["line 12; work", "blank 12; work"]);
    stage.ends(&["--agents", "2"], 0);
    assert_eq!(stage.trace("done").len(), 2);
    assert!(stage.logs().iter().all(|size| (1..=4 * 1024 * 1024).contains(size)), "{:?}", stage.logs());
}

#[test]
fn one_that_prints_without_end_is_ended_with_the_time_for_a_todo() {
    let stage = Stage::new();
    stage.add(&["endless talk"]);
    let mut command = stage.command(&[]);
    command.env("PUNCH_RUN_TODO_TIME", "500ms");
    let run = finished(command.output().unwrap());
    assert_eq!((run.exit, stage.alive().len()), (Some(1), 0), "{}", run.render());
    assert!(run.stderr.contains("the time limit for one todo was reached"), "{}", run.render());
}

#[test]
fn ones_that_hang_and_hear_no_signal_are_ended_and_fail() {
    let stage = Stage::new();
    stage.add(&["hang on", "deaf one", "work on"]);
    let run = impatient(&stage, &["--agents", "2"], 1);
    for id in ["T-1", "T-2"] {
        let told = format!("{id} failed: the agent showed no activity for 400ms");
        assert!(run.stdout.contains(&told), "{}", run.render());
        assert_eq!(stage.trace("begun").iter().filter(|begun| *begun == id).count(), 2);
    }
    assert_eq!(stage.status("T-3"), "completed");
}

#[test]
fn exit_code_0_without_work_does_not_pass_a_check() {
    let stage = Stage::new();
    stage.world.ok(&["add", "nothing at all", "--verify", "test -e made-T-1"]);
    stage.world.punch(&["verify", "--allow", "T-1"]);
    let run = stage.ends(&[], 1);
    assert!(run.stdout.contains("T-1 failed: the check of `T-1` failed (exit code 1): `test -e made-T-1`"));
    assert_eq!(stage.todo("T-1")["attempts"], 2);
}

#[test]
fn a_process_that_forks_away_is_found_and_ended() {
    let stage = Stage::new();
    stage.add(&["fork away"]);
    stage.ends(&[], 0);
    assert_eq!(stage.trace("forked").len(), 1, "it was there");
}

/// They hold the ends of its pipes: nobody waits for them to let go.
#[test]
fn children_that_keep_the_pipes_open_are_ended_with_their_parent() {
    let stage = Stage::new();
    stage.add(&["brood; work", "brood; refuse"]);
    let run = stage.ends(&["--agents", "2"], 1);
    assert!(run.stdout.contains("T-2 failed: exit code 7"), "{}", run.render());
    assert_eq!((stage.status("T-1"), stage.trace("begun").len()), ("completed".into(), 3));
}

#[test]
fn a_crash_is_a_failed_attempt() {
    let stage = Stage::new();
    stage.add(&["crash now", "crash SEGV", "crash TERM", "work on"]);
    let run = stage.ends(&["--agents", "2"], 1);
    for (id, code) in [("T-1", "137: Killed"), ("T-2", "139: Segmentation fault"), ("T-3", "143: Terminated")] {
        assert!(run.stdout.contains(&format!("{id} failed: exit code {code}\n")), "{}", run.render());
        assert_eq!((stage.status(id), stage.todo(id)["attempts"].as_u64()), ("failed".into(), Some(2)));
    }
    assert!(run.stdout.contains("\nstalled: run 1, 1 completed"), "{}", run.render());
    assert_eq!(stage.status("T-4"), "completed");
}

#[test]
fn a_slow_drip_without_a_line_end_is_a_sign_of_life() {
    let stage = Stage::new();
    stage.add(&["drip 60; work"]);
    impatient(&stage, &[], 0);
    assert_eq!(stage.trace("begun").len(), 1);
}

#[test]
fn one_that_closes_its_output_is_heard_by_its_exit_code_and_ended_if_it_stays() {
    let stage = Stage::new();
    stage.add(&["shut out; work", "shut out; hang"]);
    let run = impatient(&stage, &["--agents", "2"], 1);
    assert_eq!(stage.status("T-1"), "completed");
    assert!(run.stdout.contains("T-2 failed: the agent showed no activity for 400ms"), "{}", run.render());
}

#[test]
fn one_that_closes_its_input_and_reads_no_prompt_works_all_the_same() {
    let stage = Stage::playing("shut in; work");
    stage.world.ok(&["add", "anything", "--description", &"x".repeat(8_000)]);
    stage.ends(&[], 0);
    assert_eq!((stage.trace("done"), stage.status("T-1")), (vec!["T-1".into()], "completed".into()));
}

#[test]
fn done_that_is_claimed_falsely_is_told_and_tried_again_once() {
    let stage = Stage::new();
    stage.world.ok(&["add", "say; nothing", "--verify", "test -e made-T-1"]);
    stage.world.punch(&["verify", "--allow", "T-1"]);
    let run = stage.ends(&[], 1);
    assert!(run.stdout.contains("T-1 failed: the check of `T-1`"), "{}", run.render());
    assert!(run.stdout.contains("\nstalled: run 1, 0 completed"), "{}", run.render());
    let todo = stage.todo("T-1");
    assert_eq!((&todo["status"], &todo["attempts"]), (&"failed".into(), &2.into()));
    assert!(!todo["flags"].to_string().contains("reported"), "{todo}");
}

#[test]
fn an_agent_that_does_not_start_ends_the_run_and_takes_no_attempt() {
    let stage = Stage::new();
    stage.add(&["work"]);
    fs::remove_dir_all(stage.world.store().parent().unwrap().join("runs")).ok();
    // A folder where the log should be.
    for n in 1..9 {
        let log = stage.world.store().parent().unwrap().join(format!("runs/1-1/agent-1.{n}.log"));
        fs::create_dir_all(log).unwrap();
    }
    let run = stage.ends(&[], 1);
    assert!(run.stdout.contains("could not be started"), "{}", run.render());
    let todo = stage.todo("T-1");
    assert_eq!((&todo["status"], todo["attempts"].as_u64().unwrap_or(0)), (&"pending".into(), 0));
}

/// Everything but a report on its own todo, and new todos, would let an agent take away its check, return its todo again and again, or end
/// the work of others.
#[test]
fn an_agent_changes_nothing_but_its_own_todo() {
    let stage = Stage::new();
    stage.world.ok(&["add", "check me", "--verify", "test -e never"]);
    stage.world.ok(&["add", "another", "one more"]);
    for id in ["T-2", "T-3"] {
        stage.world.ok(&["hold", id, "later", "--kind", "parked"]);
    }
    stage.world.punch(&["verify", "--allow", "T-1"]);
    let tries = [
        "edit $PUNCH_TODO --clear verify",
        "edit $PUNCH_TODO --verify true",
        "unclaim $PUNCH_TODO",
        "reopen $PUNCH_TODO",
        "cancel $PUNCH_TODO",
        "rm $PUNCH_TODO",
        "cancel T-2",
        "rm T-3",
        "edit T-2 --text other",
        "hold T-2 x",
        "unhold T-2",
        "note T-2 x",
        "done T-2",
        "move T-3 --first",
        "claim",
        "undo",
        "redo",
        "plan new foo",
        "plan rename main bar",
    ];
    let calls = tries.map(|call| format!("\"$PUNCH\" {call} --json >> \"$TRACES/tries\"\n")).concat();
    let script = stage.world.root.join("greedy.sh");
    fs::write(&script, format!("{calls}\"$PUNCH\" note $PUNCH_TODO 'I tried'\n\"$PUNCH\" done $PUNCH_TODO\n")).unwrap();
    let agent = format!("exec:sh '{}'", script.display());
    let before = stage.world.json(&["list", "--all"])["todos"].clone();
    let run = finished(stage.prepared(stage.world.command(&["run", "--agent", &agent])).output().unwrap());
    assert_eq!(run.exit, Some(1), "{}", run.render());
    let answers: Vec<serde_json::Value> =
        stage.trace("tries").iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (call, answer) in tries.iter().zip(&answers) {
        assert_eq!(answer["error"]["code"], "not_allowed", "{call}: {answer}");
    }
    let after = stage.world.json(&["list", "--all"])["todos"].clone();
    let others = |todos: &serde_json::Value| todos.as_array().unwrap()[1..].to_vec();
    assert_eq!(others(&after), others(&before), "others are as they were");
    assert_eq!((&after[0]["status"], &after[0]["verifyCommand"]), (&"failed".into(), &before[0]["verifyCommand"]));
    assert_eq!(stage.world.json(&["plan", "list"])["plans"].as_array().unwrap().len(), 1);
}
