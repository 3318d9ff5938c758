//! Todos that a command proves, as people and agents meet them.

use crate::world::World;

fn with(command: &str) -> World {
    let world = World::with_git();
    world.ok(&["config", "set", "policy.verify", "command"]);
    world.ok(&["add", "one", "--verify", command]);
    world
}

#[test]
fn done_runs_the_check_once_a_person_has_agreed() {
    let world = with("echo ran >> log");
    assert_eq!(world.refused(&["done", "T-1"]), (1, "needs_consent".to_owned()));
    assert!(!world.project.join("log").exists());
    assert_eq!(world.ok(&["verify", "--allow", "T-1"]), "[x] T-1  one\n");
    assert_eq!(std::fs::read_to_string(world.project.join("log")).unwrap(), "ran\n");
    world.ok(&["reopen", "T-1"]);
    assert_eq!(world.json(&["done", "one"])["todo"]["status"], "completed");
    let evidence = &world.json(&["show", "T-1"])["todo"]["evidence"];
    assert_eq!(evidence[1]["exitCode"], 0);
    assert_eq!(evidence[1]["commit"].as_str().map(str::len), Some(40));
}

#[test]
fn a_failing_check_refuses_done_and_shows_its_end() {
    let world = with("echo broken; exit 3");
    assert_eq!(world.refused(&["verify", "--allow", "T-1"]), (1, "verify_failed".to_owned()));
    let run = world.punch(&["done", "T-1"]);
    assert_eq!(run.exit, Some(1));
    assert!(run.stderr.contains("ended with exit code 3\nbroken\n"), "{}", run.stderr);
    assert_eq!(world.json(&["show", "T-1"])["todo"]["status"], "pending");
}

#[test]
fn an_agents_shell_gives_no_consent() {
    let world = with("touch ran");
    let output = world.command(&["verify", "--allow", "T-1"]).env("CLAUDECODE", "1").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(world.refused(&["verify", "T-1"]), (1, "needs_consent".to_owned()));
    assert!(!world.project.join("ran").exists());
}

#[test]
fn an_imported_command_does_not_run_by_itself() {
    let world = with("true");
    world.ok(&["verify", "--allow", "T-1"]);
    let file = world.project.join("plan.json");
    std::fs::write(&file, world.ok(&["export"]).replace("\"true\"", "\"touch ran\"").replace("T-1", "T-9")).unwrap();
    world.ok(&["import", "plan.json"]);
    assert_eq!(world.json(&["show", "T-9"])["todo"]["verifyCommand"], "touch ran");
    let run = world.punch(&["verify", "--all", "--json"]);
    assert_eq!(run.exit, Some(1));
    assert!(run.stdout.contains("needs_consent"), "{}", run.stdout);
    assert!(!world.project.join("ran").exists());
}

#[test]
fn completed_todos_are_checked_again_and_marked_stale() {
    let world = with("test ! -e broken");
    world.ok(&["verify", "--allow", "T-1"]);
    assert_eq!(world.ok(&["verify", "--stale"]), "Nothing to check.\n");
    std::fs::write(world.project.join("broken"), "").unwrap();
    let run = world.punch(&["verify", "--all"]);
    assert_eq!((run.exit, run.stdout.as_str()), (Some(1), "stale    T-1  one\n0 of 1 passed\n"));
    assert_eq!(world.json(&["show", "T-1"])["todo"]["status"], "completed");
    std::fs::remove_file(world.project.join("broken")).unwrap();
    assert_eq!(world.ok(&["verify", "--stale"]), "passed   T-1  one\n1 of 1 passed\n");
}

#[test]
fn a_check_that_takes_too_long_is_ended() {
    let world = with("sleep 1000");
    world.ok(&["config", "set", "verify.timeout", "300ms"]);
    assert_eq!(world.refused(&["verify", "--allow", "T-1"]), (1, "verify_timeout".to_owned()));
}

#[test]
fn without_a_command_there_is_nothing_to_verify() {
    let world = World::new();
    world.ok(&["add", "one"]);
    assert_eq!(world.refused(&["verify", "T-1"]), (1, "no_verify_command".to_owned()));
    assert_eq!(world.ok(&["verify", "--all"]), "Nothing to check.\n");
}
