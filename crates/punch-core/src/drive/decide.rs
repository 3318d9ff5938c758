//! Decides whether an agent that wants to stop may do so or is continued. Gates are tried in a fixed order; the first
//! closed gate is the reason to allow the stop.

use serde::{Deserialize, Serialize};

use super::{ContextUse, Counters, Finish, HostEvent, KeepGoing, PendingCheck, PlanFacts, Reason, continuation, quote};

/// Failed turns in a row after which nothing is continued.
const FAILURES: u32 = 5;
/// Rest after a failed turn; doubled with every further one.
const REST_MS: i64 = 5_000;
/// The number of bytes of a content that is used in place of an id.
const CONTENT: usize = 36;
/// How long a compaction that was announced is assumed to last.
const COMPACTION_MS: i64 = 60_000;

/// The user's choice with `punch keep-going`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Switch {
    /// Nothing, or on.
    #[default]
    On,
    /// Until it is resumed.
    Paused,
    /// Until it is switched on.
    Off,
}

/// What the tools of a session can say about a todo. Stored under the names of before, so that old decisions still
/// read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Vocabulary {
    /// Everything, including that a todo failed or is on hold.
    #[default]
    #[serde(rename = "all")]
    Full,
    /// The status of a todo and nothing else; the rest goes through a shell that has `punch`.
    #[serde(rename = "plain")]
    StatusOnly,
    /// The status of a todo and nothing else, and there is no shell that has `punch`.
    #[serde(rename = "bare")]
    StatusAlone,
    /// Only the status of a todo, which the tools name by its text; no shell has `punch`.
    #[serde(rename = "unnamed")]
    StatusByText,
}

impl Vocabulary {
    fn is_full(&self) -> bool {
        *self == Self::Full
    }

    /// Returns true if the tools, or commands in a shell, take ids. Texts name todos by their content otherwise.
    pub const fn takes_ids(self) -> bool {
        !matches!(self, Self::StatusByText)
    }

    /// How a sentence names a todo.
    pub fn name(self, id: &str, content: &str) -> String {
        if self.takes_ids() { quote(id, 60) } else { by_content(content) }
    }
}

/// Names a todo by its content inside a sentence.
pub fn by_content(content: &str) -> String {
    format!("`{}`", quote(content, CONTENT))
}

/// Where the question comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DecisionScene {
    /// The host names a session.
    pub named: bool,
    /// True for the session of a subagent.
    pub subagent: bool,
    /// The session wrote, started or claimed something in this plan.
    pub bound: bool,
    /// It works on another plan.
    pub foreign: bool,
    /// The user's choice for this session or for all.
    pub switch: Switch,
    /// How full the context is; `None` never stops anyone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<ContextUse>,
    /// The host's own limit of continuations in a row, which must not be reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_cap: Option<u32>,
    /// Its tools are not counted and it has a todo in progress: whether the turn touched the plan is unknown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unobserved: bool,
    /// What its tools can say.
    #[serde(skip_serializing_if = "Vocabulary::is_full")]
    pub words: Vocabulary,
}

/// Everything that a decision follows from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DecisionInput {
    /// The plan.
    #[serde(default)]
    pub facts: PlanFacts,
    /// The session.
    #[serde(default)]
    pub counters: Counters,
    /// The host.
    pub event: HostEvent,
    /// The choices of the user.
    #[serde(default)]
    pub policy: KeepGoing,
    /// The place.
    #[serde(default)]
    pub scene: DecisionScene,
    /// Milliseconds.
    pub now: i64,
}

/// The decision about an agent that wants to stop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Decision {
    /// Continue with this text.
    Continue {
        /// The text for the model.
        text: String,
        /// The number of the continuation, counted by the limit that will end the loop first.
        n: u32,
        /// How many there may be by that limit.
        of: u32,
    },
    /// Let it stop.
    Allow {
        /// The reason to allow the stop.
        reason: Reason,
    },
}

/// Decides. A pure function: the same input gives the same decision, to the byte.
pub fn decide(input: &DecisionInput) -> Decision {
    let DecisionInput { facts, policy, .. } = input;
    if let Some(reason) = early(input).or_else(|| late(input)) {
        return Decision::Allow { reason };
    }
    let counters = input.counters.progressed(facts);
    let (n, of) = counters.continued().nearest_limit(policy, &input.scene);
    match continuation(facts, &counters, input.scene.words, n, of) {
        Some(text) => Decision::Continue { text, n, of },
        None => Decision::Allow { reason: Reason::NothingActionable { roots: facts.roots.clone() } },
    }
}

