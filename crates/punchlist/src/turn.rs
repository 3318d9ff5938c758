//! The turns of an agent: what it is told when one begins, reminders on the way, and whether it may stop.

use std::sync::atomic::Ordering;

use punch_core::drive::{ContextUse, Decision, Effect, Finish, HostEvent, Reason, Start, ToolKind, ToolUse};
use punch_core::text;
use punch_engine::{Choice, HostReport};

use crate::{Error, Session};

/// Bytes of an error that is kept.
const ERROR: usize = 2_000;

/// How a turn ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ending {
    /// Why the model's last message ended.
    pub finish: Finish,
    /// Jobs that still run and will wake the agent.
    pub background: u32,
    /// How full the model's context is, where you know.
    pub context: Option<ContextUse>,
}

impl From<Finish> for Ending {
    fn from(finish: Finish) -> Self {
        Self { finish, ..Self::default() }
    }
}

/// What an agent that wants to stop does next.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Send this text to the model as a user's message, and continue.
    Continue {
        /// For the model.
        text: String,
        /// Which one it is since the last progress.
        n: u32,
        /// How many there may be.
        of: u32,
    },
    /// The turn is over.
    Stop {
        /// Why, with a stable code, a sentence and a hint.
        reason: Reason,
    },
}

/// What a provider's reason for the end of a message means; unknown words are [`Finish::Unknown`], which never
/// continues.
///
/// ```
/// use punchlist::{Finish, finish};
///
/// assert_eq!(finish("stop"), Finish::EndTurn); // OpenAI
/// assert_eq!(finish("tool_use"), Finish::ToolUse); // Anthropic
/// assert_eq!(finish("MAX_TOKENS"), Finish::Length); // Gemini
/// ```
pub fn finish(reason: &str) -> Finish {
    match reason.to_ascii_lowercase().as_str() {
        "stop" | "end_turn" | "stop_sequence" | "completed" => Finish::EndTurn,
        "tool_calls" | "tool_use" | "function_call" | "pause_turn" => Finish::ToolUse,
        "length" | "max_tokens" | "max_output_tokens" | "model_context_window_exceeded" => Finish::Length,
        "cancelled" | "canceled" => Finish::Cancelled,
        "error" | "failed" => Finish::Error,
        _ => Finish::Unknown,
    }
}

impl Session {
    /// The user said something. Put the text, if there is one, before the model with the message: the list of a
    /// conversation that is resumed, and what users changed in the plan since the model last saw it.
    pub fn turn_started(&self) -> Result<Option<String>, Error> {
        let mut out = Vec::new();
        if Self::first(&self.begun) {
            let known = self.engine.session(&self.key)?.is_some_and(|(_, state)| state.bound);
            let how = if known { Start::Resume } else { Start::Startup };
            out.extend(self.report(HostEvent::SessionStarted { how })?.context);
        }
        self.kept_going.store(false, Ordering::Relaxed);
        out.extend(self.report(HostEvent::Prompted { by_person: true })?.context);
        Ok(if out.is_empty() { None } else { Some(out.join("\n\n")) })
    }

    /// A tool of your own has answered. Now and then there is a reminder: put it behind the tool's result. All
    /// reminders of a session share one budget (`reminders.tokens`).
    pub fn tool_ended(&self, name: &str, kind: ToolKind) -> Result<Option<String>, Error> {
        Ok(self.report(HostEvent::ToolEnded { tool: tool(name, kind) })?.context)
    }

    /// A tool of your own has failed. The advice, if there is any, is about the todo in progress.
    pub fn tool_failed(&self, name: &str, kind: ToolKind, error: &str) -> Result<Option<String>, Error> {
        let error = text::clip(error, ERROR).into_owned();
        Ok(self.report(HostEvent::ToolFailed { tool: tool(name, kind), error, interrupted: false })?.context)
    }

    /// The agent wants to end its turn. Say why the model's message ended, or more ([`Ending`]). It continues only
    /// while there is something that this session can work on and no limit is reached; a session that never wrote to
    /// the plan is let alone.
    pub fn turn_ended(&self, ending: impl Into<Ending>) -> Result<Next, Error> {
        let Ending { finish, background, context } = ending.into();
        let kept_going = self.kept_going.load(Ordering::Relaxed);
        let report = self.host_report(HostEvent::Stopping { finish, background, kept_going }, context)?;
        let (_, decision) = self.engine.observe_stop(&report, &self.settings)?;
        let next = match decision {
            Some(Decision::Continue { text, n, of }) => Next::Continue { text, n, of },
            Some(Decision::Allow { reason }) => Next::Stop { reason },
            None => Next::Stop { reason: Reason::NoSession },
        };
        self.kept_going.store(matches!(next, Next::Continue { .. }), Ordering::Relaxed);
        Ok(next)
    }

    /// The turn ended in an error of the model or the network: the next continuations wait, and end after a few.
    pub fn turn_failed(&self, error: &str) -> Result<(), Error> {
        let error = text::clip(error, ERROR).into_owned();
        self.report(HostEvent::TurnFailed { error }).map(drop)
    }

    /// The user interrupted the turn: nothing continues before their next message.
    pub fn interrupted(&self) -> Result<(), Error> {
        self.report(HostEvent::Interrupted).map(drop)
    }

    /// The conversation is over.
    pub fn ended(&self) -> Result<(), Error> {
        self.report(HostEvent::SessionEnded).map(drop)
    }

    /// Reports anything else that happens in a host; the effect is what it should do.
    pub fn report(&self, event: HostEvent) -> Result<Effect, Error> {
        Ok(self.engine.observe(&self.host_report(event, None)?, &self.settings)?)
    }

    fn host_report(&self, event: HostEvent, context: Option<ContextUse>) -> Result<HostReport, Error> {
        Ok(HostReport {
            agent: self.agent.clone(),
            key: self.key.clone(),
            choice: Choice { name: Some(self.plan_name()?), ..Choice::default() },
            event,
            context,
            host_cap: None,
            turn: None,
            tree: self.tree.as_ref().map(|tree| tree.root.clone()),
            earlier: Default::default(),
            by_runner: false,
            upcoming: None,
            agent_process: || None,
        })
    }
}

fn tool(name: &str, kind: ToolKind) -> ToolUse {
    ToolUse { name: name.to_owned(), kind, ..ToolUse::default() }
}
