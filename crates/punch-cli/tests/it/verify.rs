//! Todos that a command proves, as people and agents meet them.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::world::{PUNCH, World};

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
    assert_eq!(world.ok(&["verify", "--allow", "T-1"]), "Approved for T-1: echo ran >> log\n");
    assert!(!world.project.join("log").exists(), "an approval runs nothing");
    assert_eq!(world.ok(&["verify", "T-1"]), "[x] T-1  one\n");
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
    world.ok(&["verify", "--allow", "T-1"]);
    assert_eq!(world.refused(&["verify", "T-1"]), (1, "verify_failed".to_owned()));
    let run = world.punch(&["done", "T-1"]);
    assert_eq!(run.exit, Some(1));
    assert!(run.stderr.contains("failed (exit code 3)") && run.stderr.contains("\nbroken\n"), "{}", run.stderr);
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
    // As a todo of its own, and as another command for a todo that the plan has.
    for (import, id) in [(&["import", "plan.json", "--new"][..], "T-9"), (&["import", "plan.json"], "T-1")] {
        let world = with("true");
        world.ok(&["verify", "--allow", "T-1"]);
        world.ok(&["verify", "T-1"]);
        let plan = world.ok(&["export"]).replace("\"true\"", "\"touch ran\"").replace("T-1", "T-9");
        std::fs::write(world.project.join("plan.json"), plan).unwrap();
        world.ok(import);
        assert_eq!(world.json(&["show", id])["todo"]["verifyCommand"], "touch ran");
        let run = world.punch(&["verify", "--all", "--json"]);
        assert_eq!(run.exit, Some(1));
        assert!(run.stdout.contains("needs_consent"), "{}", run.stdout);
        assert!(!world.project.join("ran").exists());
    }
}

#[test]
fn completed_todos_are_checked_again_and_marked_stale() {
    let world = with("test ! -e broken");
    world.ok(&["verify", "--allow", "T-1"]);
    world.ok(&["verify", "T-1"]);
    assert_eq!(world.ok(&["verify", "--stale"]), "Nothing to check.\n");
    std::fs::write(world.project.join("broken"), "").unwrap();
    let run = world.punch(&["verify", "--all"]);
    assert_eq!(run.exit, Some(1));
    assert!(
        run.stdout.starts_with("failed   T-1  one\n") && run.stdout.ends_with("\n0 of 1 passed\n"),
        "{}",
        run.stdout
    );
    assert_eq!(world.json(&["show", "T-1"])["todo"]["status"], "completed");
    std::fs::remove_file(world.project.join("broken")).unwrap();
    assert_eq!(world.ok(&["verify", "--stale"]), "passed   T-1  one\n1 of 1 passed\n");
}

#[test]
fn a_check_that_takes_too_long_is_ended() {
    let world = with("sleep 1000");
    world.ok(&["config", "set", "verify.timeout", "300ms"]);
    world.ok(&["verify", "--allow", "T-1"]);
    assert_eq!(world.refused(&["verify", "T-1"]), (1, "verify_timeout".to_owned()));
}

#[test]
fn without_a_command_there_is_nothing_to_verify() {
    let world = World::new();
    world.ok(&["add", "one"]);
    assert_eq!(world.refused(&["verify", "T-1"]), (1, "no_verify_command".to_owned()));
    assert_eq!(world.ok(&["verify", "--all"]), "Nothing to check.\n");
}

#[test]
fn many_checks_are_one_answer() {
    let world = with("test ! -e broken");
    world.ok(&["add", "two", "--verify", "exit 4"]);
    world.ok(&["add", "three", "--verify", "touch never"]);
    for command in ["T-1", "T-2"] {
        world.ok(&["verify", "--allow", command]);
    }
    let run = world.punch(&["verify", "T-1", "T-2", "T-3", "--json"]);
    assert_eq!(run.exit, Some(1));
    let answer: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let told: Vec<String> = answer["checks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| format!("{} {} {}", row["id"], row["passed"], row["error"]["code"]))
        .collect();
    assert_eq!(told, ["\"T-1\" true null", "\"T-2\" false \"verify_failed\"", "\"T-3\" null \"needs_consent\""]);
    assert_eq!((&answer["passed"], &answer["total"]), (&serde_json::json!(1), &serde_json::json!(3)));
    assert_eq!(world.json(&["show", "T-1"])["todo"]["status"], "completed");
    assert!(!world.project.join("never").exists());
}

#[test]
fn a_consent_that_is_withdrawn_is_none() {
    let world = with("true");
    world.ok(&["verify", "--allow", "T-1"]);
    assert_eq!(world.json(&["verify", "--withdraw", "T-1"])["withdrawn"], serde_json::json!(["T-1"]));
    assert_eq!(world.refused(&["done", "T-1"]), (1, "needs_consent".to_owned()));
    assert_eq!(world.ok(&["verify", "--withdraw", "T-1"]), "There was no approval to withdraw.\n");
}

/// Longer than anything that is not broken, also on a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(60);

fn in_time<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// What a check wrote down, once it has.
fn written(world: &World, file: &str) -> String {
    let path = world.project.join(file);
    let text = || fs::read_to_string(&path).ok().filter(|text| text.ends_with('\n'));
    in_time(file, text).trim().to_owned()
}

/// It is gone, or nobody has waited for it yet.
fn is_gone(pid: &str) -> bool {
    match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => stat.rsplit(')').next().unwrap().trim_start().starts_with('Z'),
        Err(_) => true,
    }
}

