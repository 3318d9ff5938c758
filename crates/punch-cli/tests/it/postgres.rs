//! Daily use with plans in PostgreSQL: the same commands, hooks and server, on a database that the test starts itself.
#![cfg(all(unix, feature = "postgres"))]

use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use punch_testkit::postgres;
use serde_json::{Value, json};

use crate::mcp::client::Client;
use crate::punch::Run;
use crate::world::World;

/// A repository whose plans are on a server, in a schema of their own.
pub struct Team {
    pub world: World,
    pub address: String,
}

impl Team {
    fn new() -> Option<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let address = format!("{}&schema=team_{number}", postgres::shared()?.address("postgres"));
        Some(Self { world: World::with_git(), address })
    }

    fn set_up() -> Option<Self> {
        let team = Self::new()?;
        let made = team.world.ok(&["init", "--store", &team.address, "--project", "shop", "--no-agents"]);
        assert!(made.contains(&format!("Created `{}, project shop` with the plan `main`", team.address)), "{made}");
        Some(team)
    }

    /// A command that learns about the server from variables only, as on another machine.
    pub fn elsewhere(&self, other: &World, arguments: &[&str]) -> Run {
        let mut command: Command = other.command(arguments);
        command.env("PUNCH_STORE", &self.address).env("PUNCH_PROJECT", "shop");
        other.feed_command(command, "")
    }
}

fn ids(list: &Value) -> Vec<String> {
    let todos = list["todos"].as_array().or_else(|| list.as_array()).cloned().unwrap_or_default();
    todos.iter().filter_map(|todo| todo["id"].as_str().map(str::to_owned)).collect()
}

#[test]
fn the_daily_verbs_work_on_a_server() {
    let Some(Team { world, .. }) = Team::set_up() else { return };
    world.ok(&["add", "Write the parser", "Test the parser"]);
    world.ok(&["add", "Ship the parser", "--needs", "T-1"]);
    world.ok(&["list"]);
    world.ok(&["next"]);
    world.ok(&["start", "T-1"]);
    world.ok(&["note", "T-1", "half way"]);
    world.ok(&["done", "T-1"]);
    world.ok(&["log"]);
    world.ok(&["undo"]);
    world.ok(&["show", "T-1"]);
    world.ok(&["status"]);
    world.ok(&["export", "plan.json"]);
    world.ok(&["checkpoint", "save"]);
    world.ok(&["plan", "list"]);
    world.sound();
    let info = world.json(&["store", "info"]);
    assert!(info["engine"].as_str().is_some_and(|engine| engine.starts_with("PostgreSQL")), "{info}");
    assert!(!world.project.join(".git/punch/store.db").exists(), "nothing is stored in the repository");
}

#[test]
fn another_machine_sees_the_same_plan_and_a_project_of_its_own_is_empty() {
    let Some(team) = Team::set_up() else { return };
    team.world.ok(&["add", "Shared"]);
    let other = World::with_git();
    let seen = team.elsewhere(&other, &["list", "--json"]);
    assert!(seen.exit == Some(0) && seen.stdout.contains("Shared"), "{}", seen.render());
    team.elsewhere(&other, &["done", "T-1"]);
    assert!(team.world.ok(&["log"]).contains("T-1"));
    let mut alone = other.command(&["list", "--json"]);
    alone.env("PUNCH_STORE", &team.address);
    let alone = other.feed_command(alone, "");
    assert!(alone.exit == Some(0) && !alone.stdout.contains("Shared"), "{}", alone.render());
    // A worktree of the repository uses the same server.
    team.world.git(&["worktree", "add", "-q", "../linked"]);
    let mut linked = team.world.command(&["list", "--all"]);
    linked.current_dir(team.world.root.join("linked"));
    assert!(team.world.feed_command(linked, "").stdout.contains("Shared"));
}

#[test]
fn a_hook_mirrors_the_list_of_an_agent_and_exits_0_when_the_server_is_away() {
    let Some(team) = Team::set_up() else { return };
    let todos = json!([{"content": "From the agent", "status": "pending", "activeForm": "Doing"}]);
    let report = json!({"session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "TodoWrite", "tool_use_id": "c",
        "tool_input": {"todos": todos}, "tool_response": {}, "cwd": team.world.project});
    let run = team.world.feed(&["hook", "--agent", "claude", "PostToolUse"], &report.to_string());
    assert_eq!(run.exit, Some(0), "{}", run.render());
    assert!(team.world.ok(&["list"]).contains("From the agent"));
    let mut away = team.world.command(&["hook", "--agent", "claude", "PostToolUse"]);
    away.env("PUNCH_STORE", "postgres://x@/x?host=/nonexistent");
    let run = team.world.feed_command(away, &report.to_string());
    assert_eq!(run.exit, Some(0), "{}", run.render());
    let mut away = team.world.command(&["list", "--json"]);
    away.env("PUNCH_STORE", "postgres://x@/x?host=/nonexistent");
    let run = team.world.feed_command(away, "");
    assert!(run.exit == Some(3) && run.stdout.contains("store_unavailable"), "{}", run.render());
}

