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
pub mod tool_arguments;

crate::words! {
    /// A set of todo tools, as one family of agents knows them. The names are the ones users type and stores hold.
    #[derive(Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Dialect {
        /// Punchlist's own tools: ops and views.
        Native = "native",
        /// Lists that are merged or replaced, with dependencies between todos.
        Cursor = "cursor",
        /// Lists in phases, changed by ops on the text of a task.
        Phases = "phases",
        /// Lists that are replaced as a whole.
        Todowrite = "todowrite",
        /// Lists that are replaced or patched, with sizes, priorities and groups.
        Extended = "extended",
    }
}
