//! Runs in repositories in any state, with worktrees and without: what comes of it is defined, and what the user has
//! (files, index, head, refs, stash) stays as it was, to the byte.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::Stage;
use super::belongings::belongings;
use crate::punch::Run;
use crate::world::World;

/// Two todos without worktrees and two with them, in a project that was prepared so. Answers both runs.
fn works(world: World, prepare: impl Fn(&World)) -> [Run; 2] {
    prepare(&world);
    let stage = Stage::on(world);
    let (world, tree) = (&stage.world, stage.world.project.clone());
    stage.add(&["work", "work"]);
    let before = belongings(world, &tree);
    let inside = stage.ends(&["--agents", "2"], 0);
    assert_eq!(belongings(world, &tree), before, "{}", inside.render());
    assert!(tree.join("made-T-1").exists() && tree.join("made-T-2").exists());
    for id in ["T-1", "T-2"] {
        fs::remove_file(tree.join(format!("made-{id}"))).unwrap();
    }
    stage.add(&["work", "work"]);
    let beside = stage.ends(&["--agents", "2", "--worktrees"], 0);
    assert_eq!(belongings(world, &tree), before, "{}", beside.render());
    let branch = result(&beside);
    let made = world.git_in(&tree, &["ls-tree", "--name-only", &branch]);
    assert!(made.contains("made-T-3\n") && made.contains("made-T-4\n") && !made.contains("made-T-1"), "{made}");
    only_result(world, &tree, &branch);
    world.sound();
    [inside, beside]
}

/// The branch that the last lines name.
fn result(run: &Run) -> String {
    let line = run.stdout.lines().find(|line| line.contains("git merge")).unwrap_or_else(|| panic!("{}", run.render()));
    line.rsplit('`').nth(1).unwrap().rsplit(' ').next().unwrap().to_owned()
}

/// No worktree and no branch of a lane is left.
fn only_result(world: &World, tree: &Path, branch: &str) {
    let left = world.git_in(tree, &["for-each-ref", "--format=%(refname)", "refs/heads/punch", "refs/lanes"]);
    assert_eq!(left.lines().collect::<Vec<_>>(), [format!("refs/heads/{branch}"), format!("refs/lanes/{branch}")]);
    let trees = world.git_in(tree, &["worktree", "list"]);
    assert!(!trees.contains("/punch/trees/"), "{trees}");
}

#[test]
fn uncommitted_work_of_every_kind_stays_and_is_told() {
    let runs = works(World::with_git(), |world| {
        let put = |name: &str, text: &str| fs::write(world.project.join(name), text).unwrap();
        put("half.txt", "one\n");
        put("gone.txt", "x\n");
        world.git(&["add", "half.txt", "gone.txt"]);
        world.git(&["commit", "-qm", "more"]);
        put("half.txt", "two\n");
        world.git(&["add", "half.txt"]);
        put("half.txt", "three\n");
        put("a.txt", "changed\n");
        put("staged.txt", "new\n");
        world.git(&["add", "staged.txt"]);
        put("new.txt", "untracked\n");
        put(".gitignore", "ignored\n");
        put("ignored", "x");
        fs::remove_file(world.project.join("gone.txt")).unwrap();
        world.git(&["stash", "list"]);
    });
    assert!(runs[1].stderr.contains("paths differ from the last commit"), "{}", runs[1].render());
}

#[test]
fn a_detached_head_stays_detached() {
    works(World::with_git(), |world| {
        world.git(&["checkout", "-q", "--detach"]);
    });
}

#[test]
fn a_merge_that_the_user_is_in_the_middle_of_stays_so() {
    works(World::with_git(), |world| {
        let commit = |text: &str| {
            fs::write(world.project.join("a.txt"), text).unwrap();
            world.git(&["commit", "-qam", text.trim()]);
        };
        world.git(&["checkout", "-q", "-b", "other"]);
        commit("theirs\n");
        world.git(&["checkout", "-q", "-"]);
        commit("ours\n");
        let merge = world.program("git").args(["merge", "-q", "other"]).output().unwrap();
        assert!(!merge.status.success());
    });
}

#[test]
fn an_index_that_somebody_has_locked_is_no_obstacle() {
    works(World::with_git(), |world| fs::write(world.project.join(".git/index.lock"), "").unwrap());
}

#[test]
fn submodules_stay_and_are_told() {
    let library = World::with_git();
    let runs = works(World::with_git(), |world| {
        let url = library.project.display().to_string();
        world.git(&["-c", "protocol.file.allow=always", "submodule", "add", "-q", &url, "lib"]);
        world.git(&["commit", "-qam", "lib"]);
        fs::write(world.project.join("lib/a.txt"), "changed inside\n").unwrap();
    });
    assert!(runs[1].stderr.contains("1 submodule is empty in the worktrees"), "{}", runs[1].render());
}

