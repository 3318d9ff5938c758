//! Counters of one session, and how reports from the host change them. They are stored with the session, never as
//! events.

use serde::{Deserialize, Serialize};

use super::{Decision, DecisionScene, Finish, HostEvent, KeepGoing, PlanFacts, SessionStart, ToolKind, UserTurn};
use crate::hash::fnv1a;

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
    /// Continuations since the last message of the user.
    #[serde(skip_serializing_if = "is_zero")]
    pub total: u32,
    /// Continuations in a row after which the agent used no tool but ours and changed no status.
    #[serde(skip_serializing_if = "is_zero")]
    pub idle: u32,
    /// Continuations since the last use of a tool: what hosts count themselves.
    #[serde(skip_serializing_if = "is_zero")]
    pub in_row: u32,
    /// Which one the latest continuation is, counted by the limit that will end the loop first.
    #[serde(skip_serializing_if = "is_zero")]
    pub continuation: u32,
    /// How many continuations that limit allows.
    #[serde(skip_serializing_if = "is_zero")]
    pub of: u32,
    /// Failed turns in a row.
    #[serde(skip_serializing_if = "is_zero")]
    pub failures: u32,
    /// When the last one failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_at: Option<i64>,
    /// When the user last sent a message, or the session was first seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<i64>,
    /// The revision up to which progress has been looked for.
    #[serde(skip_serializing_if = "is_zero64")]
    pub seen: u64,
    /// Bytes of the first continuation after the user's message or a compaction: no later one is longer.
    #[serde(skip_serializing_if = "is_zero_len")]
    pub first: usize,
    /// Nothing has touched the plan since the last message of the user: no todo was written or started, and no tool
    /// changed a file or ran a command while a todo was in progress. False where no message was ever reported.
    #[serde(skip_serializing_if = "is_false")]
    pub untouched: bool,
    /// The user is being asked.
    #[serde(skip_serializing_if = "is_false")]
    pub asked: bool,
    /// True if the user interrupted the work and has sent no message since.
    #[serde(skip_serializing_if = "is_false")]
    pub interrupted: bool,
    /// The conversation is being shortened since then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compacting: Option<i64>,
    /// This host announces shortenings that never happen, or does not report their end.
    #[serde(skip_serializing_if = "is_false")]
    pub compacts_loudly: bool,
    /// The conversation is over.
    #[serde(skip_serializing_if = "is_false")]
    pub ended: bool,
    /// Tools that failed on the current todo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trouble: Option<ToolTrouble>,
    /// Where the last turns of the user began, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<UserTurn>,
    /// The revision up to which the session was informed of the user's changes.
    #[serde(skip_serializing_if = "is_zero64")]
    pub told: u64,
    /// Uses of tools since the list was last written or a reminder was given.
    #[serde(skip_serializing_if = "is_zero")]
    pub quiet: u32,
    /// Changes of files since the list was last written or a reminder was given.
    #[serde(skip_serializing_if = "is_zero")]
    pub edits: u32,
    /// True if the session was informed that there is a list.
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
    /// A hash of the line about a stop that the user was shown last, since the last continuation.
    #[serde(skip_serializing_if = "is_zero64")]
    pub shown: u64,
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
                if *how == SessionStart::Compact {
                    // The model forgot how to work: the next continuation says it again.
                    (self.compacting, self.first) = (None, 0);
                }
                if *how == SessionStart::Clear {
                    *self =
                        Self { since: Some(now), reminded: self.reminded, prompted: self.prompted, ..Self::default() };
                }
            }
            HostEvent::Prompted { by_person: true } => {
                self.person(now);
                self.end_compaction();
            }
            HostEvent::Prompted { by_person: false } => {}
            HostEvent::ToolStarting { .. } => self.asked = false,
            HostEvent::ToolEnded { tool } => {
                self.asked = false;
                self.end_compaction();
                (self.in_row, self.failures, self.failed_at) = (0, 0, None);
                if self.trouble.as_ref().is_some_and(|trouble| trouble.tool == tool.name) {
                    self.trouble = None;
                }
                self.untouched &= !tool.writes_todos();
                if !matches!(tool.kind, ToolKind::Ours | ToolKind::HostTodo) {
                    self.idle = 0;
                }
                match tool.kind {
                    ToolKind::Ours | ToolKind::HostTodo => (self.quiet, self.edits) = (0, 0),
                    ToolKind::Edit => (self.quiet, self.edits) = (self.quiet.saturating_add(1), self.edits + 1),
                    ToolKind::Command | ToolKind::Other => self.quiet = self.quiet.saturating_add(1),
                    ToolKind::Question => {}
                }
            }
            HostEvent::ToolFailed { interrupted, .. } => {
                (self.asked, self.idle) = (false, 0);
                self.interrupted |= interrupted;
            }
            HostEvent::Asked { .. } => self.asked = true,
            HostEvent::TurnFailed { .. } => {
                let forgotten = self.failed_at.is_some_and(|at| now.saturating_sub(at) > FORGET_FAILURES_MS);
                self.failures = if forgotten { 1 } else { self.failures.saturating_add(1) };
                self.failed_at = Some(now);
            }
            HostEvent::Interrupted => (self.interrupted, self.going) = (true, false),
            HostEvent::Compacting => {
                // A host that announces a compaction before every request would otherwise never be continued.
                self.compacts_loudly |= self.compacting.is_some();
                self.compacting = Some(now);
            }
            HostEvent::SessionEnded => (self.ended, self.going) = (true, false),
            HostEvent::Stopping { finish, .. } => {
                // The user has answered, with no.
                self.asked &= *finish != Finish::Denied;
                self.since.get_or_insert(now);
            }
        }
    }

    /// The session wrote to the plan: it needs no reminder of it for a while.
    pub const fn wrote(&mut self) {
        (self.untouched, self.quiet, self.edits) = (false, 0, 0);
    }

    /// The work continues, so a compaction that was announced is over, although the host did not report its end.
    fn end_compaction(&mut self) {
        if self.compacting.take().is_some() && !std::mem::replace(&mut self.compacts_loudly, true) {
            self.first = 0;
        }
    }

    /// The user has sent a message: every count starts again.
    fn person(&mut self, now: i64) {
        (self.continuations, self.total, self.idle, self.in_row, self.first) = (0, 0, 0, 0, 0);
        (self.continuation, self.of) = (0, 0);
        (self.failures, self.failed_at, self.trouble) = (0, None, None);
        (self.asked, self.interrupted, self.ended, self.going) = (false, false, false, false);
        (self.since, self.untouched) = (Some(now), true);
    }

    /// Counts progress that was found since the last decision.
    #[must_use]
    pub fn progressed(&self, facts: &PlanFacts) -> Self {
        let mut out = self.clone();
        if facts.progress {
            (out.continuations, out.idle, out.untouched) = (0, 0, false);
        }
        out
    }

    /// Returns which one the latest continuation is and how many there may be, as its text said.
    pub fn latest(&self, policy: &KeepGoing) -> (u32, u32) {
        if self.of > 0 { (self.continuation, self.of) } else { nearest(self.limits(policy)) }
    }

    /// Returns which one the latest continuation is and how many there may be, by the limit that will end the loop first
    /// if nothing changes.
    pub(super) fn nearest_limit(&self, policy: &KeepGoing, scene: &DecisionScene) -> (u32, u32) {
        // A turn that does not touch the plan is continued once.
        let untouched = (self.untouched && !scene.unobserved).then_some((self.total, 1));
        let host = scene.host_cap.map(|cap| (self.in_row, cap.saturating_sub(1)));
        nearest(self.limits(policy).into_iter().chain(untouched).chain(host))
    }

    /// The counts that depend on the session alone, with their limits.
    fn limits(&self, policy: &KeepGoing) -> [(u32, u32); 3] {
        [(self.idle, policy.no_progress), (self.continuations, policy.max_continuations), (self.total, policy.absolute)]
    }

    /// Counts a decision.
    pub fn decided(&mut self, decision: &Decision, facts: &PlanFacts) {
        if facts.revision > 0 {
            *self = self.progressed(facts);
            self.seen = facts.revision;
        }
        self.going = matches!(decision, Decision::Continue { .. });
        if let Decision::Continue { text, n, of } = decision {
            self.shown = 0;
            *self = self.continued();
            (self.continuation, self.of) = (*n, *of);
            self.prompted += super::estimate(text) as u64;
            if self.first == 0 {
                // What is said about checks comes and goes with them.
                let checks = super::explain(&facts.unproven);
                self.first = text.len().saturating_sub(checks.len() + usize::from(!checks.is_empty()));
            }
        }
    }

    /// Returns a line about a stop if the user has not seen it yet: what has not changed since is shown once.
    pub fn unless_shown(&mut self, line: Option<String>) -> Option<String> {
        let line = line?;
        let hash = fnv1a(line.bytes());
        (std::mem::replace(&mut self.shown, hash) != hash).then_some(line)
    }

    /// Returns the counters after one more continuation.
    #[must_use]
    pub(super) fn continued(&self) -> Self {
        let mut out = self.clone();
        for count in [&mut out.continuations, &mut out.total, &mut out.idle, &mut out.in_row] {
            *count = count.saturating_add(1);
        }
        out
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

/// The count that is nearest to its limit.
fn nearest(limits: impl IntoIterator<Item = (u32, u32)>) -> (u32, u32) {
    limits.into_iter().min_by_key(|(n, of)| of.saturating_sub(*n)).unwrap_or_default()
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
