//! What an agent's host reports, taken into the plan's sessions: counters, decisions, reminders.

use punch_core::drive::{ContextUse, Effect, HostEvent};
use punch_store::SessionKey;

use crate::config::Settings;
use crate::{Choice, Engine, EngineError};

/// One report of a host.
#[derive(Clone, Debug)]
pub struct Moment {
    /// Which agent program: `claude`, `codex`, …
    pub agent: String,
    /// The conversation, and the subagent inside it.
    pub key: SessionKey,
    /// What the command line and the worktree say about the plan.
    pub choice: Choice,
    /// What happened.
    pub event: HostEvent,
    /// How full the model's context is, where anybody knows.
    pub context: Option<ContextUse>,
    /// The host's own limit of continuations in a row that must not be reached.
    pub host_cap: Option<u32>,
}

impl Engine {
    /// Takes a report and says what the host should do. `settings` are already those of the agent.
    pub fn observe(&self, _moment: &Moment, _settings: &Settings) -> Result<Effect, EngineError> {
        Ok(Effect::default())
    }
}
