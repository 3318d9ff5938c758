//! The progress of a list.

use crate::{Counts, ShownStatus};

/// Completed out of a total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct Progress {
    /// Done.
    pub completed: u64,
    /// What it is measured against.
    pub total: u64,
}

impl Progress {
    /// This many completed, out of a total.
    pub const fn new(completed: u64, total: u64) -> Self {
        Self { completed, total }
    }

    /// Native: what was given up on purpose does not count (rule 42). What is parked is left out by the caller.
    pub fn native(statuses: impl Iterator<Item = impl Into<ShownStatus>>) -> Self {
        Self::plain(statuses.map(Into::into).filter(|status| *status != ShownStatus::Cancelled))
    }

    /// Counts like the todowrite dialect: everything in the list.
    pub fn plain(statuses: impl Iterator<Item = impl Into<ShownStatus>>) -> Self {
        statuses.map(Into::into).fold(Self::default(), |sum, status| Self {
            completed: sum.completed + u64::from(status == ShownStatus::Completed),
            total: sum.total + 1,
        })
    }

    /// Native, from the counters of the plan row; what is parked does not count.
    pub const fn of_counts(counts: &Counts) -> Self {
        Self { completed: counts.completed, total: counts.active() - counts.cancelled }
    }

    /// Rounded half up; 0 for an empty list.
    pub fn percent(self) -> u64 {
        if self.total == 0 {
            return 0;
        }
        let (completed, total) = (u128::from(self.completed), u128::from(self.total));
        u64::try_from((completed * 200 + total) / (total * 2)).unwrap_or(100)
    }

    /// How many of `cells` are filled. Rounded down, so that a full bar means done.
    pub(super) fn filled(self, cells: usize) -> usize {
        if self.total == 0 {
            return 0;
        }
        let filled = u128::from(self.completed.min(self.total)) * cells as u128 / u128::from(self.total);
        usize::try_from(filled).unwrap_or(cells)
    }
}
