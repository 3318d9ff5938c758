//! `punch install` and `punch uninstall`: what goes into agents' files, and that all of it comes out again.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::world::{PUNCH, World, answer, finished};

const AGENTS: [&str; 8] = ["claude", "codex", "qwen", "gemini", "cursor", "opencode", "copilot", "droid"];

/// Everything below the project and the home, but for our own records: mode and bytes, or where a link leads.
fn tree(world: &World) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut out = BTreeMap::new();
    let mut open = vec![world.project.clone(), world.root.join("home")];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let found = path.symlink_metadata().unwrap();
            if path.ends_with(".local/state") || path.ends_with(".git") {
                continue;
            }
            // Our records make it.
            if path.ends_with("home/.local") {
                open.push(path);
                continue;
            }
            let bytes = match (found.is_symlink(), found.is_dir()) {
                (true, _) => fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes(),
                (false, true) => {
                    open.push(path.clone());
                    Vec::new()
                }
                (false, false) => fs::read(&path).unwrap(),
            };
            out.insert(path, (found.permissions().mode(), bytes));
        }
    }
    out
}

/// Which paths differ; whole trees would be unreadable.
fn same(now: &BTreeMap<PathBuf, (u32, Vec<u8>)>, before: &BTreeMap<PathBuf, (u32, Vec<u8>)>) {
    let differs = |path: &&PathBuf| now.get(*path) != before.get(*path);
    let paths: Vec<&PathBuf> = now.keys().chain(before.keys()).filter(differs).collect();
    assert!(paths.is_empty(), "{paths:?}");
}

/// Files of every agent with something in them, below a folder.
fn furnish(folder: &Path, level: &str, manner: usize) {
    // Nobody writes what the agent does not read.
    let json = |path: &str| {
        let strict = path.contains("claude") || path.contains("mcp.json") || path.contains("codex");
        let settings = path.ends_with("settings.json");
        let mark = if path.contains("codex") || path.contains("gemini") { "" } else { "\u{feff}" };
        match (manner, strict, settings) {
            (0, ..) => "{}".to_owned(),
            (1, true, _) => "{\n   \"mcpServers\": {\"other\": {\"command\": \"x\"}},\n\n \"hooks\": {\n    \"Stop\": []\n  }}\n".to_owned(),
            (1, false, true) => "{\n  // mine\n  \"mcpServers\": {\"other\": {\"command\": \"x\"}}, // why\n  \"hooks\": {\n    \"Stop\": [] /* x */\n  }\n}\n".to_owned(),
            (1, false, false) => "{\n  // mine\n  \"mcp\": {\"other\": {\"command\": \"x\"}}, // why\n  \"hooks\": {\n    \"stop\": [],\n  },\n}\n".to_owned(),
            (2, ..) => format!("{mark}{{\r\n\t\"permissions\": {{ \"allow\": [\"Bash(ls)\"] }},\r\n\t\"mcp\": {{}},\r\n\t\"hooks\": {{ }}\r\n}}"),
            (3, ..) => "{\"theme\":\"dark\",\"hooks\":{\"stop\":[{\"command\":\"say\"}],\"AfterAgent\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"say\"}]}]}}\n".to_owned(),
            _ => String::new(),
        }
    };
    let toml = [
        "",
        "model = \"x\" # mine\r\n\r\n[a]\r\nb = 1",
        "\u{feff}[mcp_servers.other]\ncommand = \"x\"\n\n",
        "# only\n",
        "x=1\n",
    ];
    let text = ["# Mine\n", "", "a\r\nb\r\n", "no end", "\u{feff}x\n\n\n"];
    let mut files = vec![".claude/settings.json", ".codex/hooks.json", ".qwen/settings.json", ".gemini/settings.json"];
    files.extend([".cursor/mcp.json", ".cursor/hooks.json", ".factory/mcp.json", ".factory/settings.json"]);
    match level {
        "--user" => files.extend([
            ".claude.json",
            ".config/opencode/opencode.jsonc",
            ".copilot/mcp-config.json",
            ".copilot/settings.json",
        ]),
        "--personal" => files.extend([
            ".claude/settings.local.json",
            "opencode.json",
            ".github/mcp.json",
            ".github/copilot/settings.local.json",
        ]),
        _ => files.extend([".mcp.json", "opencode.json", ".github/mcp.json", ".github/hooks/punch.json"]),
    }
    let owned = |path: &'static str, text: &str| (path, text.to_owned());
    for (path, text) in files.iter().map(|path| (*path, json(path))).chain([
        owned(".codex/config.toml", toml[manner]),
        owned("CLAUDE.md", text[manner]),
        owned("AGENTS.md", text[manner]),
    ]) {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    }
}

