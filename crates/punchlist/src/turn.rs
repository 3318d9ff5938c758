//! The turns of an agent: what it reads when a turn begins, reminders during the turn, and whether it may stop.

use std::sync::atomic::Ordering;
use std::time::Duration;

use punch_core::drive::{ContextUse, Decision, Finish, HostEffect, HostEvent, Reason, SessionStart, ToolKind, ToolUse};
use punch_core::text;
use punch_engine::{HostReport, PlanChoice};
use serde::{Deserialize, Serialize};

use crate::wording::{Continuation, NextTodo, Occasion};
use crate::{Error, Session};

/// Bytes of an error that is stored.
const ERROR: usize = 2_000;

/// The way in which a turn ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Ending {
    /// Why the model's last message ended.
    pub finish: Finish,
    /// Jobs that still run and will wake the agent.
    pub background: u32,
    /// How full the model's context is, where you know.
    pub context: Option<ContextUse>,
}

impl Ending {
    /// With that many jobs that still run and will wake the agent.
    pub fn background(mut self, jobs: u32) -> Self {
        self.background = jobs;
        self
    }

    /// With how full the model's context is.
    pub fn context(mut self, context: ContextUse) -> Self {
        self.context = Some(context);
        self
    }
}

impl From<Finish> for Ending {
    fn from(finish: Finish) -> Self {
        Self { finish, ..Self::default() }
    }
}

