//! The plans that someone looks at, each followed by a separate thread as long as that lasts.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use punch_engine::Engine;
use punch_store::{PlanId, PlanInfo};

use crate::feed::PlanFeed;
use crate::shared_store::WebStore;
use crate::{ApiProblem, WebSetup};

/// Plans that are followed at once.
const PLANS: usize = 32;

type ByPlan = Mutex<HashMap<PlanId, Arc<PlanFeed>>>;

/// The plans that are followed.
pub(crate) struct Feeds {
    store: Arc<WebStore>,
    setup: Arc<WebSetup>,
    by_plan: Arc<ByPlan>,
}

impl Feeds {
    pub fn new(store: Arc<WebStore>, setup: Arc<WebSetup>) -> Self {
        Self { store, setup, by_plan: Arc::default() }
    }

    /// The feed of a plan; its thread is started if nobody looked at the plan before.
    pub fn of(&self, engine: &Arc<Engine>, info: PlanInfo) -> Result<Arc<PlanFeed>, ApiProblem> {
        let mut by_plan = self.by_plan.lock().unwrap_or_else(PoisonError::into_inner);
        by_plan.retain(|_, feed| !feed.has_ended());
        if let Some(feed) = by_plan.get(&info.id).filter(|feed| Arc::ptr_eq(&feed.engine, engine)) {
            feed.touch();
            return Ok(Arc::clone(feed));
        }
        if by_plan.len() >= PLANS {
            return Err(ApiProblem::busy("too_many_plans", format!("{PLANS} plans already have viewers")));
        }
        let feed = Arc::new(PlanFeed::new(Arc::clone(engine), info, Arc::clone(&self.setup)));
        let (own, store, all) = (Arc::clone(&feed), Arc::clone(&self.store), Arc::clone(&self.by_plan));
        let follow = move || {
            let leave = || {
                let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
                // Whoever looked for it since has touched it.
                all.get(&own.info.id).is_none_or(|feed| !Arc::ptr_eq(feed, &own) || feed.is_unused())
                    && all.remove(&own.info.id).is_none_or(|_| true)
            };
            if let Some(error) = own.follow(leave) {
                let _ = store.lost(error);
            }
        };
        let started = thread::Builder::new().name("feed".into()).spawn(follow);
        started.map_err(|error| ApiProblem::busy("busy", format!("no thread can be started: {error}")))?;
        by_plan.insert(feed.info.id, Arc::clone(&feed));
        Ok(feed)
    }
}
