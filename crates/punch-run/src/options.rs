//! Options of a run.

use std::time::Duration;

use punch_engine::config::{PermissionDefault, Settings};
use punch_engine::{Sum, dollars};
use serde::{Serialize, Serializer};

use crate::agent::AgentSpec;
use crate::permission::{self, Otherwise, PermissionPolicy, RuleError};

/// Limits of a run or a todo; `None` means unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RunLimits {
    /// Cost in millionths of a dollar.
    pub cost: Option<u64>,
    /// Tokens read and written.
    pub tokens: Option<u64>,
    /// Time. Recorded in milliseconds.
    #[serde(serialize_with = "as_milliseconds")]
    pub time: Option<Duration>,
    /// Turns of the model.
    pub turns: Option<u64>,
}

#[expect(clippy::ref_option, reason = "serde hands out references")]
fn as_milliseconds<S: Serializer>(time: &Option<Duration>, out: S) -> Result<S::Ok, S::Error> {
    time.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)).serialize(out)
}

impl RunLimits {
    /// Returns the first limit that is reached, in words.
    pub fn reached(&self, sum: &Sum, time: Duration) -> Option<String> {
        let guess = if sum.estimated > 0 { format!(" ({} of them estimated)", sum.estimated) } else { String::new() };
        let tokens = self.tokens.filter(|most| sum.tokens >= *most);
        let cost = self.cost.filter(|most| sum.cost >= *most);
        let turns = self.turns.filter(|most| sum.turns >= *most);
        let time = self.time.filter(|most| time >= *most);
        cost.map(|most| format!("{} of {} spent", dollars(sum.cost), dollars(most)))
            .or_else(|| tokens.map(|most| format!("{} of {most} tokens used{guess}", sum.tokens)))
            .or_else(|| turns.map(|most| format!("{} of {most} turns used", sum.turns)))
            .or_else(|| {
                time.map(|most| format!("the time limit of {} was reached", punch_engine::config::print_duration(most)))
            })
    }
}

/// How permission requests are answered, as the user wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permissions {
    /// What happens to requests that no rule allows.
    pub policy: PermissionDefault,
    /// Rules for what is allowed without asking: a tool, or a tool and what it is used for.
    pub allow: Vec<String>,
}

impl Permissions {
    /// Parses the rules. The error names the first invalid one.
    pub fn rules(&self) -> Result<PermissionPolicy, RuleError> {
        let otherwise = match self.policy {
            PermissionDefault::Ask => Otherwise::Ask,
            PermissionDefault::Allow => Otherwise::Allow,
            PermissionDefault::Deny => Otherwise::Deny,
        };
        Ok(PermissionPolicy {
            allowed: self.allow.iter().map(|rule| rule.parse()).collect::<Result<_, _>>()?,
            otherwise,
        })
    }
}

/// Options of a run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The agents; seats take them in turn.
    pub specs: Vec<AgentSpec>,
    /// Number of agents that work at the same time.
    pub seats: usize,
    /// Limits of the whole run.
    pub limits: RunLimits,
    /// Limits of each todo.
    pub todo_limits: RunLimits,
    /// How permission requests are answered.
    pub permissions: Permissions,
    /// Begin a new run even if the last one can be resumed.
    pub fresh: bool,
    /// Work on every todo in a separate git worktree.
    pub worktrees: bool,
    /// Skip todos of priority 5.
    pub skip_optional: bool,
    /// Work on todos that are larger than a whole context window too, last.
    pub oversize: bool,
}

impl RunOptions {
    /// Returns the options that the settings ask for.
    pub fn of(settings: &Settings, specs: Vec<AgentSpec>) -> Self {
        let some = |n: u64| Some(n).filter(|n| *n > 0);
        let time = |time: Duration| Some(time).filter(|time| !time.is_zero());
        let allow = settings.run_allow.value.as_deref().unwrap_or_default();
        Self {
            specs,
            seats: settings.run_agents.value as usize,
            limits: RunLimits {
                cost: some(micros(settings.run_max_cost.value)),
                tokens: some(settings.run_max_tokens.value),
                time: time(settings.run_max_time.value),
                turns: some(settings.run_max_turns.value),
            },
            todo_limits: RunLimits {
                cost: some(micros(settings.run_todo_cost.value)),
                tokens: some(settings.run_todo_tokens.value),
                time: time(settings.run_todo_time.value),
                turns: some(settings.run_todo_turns.value),
            },
            permissions: Permissions { policy: settings.run_permission.value, allow: permission::listed(allow) },
            fresh: false,
            worktrees: settings.run_worktrees.value,
            skip_optional: settings.keep_going_skip_optional.value,
            oversize: false,
        }
    }
}

/// Converts dollars to millionths of a dollar. Negative and infinite amounts become 0.
pub fn micros(dollars: f64) -> u64 {
    let micros = (dollars * 1_000_000.0).ceil();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the conversion saturates")]
    if micros.is_finite() && micros > 0.0 { micros as u64 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_reached_exactly_when_nothing_is_left() {
        let limits = RunLimits { tokens: Some(100), cost: Some(micros(1.5)), ..RunLimits::default() };
        let sum = |tokens, cost| Sum { tokens, cost, estimated: tokens, ..Sum::default() };
        assert_eq!(limits.reached(&sum(99, 1_499_999), Duration::MAX), None);
        let told = limits.reached(&sum(100, 0), Duration::ZERO).unwrap();
        assert_eq!(told, "100 of 100 tokens used (100 of them estimated)");
        assert_eq!(limits.reached(&sum(0, 1_500_000), Duration::ZERO).unwrap(), "$1.50 of $1.50 spent");
        assert_eq!(RunLimits::default().reached(&sum(u64::MAX, u64::MAX), Duration::MAX), None);
    }

    #[test]
    fn recorded_limits_are_read_as_they_are_written() {
        let limits = RunLimits { time: Some(Duration::from_secs(3_600)), turns: Some(7), ..RunLimits::default() };
        let options = serde_json::json!({"limits": limits});
        let mut body = punch_engine::RunBody::default();
        body.options = options;
        let run = punch_engine::RunRecord { id: 1, started_at: 0, ended_at: None, body };
        let known = run.limits();
        assert_eq!((known.time, known.turns, known.tokens, known.cost), (Some(3_600_000), Some(7), None, None));
    }

    #[test]
    fn money_is_counted_in_whole_millionths() {
        assert_eq!((micros(0.1), micros(-1.0), micros(f64::NAN), dollars(180_744)), (100_000, 0, 0, "$0.19".into()));
    }
}
