//! Errors of stores: a stable code, what is wrong with which store, and what to do.

use std::fmt;

use crate::{Medium, PlanId, StoreLabel};

/// Writes that were committed and that the store does not hold any more, as when its log was deleted or cut short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostWrites {
    /// How many.
    pub writes: u64,
    /// Plans that are known to have gone back. Empty if only sessions, runs or other records are missing.
    pub plans: Vec<LostPlan>,
}

/// A plan that has gone back to an earlier revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostPlan {
    /// The name of the plan, shortened if it is long.
    pub name: String,
    /// The revision that was committed.
    pub recorded: u64,
    /// The revision that the store has; `None` if the plan is missing.
    pub found: Option<u64>,
}

impl fmt::Display for LostWrites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.writes {
            1 => f.write_str("the last write is missing")?,
            writes => write!(f, "the last {writes} writes are missing")?,
        }
        for (n, LostPlan { name, recorded, found }) in self.plans.iter().enumerate() {
            f.write_str(if n == 0 { ": " } else { ", " })?;
            match found {
                Some(found) => write!(f, "plan `{name}` was at revision {recorded}, but the file has {found}")?,
                None => write!(f, "plan `{name}` was at revision {recorded}, but it is missing from the file")?,
            }
        }
        Ok(())
    }
}

/// The version of a schema. A newer minor only adds; a newer major cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SchemaVersion {
    /// Grows when older programs can no longer work with it.
    pub major: u32,
    /// Grows when something was added that older programs may ignore.
    pub minor: u32,
}

impl fmt::Display for SchemaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// Why a store cannot be used as things are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreObstacle {
    /// There is none at that place.
    Missing,
    /// Others kept it locked until the deadline.
    Busy,
    /// It can be read but not written.
    ReadOnly,
    /// The disk, or the quota, is full.
    Full,
    /// It is not a store of Punchlist.
    Foreign,
    /// Its path leads over a symbolic link.
    Symlink,
    /// It belongs to another user.
    Owner,
    /// Its address is invalid, or contains a password.
    Address,
    /// The system does not let us in: permissions, a broken disk, a path that is not a file, a server out of reach.
    System,
    /// The connection broke while a change was being committed, and it is unknown whether it was. It must not be
    /// repeated blindly.
    Unsure,
}

/// What went wrong below the rules. Refusals of rules are not store errors: a body that refuses keeps its refusal and
/// returns [`StoreError::Abort`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// The body asked to roll back.
    Abort,
    /// What the caller relied on has changed or is taken.
    Conflict {
        /// What.
        what: String,
    },
    /// No plan has that number.
    UnknownPlan {
        /// The number.
        plan: PlanId,
    },
    /// The store cannot be used as things are; nothing is wrong with its content.
    Unavailable {
        /// Which store.
        store: StoreLabel,
        /// What kind of obstacle.
        reason: StoreObstacle,
        /// In words, with the cause.
        why: String,
    },
    /// A newer program wrote it.
    TooNew {
        /// Which store.
        store: StoreLabel,
        /// Its schema.
        found: SchemaVersion,
        /// The newest that this program knows.
        known: SchemaVersion,
    },
    /// The content is broken.
    Damaged {
        /// Which store.
        store: StoreLabel,
        /// Where and how.
        why: String,
    },
    /// The store no longer holds writes that were committed, and takes no new ones until the user has decided what to do.
    LostWrites {
        /// Which store.
        store: StoreLabel,
        /// What is missing.
        lost: Box<LostWrites>,
    },
    /// Anything else: a bug here or below.
    Failed {
        /// Which store.
        store: StoreLabel,
        /// What was tried, and the cause.
        why: String,
    },
}