fn home(world: &World) -> PathBuf {
    world.root.join("home")
}

#[test]
fn install_and_uninstall_leave_every_byte_of_every_agent_at_every_level() {
    for level in ["--personal", "--shared", "--user"] {
        for manner in 0..6 {
            let world = World::with_git();
            let folder = if level == "--user" { home(&world) } else { world.project.clone() };
            // The last manner is: nothing there at all.
            if manner < 5 {
                furnish(&folder, level, manner);
            }
            let before = tree(&world);
            let status = world.git(&["status", "--porcelain"]);
            let excluded = fs::read(world.project.join(".git/info/exclude")).ok();
            let all: Vec<&str> = ["install", level, "--guide", "--yes"].into_iter().chain(AGENTS).collect();
            world.ok(&all);
            let wired = tree(&world);
            assert_ne!(wired, before);
            if level == "--personal" {
                let now = world.git(&["status", "--porcelain"]);
                let new: Vec<&str> = now.lines().filter(|line| !status.lines().any(|old| old == *line)).collect();
                assert!(new.is_empty(), "{new:?}");
            }
            for (path, (mode, _)) in &before {
                assert_eq!(wired[path].0, *mode, "{}", path.display());
            }
            world.ok(&all);
            same(&tree(&world), &wired);
            for agent in AGENTS {
                world.ok(&["uninstall", level, "-y", agent]);
            }
            same(&tree(&world), &before);
            assert_eq!(world.git(&["status", "--porcelain"]), status, "{level}");
            assert_eq!(fs::read(world.project.join(".git/info/exclude")).ok(), excluded);
            let records = fs::read_dir(home(&world).join(".local/state/punch/wiring")).unwrap().count();
            assert_eq!(records, 1, "only the lock is left");
        }
    }
}

#[test]
fn a_dry_run_shows_and_writes_nothing() {
    let world = World::with_git();
    furnish(&world.project, "--shared", 1);
    let before = tree(&world);
    let said = world.ok(&["install", "--shared", "claude", "--dry-run"]);
    assert!(said.contains("--- .claude/settings.json\n+++ .claude/settings.json\n@@ "), "{said}");
    assert!(said.contains("Claude Code would be connected (shared): `.mcp.json`, `.claude/settings.json`"), "{said}");
    same(&tree(&world), &before);
}

#[test]
fn an_invalid_file_is_refused_with_its_place_and_nothing_is_written() {
    let world = World::with_git();
    fs::create_dir(world.project.join(".claude")).unwrap();
    for (text, place) in [
        ("{\n  \"a\": 1\n  \"b\": 2\n}\n", "line 3, column 3"),
        ("{\n  \"hooks\": [] }", "line 2, column 12"),
        ("{ \"hooks\": {}, \"hooks\": {} }", "occurs twice"),
        ("[1]", "line 1, column 1"),
        ("{\n  // mine\n}", "line 2, column 3: a comment: Claude Code ignores the whole file"),
    ] {
        fs::write(world.project.join(".claude/settings.json"), text).unwrap();
        let before = tree(&world);
        let run = world.punch(&["install", "--shared", "claude", "codex", "--yes"]);
        assert_eq!(run.exit, Some(1), "{}", run.render());
        assert!(run.stderr.contains(place) && run.stderr.contains("settings.json"), "{}", run.stderr);
        same(&tree(&world), &before);
        assert_eq!(world.refused(&["install", "--shared", "claude"]), (1, "invalid_configuration".to_owned()));
        // What we never touched does not keep us from leaving.
        world.ok(&["uninstall", "--shared"]);
        same(&tree(&world), &before);
    }
    fs::write(world.project.join(".claude/settings.json"), b"{\"a\": \"\xff\"}").unwrap();
    assert!(world.punch(&["install", "--shared", "claude", "-y"]).stderr.contains("not UTF-8 text (byte 8)"));
}

