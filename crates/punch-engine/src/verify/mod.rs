//! Proof of completion: runs the verify commands of todos outside any transaction, under the user's consent, and
//! hands what came of it to the rules as evidence (rule 34; decision 0012).

mod consent;
mod error;
mod output;
mod prove;
mod recheck;
mod run;

use std::path::{Path, PathBuf};
use std::time::Duration;

use punch_core::{Evidence, Todo, Verify};

pub use consent::Consents;
pub use error::VerifyError;
pub use output::TAIL;
pub use prove::{Proof, Proofs};
pub use recheck::Rechecked;
pub use run::{End, Ran, run as run_command};

use crate::git::GitFolders;
use crate::locate;

/// The worktree of a project, and what the user agreed to run there.
#[derive(Clone, Debug)]
pub struct WorkTree {
    /// Its top.
    pub root: PathBuf,
    /// Its git folders, where they were recorded: then what `.git` in it says does not count.
    pub git: Option<GitFolders>,
    /// Which commands may run; without a place for consents nothing runs.
    pub consents: Option<Consents>,
}

impl WorkTree {
    /// The commit that it stands on.
    pub fn commit(&self) -> Option<String> {
        commit_of(&self.root, self.git.as_ref())
    }

    /// Runs checks here.
    pub fn checker<'a>(&self, limit: Duration, stopped: &'a (dyn Fn() -> bool + Sync)) -> Checker<'a> {
        Checker {
            root: self.root.clone(),
            git: self.git.clone(),
            limit,
            consents: self.consents.clone(),
            stopped,
            without: &[],
            environment: &[],
        }
    }
}

/// Where and under which limits checks run.
pub struct Checker<'a> {
    /// The folder they run in: the top of the worktree.
    pub root: PathBuf,
    /// The git folders of that worktree, where they were recorded.
    pub git: Option<GitFolders>,
    /// How long one may take.
    pub limit: Duration,
    /// Which commands the user agreed to; without a place for consents nothing runs.
    pub consents: Option<Consents>,
    /// Looked at while a check runs: true ends it.
    pub stopped: &'a (dyn Fn() -> bool + Sync),
    /// Variables that checks do not inherit.
    pub without: &'a [&'a str],
    /// Variables that checks get.
    pub environment: &'a [(String, String)],
}

impl Checker<'_> {
    /// Runs the check of a todo. The evidence is there whenever it came to an exit code, good or bad.
    fn check(&self, todo: &Todo) -> Result<(Evidence, Ran), VerifyError> {
        let id = || todo.id.clone();
        let Some(command) = &todo.verify else { return Err(VerifyError::NoCommand { id: id() }) };
        if !self.consents.as_ref().is_some_and(|consents| consents.has(command)) {
            let outdated = self.consents.as_ref().is_some_and(|consents| consents.is_outdated(command));
            return Err(VerifyError::Consent { id: id(), command: command.clone(), outdated });
        }
        let commit = self.commit();
        let ran = self.run(command).map_err(|why| VerifyError::NotStarted {
            id: id(),
            command: command.clone(),
            why: why.to_string(),
        })?;
        let exit_code = match ran.end {
            End::Exit(code) => code,
            End::TimedOut => {
                let (command, limit, tail) = (command.clone(), self.limit, ran.tail);
                return Err(VerifyError::Timeout { id: id(), command, limit, tail });
            }
            End::Stopped => return Err(VerifyError::Stopped { id: id() }),
        };
        let evidence = Evidence {
            text: Some(ran.tail.trim().to_owned()).filter(|text| !text.is_empty()),
            command: Some(command.clone()),
            exit_code: Some(exit_code),
            output_hash: Some(ran.hash.clone()),
            // What was committed while it ran was not what was checked.
            commit: commit.filter(|before| self.commit().as_ref() == Some(before)),
            at: 0,
        };
        Ok((evidence, ran))
    }

    /// Runs a command, whatever it is for. The caller answers for the consent.
    fn run(&self, command: &Verify) -> std::io::Result<Ran> {
        run::run(command, &self.root, self.limit, self.stopped, self.without, self.environment)
    }

    /// The commit that the worktree stands on.
    pub fn commit(&self) -> Option<String> {
        commit_of(&self.root, self.git.as_ref())
    }
}

fn commit_of(root: &Path, git: Option<&GitFolders>) -> Option<String> {
    git.map_or_else(|| locate::head_commit(root), |folders| folders.head(root))
}

/// The command on one line, for people.
pub fn words(command: &Verify) -> String {
    command.line()
}
