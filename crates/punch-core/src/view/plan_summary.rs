//! A plan at a glance: how far it is, who works on what, what is next, and what needs attention.

use serde::Serialize;

use super::{Progress, TodoRow};
use crate::Counts;

/// Rows shown of each section.
const SHOWN: usize = 3;

/// Some rows of a section, and how many there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SummarySection {
    /// The first rows.
    pub rows: Vec<TodoRow>,
    /// All of them; at least as many as there are rows.
    pub total: usize,
}

impl SummarySection {
    /// Takes the first rows, and counts the rest.
    pub fn of(rows: impl IntoIterator<Item = TodoRow>) -> Self {
        let mut out = Self::default();
        for row in rows {
            out.total += 1;
            if out.rows.len() < SHOWN {
                out.rows.push(row);
            }
        }
        out
    }
}

/// A plan at a glance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PlanSummary {
    /// Todos by stored status.
    pub counts: Counts,
    /// Completed out of all that were not cancelled.
    pub progress: Progress,
    /// Todos in progress.
    pub working: SummarySection,
    /// What the reader should start next, unless it works on something.
    pub next: SummarySection,
    /// What can be started, best first.
    pub ready: SummarySection,
    /// Failed todos.
    pub failed: SummarySection,
    /// What depends on something that was cancelled or failed.
    pub stuck: SummarySection,
    /// Todos on hold.
    pub held: SummarySection,
}
