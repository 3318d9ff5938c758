//! One todo: the evented [`Fields`], the columns outside the event log, and the derived values.

use std::ops::{Deref, DerefMut};

use serde::{Deserialize, Serialize};

use crate::{Fields, Proof, Status, Uid};

/// A todo as stored. Everything evented is in `fields` (reachable directly through `Deref`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Todo {
    /// Immutable, never reused.
    pub uid: Uid,
    /// The stored fields that events patch.
    pub fields: Fields,
    /// Time of the last event that changed a field.
    pub updated_at: i64,
    /// End of the lease. Outside the events, because renewals are chatter and not history.
    pub lease_until: Option<i64>,
    /// Values that follow from the graph and are never in events.
    pub derived: Derived,
}

impl Deref for Todo {
    type Target = Fields;
    fn deref(&self) -> &Fields {
        &self.fields
    }
}

impl DerefMut for Todo {
    fn deref_mut(&mut self) -> &mut Fields {
        &mut self.fields
    }
}

/// The longest lease, in milliseconds. One that ends later than this from now was given while a clock ran ahead, and has
/// expired: otherwise its todo would stay with a dead owner for years.
pub const LONGEST_LEASE: i64 = 30 * 24 * 3_600_000;

/// No open dependent asks for anything: weaker than the weakest priority.
pub const NO_PULL: u8 = 6;

/// Stored derived columns, equal to a recount at every revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Derived {
    /// Dependencies not satisfied: active, suspended and dangling ones.
    pub unmet: u32,
    /// parallelGroup: 1 + longest path over active edges.
    pub level: u32,
    /// The best priority among open transitive dependents, [`NO_PULL`] without any.
    pub pull: u8,
}

impl Default for Derived {
    fn default() -> Self {
        Self { unmet: 0, level: 1, pull: NO_PULL }
    }
}

impl Todo {
    /// A blank todo, as folding sees it before its first event.
    pub fn blank(uid: Uid) -> Self {
        Self { uid, fields: Fields::default(), updated_at: 0, lease_until: None, derived: Derived::default() }
    }

    /// Returns true for an id such as `T-7`, which a todo gets unless the caller chose one.
    pub fn has_made_id(&self) -> bool {
        crate::plan::made_number(&self.fields.id).is_some()
    }

    /// Best of its own priority and that of everything open that waits for it (rule 24).
    pub fn effective_priority(&self) -> u8 {
        self.fields.priority.min(self.derived.pull)
    }

    /// Not removed.
    pub fn is_live(&self) -> bool {
        self.fields.removed.is_none()
    }

    /// The lease has run out: reads as pending with `resume` (rule 33).
    pub fn lease_expired(&self, now: i64) -> bool {
        self.fields.status == Status::InProgress && self.lease_until.is_some_and(|until| !is_lease_live(until, now))
    }

    /// Returns when its lease or its timer ends: from then on readers see another state without a write. `None` if there is
    /// neither, or if the todo waits for others anyway.
    pub fn ends_at(&self) -> Option<i64> {
        match self.fields.status {
            Status::InProgress => self.lease_until,
            Status::Pending if self.derived.unmet == 0 => {
                self.fields.hold.as_ref().filter(|hold| hold.kind == HoldKind::Timer).and_then(|hold| hold.until)
            }
            Status::Pending | Status::Completed | Status::Cancelled | Status::Failed => None,
        }
    }

    /// Returns true if readers see another status or hold at `now` than at an earlier time, although nothing was written.
    pub fn differs_by_time(&self, earlier: i64, now: i64) -> bool {
        self.lease_expired(earlier) != self.lease_expired(now)
            || self.fields.hold.as_ref().is_some_and(|hold| hold.elapsed(earlier) != hold.elapsed(now))
    }

    /// The status a reader sees at `now`.
    pub fn status_at(&self, now: i64) -> Status {
        if self.lease_expired(now) { Status::Pending } else { self.fields.status }
    }

    /// The hold a reader sees at `now`: a timer that has run out no longer holds.
    pub fn hold_at(&self, now: i64) -> Option<&Hold> {
        self.fields.hold.as_ref().filter(|hold| !hold.elapsed(now))
    }

    /// Pending, nothing unmet, no hold.
    pub fn is_ready(&self, now: i64) -> bool {
        self.is_live()
            && self.status_at(now) == Status::Pending
            && self.derived.unmet == 0
            && self.hold_at(now).is_none()
    }

    /// Pending but not ready (rule 2: never stored).
    pub fn is_blocked(&self, now: i64) -> bool {
        self.is_live() && self.status_at(now) == Status::Pending && !self.is_ready(now)
    }

    /// In progress although something it depends on is not done.
    pub fn is_stalled(&self, now: i64) -> bool {
        self.is_live() && self.status_at(now) == Status::InProgress && self.derived.unmet > 0
    }

