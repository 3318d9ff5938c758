//! Why there is no place for a store. Every message names the path, every hint a way out that works.

use std::{fmt, path::PathBuf};

/// No store can be found or made; nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LocateError {
    /// The worktree and the git folder hold a store each.
    TwoStores {
        /// The one beside the code.
        in_tree: PathBuf,
        /// The one in the git folder.
        git: PathBuf,
    },
    /// The store folder is part of the repository.
    Tracked {
        /// The folder.
        dir: PathBuf,
    },
    /// A bare repository is part of another repository.
    Embedded {
        /// The bare repository.
        dir: PathBuf,
        /// The worktree that tracks it.
        outer: PathBuf,
    },
    /// A link stands where the store should be.
    Symlink {
        /// The link.
        path: PathBuf,
    },
    /// The store folder belongs to another user.
    OtherOwner {
        /// The folder.
        path: PathBuf,
        /// The user it belongs to.
        owner: u32,
        /// The user this process acts as.
        user: u32,
    },
    /// Something that is no folder stands where the store should be.
    NotAFolder {
        /// What stands there.
        path: PathBuf,
    },
    /// Something that is no file stands where the database should be.
    NotAFile {
        /// What stands there.
        path: PathBuf,
    },
    /// `.git` or `GIT_DIR` leads to no repository.
    BrokenRepository {
        /// The file, or the value of the variable.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The repository has no worktree to put a store into.
    NoWorkTree {
        /// The git folder.
        git_dir: PathBuf,
    },
    /// git could not say whether the store folder is tracked.
    GitFailed {
        /// The folder.
        dir: PathBuf,
        /// What git said, or why it did not start.
        cause: String,
    },
    /// The store cannot be written.
    ReadOnly {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        cause: String,
    },
    /// The system does not tell what is there.
    Unreadable {
        /// The path.
        path: PathBuf,
        /// What the system said.
        cause: String,
    },
    /// `--store` was given an empty path.
    EmptyPath,
}

impl LocateError {
    /// The stable code that programs match on.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TwoStores { .. } => "two_stores",
            Self::Tracked { .. } => "store_tracked",
            Self::Embedded { .. } => "repository_embedded",
            Self::Symlink { .. } => "store_symlink",
            Self::OtherOwner { .. } => "store_other_owner",
            Self::NotAFolder { .. } => "store_not_a_folder",
            Self::NotAFile { .. } => "store_not_a_file",
            Self::BrokenRepository { .. } => "repository_broken",
            Self::NoWorkTree { .. } => "no_work_tree",
            Self::GitFailed { .. } => "git_failed",
            Self::ReadOnly { .. } => "store_read_only",
            Self::Unreadable { .. } => "store_unreadable",
            Self::EmptyPath => "store_path_empty",
        }
    }

    /// What is wrong with which path. Lower case, names in backticks.
    pub fn message(&self) -> String {
        match self {
            Self::TwoStores { in_tree, git } => {
                format!("two stores for one work tree: `{}` and `{}`", in_tree.display(), git.display())
            }
            Self::Tracked { dir } => {
                format!("`{}` is tracked by git, so its content may be anybody's", dir.display())
            }
            Self::Embedded { dir, outer } => format!(
                "`{}` is a bare repository that `{}` tracks, so its content may be anybody's",
                dir.display(),
                outer.display()
            ),
            Self::Symlink { path } => format!("`{}` is a symbolic link, not a store", path.display()),
            Self::OtherOwner { path, owner, user } => {
                format!("`{}` belongs to user {owner}, not to you (user {user})", path.display())
            }
            Self::NotAFolder { path } => format!("`{}` is no folder", path.display()),
            Self::NotAFile { path } => format!("`{}` is no file", path.display()),
            Self::BrokenRepository { path, what } => format!("`{}` leads to no git repository: {what}", path.display()),
            Self::NoWorkTree { git_dir } => format!("the repository `{}` has no work tree", git_dir.display()),
            Self::GitFailed { dir, cause } => {
                format!("cannot tell whether `{}` is tracked by git: {cause}", dir.display())
            }
            Self::ReadOnly { path, cause } => format!("cannot write the store `{}`: {cause}", path.display()),
            Self::Unreadable { path, cause } => format!("cannot look at `{}`: {cause}", path.display()),
            Self::EmptyPath => "`--store` was given an empty path".into(),
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::TwoStores { in_tree, git } => format!(
                "choose one with `--store '{}'` or `PUNCH_STORE='{}'`, then move the other away",
                in_tree.display(),
                git.display()
            ),
            Self::Tracked { dir } => format!(
                "if it is yours, `git rm -r --cached '{}'` and commit that; if not, delete it or name another store \
                 with `PUNCH_STORE`",
                dir.display()
            ),
            Self::Embedded { .. } => {
                "go to another folder, or name the store with `--store` or `PUNCH_STORE` if you trust it".into()
            }
            Self::Symlink { path } => {
                format!("remove `{}`, or name the real folder with `--store` or `PUNCH_STORE`", path.display())
            }
            Self::OtherOwner { path, user, .. } => {
                format!("`sudo chown -R {user} '{}'` makes it yours; `PUNCH_STORE` names another place", path.display())
            }
            Self::NotAFolder { .. } => "move it away, or name a folder with `--store` or `PUNCH_STORE`".into(),
            Self::NotAFile { .. } => "move it away, or name another store with `--store` or `PUNCH_STORE`".into(),
            Self::BrokenRepository { .. } => {
                "`git worktree repair` in the main work tree mends moved work trees; `PUNCH_STORE` names a place for \
                 the store that needs no repository"
                    .into()
            }
            Self::NoWorkTree { .. } => "leave `--in-tree` out: the store then lives in the git folder".into(),
            Self::GitFailed { .. } => {
                "make `git` work here, or name the store with `PUNCH_STORE` if you trust it".into()
            }
            Self::ReadOnly { .. } => {
                "change the plan through the MCP server (`punch mcp`), which runs outside the sandbox, or set \
                 `PUNCH_STORE` to a folder you can write"
                    .into()
            }
            Self::Unreadable { .. } => {
                "correct the permissions, or name another place with `--store` or `PUNCH_STORE`".into()
            }
            Self::EmptyPath => "name a folder, or leave the flag out".into(),
        }
    }
}

impl fmt::Display for LocateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())
    }
}

impl std::error::Error for LocateError {}
