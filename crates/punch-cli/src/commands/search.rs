//! `punch search`: todos that contain words, closed ones too.

use clap::Args;

use super::list::ListArgs;
use crate::failure::Failure;
use crate::project::Project;
use crate::reply::VerbReply;

const EXAMPLES: &str = "\
Examples:
  punch search parser
  punch search parser is:done      # the filters of `punch list`, see `punch help filters`";

/// The arguments of `punch search`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct SearchArgs {
    /// Words in id, text or description, or filters
    #[arg(required_unless_present = "not", value_name = "WORD")]
    words: Vec<String>,
    /// What `-word` is read as
    #[arg(long, value_name = "WORD", hide = true)]
    not: Vec<String>,
}

impl SearchArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        ListArgs::search(self.words, self.not).run(project)
    }
}
