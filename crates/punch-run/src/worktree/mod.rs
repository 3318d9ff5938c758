//! Lanes: every agent of a run works in a git work tree and on a branch of its own, and what it did comes together on
//! the result branch of the run (decision 0016). Nothing here touches the user's work tree, index or branches.

mod error;
mod git;
mod lane;
mod lanes;
mod look;
mod merge;
mod name;
mod record;
mod refs;
mod repair;
mod settle;
mod submodule;
mod sweep;

pub use error::WorktreeError;
pub use lane::Lane;
pub use lanes::{Finish, Lanes, Remark};
pub use merge::Published;
pub use name::{branch_of, result_branch};
pub use settle::{Held, Settled, Why};
pub use sweep::{Left, left_behind};
