//! Hook reports: reads an agent's JSON as the neutral events of [`punch_core::drive`], and writes the effect in the
//! agent's format. Nothing that an agent sends is an error: what cannot be understood is ignored.

mod answer;
pub(crate) mod exit_code;
pub(crate) mod field;
mod report;
mod todos;
mod tools;
mod usage;
mod work;

pub use answer::answer;
pub(crate) use answer::{marked, put};
pub use report::HookReport;
pub use todos::{TodoUpdate, todo_update};
pub use usage::{ContextReading, context_reading, context_use};

/// Bytes of a report that are read; agents cut tool results themselves, so a larger one is broken or hostile.
pub const INPUT_CAP: usize = 8 << 20;

/// What a continuation begins with in agents that report it as a prompt, so that it is not taken for the user's.
pub const MARK: &str = "[punch] ";
