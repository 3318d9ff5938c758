//! Asks git which commits are ancestors of the head.

use std::collections::{BTreeMap, BTreeSet};

use super::repository::ANSWER;
use super::{CommitVerdict, Git};

impl Git {
    /// Judges commits against the head as it is, all of them with a few questions.
    pub fn judge(&self, commits: &BTreeSet<String>) -> BTreeMap<String, CommitVerdict> {
        // Names go to git on lines of their own: nothing else may.
        let plain = |name: &&String| matches!(name.len(), 40 | 64) && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        let names: BTreeSet<&str> = commits.iter().filter(plain).map(String::as_str).collect();
        if names.is_empty() {
            return BTreeMap::new();
        }
        let missing = if self.is_shallow() { CommitVerdict::Unknown } else { CommitVerdict::Stale };
        let Some(known) = self.known(&names) else { return BTreeMap::new() };
        let Some(beside) = self.not_behind_head(&known) else { return BTreeMap::new() };
        let verdict = |name: &str| match known.contains(name) && !beside.contains(name) {
            true => CommitVerdict::Valid,
            false => missing,
        };
        names.into_iter().map(|name| (name.to_owned(), verdict(name))).collect()
    }

    /// Those of the branches whose commits the head does not have, with one question.
    pub fn unmerged(&self, branches: &[String]) -> BTreeSet<String> {
        let names: Vec<String> = branches.iter().map(|branch| format!("refs/heads/{branch}")).collect();
        let question = ["for-each-ref", "--no-merged=HEAD", "--format=%(refname:lstrip=2)", "--"];
        let question: Vec<&str> = question.into_iter().chain(names.iter().map(String::as_str)).collect();
        let answer = if names.is_empty() { Vec::new() } else { self.ask(&question, None, ANSWER).unwrap_or_default() };
        String::from_utf8_lossy(&answer).lines().map(str::to_owned).collect()
    }

    /// The known history ends somewhere: a commit that is not found may be beyond its end.
    fn is_shallow(&self) -> bool {
        self.ask(&["rev-parse", "--is-shallow-repository"], None, ANSWER)
            .is_ok_and(|answer| answer.starts_with(b"true"))
    }

    /// Those that are commits of this repository.
    fn known(&self, names: &BTreeSet<&str>) -> Option<BTreeSet<String>> {
        let input = lines(names.iter().copied());
        let answer = self.ask(&["cat-file", "--batch-check=%(objectname) %(objecttype)"], Some(input), ANSWER).ok()?;
        let text = String::from_utf8(answer).ok()?;
        Some(text.lines().filter_map(|line| line.strip_suffix(" commit")).map(str::to_owned).collect())
    }

    /// Those that the head does not have behind it. Walks no further than the histories differ.
    fn not_behind_head(&self, known: &BTreeSet<String>) -> Option<BTreeSet<String>> {
        if known.is_empty() {
            return Some(BTreeSet::new());
        }
        // Without a head, no commit is behind it.
        if self.ask(&["rev-parse", "--verify", "-q", "HEAD^{commit}"], None, ANSWER).is_err() {
            return Some(known.clone());
        }
        let input = lines(known.iter().map(String::as_str).chain(["^HEAD"]));
        let answer = self.ask(&["rev-list", "--stdin"], Some(input), ANSWER).ok()?;
        let text = String::from_utf8(answer).ok()?;
        Some(text.lines().map(str::to_owned).collect())
    }
}

fn lines<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.flat_map(|name| [name, "\n"]).collect()
}