#[test]
fn plans_move_between_a_file_and_a_server_and_back() {
    let Some(team) = Team::new() else { return };
    let World { root, .. } = &team.world;
    team.world.ok(&["add", "One", "Two"]);
    team.world.ok(&["done", "T-1"]);
    let before = team.world.json(&["log"]);
    let copied = team.world.ok(&["store", "copy", ".git/punch", &team.address, "--project", "shop"]);
    assert!(copied.contains("1 plan, 2 todos"), "{copied}");
    let back = root.join("back").display().to_string();
    team.world.ok(&["store", "copy", &team.address, &back, "--project", "shop"]);
    assert_eq!(team.world.json(&["log", "--store", &back]), before);
    let (exit, code) = team.world.refused(&["store", "copy", ".git/punch", &team.address, "--project", "shop"]);
    assert_eq!((exit, code.as_str()), (3, "store_conflict"));
    team.world.ok(&["init", "--store", &team.address, "--project", "shop", "--no-agents"]);
    assert_eq!(team.world.json(&["log"]), before);
    team.world.ok(&["add", "Three"]);
    let file = root.join("backup.db").display().to_string();
    team.world.ok(&["store", "backup", &file, "--force"]);
    let again = root.join("again").display().to_string();
    team.world.ok(&["store", "copy", &file, &again]);
    assert_eq!(ids(&team.world.json(&["list", "--store", &again])), ids(&team.world.json(&["list"])));
    team.world.ok(&["store", "prune", "--before", "2", "--export", &root.join("events.jsonl").display().to_string()]);
    team.world.sound();
    assert_eq!(team.world.refused(&["store", "restore", &file]).1, "store_on_server");
}

#[test]
fn passwords_are_not_taken_from_addresses_and_the_project_cannot_name_a_server() {
    let world = World::with_git();
    let secret = "postgres://ann:hush@db.invalid/plans";
    for run in [world.punch(&["list", "--store", secret]), world.punch(&["init", "--store", secret])] {
        assert!(run.exit != Some(0) && run.stderr.contains("password"), "{}", run.render());
        assert!(!run.render().contains("hush"), "{}", run.render());
    }
    // A file of the repository that looks like the user's is not read.
    std::fs::create_dir_all(world.project.join(".config/punch")).unwrap();
    let root = world.project.display().to_string();
    let trap = json!({root: {"address": "postgres://x@/x?host=/nonexistent", "project": "x"}});
    for name in [".config/punch/servers.json", "servers.json", ".git/servers.json"] {
        std::fs::write(world.project.join(name), trap.to_string()).unwrap();
    }
    world.ok(&["add", "a"]);
    assert!(world.project.join(".git/punch/store.db").exists());
}

#[test]
fn the_server_of_an_agent_changes_the_plan() {
    let Some(team) = Team::set_up() else { return };
    let mut client = Client::spawn(team.world.command(&["mcp"]));
    client.begin();
    client.call("todo_write", json!({"ops": [{"op": "add", "content": "By the model"}]}));
    assert!(team.world.ok(&["list"]).contains("By the model"));
    client.call("todo_write", json!({"ops": [{"op": "done", "id": "T-1"}]}));
    assert!(team.world.ok(&["list", "--all"]).contains("By the model"));
    assert_eq!(team.world.json(&["show", "T-1"])["todo"]["status"], "completed");
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_works_a_plan_on_a_server_to_its_end() {
    let Some(Team { world, .. }) = Team::set_up() else { return };
    let stage = crate::run::Stage::on(world);
    stage.add(&["work one", "work two"]);
    stage.world.ok(&["add", "work three", "--needs", "T-1"]);
    let run = stage.ends(&["--agents", "2"], 0);
    assert_eq!(stage.status("T-3"), "completed", "{}", run.render());
    assert!(stage.world.ok(&["runs"]).contains("done"));
    stage.world.sound();
}

#[test]
fn a_password_of_the_store_reaches_no_program_that_is_not_ours() {
    let Some(Team { world, .. }) = Team::set_up() else { return };
    let out = world.root.join("leaked");
    let leak = format!("printenv PGPASSWORD >> '{}'; true", out.display());
    let punch = |arguments: &[&str]| {
        let mut command = world.command(arguments);
        command.env("PGPASSWORD", "hush").env("PUNCH_RUN_ATTEMPTS", "1").env("PUNCH_RUN_BACKOFF", "10ms");
        world.feed_command(command, "")
    };
    world.ok(&["config", "set", "policy.verify", "command"]);
    world.ok(&["add", "checked", "--verify", &leak]);
    world.ok(&["verify", "--allow", "T-1"]);
    let hook = world.project.join(".git/hooks/post-checkout");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, format!("#!/bin/sh\n{leak}\n")).unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut edit = world.command(&["edit", "T-1"]);
    edit.env("PGPASSWORD", "hush").env("EDITOR", format!("{leak}; true"));
    world.feed_command(edit, "");
    let run = punch(&["verify", "T-1"]);
    assert_eq!(run.exit, Some(0), "{}", run.render());
    world.ok(&["config", "set", "policy.verify", "claim"]);
    world.ok(&["add", "worked"]);
    punch(&["run", "--agent", &format!("exec:{leak}"), "--worktrees"]);
    assert_eq!(std::fs::read_to_string(&out).unwrap_or_default(), "", "{}", run.render());
    assert!(out.exists(), "something has run");
}

