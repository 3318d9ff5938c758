//! The events of the plan that a run and its workers wrote.

use std::collections::VecDeque;

use punch_core::{Actor, Event};
use punch_store::PlanId;

use super::RunRecord;
use crate::{Engine, EngineError};

/// Events read from the store at a time.
const STEP: usize = 1_000;

impl Engine {
    /// Returns the last `limit` events of a run and its workers, in order, and the number of events before them. Pruned
    /// events are missing.
    pub fn events_of_run(
        &self,
        plan: PlanId,
        run: &RunRecord,
        limit: usize,
    ) -> Result<(Vec<Event>, usize), EngineError> {
        self.read(plan, |snapshot| {
            let (mut since, mut out, mut before) = (run.body.from, VecDeque::new(), 0);
            loop {
                let events = snapshot.events(since, STEP)?;
                let Some(last) = events.last() else { break };
                since = last.revision;
                let end = run.body.to.unwrap_or(u64::MAX);
                for event in events.into_iter().filter(|event| event.revision <= end) {
                    if Actor::parse(&event.by, None).run() == Some(run.id) {
                        out.push_back(event);
                    }
                    if out.len() > limit {
                        out.pop_front();
                        before += 1;
                    }
                }
                if since >= end {
                    break;
                }
            }
            Ok((out.into(), before))
        })
    }
}
