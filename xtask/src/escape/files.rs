//! Links and pipes in the place of files that `punch` keeps, and files as another user of the machine sees them.

use std::process::Command;
use std::time::Duration;

use super::Cell;
use super::world::{EscapeWorld, finish, finish_within};
use crate::TaskResult;

/// The user without rights, on every Unix.
const NOBODY: &str = "65534";

/// A command that waits for a pipe waits forever.
const HANGS: Duration = Duration::from_secs(15);

/// All cells of this kind.
pub fn cells() -> Vec<Cell> {
    let mut cells: Vec<Cell> = Vec::new();
    for name in
        ["store.db", "store.db-wal", "store.db-shm", "store.use", "store.lock", "config.toml", "backups", "runs"]
    {
        for (kind, victim) in [("a file or folder", "mine\n"), ("an empty file or folder", "")] {
            let link = move |world: &EscapeWorld| linked(world, name, victim);
            let what = format!("in-tree store: {name} is a link to {kind} of the user");
            cells.push(Cell::held("agent in the worktree", what, link));
        }
        let what = format!("in-tree store: {name} is a pipe");
        let pipe = move |world: &EscapeWorld| piped(world, name);
        cells.push(Cell::held("agent in the worktree", what, pipe));
    }
    cells.push(Cell::held("whoever writes the state folder's names", "an approval is a link or a pipe", approvals));
    for name in ["hook.log", "token", "wiring", "copies"] {
        let what = format!("state folder: {name} is a link to a file or folder of the user, then a pipe");
        cells.push(Cell::held("whoever writes the state folder's names", what, move |world| in_state(world, name)));
    }
    for name in ["list.json", "tasks/1.json", "plan.md", "session.json"] {
        let what = format!("{name}, which a command reads, is a pipe");
        cells.push(Cell::held("whoever sends files", what, move |world| sent(world, name)));
    }
    for trick in ["a link to a file of the user", "a pipe"] {
        let what = format!("in-tree store: the log of a run is {trick}");
        cells.push(Cell::held("agent in the worktree", what, move |world| run_log(world, trick)));
        let what = format!("in-tree store: the number of a worker is {trick}");
        cells.push(Cell::held("agent in the worktree", what, move |world| worker_number(world, trick)));
        let what = format!("servers.json is {trick}");
        cells.push(Cell::held("whoever writes the settings folder's names", what, move |world| servers(world, trick)));
    }
    if !is_root() {
        return cells;
    }
    for umask in ["022", "000"] {
        let what = format!("reads store and approvals, made with umask {umask}");
        cells.push(Cell::held("another user", what, move |world| reads(world, umask)));
    }
    cells.push(Cell::held("another user", "gives an approval in the user's state folder", |world| {
        other_store(world)?;
        world.ok("repo", &["add", "Do it", "--verify", &world.touch()])?;
        let ran =
            nobody(world, "mkdir -p \"$PLACE/state/punch/approvals\" && echo x > \"$PLACE/state/punch/approvals/x\"")?;
        if ran { Err("the state folder can be written".to_owned()) } else { Ok(()) }
    }));
    cells.push(Cell::held("another user", "plants a .punch in a folder that all can write", |world| {
        world.script(".", "mkdir shared; chmod 777 shared")?;
        nobody(world, "mkdir shared/.punch; printf '[run]\\nagent = \"exec:touch %s\"\\n' \"$CANARY\" > shared/.punch/config.toml")?;
        world.refused("shared", &["run"], &[], "store_other_owner")?;
        world.refused("shared", &["list"], &[], "store_other_owner")
    }));
    cells
}

/// A store in the worktree, where an agent can write it.
fn in_tree(world: &EscapeWorld) -> TaskResult {
    world.repository("tree")?;
    world.ok("tree", &["init", "--in-tree", "--no-agents"])?;
    world.ok("tree", &["add", "Do it"]).map(drop)
}

