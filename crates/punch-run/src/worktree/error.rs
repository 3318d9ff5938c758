//! Why lanes are not possible, or something about them failed. Nothing of the user's was changed.

use std::fmt;
use std::path::PathBuf;

/// What went wrong with lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorktreeError {
    /// The project is in no git work tree.
    NoRepository {
        /// Where one was looked for.
        root: PathBuf,
    },
    /// There is nothing yet that a lane could begin from.
    NoCommit {
        /// The work tree.
        root: PathBuf,
    },
    /// git does not start.
    NoGit {
        /// What the system said.
        cause: String,
    },
    /// git cannot merge without a work tree.
    TooOld {
        /// What it says about itself.
        version: String,
    },
    /// The result branch, or the one of a lane, is somebody else's.
    BranchTaken {
        /// Its name.
        branch: String,
    },
    /// The folder for lanes cannot be made.
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        cause: String,
    },
    /// The work tree of a lane is gone, and nobody of us removed it.
    Gone {
        /// Its folder.
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
    /// git said no.
    Git {
        /// What it was asked to do.
        what: String,
        /// What it said, at most a few lines.
        said: String,
    },
}

impl WorktreeError {
    /// The stable code that programs match on.
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

    /// What to do about it.
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
