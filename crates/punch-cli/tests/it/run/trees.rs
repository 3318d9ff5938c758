//! Runs in git work trees: the user's tree stays as it is, the work comes together on a branch.

use std::fs;

use super::Stage;
use crate::world::{World, finished};

#[test]
fn work_in_work_trees_comes_together_on_a_branch_and_the_users_tree_stays() {
    let stage = Stage::on(World::with_git());
    fs::write(stage.world.project.join("a.txt"), "not committed\n").unwrap();
    stage.add(&["work one", "work two", "refuse three"]);
    stage.world.ok(&[
        "add",
        "work four",
        "--needs",
        "T-1",
        "--needs",
        "T-2",
        "--verify",
        "ls made-T-1 made-T-2 made-T-4",
    ]);
    stage.world.punch(&["verify", "--allow", "T-4"]);
    let run = stage.ends(&["--agents", "2", "--worktrees"], 1);
    assert!(run.stdout.contains("T-3 failed: exit code 7"), "{}", run.render());
    assert_eq!(stage.status("T-4"), "completed", "{}", run.render());
    let told = run.stdout.lines().find(|line| line.contains("git merge")).unwrap_or_else(|| panic!("{}", run.render()));
    let command = told.rsplit('`').nth(1).unwrap();
    let branch = command.rsplit(' ').next().unwrap();
    let files = stage.world.git(&["ls-tree", "--name-only", branch]);
    assert_eq!(files.lines().collect::<Vec<_>>(), ["a.txt", "made-T-1", "made-T-2", "made-T-4"]);
    let status = stage.world.git(&["status", "--porcelain"]);
    assert_eq!(status.trim(), "M a.txt", "only what was changed before");
    assert_eq!(stage.world.git(&["worktree", "list"]).lines().count(), 1, "no work tree is left");
    let listed = stage.world.ok(&["runs"]);
    assert!(listed.contains(&format!("  branch {branch}\n")) || listed.ends_with(branch), "{listed}");
    stage.world.sound();
}

#[test]
fn without_git_work_trees_are_refused() {
    let stage = Stage::new();
    stage.add(&["work"]);
    let run = stage.run(&["--worktrees", "--json"]);
    assert_eq!(run.exit, Some(1), "{}", run.render());
    assert!(run.stdout.contains("no_worktrees"), "{}", run.render());
    assert_eq!(stage.trace("begun").len(), 0);
}

#[cfg(unix)]
#[test]
fn a_todo_in_a_work_tree_takes_few_git_processes() {
    use std::os::unix::fs::PermissionsExt;

    let path = std::env::var_os("PATH").unwrap_or_default();
    let git = std::env::split_paths(&path).map(|folder| folder.join("git")).find(|git| git.is_file()).unwrap();
    let count = |todos: usize| {
        let stage = Stage::on(World::with_git());
        let bin = stage.world.root.join("bin");
        fs::create_dir(&bin).unwrap();
        let script = format!("#!/bin/sh\necho \"$*\" >> \"$TRACES/git\"\nexec '{}' \"$@\"\n", git.display());
        fs::write(bin.join("git"), script).unwrap();
        fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
        stage.add(&vec!["work"; todos]);
        let mut command = stage.command(&["--worktrees"]);
        let folders = std::iter::once(bin).chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(folders).unwrap());
        let run = finished(command.output().unwrap());
        assert_eq!(run.exit, Some(0), "{}", run.render());
        stage.trace("git").len()
    };
    // Make it, look, stage, commit, look where the result is, move it, look again, take it away.
    let each = (count(5) - count(1)) / 4;
    assert!(each <= 14, "{each} git processes for a todo");
}
