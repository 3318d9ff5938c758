//! Proof of completion: runs the verify commands of todos outside any transaction, with the user's approval, and passes
//! the results to the rules as evidence (rule 34; decision 0012).

#[cfg(feature = "verify")]
mod approve;
#[cfg(feature = "verify")]
mod background;
#[cfg(feature = "verify")]
mod consent;
mod error;
#[cfg(not(feature = "verify"))]
mod no_consents;
#[cfg(feature = "verify")]
mod output;
mod plan_check;
mod prove;
mod ran;
mod recheck;
mod report;
#[cfg(feature = "verify")]
mod run;

use std::path::{Path, PathBuf};
use std::time::Duration;

use punch_core::{Evidence, Todo, Verify};

#[cfg(feature = "verify")]
pub use background::{BackgroundChecks, CheckLock, CheckLocks};
#[cfg(feature = "verify")]
pub use consent::Consents;
pub use error::VerifyError;
#[cfg(not(feature = "verify"))]
pub use no_consents::Consents;
#[cfg(feature = "verify")]
pub(crate) use output::hex;
pub(crate) use prove::CHECKS;
pub use prove::{PassedCheck, Proofs};
pub use ran::{CheckEnd, CheckRun, TAIL};
pub use recheck::RecheckResult;
pub use report::ReportVerdict;
#[cfg(feature = "verify")]
pub use run::run as run_command;

#[cfg(feature = "verify")]
use crate::git::Git;
use crate::git::GitFolders;
#[cfg(feature = "git")]
use crate::locate;

/// The worktree of a project, and what the user agreed to run there.
#[derive(Clone, Debug)]
pub struct WorkTree {
    /// The top folder of the worktree.
    pub root: PathBuf,
    /// Its git folders, where they were recorded: then what `.git` in it says does not count.
    pub git: Option<GitFolders>,
    /// The user's approvals; without a place for them nothing runs.
    pub consents: Option<Consents>,
}

impl WorkTree {
    /// The commit that the worktree is at.
    pub fn commit(&self) -> Option<String> {
        commit_of(&self.root, self.git.as_ref())
    }

    /// Runs checks here.
    pub fn checker<'a>(&self, limit: Duration, stopped: &'a (dyn Fn() -> bool + Sync)) -> Checker<'a> {
        Checker {
            root: self.root.clone(),
            git: self.git.clone(),
            limit,
            cut_short: false,
            shell: true,
            consents: self.consents.clone(),
            plan_check: None,
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
    /// The limit is that of the caller, who has less time than a check may take: one that reaches it says nothing.
    pub cut_short: bool,
    /// Whoever reads the result can run `punch` in a shell.
    pub shell: bool,
    /// The user's approvals; without a place for them nothing runs.
    pub consents: Option<Consents>,
    /// The command of a setting: what counts as a setting is approved.
    pub plan_check: Option<Verify>,
    /// Looked at while a check runs: true ends it.
    pub stopped: &'a (dyn Fn() -> bool + Sync),
    /// Variables that checks do not inherit.
    pub without: &'a [&'a str],
    /// Variables that checks get.
    pub environment: &'a [(String, String)],
}

impl Checker<'_> {
    /// Runs the check of a todo. The evidence is there whenever it came to an exit code, good or bad.
    fn check(&self, todo: &Todo) -> Result<(Evidence, CheckRun), VerifyError> {
        let id = || todo.id.clone();
        let Some(command) = &todo.verify else { return Err(VerifyError::NoCommand { id: id() }) };
        let is_setting = self.plan_check.as_ref() == Some(command);
        if !is_setting && !self.consents.as_ref().is_some_and(|consents| consents.has(command)) {
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
            CheckEnd::Exit(code) => code,
            CheckEnd::TimedOut => {
                let (command, limit, tail) = (command.clone(), self.limit, ran.tail);
                return Err(VerifyError::Timeout { id: id(), command, limit, tail });
            }
            CheckEnd::Stopped => return Err(VerifyError::Stopped { id: id() }),
        };
        let evidence = Evidence {
            text: Some(ran.tail.trim().to_owned()).filter(|text| !text.is_empty()),
            command: Some(command.clone()),
            exit_code: Some(exit_code),
            output_hash: Some(ran.hash.clone()),
            // What was committed while it ran was not what was checked.
            commit: commit.filter(|before| self.commit().as_ref() == Some(before)),
            ..Evidence::default()
        };
        Ok((evidence, ran))
    }

    /// Runs a command, whatever it is for. The caller answers for the consent.
    #[cfg(feature = "verify")]
    fn run(&self, command: &Verify) -> std::io::Result<CheckRun> {
        run::run(command, &self.root, self.limit, self.stopped, self.without, self.environment)
    }

    /// Never called: without the feature `verify` nothing can be approved.
    #[cfg(not(feature = "verify"))]
    fn run(&self, _command: &Verify) -> std::io::Result<CheckRun> {
        Err(std::io::Error::other("this program runs no commands"))
    }

    /// Returns the commit that the worktree is at.
    pub fn commit(&self) -> Option<String> {
        commit_of(&self.root, self.git.as_ref())
    }

    /// Without the feature `verify` nothing is checked.
    #[cfg(not(feature = "verify"))]
    pub(crate) fn tree_hash(&self) -> Option<String> {
        None
    }

    /// Identifies the state of the worktree; `None` outside of git, or if git cannot say.
    #[cfg(feature = "verify")]
    pub fn tree_hash(&self) -> Option<String> {
        Git::of(&self.root, self.git.as_ref())?.tree_hash().ok()
    }
}

#[cfg(not(feature = "git"))]
pub(crate) fn commit_of(_root: &Path, _git: Option<&GitFolders>) -> Option<String> {
    None
}

#[cfg(feature = "git")]
pub(crate) fn commit_of(root: &Path, git: Option<&GitFolders>) -> Option<String> {
    git.map_or_else(|| locate::head_commit(root), |folders| folders.head(root))
}

/// The command on one line, for people.
pub fn words(command: &Verify) -> String {
    command.line()
}
