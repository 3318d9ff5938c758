//! The flags that every verb takes.

use std::path::{Path, PathBuf};

use clap::{ArgMatches, Args, Command, Error, FromArgMatches};
use punch_engine::SessionFile;

use crate::failure::Failure;

/// Flags of every verb.
#[derive(Args, Clone, Debug, Default)]
pub struct Global {
    /// Print one JSON object instead of text
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub json: bool,
    /// The plan to work on, instead of the one chosen for this worktree
    #[arg(long, global = true, value_name = "NAME", help_heading = "Everywhere")]
    pub plan: Option<String>,
    /// Who works: todos are started and finished under this name
    #[arg(long, global = true, value_name = "NAME", help_heading = "Everywhere")]
    pub owner: Option<String>,
    /// The folder of the store, instead of the one found from here
    #[arg(long, global = true, value_name = "DIR", help_heading = "Everywhere")]
    pub store: Option<PathBuf>,
    /// Use ASCII symbols only
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub ascii: bool,
}

impl Global {
    /// What is given after the verb, else what is given before it.
    #[must_use]
    pub fn or(self, before: Self) -> Self {
        Self {
            json: self.json || before.json,
            plan: self.plan.or(before.plan),
            owner: self.owner.or(before.owner),
            store: self.store.or(before.store),
            ascii: self.ascii || before.ascii,
        }
    }
}

impl Global {
    /// Takes plan and owner from the file of an agent that a runner drives; answers the session that it was assigned to.
    pub fn act_as(&mut self, path: &Path) -> Result<SessionFile, Failure> {
        let wrong = |cause| Failure::File(path.display().to_string(), cause);
        let file = SessionFile::read(path).map_err(wrong)?;
        (self.plan, self.owner) = (Some(file.plan.clone()), Some(file.owner.clone()));
        Ok(file)
    }
}

/// The global flags, given before the verb. They stay there: clap would copy them into every verb beforehand, which is
/// most of what reading the arguments then costs. Each verb brings its own, see [`crate::deferred_args`].
pub struct Before(pub Global);

impl FromArgMatches for Before {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Global::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl Args for Before {
    fn augment_args(command: Command) -> Command {
        Global::augment_args(command).mut_args(|flag| flag.global(false))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Global::augment_args_for_update(command).mut_args(|flag| flag.global(false))
    }
}
