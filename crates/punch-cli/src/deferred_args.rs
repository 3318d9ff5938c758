//! Defines the arguments of a verb only when that verb is called, because otherwise every call would pay for the flags
//! of all the others.

use clap::builder::Resettable;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Id};

use crate::arguments::Global;

/// Arguments that are described late.
pub struct DeferredArgs<T>(pub T);

impl<T: FromArgMatches> FromArgMatches for DeferredArgs<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(Self)
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches_mut(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl<T: Args> Args for DeferredArgs<T> {
    fn group_id() -> Option<Id> {
        T::group_id()
    }

    fn augment_args(command: Command) -> Command {
        command.defer(describe::<T>)
    }

    fn augment_args_for_update(command: Command) -> Command {
        T::augment_args_for_update(command)
    }
}

/// The flags of the verb and of every verb. What the list of verbs says about it takes precedence over what the
/// arguments say about themselves.
fn describe<T: Args>(command: Command) -> Command {
    let (about, long_about) = (command.get_about().cloned(), command.get_long_about().cloned());
    // `punch help options` describes the flags of every verb, once.
    Global::hidden(T::augment_args(command)).about(Resettable::from(about)).long_about(Resettable::from(long_about))
}
