//! Goals of benchmarks. A row prints its goal and whether it is met. Machines are noisy, so only a goal that is missed by a wide
//! margin fails the benchmark, and where `CI` is set, so does a row that could not be measured.

use std::fmt;

/// How far a figure may lie from its goal before the benchmark fails.
const MARGIN: f64 = 0.15;

/// What a figure should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// As much as this, or more.
    AtLeast(f64),
    /// As much as this, or less.
    AtMost(f64),
}

/// How a figure compares with its goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoalVerdict {
    /// As good or better.
    Met,
    /// By a little.
    Missed,
    /// By more than machines vary.
    Failed,
}

impl Goal {
    /// Compares a figure with this goal.
    pub fn judge(self, figure: f64) -> GoalVerdict {
        // A figure that is not a number meets nothing.
        let (is_met, is_near) = match self {
            Self::AtLeast(goal) => (figure >= goal, figure >= goal * (1.0 - MARGIN)),
            Self::AtMost(goal) => (figure <= goal, figure <= goal * (1.0 + MARGIN)),
        };
        match (is_met, is_near) {
            (true, _) => GoalVerdict::Met,
            (false, true) => GoalVerdict::Missed,
            (false, false) => GoalVerdict::Failed,
        }
    }
}

impl fmt::Display for GoalVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Met => "met",
            Self::Missed => "missed",
            Self::Failed => "MISSED",
        })
    }
}

/// The goals of one benchmark.
#[derive(Debug, Default)]
pub struct Goals {
    failed: Vec<String>,
}

impl Goals {
    /// Judges a row.
    pub fn judge(&mut self, row: &str, figure: f64, goal: Goal) -> GoalVerdict {
        let verdict = goal.judge(figure);
        if verdict == GoalVerdict::Failed {
            self.failed.push(format!("{row}: {figure:.2} misses its goal"));
        }
        verdict
    }

    /// Notes a row that could not be measured.
    pub fn skip(&mut self, row: &str, why: &str) {
        if std::env::var_os("CI").is_some_and(|value| !value.is_empty()) {
            self.failed.push(format!("{row} was skipped: {why}"));
        }
    }

    /// Fails if a goal was missed by a wide margin, or a row was skipped where nothing may be.
    pub fn end(self) -> Result<(), String> {
        if self.failed.is_empty() { Ok(()) } else { Err(self.failed.join("\n")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_that_is_missed_by_a_wide_margin_fails() {
        for (goal, figure, verdict) in [
            (Goal::AtLeast(0.6), 0.6, GoalVerdict::Met),
            (Goal::AtLeast(0.6), 0.52, GoalVerdict::Missed),
            (Goal::AtLeast(0.6), 0.5, GoalVerdict::Failed),
            (Goal::AtMost(10.0), 10.0, GoalVerdict::Met),
            (Goal::AtMost(10.0), 11.0, GoalVerdict::Missed),
            (Goal::AtMost(10.0), 12.0, GoalVerdict::Failed),
            (Goal::AtMost(10.0), f64::NAN, GoalVerdict::Failed),
        ] {
            assert_eq!(goal.judge(figure), verdict, "{goal:?} {figure}");
        }
        let mut goals = Goals::default();
        goals.judge("near", 0.55, Goal::AtLeast(0.6));
        assert!(goals.end().is_ok());
        let mut goals = Goals::default();
        goals.judge("far", 0.3, Goal::AtLeast(0.6));
        assert_eq!(goals.end(), Err("far: 0.30 misses its goal".to_owned()));
    }
}
