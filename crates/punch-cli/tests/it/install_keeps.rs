//! What belongs to the user survives `punch install` and `punch uninstall`, whatever happens in between.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::world::World;

/// A settings file of every agent that keeps its settings in JSON, as `install` writes it with a flag.
const FILES: [(&str, &str, &str); 14] = [
    ("claude", "--shared", ".claude/settings.json"),
    ("codex", "--shared", ".codex/hooks.json"),
    ("qwen", "--shared", ".qwen/settings.json"),
    ("gemini", "--shared", ".gemini/settings.json"),
    ("cursor", "--shared", ".cursor/hooks.json"),
    ("copilot", "--shared", ".github/hooks/punch.json"),
    ("droid", "--shared", ".factory/settings.json"),
    ("claude", "--user", ".claude/settings.json"),
    ("codex", "--user", ".codex/hooks.json"),
    ("qwen", "--user", ".qwen/settings.json"),
    ("gemini", "--user", ".gemini/settings.json"),
    ("cursor", "--user", ".cursor/hooks.json"),
    ("copilot", "--user", ".copilot/settings.json"),
    ("droid", "--user", ".factory/settings.json"),
];

fn folder(world: &World, level: &str) -> PathBuf {
    if level == "--user" { world.root.join("home") } else { world.project.clone() }
}

/// The file is made by the first install; then the user adds settings and one of our hooks gets lost, so that the second
/// install has something to write.
#[test]
fn settings_added_to_a_file_that_punch_made_survive_a_second_install() {
    for (agent, level, file) in FILES {
        let world = World::with_git();
        let path = folder(&world, level).join(file);
        world.ok(&["install", level, agent, "-y"]);
        let mut settings: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        settings["model"] = json!("opus");
        let hooks = settings["hooks"].as_object_mut().unwrap();
        let event = hooks.keys().next().unwrap().clone();
        hooks.shift_remove(&event);
        fs::write(&path, format!("{settings:#}\n")).unwrap();
        world.ok(&["install", level, agent, "-y"]);
        world.ok(&["uninstall", level, agent, "-y"]);
        let left = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{agent} {level}: {error}"));
        let left: Value = serde_json::from_str(&left).unwrap();
        assert_eq!(left["model"], "opus", "{agent} {level}");
        assert!(!left.to_string().contains("punch"), "{agent} {level}: {left}");
    }
}

#[test]
fn a_copy_stays_when_the_file_it_was_made_of_is_gone_or_has_lost_something() {
    let world = World::with_git();
    let (file, copy) =
        (world.project.join(".gemini/settings.json"), world.project.join(".gemini/settings.json.before-punch"));
    fs::create_dir(world.project.join(".gemini")).unwrap();
    for (now, stays) in
        [(None, true), (Some("{ \"theme\": \"light\" }"), true), (Some("{ \"theme\": \"dark\" }"), false)]
    {
        fs::write(&file, "{ \"theme\": \"dark\" }\n").unwrap();
        world.ok(&["install", "gemini", "-y"]);
        match now {
            None => fs::remove_file(&file).unwrap(),
            Some(text) => fs::write(&file, text).unwrap(),
        }
        let said = world.ok(&["uninstall", "gemini", "-y"]);
        assert_eq!(copy.exists(), stays, "{now:?}: {said}");
        assert_eq!(said.contains("settings.json.before-punch` was kept"), stays, "{said}");
        assert_eq!(fs::read_to_string(&file).ok().as_deref(), now);
        let _ = fs::remove_file(&copy);
    }
}

#[test]
fn two_projects_share_claudes_own_file_and_leave_it_one_by_one() {
    let world = World::with_git();
    let file = world.root.join("home/.claude.json");
    let start = "{\n  \"numStartups\": 3\n}\n";
    fs::write(&file, start).unwrap();
    let other = world.root.join("other");
    fs::create_dir(&other).unwrap();
    world.git_in(&other, &["init", "-q"]);
    let run = |folder: &PathBuf, verb: &str, flag: &str| {
        let mut command = world.command(&[verb, flag, "claude", "-y"]);
        assert!(command.current_dir(folder).output().unwrap().status.success());
        serde_json::from_slice::<Value>(&fs::read(&file).unwrap()).unwrap()
    };
    run(&world.project, "install", "--personal");
    run(&other, "install", "--personal");
    let all = run(&other, "install", "--user");
    let key = |folder: &PathBuf| folder.to_str().unwrap().to_owned();
    assert!(all["mcpServers"]["punch"].is_object());
    let left = run(&world.project, "uninstall", "--personal");
    assert!(left["projects"][key(&world.project)].is_null());
    assert_eq!(left["projects"][key(&other)]["mcpServers"]["punch"]["args"], json!(["mcp"]));
    assert!(left["mcpServers"]["punch"].is_object());
    let left = run(&other, "uninstall", "--user");
    assert!(left["projects"][key(&other)]["mcpServers"]["punch"].is_object() && left["mcpServers"].is_null());
    run(&other, "uninstall", "--personal");
    assert_eq!(fs::read_to_string(&file).unwrap(), start);
}

/// A record of version 0.1, which knew only one kind of project install.
#[test]
fn an_install_of_an_earlier_version_is_shared_and_can_be_undone() {
    let world = World::with_git();
    world.ok(&["install", "--shared", "gemini", "-y"]);
    let records = world.root.join("home/.local/state/punch/wiring");
    for entry in fs::read_dir(&records).unwrap() {
        let path = entry.unwrap().path();
        let Ok(mut record) = serde_json::from_slice::<Value>(&fs::read(&path).unwrap()) else { continue };
        record.as_object_mut().unwrap().retain(|name, _| name != "personal" && name != "excluded");
        fs::write(&path, record.to_string()).unwrap();
    }
    let said = world.ok(&["install", "gemini", "-y"]);
    assert!(said.contains("already connected by files that this project shares"), "{said}");
    let said = world.ok(&["uninstall", "gemini", "-y"]);
    assert!(said.contains("`punch uninstall --shared gemini` disconnects that"), "{said}");
    world.ok(&["uninstall", "--shared", "gemini", "-y"]);
    assert!(!world.project.join(".gemini").exists());
}
