//! The binary as a user meets it: arguments and standard input in; standard output, standard error and exit code out.
#![expect(clippy::unwrap_used, reason = "a test that cannot run its program has failed")]

mod arguments;
mod changes;
mod claims;
mod copies;
mod disk;
mod docs;
mod files;
mod flags;
mod git;
mod killed;
mod looks;
mod many;
mod mcp;
mod punch;
mod replay;
mod store;
mod strange_text;
mod world;
