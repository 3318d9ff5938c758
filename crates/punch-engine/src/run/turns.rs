//! Turns of agents that have begun and not ended yet. Each is stored before its agent gets the prompt, so that the
//! limits of a run hold even if the runner is killed: when the run is resumed, the unfinished turns are charged.

use punch_core::Uid;
use punch_store::{Durability, LedgerEntry, PlanId, Tx};
use serde::{Deserialize, Serialize};

use super::record::{read, written};
use super::{RunBody, RunRecord};
use crate::{Engine, EngineError};

/// A turn that has begun and not ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenTurn {
    /// The number of the seat. A seat has at most one open turn.
    pub seat: usize,
    /// The todo that the agent works on.
    pub uid: Uid,
    /// The attempt at the todo, counted from 1.
    pub attempt: u32,
    /// The name of the agent.
    pub agent: String,
    /// The tokens that are charged if nobody learns what the turn took.
    pub estimate: u64,
    /// When the turn began.
    pub began: i64,
}

impl OpenTurn {
    /// Returns what is charged for a turn whose end nobody saw.
    fn interrupted(&self, run: u64, now: i64) -> LedgerEntry {
        LedgerEntry {
            uid: self.uid,
            attempt: self.attempt,
            run: Some(run),
            agent: self.agent.clone(),
            subagent: None,
            tokens_in: self.estimate,
            tokens_out: 0,
            again: 0,
            cost: None,
            ms: 0,
            turns: 1,
            estimated: true,
            at: now,
        }
    }
}

/// Charges the turns that were left open and forgets them.
pub(super) fn charge_open(tx: &mut dyn Tx, run: &mut RunRecord, now: i64) -> Result<(), EngineError> {
    charge(tx, run, now, |_| true)
}

/// Charges the open turns that `is_lost` picks and forgets them.
pub(crate) fn charge(
    tx: &mut dyn Tx,
    run: &mut RunRecord,
    now: i64,
    is_lost: impl Fn(&OpenTurn) -> bool,
) -> Result<(), EngineError> {
    for turn in run.body.open_turns.extract_if(.., |turn| is_lost(turn)) {
        tx.spend(&turn.interrupted(run.id, now))?;
    }
    Ok(())
}

impl Engine {
    /// Records that a turn begins; `began` is set to the current time.
    pub fn begin_turn(&self, plan: PlanId, run: u64, turn: &OpenTurn) -> Result<(), EngineError> {
        self.change_turns(plan, run, |body, now| {
            body.open_turns.retain(|open| open.seat != turn.seat);
            body.open_turns.push(OpenTurn { began: now, ..turn.clone() });
            None
        })
    }

    /// Records that the turn of a seat has ended and what it took. Without `spent`, the agent never got the prompt, and
    /// nothing is charged.
    pub fn end_turn(
        &self,
        plan: PlanId,
        run: u64,
        seat: usize,
        spent: Option<&LedgerEntry>,
    ) -> Result<(), EngineError> {
        self.change_turns(plan, run, |body, now| {
            body.open_turns.retain(|open| open.seat != seat);
            spent.map(|spent| LedgerEntry { at: now, ..spent.clone() })
        })
    }

    fn change_turns(
        &self,
        plan: PlanId,
        run: u64,
        mut change: impl FnMut(&mut RunBody, i64) -> Option<LedgerEntry>,
    ) -> Result<(), EngineError> {
        self.write(plan, Durability::Full, |tx, now| {
            let mut record = tx.run(run)?.as_ref().map(read);
            let mut unknown = RunBody::default();
            let body = record.as_mut().map_or(&mut unknown, |record| &mut record.body);
            if let Some(spent) = change(body, now) {
                tx.spend(&spent)?;
            }
            if let Some(record) = record {
                tx.put_run(&written(&record))?;
            }
            Ok(())
        })
    }
}
