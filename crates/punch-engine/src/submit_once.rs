//! Batches of callers that may have to send them again: a batch takes effect once per key, and a repeated call gets the
//! same answer.

use punch_core::Footprint;
use punch_store::{Ahead, PlanId};

use crate::submit::{MakeOps, apply_in_transaction};
use crate::{Engine, EngineError, PlanChange, WriteRequest};

impl Engine {
    /// Submits a batch as [`Engine::submit_with`] does and returns what `answer` makes of the outcome. If a batch was
    /// submitted under the same key within [`punch_store::ANSWER_LIFETIME_MS`], nothing is changed and its answer is
    /// returned. The answer is stored in the transaction of the batch.
    pub fn submit_once(
        &self,
        plan: PlanId,
        request: &WriteRequest<'_>,
        key: &str,
        (first, make): (&Footprint, MakeOps<'_>),
        answer: impl Fn(&PlanChange) -> String,
    ) -> Result<String, EngineError> {
        let session = request.owner_session();
        let ahead = Ahead { answer: Some(key), dependents: true, session: session.as_ref(), ..Ahead::load(first) };
        self.write_for(plan, request, ahead, |tx, now| {
            if let Some(stored) = tx.answer(key, now)? {
                return Ok(stored);
            }
            let body = answer(&apply_in_transaction(tx, now, request, first, make)?);
            tx.put_answer(key, &body, now)?;
            Ok(body)
        })
    }
}
