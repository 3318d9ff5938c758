//! The git folders of a worktree, recorded when it was made. A process that can write into a worktree can make its
//! `.git` point to another repository, with a configuration that runs programs. Calls with recorded folders never read
//! that link.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use crate::locate;

/// Larger files are not links of git.
const LINK: u64 = 1 << 16;

/// Where git keeps what belongs to a linked worktree, and what all worktrees of its repository share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitFolders {
    /// `MAIN/.git/worktrees/NAME`: head and index of this worktree.
    pub own: PathBuf,
    /// `MAIN/.git`: configuration, refs and objects.
    pub common: PathBuf,
}

impl GitFolders {
    /// Finds the folders of the linked worktree at `worktree` in the list that the repository keeps. The worktree itself
    /// is not asked. `None` if the repository does not list it, or lists it twice.
    pub fn registered(common: &Path, worktree: &Path) -> Option<Self> {
        let link = plain(&worktree.join(".git"));
        let entries = fs::read_dir(common.join("worktrees")).ok()?;
        let mut found =
            entries.flatten().map(|entry| entry.path()).filter(|own| back_link(own).as_ref() == Some(&link));
        let own = found.next()?;
        found.next().is_none().then(|| Self { own, common: common.to_owned() })
    }

    /// Returns true if `.git` in the worktree still leads to these folders.
    pub fn match_link(&self, worktree: &Path) -> bool {
        let real = |path: PathBuf| path.canonicalize().ok();
        link(worktree).and_then(real).is_some_and(|link| real(self.own.clone()) == Some(link))
    }

    /// The commit of the worktree's head.
    pub fn head(&self, worktree: &Path) -> Option<String> {
        locate::head_in(worktree, &self.own, &self.common, Some(self))
    }

    /// Makes git work with these folders. The shared folder is named too: the file `commondir` in the own folder could
    /// lead to another configuration.
    pub fn apply(&self, git: &mut Command, worktree: &Path) {
        git.env("GIT_DIR", &self.own).env("GIT_COMMON_DIR", &self.common).env("GIT_WORK_TREE", worktree);
    }
}

/// Where the `.git` file of a worktree leads; `None` if there is no such file.
pub fn link(worktree: &Path) -> Option<PathBuf> {
    let file = worktree.join(".git");
    let found = fs::symlink_metadata(&file).ok()?;
    if !found.is_file() || found.len() > LINK {
        return None;
    }
    let text = fs::read_to_string(file).ok()?;
    Some(plain(&worktree.join(text.strip_prefix("gitdir:")?.trim_start_matches(' ').trim_end_matches(['\n', '\r']))))
}

/// The `.git` file of the worktree that an entry in `worktrees` belongs to.
fn back_link(own: &Path) -> Option<PathBuf> {
    let file = own.join("gitdir");
    if fs::metadata(&file).ok()?.len() > LINK {
        return None;
    }
    let text = fs::read_to_string(file).ok()?;
    Some(plain(&own.join(text.trim_end_matches(['\n', '\r']))))
}

/// Resolves `.` and `..` by name. Links are not followed: one of the folders may be gone.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(out.pop()),
            Component::CurDir => {}
            part => out.push(part),
        }
    }
    out
}
