//! Runs in git worktrees: the user's tree stays as it is, the work comes together on a branch.

use std::fs;

use super::Stage;
use crate::punch::Run;
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
    assert_eq!(stage.world.git(&["worktree", "list"]).lines().count(), 1, "no worktree is left");
    let listed = stage.world.ok(&["runs"]);
    assert!(listed.contains(&format!("  branch {branch}\n")) || listed.ends_with(branch), "{listed}");
    stage.world.sound();
}

/// Such a todo may be a mistake of its agent: only the user can tell.
#[test]
fn a_todo_that_is_done_without_a_check_and_without_a_change_is_pointed_out() {
    let mut stage = Stage::on(World::with_git());
    let pointed_out = |run: &Run| {
        let said = format!("{}{}", run.stdout, run.stderr);
        let lines =
            said.lines().filter(|line| line.contains("is done without a check, and no file was changed for it"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    stage.add(&["work one"]);
    assert_eq!(pointed_out(&stage.ends(&["--worktrees"], 0)), [""; 0], "there is a file");
    stage.spec = "exec:true".to_owned();
    stage.add(&["two"]);
    stage.world.ok(&["add", "three", "--verify", "true"]);
    stage.world.ok(&["verify", "--allow", "T-3"]);
    let lines = pointed_out(&stage.ends(&["--worktrees", "--fresh"], 0));
    assert!(matches!(&lines[..], [line] if line.contains("T-2")), "T-3 has a check: {lines:?}");
}

#[test]
fn work_that_is_not_merged_stays_in_the_inbox() {
    let stage = Stage::on(World::with_git());
    let inbox = || stage.world.ok(&["inbox"]);
    stage.add(&["work one"]);
    stage.ends(&["--worktrees"], 0);
    stage.add(&["work two"]);
    stage.ends(&["--worktrees", "--fresh"], 0);
    stage.world.ok(&["log", "--new"]);
    let waiting = inbox();
    let commands: Vec<&str> = waiting.lines().filter_map(|line| line.trim().strip_prefix("git merge ")).collect();
    assert_eq!(commands.len(), 2, "{waiting}");
    assert!(waiting.contains("run 1 is done") && waiting.contains("run 2 is done"), "{waiting}");
    for branch in commands {
        stage.world.git(&["merge", "--quiet", "--no-edit", branch]);
    }
    assert!(!inbox().contains("git merge"), "{}", inbox());
    stage.world.sound();
}

#[test]
fn a_run_resumes_with_as_many_agents_as_it_began() {
    let stage = killed_with(&["--agents", "2", "--worktrees"]);
    let run = stage.ends(&[], 0);
    assert!(run.stderr.contains("with 2 agents"), "{}", run.render());
}

#[test]
fn without_git_work_trees_are_refused() {
    let stage = Stage::new();
    stage.add(&["work"]);
    let run = stage.run(&["--worktrees", "--json"]);
    assert_eq!(run.exit, Some(1), "{}", run.render());
    assert!(run.stdout.contains("no_worktrees"), "{}", run.render());
    assert_eq!(stage.trace("begun").len(), 0);
    assert!(!run.stdout.contains("begun") && !stage.world.ok(&["inbox"]).contains("run 1"), "{}", run.render());
    let run = stage.ends(&[], 0);
    assert!(run.stderr.contains("run 1 begins") && !run.stderr.contains("worktrees"), "{}", run.render());
}

/// A run in worktrees that was killed after its only todo was reported.
fn killed_after_the_report() -> Stage {
    killed_with(&["--worktrees"])
}

/// A run with these options that was killed after its only todo was reported.
fn killed_with(options: &[&str]) -> Stage {
    let stage = Stage::on(World::with_git());
    stage.add(&["work; say; await go"]);
    let mut run = stage.command(options).spawn().unwrap();
    stage.wait_for("the report", || !stage.trace("said").is_empty());
    run.kill().unwrap();
    run.wait().unwrap();
    stage.all_gone();
    stage.signal("go");
    stage
}

#[test]
fn a_run_that_began_in_work_trees_goes_on_in_them() {
    let stage = killed_after_the_report();
    let run = stage.ends(&[], 0);
    assert!(run.stderr.contains("it continues in worktrees, where its work is"), "{}", run.render());
    assert_eq!((stage.status("T-1").as_str(), stage.trace("begun").len()), ("completed", 1));
    assert!(run.stdout.contains("git merge --ff-only punch/"), "{}", run.render());
    assert!(!stage.world.project.join("made-T-1").exists());
}

#[test]
fn what_was_reported_in_work_trees_of_another_run_is_begun_anew() {
    let stage = killed_after_the_report();
    let run = stage.ends(&["--fresh"], 0);
    assert!(run.stderr.contains("T-1 was reported in the worktrees of another run"), "{}", run.render());
    assert_eq!((stage.status("T-1").as_str(), stage.trace("begun").len()), ("completed", 2));
    assert!(stage.world.project.join("made-T-1").exists());
    assert!(stage.world.ok(&["runs"]).contains("branch punch/"), "the work of the first one is listed");
}

#[test]
fn a_conflict_that_the_user_takes_off_hold_is_not_completed_without_its_work() {
    let mut stage = Stage::on(World::with_git());
    stage.spec = "exec:echo $PUNCH_TODO > a.txt; sleep 1".into();
    stage.add(&["One", "Two"]);
    let run = stage.run(&["--worktrees", "--agents", "2"]);
    let held: Vec<&str> = ["T-1", "T-2"].into_iter().filter(|id| stage.status(id) != "completed").collect();
    let [held] = held[..] else { panic!("{}", run.render()) };
    stage.world.ok(&["unhold", held]);
    let run = stage.ends(&["--worktrees"], 0);
    assert!(run.stderr.contains(&format!("{held} was reported in the worktrees of another run")), "{}", run.render());
    let branch = run.stdout.split('`').find(|part| part.starts_with("git merge")).unwrap().rsplit(' ').next().unwrap();
    assert_eq!(stage.world.git(&["show", &format!("{branch}:a.txt")]).trim(), held, "{}", run.render());
    stage.world.sound();
}

#[test]
fn a_store_that_is_gone_when_the_check_is_over_costs_no_second_check() {
    let stage = Stage::on(World::with_git());
    let check = "echo x >> \"$TRACES/checks\"; [ ! -e made-T-1 ] || sleep 0.3";
    stage.world.ok(&["add", "work", "--verify", check]);
    stage.world.punch(&["verify", "--allow", "T-1"]);
    stage.world.ok(&["reopen", "T-1"]);
    fs::remove_file(stage.traces.join("checks")).ok();
    let store = stage.world.store();
    let run = stage.command(&["--worktrees"]).spawn().unwrap();
    stage.wait_for("the check", || stage.trace("checks").len() == 1);
    let (here, away) = (store.parent().unwrap(), stage.world.root.join("away"));
    fs::rename(here, &away).unwrap();
    let since = std::time::Instant::now();
    stage.wait_for("a second of trouble", || since.elapsed().as_millis() > 1_500);
    fs::rename(&away, here).unwrap();
    let run = crate::world::finished(run.wait_with_output().unwrap());
    assert_eq!((run.exit, stage.alive().len()), (Some(0), 0), "{}", run.render());
    assert_eq!((stage.trace("checks").len(), stage.trace("begun").len()), (1, 1), "{}", run.render());
    assert!(run.stdout.contains("1 commit is on"), "{}", run.render());
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
