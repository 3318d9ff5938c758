//! Lanes: every todo of a run is worked on in a git worktree and on a branch of its own, and the work is merged on
//! the result branch of the run (decision 0016). Nothing here touches the user's worktree, index or branches.

mod error;
mod git;
mod lane;
mod lane_state;
mod lanes;
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
pub use lanes::{Lanes, Remark, ResultState};
pub use merge::Published;
pub use name::{branch_of, result_branch};
pub use settle::{Held, HeldReason, Settled};
pub use sweep::{Leftover, left_behind};
