//! The work after a commit: writes new statuses to the plan file, records the contents of the files of completed todos,
//! and makes a checkpoint at the end of a batch. The write stands even if any of this fails.

use std::collections::BTreeSet;

use punch_core::{Event, Uid};
use punch_store::{PlanId, Tx};

use super::blobs::{NamedFiles, named};
use super::{Code, batch};
use crate::config::Batches;
use crate::engine::News;
use crate::{Engine, EngineError, Git, WorkTree, WriteRequest};

/// What a transaction leaves to do after its commit.
#[derive(Debug, Default)]
pub(crate) struct AfterCommit {
    /// The stored link to the plan file, if the plan has one.
    plan_file: Option<String>,
    /// Completed todos that name files.
    files: Vec<NamedFiles>,
    /// The completed todos, if they end a batch.
    ended: Option<BTreeSet<Uid>>,
}

impl AfterCommit {
    /// Collects at the end of a transaction what it leaves to do. Without a request that is the plan file only.
    pub(crate) fn collect(tx: &dyn Tx, plan: PlanId, request: Option<&WriteRequest<'_>>) -> Result<Self, EngineError> {
        let plan_file = tx.plan_file(plan)?;
        let Some(request) = request.filter(|_| !tx.closing().is_empty()) else {
            return Ok(Self { plan_file, ..Self::default() });
        };
        let done: BTreeSet<Uid> = tx.closing().iter().filter_map(Event::completes).collect();
        let files = if request.tree.is_some() { named(tx, &done)? } else { Vec::new() };
        let over = batch::is_over(tx, when(request), &done)?;
        Ok(Self { plan_file, files, ended: over.then_some(done) })
    }

    /// Adds what another transaction leaves to do, except for the plan file: for writes that come from that file.
    #[cfg(feature = "files")]
    pub(crate) fn add(&mut self, later: Self) {
        self.files.extend(later.files);
        if let Some(done) = later.ended {
            self.ended.get_or_insert_default().extend(done);
        }
    }
}

impl Engine {
    /// Does what a write left to do. A failure is reported and fails nothing.
    pub(crate) fn follow_up(&self, plan: PlanId, request: Option<&WriteRequest<'_>>, after: &AfterCommit) {
        self.tell_file(plan, after.plan_file.as_deref());
        let Some(request) = request else { return };
        if !after.files.is_empty()
            && let Some(git) = request.tree.and_then(|root| Git::of(root, request.git))
            && let Err(error) = self.keep_files(plan, &git, &after.files)
        {
            self.trouble(&error);
        }
        let Some(done) = &after.ended else { return };
        let tree =
            request.tree.map(|root| WorkTree { root: root.to_owned(), git: request.git.cloned(), consents: None });
        let code = tree.as_ref().map(Code::look).unwrap_or_default();
        match self.checkpoint_batch(plan, request.actor.by(), when(request), done, &code) {
            Ok(Some(saved)) => self.tell(&News::Checkpoint(&saved)),
            Ok(None) => {}
            Err(error) => self.trouble(&error),
        }
    }
}

/// Without settings there are no automatic checkpoints.
fn when(request: &WriteRequest<'_>) -> Batches {
    request.settings.map_or(Batches::Off, |settings| settings.checkpoint_batches.value)
}
