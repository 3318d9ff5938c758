//! The binary `punch`: reads arguments, calls the library crates, prints. No rule about todos is decided here.

mod arguments;
mod commands;
mod editor;
mod environment;
mod failure;
mod files;
mod later;
mod named;
mod output;
mod project;
mod reply;
mod safety;
mod story;
mod time;

use std::process::ExitCode;

use clap::Parser;

use crate::failure::Exit;

/// A durable plan for coding agents, kept outside the model's context.
#[derive(Parser)]
#[command(name = "punch", version, arg_required_else_help = true, propagate_version = true)]
#[command(after_help = "Exit codes: 0 ok, 1 refused or not found, 2 usage, 3 unavailable (try again), 70 bug")]
struct Arguments {
    #[command(subcommand)]
    command: commands::Command,
    #[command(flatten)]
    global: arguments::Global,
}

fn main() -> ExitCode {
    failure::guard(|| {
        let arguments = match Arguments::try_parse() {
            Ok(arguments) => arguments,
            Err(answer) => return output::usage(&answer),
        };
        let as_json = arguments.global.json;
        match arguments.command.run(arguments.global) {
            Ok(exit) => exit,
            Err(failure) => {
                output::failure(&failure, as_json);
                failure.exit()
            }
        }
    })
    .into()
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