#[test]
fn what_a_person_changed_meanwhile_stays_and_ours_goes() {
    let world = World::with_git();
    furnish(&world.project, "--shared", 1);
    world.ok(&["install", "--shared", "claude", "codex", "opencode", "-y"]);
    let edit = |path: &str, from: &str, to: &str| {
        let path = world.project.join(path);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
    };
    edit(".claude/settings.json", "{\n", "{\n  \"theme\": \"dark\",\n");
    edit(".codex/config.toml", "b = 1", "b = 2\r\n\r\n[mcp_servers.punch.env]\r\nA = \"1\"");
    edit(".opencode/plugin/punch.js", "10_000", "20_000");
    let said = world.ok(&["uninstall", "--shared", "claude", "codex", "opencode", "-y"]);
    assert!(said.contains("note: `.opencode/plugin/punch.js` was edited by hand and was left as it is"), "{said}");
    let read = |path: &str| fs::read_to_string(world.project.join(path)).unwrap();
    let expected = "{\n  \"theme\": \"dark\",\n   \"mcpServers\": {\"other\": {\"command\": \"x\"}},\n\n \"hooks\": {\n    \"Stop\": []\n  }}\n";
    assert_eq!(read(".claude/settings.json"), expected);
    assert_eq!(read(".codex/config.toml").replace("\r\n", "\n").trim_end(), "model = \"x\" # mine\n\n[a]\nb = 2");
    assert!(!world.project.join(".claude/settings.json.before-punch").exists());
}

#[test]
fn a_killed_install_leaves_whole_files_and_the_next_one_completes_it() {
    for (level, manner) in [("--shared", 1), ("--shared", 5), ("--user", 3), ("--user", 5)] {
        let world = World::with_git();
        if manner < 5 {
            let folder = if level == "--user" { home(&world) } else { world.project.clone() };
            furnish(&folder, level, manner);
        }
        let all = [&["install", level, "-y"][..], &AGENTS].concat();
        let uninstall = || world.ok(&[&["uninstall", level, "-y"][..], &AGENTS].concat());
        let before = tree(&world);
        world.ok(&all);
        let wired = tree(&world);
        uninstall();
        same(&tree(&world), &before);
        let written: Vec<_> = wired.iter().filter(|(path, now)| before.get(*path) != Some(now)).collect();
        for round in 0..6 {
            let mut child = world.command(&all).stdout(Stdio::null()).spawn().unwrap();
            // Each round waits until more files are in place.
            let in_place = || written.iter().filter(|(path, (_, now))| fs::read(path).is_ok_and(|found| found == *now));
            while child.try_wait().unwrap().is_none() && in_place().count() < round * 2 {}
            child.kill().unwrap();
            child.wait().unwrap();
            // What it was about to put in place; a later write removes it, but not within a minute.
            for path in tree(&world).into_keys().filter(|path| path.extension().is_some_and(|end| end == "tmp")) {
                fs::remove_file(path).unwrap();
            }
            for (path, now) in tree(&world) {
                let whole = [&before, &wired].iter().any(|known| known.get(&path) == Some(&now));
                assert!(whole, "{level}, round {round}: {}", path.display());
            }
            // Half of the time it is undone as it is.
            if round % 2 == 0 {
                world.ok(&all);
                same(&tree(&world), &wired);
            }
            uninstall();
            same(&tree(&world), &before);
        }
    }
}

#[test]
fn if_one_file_cannot_be_written_the_others_are_taken_back() {
    let world = World::with_git();
    fs::create_dir(world.project.join(".claude")).unwrap();
    fs::write(world.project.join(".claude/settings.json"), "{}").unwrap();
    for number in 0..100 {
        let number = if number == 0 { String::new() } else { format!(".{number}") };
        fs::write(world.project.join(format!(".claude/settings.json.before-punch{number}")), "mine").unwrap();
    }
    let before = tree(&world);
    let run = world.punch(&["install", "--shared", "claude", "-y"]);
    assert_eq!(run.exit, Some(1), "{}", run.render());
    same(&tree(&world), &before);
}

