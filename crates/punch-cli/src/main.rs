//! The binary `punch`: reads arguments, calls the library crates, prints. No rule about todos is decided here.

mod arguments;
mod assigned_agents;
mod checks;
mod commands;
mod deferred_args;
mod detached_checks;
mod editor;
mod environment;
mod error_help;
mod failure;
mod files;
mod guard;
mod hook_log;
mod input;
mod live;
mod log_format;
mod named_todos;
mod open_store;
mod output;
mod own_process;
mod pager;
mod progress;
mod project;
mod reply;
mod run_files;
mod safety;
mod schema;
mod style;
mod task_folder;
mod wiring;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser};

use crate::arguments::Global;
use crate::failure::{Exit, Failure};

/// The todo list your coding agents can't lose
#[derive(Parser)]
#[command(name = "punch", version, disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    command: Option<commands::Command>,
    #[command(flatten)]
    before: arguments::GlobalFirst,
}

impl Arguments {
    /// The verb with its arguments, the flags of every verb wherever they are, and whether they may be used here.
    fn read() -> Result<(commands::Command, Global, Result<(), Failure>), clap::Error> {
        let matches = Self::command().try_get_matches_from(environment::arguments())?;
        let read = || -> Result<_, clap::Error> {
            let Self { command, before } = Self::from_arg_matches(&matches)?;
            let after = matches.subcommand().map(|(_, verb)| Global::from_arg_matches(verb)).transpose()?;
            Ok((command.unwrap_or_default(), after.unwrap_or_default().or(before.0), guard::only_user_forces(&matches)))
        };
        read().map_err(|error| error.format(&mut Self::command()))
    }
}

fn main() -> ExitCode {
    failure::guard(|| {
        if let Some((hook, global)) = commands::hook_alone() {
            return hook.run(global);
        }
        verb()
    })
    .into()
}

/// Any verb but the one that needs to be quick. Not inlined: its room on the stack would have to be made for both.
#[inline(never)]
fn verb() -> Exit {
    let (command, global, allowed) = match Arguments::read() {
        Ok(arguments) => arguments,
        Err(answer) if answer.kind() == clap::error::ErrorKind::DisplayHelp && environment::wants_overview() => {
            return commands::overview().map_or_else(|failure| failure.exit(), |()| Exit::Ok);
        }
        Err(answer) => {
            let exit = output::usage(answer, environment::wants_json());
            // To a host the code for wrong arguments would mean "stop what you are doing".
            return if exit == Exit::Usage && environment::calls_hook() { Exit::Refused } else { exit };
        }
    };
    let as_json = global.json;
    match allowed.and_then(|()| command.run(global)) {
        Ok(exit) => exit,
        Err(failure) => {
            output::failure(&failure, as_json);
            failure.exit()
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_describes_its_arguments_well() {
        Arguments::command().debug_assert();
    }
}
