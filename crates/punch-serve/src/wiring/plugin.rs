//! The other way to connect an agent: a plugin or extension, whose advice is the guide.

use punch_agents::Adapter;
use punch_agents::settings::{PluginSource, Program, Roots, Target};

use crate::guide::standing;

/// The files of an agent's plugin, for the user; `None` for agents that have none.
pub fn plugin(agent: &Adapter, roots: &Roots, program: &Program) -> Option<Vec<Target>> {
    let plugin = agent.settings.plugin.as_ref()?;
    Some((plugin.targets)(&PluginSource { roots, program, guide: &standing }))
}
