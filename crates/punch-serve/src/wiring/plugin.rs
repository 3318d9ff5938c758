//! The other way to connect an agent: a plugin or extension, whose advice is the guide.

use punch_agents::settings::{PluginSource, Program, Roots, Target};
use punch_agents::{Adapter, marketplace as market};

use crate::guide::standing;

/// The files of an agent's plugin, for the user; `None` for agents that have none.
pub fn plugin(agent: &Adapter, roots: &Roots, program: &Program) -> Option<Vec<Target>> {
    let plugin = agent.settings.plugin.as_ref()?;
    Some((plugin.targets)(&PluginSource { roots, program, guide: &standing }))
}

/// Paths and texts of the marketplace with the plugins in it.
pub fn marketplace(roots: &Roots, program: &Program) -> Vec<(String, String)> {
    market::files(&PluginSource { roots, program, guide: &standing })
}

/// Paths and texts of a plugin that is not in the marketplace.
pub fn plugin_files(agent: &Adapter, roots: &Roots, program: &Program) -> Vec<(String, String)> {
    let source = PluginSource { roots, program, guide: &standing };
    agent.settings.plugin.as_ref().map(|plugin| (plugin.files)(&source)).unwrap_or_default()
}
