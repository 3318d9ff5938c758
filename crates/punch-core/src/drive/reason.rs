//! Why an agent may stop: one value for every gate, with a stable code and a sentence.

use serde::{Deserialize, Serialize};

use super::{Block, Cause, Facts, Finish, Roots, Unproven, quote};

/// Blocks that a sentence names.
const WRITTEN: usize = 5;

/// Why an agent may stop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Reason {
    /// The host names no session; an empty id would match every other.
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
        /// How it ended.
        finish: Finish,
    },
    /// A person broke the work off.
    Interrupted,
    /// A person is being asked.
    Asked,
    /// Something runs that will wake the agent.
    Background {
        /// How much.
        jobs: u32,
    },
    /// The conversation is being shortened.
    Compacting,
    /// Nothing is open.
    Finished,
    /// Only what is of the weakest priority is open.
    OnlyOptional {
        /// Their ids.
        ids: Vec<String>,
    },
    /// Everything open waits for people.
    WaitsForPeople {
        /// What they must decide.
        roots: Roots,
    },
    /// Something is open, and nothing of it can be worked on.
    NothingActionable {
        /// What stands in the way.
        roots: Roots,
    },
    /// Too many turns failed one after the other.
    FailedTurns {
        /// How many.
        failures: u32,
    },
    /// A turn failed a moment ago.
    CoolingDown {
        /// For so many seconds more.
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
        /// How many it allows.
        cap: u32,
    },
    /// As many continuations as allowed, since there was progress.
    MaxContinuations {
        /// How many.
        limit: u32,
    },
    /// As many continuations as allowed, with or without progress.
    AbsoluteCap {
        /// How many.
        limit: u32,
    },
    /// A person was away for as long as allowed.
    TooLong {
        /// How long.
        minutes: u64,
    },
    /// The turn was about something else: neither it nor its continuation touched the plan.
    PlanUntouched,
    /// Continuations changed nothing.
    NoProgress {
        /// How many.
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
            Self::OnlyOptional { .. } => "only_optional",
            Self::WaitsForPeople { .. } => "waits_for_people",
            Self::NothingActionable { .. } => "nothing_actionable",
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

    /// The reason in a sentence without its full stop, safe to print.
    pub fn text(&self) -> String {
        match self {
            Self::NoSession => "the host names no session".into(),
            Self::Disabled => "keep-going is off in the settings".into(),
            Self::SwitchedOff => "keep-going was switched off".into(),
            Self::Paused => "keep-going is paused".into(),
            Self::Subagent => "subagents are not kept going".into(),
            Self::Unbound => "this session has not written to the plan".into(),
            Self::Foreign => "this session works on another plan".into(),
            Self::Finish { finish } => {
                format!("the turn ended otherwise than by the model's own choice ({})", finish.text())
            }
            Self::Interrupted => "a person broke the work off".into(),
            Self::Asked => "a person is being asked".into(),
            Self::Background { jobs: 1 } => "a background job is still running".into(),
            Self::Background { jobs } => format!("{jobs} background jobs are still running"),
            Self::Compacting => "the conversation is being shortened".into(),
            Self::Finished => "nothing is open".into(),
            Self::OnlyOptional { ids } => {
                format!("only optional todos are left: {}", list(ids.iter().map(|id| quote(id, 60)), ids.len() as u64))
            }
            Self::WaitsForPeople { roots } => format!("everything open waits for a person: {}", blocks(roots)),
            Self::NothingActionable { roots } => format!("nothing open can be worked on: {}", blocks(roots)),
            Self::FailedTurns { failures } => format!("{failures} turns failed one after the other"),
            Self::CoolingDown { seconds } => format!("a turn has just failed; {seconds} s of rest are left"),
            Self::ContextFull { used, limit } => format!("the context is nearly full ({used} of {limit} tokens)"),
            Self::HostCap { cap } => format!("the host allows {} in a row", continuations(*cap)),
            Self::MaxContinuations { limit } => format!("the limit is {} without progress", continuations(*limit)),
            Self::AbsoluteCap { limit } => format!("the limit is {} after one message", continuations(*limit)),
            Self::TooLong { minutes } => format!("nobody has said anything for {minutes} minutes"),
            Self::PlanUntouched => "this turn did not touch the plan".into(),
            Self::NoProgress { times: 1 } => "a continuation changed no status".into(),
            Self::NoProgress { times } => format!("{times} continuations changed no status"),
        }
    }

    /// What a person can do about it; empty where there is nothing to do.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Disabled => "`punch config show` says where that is set",
            Self::SwitchedOff => "`punch keep-going on` switches it on",
            Self::Paused => "`punch keep-going resume` goes on",
            Self::Subagent => "`punch config set keep_going.subagents true` includes them",
            Self::WaitsForPeople { .. } => "decide, then `punch release ID` and say so to the agent",
            Self::NothingActionable { .. } => "`punch why` tells more",
            Self::OnlyOptional { .. } => "say so if they should be done",
            Self::FailedTurns { .. } | Self::CoolingDown { .. } => "see what the agent reports, then send it a message",
            Self::ContextFull { .. } => "shorten the conversation or begin a new one; the plan is kept",
            Self::HostCap { .. } | Self::MaxContinuations { .. } | Self::AbsoluteCap { .. } | Self::TooLong { .. } => {
                "any message to the agent starts the count again"
            }
            Self::PlanUntouched => "tell the agent to continue with the plan if it should",
            Self::NoProgress { .. } => "look at what the agent says, then send it a message",
            Self::Finish { .. } | Self::Interrupted => "any message to the agent goes on",
            Self::NoSession | Self::Unbound | Self::Foreign | Self::Asked | Self::Background { .. } => "",
            Self::Compacting | Self::Finished => "",
        }
    }

    /// Whether to notify the user at once: work is left, and nothing else will continue it.
    pub const fn is_told(&self) -> bool {
        match self {
            Self::OnlyOptional { .. } | Self::WaitsForPeople { .. } | Self::NothingActionable { .. } => true,
            Self::FailedTurns { .. } | Self::ContextFull { .. } | Self::HostCap { .. } => true,
            Self::MaxContinuations { .. } | Self::AbsoluteCap { .. } | Self::TooLong { .. } => true,
            Self::NoProgress { .. } | Self::CoolingDown { .. } | Self::PlanUntouched => true,
            Self::NoSession | Self::Disabled | Self::SwitchedOff | Self::Paused | Self::Subagent => false,
            Self::Unbound | Self::Foreign | Self::Finish { .. } | Self::Interrupted | Self::Asked => false,
            Self::Background { .. } | Self::Compacting | Self::Finished => false,
        }
    }

    /// Two or three lines for the person in front of the screen.
    pub fn tell(&self, facts: &Facts) -> Option<String> {
        if !self.is_told() || facts.open == 0 {
            return None;
        }
        let todos = if facts.open == 1 { "1 todo is".to_owned() } else { format!("{} todos are", facts.open) };
        let checks: Vec<String> = facts.unproven.iter().map(Unproven::mention).collect();
        let checks = if checks.is_empty() { String::new() } else { format!("\nNot done: {}.", checks.join(", ")) };
        Some(format!("punch: stopped, {todos} open: {}.{checks}\nWhat to do: {}.", self.text(), self.hint()))
    }
}

fn continuations(n: u32) -> String {
    if n == 1 { "1 continuation".to_owned() } else { format!("{n} continuations") }
}

fn blocks(roots: &Roots) -> String {
    if roots.total == 0 {
        return "something that was not found".into();
    }
    let written = list(roots.named.iter().map(Block::text), roots.total);
    if roots.cut { format!("{written} and perhaps more") } else { written }
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
            Cause::Person => "waits for a person",
            Cause::Hold => "held",
            Cause::Timer => "waits for its time",
            Cause::Elsewhere => "in progress elsewhere",
            Cause::Reported => "reported, not verified yet",
            Cause::Dropped => "given up",
            Cause::Missing => "no such todo",
            Cause::Circle => "in a circle",
            Cause::Blank => "says nothing",
        };
        if about.is_empty() { format!("{id} ({how})") } else { format!("{id} ({how}: {about})") }
    }
}
