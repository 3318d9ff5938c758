//! What git knows about the project's files: which ones it tracks, which ones it ignores, and where the list of files
//! that only this clone ignores is.

use std::path::{Path, PathBuf};

use punch_engine::{Git, finish_git, git_program, read_beginning};

use crate::failure::Failure;

/// Git prints no more than this about a handful of files.
const LONGEST: u64 = 1 << 20;

/// The git worktree of a project.
pub struct Worktree {
    /// The top folder.
    pub root: PathBuf,
    /// The top folder of the main worktree; the same as `root` unless that is a linked one.
    pub main: PathBuf,
    /// `.git/info/exclude`, which all worktrees share. It need not exist.
    pub exclude: PathBuf,
}

impl Worktree {
    /// The worktree with its top at `root`; `None` if there is none, or if git cannot be asked.
    pub fn find(root: &Path) -> Option<Self> {
        Git::at(root)?;
        let (_, out) = ask(root, &["rev-parse", "--git-common-dir", "--git-path", "info/exclude"]).ok()?;
        let mut lines = out.lines().map(|line| root.join(line));
        let (common, exclude) = (lines.next()?, lines.next()?);
        let common = common.canonicalize().unwrap_or(common);
        let main = common.parent().filter(|_| common.file_name().is_some_and(|name| name == ".git"));
        Some(Self { main: main.unwrap_or(root).to_owned(), root: root.to_owned(), exclude })
    }

    /// Those of some files that are in git's index.
    pub fn tracked<'a>(&self, paths: &'a [PathBuf]) -> Result<Vec<&'a PathBuf>, Failure> {
        let inside: Vec<(&PathBuf, String)> =
            paths.iter().filter_map(|path| Some((path, self.relative(path)?))).collect();
        let mut out = Vec::new();
        for (path, name) in inside {
            let (_, listed) = ask(&self.root, &["--literal-pathspecs", "ls-files", "--cached", "--", &name])?;
            if !listed.is_empty() {
                out.push(path);
            }
        }
        Ok(out)
    }

    /// Returns true if git ignores a file for whatever reason.
    pub fn ignores(&self, path: &Path) -> Result<bool, Failure> {
        let Some(name) = self.relative(path) else { return Ok(true) };
        ask(&self.root, &["check-ignore", "--quiet", "--", &name]).map(|(code, _)| code == 0)
    }

    /// A path below the top, with slashes.
    pub fn relative(&self, path: &Path) -> Option<String> {
        let inside = path.strip_prefix(&self.root).ok()?;
        Some(inside.to_str()?.replace('\\', "/"))
    }
}

/// Exit code and standard output of git; codes above 1 are failures.
fn ask(root: &Path, arguments: &[&str]) -> Result<(i32, String), Failure> {
    let failed = |what: String| {
        let message = format!("`git {}` failed: {what}", arguments.join(" "));
        Failure::refused("git_failed", message, "check that `git status` works here, then try again")
    };
    let mut git = git_program(root, None);
    git.args(arguments);
    let call =
        finish_git(git, None, |pipe| read_beginning(pipe, LONGEST)).map_err(|cause| failed(cause.to_string()))?;
    match (call.status.code(), String::from_utf8(call.out)) {
        (Some(code @ (0 | 1)), Ok(out)) => Ok((code, out)),
        (Some(0 | 1), Err(cause)) => Err(failed(cause.to_string())),
        _ => Err(failed(call.status.to_string())),
    }
}
