//! A todo in a worktree of its own, beside what git alone takes for the same.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use super::{ROUNDS, each, project, punch};
use crate::bench::cli::call::{call, program};
use crate::bench::cli::programs::BenchPrograms;

/// Todos of a round.
const TODOS: usize = 30;

/// Files of the repository.
const FILES: usize = 50;

/// Milliseconds for each todo: git alone, and a run.
pub fn measure(programs: &BenchPrograms, room: &Path) -> Result<(f64, f64), String> {
    let (mut plain, mut ours) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        plain.push(by_hand(&room.join(format!("plain{round}")))?);
        let folder = room.join(format!("lanes{round}"));
        repository(&folder)?;
        let project = project(programs, &folder, TODOS)?;
        let agent = "exec:echo done > $PUNCH_ASSIGNED.txt";
        let cost = call(&mut punch(programs, &project, &["run", "--worktrees", "--agent", agent]))?;
        ours.push(cost.wall);
        merged(&project)?;
    }
    Ok((each(plain, TODOS), each(ours, TODOS)))
}

/// What a user would type without a runner.
fn by_hand(folder: &Path) -> Result<Duration, String> {
    repository(folder)?;
    let begun = Instant::now();
    for n in 1..=TODOS {
        let (tree, branch) = (folder.join(format!(".git/trees/{n}")), format!("lane-{n}"));
        let path = tree.to_string_lossy();
        git(folder, &["worktree", "add", "--quiet", "-b", &branch, &path])?;
        fs::write(tree.join(format!("T-{n}.txt")), "done\n").map_err(|cause| format!("cannot write: {cause}"))?;
        git(&tree, &["add", "--all"])?;
        git(&tree, &["commit", "--quiet", "-m", "work"])?;
        git(folder, &["merge", "--quiet", &branch])?;
        git(folder, &["worktree", "remove", &path])?;
        git(folder, &["branch", "--quiet", "-d", &branch])?;
    }
    Ok(begun.elapsed())
}

fn repository(folder: &Path) -> Result<(), String> {
    let failed = |cause: std::io::Error| format!("cannot make a repository: {cause}");
    fs::create_dir_all(folder.join("src")).map_err(failed)?;
    for n in 0..FILES {
        fs::write(folder.join(format!("src/{n}.txt")), format!("{n}\n").repeat(50)).map_err(failed)?;
    }
    git(folder, &["init", "--quiet", "-b", "main"])?;
    git(folder, &["add", "--all"])?;
    git(folder, &["commit", "--quiet", "-m", "base"])
}

/// Nothing is fast that does not do its work.
fn merged(project: &Path) -> Result<(), String> {
    let list =
        program(Path::new("git"), project, &["for-each-ref", "--format=%(refname)", "refs/heads/punch"]).output();
    let list = list.map_err(|cause| format!("git: {cause}"))?.stdout;
    let branch = String::from_utf8_lossy(&list).trim().to_owned();
    let files = program(Path::new("git"), project, &["ls-tree", "-r", "--name-only", &branch]).output();
    let files = files.map_err(|cause| format!("git: {cause}"))?.stdout;
    let found = String::from_utf8_lossy(&files).lines().filter(|name| !name.starts_with("src/")).count();
    if found == TODOS { Ok(()) } else { Err(format!("{found} of {TODOS} todos are on `{branch}`")) }
}

fn git(folder: &Path, arguments: &[&str]) -> Result<(), String> {
    let named = ["-c", "user.name=bench", "-c", "user.email=bench@example.com"];
    call(&mut program(Path::new("git"), folder, &[&named[..], arguments].concat())).map(drop)
}
