//! Errors of lanes. None of them leaves a change in the files or branches of the user.

use std::fmt;
use std::path::PathBuf;

/// Why an operation on lanes failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorktreeError {
    /// The project is not in a git worktree.
    NoRepository {
        /// The folder of the project.
        root: PathBuf,
    },
    /// The repository has no commit that a lane could begin from.
    NoCommit {
        /// The worktree.
        root: PathBuf,
    },
    /// git cannot be started.
    NoGit {
        /// What the system said.
        cause: String,
    },
    /// git is too old: it cannot merge without a worktree.
    TooOld {
        /// The version that git reports.
        version: String,
    },
    /// A branch with the name of the result branch or of a lane exists, and punch did not create it.
    BranchTaken {
        /// The name of the branch.
        branch: String,
    },
    /// The folder for lanes cannot be created or cleaned up.
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        cause: String,
    },
    /// The worktree of a lane is gone, and punch did not remove it.
    Gone {
        /// The folder of the lane.
        path: PathBuf,
        /// The branch that holds what was committed there.
        branch: String,
    },
    /// `.git` in the worktree of a lane leads somewhere else than it did when the lane was made.
    Relinked {
        /// The folder of the lane.
        path: PathBuf,
        /// Where `.git` leads now; `None` if it is not a link.
        now: Option<PathBuf>,
        /// The git folder of the lane.
        recorded: PathBuf,
    },
    /// A git command failed.
    Git {
        /// What git was asked to do.
        what: String,
        /// The first lines of what git printed.
        said: String,
    },
}

impl WorktreeError {
    /// Returns the stable code that programs match on.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoRepository { .. } => "no_repository",
            Self::NoCommit { .. } => "no_commit",
            Self::NoGit { .. } => "no_git",
            Self::TooOld { .. } => "git_too_old",
            Self::BranchTaken { .. } => "branch_taken",
            Self::Folder { .. } => "lane_folder",
            Self::Gone { .. } => "lane_gone",
            Self::Relinked { .. } => "lane_relinked",
            Self::Git { .. } => "git_failed",
        }
    }

    /// Returns what the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NoRepository { .. } => {
                "`git init` and a first commit make lanes possible; without `--worktrees` no git is needed".into()
            }
            Self::NoCommit { .. } => "commit something first; `git commit --allow-empty -m start` is enough".into(),
            Self::NoGit { .. } => "install git, or run without `--worktrees`".into(),
            Self::TooOld { .. } => "install git 2.38 or newer, or run without `--worktrees`".into(),
            Self::BranchTaken { branch } => {
                format!("`git branch -m {branch} another-name` makes room; nothing in it was changed")
            }
            Self::Folder { .. } => "make room or correct the permissions, or name another state folder".into(),
            Self::Gone { branch, .. } => {
                format!("what was committed is on `{branch}`; the todo can be worked on again")
            }
            Self::Relinked { path, .. } => format!(
                "look at what is in that folder; then delete `{}` and run `git worktree repair` in the repository, or \
                 delete the whole folder",
                path.join(".git").display()
            ),
            Self::Git { .. } => "`punch runs` names the branches and folders that are left".into(),
        }
    }
}

impl fmt::Display for WorktreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRepository { root } => write!(f, "`{}` is in no git work tree", root.display()),
            Self::NoCommit { root } => write!(f, "the repository of `{}` has no commit yet", root.display()),
            Self::NoGit { cause } => write!(f, "`git` does not start: {cause}"),
            Self::TooOld { version } => write!(f, "`{version}` cannot merge without a work tree"),
            Self::BranchTaken { branch } => write!(f, "there is a branch `{branch}` that no run of ours has made"),
            Self::Folder { path, cause } => write!(f, "cannot make the folder `{}`: {cause}", path.display()),
            Self::Gone { path, .. } => write!(f, "the work tree `{}` was removed", path.display()),
            Self::Relinked { path, now: Some(now), recorded } => write!(
                f,
                "`.git` in the worktree `{}` was changed: it names `{}` instead of `{}`",
                path.display(),
                now.display(),
                recorded.display()
            ),
            Self::Relinked { path, now: None, recorded } => write!(
                f,
                "`.git` in the worktree `{}` was replaced: it should be a file that names `{}`",
                path.display(),
                recorded.display()
            ),
            Self::Git { what, said } => write!(f, "git could not {what}: {said}"),
        }
    }
}

impl std::error::Error for WorktreeError {}
