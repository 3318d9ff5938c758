//! Syncs a plan and its plan file: the user's edits go into the plan first, then the plan's changes go into the file.
//! If it is interrupted anywhere, the next sync finds both sides equal and continues.

use std::path::{Path, PathBuf};

use punch_core::plan_file::{FileForm, MergeConflict, PlanFile, PlanFileEdit, items_of, merge, settled};
use punch_store::PlanId;

use super::{FileError, LinkedFile, PlanFileLink, disk, take::TakenChanges, understood};
use crate::checkpoint::AfterCommit;
use crate::verify::commit_of;
use crate::{Engine, EngineError, WriteRequest};

/// How often a file that keeps changing is read again.
const ATTEMPTS: usize = 5;

/// What a sync does beyond bringing changes over.
#[derive(Clone, Copy, Debug, Default)]
pub struct SyncOptions {
    /// Puts todos of the plan that the file lacks into the file.
    pub add: bool,
}

/// The result of a sync.
#[derive(Clone, Debug, Default)]
pub struct SyncResult {
    /// The file.
    pub path: PathBuf,
    /// The file was written.
    pub wrote: bool,
    /// Edits in the file: statuses, words, dependencies, ids, new todos.
    pub edits: usize,
    /// Ids that came into the plan.
    pub added: Vec<String>,
    /// Ids that changed in the plan.
    pub changed: Vec<String>,
    /// Ids that were archived in the plan.
    pub archived: Vec<String>,
    /// Where both had changed one thing.
    pub conflicts: Vec<MergeConflict>,
    /// Statuses that the plan refused, by id, with the reason; they stay in the file.
    pub refused: Vec<(String, String)>,
    /// Ids in the plan that the file lacks.
    pub absent: Vec<String>,
    /// Ids in the file that are archived in the plan.
    pub gone: Vec<String>,
    /// The revision afterwards.
    pub revision: u64,
}

impl SyncResult {
    /// The plan was changed.
    pub fn took(&self) -> bool {
        !(self.added.is_empty() && self.changed.is_empty() && self.archived.is_empty())
    }
}

impl Engine {
    /// Brings a plan and its file together.
    pub fn sync_plan_file(
        &self,
        plan: PlanId,
        request: &WriteRequest<'_>,
        how: SyncOptions,
    ) -> Result<SyncResult, EngineError> {
        let mut after = AfterCommit::default();
        // What the user ticked off counts as done at this commit (rule 32).
        let here = || request.tree.and_then(|root| commit_of(root, request.git));
        let commit = request.commit.map(str::to_owned).or_else(here);
        let request = &WriteRequest { commit: commit.as_deref(), ..request.clone() };
        let synced = self.bring_together(plan, request, how, &mut after);
        // Only after the file is unlocked: what follows is a write too, and updates the file.
        self.follow_up(plan, Some(request), &after);
        synced
    }

    fn bring_together(
        &self,
        plan: PlanId,
        request: &WriteRequest<'_>,
        how: SyncOptions,
        after_commit: &mut AfterCommit,
    ) -> Result<SyncResult, EngineError> {
        let path = self.plan_file(plan)?.ok_or(FileError::NotLinked)?.path;
        let _turn = disk::turn(&path)?;
        // Another process may have written while we waited.
        let mut link = self.plan_file(plan)?.ok_or(FileError::NotLinked)?;
        let mut out = SyncResult { path: path.clone(), ..SyncResult::default() };
        let mut named = false;
        for _ in 0..ATTEMPTS {
            let before = disk::read(&path)?;
            let file = understood(&path, &before, &link.base)?;
            let merged = merge(file.form(), &link.base, file.items(), &items_of(&self.whole(plan)?));
            let taken = self.take(plan, request, &file, &merged, after_commit)?;
            out.take(taken);
            for conflict in merged.conflicts {
                if !out.conflicts.contains(&conflict) {
                    out.conflicts.push(conflict);
                }
            }
            if self.give(plan, &mut link, &file, (&before, how), &mut out)? {
                // Only now that its new items have ids can a checklist say what is nested in what.
                if !named && file.form() == FileForm::Checklist && file.items().iter().any(|item| item.id.is_empty()) {
                    named = true;
                    continue;
                }
                link.remember(&out.conflicts);
                if out.took() {
                    link.edited(request.actor.by());
                }
                (link.revision, link.at) = (out.revision, self.now());
                self.keep_link(plan, Some(&link))?;
                return Ok(out);
            }
        }
        Err(FileError::Busy { path }.into())
    }

    /// Reads what was changed in the file, if it looks changed; used before a hook tells the agent what changed. `link` is
    /// what is recorded about the file, `by` says who changed it.
    pub(crate) fn read_back<'a>(
        &self,
        plan: PlanId,
        link: &str,
        by: impl FnOnce(&Path) -> WriteRequest<'a>,
        reports_trouble: bool,
    ) {
        let link = LinkedFile::read(link);
        if disk::look(&link.path) != link.look
            && let Err(error) = self.sync_plan_file(plan, &by(&link.path), SyncOptions::default())
            && reports_trouble
        {
            self.trouble(&error);
        }
    }

    /// Writes to the file what it lacks, and stores the common state. Returns false if the file was changed in between.
    fn give(
        &self,
        plan: PlanId,
        link: &mut PlanFileLink,
        file: &PlanFile<'_>,
        (before, how): (&str, SyncOptions),
        out: &mut SyncResult,
    ) -> Result<bool, EngineError> {
        let whole = self.whole(plan)?;
        let items = items_of(&whole);
        let rest = merge(file.form(), &link.base, file.items(), &items);
        let mut writes = rest.writes;
        if how.add {
            writes.extend(rest.absent.iter().cloned().map(PlanFileEdit::Add));
        }
        let written = file.write(&writes).map_err(|what| FileError::Unclear { path: link.path.clone(), what })?;
        let changed = written.text != before;
        if changed && !disk::replace(&link.path, before, &written.text)? {
            return Ok(false);
        }
        let seen = disk::look(&link.path);
        let kept: Vec<String> = out.refused.iter().map(|(id, _)| id.clone()).collect();
        link.base = settled(&link.base, &written.items, &items, &kept);
        link.look = seen;
        out.wrote |= changed;
        out.edits += if changed { written.edits } else { 0 };
        out.absent = if how.add { Vec::new() } else { rest.absent.into_iter().map(|item| item.id).collect() };
        (out.gone, out.revision) = (rest.gone, whole.row.revision);
        Ok(true)
    }
}

impl SyncResult {
    fn take(&mut self, taken: TakenChanges) {
        self.changed.extend(taken.changed.into_iter().filter(|id| !self.added.contains(id)));
        self.added.extend(taken.added);
        self.archived.extend(taken.archived);
        self.refused = taken.refused;
    }
}