/// What an agent that wants to stop does next, as facts and as a text for the model.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Next {
    /// Send the text to the model as a user's message, and continue.
    #[non_exhaustive]
    Continue {
        /// For the model; [`crate::Wording::continuation`] replaces it.
        text: String,
        /// The todo to continue with.
        next: NextTodo,
        /// How many todos are open.
        open: u64,
        /// How many there are, without parked ones.
        total: u64,
        /// The number of the continuation, counted by the limit that will end the loop first.
        n: u32,
        /// How many there may be by that limit.
        of: u32,
    },
    /// A turn has just failed. Wait this long, then ask again with [`Session::turn_ended`].
    Wait(Duration),
    /// The turn is over: why, with a stable code and a sentence.
    Stop(Reason),
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
    /// The user sent a message. Put the returned text, if any, before the message: the list of a conversation that is
    /// resumed, and what users changed in the plan since the model last saw it.
    pub fn turn_started(&self) -> Result<Option<String>, Error> {
        let mut out = Vec::new();
        if Self::first(&self.begun) {
            let known = self.engine.session(&self.key)?.is_some_and(|(_, state)| state.bound);
            let how = if known { SessionStart::Resume } else { SessionStart::Startup };
            out.extend(self.observe(HostEvent::SessionStarted { how })?.context);
        }
        self.kept_going.store(false, Ordering::Relaxed);
        out.extend(self.observe(HostEvent::Prompted { by_person: true })?.context);
        let text = if out.is_empty() { None } else { Some(out.join("\n\n")) };
        Ok(self.worded(Occasion::TurnStarted, text))
    }

    /// A tool of your own has answered. Now and then there is a reminder: put it after the tool's result. All
    /// reminders of a session share one budget (`reminders.tokens`).
    pub fn tool_ended(&self, name: &str, kind: ToolKind) -> Result<Option<String>, Error> {
        self.tool_ran(ToolUse::new(name, kind))
    }

    /// A tool of your own has answered, and you know which files it changed or which command it ran. Tests, builds and lints
    /// that pass or fail while the session has a todo in progress become evidence of that todo, see
    /// [`crate::TodoList::proof`]; with `policy.verify = "evidence"`, a todo whose last check failed cannot be completed. Report
    /// commands that fail here or to [`Session::tool_failed`], with their exit code.
    ///
    /// ```
    /// # use punchlist::{Op, Options, Proof, Session, ToolKind, ToolUse};
    /// # fn main() -> Result<(), punchlist::Error> {
    /// let session = Session::in_memory(Options::new("my-agent"))?;
    /// session.turn_started()?;
    /// session.apply(&[Op::add("Write the parser"), Op::start("T-1")])?;
    /// session.tool_ran(ToolUse::new("edit", ToolKind::Edit).changing(["src/parser.rs"]))?;
    /// session.tool_ran(ToolUse::new("shell", ToolKind::Command).running("cargo test", Some(0)))?;
    /// session.apply(&[Op::done("T-1")])?;
    /// assert_eq!(session.list()?.proof("T-1"), Some(Proof::Checked));
    /// # Ok(())
    /// # }
    /// ```
    pub fn tool_ran(&self, tool: ToolUse) -> Result<Option<String>, Error> {
        let text = self.observe(HostEvent::ToolEnded { tool })?.context;
        Ok(self.worded(Occasion::ToolEnded, text))
    }

    /// A tool of your own has failed. The advice, if there is any, is about the todo in progress. A command with its exit
    /// code becomes evidence as in [`Session::tool_ran`].
    pub fn tool_failed(&self, tool: ToolUse, error: &str) -> Result<Option<String>, Error> {
        let error = text::clip(error, ERROR).into_owned();
        let text = self.observe(HostEvent::ToolFailed { tool, error, interrupted: false })?.context;
        Ok(self.worded(Occasion::ToolFailed, text))
    }

    /// The agent wants to end its turn. Say why the model's message ended, or more ([`Ending`]). It continues only
    /// while there is something that this session can work on and no limit is reached; a session that never wrote to
    /// the plan is left alone.
    pub fn turn_ended(&self, ending: impl Into<Ending>) -> Result<Next, Error> {
        let Ending { finish, background, context } = ending.into();
        let kept_going = self.kept_going.load(Ordering::Relaxed);
        let report = self.host_report(HostEvent::Stopping { finish, background, kept_going }, context)?;
        let next = match self.engine.observe_stop(&report, &self.settings)? {
            Some((Decision::Continue { text, n, of }, facts)) => {
                let (open, total) = (facts.open, facts.total);
                let why = Continuation { text, next: facts.next.unwrap_or_default(), open, total, n, of };
                Next::Continue { text: self.wording.continuation(&why), next: why.next, open, total, n, of }
            }
            Some((Decision::Allow { reason: Reason::CoolingDown { seconds } }, _)) => {
                Next::Wait(Duration::from_secs(seconds))
            }
            Some((Decision::Allow { reason }, _)) => Next::Stop(reason),
            None => Next::Stop(Reason::NoSession),
        };
        self.kept_going.store(matches!(next, Next::Continue { .. }), Ordering::Relaxed);
        Ok(next)
    }

    /// The turn ended in an error of the model or the network. [`Session::turn_ended`] then asks you to wait, twice as long
    /// after every further failure, and stops after five in a row. A tool that answers, or a message of the user, ends
    /// the series.
    pub fn turn_failed(&self, error: &str) -> Result<(), Error> {
        let error = text::clip(error, ERROR).into_owned();
        self.observe(HostEvent::TurnFailed { error }).map(drop)
    }

    /// The agent asks the user for a permission or an answer. Until [`Session::answered`] nothing is continued and no
    /// reminder comes.
    pub fn asking(&self) -> Result<(), Error> {
        self.observe(HostEvent::Asked { text: String::new() }).map(drop)
    }

    /// The user answered: work may continue, whether it was granted or not. End the turn with [`Finish::Denied`] if the
    /// agent should stop because it was refused.
    pub fn answered(&self, granted: bool) -> Result<(), Error> {
        let tool = ToolUse::new("ask", ToolKind::Question);
        self.observe(match granted {
            true => HostEvent::ToolEnded { tool },
            false => HostEvent::ToolStarting { tool },
        })
        .map(drop)
    }

    /// The user interrupted the turn: nothing continues before their next message.
    pub fn interrupted(&self) -> Result<(), Error> {
        self.observe(HostEvent::Interrupted).map(drop)
    }

    /// The conversation is over.
    pub fn ended(&self) -> Result<(), Error> {
        self.observe(HostEvent::SessionEnded).map(drop)
    }

    /// Reports anything else that happens in your program, and returns a text for the model if there is one.
    pub fn report(&self, event: HostEvent) -> Result<Option<String>, Error> {
        let text = self.observe(event)?.context;
        Ok(self.worded(Occasion::Reported, text))
    }

    pub(crate) fn observe(&self, event: HostEvent) -> Result<HostEffect, Error> {
        Ok(self.engine.observe(&self.host_report(event, None)?, &self.settings)?)
    }

    pub(crate) fn worded(&self, occasion: Occasion, text: Option<String>) -> Option<String> {
        text.and_then(|text| self.wording.reminder(occasion, text))
    }

    fn host_report(&self, event: HostEvent, context: Option<ContextUse>) -> Result<HostReport, Error> {
        Ok(HostReport {
            agent: self.agent.clone(),
            key: self.key.clone(),
            choice: PlanChoice { name: Some(self.plan_name()?), ..PlanChoice::default() },
            event,
            context,
            host_cap: None,
            turn: None,
            tree: self.tree.as_ref().map(|tree| tree.root.clone()),
            earlier: Default::default(),
            by_runner: false,
            upcoming: None,
            checks: Default::default(),
            agent_process: || None,
        })
    }
}
