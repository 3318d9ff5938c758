//! The policies that `apply` knows. A dialect is a preset of these; no rule names a dialect.

use serde::{Deserialize, Serialize};

macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($(#[$attr:meta])* $variant:ident),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$attr])* $variant),* }
        impl $name {
            /// Every choice.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];
        }
    };
}

choice! {
    /// May a todo start before its dependencies are done (rule 4)?
    StartGate {
        /// No; refused, naming what it waits for.
        #[default]
        Strict,
        /// No, but judged after all status changes of the batch.
        AtEnd,
        /// Yes, with a warning.
        Warn,
    }
}
choice! {
    /// How many todos an owner may have in progress (rule 18).
    InProgressLimit {
        /// One; a second start is refused.
        #[default]
        One,
        /// Any number.
        Any,
    }
}
choice! {
    /// What happens to an edge that closes a cycle (rules 14, 15).
    OnCycle {
        /// The write is refused with the path.
        #[default]
        Refuse,
        /// The edge is stored outside the active graph and counted unmet.
        Suspend,
    }
}
choice! {
    /// What happens to a dependency on an unknown id (rule 13).
    MissingDep {
        /// Refused with the nearest known ids.
        #[default]
        Refuse,
        /// Kept, counted unmet, bound when the id appears.
        Dangle,
    }
}
choice! {
    /// What a cancelled or failed dependency means (rule 16).
    CancelledDep {
        /// It blocks, and the dependent is reported stuck.
        #[default]
        Block,
        /// The dependency counts as met.
        Satisfy,
        /// Pending dependents are cancelled too.
        Cascade,
    }
}
choice! {
    /// What happens to those that depend on a removed todo (rule 17).
    OnRemove {
        /// The dependency is dropped, with a warning if it was open.
        #[default]
        Detach,
        /// The dependency stays as a dangling id and counts unmet.
        Dangle,
    }
}
choice! {
    /// A running todo gets a new unmet dependency (rule 3).
    DepOnRunning {
        /// It runs on and is reported stalled.
        #[default]
        Keep,
        /// Back to pending, with the flag `resume`.
        Demote,
    }
}
choice! {
    /// What `done` needs (rule 34).
    VerifyMode {
        /// Nothing.
        Trust,
        /// Evidence is optional, stored when given.
        #[default]
        Claim,
        /// No failed check, whoever ran it; an agent is asked once for a check that passed.
        Evidence,
        /// A todo with a verify command needs evidence that it passed, any other one needs evidence in words.
        Command,
    }
}
choice! {
    /// What happens to a completion without evidence of a todo that has no verify command, where `verify` is
    /// [`VerifyMode::Command`] (rule 34). Not a setting: a dialect that can carry evidence is asked for it.
    MissingEvidence {
        /// The todo is completed and marked as unchecked.
        #[default]
        Mark,
        /// The completion is refused.
        Refuse,
    }
}

impl MissingEvidence {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// One choice per policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Policy {
    /// Rule 4.
    pub start_gate: StartGate,
    /// Rule 18.
    pub in_progress: InProgressLimit,
    /// Rules 14, 15.
    pub on_cycle: OnCycle,
    /// Rule 13.
    pub missing_dep: MissingDep,
    /// Rule 16. Always the plan's own: the stored `unmet` counters depend on it.
    pub cancelled_dep: CancelledDep,
    /// Rule 17.
    pub on_remove: OnRemove,
    /// Rule 3.
    pub dep_on_running: DepOnRunning,
    /// Rule 34.
    pub verify: VerifyMode,
    /// Rule 34. A property of the caller's dialect; never stored with a plan.
    #[serde(skip_serializing_if = "MissingEvidence::is_default")]
    pub missing_evidence: MissingEvidence,
    /// How often a todo is tried. Only a run sets it; never stored with a plan.
    #[serde(skip)]
    pub attempts: Attempts,
}

impl Policy {
    /// The policy under which the user completes a todo by hand: nobody asks the user for a check, only for words.
    #[must_use]
    pub fn for_user(self) -> Self {
        let verify = if self.verify == VerifyMode::Evidence { VerifyMode::Claim } else { self.verify };
        Self { verify, ..self }
    }
}

/// How often a todo is tried outside of runs: one retry, then failed.
pub const ATTEMPTS: u32 = 2;

/// How often a todo is tried before it counts as failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempts(pub u32);

impl Default for Attempts {
    fn default() -> Self {
        Self(ATTEMPTS)
    }
}
