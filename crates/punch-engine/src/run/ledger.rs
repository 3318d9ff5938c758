//! The ledger: what agents spent on todos, by run and by attempt.

use std::collections::BTreeMap;

use punch_core::Uid;
use punch_store::{LedgerEntry, PlanId};
use serde::{Deserialize, Serialize};

use crate::{Engine, EngineError};

/// A sum of entries of the ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sum {
    /// Tokens read and written. Where an agent reported none, the estimate of the todo counts.
    pub tokens: u64,
    /// The part of `tokens` that is estimated.
    pub estimated: u64,
    /// Reported cost in millionths of a dollar.
    pub cost: u64,
    /// Number of entries without a reported cost.
    pub uncosted: u64,
    /// Milliseconds that agents worked, summed over agents that worked at the same time.
    pub ms: u64,
    /// Turns of models.
    pub turns: u64,
}

impl Sum {
    /// Adds an entry.
    pub fn add(&mut self, spent: &LedgerEntry) {
        let tokens = spent.tokens();
        self.tokens = self.tokens.saturating_add(tokens);
        if spent.estimated {
            self.estimated = self.estimated.saturating_add(tokens);
        }
        match spent.cost {
            Some(cost) => self.cost = self.cost.saturating_add(cost),
            None => self.uncosted += 1,
        }
        self.ms = self.ms.saturating_add(spent.ms);
        self.turns = self.turns.saturating_add(u64::from(spent.turns));
    }

    /// Sums up entries.
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a LedgerEntry>) -> Self {
        let mut sum = Self::default();
        entries.into_iter().for_each(|spent| sum.add(spent));
        sum
    }
}

/// What one attempt at a todo took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptCost {
    /// The attempt, counted from 1.
    pub attempt: u32,
    /// The agent that worked last; empty where it is unknown.
    pub agent: String,
    /// The run that it belonged to.
    pub run: Option<u64>,
    /// The resources that were spent.
    pub spent: Sum,
    /// When the last entry was written.
    pub at: i64,
}

impl AttemptCost {
    /// Sums up the entries about one todo by attempt, oldest first.
    pub fn by_attempt(entries: &[LedgerEntry]) -> Vec<Self> {
        let mut attempts: BTreeMap<u32, Self> = BTreeMap::new();
        for entry in entries {
            let (attempt, at) = (entry.attempt, entry.at);
            let known = attempts.entry(attempt).or_insert_with(|| Self {
                attempt,
                agent: String::new(),
                run: None,
                spent: Sum::default(),
                at,
            });
            known.spent.add(entry);
            known.at = known.at.max(at);
            known.run = entry.run.or(known.run);
            if !entry.agent.is_empty() {
                known.agent.clone_from(&entry.agent);
            }
        }
        attempts.into_values().collect()
    }
}

/// Formats millionths of a dollar, rounded up to cents.
pub fn dollars(micros: u64) -> String {
    let cents = micros.div_ceil(10_000);
    format!("${}.{:02}", cents / 100, cents % 100)
}

impl Engine {
    /// Returns the entries of a run.
    pub fn ledger(&self, plan: PlanId, run: u64) -> Result<Vec<LedgerEntry>, EngineError> {
        self.read(plan, |snapshot| Ok(snapshot.ledger(run)?))
    }

    /// Returns what each attempt at a todo took, in and outside of runs.
    pub fn attempts(&self, plan: PlanId, todo: Uid) -> Result<Vec<AttemptCost>, EngineError> {
        self.read(plan, |snapshot| Ok(AttemptCost::by_attempt(&snapshot.spent_on(todo)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(attempt: u32, agent: &str, run: Option<u64>, cost: Option<u64>) -> LedgerEntry {
        LedgerEntry {
            uid: Uid(1),
            attempt,
            run,
            agent: agent.into(),
            subagent: None,
            tokens_in: 10,
            tokens_out: 5,
            again: 0,
            cost,
            ms: 100,
            turns: 1,
            estimated: false,
            at: i64::from(attempt),
        }
    }

    #[test]
    fn attempts_name_their_agent_and_add_up_what_they_cost() {
        let entries =
            [spent(1, "claude", Some(2), Some(7)), spent(2, "codex", Some(3), None), spent(1, "", None, Some(3))];
        let found = AttemptCost::by_attempt(&entries);
        let shown: Vec<_> = found
            .iter()
            .map(|one| (one.attempt, one.agent.as_str(), one.run, one.spent.tokens, one.spent.cost, one.spent.uncosted))
            .collect();
        assert_eq!(shown, [(1, "claude", Some(2), 30, 10, 0), (2, "codex", Some(3), 15, 0, 1)]);
    }
}
