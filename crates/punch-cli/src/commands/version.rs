//! `punch version`: the version of this program.

use clap::Args;
use serde_json::json;

use crate::reply::Reply;

const EXAMPLES: &str = "\
Examples:
  punch version
  punch --version";

/// The arguments of `punch version`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Version {}

impl Version {
    /// Runs the verb.
    pub fn run(self) -> Reply {
        let version = env!("CARGO_PKG_VERSION");
        Reply::new(format!("punch {version}"), json!({"version": version}))
    }
}