/// Every way in which a database can be of no use: a code and a hint for the user, and a hook that does not stop the agent.
#[test]
fn a_database_that_is_of_no_use_has_a_clear_message_and_stops_no_agent() {
    let Some(team) = Team::set_up() else { return };
    let world = &team.world;
    world.ok(&["add", "a"]);
    let cluster = postgres::shared().unwrap();
    let schema = team.address.rsplit_once('=').unwrap().1.to_owned();
    let sql = |sql: &str| cluster.sql("postgres", &sql.replace("SCHEMA", &schema)).unwrap();
    let todos = json!([{"content": "From the agent", "status": "pending", "activeForm": "Doing"}]);
    let report = json!({"session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "TodoWrite", "tool_use_id": "c",
        "tool_input": {"todos": todos}, "tool_response": {}, "cwd": world.project});
    let meets = |address: &str, code: &str, word: &str| {
        let with = |arguments: &[&str]| {
            let mut command = world.command(arguments);
            command.env("PUNCH_STORE", address).env("PUNCH_PROJECT", "shop");
            command
        };
        let run = world.feed_command(with(&["add", "b", "--json"]), "");
        let says = |text: &str| run.stdout.contains(text);
        assert!(matches!(run.exit, Some(1 | 3)) && says(code) && says(word), "{}", run.render());
        let hook = world.feed_command(with(&["hook", "--agent", "claude", "PostToolUse"]), &report.to_string());
        assert_eq!(hook.exit, Some(0), "{}", hook.render());
    };
    meets("postgres://x@/x?host=/nonexistent", "store_unavailable", "/nonexistent");
    let read_only = format!("{}&options=-c%20default_transaction_read_only%3Don", team.address);
    meets(&read_only, "store_read_only", "primary");
    meets(&cluster.address("nowhere"), "store_missing", "nowhere");
    sql("CREATE FUNCTION SCHEMA.disk_full() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN RAISE EXCEPTION 'No space left on device' USING ERRCODE = '53100'; END $$; \
         CREATE TRIGGER disk_full BEFORE INSERT ON SCHEMA.event EXECUTE FUNCTION SCHEMA.disk_full()");
    meets(&team.address, "store_full", "No space left");
    sql("DROP TRIGGER disk_full ON SCHEMA.event; UPDATE SCHEMA.meta SET major = 99");
    meets(&team.address, "store_too_new", "99");
    sql("UPDATE SCHEMA.meta SET major = 1");
    let list = world.ok(&["list", "--all"]);
    assert!(!list.contains("From the agent") && list.lines().count() == 1, "nothing of it was stored: {list}");
}

/// The clock of a machine does not count: leases are judged by that of the server.
#[cfg(target_os = "linux")]
#[test]
fn machines_whose_clocks_are_an_hour_apart_share_claims() {
    let Some(team) = Team::set_up() else { return };
    let folders = std::fs::read_dir("/usr/lib").unwrap().flatten();
    let mut libraries = folders.map(|entry| entry.path().join("faketime/libfaketimeMT.so.1"));
    let Some(library) = libraries.find(|file| file.is_file()) else {
        // The gate installs it where `CI` is set.
        assert!(std::env::var_os("CI").is_none(), "the package `faketime` is missing");
        return eprintln!("SKIPPED: clocks are not tested: the package `faketime` is missing");
    };
    let at = |hours: &str, owner: &str, arguments: &[&str]| {
        let mut command = team.world.command(arguments);
        command.env("LD_PRELOAD", &library).env("FAKETIME", hours).env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        command.env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", owner);
        team.world.feed_command(command, "")
    };
    team.world.ok(&["add", "one", "two"]);
    let first = at("-1h", "behind", &["claim", "--lease", "10m", "--json"]);
    assert!(first.exit == Some(0) && first.stdout.contains("\"T-1\""), "{}", first.render());
    let second = at("+1h", "ahead", &["claim", "--lease", "10m", "--json"]);
    assert!(second.exit == Some(0) && second.stdout.contains("\"T-2\""), "{}", second.render());
    let third = at("+1h", "third", &["claim", "--json"]);
    assert!(!third.stdout.contains("T-1") && !third.stdout.contains("T-2"), "no claim has run out: {}", third.render());
    let done = at("-1h", "behind", &["done", "T-1"]);
    assert_eq!(done.exit, Some(0), "{}", done.render());
}
