//! Closes the questions that agents of a fleet left open when their worker was killed or cut off: no agent waits for the
//! answers any more.

use punch_core::WorkerId;
use punch_store::{Durability, PlanId, Question, QuestionFilter, Snapshot};

use super::{WorkerName, is_orphaned};
use crate::question::{COMPARED, close_where};
use crate::{Engine, EngineError};

impl Engine {
    /// Closes the open questions of agents whose worker is dead, and of earlier coordinators. Only for the coordinator of this
    /// run.
    pub fn close_orphaned_questions(&self, plan: PlanId, run: u64, epoch: u32) -> Result<(), EngineError> {
        self.close_questions_of(plan, "its worker is gone", |snapshot, now| {
            let workers = snapshot.workers()?;
            Ok(move |asker: &WorkerId| is_orphaned(asker, &workers, (run, epoch), now))
        })
    }

    /// Closes the open questions that agents of a worker asked about a plan. Only for this worker, before it starts agents.
    pub fn close_questions_of_worker(&self, plan: PlanId, worker: &WorkerName) -> Result<(), EngineError> {
        self.close_questions_of(plan, "its agent is gone", |_, _| {
            Ok(move |asker: &WorkerId| asker.fleet.as_ref() == Some(&worker.name) && asker.epoch <= worker.epoch)
        })
    }

    /// Closes the open questions of the workers that the result of `matches` names. Writes only if there are any.
    fn close_questions_of<M: Fn(&WorkerId) -> bool>(
        &self,
        plan: PlanId,
        reason: &str,
        matches: impl Fn(&dyn Snapshot, i64) -> Result<M, EngineError>,
    ) -> Result<(), EngineError> {
        let is_asked = |question: &Question, matches: &M| {
            question.session.as_deref().and_then(WorkerId::of).is_some_and(|asker| matches(&asker))
        };
        let clock = self.now();
        let is_due = self.read(plan, |snapshot| {
            let open = snapshot.questions(QuestionFilter::Open, COMPARED)?;
            if open.is_empty() {
                return Ok(false);
            }
            let matches = matches(snapshot, snapshot.now().unwrap_or(clock))?;
            Ok(open.iter().any(|question| is_asked(question, &matches)))
        })?;
        if !is_due {
            return Ok(());
        }
        self.write(plan, Durability::Full, |tx, now| {
            let matches = matches(tx, now)?;
            close_where(tx, |question| is_asked(question, &matches), reason, now)
        })
    }
}
