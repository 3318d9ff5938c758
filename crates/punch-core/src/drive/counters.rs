//! What is counted for one session, and how it moves with what the host reports. All of it is chatter: it is stored
//! with the session, never as an event.

use serde::{Deserialize, Serialize};

use super::{Decision, Facts, HostEvent, Start, ToolKind, Turn};

/// After so long a failed turn is forgotten.
const FORGET_FAILURES_MS: i64 = 5 * 60 * 1000;

/// The counters of one session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counters {
    /// The last stop was answered with a continuation, and nothing has ended it since.
    #[serde(skip_serializing_if = "is_false")]
    pub going: bool,
    /// Continuations since the last progress.
    #[serde(skip_serializing_if = "is_zero")]
    pub continuations: u32,
    /// Continuations since the last message of a person.
    #[serde(skip_serializing_if = "is_zero")]
    pub total: u32,
    /// Continuations since the last progress that brought none.
    #[serde(skip_serializing_if = "is_zero")]
    pub idle: u32,
    /// Continuations since the last use of a tool: what hosts count themselves.
    #[serde(skip_serializing_if = "is_zero")]
    pub in_row: u32,
    /// Failed turns in a row.
    #[serde(skip_serializing_if = "is_zero")]
    pub failures: u32,
    /// When the last one failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_at: Option<i64>,
    /// When a person last said something, or the session was first seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<i64>,
    /// The revision up to which progress has been looked for.
    #[serde(skip_serializing_if = "is_zero64")]
    pub seen: u64,
    /// Bytes of the first continuation after a person's message: no later one is longer.
    #[serde(skip_serializing_if = "is_zero_len")]
    pub first: usize,
    /// Nothing has touched the plan since the last message of a person: no todo was written or started, and no tool
    /// changed a file or ran a command while a todo was in progress. False where no message was ever reported.
    #[serde(skip_serializing_if = "is_false")]
    pub untouched: bool,
    /// A person is being asked.
    #[serde(skip_serializing_if = "is_false")]
    pub asked: bool,
    /// A person broke the work off and has said nothing since.
    #[serde(skip_serializing_if = "is_false")]
    pub interrupted: bool,
    /// The conversation is being shortened since then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compacting: Option<i64>,
    /// This host announces shortenings that never happen.
    #[serde(skip_serializing_if = "is_false")]
    pub compacts_loudly: bool,
    /// The conversation is over.
    #[serde(skip_serializing_if = "is_false")]
    pub ended: bool,
    /// Tools that failed on the current todo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trouble: Option<ToolTrouble>,
    /// Where the last turns of a person began, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<Turn>,
    /// The revision up to which a person's changes were told.
    #[serde(skip_serializing_if = "is_zero64")]
    pub told: u64,
    /// Uses of tools since the list was last written or a reminder was given.
    #[serde(skip_serializing_if = "is_zero")]
    pub quiet: u32,
    /// Changes of files since the list was last written or a reminder was given.
    #[serde(skip_serializing_if = "is_zero")]
    pub edits: u32,
    /// It was told that there is a list.
    #[serde(skip_serializing_if = "is_false")]
    pub introduced: bool,
    /// Tokens that reminders have cost.
    #[serde(skip_serializing_if = "is_zero64")]
    pub reminded: u64,
    /// The next reminder would cost more than is left for them.
    #[serde(skip_serializing_if = "is_false")]
    pub hushed: bool,
    /// Tokens that continuations have cost.
    #[serde(skip_serializing_if = "is_zero64")]
    pub prompted: u64,
}

/// Tools that failed on one todo.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolTrouble {
    /// The todo that was in progress.
    pub todo: String,
    /// The tool.
    pub tool: String,
    /// How often in a row.
    pub times: u32,
}

