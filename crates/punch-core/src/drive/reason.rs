//! The reasons why an agent may stop: one value for each gate, with a stable code and a sentence.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Block, Finish, PlanFacts, Roots, Unproven, quote};
use crate::reason::Cause;
use crate::text::shell;

/// Blocks that a sentence names.
const WRITTEN: usize = 5;

/// Why an agent may stop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// The report names no session; an empty id would match every other.
    NoSession,
    /// Switched off in the settings.
    Disabled,
    /// Switched off with `punch keep-going off`.
    SwitchedOff,
    /// Paused with `punch keep-going pause`.
    Paused,
    /// A subagent answers to its parent.
    Subagent,
    /// The session has written nothing in this plan.
    Unbound,
    /// The session works on another plan.
    Foreign,
    /// The message did not end because the model was finished.
    Finish {
        /// The way in which the turn ended.
        finish: Finish,
    },
    /// The user interrupted the work.
    Interrupted,
    /// The user is being asked.
    Asked,
    /// Something runs that will wake the agent.
    Background {
        /// The number of background jobs.
        jobs: u32,
    },
    /// The conversation is being shortened.
    Compacting,
    /// Nothing is open, and nothing failed.
    Finished,
    /// Nothing is open, and some todos failed.
    Failed {
        /// The number of failed todos.
        todos: u64,
    },
    /// Only what is of the weakest priority is open.
    OnlyOptional {
        /// The ids of these todos.
        ids: Vec<String>,
    },
    /// Everything open waits for people.
    WaitsForPeople {
        /// The todos that wait for the user.
        roots: Roots,
    },
    /// Something is open, and nothing of it can be worked on.
    NothingActionable {
        /// What blocks the open todos.
        roots: Roots,
    },
    /// Only todos are left whose checks are running.
    ChecksRunning {
        /// The ids of these todos.
        ids: Vec<String>,
    },
    /// Only todos are left whose checks the user has not approved.
    ChecksUnapproved {
        /// The ids of these todos.
        ids: Vec<String>,
    },
    /// Too many turns failed one after the other.
    FailedTurns {
        /// The number of failed turns.
        failures: u32,
    },
    /// A turn failed a moment ago.
    CoolingDown {
        /// For this many more seconds.
        seconds: u64,
    },
    /// The context is nearly full.
    ContextFull {
        /// Tokens in it.
        used: u64,
        /// Tokens it can hold.
        limit: u64,
    },
    /// The host would end the turn by itself with the next one.
    HostCap {
        /// The number of continuations in a row that the host allows.
        cap: u32,
    },
    /// The limit of continuations without progress was reached.
    MaxContinuations {
        /// The limit that was reached.
        limit: u32,
    },
    /// The limit of continuations after one message was reached, with or without progress.
    AbsoluteCap {
        /// The limit that was reached.
        limit: u32,
    },
    /// The user was away for as long as allowed.
    TooLong {
        /// The minutes since the user's last message.
        minutes: u64,
    },
    /// The turn was about something else: neither it nor its continuation touched the plan.
    PlanUntouched,
    /// Continuations changed nothing.
    NoProgress {
        /// The number of these continuations.
        times: u32,
    },
}

