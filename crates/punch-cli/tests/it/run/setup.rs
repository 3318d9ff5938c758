//! What the worktree of a todo gets before its agent starts: ignored files, a setup command, a port.

use std::fs;

use super::Stage;
use crate::world::{World, finished};

fn stage() -> Stage {
    let stage = Stage::on(World::with_git());
    let project = &stage.world.project;
    fs::write(project.join(".gitignore"), ".env\n*.local\nlink\nmade-by-setup\n").unwrap();
    stage.world.git(&["add", ".gitignore"]);
    stage.world.git(&["commit", "-qm", "ignore"]);
    stage
}

#[test]
fn a_lane_is_prepared_before_its_agent_starts() {
    let mut stage = stage();
    let project = &stage.world.project;
    fs::write(project.join(".env"), "SECRET=1\n").unwrap();
    fs::create_dir(project.join("config")).unwrap();
    fs::write(project.join("config/db.local"), "db\n").unwrap();
    fs::write(project.join("other.local"), "not wanted\n").unwrap();
    stage.spec.push_str(
        " 'sh cat .env config/db.local made-by-setup >> $TRACES/seen; sh ls *.local >> $TRACES/seen; \
         sh echo $PUNCH_PORT >> $TRACES/ports; work'",
    );
    stage.add(&["one", "two"]);
    let mut command = stage.command(&["--agents", "2", "--worktrees"]);
    command.env("PUNCH_RUN_COPY", ".env, config/*.local");
    command.env("PUNCH_RUN_SETUP", "test -f .env && echo $PUNCH_PORT >> $TRACES/ports && echo ready > made-by-setup");
    let run = finished(command.output().unwrap());
    assert_eq!(run.exit, Some(0), "{}", run.render());
    let mut seen = stage.trace("seen");
    seen.sort();
    assert_eq!(seen, ["SECRET=1", "SECRET=1", "db", "db", "ready", "ready"], "{}", run.render());
    // One port for each lane, the same for the setup and the agent.
    let mut ports = stage.trace("ports");
    assert_eq!(ports.len(), 4);
    ports.sort();
    ports.dedup();
    assert_eq!(ports.len(), 2);
    assert!(ports.iter().all(|port| port.parse::<u16>().is_ok_and(|port| port > 0)), "{ports:?}");
    // Nothing of it is part of the work.
    let merge =
        run.stdout.lines().find(|line| line.contains("git merge")).unwrap_or_else(|| panic!("{}", run.render()));
    let branch = merge.rsplit('`').nth(1).and_then(|command| command.rsplit(' ').next()).unwrap();
    let files = stage.world.git(&["ls-tree", "-r", "--name-only", branch]);
    assert!(!files.contains(".env") && !files.contains("local") && !files.contains("setup"), "{files}");
}

#[test]
fn a_failing_setup_fails_no_todo() {
    let stage = stage();
    stage.add(&["work"]);
    let mut command = stage.command(&["--worktrees"]);
    command.env("PUNCH_RUN_SETUP", "echo no network >&2; exit 3");
    let run = finished(command.output().unwrap());
    assert_eq!(run.exit, Some(1), "{}", run.render());
    let why = "cannot prepare the worktree for T-1: `run.setup` failed with exit code 3: no network";
    assert!(run.stdout.contains(why), "{}", run.render());
    let todo = stage.todo("T-1");
    assert_eq!((&todo["status"], todo["attempts"].as_u64().unwrap_or_default()), (&"pending".into(), 0));
    assert_eq!(stage.trace("begun").len(), 0);
    stage.ends(&["--worktrees"], 0);
}

#[cfg(unix)]
#[test]
fn links_are_not_copied_into_a_lane() {
    let stage = stage();
    fs::write(stage.world.root.join("outside"), "secret").unwrap();
    std::os::unix::fs::symlink(stage.world.root.join("outside"), stage.world.project.join("link")).unwrap();
    stage.add(&["work"]);
    let mut command = stage.command(&["--worktrees"]);
    command.env("PUNCH_RUN_COPY", "link");
    let run = finished(command.output().unwrap());
    assert_eq!(run.exit, Some(1), "{}", run.render());
    assert!(
        run.stdout.contains("cannot copy `link` into the worktree: only regular files are copied"),
        "{}",
        run.render()
    );
    assert_eq!(stage.status("T-1"), "pending");
}

/// A file that came with a clone must not make a command run.
#[test]
fn a_setup_in_the_projects_file_needs_approval() {
    let stage = stage();
    stage.add(&["work"]);
    let file = stage.world.project.join(".git/punch/config.toml");
    fs::write(file, "run.setup = \"touch $TRACES/ran\"\n").unwrap();
    let run = stage.ends(&["--worktrees"], 0);
    assert!(run.stderr.contains("run.setup"), "{}", run.render());
    assert!(!stage.traces.join("ran").exists());
}
