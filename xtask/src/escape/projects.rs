//! Files that come with a project: by an agent that may write the worktree, an archive, a clone.

use super::Cell;
use super::world::EscapeWorld;
use crate::TaskResult;

/// All cells of this kind.
pub fn cells() -> Vec<Cell> {
    let mut cells = configuration();
    cells.extend(stores());
    cells.extend(approvals());
    cells
}

/// `run.agent`, with which a plain `punch run` would start a command.
fn config(world: &EscapeWorld) -> String {
    format!("[run]\nagent = \"exec:{}\"\npermission = \"allow\"\nallow = \"Bash(*)\"\n", world.touch())
}

fn configuration() -> Vec<Cell> {
    vec![
        Cell::runs("control", "the user sets run.agent, then runs", |world| {
            world.ok("repo", &["add", "Do it"])?;
            world.ok("repo", &["config", "set", "run.agent", &format!("exec:{}", world.touch())])?;
            world.ok("repo", &["run"]).map(drop)
        }),
        Cell::held("agent in the worktree", "config.toml beside an in-tree store", |world| {
            world.repository("tree")?;
            world.ok("tree", &["init", "--in-tree", "--no-agents"])?;
            world.ok("tree", &["add", "Do it"])?;
            world.write("tree/.punch/config.toml", &config(world))?;
            world.refused("tree", &["run"], &[], "usage")?;
            is(world, "tree", "run.permission", "ask")?;
            is(world, "tree", "run.allow", "")
        }),
        Cell::held("agent in the worktree", "config.toml loosens policy.verify", |world| {
            world.ok("repo", &["add", "Do it"])?;
            world.ok("repo", &["config", "set", "--user", "policy.verify", "command"])?;
            world.write("repo/.git/punch/config.toml", "policy.verify = \"trust\"\n")?;
            is(world, "repo", "policy.verify", "command")
        }),
        Cell::held("archive", ".punch with store and config.toml, outside git", |world| {
            world.write("tar/x", "")?;
            world.ok("tar", &["add", "Do it"])?;
            world.write("tar/.punch/config.toml", &config(world))?;
            world.refused("tar", &["run"], &[], "usage")
        }),
    ]
}

fn stores() -> Vec<Cell> {
    let verbs: [&'static [&'static str]; 3] = [&["run"], &["list"], &["status"]];
    let mut cells: Vec<Cell> = Vec::new();
    for verb in verbs {
        cells.push(Cell::held("clone", format!("embedded bare repository, `punch {}`", verb[0]), move |world| {
            embedded(world, "")?;
            world.refused("clone/vendor", verb, &[], "repository_embedded")?;
            world.refused("clone/vendor/punch", verb, &[], "repository_embedded")
        }));
    }
    cells.push(Cell::held("clone", "embedded bare repository that names a worktree", |world| {
        embedded(world, "../elsewhere/.git\n")?;
        world.refused("clone/vendor", &["run"], &[], "repository_embedded")
    }));
    cells.push(Cell::held("clone", "embedded bare repository, a hook at the start of a session", |world| {
        embedded(world, "")?;
        let ran = world.punch("clone/vendor", &["hook", "--agent", "claude", "SessionStart"])?;
        if ran.out.contains("planted") { Err(format!("the hook shows the plan: {}", ran.out)) } else { Ok(()) }
    }));
    cells.push(Cell::held("clone", "tracked .punch", |world| {
        world.repository("origin")?;
        world.ok("origin", &["init", "--in-tree", "--no-agents"])?;
        world.ok("origin", &["add", "planted"])?;
        world.write("origin/.punch/config.toml", &config(world))?;
        clone(world)?;
        world.refused("clone", &["run"], &[], "store_tracked")?;
        world.refused("clone", &["list"], &[], "store_tracked")
    }));
    cells
}

