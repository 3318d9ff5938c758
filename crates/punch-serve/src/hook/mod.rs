//! Hooks: a host's report in its own JSON, read into the neutral words of [`punch_core::drive`], and the effect written
//! back in the host's form. Nothing a host sends is an error: what is not understood says nothing.

mod answer;
mod event;
mod field;
mod host;
mod run;
mod todos;
mod tool;
mod transcript;
mod turns;
mod usage;

pub use answer::answer;
pub use event::{Heard, hear};
pub use host::{Host, Meaning};
pub use run::{Done, Hook};
pub use usage::context_use;

/// Bytes of a report that are read; hosts cut tool results themselves, so a larger one is broken or hostile.
pub const INPUT_CAP: usize = 8 << 20;

/// What a continuation begins with in hosts that report it as a prompt, so that it is not taken for a person's.
pub const MARK: &str = "[punch] ";
