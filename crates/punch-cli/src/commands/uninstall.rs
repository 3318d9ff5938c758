//! `punch uninstall`: disconnects agents by removing our entries from their configuration.

use clap::Args;
use punch_agents::AGENTS;

use super::install::How;
use crate::arguments::Global;
use crate::failure::Failure;
use crate::guard;
use crate::reply::VerbReply;
use crate::wiring::{ConnectionChange, Way, WiringForm};

const EXAMPLES: &str = "\
Examples:
  punch uninstall claude          # your own settings in this project
  punch uninstall --shared        # every agent, in the files that your team commits
  punch uninstall --user          # every agent, in your settings for all projects
  punch uninstall codex --dry-run

Files that you have not touched since are restored byte for byte. From files that you have edited,
only punch's entries are removed. Files that punch created are deleted unless they contain
something else. The plan stays.";

/// The arguments of `punch uninstall`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct UninstallArgs {
    #[command(flatten)]
    how: How,
}

impl UninstallArgs {
    /// Runs the verb. Without names it is meant for all agents, also for those that are gone.
    pub fn run(self, global: &Global) -> Result<VerbReply, Failure> {
        guard::only_user("disconnect agents")?;
        let place = self.how.place(global)?;
        let agents = if self.how.agents.is_empty() { AGENTS.to_vec() } else { self.how.agents.clone() };
        let request = self.how.request(global, Way::Out, WiringForm::Settings, true);
        let (text, json) = self.how.change(global, ConnectionChange::plan(place, &agents, request)?, "")?;
        Ok(VerbReply::new(text, json))
    }
}
