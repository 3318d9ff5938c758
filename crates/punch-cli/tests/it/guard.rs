//! What only the user may do, and which settings of a project count. `cargo xtask escape` tries the whole table.

use std::fs;

use punch_engine::config::KEYS;

use crate::world::{World, answer, finished};

/// Every mark that the program knows.
fn marks() -> Vec<String> {
    let agents = punch_agents::marks().map(|mark| mark.variable);
    agents.chain(["PUNCH_SESSION_FILE", "PUNCH_ASSIGNED"]).map(str::to_owned).collect()
}

fn refused(world: &World, arguments: &[&str], mark: &str) -> (i32, String, String) {
    let mut command = world.command(&[arguments, &["--json"]].concat());
    let run = finished(command.env(mark, "1").output().unwrap());
    let error = answer(&run)["error"].clone();
    let text = |name: &str| error[name].as_str().unwrap_or_else(|| panic!("{}", run.render())).to_owned();
    (run.exit.unwrap(), text("code"), text("message"))
}

#[test]
fn every_mark_keeps_agents_from_what_only_the_user_may_do() {
    let world = World::with_git();
    world.ok(&["add", "one", "--verify", "touch ran"]);
    for mark in marks() {
        for arguments in [
            &["verify", "--allow", "T-1"][..],
            &["run", "--agent", "exec:touch ran"],
            &["worker", "--agent", "exec:touch ran"],
            &["config", "set", "--user", "policy.verify", "trust"],
            &["config", "unset", "agents.claude.keep_going.enabled"],
            &["store", "backup", "copy.db", "--force"],
            &["keep-going", "off"],
            &["rm", "--all"],
            &["undo", "--any"],
            &["plan", "archive", "main"],
            &["store", "prune"],
            &["store", "restore", "copy.db"],
            &["uninstall", "claude", "-y"],
        ] {
            let (exit, code, message) = refused(&world, arguments, &mark);
            assert_eq!((exit, code.as_str()), (1, "user_only"), "{arguments:?}");
            assert!(message.contains(&format!("`{mark}`")), "{message}");
        }
    }
    assert!(!world.project.join("ran").exists());
    for (mark, free) in [("PUNCH_OWNER", "verify"), ("PUNCH_PLAN", "verify")] {
        let mut command = world.command(&[free, "--allow", "T-1"]);
        assert!(command.env(mark, "main").output().unwrap().status.success(), "{mark} is the user's too");
    }
    let dry = world.command(&["run", "--dry-run", "--agent", "claude"]).env("CLAUDECODE", "1").output().unwrap();
    assert!(dry.status.success(), "a dry run starts nothing");
}

#[test]
fn no_agent_sets_a_setting_that_is_for_the_user() {
    let world = World::with_git();
    let guarded: Vec<&str> = KEYS.iter().filter(|key| key.is_guarded()).map(|key| key.name).collect();
    for key in ["policy.verify", "verify.plan", "verify.where", "notify.command", "run.max_cost", "worker.remote"] {
        assert!(guarded.contains(&key), "{key}");
    }
    for key in guarded {
        for arguments in [&["config", "set", key, "1"][..], &["config", "unset", "--user", key]] {
            let (exit, code, _) = refused(&world, arguments, "CLAUDECODE");
            assert_eq!((exit, code.as_str()), (1, "user_only"), "{arguments:?}");
        }
    }
}

#[test]
fn a_setting_with_a_command_counts_once_the_user_approved_it() {
    let world = World::with_git();
    world.ok(&["add", "one"]);
    let file = world.project.join(".git/punch/config.toml");
    fs::write(&file, "lease = \"5m\"\nrun.agent = \"exec:it's\"\npolicy.verify = \"command\"\n").unwrap();
    let run = world.punch(&["config", "get", "run.agent"]);
    assert_eq!((run.exit, run.stdout.as_str()), (Some(0), ""));
    let wanted = format!(
        "warning: `run.agent` in `{}` line 2 is ignored: you have not approved it\nhint: if you want it, run `punch \
         config set run.agent 'exec:it'\\''s'`\n",
        file.display()
    );
    assert_eq!(run.stderr, wanted);
    assert_eq!(world.punch(&["list"]).stderr, wanted, "every command says so");
    let get = |key: &str| world.ok(&["config", "get", key]).trim().to_owned();
    assert_eq!((get("lease"), get("policy.verify")), ("5m".to_owned(), "command".to_owned()), "stricter is welcome");
    world.ok(&["config", "set", "run.agent", "exec:it's"]);
    let run = world.punch(&["config", "get", "run.agent"]);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("exec:it's\n", ""));
    // What is written over it is another value.
    fs::write(&file, "run.agent = \"exec:other\"\npolicy.verify = \"trust\"\n").unwrap();
    assert_eq!((get("run.agent"), get("policy.verify")), (String::new(), "claim".to_owned()));
    // In one's own file, and by variable, no approval is needed.
    world.ok(&["config", "set", "--user", "run.agent", "claude"]);
    assert_eq!(get("run.agent"), "claude");
    let by_variable = world.command(&["config", "get", "run.agent"]).env("PUNCH_RUN_AGENT", "codex").output().unwrap();
    assert_eq!(by_variable.stdout, b"codex\n");
}

