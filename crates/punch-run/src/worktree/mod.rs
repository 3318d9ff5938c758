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
pub(crate) use lanes::shared_git_folder;
pub use lanes::{LaneRemark, Lanes, ResultState};
pub use merge::PublishResult;
pub use name::RunName;
pub(crate) use name::plan_part;
pub use remote::{PushResult, Remote, RemotePart, require_remote};
pub use settle::{HeldLane, HeldReason, SettleResult};
pub use sweep::{Leftover, left_behind};

/// Returns the name of a run in its branches. It contains the time because a new store counts its runs from 1 again and
/// must not use the branches of the old one. A run of an earlier version does not say how its name begins.
pub(crate) fn lanes_name(plan: &str, record: &punch_engine::RunRecord) -> RunName {
    let digit = |n: i64| char::from_digit(u32::try_from(n.rem_euclid(36)).unwrap_or_default(), 36).unwrap_or('0');
    let seconds = record.started_at / 1000;
    let tag: String = [46_656, 1_296, 36, 1].map(|unit| digit(seconds / unit)).iter().collect();
    match &record.body.lanes {
        Some(plan) => RunName::from(format!("{plan}-{}-{tag}", record.id).as_str()),
        None => RunName::of_earlier_version(&format!("{plan}-{}-{tag}", record.id)),
    }
}

#[cfg(test)]
mod tests {
    use punch_engine::{RunBody, RunRecord};

    use super::*;

    #[test]
    fn a_run_keeps_its_name_and_that_of_an_earlier_version_is_found() {
        let record = |lanes: Option<String>| {
            let mut body = RunBody::default();
            body.lanes = lanes;
            RunRecord { id: 3, started_at: 1_000, ended_at: None, body }
        };
        let begun = record(Some(plan_part("my plan", 12)));
        for plan in ["my plan", "another name since"] {
            assert_eq!(lanes_name(plan, &begun).branch_of("T-1"), "punch/my-plan-12-3-0001/T-1");
        }
        let long = "long ".repeat(30);
        let names = [1, 2].map(|id| lanes_name(&long, &record(Some(plan_part(&long, id)))));
        assert_ne!(names[0], names[1], "plans whose names begin alike");
        assert_eq!(lanes_name("main", &record(None)).branch_of("a b"), "punch/main-3-0001/a-b");
    }
}
