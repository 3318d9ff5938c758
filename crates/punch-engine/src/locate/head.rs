//! The commit that a worktree is at, read from git's files where that is simple; otherwise git itself is asked.

use std::fs;
use std::path::Path;

use super::git;
use crate::git::{GitFolders, finish, program, read_beginning};

/// Longer than any name of a reference.
const MAX_HEAD: u64 = 1 << 16;

/// The commit of a worktree's head; `None` outside git, before the first commit, or if git cannot say.
pub fn head_commit(work_tree: &Path) -> Option<String> {
    let (git_dir, common) = git::folders_of(work_tree)?;
    head_in(work_tree, &git_dir, &common, None)
}

/// Returns the commit that the head in a git folder refers to. If git has to be asked, it works with the `recorded`
/// folders, or with those that it finds from the worktree.
pub(crate) fn head_in(
    work_tree: &Path,
    git_dir: &Path,
    common: &Path,
    recorded: Option<&GitFolders>,
) -> Option<String> {
    let path = git_dir.join("HEAD");
    if fs::metadata(&path).ok()?.len() > MAX_HEAD {
        return None;
    }
    let head = fs::read_to_string(path).ok()?;
    let Some(name) = head.trim_end().strip_prefix("ref:").map(str::trim) else { return commit(&head) };
    // References in another form than files have this name instead.
    if name == "refs/heads/.invalid" || !plain(name) {
        return by_git(work_tree, recorded);
    }
    // A branch is shared by all worktrees, a few references are a worktree's own.
    let loose = [git_dir, common].into_iter().find_map(|folder| fs::read_to_string(folder.join(name)).ok());
    match loose {
        Some(text) if text.starts_with("ref:") => by_git(work_tree, recorded),
        Some(text) => commit(&text),
        None => packed(&fs::read_to_string(common.join("packed-refs")).ok()?, name),
    }
}

/// Whether a folder is the top of a worktree of git.
pub fn is_work_tree(folder: &Path) -> bool {
    folder.join(".git").exists() && git::folders_of(folder).is_some()
}

fn packed(text: &str, name: &str) -> Option<String> {
    let line = text.lines().find(|line| line.split_once(' ').is_some_and(|(_, found)| found == name))?;
    commit(line.split(' ').next()?)
}

/// Stays inside git's folder.
fn plain(name: &str) -> bool {
    name.starts_with("refs/") && !name.split('/').any(|part| part.is_empty() || part == "..")
}

fn commit(text: &str) -> Option<String> {
    let text = text.trim();
    let known = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    known.then(|| text.to_owned())
}

fn by_git(work_tree: &Path, recorded: Option<&GitFolders>) -> Option<String> {
    let mut git = program(work_tree, recorded);
    git.args(["rev-parse", "--verify", "-q", "HEAD^{commit}"]);
    let call = finish(git, None, |pipe| read_beginning(pipe, MAX_HEAD)).ok()?;
    call.status.success().then(|| commit(&String::from_utf8_lossy(&call.out)))?
}
