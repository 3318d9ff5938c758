//! A write-ahead log that was cut, damaged or deleted: every command says so until the user has decided.

use std::fs;
use std::path::PathBuf;

use crate::mcp::client::Client;
use crate::world::World;

/// A project in git with four todos, the last three of them in no copy.
fn filled() -> World {
    let world = World::with_git();
    for content in ["one", "two", "three", "four"] {
        world.ok(&["add", content]);
    }
    world
}

fn log(world: &World) -> PathBuf {
    world.project.join(".git/punch/store.db-wal")
}

/// Everything that was written since the store was made is in the log.
fn lose(world: &World) {
    fs::remove_file(log(world)).unwrap();
}

#[test]
fn a_deleted_log_is_reported_by_every_command_and_accepted_by_the_user() {
    let world = filled();
    lose(&world);
    for _ in 0..2 {
        let list = world.punch(&["list"]);
        assert_eq!(list.exit, Some(0));
        assert!(list.stderr.starts_with("warning: the store `"), "{}", list.stderr);
        assert!(list.stderr.contains("plan `main` was at revision 4, but"), "{}", list.stderr);
        let copy = "hint: `punch store restore --copy` restores the copy `";
        assert!(list.stderr.contains(copy) && list.stderr.contains("plan `main` at revision 1;"), "{}", list.stderr);
        assert!(list.stderr.contains("`punch store accept` continues with what is left"), "{}", list.stderr);
        let doctor = world.punch(&["doctor"]);
        assert_eq!(doctor.exit, Some(1));
        assert!(doctor.stdout.contains("damaged   writes: the last 5 writes are missing"), "{}", doctor.stdout);
        assert_eq!(world.refused(&["add", "six"]), (1, "store_lost_writes".to_owned()));
    }
    let mut by_agent = world.command(&["store", "accept", "--json"]);
    let refused = by_agent.env("CLAUDECODE", "1").output().unwrap();
    assert!(String::from_utf8(refused.stdout).unwrap().contains("needs_user"), "an agent must not accept it");
    let accepted = world.punch(&["store", "accept"]);
    assert_eq!(accepted.exit, Some(0), "{}", accepted.render());
    assert!(accepted.stdout.contains("Accepted: the last 5 writes are missing: plan `main`"), "{}", accepted.stdout);
    assert_eq!(world.json(&["store", "accept"])["accepted"], false);
    world.ok(&["add", "six"]);
    assert_eq!(world.json(&["list"])["todos"].as_array().unwrap().len(), 1);
    world.sound();
    // The copy of before is kept, and not overwritten by the writes after it.
    let (_, kept) = accepted.stdout.split_once("The latest copy is in `").unwrap();
    let (kept, _) = kept.split_once('`').unwrap();
    world.ok(&["store", "restore", kept]);
    assert_eq!(world.ok(&["list"]), "[ ] T-1  one\n");
    world.sound();
}

#[test]
fn the_copy_ends_the_report() {
    let world = filled();
    lose(&world);
    assert_eq!(world.punch(&["doctor"]).exit, Some(1));
    let restored = world.punch(&["store", "restore", "--copy"]);
    assert_eq!(restored.exit, Some(0), "{}", restored.render());
    assert_eq!(world.ok(&["list"]), "[ ] T-1  one\n");
    assert_eq!(world.ids(), ["T-1"]);
    world.ok(&["add", "two again"]);
    world.sound();
}

#[test]
fn a_cut_or_flipped_log_is_reported_by_doctor() {
    let world = filled();
    let bytes = fs::read(log(&world)).unwrap();
    for share in [0, 1, 2] {
        fs::write(log(&world), &bytes[..bytes.len() * share / 3]).unwrap();
        assert_eq!(world.punch(&["doctor"]).exit, Some(1), "cut at {share} thirds");
        let mut flipped = bytes.clone();
        flipped[bytes.len() * share / 3] ^= 0x40;
        fs::write(log(&world), &flipped).unwrap();
        assert_eq!(world.punch(&["doctor"]).exit, Some(1), "flipped at {share} thirds");
    }
    fs::write(log(&world), &bytes).unwrap();
    world.sound();
}

#[test]
fn hooks_stay_silent_and_log_a_loss_once() {
    let world = filled();
    lose(&world);
    for n in 0..5 {
        let todos = serde_json::json!([{"content": format!("todo {n}"), "status": "pending", "activeForm": "x"}]);
        let report = serde_json::json!({
            "session_id": "s", "cwd": world.project, "hook_event_name": "PostToolUse", "tool_name": "TodoWrite",
            "tool_input": {"todos": todos}, "tool_response": {},
        });
        let run = world.feed(&["hook", "--agent", "claude", "PostToolUse"], &report.to_string());
        assert_eq!((run.exit, run.stdout.as_str(), run.stderr.as_str()), (Some(0), "", ""));
    }
    let logged = fs::read_to_string(world.root.join("home/.local/state/punch/hook.log")).unwrap();
    assert_eq!(logged.matches("are missing").count(), 1, "{logged}");
    assert_eq!(logged.lines().count(), 1, "{logged}");
}

#[test]
fn a_server_reports_a_loss_once_with_the_first_answer() {
    let world = filled();
    lose(&world);
    let mut client = Client::spawn(world.command(&["mcp"]));
    client.begin();
    let read = |client: &mut Client| client.call("todo_read", serde_json::json!({}));
    let first = read(&mut client);
    assert!(first.starts_with("Warning: the store `") && first.contains("are missing"), "{first}");
    assert!(first.contains("punch store restore --copy"), "{first}");
    let second = read(&mut client);
    assert!(!second.contains("Warning"), "{second}");
    client.end();
}
