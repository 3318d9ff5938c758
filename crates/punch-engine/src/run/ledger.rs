//! The ledger of a run: what its agents spent on todos.

use punch_store::{PlanId, Spent};
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
    pub fn add(&mut self, spent: &Spent) {
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
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a Spent>) -> Self {
        let mut sum = Self::default();
        entries.into_iter().for_each(|spent| sum.add(spent));
        sum
    }
}

/// Formats millionths of a dollar, rounded up to cents.
pub fn dollars(micros: u64) -> String {
    let cents = micros.div_ceil(10_000);
    format!("${}.{:02}", cents / 100, cents % 100)
}

impl Engine {
    /// Returns the entries of a run.
    pub fn ledger(&self, plan: PlanId, run: u64) -> Result<Vec<Spent>, EngineError> {
        self.read(plan, |snapshot| Ok(snapshot.ledger(run)?))
    }
}
