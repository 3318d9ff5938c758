//! The format of a log on standard error, for programs that run unattended.

use clap::ValueEnum;

/// How lines of a log are written.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// A JSON object per line, for programs.
    Json,
}
