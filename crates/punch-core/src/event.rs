//! Events: what happened. Folding an event applies its patch and needs no rules.

use serde::{Deserialize, Serialize};

use crate::{Actor, FieldChange, Phase, Policy, Status, Swap, Uid};

/// One thing that happened in a revision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The write it belongs to.
    pub revision: u64,
    /// Its place inside the write.
    pub seq: u32,
    /// The kind of event.
    pub kind: EventKind,
    /// When the event happened.
    pub at: i64,
    /// The author of the event.
    pub by: String,
    /// The patch to the plan.
    pub patch: Patch,
    /// The name under which the writer claims todos, which identifies a session: several sessions of one agent sign
    /// alike.
    /// `None` for a user without a name, and in logs from before this was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The revision that this write undoes; `None` for every other write, and in logs from before this was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<u64>,
}

impl Event {
    /// Returns true if this actor wrote it: the same session, or where none is recorded, the same name.
    pub fn is_by(&self, actor: &Actor) -> bool {
        match (&self.owner, actor.owner()) {
            (Some(owner), Some(own)) => owner == own,
            (Some(_), None) => false,
            (None, _) => self.by == actor.by(),
        }
    }

    /// The todo that is no longer open after this.
    pub fn closes(&self) -> Option<Uid> {
        let closes = |change: &FieldChange| match change {
            FieldChange::Status(status) => !status.after.is_open(),
            FieldChange::Removed(removed) => removed.after.is_some(),
            _ => false,
        };
        match &self.patch {
            Patch::Todo(uid, changes) if self.kind != EventKind::Added && changes.iter().any(closes) => Some(*uid),
            _ => None,
        }
    }

    /// The todo that is done after this.
    pub fn completes(&self) -> Option<Uid> {
        let ends =
            |change: &FieldChange| matches!(change, FieldChange::Status(status) if status.after == Status::Completed);
        match &self.patch {
            Patch::Todo(uid, changes) if changes.iter().any(ends) => Some(*uid),
            _ => None,
        }
    }
}

/// The patch of an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Patch {
    /// Fields of one todo; for an added one, from blank.
    Todo(Uid, Vec<FieldChange>),
    /// The list of phases.
    Phases(Swap<Vec<Phase>>),
    /// The plan's policy.
    Policy(Box<Swap<Policy>>),
}

crate::words! {
    /// The past tense of the op, or of a consequence.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    #[non_exhaustive]
    pub enum EventKind {
        /// A todo came into the plan.
        Added = "added",
        /// Fields changed.
        Edited = "edited",
        /// Order or phase changed.
        Moved = "moved",
        /// Dependencies changed.
        Rewired = "rewired",
        /// Work began.
        Started = "started",
        /// Work began under a lease.
        Claimed = "claimed",
        /// Done.
        Completed = "completed",
        /// Given up.
        Cancelled = "cancelled",
        /// An attempt failed.
        Failed = "failed",
        /// Open again.
        Reopened = "reopened",
        /// Put on hold.
        Held = "held",
        /// The hold ended.
        Released = "released",
        /// Back to pending without having been finished.
        Demoted = "demoted",
        /// The owner went silent.
        LeaseExpired = "lease_expired",
        /// A flag follows from a change to another todo.
        Flagged = "flagged",
        /// A remark was added.
        Noted = "noted",
        /// Archived.
        Removed = "removed",
        /// The phases changed.
        Phased = "phased",
        /// The policy changed.
        PolicySet = "policy_set",
        /// An earlier revision was undone.
        Reverted = "reverted",
    }
}