    /// Returns true if someone other than `owner` has a live claim on it: under a lease, or as a user's, which has no
    /// end.
    pub fn leased_by_other(&self, owner: Option<&str>, now: i64) -> bool {
        let live = match self.lease_until {
            Some(until) => is_lease_live(until, now),
            None => self.is_claimed_by_user(),
        };
        self.fields.status == Status::InProgress && live && self.fields.owner.as_deref() != owner
    }

    /// Returns true if a user started it under no name. Only claims have a fence: a todo that came into
    /// the plan in progress has none and is unclaimed.
    pub fn is_claimed_by_user(&self) -> bool {
        let unowned = self.fields.owner.is_none() && self.lease_until.is_none() && self.fields.fence > 0;
        self.fields.status == Status::InProgress && unowned
    }

    /// The last run of its present verify command, passed or failed; of a todo without one, the last check that hooks saw.
    /// Runs of a command it had before say nothing.
    pub fn last_check(&self) -> Option<&Evidence> {
        let of = |evidence: &&Evidence| {
            let seen = self.fields.verify.is_none() && evidence.observed.is_some();
            evidence.command.is_some() && (seen || evidence.command == self.fields.verify)
        };
        self.fields.evidence.iter().rev().find(of)
    }

    /// The last check, if that run failed.
    pub fn failed_check(&self) -> Option<&Evidence> {
        self.last_check().filter(|check| !check.passed())
    }

    /// What speaks for a completed todo: the latest of what hooks saw and what a check found. `None` for any other todo, and
    /// where nobody watched the work and the plan asks for nothing.
    pub fn proof(&self) -> Option<Proof> {
        if self.fields.status != Status::Completed {
            return None;
        }
        let of_check = |evidence: &Evidence| {
            let ran = evidence.command.is_some() && evidence.command == self.fields.verify;
            ran.then_some(if evidence.passed() { Proof::Checked } else { Proof::Failing })
        };
        let mut latest = self.fields.evidence.iter().rev();
        let found = latest.find_map(|evidence| evidence.observed_proof().or_else(|| of_check(evidence)));
        found.or(self.fields.flags.unchecked.then_some(Proof::Unchecked))
    }

    /// What hooks saw of the work on it.
    pub fn observed(&self) -> Option<&Observed> {
        self.fields.evidence.iter().rev().find_map(|evidence| evidence.observed.as_ref())
    }

    /// What the user should read: `activeForm`, else the content.
    pub fn active_text(&self) -> &str {
        self.fields.active_form.as_deref().unwrap_or(&self.fields.content)
    }
}

/// Returns true if a lease that ends at `until` holds at `now`.
const fn is_lease_live(until: i64, now: i64) -> bool {
    now < until && until <= now.saturating_add(LONGEST_LEASE)
}

/// One dependency of a todo.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dep {
    /// An edge of the active, acyclic graph.
    On(Uid),
    /// An edge that would close a cycle: counted unmet like any other, kept out of the active graph.
    Suspended(Uid),
    /// An unknown id: counted unmet, bound when a todo with that id appears.
    Dangling(String),
}

impl Dep {
    /// The todo it points at, if it exists.
    pub const fn target(&self) -> Option<Uid> {
        match self {
            Self::On(uid) | Self::Suspended(uid) => Some(*uid),
            Self::Dangling(_) => None,
        }
    }
}

/// Why a todo waits for something that is not a todo.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// Whom or what it waits for.
    pub kind: HoldKind,
    /// Free text.
    pub reason: String,
    /// Only for timers: when it ends by itself.
    pub until: Option<i64>,
    /// The actor that set the hold.
    pub by: String,
    /// When.
    pub at: i64,
}

impl Hold {
    /// The reason of a parked todo for which none was given.
    pub const PARKED: &'static str = "parked";

    /// In a few words: `on hold: needs a decision`, `parked`, `parked: after the release`. The text is not neutralized.
    pub fn words(&self) -> String {
        let word = self.word();
        match self.reason.as_str() {
            _ if self.is_parked_without_words() => word.to_owned(),
            "" => format!("{word}: {}", self.kind.name()),
            reason => format!("{word}: {reason}"),
        }
    }

    /// What it is called: `parked` or `on hold`.
    pub const fn word(&self) -> &'static str {
        if matches!(self.kind, HoldKind::Parked) { Self::PARKED } else { "on hold" }
    }

    /// Returns true if the todo was parked without a reason: the word itself stands for it.
    pub fn is_parked_without_words(&self) -> bool {
        self.kind == HoldKind::Parked && matches!(self.reason.as_str(), Self::PARKED | "")
    }

    /// The reason, and the kind where that adds something: most holds wait for the user, which needs no word.
    pub fn described(&self) -> String {
        match (self.kind, self.reason.as_str()) {
            (HoldKind::Human | HoldKind::Parked, reason) if !reason.is_empty() => reason.to_owned(),
            (kind, "") => kind.name().to_owned(),
            (kind, reason) => format!("{reason} ({})", kind.name()),
        }
    }

    /// The note that answers what the todo was waiting for: question and answer together, for the hold itself ends.
    pub fn answered(&self, answer: &str) -> String {
        match self.reason.trim() {
            "" => answer.to_owned(),
            _ if self.is_parked_without_words() => answer.to_owned(),
            question => format!("{question} — {answer}"),
        }
    }

    /// Timer holds end by themselves.
    pub fn elapsed(&self, now: i64) -> bool {
        self.kind == HoldKind::Timer && self.until.is_some_and(|until| until <= now)
    }
}

