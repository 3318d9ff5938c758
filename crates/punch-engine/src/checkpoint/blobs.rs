//! The contents of a todo's files when it was completed (rule 32). They are stored beside the plan, because they belong
//! to this clone and not to the history. The commit alone proves little if it was made after `done`, or reverted by a
//! later one.

use std::collections::BTreeSet;

use punch_core::{Footprint, Plan, Status, Todo, Uid};
use punch_store::{CompletedFiles, Durability, PlanId, Snapshot};

use crate::git::{Blobs, Git};
use crate::{Engine, EngineError};

impl Engine {
    /// Keeps what the files of todos hold that were just completed.
    pub(super) fn keep_files(&self, plan: PlanId, git: &Git, named: &[NamedFiles]) -> Result<(), EngineError> {
        let keep = |named: &NamedFiles| {
            let blobs = serde_json::to_string(&git.blobs(&named.files)).ok()?;
            Some(CompletedFiles { todo: named.uid, at: named.at, blobs })
        };
        let kept: Vec<CompletedFiles> = named.iter().filter_map(keep).collect();
        self.write(plan, Durability::Relaxed, |tx, _| {
            kept.iter().try_for_each(|files| Ok(tx.put_completed_files(files)?))
        })
    }

    /// Which of these completions git has lost, by the contents of their files. `until`: when they were known.
    pub(super) fn lost_files(
        &self,
        plan: PlanId,
        git: &Git,
        todos: &BTreeSet<Uid>,
        until: i64,
    ) -> Result<BTreeSet<Uid>, EngineError> {
        let kept: Vec<CompletedFiles> = self.read(plan, |snapshot| {
            let read = |uid: &Uid| snapshot.completed_files(*uid).transpose();
            Ok(todos.iter().filter_map(read).collect::<Result<_, _>>()?)
        })?;
        let is_lost = |files: &CompletedFiles| {
            serde_json::from_str::<Blobs>(&files.blobs).is_ok_and(|blobs| git.lost(&blobs) == Some(true))
        };
        let known = kept.into_iter().filter(|files| files.at <= until);
        Ok(known.filter(is_lost).map(|files| files.todo).collect())
    }
}

/// A completed todo that names files.
#[derive(Debug)]
pub(super) struct NamedFiles {
    uid: Uid,
    /// When the todo was completed.
    at: i64,
    files: Vec<String>,
}

/// Those of these todos that name files.
pub(super) fn named(snapshot: &dyn Snapshot, todos: &BTreeSet<Uid>) -> Result<Vec<NamedFiles>, EngineError> {
    let mut part = Plan::slice(snapshot.row()?);
    snapshot.load(&Footprint { todos: todos.clone(), ..Footprint::default() }, &mut part)?;
    let done = |todo: &&Todo| todo.status == Status::Completed && !todo.files.is_empty();
    let found = todos.iter().filter_map(|uid| part.get(*uid)).filter(done);
    let named = |todo: &Todo| NamedFiles {
        uid: todo.uid,
        at: todo.finished_at.unwrap_or(todo.updated_at),
        files: todo.files.clone(),
    };
    Ok(found.map(named).collect())
}
