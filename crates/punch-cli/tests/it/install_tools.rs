//! Which todo tools `punch install` connects: punch's, or none beside the agent's own list, which hooks copy.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::world::World;

/// The agents with a list that hooks can copy.
const AGENTS: [&str; 7] = ["claude", "codex", "qwen", "gemini", "cursor", "opencode", "droid"];

/// Every file of the project and of the home folder besides those of git and of punch itself.
fn files(world: &World) -> BTreeMap<PathBuf, String> {
    let mut out = BTreeMap::new();
    let mut folders = vec![world.project.clone(), world.root.join("home")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.ends_with(".git") || entry.ends_with(".local") {
                continue;
            }
            if entry.is_dir() {
                folders.push(entry);
            } else {
                out.insert(entry.clone(), fs::read_to_string(&entry).unwrap_or_default());
            }
        }
    }
    out
}

/// Whether some file starts the server.
fn has_server(world: &World) -> bool {
    let starts = |text: &str| text.contains("\"mcp\"") || text.contains("mcp__punch");
    files(world).iter().any(|(path, text)| !is_copy(path) && starts(text))
}

fn connected(world: &World, agent: &str) -> String {
    let report = world.json(&["doctor"]);
    let agents = report["agents"].as_array().unwrap();
    let row = agents.iter().find(|row| row["agent"] == agent || row["name"] == agent);
    row.unwrap_or_else(|| panic!("{report}"))["personal"].as_str().unwrap().to_owned()
}

#[test]
fn with_its_own_tools_an_agent_gets_hooks_and_no_server() {
    for agent in AGENTS {
        let world = World::with_git();
        let before = files(&world);
        let said = world.ok(&["install", agent, "--tools", "own", "-y"]);
        assert!(!has_server(&world), "{agent}: {said}");
        assert!(files(&world).values().any(|text| text.contains("hook")), "{agent}: {said}");
        assert_eq!(connected(&world, agent), "yes", "{agent}");
        // Another install keeps the choice.
        let again = world.ok(&["install", agent, "-y"]);
        assert!(again.contains("is already connected"), "{agent}: {again}");
        assert!(!has_server(&world), "{agent}");
        world.ok(&["uninstall", agent, "-y"]);
        assert_eq!(files(&world), before, "{agent}");
    }
}

#[test]
fn the_tools_of_an_agent_can_be_exchanged_and_nothing_else_changes() {
    for agent in AGENTS {
        let world = World::with_git();
        world.ok(&["install", agent, "-y"]);
        let with_tools = files(&world);
        assert!(has_server(&world), "{agent}");
        world.ok(&["install", agent, "--tools", "own", "-y"]);
        assert!(!has_server(&world), "{agent}");
        assert_eq!(connected(&world, agent), "yes", "{agent}");
        world.ok(&["install", agent, "--tools", "punch", "-y"]);
        assert!(has_server(&world), "{agent}");
        let texts = |files: BTreeMap<PathBuf, String>| -> Vec<PathBuf> {
            files.into_keys().filter(|path| !is_copy(path)).collect()
        };
        assert_eq!(texts(files(&world)), texts(with_tools), "{agent}");
        assert_eq!(connected(&world, agent), "yes", "{agent}");
    }
}

fn is_copy(path: &Path) -> bool {
    path.to_string_lossy().ends_with(".before-punch")
}

#[test]
fn settings_of_the_user_stay_when_the_server_goes() {
    let world = World::with_git();
    let path = world.project.join(".gemini/settings.json");
    fs::create_dir(world.project.join(".gemini")).unwrap();
    fs::write(&path, "{\n  \"mcpServers\": {\"other\": {\"command\": \"x\"}}\n}\n").unwrap();
    world.ok(&["install", "gemini", "-y"]);
    world.ok(&["install", "gemini", "--tools", "own", "-y"]);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("\"other\"") && text.contains("hooks") && !text.contains("\"mcp\""), "{text}");
}

#[test]
fn an_agent_without_a_list_of_its_own_keeps_punch_s_tools() {
    let world = World::with_git();
    assert_eq!(world.refused(&["install", "copilot", "--tools", "own", "-y"]), (1, "no_own_tools".to_owned()));
    world.ok(&["install", "claude", "copilot", "--tools", "claude=own", "-y"]);
    assert!(has_server(&world));
    let run = world.punch(&["install", "claude", "--tools", "mine", "-y"]);
    assert!(run.stderr.contains("unknown tools `mine` (try punch, own)"), "{}", run.stderr);
}

#[test]
fn install_prints_what_both_ways_cost() {
    let world = World::with_git();
    let said = world.ok(&["install", "claude", "-y"]);
    let price = |way: &str| -> usize {
        let line = said.lines().find(|line| line.trim_start().starts_with(way)).unwrap_or_else(|| panic!("{said}"));
        let (before, _) = line.split_once(" tokens in every request").unwrap_or_else(|| panic!("{line}"));
        before.rsplit(' ').next().unwrap().parse().unwrap()
    };
    assert!((400..800).contains(&price("--tools punch")), "{said}");
    assert_eq!(price("--tools own"), 0, "{said}");
    assert!(said.contains("A plan of 20 todos takes"), "{said}");
}
