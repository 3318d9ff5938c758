//! The user's settings for auto-continue and reminders.

use serde::{Deserialize, Serialize};

/// The choices behind a decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeepGoing {
    /// Keep agents going at all.
    pub enabled: bool,
    /// Subagents too.
    pub subagents: bool,
    /// Continuations without progress of the plan in between.
    pub max_continuations: u32,
    /// Continuations after one message of the user, with or without progress.
    pub absolute: u32,
    /// Continuations in a row after which the agent used no tool but ours and changed no status.
    pub no_progress: u32,
    /// Minutes after the user's message; 0 for no limit.
    pub max_minutes: u64,
    /// The share of the context beyond which nothing is continued.
    pub token_limit: f64,
    /// Leave todos of the weakest priority open (rule 47).
    pub skip_optional: bool,
}

impl Default for KeepGoing {
    fn default() -> Self {
        Self {
            enabled: true,
            subagents: false,
            max_continuations: 10,
            absolute: 100,
            no_progress: 3,
            max_minutes: 120,
            token_limit: 0.9,
            skip_optional: false,
        }
    }
}

/// The choices behind a reminder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reminding {
    /// Remind at all.
    pub enabled: bool,
    /// Tokens that all reminders of one session may cost.
    pub tokens: u64,
}

impl Default for Reminding {
    fn default() -> Self {
        Self { enabled: true, tokens: 600 }
    }
}
