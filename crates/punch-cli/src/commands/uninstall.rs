//! `punch uninstall`: punch out of the configuration of agents; every file is left as it was before.

use clap::Args;
use punch_serve::hook::Host;

use super::install::How;
use crate::arguments::Global;
use crate::failure::Failure;
use crate::reply::Reply;
use crate::wiring::{Change, Form, Place, Way};

const EXAMPLES: &str = "\
Examples:
  punch uninstall claude          # in this project
  punch uninstall --user          # every agent, in the user's own settings
  punch uninstall codex --dry-run

A file that was not changed since gets back every byte; from one that was, only what is ours is taken out. Files that
punch made go, unless somebody changed them. The plan stays.";

/// The arguments of `punch uninstall`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Uninstall {
    #[command(flatten)]
    how: How,
}

impl Uninstall {
    /// Runs the verb. Without names it is meant for all agents, also for those that are gone.
    pub fn run(self, global: &Global) -> Result<Reply, Failure> {
        let place = Place::find(global, self.how.level())?;
        let agents = if self.how.agents.is_empty() { Host::ALL.to_vec() } else { self.how.agents.clone() };
        self.how.change(global, Change::plan(place, Way::Out, &agents, Form::Settings, true)?)
    }
}
