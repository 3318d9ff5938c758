//! Drive: what to do when an agent reports something: let it stop, keep it going, remind it, or stay silent.

mod host;

pub use host::{ContextUse, Effect, Finish, HostEvent, Start, ToolKind, ToolUse};
