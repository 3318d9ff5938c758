//! What todos actually took, by attempt, and the calibration of estimates that follows from it.

use std::collections::BTreeMap;

use punch_core::schedule::{Fit, Sample, calibration, estimate};
use punch_core::{Complexity, Footprint, Plan, Status, Todo, Uid};
use punch_store::{AttemptUsage, Durability, LedgerEntry, PlanId, Snapshot, StoreError};
use serde::Serialize;

use crate::{Engine, EngineError};

/// Todos that a calibration looks back on, of every plan.
const LOOKED_AT: usize = 2_000;

/// What is added to an attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsageDelta {
    /// Tokens.
    pub tokens: u64,
    /// Milliseconds.
    pub ms: u64,
}

/// What a todo was estimated at and took.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TodoUsage {
    /// The id of the todo.
    pub id: String,
    /// The status of the todo.
    pub status: Status,
    /// Without calibration.
    pub estimated: u64,
    /// Its size was not given.
    pub assumed: bool,
    /// Its size, where it has one.
    pub complexity: Option<Complexity>,
    /// All attempts together.
    pub actual: u64,
    /// All attempts together.
    pub ms: u64,
    /// Attempts with something reported.
    pub attempts: usize,
}

/// Estimates against actual use.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UsageReport {
    /// The factor for estimates, learned from every plan of the store.
    pub calibration: f64,
    /// Finished todos of this plan.
    pub total: Fit,
    /// Usage by size; todos without a size are under null.
    pub by_complexity: Vec<(Option<Complexity>, Fit)>,
    /// Every todo of this plan with something reported, in list order.
    pub todos: Vec<TodoUsage>,
}

impl Engine {
    /// Adds to what an attempt at a todo took; without a number to the current attempt. Answers
    /// its id and the sum of the attempt.
    pub fn record_usage(
        &self,
        plan: PlanId,
        uid: Uid,
        attempt: Option<u32>,
        used: UsageDelta,
    ) -> Result<(String, AttemptUsage), EngineError> {
        self.write(plan, Durability::Full, |tx, now| {
            let mut part = Plan::slice(tx.row()?);
            tx.load(&Footprint { todos: [uid].into(), ..Footprint::default() }, &mut part)?;
            let todo = part
                .get(uid)
                .ok_or_else(|| EngineError::NotFound { given: format!("#{}", uid.0), near: Vec::new() })?;
            let attempt = attempt.unwrap_or(todo.attempts + 1);
            tx.spend(&LedgerEntry {
                uid,
                attempt,
                run: None,
                agent: String::new(),
                subagent: None,
                tokens_in: used.tokens,
                tokens_out: 0,
                again: 0,
                cost: None,
                ms: used.ms,
                turns: 0,
                estimated: false,
                at: now,
            })?;
            let usage = tx.usage(Some(uid))?.into_iter().find(|usage| usage.attempt == attempt);
            usage.map(|usage| (todo.id.clone(), usage)).ok_or(EngineError::Store(StoreError::Abort))
        })
    }

    /// Returns the factor for estimates, learned from the finished todos of every plan of the store.
    pub fn calibration(&self) -> Result<f64, EngineError> {
        let mut samples = Vec::new();
        for plan in self.plans()? {
            samples.extend(self.taken(plan.id)?.iter().filter(|taken| is_finished(taken)).map(sample));
        }
        Ok(calibration(&samples))
    }

    /// Estimates against actual use.
    pub fn usage_report(&self, plan: PlanId) -> Result<UsageReport, EngineError> {
        let todos = self.taken(plan)?;
        let finished: Vec<Sample> = todos.iter().filter(|taken| is_finished(taken)).map(sample).collect();
        let mut sizes: BTreeMap<Option<Complexity>, Vec<Sample>> = BTreeMap::new();
        for one in &finished {
            sizes.entry(one.complexity).or_default().push(*one);
        }
        Ok(UsageReport {
            calibration: self.calibration()?,
            total: Fit::of(&finished),
            by_complexity: sizes.into_iter().map(|(size, samples)| (size, Fit::of(&samples))).collect(),
            todos,
        })
    }

    fn taken(&self, plan: PlanId) -> Result<Vec<TodoUsage>, EngineError> {
        self.read(plan, |snapshot| taken(snapshot))
    }
}

fn taken(snapshot: &dyn Snapshot) -> Result<Vec<TodoUsage>, EngineError> {
    let mut sums: BTreeMap<Uid, (u64, u64, usize)> = BTreeMap::new();
    let mut usage = snapshot.usage(None)?;
    usage.sort_by_key(|usage| std::cmp::Reverse(usage.at));
    for one in usage.into_iter().take(LOOKED_AT) {
        let (tokens, ms, attempts) = sums.entry(one.uid).or_default();
        *tokens = tokens.saturating_add(one.tokens);
        *ms = ms.saturating_add(one.ms);
        *attempts += 1;
    }
    if sums.is_empty() {
        return Ok(Vec::new());
    }
    let mut part = Plan::slice(snapshot.row()?);
    snapshot.load(&Footprint { todos: sums.keys().copied().collect(), ..Footprint::default() }, &mut part)?;
    let mut todos: Vec<&Todo> = sums.keys().filter_map(|uid| part.get(*uid)).collect();
    todos.sort_by_key(|todo| (todo.position, todo.uid));
    let one = |todo: &Todo| {
        let (actual, ms, attempts) = sums.get(&todo.uid).copied().unwrap_or_default();
        let estimate = estimate(todo, 1.0);
        TodoUsage {
            id: todo.id.clone(),
            status: todo.status,
            estimated: estimate.tokens,
            assumed: estimate.assumed,
            complexity: todo.complexity,
            actual,
            ms,
            attempts,
        }
    };
    Ok(todos.into_iter().map(one).collect())
}

/// Only what is over says what it takes, and only with tokens.
fn is_finished(taken: &TodoUsage) -> bool {
    matches!(taken.status, Status::Completed | Status::Failed) && taken.actual > 0
}

fn sample(taken: &TodoUsage) -> Sample {
    Sample { estimated: taken.estimated, actual: taken.actual, complexity: taken.complexity }
}
