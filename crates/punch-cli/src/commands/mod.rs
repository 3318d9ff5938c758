//! The verbs: one file each. A verb reads its arguments, calls the library and hands the result to `output`.

mod replay;

use clap::Subcommand;

use crate::failure::{Exit, Failure};

/// What `punch` can do.
#[derive(Subcommand)]
pub enum Command {
    /// Replay recorded todo calls of a dialect and print the answers
    #[command(long_about = replay::LONG_ABOUT)]
    Replay(replay::Replay),
}

impl Command {
    /// Runs the chosen verb.
    pub fn run(self) -> Result<Exit, Failure> {
        match self {
            Self::Replay(replay) => replay.run(),
        }
    }
}