#[test]
fn git_hooks_that_fail_neither_run_nor_stop_the_run() {
    let hooks = [
        "pre-commit",
        "commit-msg",
        "prepare-commit-msg",
        "post-commit",
        "post-checkout",
        "pre-merge-commit",
        "post-merge",
        "reference-transaction",
        "post-index-change",
        "post-rewrite",
    ];
    works(World::with_git(), |world| {
        for hook in hooks {
            let path = world.project.join(".git/hooks").join(hook);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "#!/bin/sh\necho ran >> \"$HOME/../ran\"\nexit 1\n").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::remove_file(world.root.join("ran")).ok();
    });
}

#[test]
fn a_shallow_clone_is_a_repository_like_any_other() {
    let origin = World::with_git();
    for n in 0..3 {
        origin.git(&["commit", "-q", "--allow-empty", "-m", &n.to_string()]);
    }
    works(World::new(), |world| {
        let url = format!("file://{}", origin.project.display());
        world.git(&["clone", "-q", "--depth", "1", &url, "."]);
        assert_eq!(world.git(&["rev-list", "--count", "HEAD"]).trim(), "1");
    });
}

#[test]
fn a_work_tree_of_the_users_own_is_as_good_as_the_first_one() {
    let mut world = World::with_git();
    let second = world.root.join("second");
    world.git(&["worktree", "add", "-q", "-b", "second", second.to_str().unwrap()]);
    let first = world.project.clone();
    fs::write(first.join("a.txt"), "changed in the first\n").unwrap();
    let before = belongings(&world, &first);
    world.project = second;
    let first_stays = |world: &World| assert_eq!(belongings(world, &first), before);
    works(world, first_stays);
}

#[test]
fn variables_of_git_around_the_run_lead_no_agent_to_the_users_index() {
    let stage = Stage::on(World::with_git());
    let commit = "sh git -c user.name=a -c user.email=a@b commit -q --allow-empty -m mine";
    stage.add(&[&format!("sh touch x.txt; sh git add x.txt; {commit}; work")]);
    stage.world.ok(&["edit", "T-1", "--verify", "git cat-file -e HEAD:x.txt"]);
    stage.world.punch(&["verify", "--allow", "T-1"]);
    let (world, tree) = (&stage.world, stage.world.project.clone());
    let before = belongings(world, &tree);
    let mut command = stage.command(&["--worktrees"]);
    command.env("GIT_DIR", tree.join(".git")).env("GIT_WORK_TREE", &tree);
    command.env("GIT_INDEX_FILE", tree.join(".git/index")).env("GIT_PREFIX", "");
    let run = crate::world::finished(command.output().unwrap());
    assert_eq!(run.exit, Some(0), "{}", run.render());
    assert_eq!(belongings(world, &tree), before, "{}", run.render());
    let files = world.git(&["ls-tree", "--name-only", &result(&run)]);
    assert_eq!(files.lines().collect::<Vec<_>>(), ["a.txt", "made-T-1", "x.txt"]);
    only_result(world, &tree, &result(&run));
}

#[test]
fn before_the_first_commit_there_are_no_work_trees_and_everything_else() {
    let world = World::new();
    world.git(&["init", "-q"]);
    fs::write(world.project.join("staged.txt"), "x\n").unwrap();
    world.git(&["add", "staged.txt"]);
    let stage = Stage::on(world);
    stage.add(&["work"]);
    let before = belongings(&stage.world, &stage.world.project);
    let run = stage.ends(&["--worktrees", "--json"], 1);
    assert!(run.stdout.contains("no_worktrees") && run.stdout.contains("has no commit yet"), "{}", run.render());
    assert_eq!((stage.trace("begun").len(), stage.status("T-1").as_str()), (0, "pending"));
    stage.ends(&[], 0);
    assert_eq!(belongings(&stage.world, &stage.world.project), before);
}

#[test]
fn a_bare_repository_has_no_work_trees_and_agents_work_in_its_folder() {
    let world = World::new();
    world.git(&["init", "-q", "--bare"]);
    let stage = Stage::on(world);
    stage.add(&["work"]);
    let refs = stage.world.git(&["for-each-ref"]);
    let run = stage.ends(&["--worktrees", "--json"], 1);
    assert!(run.stdout.contains("no_worktrees"), "{}", run.render());
    stage.ends(&[], 0);
    assert_eq!((stage.status("T-1").as_str(), stage.world.git(&["for-each-ref"])), ("completed", refs));
}
