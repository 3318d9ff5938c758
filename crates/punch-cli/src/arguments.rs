//! The flags that every verb takes.

use std::path::{Path, PathBuf};

use clap::{ArgMatches, Args, Command, Error, FromArgMatches};
use punch_engine::SessionFile;
use punch_engine::config::Color;

use crate::failure::Failure;

/// Flags of every verb.
#[derive(Args, Clone, Debug, Default)]
pub struct Global {
    /// Print JSON instead of text
    #[arg(long, global = true)]
    pub json: bool,
    /// Use this plan instead of the current one
    #[arg(long, global = true, value_name = "NAME")]
    pub plan: Option<String>,
    /// Act as this owner
    #[arg(long, global = true, value_name = "NAME")]
    pub owner: Option<String>,
    /// Use the store in this folder, or at this `postgres://` address
    #[arg(long, global = true, value_name = "DIR")]
    pub store: Option<PathBuf>,
    /// Use ASCII symbols only
    #[arg(long, global = true)]
    pub ascii: bool,
    /// When to use colors: auto, always or never
    #[arg(long, global = true, value_name = "WHEN", value_parser = color)]
    pub color: Option<Color>,
}

fn color(given: &str) -> Result<Color, String> {
    Color::parse(given).ok_or_else(|| "use auto, always or never".to_owned())
}

impl Global {
    /// Adds the flags to a verb without a word in its help.
    pub fn hidden(command: Command) -> Command {
        let own: Vec<clap::Id> = command.get_arguments().map(|argument| argument.get_id().clone()).collect();
        Self::augment_args(command).mut_args(|argument| {
            let is_own = own.contains(argument.get_id());
            if is_own { argument } else { argument.hide(true) }
        })
    }

    /// What is given after the verb, else what is given before it.
    #[must_use]
    pub fn or(self, before: Self) -> Self {
        Self {
            json: self.json || before.json,
            plan: self.plan.or(before.plan),
            owner: self.owner.or(before.owner),
            store: self.store.or(before.store),
            ascii: self.ascii || before.ascii,
            color: self.color.or(before.color),
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
pub struct GlobalFirst(pub Global);

impl FromArgMatches for GlobalFirst {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Global::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl Args for GlobalFirst {
    fn augment_args(command: Command) -> Command {
        Global::augment_args(command).mut_args(|flag| flag.global(false))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Global::augment_args_for_update(command).mut_args(|flag| flag.global(false))
    }
}
