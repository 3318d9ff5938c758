//! `punch version`: the version of this program.

use clap::Args;
use serde_json::json;

use crate::reply::VerbReply;

const EXAMPLES: &str = "\
Examples:
  punch version
  punch --version";

/// The arguments of `punch version`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct VersionArgs {}

impl VersionArgs {
    /// Runs the verb.
    pub fn run(self) -> VerbReply {
        let version = env!("CARGO_PKG_VERSION");
        VerbReply::new(format!("punch {version}"), json!({"version": version}))
    }
}