#[test]
fn a_folder_that_cannot_be_written_is_told_and_left_alone() {
    let world = World::with_git();
    fs::write(world.project.join(".codex"), "a file").unwrap();
    let before = tree(&world);
    let run = world.punch(&["install", "claude", "codex", "-y"]);
    assert_eq!(run.exit, Some(1), "{}", run.render());
    assert!(run.stderr.contains(".codex"), "{}", run.stderr);
    same(&tree(&world), &before);
    let locked = world.project.join(".qwen");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o555)).unwrap();
    let before = tree(&world);
    let run = world.punch(&["install", "qwen", "-y"]);
    // Root may write everywhere.
    if run.exit == Some(0) {
        world.ok(&["uninstall", "qwen", "-y"]);
    }
    same(&tree(&world), &before);
}

#[test]
fn links_are_followed_inside_the_project_and_never_out_of_it() {
    let world = World::with_git();
    let (project, outside) = (&world.project, world.root.join("outside.json"));
    fs::create_dir(project.join(".claude")).unwrap();
    fs::write(project.join("common.json"), "{ \"a\": 1 }\n").unwrap();
    fs::write(&outside, "{}").unwrap();
    symlink("../common.json", project.join(".claude/settings.json")).unwrap();
    fs::write(project.join("AGENTS.md"), "# Mine\n").unwrap();
    symlink("AGENTS.md", project.join("CLAUDE.md")).unwrap();
    let before = tree(&world);
    world.ok(&["install", "--shared", "claude", "codex", "--guide", "-y"]);
    assert!(fs::read_to_string(project.join("common.json")).unwrap().contains("hook --agent claude Stop"));
    assert!(project.join(".claude/settings.json").is_symlink());
    assert_eq!(fs::read_to_string(project.join("AGENTS.md")).unwrap().matches("punch: begin").count(), 1);
    world.ok(&["uninstall", "--shared", "claude", "-y"]);
    assert!(fs::read_to_string(project.join("AGENTS.md")).unwrap().contains("punch: begin"), "Codex still reads it");
    world.ok(&["uninstall", "--shared", "codex", "-y"]);
    same(&tree(&world), &before);

    fs::remove_file(project.join(".claude/settings.json")).unwrap();
    symlink(&outside, project.join(".claude/settings.json")).unwrap();
    assert_eq!(world.refused(&["install", "--shared", "claude"]), (1, "outside".to_owned()));
    fs::remove_file(&outside).unwrap();
    let run = world.punch(&["install", "--shared", "claude", "-y"]);
    assert!(run.stderr.contains("a broken symbolic link"), "{}", run.stderr);
}

#[test]
fn a_link_in_the_home_leads_where_the_person_wants_it() {
    let world = World::with_git();
    let dotfiles = world.root.join("home/dotfiles");
    fs::create_dir(&dotfiles).unwrap();
    fs::write(dotfiles.join("claude.json"), "{}\n").unwrap();
    symlink("dotfiles/claude.json", home(&world).join(".claude.json")).unwrap();
    let before = tree(&world);
    world.ok(&["install", "--user", "claude", "-y"]);
    assert!(fs::read_to_string(dotfiles.join("claude.json")).unwrap().contains("alwaysLoad"));
    world.ok(&["uninstall", "--user", "claude", "-y"]);
    same(&tree(&world), &before);
}

#[test]
fn agents_that_were_given_other_folders_are_wired_there() {
    let world = World::with_git();
    let elsewhere = world.root.join("elsewhere");
    let run = |verb: &str| {
        let mut command = world.command(&[verb, "--user", "claude", "codex", "opencode", "-y"]);
        for name in ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"] {
            command.env(name, elsewhere.join(name));
        }
        finished(command.output().unwrap())
    };
    assert_eq!(run("install").exit, Some(0));
    for path in [
        "CLAUDE_CONFIG_DIR/.claude.json",
        "CLAUDE_CONFIG_DIR/settings.json",
        "CODEX_HOME/config.toml",
        "CODEX_HOME/hooks.json",
        "XDG_CONFIG_HOME/opencode/opencode.json",
        "XDG_CONFIG_HOME/opencode/plugin/punch.js",
    ] {
        assert!(elsewhere.join(path).is_file(), "{path}");
    }
    assert_eq!(run("uninstall").exit, Some(0));
    assert!(!elsewhere.exists());
}

