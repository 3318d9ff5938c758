//! Checkpoints, as people and agents meet them.

use std::process::Stdio;
use std::thread;
use std::time::Instant;

use serde_json::{Value, json};

use crate::world::{World, ids};

/// Two todos; the first is done with a commit of its own.
fn begun() -> World {
    let world = World::with_git();
    world.ok(&["add", "one", "two"]);
    world.git(&["commit", "-q", "--allow-empty", "-m", "one"]);
    world.ok(&["done", "T-1"]);
    world
}

fn save(world: &World) -> String {
    world.json(&["checkpoint", "save"])["checkpoint"]["id"].as_str().unwrap().to_owned()
}

#[test]
fn save_prints_the_checkpoint() {
    let world = begun();
    let answer = world.json(&["checkpoint", "save", "--note", "so far"]);
    let checkpoint = &answer["checkpoint"];
    assert_eq!(answer["schema"], 1);
    let id = checkpoint["id"].as_str().unwrap();
    assert!(id.starts_with("chk-") && id.len() == "chk-20260801-102030".len(), "{id}");
    let lists = json!({"completed": ["T-1"], "remaining": ["T-2"], "blocked": [], "inProgress": null,
        "inProgressAll": [], "cancelled": [], "failed": []});
    assert_eq!((&checkpoint["todos"], &checkpoint["notes"]), (&lists, &json!("so far")));
    assert_eq!(
        (&checkpoint["git"]["dirty"], checkpoint["git"]["commit"].as_str().map(str::len)),
        (&json!(false), Some(40))
    );
    assert!(checkpoint.get("work").is_none());
    assert!(world.ok(&["checkpoint", "list"]).starts_with(&format!("{id}  1 done, 1 left  ")));
    assert!(world.ok(&["checkpoint", "show", id]).contains("\nremaining: T-2\n"));
}

#[test]
fn a_reset_and_a_restore_reopen_exactly_what_was_lost() {
    let world = begun();
    let id = save(&world);
    world.git(&["commit", "-q", "--allow-empty", "-m", "two"]);
    world.ok(&["done", "T-2"]);
    assert_eq!(
        world.json(&["checkpoint", "diff"])["todos"],
        json!([{"id": "T-2", "then": "pending", "now": "completed"}])
    );
    world.git(&["reset", "-q", "--hard", "HEAD~1"]);
    let answer = world.json(&["checkpoint", "restore", &id]);
    assert_eq!((&answer["reopened"], &answer["next"], &answer["git"]), (&json!(["T-2"]), &json!("T-2"), &json!([])));
    assert_eq!(answer["completed"][0]["verdict"], "valid");
    let again = world.json(&["checkpoint", "restore", &id]);
    assert_eq!((&again["safety"], &again["reopened"]), (&Value::Null, &json!([])));
    // The state before can be had back, but for what is gone.
    let back = world.json(&["checkpoint", "restore", answer["safety"].as_str().unwrap()]);
    assert_eq!((&back["completed"][1]["id"], &back["completed"][1]["verdict"]), (&json!("T-2"), &json!("stale")));
    assert_eq!(ids(&world.json(&["list"])), ["T-2"]);
}

#[test]
fn code_that_is_elsewhere_is_refused_and_files_are_never_touched() {
    let world = begun();
    std::fs::write(world.project.join("a.txt"), "not committed\n").unwrap();
    let id = save(&world);
    world.git(&["checkout", "-q", "-f", "-b", "other", "HEAD~1"]);
    assert_eq!(world.refused(&["checkpoint", "restore", &id]), (1, "git_mismatch".to_owned()));
    let answer = world.json(&["checkpoint", "restore", &id, "--force"]);
    assert_eq!(answer["completed"][0]["verdict"], "stale");
    assert_eq!(std::fs::read_to_string(world.project.join("a.txt")).unwrap(), "x\n");
    let commands = answer["git"].as_array().unwrap();
    assert!(commands[0].as_str().unwrap().starts_with("git restore --source="), "{commands:?}");
    // What is printed works.
    world.git(&["checkout", "-q", "main"]);
    assert!(world.ok(&["checkpoint", "show", &id, "--patch"]).contains("+not committed\n"));
}