/// What a user does, any of which may be refused.
fn go_on(world: &EscapeWorld) -> TaskResult {
    for verb in [
        &["add", "More"][..],
        &["done", "T-1"],
        &["list"],
        &["config", "set", "view.ascii", "true"],
        &["store", "prune", "--before", "3"],
        &["run", "--agent", "exec:true", "--max-turns", "1"],
        &["doctor"],
    ] {
        finish_within(HANGS, &mut world.command("tree", verb))?;
    }
    Ok(())
}

fn linked(world: &EscapeWorld, name: &str, victim: &str) -> TaskResult {
    in_tree(world)?;
    let target = if matches!(name, "backups" | "runs") { "folder" } else { "victim" };
    victims(world, victim)?;
    world.script("tree/.punch", &format!("rm -rf {name}; ln -s ../../{target} {name}"))?;
    go_on(world)?;
    untouched(world, name, victim)
}

/// What the user keeps in a file.
const MINE: &str = "mine\n";

/// A file and a folder of the user. What is in them is neither a store nor a setting; an empty file could be either.
fn victims(world: &EscapeWorld, text: &str) -> TaskResult {
    world.write("victim", text)?;
    world.write("folder/kept", MINE)?;
    if text.is_empty() { world.script("folder", "rm kept") } else { Ok(()) }
}

fn untouched(world: &EscapeWorld, name: &str, text: &str) -> TaskResult {
    let names = world.path("folder").read_dir().map_err(|cause| cause.to_string())?.count();
    let found = std::fs::read_to_string(world.path("victim")).map_err(|cause| cause.to_string())?;
    match found == text && names == usize::from(!text.is_empty()) {
        true => Ok(()),
        false => Err(format!("`{name}` was followed: the user's file or folder was written")),
    }
}

fn piped(world: &EscapeWorld, name: &str) -> TaskResult {
    in_tree(world)?;
    world.script("tree/.punch", &format!("rm -rf {name}; mkfifo {name}"))?;
    go_on(world)
}

/// Puts a link and then a pipe in place of something in the state folder. Commands may fail, but neither write through the
/// link nor wait for the pipe.
fn in_state(world: &EscapeWorld, name: &str) -> TaskResult {
    victims(world, MINE)?;
    let target = if matches!(name, "wiring" | "copies") { "folder" } else { "victim" };
    for trick in [format!("ln -s \"$PLACE/{target}\" {name}"), format!("mkfifo {name}")] {
        world.script(".", &format!("mkdir -p state/punch; cd state/punch; rm -rf {name}; {trick}"))?;
        for verb in [&["add", "More"][..], &["hook", "claude"], &["install", "claude"], &["doctor"], &["list"]] {
            finish_within(HANGS, &mut world.command("repo", verb))?;
        }
    }
    untouched(world, name, MINE)
}

/// A command that replaces the file `name` by a link to the user's file `victim`, or by a pipe.
fn replaced(world: &EscapeWorld, trick: &str, name: &str) -> Result<String, String> {
    victims(world, MINE)?;
    let make = if trick == "a pipe" { "mkfifo" } else { "ln -s \"$PLACE/victim\"" };
    Ok(format!("mkdir -p \"$(dirname {name})\"; rm -rf {name}; {make} {name}"))
}

/// Logs of the next run, under the names that those of the last one have.
fn run_log(world: &EscapeWorld, trick: &str) -> TaskResult {
    in_tree(world)?;
    world.ok("tree", &["add", "More", "Still more"])?;
    let run = || {
        let mut command = world.command("tree", &["run", "--fresh", "--agent", "exec:echo hi"]);
        finish_within(HANGS, command.env("PUNCH_RUN_ATTEMPTS", "1").env("PUNCH_RUN_BACKOFF", "10ms"))
    };
    run()?;
    let trap = replaced(world, trick, "../1-2/$f")?;
    world.script("tree/.punch/runs/1-1", &format!("ls agent-*.log; for f in agent-*.log; do {trap}; done"))?;
    world.ok("tree", &["add", "Another"])?;
    run()?;
    finish_within(HANGS, &mut world.command("tree", &["watch", "--once"]))?;
    untouched(world, "agent-*.log", MINE)
}