impl StoreError {
    /// The stable code that programs match on.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Abort => "store_abort",
            Self::Conflict { .. } => "store_conflict",
            Self::UnknownPlan { .. } => "unknown_plan",
            Self::Unavailable { reason, .. } => match reason {
                StoreObstacle::Missing => "store_missing",
                StoreObstacle::Busy => "store_busy",
                StoreObstacle::ReadOnly => "store_read_only",
                StoreObstacle::Full => "store_full",
                StoreObstacle::Foreign => "store_foreign",
                StoreObstacle::Symlink => "store_symlink",
                StoreObstacle::Owner => "store_owner",
                StoreObstacle::Address => "store_address",
                StoreObstacle::System => "store_unavailable",
                StoreObstacle::Unsure => "store_unsure",
            },
            Self::TooNew { .. } => "store_too_new",
            Self::Damaged { .. } => "store_damaged",
            Self::LostWrites { .. } => "store_lost_writes",
            Self::Failed { .. } => "store_failed",
        }
    }

    /// What is wrong, with which store.
    pub fn message(&self) -> String {
        match self {
            Self::Abort => "the change was abandoned".into(),
            Self::Conflict { what } => what.clone(),
            Self::UnknownPlan { plan } => format!("no plan has the number {}", plan.0),
            Self::Unavailable { store, why, .. } => format!("cannot use the store `{store}`: {why}"),
            Self::TooNew { store, found, known } => {
                format!(
                    "the store `{store}` was written by a newer punch (schema {found}, this version supports up to {known})"
                )
            }
            Self::Damaged { store, why } => format!("the store `{store}` is damaged: {why}"),
            Self::LostWrites { store, lost } => format!("cannot change the store `{store}`: {lost}"),
            Self::Failed { store, why } => format!("the store `{store}` failed: {why}"),
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Abort => "nothing was changed".into(),
            Self::Conflict { .. } => "read again, then repeat the change".into(),
            Self::UnknownPlan { .. } => "`punch plan list` shows the plans".into(),
            Self::Unavailable { store, reason, .. } => unavailable_hint(*reason, store),
            Self::TooNew { .. } => "update punch; nothing was changed".into(),
            Self::Damaged { store, .. } => match store.beside("backups") {
                Some(backups) => {
                    format!(
                        "run `punch doctor` for details and `punch store restore` to restore a copy (copies are in `{backups}`)"
                    )
                }
                None => "run `punch doctor` for details, and restore a backup of the database".into(),
            },
            Self::LostWrites { .. } => "`punch store restore --copy` restores the latest copy, `punch store accept` \
                                        continues with what is left; `punch doctor` shows details"
                .into(),
            Self::Failed { .. } => "nothing was changed; try again, and report a bug if it keeps happening".into(),
        }
    }
}

fn unavailable_hint(reason: StoreObstacle, store: &StoreLabel) -> String {
    match (reason, store.medium()) {
        (StoreObstacle::Missing, Medium::Server) => {
            "`punch init --store URL --project NAME` sets it up; check the name of the database".into()
        }
        (StoreObstacle::Missing, _) => "run `punch init`, or `punch add` a first todo".into(),
        (StoreObstacle::Busy, _) => "another process is writing to it; try again in a moment".into(),
        (StoreObstacle::ReadOnly, Medium::Server) => {
            "connect to the primary server, with a role that may write; nothing was changed".into()
        }
        (StoreObstacle::ReadOnly, _) => format!(
            "make `{store}`, its folder and the files beside it writable, write through the MCP server outside the sandbox, or set \
             PUNCH_STORE to a writable place"
        ),
        (StoreObstacle::Full, _) => "free some space, then try again; nothing was changed".into(),
        (StoreObstacle::Foreign, Medium::Server) => "choose another database or schema".into(),
        (StoreObstacle::Foreign, _) => format!("move `{store}` away, or set PUNCH_STORE to another place"),
        (StoreObstacle::Symlink, _) => "replace the link with the store itself, or set PUNCH_STORE to its real path".into(),
        (StoreObstacle::Owner, Medium::Server) => {
            "check the user and the password: PGPASSWORD, a password file or a service file; `punch doctor` shows details"
                .into()
        }
        (StoreObstacle::Owner, _) => {
            format!("run punch as the owner of `{store}`, or set PUNCH_STORE to a store of your own")
        }
        (StoreObstacle::Address, _) => "use `postgres://USER@HOST/DATABASE`; a password goes into PGPASSWORD, a password file or a \
                                 service file"
            .into(),
        (StoreObstacle::System, Medium::Server) => {
            "check that the server runs and can be reached from here, then try again".into()
        }
        (StoreObstacle::System, _) => format!("check the permissions of `{store}` and its folder"),
        (StoreObstacle::Unsure, _) => {
            "look at the plan before you repeat the change: `punch log` shows whether it was stored".into()
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())
    }
}

impl std::error::Error for StoreError {}
