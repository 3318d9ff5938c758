//! The other way to connect an agent: a plugin or extension, whose advice is the guide.

use punch_agents::Adapter;
use punch_agents::settings::{PluginSource, Program, SettingsFile, SettingsRoots};

use crate::guide::standing;

/// The files of an agent's plugin, for the user; `None` for agents that have none.
pub fn plugin(agent: &Adapter, roots: &SettingsRoots, program: &Program) -> Option<Vec<SettingsFile>> {
    let plugin = agent.settings.plugin.as_ref()?;
    Some((plugin.targets)(&PluginSource { roots, program, guide: &standing }))
}