impl Reason {
    /// The stable code that programs match on.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoSession => "no_session",
            Self::Disabled => "disabled",
            Self::SwitchedOff => "switched_off",
            Self::Paused => "paused",
            Self::Subagent => "subagent",
            Self::Unbound => "unbound",
            Self::Foreign => "foreign",
            Self::Finish { .. } => "finish",
            Self::Interrupted => "interrupted",
            Self::Asked => "asked",
            Self::Background { .. } => "background",
            Self::Compacting => "compacting",
            Self::Finished => "finished",
            Self::Failed { .. } => "failed",
            Self::OnlyOptional { .. } => "only_optional",
            Self::WaitsForPeople { .. } => "waits_for_people",
            Self::NothingActionable { .. } => "nothing_actionable",
            Self::ChecksRunning { .. } => "checks_running",
            Self::ChecksUnapproved { .. } => "checks_unapproved",
            Self::FailedTurns { .. } => "failed_turns",
            Self::CoolingDown { .. } => "cooling_down",
            Self::ContextFull { .. } => "context_full",
            Self::HostCap { .. } => "host_cap",
            Self::MaxContinuations { .. } => "max_continuations",
            Self::AbsoluteCap { .. } => "absolute_cap",
            Self::TooLong { .. } => "too_long",
            Self::PlanUntouched => "plan_untouched",
            Self::NoProgress { .. } => "no_progress",
        }
    }

    /// Returns true if the agent could have continued, and auto-continue gave up on it: until the user says something, nothing
    /// happens with the work that is left.
    pub const fn gave_up(&self) -> bool {
        match self {
            Self::FailedTurns { .. }
            | Self::ContextFull { .. }
            | Self::HostCap { .. }
            | Self::MaxContinuations { .. }
            | Self::AbsoluteCap { .. }
            | Self::TooLong { .. }
            | Self::PlanUntouched
            | Self::NoProgress { .. } => true,
            Self::NoSession
            | Self::Disabled
            | Self::SwitchedOff
            | Self::Paused
            | Self::Subagent
            | Self::Unbound
            | Self::Foreign
            | Self::Finish { .. }
            | Self::Interrupted
            | Self::Asked
            | Self::Background { .. }
            | Self::Compacting
            | Self::Finished
            | Self::Failed { .. }
            | Self::OnlyOptional { .. }
            | Self::WaitsForPeople { .. }
            | Self::NothingActionable { .. }
            | Self::ChecksRunning { .. }
            | Self::ChecksUnapproved { .. }
            | Self::CoolingDown { .. } => false,
        }
    }

    /// The reason in a sentence without its full stop, safe to print.
    pub fn text(&self) -> String {
        match self {
            Self::NoSession => "the agent did not identify its session".into(),
            Self::Disabled => "auto-continue is off in the settings".into(),
            Self::SwitchedOff => "auto-continue is switched off".into(),
            Self::Paused => "auto-continue is paused".into(),
            Self::Subagent => "auto-continue does not apply to subagents".into(),
            Self::Unbound => "this session has not written to the plan".into(),
            Self::Foreign => "this session works on another plan".into(),
            Self::Finish { finish } => {
                format!("the model did not end the turn itself ({})", finish.text())
            }
            Self::Interrupted => "the user interrupted the work".into(),
            Self::Asked => "the user is being asked".into(),
            Self::Background { jobs: 1 } => "a background job is still running".into(),
            Self::Background { jobs } => format!("{jobs} background jobs are still running"),
            Self::Compacting => "the conversation is being compacted".into(),
            Self::Finished => "every todo is closed".into(),
            Self::Failed { todos: 1 } => "every todo is closed, but 1 failed".into(),
            Self::Failed { todos } => format!("every todo is closed, but {todos} failed"),
            Self::OnlyOptional { ids } => format!("only optional todos are left: {}", ids_in(ids)),
            Self::WaitsForPeople { roots } => format!("every open todo is waiting for the user: {}", blocks(roots)),
            Self::NothingActionable { roots } => format!("no open todo can be worked on: {}", blocks(roots)),
            Self::ChecksRunning { ids } if ids.len() == 1 => format!("the check of {} is still running", ids_in(ids)),
            Self::ChecksRunning { ids } => format!("the checks of {} are still running", ids_in(ids)),
            Self::ChecksUnapproved { ids } if ids.len() == 1 => {
                format!("the check of {} needs your approval", ids_in(ids))
            }
            Self::ChecksUnapproved { ids } => format!("the checks of {} need your approval", ids_in(ids)),
            Self::FailedTurns { failures } => format!("{failures} turns in a row failed"),
            Self::CoolingDown { seconds } => format!("a turn has just failed; the next one may start in {seconds} s"),
            Self::ContextFull { used, limit } => format!("the context is nearly full ({used} of {limit} tokens)"),
            Self::HostCap { cap } => format!("the agent allows {} in a row", continuations(*cap)),
            Self::MaxContinuations { limit } => format!("the limit is {} without progress", continuations(*limit)),
            Self::AbsoluteCap { limit } => format!("the limit is {} after one message", continuations(*limit)),
            Self::TooLong { minutes } => format!("the last message from you was {minutes} minutes ago"),
            Self::PlanUntouched => "this turn did not touch the plan".into(),
            Self::NoProgress { times: 1 } => "a continuation made no progress".into(),
            Self::NoProgress { times } => format!("{times} continuations in a row made no progress"),
        }
    }

    /// What the user can do about it, with the commands for it; empty if there is nothing to do.
    pub fn command_hint(&self) -> Cow<'static, str> {
        let hint = match self {
            Self::Disabled => "`punch config show` shows where that is set",
            Self::SwitchedOff => "run `punch keep-going on` to switch it on",
            Self::Paused => "run `punch keep-going resume` to continue",
            Self::Subagent => "run `punch config set keep_going.subagents true` to include them",
            Self::WaitsForPeople { roots } => {
                let id = roots.only_one().map_or("ID".into(), |id| shell(id).into_owned());
                return format!("decide, run `punch unhold {id}`, then tell the agent").into();
            }
            Self::NothingActionable { .. } => "`punch why` shows what is in the way",
            Self::Failed { .. } => "`punch list --failed` shows them, `punch reopen ID` retries one",
            Self::ChecksUnapproved { .. } => "`punch inbox` shows the commands and how to approve them",
            _ => self.hint(),
        };
        hint.into()
    }

    /// What the user can do about it, in words that name no command; empty if there is nothing to do.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Disabled => "the setting `keep_going.enabled` switches it on",
            Self::SwitchedOff => "switch it on to continue",
            Self::Paused => "resume it to continue",
            Self::Subagent => "the setting `keep_going.subagents` includes them",
            Self::WaitsForPeople { .. } => "decide, release the todos, then tell the agent",
            Self::NothingActionable { .. } => "look at what the open todos wait for",
            Self::OnlyOptional { .. } => "tell the agent if it should do them",
            Self::Failed { .. } => "reopen those that the agent should try again",
            Self::ChecksRunning { .. } => "the agent learns the result with your next message",
            Self::ChecksUnapproved { .. } => "approve the commands that check them",
            Self::FailedTurns { .. } | Self::CoolingDown { .. } => {
                "read what the agent reported, then send it a message"
            }
            Self::ContextFull { .. } => "compact the conversation or start a new one; the plan stays",
            Self::HostCap { .. } | Self::MaxContinuations { .. } | Self::AbsoluteCap { .. } | Self::TooLong { .. } => {
                "any message to the agent resets the count"
            }
            Self::PlanUntouched => "if the agent should work on the plan, tell it to continue",
            Self::NoProgress { .. } => "read what the agent says, then send it a message",
            Self::Finish { .. } | Self::Interrupted => "send the agent a message to continue",
            Self::NoSession | Self::Unbound | Self::Foreign | Self::Asked | Self::Background { .. } => "",
            Self::Compacting | Self::Finished => "",
        }
    }

    /// Whether to notify the user at once: work is left, and nothing else will continue it.
    pub const fn is_told(&self) -> bool {
        match self {
            Self::OnlyOptional { .. } | Self::WaitsForPeople { .. } | Self::NothingActionable { .. } => true,
            Self::Failed { .. } | Self::ChecksRunning { .. } | Self::ChecksUnapproved { .. } => true,
            Self::FailedTurns { .. } | Self::ContextFull { .. } | Self::HostCap { .. } => true,
            Self::MaxContinuations { .. } | Self::AbsoluteCap { .. } | Self::TooLong { .. } => true,
            Self::NoProgress { .. } | Self::CoolingDown { .. } | Self::PlanUntouched => true,
            Self::NoSession | Self::Disabled | Self::SwitchedOff | Self::Paused | Self::Subagent => false,
            Self::Unbound | Self::Foreign | Self::Finish { .. } | Self::Interrupted | Self::Asked => false,
            Self::Background { .. } | Self::Compacting | Self::Finished => false,
        }
    }

    /// Two or three lines for the user at the screen.
    pub fn tell(&self, facts: &PlanFacts) -> Option<String> {
        if let Self::Failed { .. } = self {
            // Once, after it happened: the user knows it from then on.
            let text = || format!("punch: stopped, {}.\nNext: {}.", self.text(), self.command_hint());
            return facts.progress.then(text);
        }
        if let Self::Finished = self {
            let todos =
                if facts.total == 1 { "the only todo is".to_owned() } else { format!("all {} todos are", facts.total) };
            return (facts.progress && facts.total > 0).then(|| format!("punch: finished, {todos} closed."));
        }
        if !self.is_told() || facts.open == 0 {
            return None;
        }
        let todos = if facts.open == 1 { "1 todo is".to_owned() } else { format!("{} todos are", facts.open) };
        let named = matches!(self, Self::ChecksRunning { .. } | Self::ChecksUnapproved { .. });
        let checks = facts.unproven.iter().filter(|one| !named || one.pending.is_none());
        let checks: Vec<String> = checks.map(Unproven::mention).collect();
        let checks = if checks.is_empty() { String::new() } else { format!("\nNot done: {}.", checks.join(", ")) };
        Some(format!("punch: stopped, {todos} open: {}.{checks}\nNext: {}.", self.text(), self.command_hint()))
    }
}

