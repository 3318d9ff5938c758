//! What follows a write that closed something, behind its transaction: what the files of completed todos hold is kept,
//! and the end of a batch leaves a checkpoint. What was written stands whatever comes of this.

use std::collections::BTreeSet;

use punch_core::{Event, Uid};
use punch_store::{PlanId, Tx};

use super::blobs::{Named, named};
use super::{Code, batch};
use crate::config::Batches;
use crate::engine::News;
use crate::{Engine, EngineError, Git, Request, WorkTree};

/// What a transaction has left to do.
#[derive(Debug, Default)]
pub(crate) struct Due {
    /// Completed todos that name files.
    files: Vec<Named>,
    /// What was completed, if that ended a batch.
    ended: Option<BTreeSet<Uid>>,
}

impl Due {
    /// Looks at what a transaction has closed, at its end.
    pub(crate) fn look(tx: &dyn Tx, plan: PlanId, request: &Request<'_>) -> Result<Self, EngineError> {
        if tx.closing().is_empty() {
            return Ok(Self::default());
        }
        let done: BTreeSet<Uid> = tx.closing().iter().filter_map(Event::completes).collect();
        let files = if request.tree.is_some() { named(tx, &done)? } else { Vec::new() };
        let over = batch::is_over(tx, plan, when(request), &done)?;
        Ok(Self { files, ended: over.then_some(done) })
    }

    /// What a later transaction has left to do as well.
    pub(crate) fn add(&mut self, later: Self) {
        self.files.extend(later.files);
        if let Some(done) = later.ended {
            self.ended.get_or_insert_default().extend(done);
        }
    }
}

impl Engine {
    /// Does it. Trouble is told.
    pub(crate) fn follow(&self, plan: PlanId, request: &Request<'_>, due: &Due) {
        if !due.files.is_empty()
            && let Some(git) = request.tree.and_then(Git::at)
            && let Err(error) = self.keep_files(plan, &git, &due.files)
        {
            self.trouble(&error);
        }
        let Some(done) = &due.ended else { return };
        let tree = request.tree.map(|root| WorkTree { root: root.to_owned(), consents: None });
        let code = tree.as_ref().map(Code::look).unwrap_or_default();
        match self.checkpoint_batch(plan, request.actor.by(), when(request), done, &code) {
            Ok(Some(saved)) => self.tell(&News::Checkpoint(&saved)),
            Ok(None) => {}
            Err(error) => self.trouble(&error),
        }
    }
}

/// Where nobody says which settings hold, nothing is made that was not asked for.
fn when(request: &Request<'_>) -> Batches {
    request.settings.map_or(Batches::Off, |settings| settings.checkpoint_batches.value)
}