crate::words! {
    /// What a held todo waits for.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    #[non_exhaustive]
    pub enum HoldKind {
        /// The user's answer or decision.
        Human = "human",
        /// Something outside the project.
        External = "external",
        /// A point in time.
        Timer = "timer",
        /// A background job.
        Job = "job",
        /// Anything else.
        Other = "other",
        /// Nothing: the user set it aside. It is not open work until it is released.
        Parked = "parked",
        /// A conflict between two versions of the work, which the user has to resolve.
        Conflict = "conflict",
    }
}

crate::words! {
    /// The size table of the extended format.
    #[derive(PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Complexity {
        /// A config change.
        Trivial = "trivial",
        /// A single component.
        Small = "small",
        /// A feature slice.
        Medium = "medium",
        /// A feature over several files.
        Large = "large",
        /// A new system.
        Epic = "epic",
    }
}

impl Complexity {
    /// Estimated tokens (rule 30).
    pub const fn tokens(self) -> u64 {
        match self {
            Self::Trivial => 2_000,
            Self::Small => 8_000,
            Self::Medium => 20_000,
            Self::Large => 50_000,
            Self::Epic => 100_000,
        }
    }
}

/// The command that proves a todo.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Verify {
    /// A line for the shell.
    Shell(String),
    /// A program and its arguments.
    Argv(Vec<String>),
}

impl Verify {
    /// The command on one line, as a shell would read it.
    pub fn line(&self) -> String {
        match self {
            Self::Shell(line) => line.clone(),
            Self::Argv(argv) => argv.iter().map(|word| crate::text::shell(word)).collect::<Vec<_>>().join(" "),
        }
    }
}

/// What speaks for or against a completion: what a worker says, or what a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// What the worker says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The command that ran, if the engine ran one or hooks saw one; `text` is then the end of its output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Verify>,
    /// Its exit code; absent if it did not start or did not end in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Hash of its output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_hash: Option<String>,
    /// The commit it was true for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Hash of the commit and of every file that differed from it, for a check that ran in a git worktree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// When.
    pub at: i64,
    /// What hooks saw of the work; then an agent ran the command, and not the engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<Observed>,
}

/// What hooks saw of the work on a todo.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[non_exhaustive]
pub struct Observed {
    /// The number of changed files.
    pub changed: u32,
    /// Files were changed after the check.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub changed_after: bool,
    /// Changed files outside those that the todo declares.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<String>,
}

impl Evidence {
    /// Returns true for a check that ran to its end with exit code 0.
    pub fn passed(&self) -> bool {
        self.exit_code == Some(0)
    }

    /// Returns true for a check that ran and did not pass.
    pub fn is_failed_check(&self) -> bool {
        self.command.is_some() && !self.passed()
    }

    /// What it says about the work, if hooks saw it.
    pub fn observed_proof(&self) -> Option<Proof> {
        let observed = self.observed.as_ref()?;
        Some(match self.exit_code {
            None => Proof::Unchecked,
            Some(0) if observed.changed_after => Proof::Outdated,
            Some(0) => Proof::Checked,
            Some(_) => Proof::Failing,
        })
    }

    /// How a check ended, as the end of a sentence: "passed", "failed with exit code 1", "did not finish".
    pub fn outcome(&self) -> String {
        match self.exit_code {
            Some(0) => "passed".to_owned(),
            Some(code) => format!("failed with exit code {code}"),
            None => "did not finish".to_owned(),
        }
    }

    /// Returns true if someone wrote down what speaks for the completion.
    pub fn has_text(&self) -> bool {
        self.text.as_deref().is_some_and(|text| !text.trim().is_empty())
    }
}

/// An append-only remark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Any text.
    pub text: String,
    /// When.
    pub at: i64,
    /// Who.
    pub by: String,
}

/// Marks that are stored. `stalled`, `assumed` and `oversize` follow from other values and are not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flags {
    /// Was being worked on before: continue rather than begin.
    pub resume: bool,
    /// Completed, but git no longer vouches for it.
    pub stale: bool,
    /// Something it was built on has been reopened.
    pub stale_dependency: bool,
    /// Its worker says that it is done; the runner that gave it out has not verified that yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reported: bool,
    /// Completed without a check and without evidence, in a plan that asks for one of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unchecked: bool,
}

/// What an import brought that nothing here has a name for: for each format, the fields as they stood there.
pub type Extra = serde_json::Map<String, serde_json::Value>;