fn continuations(n: u32) -> String {
    if n == 1 { "1 continuation".to_owned() } else { format!("{n} continuations") }
}

fn blocks(roots: &Roots) -> String {
    if roots.total == 0 {
        return "the cause was not found".into();
    }
    let written = list(roots.named.iter().map(Block::text), roots.total);
    if roots.cut { format!("{written} and perhaps more") } else { written }
}

fn ids_in(ids: &[String]) -> String {
    list(ids.iter().map(|id| quote(id, 60)), ids.len() as u64)
}

fn list(items: impl Iterator<Item = String>, total: u64) -> String {
    let mut out: Vec<String> = items.take(WRITTEN).collect();
    let more = total.saturating_sub(out.len() as u64);
    if more > 0 {
        out.push(format!("{more} more"));
    }
    out.join(", ")
}

impl Block {
    /// A few words, safe to print and to show to a model.
    pub fn text(&self) -> String {
        let id = if self.id.is_empty() { "(no id)".to_owned() } else { quote(&self.id, 60) };
        let about = quote(&self.about, 80);
        let how = match self.cause {
            // A model reads this too.
            Cause::Person if about.is_empty() => "waiting for the user".to_owned(),
            Cause::Person => format!("waiting for the user: {about}"),
            cause => cause.words(&about),
        };
        format!("{id} ({how})")
    }
}