#[test]
fn many_at_once_end_in_one_wiring() {
    let world = World::with_git();
    furnish(&world.project, "--shared", 1);
    let before = tree(&world);
    let start = || world.command(&["install", "claude", "codex", "-y"]).stdout(Stdio::null()).spawn().unwrap();
    let children: Vec<_> = (0..6).map(|_| start()).collect();
    let ended: Vec<i32> = children.into_iter().map(|mut child| child.wait().unwrap().code().unwrap()).collect();
    // Whoever comes second finds it done.
    assert!(ended.iter().all(|code| *code == 0), "{ended:?}");
    let said = world.ok(&["install", "claude", "codex", "-y"]);
    assert!(said.contains("Claude Code is already connected"), "{said}");
    world.ok(&["uninstall", "claude", "codex", "-y"]);
    same(&tree(&world), &before);
}

#[test]
fn without_a_name_the_agents_on_path_are_meant() {
    let world = World::with_git();
    let bin = world.root.join("bin");
    fs::create_dir(&bin).unwrap();
    let run = |arguments: &[&str]| finished(world.command(arguments).env("PATH", &bin).output().unwrap());
    let none = run(&["install", "--json"]);
    assert_eq!((none.exit, &answer_error(&none.stdout)["code"]), (Some(1), &json!("no_agent")));
    fs::write(bin.join("gemini"), "#!/bin/sh\n").unwrap();
    fs::write(bin.join("qwen"), "no program").unwrap();
    fs::set_permissions(bin.join("gemini"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink(PUNCH, bin.join("punch")).unwrap();
    let one = run(&["install", "--json"]);
    let files = answer(&one)["files"].clone();
    assert_eq!(files.as_array().map(Vec::len), Some(1), "{}", one.render());
    assert_eq!((&files[0]["agents"], &files[0]["change"]), (&json!(["gemini"]), &json!("made")));
    // The name is enough where it leads to this program.
    let written: Value =
        serde_json::from_slice(&fs::read(world.project.join(".gemini/settings.json")).unwrap()).unwrap();
    assert_eq!(written["mcpServers"]["punch"]["command"], "punch");
    assert_eq!(written["hooks"]["AfterAgent"][0]["hooks"][0]["command"], "punch hook --agent gemini AfterAgent");
}

fn answer_error(stdout: &str) -> Value {
    serde_json::from_str::<Value>(stdout).unwrap()["error"].clone()
}

#[test]
fn a_path_with_spaces_is_one_word_for_the_shell() {
    let world = World::with_git();
    let program = world.copy_of_punch("my punch's");
    let mut command = world.program(program.to_str().unwrap());
    assert_eq!(finished(command.args(["install", "claude", "-y"]).output().unwrap()).exit, Some(0));
    let written: Value =
        serde_json::from_slice(&fs::read(world.project.join(".claude/settings.local.json")).unwrap()).unwrap();
    let hook = written["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().unwrap();
    let run = world.feed_command(shell(&world, hook), "{}");
    assert_eq!((run.exit, run.stderr.as_str()), (Some(0), ""), "{hook}");
    // Another program of the same name takes the place over, and can leave it clean.
    world.ok(&["install", "claude", "-y"]);
    let text = fs::read_to_string(world.project.join(".claude/settings.local.json")).unwrap();
    assert!(!text.contains("my punch"), "{text}");
    world.ok(&["uninstall", "claude", "-y"]);
    assert!(!world.project.join(".claude").exists());
}

fn shell(world: &World, line: &str) -> Command {
    let mut command = world.program("sh");
    command.args(["-c", line]);
    command
}

#[test]
fn the_guide_is_printed_and_names_the_tools_of_an_agent() {
    let world = World::with_git();
    assert!(world.ok(&["guide"]).contains("three or more steps"));
    assert!(world.ok(&["guide", "--agent", "claude"]).contains("mcp__punch__todo_write"));
    assert_eq!(world.json(&["guide", "--agent", "gemini"])["agent"], "gemini");
}

/// A folder with agents in it that answer as a test wants.
fn agents(world: &World, scripts: &[(&str, &str)]) -> PathBuf {
    let bin = world.root.join("bin");
    fs::create_dir_all(&bin).unwrap();
    for (name, script) in scripts {
        fs::write(bin.join(name), format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    bin
}

fn with_agents(world: &World, bin: &Path, arguments: &[&str]) -> Command {
    let mut command = world.command(arguments);
    command.env("PATH", bin);
    command
}

/// Answers as `codex app-server` does: one hook trusted, one not, one of someone else.
const CODEX: &str = r#"if [ "$1" = --version ]; then echo 'codex-cli 0.166.0'; exit; fi
while read -r line; do case $line in
*'"id":1,'*) echo '{"id":1,"result":{}}';;
*hooks/list*) echo '{"method":"noise"}'
  echo '{"id":2,"result":{"data":[{"hooks":[{"command":"/x/punch hook --agent codex Stop","trustStatus":"trusted"},{"command":"punch hook --agent codex Interrupt","trustStatus":"untrusted"},{"command":"lint","trustStatus":"untrusted"}]}]}}';;
esac; done"#;

#[test]
fn doctor_tells_of_each_agent_what_it_found_and_what_to_do() {
    let world = World::with_git();
    let claude = "echo '2.1.325 (Claude Code)'";
    let bin = agents(&world, &[("claude", claude), ("codex", CODEX), ("gemini", "exit 3")]);
    world.ok(&["install", "codex", "-y"]);
    world.ok(&["install", "--user", "cursor", "-y"]);
    fs::create_dir(world.project.join(".qwen")).unwrap();
    fs::write(world.project.join(".qwen/settings.json"), "{ \"punch\"").unwrap();
    let run = finished(with_agents(&world, &bin, &["doctor"]).output().unwrap());
    assert_eq!(run.exit, Some(0), "{}", run.render());
    let about = run.stdout.find("note      Claude Code").unwrap_or_else(|| panic!("{}", run.stdout));
    let program = PathBuf::from(PUNCH).canonicalize().unwrap();
    insta::assert_snapshot!(world.hide_paths(&run.stdout[about..]).replace(program.to_str().unwrap(), "PUNCH"), @r#"
    note      Claude Code: 2.1.325; not connected
              `punch install claude` connects it
    note      Codex: 0.166.0; connected (personal); 1 of 2 hooks trusted
              hooks that are not trusted do not run: start `codex` here and type `/hooks`
    note      Gemini CLI: found, but its version is unknown; not connected
              `punch install gemini` connects it
    ok        Cursor: not on PATH; connected (user)
    ok        server: `PUNCH mcp` answers: punch 0.1.0
    No problems found.
    "#);
    let said = answer(&finished(with_agents(&world, &bin, &["doctor", "--json"]).output().unwrap()));
    assert_eq!((&said["damaged"], &said["reachable"]), (&json!(false), &json!(true)));
    let codex = said["agents"].as_array().unwrap().iter().find(|agent| agent["agent"] == "codex").unwrap();
    assert_eq!((&codex["personal"], &codex["user"]), (&json!("yes"), &json!("no")));
    assert_eq!((&codex["version"], &codex["hooks"]), (&json!("0.166.0"), &json!({"known": 2, "trusted": 1})));
}

#[test]
fn wiring_twice_is_told() {
    let world = World::with_git();
    world.ok(&["install", "--user", "claude", "-y"]);
    let said = world.ok(&["install", "--personal", "claude", "-y"]);
    assert!(said.contains("its hooks run twice now; `punch uninstall --user claude`"), "{said}");
    let said = world.ok(&["doctor"]);
    assert!(said.contains("its hooks run more than once: `punch uninstall --personal claude`"), "{said}");
}

#[test]
fn init_names_the_agents_it_finds_and_wires_them_only_when_told() {
    let world = World::with_git();
    let bin = agents(&world, &[("claude", "exit"), ("opencode", "exit")]);
    let run = |arguments: &[&str]| finished(with_agents(&world, &bin, arguments).output().unwrap());
    let before = tree(&world);
    let said = run(&["init"]).stdout;
    assert!(
        said.contains("punch install claude opencode   # Claude Code and OpenCode found, not connected yet"),
        "{said}"
    );
    assert!(!run(&["init", "--no-agents"]).stdout.contains("install"));
    assert_eq!(answer(&run(&["init", "--json"]))["agents"], json!({"found": ["claude", "opencode"], "wired": []}));
    same(&tree(&world), &before);
    let said = run(&["init", "--yes"]).stdout;
    assert!(said.contains("OpenCode connected (personal)"), "{said}");
    assert!(said.contains("advice for the model to `") && said.contains("`AGENTS.md`"), "{said}");
    let guide = fs::read_to_string(world.project.join("AGENTS.md")).unwrap();
    assert!(guide.contains("three or more steps"), "{guide}");
    // What is wired is not offered again.
    assert!(!run(&["init"]).stdout.contains("punch install"));
    world.ok(&["uninstall", "-y"]);
    same(&tree(&world), &before);
}

#[test]
fn init_makes_the_store_even_if_an_agent_cannot_be_wired() {
    let world = World::with_git();
    let bin = agents(&world, &[("codex", "exit"), ("claude", "exit")]);
    fs::create_dir(world.project.join(".codex")).unwrap();
    fs::write(world.project.join(".codex/config.toml"), "mcp_servers = { a = { command = \"x\" } }\n").unwrap();
    let run = finished(with_agents(&world, &bin, &["init", "--yes"]).output().unwrap());
    assert_eq!(run.exit, Some(0), "{}", run.render());
    assert!(run.stdout.contains("Created `") && run.stdout.contains("Claude Code connected"), "{}", run.stdout);
    assert!(run.stderr.contains("note: Codex cannot be connected: `.codex/config.toml`"), "{}", run.stderr);
    assert!(!world.project.join(".codex/hooks.json").exists());
}

#[test]
fn a_plugin_is_installed_for_the_user_and_leaves_nothing_behind() {
    let world = World::with_git();
    fs::create_dir(home(&world).join(".claude")).unwrap();
    fs::write(home(&world).join(".claude/settings.json"), "{\n    \"enabledPlugins\": { }\n}").unwrap();
    let before = tree(&world);
    world.ok(&["install", "--user", "--plugin", "claude", "codex", "gemini", "-y"]);
    let market = home(&world).join(".local/share/punch/marketplace");
    for path in ["plugins/punch/commands/todo.md", "plugins/punch/hooks/hooks.json"] {
        assert!(market.join(path).is_file(), "{path}");
    }
    // Each agent finds its own plugin and no other: it would refuse hook events that it does not know.
    for (path, plugin) in
        [(".claude-plugin/marketplace.json", "punch"), (".agents/plugins/marketplace.json", "punch-codex")]
    {
        let catalog: Value = serde_json::from_str(&fs::read_to_string(market.join(path)).unwrap()).unwrap();
        let names: Vec<&str> =
            catalog["plugins"].as_array().unwrap().iter().filter_map(|p| p["name"].as_str()).collect();
        assert_eq!(names, [plugin], "{path}");
    }
    let settings = fs::read_to_string(home(&world).join(".claude/settings.json")).unwrap();
    assert!(
        settings.contains("\"punch@punchlist\": true") && settings.contains(market.to_str().unwrap()),
        "{settings}"
    );
    let wired = tree(&world);
    world.ok(&["install", "--user", "--plugin", "claude", "codex", "gemini", "-y"]);
    same(&tree(&world), &wired);
    let doctor = world.json(&["doctor"]);
    let user = |agent: &str| {
        let agents = doctor["agents"].as_array().unwrap();
        agents.iter().find(|found| found["agent"] == agent).unwrap()["user"].clone()
    };
    // Codex takes the plugin itself; until then it is not wired.
    assert_eq!((user("claude"), user("codex"), user("gemini")), (json!("yes"), json!("no"), json!("yes")));
    assert_eq!(world.refused(&["install", "--user", "claude"]), (1, "wired_otherwise".to_owned()));
    world.ok(&["uninstall", "--user", "claude", "-y"]);
    assert!(market.is_dir(), "Codex may still use it");
    world.ok(&["uninstall", "--user", "-y"]);
    same(&tree(&world), &before);
}

#[test]
fn where_there_is_no_plugin_that_is_said() {
    let world = World::with_git();
    assert_eq!(world.refused(&["install", "--plugin", "claude"]), (1, "no_plugin".to_owned()));
    assert_eq!(world.refused(&["install", "--user", "--plugin", "cursor"]), (1, "no_plugin".to_owned()));
    world.ok(&["install", "--user", "claude", "-y"]);
    assert_eq!(world.refused(&["install", "--user", "--plugin", "claude"]), (1, "wired_otherwise".to_owned()));
}