impl Counters {
    /// What every report means for the counters; decisions and reminders are counted when they are made.
    pub fn observe(&mut self, event: &HostEvent, now: i64) {
        match event {
            HostEvent::SessionStarted { how } => {
                (self.ended, self.hushed) = (false, false);
                if *how == Start::Compact {
                    self.compacting = None;
                }
                if *how == Start::Clear {
                    *self =
                        Self { since: Some(now), reminded: self.reminded, prompted: self.prompted, ..Self::default() };
                }
            }
            HostEvent::Prompted { by_person: true } => self.person(now),
            HostEvent::Prompted { by_person: false } => {}
            HostEvent::ToolStarting { .. } => self.asked = false,
            HostEvent::ToolEnded { tool } => {
                self.asked = false;
                (self.in_row, self.failures, self.failed_at) = (0, 0, None);
                if self.trouble.as_ref().is_some_and(|trouble| trouble.tool == tool.name) {
                    self.trouble = None;
                }
                self.untouched &= !tool.writes_todos();
                match tool.kind {
                    ToolKind::Ours | ToolKind::HostTodo => (self.quiet, self.edits) = (0, 0),
                    ToolKind::Edit => (self.quiet, self.edits) = (self.quiet.saturating_add(1), self.edits + 1),
                    ToolKind::Command | ToolKind::Other => self.quiet = self.quiet.saturating_add(1),
                    ToolKind::Question => {}
                }
            }
            HostEvent::ToolFailed { interrupted, .. } => {
                self.asked = false;
                self.interrupted |= interrupted;
            }
            HostEvent::Asked => self.asked = true,
            HostEvent::TurnFailed { .. } => {
                let forgotten = self.failed_at.is_some_and(|at| now.saturating_sub(at) > FORGET_FAILURES_MS);
                self.failures = if forgotten { 1 } else { self.failures.saturating_add(1) };
                self.failed_at = Some(now);
            }
            HostEvent::Interrupted => (self.interrupted, self.going) = (true, false),
            HostEvent::Compacting => {
                // A host that announces one before every request would never be kept going.
                self.compacts_loudly |= self.compacting.is_some();
                self.compacting = Some(now);
            }
            HostEvent::SessionEnded => (self.ended, self.going) = (true, false),
            HostEvent::Stopping { .. } => drop(self.since.get_or_insert(now)),
        }
    }

    /// A person has said something: every count starts again.
    fn person(&mut self, now: i64) {
        (self.continuations, self.total, self.idle, self.in_row, self.first) = (0, 0, 0, 0, 0);
        (self.failures, self.failed_at, self.trouble) = (0, None, None);
        (self.asked, self.interrupted, self.ended, self.going) = (false, false, false, false);
        (self.since, self.untouched) = (Some(now), true);
    }

    /// Counts progress that was found since the last decision.
    #[must_use]
    pub fn progressed(&self, facts: &Facts) -> Self {
        let mut out = self.clone();
        if facts.progress {
            (out.continuations, out.idle, out.untouched) = (0, 0, false);
        }
        out
    }

    /// Counts a decision.
    pub fn decided(&mut self, decision: &Decision, facts: &Facts) {
        if facts.revision > 0 {
            *self = self.progressed(facts);
            self.seen = facts.revision;
        }
        self.going = matches!(decision, Decision::Continue { .. });
        if let Decision::Continue { text, .. } = decision {
            self.continuations = self.continuations.saturating_add(1);
            self.total = self.total.saturating_add(1);
            self.idle = self.idle.saturating_add(1);
            self.in_row = self.in_row.saturating_add(1);
            self.prompted += super::estimate(text) as u64;
            if self.first == 0 {
                // What is said about checks comes and goes with them.
                let checks = super::explain(&facts.unproven);
                self.first = text.len().saturating_sub(checks.len() + usize::from(!checks.is_empty()));
            }
        }
    }

    /// A tool failed on a todo; how often now, in a row.
    pub fn tool_failed(&mut self, todo: &str, tool: &str) -> u32 {
        let same = |trouble: &&mut ToolTrouble| trouble.todo == todo;
        match self.trouble.as_mut().filter(|trouble| same(trouble)) {
            Some(trouble) => {
                trouble.times = trouble.times.saturating_add(1);
                tool.clone_into(&mut trouble.tool);
                trouble.times
            }
            None => {
                self.trouble = Some(ToolTrouble { todo: todo.to_owned(), tool: tool.to_owned(), times: 1 });
                1
            }
        }
    }
}

const fn is_zero(n: &u32) -> bool {
    *n == 0
}

const fn is_zero64(n: &u64) -> bool {
    *n == 0
}

const fn is_zero_len(n: &usize) -> bool {
    *n == 0
}

const fn is_false(b: &bool) -> bool {
    !*b
}