/// The gates that need no facts about the plan: an agent that is allowed to stop here costs no look at it.
pub fn early(input: &DecisionInput) -> Option<Reason> {
    let DecisionInput { counters, policy, scene, now, .. } = input;
    let HostEvent::Stopping { finish, background, .. } = &input.event else {
        return Some(Reason::Finish { finish: Finish::Unknown });
    };
    let compacting = counters.compacting.filter(|_| !counters.compacts_loudly);
    let gates = [
        (!scene.named, Reason::NoSession),
        (!policy.enabled, Reason::Disabled),
        (scene.switch == Switch::Off, Reason::SwitchedOff),
        (scene.switch == Switch::Paused, Reason::Paused),
        (scene.subagent && !policy.subagents, Reason::Subagent),
        (scene.foreign, Reason::Foreign),
        (!scene.bound, Reason::Unbound),
        (*finish == Finish::Cancelled || counters.interrupted, Reason::Interrupted),
        (*finish != Finish::EndTurn, Reason::Finish { finish: *finish }),
        (counters.asked, Reason::Asked),
        (*background > 0, Reason::Background { jobs: *background }),
        (compacting.is_some_and(|at| now.saturating_sub(at) < COMPACTION_MS), Reason::Compacting),
    ];
    gates.into_iter().find_map(|(closed, reason)| closed.then_some(reason))
}

/// The gates behind the facts: first whether there is work, then whether there is room for it.
fn late(input: &DecisionInput) -> Option<Reason> {
    let DecisionInput { facts, policy, scene, now, .. } = input;
    let counters = input.counters.progressed(facts);
    if facts.open == 0 {
        return Some(match facts.failed {
            0 => Reason::Finished,
            todos => Reason::Failed { todos },
        });
    }
    if facts.next.is_none() {
        if let Some(reason) = awaited_checks(facts) {
            return Some(reason);
        }
        let roots = &facts.roots;
        if roots.total == 0 && !roots.cut && !roots.optional.is_empty() {
            return Some(Reason::OnlyOptional { ids: roots.optional.clone() });
        }
        let roots = roots.clone();
        return Some(match roots.only_people() {
            true => Reason::WaitsForPeople { roots },
            false => Reason::NothingActionable { roots },
        });
    }
    if counters.failures >= FAILURES {
        return Some(Reason::FailedTurns { failures: counters.failures });
    }
    if let Some(at) = counters.failed_at.filter(|_| counters.failures > 0) {
        let left = at.saturating_add(REST_MS << counters.failures.min(FAILURES)).saturating_sub(*now);
        if left > 0 {
            return Some(Reason::CoolingDown { seconds: left.unsigned_abs().div_ceil(1000) });
        }
    }
    if let Some(context) = scene.context.filter(|context| is_full(*context, policy.token_limit)) {
        return Some(Reason::ContextFull { used: context.used, limit: context.limit });
    }
    if counters.untouched && counters.total > 0 && !scene.unobserved {
        return Some(Reason::PlanUntouched);
    }
    if counters.idle >= policy.no_progress {
        return Some(Reason::NoProgress { times: counters.idle });
    }
    if counters.continuations >= policy.max_continuations {
        return Some(Reason::MaxContinuations { limit: policy.max_continuations });
    }
    if counters.total >= policy.absolute {
        return Some(Reason::AbsoluteCap { limit: policy.absolute });
    }
    if let Some(cap) = scene.host_cap.filter(|cap| counters.in_row.saturating_add(1) >= *cap) {
        return Some(Reason::HostCap { cap });
    }
    let away = counters.since.map_or(0, |since| now.saturating_sub(since).max(0).unsigned_abs() / 60_000);
    if policy.max_minutes > 0 && away >= policy.max_minutes {
        return Some(Reason::TooLong { minutes: away });
    }
    None
}

/// The checks that todos wait for which the session called done: what runs soon has an end, an approval may take long.
fn awaited_checks(facts: &PlanFacts) -> Option<Reason> {
    let waiting = |what: PendingCheck| -> Vec<String> {
        let ids = facts.unproven.iter().filter(|one| one.pending == Some(what)).map(|one| one.id.clone());
        ids.collect()
    };
    let (running, unapproved) = (waiting(PendingCheck::Running), waiting(PendingCheck::Approval));
    match (running.is_empty(), unapproved.is_empty()) {
        (false, _) => Some(Reason::ChecksRunning { ids: running }),
        (true, false) => Some(Reason::ChecksUnapproved { ids: unapproved }),
        (true, true) => None,
    }
}

fn is_full(context: ContextUse, share: f64) -> bool {
    #[expect(clippy::cast_precision_loss, reason = "tokens are far below 2^52")]
    let (used, limit) = (context.used as f64, context.limit as f64);
    context.limit > 0 && used >= limit * share
}