/// A check with a child in its group and one in a session of its own. Signals do to `punch` what they do to a program in
/// a terminal: a shell that started these tests in the background has let them ignore Ctrl-C, and whatever they start
/// inherits that.
fn running(verb: &[&str]) -> (World, Child, [String; 2]) {
    let away = "setsid sh -c 'echo $$ > away; exec sleep 1000' & sleep 1000 & echo $! > near; wait";
    let world = with(&format!("[ ! -e go ] || {{ {away}; }}"));
    world.ok(&["verify", "--allow", "T-1"]);
    fs::write(world.project.join("go"), "").unwrap();
    let mut command = world.program("env");
    command.arg("--default-signal=INT,TERM,HUP").arg(PUNCH).args(verb);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let pids = [written(&world, "near"), written(&world, "away")];
    (world, child, pids)
}

#[cfg(target_os = "linux")]
#[test]
fn whoever_ends_punch_ends_the_check() {
    for signal in ["-INT", "-TERM", "-HUP", "-KILL"] {
        for verb in [&["verify", "T-1"][..], &["done", "T-1"]] {
            let (world, mut child, pids) = running(verb);
            assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
            in_time(&format!("{signal} to end {verb:?}"), || child.try_wait().unwrap());
            in_time(&format!("{signal} to end the check of {verb:?}"), || {
                pids.iter().all(|pid| is_gone(pid)).then_some(())
            });
            assert_eq!(world.json(&["show", "T-1"])["todo"]["status"], "pending");
        }
    }
}

#[test]
fn done_keeps_the_commit_and_without_git_none() {
    let world = World::with_git();
    world.ok(&["add", "one"]);
    world.ok(&["done", "T-1"]);
    let head = String::from_utf8(world.program("git").args(["rev-parse", "HEAD"]).output().unwrap().stdout).unwrap();
    assert_eq!(world.json(&["show", "T-1"])["todo"]["evidence"][0]["commit"], head.trim());
    let world = World::new();
    world.ok(&["add", "one"]);
    world.ok(&["done", "T-1"]);
    assert!(world.json(&["show", "T-1"])["todo"].get("evidence").is_none());
}

#[test]
fn the_last_check_of_an_open_todo_is_shown() {
    let world = with("cat out; exit 3");
    std::fs::write(world.project.join("out"), "one\nassertion failed\n").unwrap();
    world.punch(&["verify", "--allow", "T-1"]);
    world.punch(&["verify", "T-1"]);
    let shown = world.ok(&["show", "T-1"]);
    assert!(shown.contains("  last check: failed with exit code 3 a moment ago at "), "{shown}");
    assert!(shown.contains(": `cat out; exit 3`\n  output: one\n  output: assertion failed\n"), "{shown}");
    assert_eq!(world.ok(&["list"]), "[ ] T-1  one  (check failed)\n");
    let check = &world.json(&["show", "T-1"])["todo"]["lastCheck"];
    assert_eq!((&check["passed"], &check["exitCode"]), (&serde_json::json!(false), &serde_json::json!(3)));
    world.ok(&["edit", "T-1", "--verify", "true"]);
    assert_eq!(world.ok(&["list"]), "[ ] T-1  one\n", "that was another command");
}

#[test]
fn done_after_a_failed_check_warns_or_refuses_as_the_policy_says() {
    let world = with("exit 3");
    world.punch(&["verify", "--allow", "T-1"]);
    world.punch(&["verify", "T-1"]);
    assert_eq!(world.refused(&["done", "T-1"]), (1, "verify_failed".to_owned()));
    world.ok(&["config", "set", "policy.verify", "claim"]);
    let done = world.ok(&["done", "T-1"]);
    assert!(
        done.contains("note: `T-1` is marked done, but its check `exit 3` failed with exit code 3 a moment ago"),
        "{done}"
    );
    assert!(world.ok(&["list", "--all"]).contains("[x] T-1  one  (failing)"));
}

#[test]
fn done_shows_the_check_that_passed() {
    let world = with("echo fine");
    world.punch(&["verify", "--allow", "T-1"]);
    world.ok(&["reopen", "T-1"]);
    let done = world.ok(&["done", "T-1"]);
    assert!(done.starts_with("[x] T-1  one\ncheck: passed a moment ago at "), "{done}");
}

#[test]
fn without_a_command_done_needs_evidence_where_the_plan_wants_proof() {
    let world = World::with_git();
    world.ok(&["config", "set", "policy.verify", "command"]);
    world.ok(&["add", "one"]);
    let run = world.punch(&["done", "T-1"]);
    assert_eq!(run.exit, Some(1));
    assert!(
        run.stderr.contains("hint: say what you checked, for example `punch done T-1 --evidence 'all tests pass'`"),
        "{}",
        run.stderr
    );
    assert_eq!(world.ok(&["done", "T-1", "--evidence", "all tests pass"]), "[x] T-1  one\n");
    world.ok(&["add", "two"]);
    world.ok(&["todo", "done", "two"]);
    let listed = world.ok(&["list", "--all"]);
    assert_eq!(listed, "[x] T-1  one\n[x] T-2  two  (unchecked)\n");
    assert_eq!(world.json(&["show", "T-2"])["todo"]["flags"], serde_json::json!(["unchecked"]));
    assert!(world.ok(&["show", "T-2"]).contains("proof: unchecked"));
    world.ok(&["done", "T-2", "--evidence", "looked at it"]);
    assert_eq!(world.ok(&["list", "--all"]), "[x] T-1  one\n[x] T-2  two\n");
}
