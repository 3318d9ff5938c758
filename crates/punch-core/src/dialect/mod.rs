//! The outside formats. Each reads a projection of the plan and asks for ops; none of them writes.
//!
//! Cursor, phases and todowrite are list dialects: `project` a plan to their list, `step` the list by the seed's own
//! algorithm, and [`list::diff`] asks for the ops that bring the plan to the new list. Extended and native ask for ops
//! directly. Mirror copies the list of a host's own todo tool.

use serde::Serialize;

pub mod cursor;
pub mod extended;
pub(crate) mod input;
pub mod list;
pub mod mirror;
pub mod native;
pub mod phases;
pub mod todowrite;

/// A set of todo tools, as one family of agents knows them. The names are the ones users type and stores hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// Punchlist's own tools: ops and views.
    Native,
    /// Lists that are merged or replaced, with dependencies between todos.
    Cursor,
    /// Lists in phases, changed by ops on the text of a task.
    Phases,
    /// Lists that are replaced as a whole.
    Todowrite,
    /// Lists that are replaced or patched, with sizes, priorities and groups.
    Extended,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: &'static [Self] = &[Self::Native, Self::Cursor, Self::Phases, Self::Todowrite, Self::Extended];

    /// The name of the dialect on the command line and in stored sessions.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Cursor => "cursor",
            Self::Phases => "phases",
            Self::Todowrite => "todowrite",
            Self::Extended => "extended",
        }
    }

    /// Returns the dialect of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|dialect| dialect.name() == name)
    }
}
