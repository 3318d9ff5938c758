//! Agents by name.

use punch_agents::Adapter;

/// The agent of a name.
pub fn agent(name: &str) -> &'static Adapter {
    punch_agents::named(name).unwrap()
}