fn approvals() -> Vec<Cell> {
    const CHECK: &str = "./check.sh";
    vec![
        Cell::runs("control", "an approved command in a linked worktree", |world| {
            checked(world, "one", &format!("{}\n", world.touch()))?;
            world.ok("one", &["verify", "--allow", "T-1"])?;
            world.git("one", &["worktree", "add", "--quiet", "../linked"])?;
            world.ok("linked", &["verify", "T-1"]).map(drop)
        }),
        Cell::held("another project", "takes the path of an approved store", |world| {
            checked(world, "one", "true\n")?;
            world.ok("one", &["verify", "--allow", "T-1"])?;
            std::fs::remove_dir_all(world.path("one")).map_err(|cause| cause.to_string())?;
            checked(world, "one", &format!("{}\n", world.touch()))?;
            world.refused("one", &["verify", "T-1"], &[], "needs_consent")
        }),
        Cell::held("another project", "is the folder for PUNCH_STORE of an approved one", |world| {
            checked(world, "one", "true\n")?;
            world.ok("one", &["verify", "--allow", "T-1"])?;
            checked(world, "two", &format!("{}\n", world.touch()))?;
            let store = world.path("one/.git/punch").display().to_string();
            world.refused("two", &["verify", "T-1"], &[("PUNCH_STORE", &store)], "needs_consent")?;
            world.refused("two", &["--store", &store, "verify", "T-1"], &[], "needs_consent")
        }),
        Cell::held("archive", "its .git names a worktree of an approved project", |world| {
            checked(world, "one", "true\n")?;
            world.ok("one", &["verify", "--allow", "T-1"])?;
            world.git("one", &["worktree", "add", "--quiet", "../linked"])?;
            world.write("tar/check.sh", &format!("{}\n", world.touch()))?;
            world.script("tar", "chmod +x check.sh; cp ../linked/.git .git")?;
            world.refused("tar", &["verify", "T-1"], &[], "needs_consent")
        }),
        Cell::held("archive", "its .git names the git folder of an approved project", |world| {
            checked(world, "one", "true\n")?;
            world.ok("one", &["verify", "--allow", "T-1"])?;
            world.write("tar/check.sh", &format!("{}\n", world.touch()))?;
            world.script("tar", "chmod +x check.sh; echo \"gitdir: $PLACE/one/.git\" > .git")?;
            world.refused("tar", &["verify", "T-1"], &[], "needs_consent")
        }),
        Cell::held("whoever writes todos", "a command that is not the approved one", |world| {
            checked(world, "one", "true\n")?;
            world.ok("one", &["verify", "--allow", "T-1"])?;
            world.ok("one", &["edit", "T-1", "--verify", &format!("{CHECK}; {}", world.touch())])?;
            world.refused("one", &["verify", "T-1"], &[], "needs_consent")
        }),
        Cell::held("the user", "an approval that ends in an error approves nothing", |world| {
            checked(world, "one", &format!("{}\n", world.touch()))?;
            world.ok("one", &["add", "without a command"])?;
            world.refused("one", &["verify", "--allow", "T-1", "T-2"], &[], "no_verify_command")?;
            world.refused("one", &["verify", "T-1"], &[], "needs_consent")
        }),
    ]
}

/// A repository whose only todo has the command `./check.sh`.
fn checked(world: &EscapeWorld, name: &str, script: &str) -> TaskResult {
    world.repository(name)?;
    world.write(&format!("{name}/check.sh"), &format!("#!/bin/sh\n{script}"))?;
    world.script(name, "chmod +x check.sh")?;
    world.git(name, &["add", "--all"])?;
    world.git(name, &["commit", "--quiet", "--message", "check"])?;
    world.ok(name, &["add", "Do it", "--verify", "./check.sh"]).map(drop)
}

/// `clone` of a repository whose folder `vendor` looks like a bare repository with a store.
fn embedded(world: &EscapeWorld, names: &str) -> TaskResult {
    world.repository("origin")?;
    world.write("maker/x", "")?;
    world.ok("maker", &["add", "planted"])?;
    world.write("origin/vendor/HEAD", "ref: refs/heads/main\n")?;
    for kept in ["objects/k", "refs/k"] {
        world.write(&format!("origin/vendor/{kept}"), "")?;
    }
    if !names.is_empty() {
        world.write("origin/vendor/gitdir", names)?;
    }
    world.write("origin/vendor/punch/config.toml", &config(world))?;
    world.ok("maker", &["store", "backup", "../origin/vendor/punch/store.db"])?;
    clone(world)
}

/// Commits everything in `origin` and clones it.
fn clone(world: &EscapeWorld) -> TaskResult {
    world.git("origin", &["add", "--all", "--force"])?;
    world.git("origin", &["commit", "--quiet", "--message", "planted"])?;
    world.git(".", &["clone", "--quiet", "origin", "clone"]).map(drop)
}

/// Fails unless a setting has this value.
fn is(world: &EscapeWorld, folder: &str, key: &str, value: &str) -> TaskResult {
    let found = world.ok(folder, &["config", "get", key])?;
    if found.trim() == value { Ok(()) } else { Err(format!("`{key}` is `{}`, not `{value}`", found.trim())) }
}