#[test]
#[cfg(unix)]
fn the_commands_that_are_printed_work_in_every_folder_and_lose_nothing() {
    let world = begun();
    let (top, sub) = (world.project.join("a.txt"), world.project.join("sub/b.txt"));
    std::fs::create_dir(world.project.join("sub")).unwrap();
    std::fs::write(&sub, "b\n").unwrap();
    world.git(&["add", "."]);
    world.git(&["commit", "-q", "-m", "b"]);
    std::fs::write(&top, "not committed\n").unwrap();
    let id = save(&world);
    world.git(&["commit", "-q", "-a", "-m", "other"]);
    std::fs::write(&top, "other\n").unwrap();
    std::fs::write(&sub, "other\n").unwrap();
    let answer = world.json(&["checkpoint", "restore", &id]);
    let commands: Vec<&str> = answer["git"].as_array().unwrap().iter().map(|c| c.as_str().unwrap()).collect();
    for command in &commands {
        let command = command.replace("punch checkpoint", &format!("'{}' checkpoint", crate::world::PUNCH));
        let mut shell = world.program("sh");
        shell.args(["-e", "-c", &command]).current_dir(world.project.join("sub"));
        shell.envs([("GIT_AUTHOR_NAME", "t"), ("GIT_COMMITTER_NAME", "t"), ("EMAIL", "t@example.org")]);
        let output = shell.output().unwrap();
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let read = |path| std::fs::read_to_string(path).unwrap();
    assert_eq!((read(&top), read(&sub)), ("not committed\n".to_owned(), "b\n".to_owned()), "{commands:?}");
    assert!(world.git(&["stash", "show", "-p"]).contains("+other"), "what was there can be had back");
}

#[test]
fn a_branch_that_is_another_is_told_with_the_way_back() {
    let world = begun();
    let id = save(&world);
    world.git(&["checkout", "-q", "-b", "other"]);
    let refused = world.punch(&["checkpoint", "restore", &id]);
    assert!(refused.stderr.contains("it was made on main, but you are on other"), "{}", refused.stderr);
    assert!(refused.stderr.contains("go back to that commit first with `git switch main`, or"), "{}", refused.stderr);
    world.git(&["switch", "-q", "main"]);
    world.ok(&["checkpoint", "restore", &id]);
}

#[test]
fn without_a_store_there_is_nothing_to_show() {
    let world = World::new();
    assert_eq!(world.ok(&["checkpoint", "list"]), "No checkpoints.\n");
    assert_eq!(world.ok(&["checkpoint", "prune"]), "No checkpoints to delete.\n");
    assert_eq!(world.refused(&["checkpoint", "restore", "latest"]), (1, "unknown_checkpoint".to_owned()));
    world.ok(&["add", "one"]);
    assert_eq!(world.refused(&["checkpoint", "show"]), (1, "unknown_checkpoint".to_owned()));
    save(&world);
    save(&world);
    assert_eq!(world.ok(&["checkpoint", "prune", "--keep", "1"]), "Deleted 1 checkpoint.\n");
}

#[test]
fn a_restore_that_is_killed_leaves_the_old_state_or_the_new_one() {
    let world = begun();
    let lines: String = (0..300).map(|n| format!("todo {n}\n")).collect();
    assert_eq!(world.feed(&["add", "-"], &lines).exit, Some(0));
    let then = save(&world);
    let all = world.ids();
    world.ok(&[&["done"][..], &all.iter().map(String::as_str).collect::<Vec<_>>()].concat());
    let finished = save(&world);
    let start = Instant::now();
    world.ok(&["checkpoint", "restore", &then]);
    let usual = start.elapsed();
    let mut seen = Vec::new();
    for round in 0..12 {
        world.ok(&["checkpoint", "restore", &finished]);
        let mut command = world.command(&["checkpoint", "restore", &then]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(usual.mul_f64(f64::from(round) / 11.0));
        let _ = child.kill();
        child.wait().unwrap();
        let status = world.json(&["status"]);
        let completed = status["completed"].as_u64().unwrap();
        assert!([1, 302].contains(&completed), "round {round}: {status}");
        seen.push(completed);
    }
    world.sound();
    assert!(seen.contains(&302), "{seen:?}");
}

/// A stop at which this many of 200,000 tokens are used.
fn stop(world: &World, used: u64) {
    let report = json!({"session_id": "s", "context_tokens": used, "context_limit": 200_000});
    let run = world.feed(&["hook", "--agent", "claude", "Stop"], &report.to_string());
    assert_eq!((run.exit, run.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_session_that_fills_its_context_leaves_a_checkpoint_at_every_level() {
    let world = World::with_git();
    world.ok(&["add", "one"]);
    let todo = json!({"todos": [{"content": "two", "status": "pending", "activeForm": "two"}]});
    let report = json!({"session_id": "s", "tool_name": "TodoWrite", "tool_input": todo, "tool_response": {}});
    world.feed(&["hook", "--agent", "claude", "PostToolUse"], &report.to_string());
    let notes = || -> Vec<String> {
        let all = world.json(&["checkpoint", "list"]);
        all["checkpoints"]
            .as_array()
            .unwrap()
            .iter()
            .rev()
            .map(|c| c["notes"].as_str().unwrap()[..2].to_owned())
            .collect()
    };
    for (used, expected) in [
        (100_000, &[][..]),
        (141_000, &["70"]),
        (150_000, &["70"]),
        (185_000, &["70", "90"]),
        (20_000, &["70", "90"]),
        (165_000, &["70", "90", "80"]),
    ] {
        stop(&world, used);
        assert_eq!(notes(), expected, "{used}");
    }
}

#[test]
fn the_hosts_own_task_is_not_done_before_its_check_has_passed() {
    let world = World::with_git();
    world.ok(&["config", "set", "policy.verify", "command"]);
    let created = json!({"session_id": "s", "tool_name": "TaskCreate", "tool_input": {"subject": "one"},
        "tool_response": {"task": {"id": "1", "subject": "one"}}});
    world.feed(&["hook", "--agent", "claude", "PostToolUse"], &created.to_string());
    let done = |id: &str, subject: &str| {
        let report = json!({"session_id": "s", "task_id": id, "task_subject": subject});
        let run = world.feed(&["hook", "--agent", "claude", "TaskCompleted"], &report.to_string());
        assert_eq!(run.stdout, "");
        (run.exit, run.stderr)
    };
    assert_eq!(done("1", "one"), (Some(0), String::new()), "it has no check");
    let id = world.ids()[0].clone();
    world.ok(&["edit", &id, "--verify", "true"]);
    let (exit, said) = done("1", "renamed");
    assert_eq!(exit, Some(2));
    assert!(said.contains("the user has to approve its check `true` first"), "{said}");
    assert_eq!(done("7", "one").0, Some(2), "by what it says");
    assert_eq!(done("7", "unknown").0, Some(0));
    world.ok(&["verify", "--allow", &id]);
    world.ok(&["verify", &id]);
    assert_eq!(done("1", "one"), (Some(0), String::new()));
}
