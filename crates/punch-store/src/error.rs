//! Why a store could not do it: a stable code, what is wrong with which file, and a way out.

use std::fmt;
use std::path::PathBuf;

use crate::PlanId;

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
                Some(found) => write!(f, "plan `{name}` was at revision {recorded}, the file has {found}")?,
                None => write!(f, "plan `{name}` was at revision {recorded}, the file does not have the plan")?,
            }
        }
        Ok(())
    }
}

/// The version of a schema. A newer minor only adds; a newer major cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// Grows when older programs can no longer work with it.
    pub major: u32,
    /// Grows when something was added that older programs may ignore.
    pub minor: u32,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// Why a store cannot be used as things are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
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
    /// The system does not let us in: permissions, a broken disk, a path that is no file.
    System,
}

/// What went wrong below the rules. Refusals of rules are no store errors: a body that refuses keeps its refusal and
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
        /// The file.
        path: PathBuf,
        /// What kind of obstacle.
        reason: Reason,
        /// In words, with the cause.
        why: String,
    },
    /// A newer program wrote it.
    TooNew {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: Version,
        /// The newest that this program knows.
        known: Version,
    },
    /// The content is broken.
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where and how.
        why: String,
    },
    /// The store no longer holds writes that were committed, and takes no new ones until the user has decided what to do.
    LostWrites {
        /// The file.
        path: PathBuf,
        /// What is missing.
        lost: Box<LostWrites>,
    },
    /// Anything else: a bug here or below.
    Failed {
        /// The file.
        path: PathBuf,
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
                Reason::Missing => "store_missing",
                Reason::Busy => "store_busy",
                Reason::ReadOnly => "store_read_only",
                Reason::Full => "store_full",
                Reason::Foreign => "store_foreign",
                Reason::Symlink => "store_symlink",
                Reason::Owner => "store_owner",
                Reason::System => "store_unavailable",
            },
            Self::TooNew { .. } => "store_too_new",
            Self::Damaged { .. } => "store_damaged",
            Self::LostWrites { .. } => "store_lost_writes",
            Self::Failed { .. } => "store_failed",
        }
    }

    /// What is wrong, with which file.
    pub fn message(&self) -> String {
        match self {
            Self::Abort => "the change was given up".into(),
            Self::Conflict { what } => what.clone(),
            Self::UnknownPlan { plan } => format!("no plan has the number {}", plan.0),
            Self::Unavailable { path, why, .. } => format!("cannot use the store `{}`: {why}", path.display()),
            Self::TooNew { path, found, known } => format!(
                "the store `{}` has schema {found}, written by a newer punch; this one knows {known}",
                path.display()
            ),
            Self::Damaged { path, why } => format!("the store `{}` is damaged: {why}", path.display()),
            Self::LostWrites { path, lost } => format!("cannot change the store `{}`: {lost}", path.display()),
            Self::Failed { path, why } => format!("the store `{}` failed: {why}", path.display()),
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Abort => "nothing was changed".into(),
            Self::Conflict { .. } => "read again and repeat the change on what is there now".into(),
            Self::UnknownPlan { .. } => "`punch plan list` names the plans".into(),
            Self::Unavailable { path, reason, .. } => unavailable_hint(*reason, path),
            Self::TooNew { .. } => "update punch; nothing was changed".into(),
            Self::Damaged { path, .. } => {
                let backups = path.with_file_name("backups");
                format!(
                    "`punch doctor` tells more; `punch store restore` brings back a copy, see `{}`",
                    backups.display()
                )
            }
            Self::LostWrites { .. } => {
                "`punch store restore --copy` brings back the latest copy, `punch store accept` \
                                        continues with what is left; `punch doctor` tells more"
                    .into()
            }
            Self::Failed { .. } => "nothing was changed; try again, and report it if it stays".into(),
        }
    }
}

fn unavailable_hint(reason: Reason, path: &std::path::Path) -> String {
    let shown = path.display();
    match reason {
        Reason::Missing => "`punch init` makes one, the first change does too".into(),
        Reason::Busy => "another process is writing; try again, or end the process that holds it".into(),
        Reason::ReadOnly => format!(
            "make `{shown}`, its folder and the files beside it writable, write through the MCP server outside the sandbox, or set \
             PUNCH_STORE to a writable place"
        ),
        Reason::Full => "free some space and repeat the change; nothing was changed".into(),
        Reason::Foreign => format!("move `{shown}` away, or set PUNCH_STORE to another place"),
        Reason::Symlink => "put the store itself there, or set PUNCH_STORE to where it really is".into(),
        Reason::Owner => {
            format!("run punch as the owner of `{shown}`, or set PUNCH_STORE to a store of your own")
        }
        Reason::System => format!("check the permissions of `{shown}` and its folder"),
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())
    }
}

impl std::error::Error for StoreError {}
