//! Writes changed statuses to the plan file after every commit, and nothing else. Changes by the user that were not
//! read yet stay as they are.

use std::collections::{BTreeSet, HashMap};

use punch_core::plan_file::{AgreedTodo, PlanFileEdit};
use punch_core::{Footprint, Plan, Status};
use punch_store::PlanId;

use super::{FileError, PlanFileLink, disk, understood};
use crate::{Engine, EngineError};

/// How often a file that keeps changing is read again.
const ATTEMPTS: usize = 3;

impl Engine {
    /// Writes what changed, where there is a file; problems are reported and fail nothing.
    pub(crate) fn tell_file(&self, plan: PlanId, linked: Option<&str>) {
        let Some(link) = linked.map(PlanFileLink::read) else { return };
        let tell = || -> Result<(), EngineError> {
            // Most writes of a session are about itself.
            if self.read(plan, |snapshot| Ok(snapshot.row()?.revision))? == link.revision {
                return Ok(());
            }
            match self.changed_since(plan, &link)?.0.is_empty() {
                true => Ok(()),
                false => self.write_statuses(plan, &link),
            }
        };
        if let Err(error) = tell() {
            self.trouble(&error);
        }
    }

    /// Statuses that are others than when both last agreed, and the revision now. Touches no file.
    fn changed_since(&self, plan: PlanId, link: &PlanFileLink) -> Result<(HashMap<String, Status>, u64), EngineError> {
        let ids: BTreeSet<String> = link.base.iter().map(|known| known.plan.id.clone()).collect();
        if ids.is_empty() {
            return Ok((HashMap::new(), link.revision));
        }
        let now: Plan = self.slice(plan, &Footprint { ids, ..Footprint::default() })?;
        let status = |known: &AgreedTodo| {
            let todo = now.by_id(&known.plan.id).filter(|todo| todo.status != known.plan.status)?;
            Some((todo.id.clone(), todo.status))
        };
        Ok((link.base.iter().filter_map(status).collect(), now.row.revision))
    }

    fn write_statuses(&self, plan: PlanId, link: &PlanFileLink) -> Result<(), EngineError> {
        let mut known = link.revision;
        let _turn = loop {
            match disk::turn(&link.path) {
                // Each writer puts everything into the file that changed before its turn. So a long queue is either done with
                // our change or moving; only one that does neither is an error.
                Err(FileError::Busy { path }) => {
                    let Some(now) = self.plan_file(plan)? else { return Ok(()) };
                    if self.changed_since(plan, &now)?.0.is_empty() {
                        return Ok(());
                    }
                    if now.revision == known {
                        return Err(FileError::Busy { path }.into());
                    }
                    known = now.revision;
                }
                turn => break turn?,
            }
        };
        // Another process may have written while we waited.
        let Some(mut link) = self.plan_file(plan)? else { return Ok(()) };
        let (changed, revision) = self.changed_since(plan, &link)?;
        for _ in 0..ATTEMPTS {
            let seen = disk::look(&link.path);
            let before = disk::read(&link.path)?;
            let file = understood(&link.path, &before, &link.base)?;
            let known: HashMap<&str, usize> =
                link.base.iter().enumerate().map(|(at, known)| (known.file.id.as_str(), at)).collect();
            let (mut writes, mut told) = (Vec::new(), Vec::new());
            for (at, item) in file.items().iter().enumerate() {
                let (Some(status), Some(base)) = (changed.get(&item.id), known.get(item.id.as_str())) else { continue };
                if item.status == link.base[*base].file.status {
                    writes.push(PlanFileEdit::Status(at, *status));
                    told.push((*base, at, *status));
                }
            }
            let unclear = |what| FileError::Unclear { path: link.path.clone(), what };
            let written = file.write(&writes).map_err(unclear)?;
            if written.text != before && !disk::replace(&link.path, &before, &written.text)? {
                continue;
            }
            for (base, at, status) in &told {
                let known = &mut link.base[*base];
                (known.plan.status, known.file.status) = (*status, written.items[*at].status);
            }
            if !told.is_empty() {
                // A change by hand that was not read must still look like one.
                if link.look == seen {
                    link.look = disk::look(&link.path);
                }
                (link.revision, link.at) = (revision, self.now());
                self.keep_link(plan, Some(&link))?;
            }
            return Ok(());
        }
        Err(FileError::Busy { path: link.path }.into())
    }
}
