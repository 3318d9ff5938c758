//! Graph algorithms over integer handles, all iterative: the stack does not grow with the plan.
//!
//! [`relevel`], [`repull`] and [`find_path`] keep the derived values in step with single edges and run over any
//! [`Net`]; [`kahn`] and [`scc`] do whole graphs at once; [`crate::reason`] says what follows from them.

pub(crate) mod hash;
pub mod kahn;
mod level;
mod net;
mod path;
mod pull;
pub mod scc;
mod state;

pub use level::relevel;
pub use net::Net;
pub use path::find_path;
pub use pull::{repull, strengthen};
pub use state::NodeState;
