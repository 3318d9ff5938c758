//! The plans of a store: creating, choosing, renaming and archiving them.

use punch_core::{Counts, Refusal, text};
use punch_store::{Durability, PlanId, PlanInfo, StoreError};

use crate::{DEFAULT_PLAN, Engine, EngineError};

/// The longest name of a plan, in characters.
const LONGEST: usize = 100;

/// A plan as a list of plans shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanEntry {
    /// Name, revision, age.
    pub info: PlanInfo,
    /// The counts of live todos in the plan.
    pub counts: Counts,
    /// True for the default plan.
    pub default: bool,
}

impl Engine {
    /// Every plan, archived ones too, with its counts.
    pub fn plan_entries(&self) -> Result<Vec<PlanEntry>, EngineError> {
        let entry = |info: PlanInfo| {
            let counts = self.read(info.id, |snapshot| Ok(snapshot.row()?.counts))?;
            Ok(PlanEntry { counts, default: info.archived.is_none() && info.name == DEFAULT_PLAN, info })
        };
        self.plans()?.into_iter().map(entry).collect()
    }

    /// The plan of that name: the one in use, else an archived one.
    pub fn named_plan(&self, name: &str) -> Result<PlanInfo, EngineError> {
        let plans = self.plans()?;
        let named = |p: &&PlanInfo| p.name == name;
        let found = plans.iter().filter(named).find(|p| p.archived.is_none());
        // Of several archived ones the last is the one that people remember.
        found.or_else(|| plans.iter().rfind(named)).cloned().ok_or_else(|| {
            let near = text::nearest(name, plans.iter().map(|p| p.name.as_str()), 3);
            EngineError::UnknownPlan { name: name.to_owned(), near }
        })
    }

    /// The archived plan of that name, the last one if there are several; without one, the plan in use.
    pub fn archived_plan(&self, name: &str) -> Result<PlanInfo, EngineError> {
        let found = self.plans()?.into_iter().rfind(|plan| plan.name == name && plan.archived.is_some());
        found.map_or_else(|| self.named_plan(name), Ok)
    }

    /// Makes an empty plan.
    pub fn create_plan(&self, name: &str) -> Result<PlanId, EngineError> {
        check_name(name)?;
        self.free(name, None)?;
        self.store.create_plan(name, self.now()).map_err(|error| taken(error, name))
    }

    /// Chooses the plan that a worktree works on.
    pub fn use_plan(&self, plan: PlanId, worktree: &str) -> Result<(), EngineError> {
        self.write(plan, Durability::Full, |tx, _| {
            let info = tx.info()?;
            if info.archived.is_some() {
                return Err(EngineError::ArchivedPlan { name: info.name });
            }
            Ok(tx.put_worktree_plan(worktree)?)
        })
    }

    /// Gives a plan another name.
    pub fn rename_plan(&self, plan: PlanId, name: &str) -> Result<(), EngineError> {
        check_name(name)?;
        self.free(name, Some(plan))?;
        self.write(plan, Durability::Full, |tx, _| tx.rename(name).map_err(|error| taken(error, name)))
    }

    /// Puts a plan away, or back into use. Nothing in it changes.
    pub fn archive_plan(&self, plan: PlanId, away: bool) -> Result<(), EngineError> {
        self.write(plan, Durability::Full, |tx, now| {
            let info = tx.info()?;
            if info.archived.is_some() == away {
                return Ok(());
            }
            tx.archive(away.then_some(now)).map_err(|error| taken(error, &info.name))
        })
    }

    /// Refused early, with the right words; a race is caught by the store.
    fn free(&self, name: &str, but: Option<PlanId>) -> Result<(), EngineError> {
        let same = |p: &PlanInfo| p.name == name && p.archived.is_none() && Some(p.id) != but;
        if self.plans()?.iter().any(same) { Err(EngineError::PlanExists { name: name.to_owned() }) } else { Ok(()) }
    }
}

fn taken(error: StoreError, name: &str) -> EngineError {
    match error {
        StoreError::Conflict { .. } => EngineError::PlanExists { name: name.to_owned() },
        other => other.into(),
    }
}

fn check_name(name: &str) -> Result<(), EngineError> {
    let fits = !name.is_empty() && name.chars().count() <= LONGEST && name.trim() == name;
    if fits && text::neutral(name) == name {
        return Ok(());
    }
    let what = format!("must be 1 to {LONGEST} characters on one line, with no spaces at the ends");
    Err(Refusal::Invalid { at: "the name of a plan".into(), what }.into())
}
