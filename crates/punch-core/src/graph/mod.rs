//! Graph algorithms over integer handles, all iterative: the stack does not grow with the plan.
//!
//! [`relevel`], [`repull`] and [`find_path`] keep the derived values in step with single edges and run over any
//! [`Net`]; [`kahn`] and [`scc`] do whole graphs at once; [`Index`] is the dense graph of a whole plan; [`reason`] says in
//! words what follows from it.

mod hash;
mod index;
pub mod kahn;
mod level;
mod net;
mod path;
mod pull;
pub mod reason;
pub mod scc;

pub use index::{Edge, Index, Spec, State, Uids};
pub use level::relevel;
pub use net::Net;
pub use path::find_path;
pub use pull::{repull, strengthen};
