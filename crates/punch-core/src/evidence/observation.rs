//! What hooks saw of the work on one todo: files that changed, the last check and its result, and what changed after it.

use serde::{Deserialize, Serialize};

use super::{CheckKind, Proof, SeenRun, ShellStep};
use crate::{Evidence, Observed, Verify};

/// Files that are named; further ones are counted.
const FILES: usize = 20;
/// Bytes of a path.
const PATH: usize = 200;

/// Words that make a test command no narrower.
const NOT_NARROWER: &[&str] = &[
    "-v",
    "-vv",
    "-q",
    "--",
    "--verbose",
    "--quiet",
    "--nocapture",
    "--no-capture",
    "--show-output",
    "--no-fail-fast",
    "--color",
    "--release",
    "--workspace",
    "--all",
    "--all-targets",
    "--all-features",
    "--run",
    "--ci",
];

/// What was seen since a todo was started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Observation {
    /// When the todo was started; a later start resets the observation.
    pub started_at: Option<i64>,
    /// Files that changed, relative to the worktree, in the order of their first change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Changed files that are not named.
    #[serde(skip_serializing_if = "is_zero")]
    pub more: u32,
    /// The last check whose result is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<SeenCheck>,
    /// Files were changed after that check.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub changed_after: bool,
    /// Changed files outside those that the todo declares.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<String>,
}

/// A check whose result is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenCheck {
    /// The kind of check.
    pub kind: CheckKind,
    /// The command.
    pub command: String,
    /// The exit code of the check.
    pub exit_code: i32,
    /// When the check ended.
    pub at: i64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
const fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl Observation {
    /// Takes in a step.
    pub fn take(&mut self, step: ShellStep, at: i64) {
        match step {
            ShellStep::Changed(path) => self.changed(&path),
            ShellStep::Checked(run) => self.checked(run, at),
        }
    }

    /// A file changed. An empty path represents files whose names are unknown.
    pub fn changed(&mut self, path: &str) {
        self.changed_after |= self.check.is_some();
        let path = crate::text::clip(path, PATH).into_owned();
        if path.is_empty() || self.files.contains(&path) {
            return;
        }
        match self.files.len() < FILES {
            true => self.files.push(path),
            false => self.more = self.more.saturating_add(1),
        }
    }

    /// A check ran. A result that is not known changes nothing, and neither does a success that does not cover the failure
    /// before it: a lint after failing tests, or one test after all of them failed.
    fn checked(&mut self, run: SeenRun, at: i64) {
        let Some(exit_code) = run.exit_code else { return };
        let check = SeenCheck { kind: run.kind, command: run.command, exit_code, at };
        if self.check.as_ref().is_some_and(|before| !before.passed() && check.passed() && !check.covers(before)) {
            return;
        }
        (self.check, self.changed_after) = (Some(check), false);
    }

    /// Returns the proof of the work.
    pub fn proof(&self) -> Proof {
        match &self.check {
            None => Proof::Unchecked,
            Some(check) if !check.passed() => Proof::Failing,
            Some(_) if self.changed_after => Proof::Outdated,
            Some(_) => Proof::Checked,
        }
    }

    /// A changed file is outside those that the todo declares. Returns true if it is the first one.
    pub fn drifted(&mut self, path: &str) -> bool {
        let first = self.outside.is_empty();
        if self.outside.len() < FILES && !self.outside.iter().any(|known| known == path) {
            self.outside.push(crate::text::clip(path, PATH).into_owned());
        }
        first
    }

    /// The observation as a piece of evidence for a completion.
    pub fn evidence(&self, now: i64) -> Evidence {
        let check = self.check.as_ref();
        Evidence {
            command: check.map(|check| Verify::Shell(check.command.clone())),
            exit_code: check.map(|check| check.exit_code),
            at: check.map_or(now, |check| check.at),
            ..self.drift(now)
        }
    }

    /// The changed files as a piece of evidence for an open todo; what its checks found is not final yet.
    pub fn drift(&self, now: i64) -> Evidence {
        let changed = u32::try_from(self.files.len()).unwrap_or(u32::MAX).saturating_add(self.more);
        let observed = Observed { changed, changed_after: self.changed_after, outside: self.outside.clone() };
        Evidence { at: now, observed: Some(observed), ..Evidence::default() }
    }
}

impl SeenCheck {
    /// Returns true if it ended with exit code 0.
    pub const fn passed(&self) -> bool {
        self.exit_code == 0
    }

    /// Returns true if its success makes up for a failure of `other`.
    fn covers(&self, other: &Self) -> bool {
        self.kind >= other.kind && !self.is_narrower(other)
    }

    /// Returns true for the same command with further words that select a part: one test instead of all.
    fn is_narrower(&self, other: &Self) -> bool {
        let (own, others): (Vec<&str>, Vec<&str>) =
            (self.command.split_whitespace().collect(), other.command.split_whitespace().collect());
        own.strip_prefix(&others[..]).is_some_and(|more| more.iter().any(|word| !NOT_NARROWER.contains(word)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_files_are_counted() {
        let mut seen = Observation::default();
        (0..30).for_each(|n| seen.changed(&format!("f{n}")));
        seen.changed("f1");
        assert_eq!((seen.files.len(), seen.more), (FILES, 10));
        assert_eq!(seen.evidence(7).observed.map(|observed| observed.changed), Some(30));
    }

    #[test]
    fn the_first_file_outside_is_reported() {
        let mut seen = Observation::default();
        assert!(seen.drifted("a") && !seen.drifted("a") && !seen.drifted("b"));
        assert_eq!(seen.outside, ["a", "b"]);
    }

    #[test]
    fn a_narrower_success_does_not_cover_a_failure() {
        let check =
            |command: &str, exit_code| SeenCheck { kind: CheckKind::Test, command: command.into(), exit_code, at: 0 };
        let all = check("cargo test", 101);
        assert!(check("cargo test", 0).covers(&all) && check("cargo test -- --nocapture", 0).covers(&all));
        assert!(check("cargo test --workspace", 0).covers(&all) && check("make check", 0).covers(&all));
        assert!(!check("cargo test parser", 0).covers(&all) && !check("cargo test -p x", 0).covers(&all));
    }
}
