//! The binary as a user meets it: arguments and standard input in; standard output, standard error and exit code out.
#![expect(clippy::unwrap_used, reason = "a test that cannot run its program has failed")]

mod arguments;
mod flags;
mod mcp;
mod punch;
mod replay;
