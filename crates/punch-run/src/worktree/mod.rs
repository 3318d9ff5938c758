//! Lanes: every todo of a run is worked on in a git worktree and on a branch of its own, and the work is merged on
//! the result branch of the run (decision 0016). Nothing here touches the user's worktree, index or branches.

mod copy;
mod error;
mod git;
mod lane;
mod lane_diff;
mod lane_state;
mod lanes;
mod merge;
mod name;
mod record;
mod refs;
mod remote;
mod repair;
mod settle;
mod submodule;
mod sweep;

pub use error::WorktreeError;
pub use lane::Lane;
pub use lane_diff::LaneDiff;
pub use lanes::{Lanes, Remark, ResultState};
pub use merge::Published;
pub use name::{branch_of, result_branch};
pub use remote::{Pushed, Remote, RemotePart, require_remote};
pub use settle::{Held, HeldReason, Settled};
pub use sweep::{Leftover, left_behind};

/// Returns the name of a run in its branches. It contains the time because a new store counts its runs from 1 again and
/// must not use the branches of the old one.
pub(crate) fn lanes_name(plan: &str, record: &punch_engine::RunRecord) -> String {
    let digit = |n: i64| char::from_digit(u32::try_from(n.rem_euclid(36)).unwrap_or_default(), 36).unwrap_or('0');
    let seconds = record.started_at / 1000;
    let tag: String = [46_656, 1_296, 36, 1].map(|unit| digit(seconds / unit)).iter().collect();
    format!("{plan}-{}-{tag}", record.id)
}