#[test]
fn a_setting_can_be_approved_before_there_is_a_store() {
    let world = World::with_git();
    world.ok(&["config", "set", "run.permission", "deny"]);
    assert_eq!(world.ok(&["config", "get", "run.permission"]), "deny\n");
}

#[test]
fn an_approval_prints_the_command_whatever_state_the_todo_is_in() {
    let world = World::with_git();
    world.ok(&["add", "one", "two", "--verify", "false"]);
    world.ok(&["add", "three"]);
    world.ok(&["start", "T-1"]);
    world.ok(&["hold", "T-2", "wait"]);
    let run = world.punch(&["verify", "--allow", "T-1", "T-2"]);
    assert_eq!((run.exit, run.stdout.as_str()), (Some(0), "Approved for T-1: false\nApproved for T-2: false\n"));
    assert_eq!(world.json(&["show", "T-1"])["todo"]["status"], "in_progress", "nothing ran");
    // All or none.
    world.ok(&["edit", "T-1", "--verify", "touch ran"]);
    assert_eq!(world.refused(&["verify", "--allow", "T-1", "T-3"]), (1, "no_verify_command".to_owned()));
    assert_eq!(world.refused(&["verify", "T-1"]), (1, "needs_consent".to_owned()));
    assert!(!world.project.join("ran").exists());
}

#[test]
fn worktrees_of_one_repository_share_approvals_and_copies_do_not() {
    let world = World::with_git();
    world.ok(&["add", "one", "--verify", "touch ran"]);
    world.ok(&["verify", "--allow", "T-1"]);
    world.git(&["worktree", "add", "-q", "../linked"]);
    let mut command = world.command(&["verify", "T-1"]);
    assert!(command.current_dir(world.root.join("linked")).output().unwrap().status.success());
    assert!(world.root.join("linked/ran").exists());
    // A folder that only says that it belongs to the repository.
    world.ok(&["reopen", "T-1"]);
    fs::create_dir(world.root.join("copy")).unwrap();
    fs::copy(world.root.join("linked/.git"), world.root.join("copy/.git")).unwrap();
    let run = finished(world.command(&["verify", "T-1"]).current_dir(world.root.join("copy")).output().unwrap());
    assert!(run.stderr.contains("has not been approved yet"), "{}", run.render());
    assert!(!world.root.join("copy/ran").exists());
}

#[test]
fn an_approval_of_an_earlier_version_is_void_and_that_is_said() {
    let world = World::with_git();
    world.ok(&["add", "one", "--verify", "true"]);
    // As earlier versions named it: the length of the path, the path, the command.
    let store = world.store();
    let path = store.as_os_str().as_encoded_bytes();
    let mut bytes = (path.len() as u64).to_le_bytes().to_vec();
    bytes.extend(path);
    bytes.extend(serde_json::json!("true").to_string().bytes());
    let old = world.root.join("home/.local/state/punch/consents");
    fs::create_dir_all(&old).unwrap();
    let input = world.root.join("bytes");
    fs::write(&input, bytes).unwrap();
    let hash = world.program("sha256sum").arg(&input).output().unwrap().stdout;
    let hash = String::from_utf8(hash).unwrap().split(' ').next().unwrap().to_owned();
    fs::write(old.join(format!("{hash}.json")), "").unwrap();
    let run = world.punch(&["verify", "T-1"]);
    assert!(run.stderr.contains("approvals given to an earlier version no longer count"), "{}", run.render());
}
