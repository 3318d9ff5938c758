//! git as a program, for what its files do not say plainly: the state of the work tree, and which commits a head has
//! behind it. Nothing here changes a repository. Never called inside a transaction.

mod ancestry;
mod blobs;
mod folders;
mod state;
mod status;

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

pub use ancestry::Verdict;
pub use blobs::Blobs;
pub use folders::{GitFolders, link as git_link};
pub use state::GitState;

use crate::locate;

/// Answers longer than this are not read: status lines, names of commits.
const ANSWER: usize = 8 << 20;

/// Variables that lead git to another repository, index or object store than those of its folder. A hook of git has them.
pub const ELSEWHERE: [&str; 8] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
];

/// The repository of a work tree.
#[derive(Clone, Debug)]
pub struct Git {
    root: PathBuf,
    folders: Option<GitFolders>,
}

impl Git {
    /// The repository whose work tree has its top here; `None` if there is none.
    pub fn at(root: &Path) -> Option<Self> {
        locate::is_work_tree(root).then(|| Self { root: root.to_owned(), folders: None })
    }

    /// The repository of a worktree: with recorded git folders those count, whatever its `.git` says.
    pub fn of(root: &Path, recorded: Option<&GitFolders>) -> Option<Self> {
        let with = |folders: &GitFolders| Self { root: root.to_owned(), folders: Some(folders.clone()) };
        recorded.map_or_else(|| Self::at(root), |folders| Some(with(folders)))
    }

    /// What git prints, at most `limit` bytes of it.
    fn ask(&self, arguments: &[&str], input: Option<String>, limit: usize) -> io::Result<Vec<u8>> {
        let mut child = self.command(arguments, input.is_some()).spawn()?;
        // Written beside the reading: both sides could wait for each other.
        let writer = child.stdin.take().zip(input);
        let writing = writer.map(|(mut pipe, text)| thread::spawn(move || pipe.write_all(text.as_bytes())));
        let mut out = Vec::new();
        let read = child.stdout.take().map_or(Ok(0), |pipe| pipe.take(limit as u64 + 1).read_to_end(&mut out));
        if out.len() > limit {
            let _ = child.kill();
        }
        let status = child.wait()?;
        drop(writing.map(thread::JoinHandle::join));
        read?;
        if out.len() > limit {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {limit} bytes")));
        }
        match status.success() {
            true => Ok(out),
            false => Err(io::Error::other(format!("git {} failed", arguments.first().unwrap_or(&"")))),
        }
    }

    fn command(&self, arguments: &[&str], input: bool) -> Command {
        let mut git = program(&self.root);
        if let Some(folders) = &self.folders {
            folders.apply(&mut git, &self.root);
        }
        git.args(arguments).stdin(if input { Stdio::piped() } else { Stdio::null() });
        // Objects that are elsewhere are not fetched by the way.
        git.env("GIT_NO_LAZY_FETCH", "1").stdout(Stdio::piped()).stderr(Stdio::null());
        git
    }
}

/// git in a folder, as every part of Punchlist starts it: it asks nobody, answers in English, and works on the
/// repository of the folder whatever the environment says.
pub fn program(folder: &Path) -> Command {
    let mut git = Command::new("git");
    // A monitor is a program named by the configuration; an index must not be written while others work.
    git.args(["--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false"]);
    git.current_dir(folder).env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
    for variable in ELSEWHERE {
        git.env_remove(variable);
    }
    git
}
