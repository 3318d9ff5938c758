//! What a run reports to its caller while it works, and what it asks the caller.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use punch_engine::{Answerer, QuestionReply};

use crate::agent::PermissionRequest;

pub use punch_engine::{RunEvent, one_line as line};

/// Receives the events of a run and puts its questions to the user.
pub trait RunObserver: Sync {
    /// Called for every event, from several threads.
    fn on_event(&self, event: &RunEvent);

    /// Asks the user whether to grant a permission. Blocks until the user answers or the question is settled elsewhere;
    /// `None` then, and if no user can be asked here.
    fn ask(
        &self,
        todo: &str,
        wanted: &PermissionRequest,
        settled: &QuestionSettled,
    ) -> Option<(QuestionReply, Answerer)>;
}

/// Whether a question still waits for an answer. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct QuestionSettled(Arc<AtomicBool>);

impl QuestionSettled {
    /// Returns true once the question was answered elsewhere, or its agent no longer waits.
    pub fn is_settled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn settle(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
