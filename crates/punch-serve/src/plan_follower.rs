//! Follows the plan that resources show: which todos have changed, and whether another plan is meant now.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use punch_engine::{Engine, EngineError, Follower, FollowerItem, PlanChoice};
use punch_store::PlanId;

/// How often a store without a plan is looked at.
const NO_PLAN: Duration = Duration::from_millis(200);

/// What a change concerns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangedIds {
    /// The todos with these ids.
    Ids(BTreeSet<String>),
    /// Anything: revisions are missing, or the plan is another one.
    All,
}

impl ChangedIds {
    /// Returns true if the todo with this id may have changed.
    pub fn contains(&self, id: &str) -> bool {
        match self {
            Self::Ids(ids) => ids.contains(id),
            Self::All => true,
        }
    }
}

/// Follows whichever plan is meant.
pub struct PlanFollower {
    engine: Arc<Engine>,
    choice: PlanChoice,
    follower: Option<Follower>,
}

impl PlanFollower {
    /// Starts with the plan that is meant now.
    pub fn start(engine: Arc<Engine>, choice: PlanChoice) -> Result<Self, EngineError> {
        let mut out = Self { engine, choice, follower: None };
        out.follower = out.meant()?.map(|plan| out.engine.follow(plan)).transpose()?;
        Ok(out)
    }

    /// Returns what the next change concerns; waits for it, and returns `None` after about `timeout`.
    pub fn next(&mut self, timeout: Duration) -> Result<Option<ChangedIds>, EngineError> {
        let meant = self.meant()?;
        if meant != self.follower.as_ref().map(Follower::plan) {
            self.follower = meant.map(|plan| self.engine.follow(plan)).transpose()?;
            return Ok(Some(ChangedIds::All));
        }
        let Some(follower) = &mut self.follower else {
            thread::sleep(timeout.min(NO_PLAN));
            return Ok(None);
        };
        Ok(follower.next(&self.engine, timeout)?.and_then(|found| match found {
            FollowerItem::Revisions(page) => {
                Some(ChangedIds::Ids(page.touched.all().map(|todo| todo.id.clone()).collect()))
            }
            FollowerItem::TimePassed { todos, .. } => {
                Some(ChangedIds::Ids(todos.into_iter().map(|todo| todo.id.clone()).collect()))
            }
            FollowerItem::Gap(_) => Some(ChangedIds::All),
            // Not asked for.
            FollowerItem::Activity(_) => None,
        }))
    }

    fn meant(&self) -> Result<Option<PlanId>, EngineError> {
        Ok(self.engine.choose(&self.choice)?.map(|plan| plan.id))
    }
}
