//! Graph algorithms over integer handles, all iterative: the stack does not grow with the plan.

mod net;

pub use net::Net;