/// The file by which a worker distinguishes itself from copies of its machine.
fn worker_number(world: &EscapeWorld, trick: &str) -> TaskResult {
    in_tree(world)?;
    world.script(".", "git init -q --bare remote.git; cd tree; git remote add origin ../remote.git")?;
    let trap = replaced(world, trick, ".punch/runs/worker-w/instance")?;
    world.script("tree", &trap)?;
    // A worker that continues works until it is asked to end.
    let ended = finish_within(HANGS, &mut world.command("tree", &["worker", "--name", "w", "--agent", "exec:true"]))?;
    if ended.exit == Some(0) {
        return Err("the worker continued".to_owned());
    }
    untouched(world, "instance", MINE)
}

/// The user's own file that names servers.
fn servers(world: &EscapeWorld, trick: &str) -> TaskResult {
    let trap = replaced(world, trick, "home/.config/punch/servers.json")?;
    world.script(".", &trap)?;
    for verb in [&["list"][..], &["add", "More"], &["doctor"], &["init", "--store", "postgres:///x?host=/nonexistent"]]
    {
        finish_within(HANGS, &mut world.command("repo", verb))?;
    }
    untouched(world, "servers.json", MINE)
}

/// Lets commands read a pipe that has no other end.
fn sent(world: &EscapeWorld, name: &str) -> TaskResult {
    world.script("repo", &format!("mkdir -p tasks; mkfifo {name}"))?;
    for verb in [
        &["import", name][..],
        &["import", "tasks"],
        &["plan-file", "link", name],
        &["mcp", "--session", name],
        &["add", "--file", name],
        &["stats", "cost", "--dialect", "native", "--replay", name],
    ] {
        finish_within(HANGS, &mut world.command("repo", verb))?;
    }
    Ok(())
}

/// Replaces a real approval by a link to it, then by a pipe.
fn approvals(world: &EscapeWorld) -> TaskResult {
    world.ok("repo", &["add", "Do it", "--verify", &world.touch()])?;
    world.ok("repo", &["verify", "--allow", "T-1"])?;
    for trick in ["mv $f ../copy; ln -s ../copy $f", "rm $f; mkfifo $f"] {
        world.script("state/punch/approvals", &format!("for f in *.json; do {trick}; done"))?;
        world.refused("repo", &["verify", "T-1"], &[], "needs_consent")?;
    }
    Ok(())
}

fn reads(world: &EscapeWorld, umask: &str) -> TaskResult {
    world.script(
        "repo",
        &format!(
            "umask {umask}; \"$PUNCH\" add Secret --verify true; \"$PUNCH\" verify --allow T-1; \"$PUNCH\" config set \
             view.ascii true; \"$PUNCH\" done T-1"
        ),
    )?;
    for look in [
        "cat repo/.git/punch/store.db > /dev/null",
        "cat repo/.git/punch/config.toml",
        "ls repo/.git/punch",
        "cat state/punch/approvals/*.json",
        "ls state/punch/approvals",
        "cat state/punch/*/*/* > /dev/null",
        "\"$PUNCH\" --store repo/.git/punch list | grep Secret",
        "echo x >> repo/.git/punch/store.db",
    ] {
        if nobody(world, look)? {
            return Err(format!("another user can: {look}"));
        }
    }
    Ok(())
}

/// So that the folders which the other user tries exist.
fn other_store(world: &EscapeWorld) -> TaskResult {
    world.write("other/x", "")?;
    world.ok("other", &["add", "Do it", "--verify", "true"])?;
    world.ok("other", &["verify", "--allow", "T-1"]).map(drop)
}

/// Whether a script of another user succeeds.
fn nobody(world: &EscapeWorld, script: &str) -> Result<bool, String> {
    let mut command = Command::new("setpriv");
    command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "sh", "-c", script]);
    let inherited = world.command(".", &[]);
    for (name, value) in inherited.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    command.env("HOME", "/nonexistent").current_dir(world.path("."));
    Ok(finish(&mut command)?.exit == Some(0))
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    let setpriv = Command::new("setpriv").arg("--version").output().is_ok_and(|done| done.status.success());
    setpriv && id.is_ok_and(|id| id.stdout.starts_with(b"0\n"))
}
