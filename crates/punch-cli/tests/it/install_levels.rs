//! Whose settings `punch install` changes: your own by default, the team's with `--shared`, and never both.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::run::terminal::Watched;
use crate::world::{PUNCH, World, finished};

const AGENTS: [&str; 8] = ["claude", "codex", "qwen", "gemini", "cursor", "opencode", "copilot", "droid"];

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn status(world: &World) -> String {
    world.git(&["status", "--porcelain", "--untracked-files=all"])
}

#[test]
fn without_a_flag_only_your_own_settings_change_and_git_sees_nothing() {
    let world = World::with_git();
    let clean = status(&world);
    let said = world.ok(&[&["install", "--guide", "-y"], &AGENTS[..]].concat());
    assert_eq!(status(&world), clean);
    assert!(said.contains("`~/.claude.json`") && said.contains("`.claude/settings.local.json`"), "{said}");
    for path in [".gemini/settings.json", ".codex/hooks.json", ".opencode/plugin/punch.js", ".git/info/exclude"] {
        assert!(said.contains(&format!("`{path}`")), "{path}: {said}");
    }
    let key = world.project.to_str().unwrap();
    assert_eq!(read(&world.root.join("home/.claude.json"))["projects"][key]["mcpServers"]["punch"]["args"][0], "mcp");
    let settings = read(&world.project.join(".claude/settings.local.json"));
    assert!(settings["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().unwrap().ends_with("--agent claude Stop"));
    for path in [".mcp.json", ".claude/settings.json", "CLAUDE.md"] {
        assert!(!world.project.join(path).exists(), "{path}");
    }
    assert!(world.project.join("CLAUDE.local.md").exists() && world.project.join("AGENTS.md").exists());
    world.ok(&["uninstall", "-y"]);
    assert_eq!(status(&world), clean);
    assert!(!fs::read_to_string(world.project.join(".git/info/exclude")).unwrap_or_default().contains("punch"));
}

#[test]
fn lines_of_the_user_in_the_exclude_file_stay() {
    let world = World::with_git();
    let exclude = world.project.join(".git/info/exclude");
    fs::write(&exclude, "*.log\n/.gemini/settings.json").unwrap();
    world.ok(&["install", "gemini", "qwen", "-y"]);
    let text = fs::read_to_string(&exclude).unwrap();
    assert_eq!(text.matches(".gemini").count(), 1, "{text}");
    assert!(text.contains("\n/.qwen/settings.json\n"), "{text}");
    world.ok(&["uninstall", "-y"]);
    assert_eq!(fs::read_to_string(&exclude).unwrap(), "*.log\n/.gemini/settings.json\n");
}

#[test]
fn install_says_that_agents_are_continued_and_how_to_turn_it_off() {
    let world = World::with_git();
    let said = world.ok(&["install", "claude", "-y"]);
    let sentence =
        said.lines().find(|line| line.starts_with("Auto-continue is on")).unwrap_or_else(|| panic!("{said}"));
    assert!(sentence.contains("`punch keep-going off`"), "{sentence}");
    let mut off = world.command(&["install", "claude", "-y"]);
    let said = finished(off.env("PUNCH_KEEP_GOING", "false").output().unwrap()).stdout;
    assert!(!said.contains("Auto-continue"), "{said}");
    assert_eq!(world.json(&["install", "claude"])["autoContinue"], true);
}

#[test]
fn a_file_that_git_tracks_is_changed_only_when_the_user_says_so() {
    let world = World::with_git();
    fs::create_dir(world.project.join(".gemini")).unwrap();
    fs::write(world.project.join(".gemini/settings.json"), "{}\n").unwrap();
    world.git(&["add", "."]);
    world.git(&["commit", "-q", "-m", "settings"]);
    let run = world.punch(&["install", "gemini", "-y"]);
    assert_eq!(run.exit, Some(1), "{}", run.render());
    assert!(run.stderr.contains("git tracks `.gemini/settings.json`"), "{}", run.stderr);
    assert!(run.stderr.contains("`punch install --user gemini`"), "{}", run.stderr);
    assert_eq!(world.refused(&["install", "gemini"]), (1, "tracked".to_owned()));
    std::os::unix::fs::symlink(".gemini", world.project.join(".qwen")).unwrap();
    assert_eq!(world.refused(&["install", "qwen"]), (1, "tracked".to_owned()), "a link to a tracked file");
    fs::remove_file(world.project.join(".qwen")).unwrap();
    assert_eq!(status(&world), "");
    world.ok(&["install", "--shared", "gemini", "-y"]);
    assert_eq!(status(&world).trim(), "M .gemini/settings.json");
    // An untracked copy of the file before would be noise.
    assert!(world.project.join(".gemini/settings.json.before-punch").exists());
    // Now it would have to move out of the tracked file, to a place that is nowhere in the project.
    assert_eq!(world.refused(&["install", "--personal", "gemini"]), (1, "tracked".to_owned()));
    world.ok(&["uninstall", "--shared", "gemini", "-y"]);
    assert_eq!(status(&world), "");
    // Advice is left out rather than written into a tracked file.
    fs::write(world.project.join("QWEN.md"), "# Ours\n").unwrap();
    world.git(&["add", "QWEN.md"]);
    world.git(&["commit", "-q", "-m", "advice"]);
    let said = world.ok(&["install", "qwen", "--guide", "-y"]);
    assert!(said.contains("`QWEN.md` did not get the guide"), "{said}");
    assert_eq!(status(&world), "");
}

#[test]
fn on_a_terminal_the_user_is_asked_before_all_projects_are_connected() {
    for (answers, exit, connected) in [("y\ny\n", 0, true), ("n\n", 1, false)] {
        let world = World::with_git();
        fs::create_dir(world.project.join(".qwen")).unwrap();
        fs::write(world.project.join(".qwen/settings.json"), "{}\n").unwrap();
        world.git(&["add", "."]);
        let mut run = Watched::start(world.command(&["install", "qwen"]));
        run.types(answers);
        let (ended, screen) = run.ends();
        assert_eq!(ended, Some(exit), "{screen:?}");
        assert_eq!(world.root.join("home/.qwen/settings.json").exists(), connected, "{screen:?}");
        assert_eq!(fs::read_to_string(world.project.join(".qwen/settings.json")).unwrap(), "{}\n");
    }
}

#[test]
fn on_a_terminal_d_shows_the_differences_and_asks_again() {
    let world = World::with_git();
    let settings = world.project.join(".claude/settings.local.json");
    for (answers, connected) in [("d\nn\n", false), ("d\nd\ny\n", true)] {
        let mut run = Watched::start(world.command(&["install", "claude"]));
        run.types(answers);
        let (ended, screen) = run.ends();
        let screen = screen.join("\n");
        assert_eq!(ended, Some(0), "{screen}");
        assert_eq!(settings.exists(), connected, "{screen}");
        let shown = screen.matches("+++ .claude/settings.local.json").count();
        assert_eq!(shown, answers.matches('d').count(), "{screen}");
    }
}

#[test]
fn a_shared_install_is_kept_and_reported_and_moves_only_on_request() {
    for agent in AGENTS {
        let world = World::with_git();
        world.ok(&["install", "--shared", agent, "-y"]);
        let shared = status(&world);
        let said = world.ok(&["install", agent, "-y"]);
        assert!(said.contains("already connected by files that this project shares"), "{said}");
        assert!(said.contains(&format!("`punch install --personal {agent}`")), "{said}");
        assert_eq!(status(&world), shared, "{agent}");
        let doctor = |level: &str| {
            let found = world.json(&["doctor"])["agents"].as_array().unwrap().clone();
            found.into_iter().find(|found| found["agent"] == agent).unwrap()[level].as_str().unwrap().to_owned()
        };
        assert_eq!((doctor("personal"), doctor("shared")), ("no".to_owned(), "yes".to_owned()), "{agent}");
        world.ok(&["install", "--personal", agent, "-y"]);
        assert_eq!(status(&world), "", "{agent}");
        assert_eq!((doctor("personal"), doctor("shared")), ("yes".to_owned(), "no".to_owned()), "{agent}");
        world.ok(&["install", "--project", agent, "-y"]);
        assert_eq!(status(&world), shared, "{agent}");
        assert_eq!((doctor("personal"), doctor("shared")), ("no".to_owned(), "yes".to_owned()), "{agent}");
        world.ok(&["uninstall", "--shared", agent, "-y"]);
        assert_eq!(status(&world), "", "{agent}");
        let records = fs::read_dir(world.root.join("home/.local/state/punch/wiring")).unwrap().count();
        assert_eq!(records, 1, "{agent}: only the lock is left");
    }
}

#[test]
fn hooks_in_shared_files_are_silent_without_punch_and_work_with_it() {
    let world = World::with_git();
    world.ok(&["install", "--shared", "claude", "codex", "gemini", "qwen", "cursor", "copilot", "droid", "-y"]);
    let (empty, bin) = (world.root.join("empty"), world.root.join("bin"));
    fs::create_dir(&empty).unwrap();
    fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(PUNCH, bin.join("punch")).unwrap();
    for (file, event) in [
        (".claude/settings.json", "SessionStart"),
        (".codex/hooks.json", "SessionStart"),
        (".gemini/settings.json", "SessionStart"),
        (".qwen/settings.json", "SessionStart"),
        (".cursor/hooks.json", "sessionStart"),
        (".github/hooks/punch.json", "SessionStart"),
        (".factory/settings.json", "SessionStart"),
    ] {
        let group = read(&world.project.join(file))["hooks"][event][0].clone();
        let handler = if group["hooks"].is_array() { &group["hooks"][0] } else { &group };
        let line = handler["command"].as_str().or_else(|| handler["bash"].as_str()).unwrap();
        let run = |path: &PathBuf| {
            let mut shell = world.program("/bin/sh");
            shell.args(["-c", line]).env("PATH", path);
            world.feed_command(shell, "{\"session_id\": \"s\", \"source\": \"startup\"}")
        };
        let without = run(&empty);
        assert_eq!((without.exit, without.stdout.as_str(), without.stderr.as_str()), (Some(0), "", ""), "{file}");
        let with = run(&bin);
        assert_eq!((with.exit, with.stderr.as_str()), (Some(0), ""), "{file}: {line}");
    }
}

/// Claude Code files local settings under the main worktree, and all worktrees share one exclude file.
#[test]
fn linked_worktrees_are_connected_and_disconnected_one_by_one() {
    let world = World::with_git();
    let linked = world.root.join("linked");
    world.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    let run = |folder: &Path, arguments: &[&str]| {
        let mut command = world.command(arguments);
        let run = finished(command.current_dir(folder).output().unwrap());
        assert_eq!(run.exit, Some(0), "{}", run.render());
    };
    let clean = |folder: &Path| world.git_in(folder, &["status", "--porcelain", "--untracked-files=all"]);
    run(&world.project, &["install", "gemini", "-y"]);
    run(&linked, &["install", "gemini", "claude", "-y"]);
    let servers = read(&world.root.join("home/.claude.json"))["projects"].clone();
    assert!(servers[world.project.to_str().unwrap()]["mcpServers"]["punch"].is_object(), "{servers}");
    assert_eq!((clean(&world.project), clean(&linked)), (String::new(), String::new()));
    run(&linked, &["uninstall", "-y"]);
    assert!(world.project.join(".gemini/settings.json").exists() && !linked.join(".gemini").exists());
    assert_eq!((clean(&world.project), clean(&linked)), (String::new(), String::new()));
    run(&world.project, &["uninstall", "-y"]);
    assert!(!world.project.join(".gemini").exists());
}

#[test]
fn claudes_own_file_is_where_its_folder_is() {
    let world = World::with_git();
    let elsewhere = world.root.join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let run = |verb: &str| {
        let mut command = world.command(&[verb, "claude", "-y"]);
        assert!(command.env("CLAUDE_CONFIG_DIR", &elsewhere).output().unwrap().status.success());
    };
    run("install");
    let mode = fs::metadata(elsewhere.join(".claude.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "Claude Code keeps the mode, and may put secrets into it");
    assert!(read(&elsewhere.join(".claude.json"))["projects"][world.project.to_str().unwrap()].is_object());
    assert!(world.project.join(".claude/settings.local.json").exists());
    run("uninstall");
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[test]
fn outside_git_the_project_files_are_used() {
    let world = World::new();
    world.ok(&["install", "claude", "gemini", "-y"]);
    assert!(world.project.join(".gemini/settings.json").exists());
    assert!(world.project.join(".claude/settings.local.json").exists());
    world.ok(&["uninstall", "-y"]);
    assert!(!world.project.join(".gemini").exists() && !world.project.join(".claude").exists());
}

#[test]
fn every_agent_gets_the_dialect_that_was_asked_for_and_keeps_it() {
    let world = World::with_git();
    let install = |more: &[&str]| world.ok(&[&["install", "-y"], &AGENTS[..], more].concat());
    install(&["--dialect", "todowrite", "--dialect", "codex=cursor"]);
    let key = world.project.to_str().unwrap();
    let claude = || read(&world.root.join("home/.claude.json"))["projects"][key]["mcpServers"]["punch"]["args"].clone();
    let opencode = || read(&world.project.join("opencode.json"))["mcp"]["punch"]["command"].clone();
    let codex = || fs::read_to_string(world.project.join(".codex/config.toml")).unwrap();
    let chosen = serde_json::json!(["mcp", "--dialect", "todowrite"]);
    let with_choice = || {
        assert_eq!(claude(), chosen);
        assert_eq!(opencode().as_array().unwrap()[1..], chosen.as_array().unwrap()[..]);
        assert!(codex().contains("args = [\"mcp\", \"--dialect\", \"cursor\"]"), "{}", codex());
    };
    with_choice();
    // Another install keeps the choice, and so does what the user wrote by hand.
    install(&[]);
    with_choice();
    let doctor = world.json(&["doctor"]);
    assert!(doctor["agents"].as_array().unwrap().iter().all(|agent| agent["personal"] == "yes"), "{doctor}");
    install(&["--dialect", "native"]);
    assert_eq!(claude(), serde_json::json!(["mcp", "--dialect", "native"]));
    let wrong = world.punch(&["install", "claude", "--dialect", "todo"]);
    assert!(wrong.exit == Some(2) && wrong.stderr.contains("unknown dialect `todo` (try native, "), "{}", wrong.stderr);
    let wrong = world.punch(&["install", "claude", "--dialect", "claud=native"]);
    assert!(wrong.exit == Some(2) && wrong.stderr.contains("unknown agent `claud`"), "{}", wrong.stderr);
    world.ok(&["uninstall", "-y"]);
    assert!(!world.project.join("opencode.json").exists());
}

/// AGENTS.md is read by several agents; only those that were connected are disconnected.
#[test]
fn uninstall_names_only_agents_that_were_connected() {
    let world = World::with_git();
    world.ok(&["install", "--guide", "-y", "codex"]);
    // Without a terminal and without `-y` it says what it would do, in a few lines.
    let run = world.punch(&["uninstall"]);
    assert_eq!((run.exit, run.stdout.as_str()), (Some(1), ""));
    assert!(run.stderr.starts_with("Codex would be disconnected (personal): "), "{}", run.stderr);
    assert!(run.stderr.lines().count() < 6, "{}", run.stderr);
    let said = world.ok(&["uninstall", "-y"]);
    assert_eq!(said.matches(" disconnected ").count(), 1, "{said}");
    assert!(said.starts_with("Codex disconnected (personal): ") && said.contains("`AGENTS.md`"), "{said}");
}
