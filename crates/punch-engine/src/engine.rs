//! The engine: a store, a clock, and the choice of the plan.

use std::sync::Mutex;

use punch_core::hash::fnv1a;
use punch_core::{Footprint, Plan, text};
use punch_store::{Catalogue, PlanId, PlanInfo, SessionKey, Snapshot, Store, StoreError};

use crate::config::Plans;
use crate::run::HeldRun;
use crate::{EngineError, SavedCheckpoint};

/// Milliseconds since the epoch.
pub type Clock = Box<dyn Fn() -> i64 + Send + Sync>;

/// What happened after a commit.
pub enum News<'a> {
    /// Something went wrong after the commit; the write stays.
    Trouble(&'a EngineError),
    /// An automatic checkpoint was made.
    Checkpoint(&'a SavedCheckpoint),
}

/// Takes news.
pub type Tell = Box<dyn Fn(&News<'_>) + Send + Sync>;

/// Characters of a session's name in the name of its plan.
const SESSION_NAME: usize = 60;

/// The name of the plan that the first write makes.
pub const DEFAULT_PLAN: &str = "main";

/// Which plan is meant (rule 38): the first of these that is given; never "the most recent".
#[derive(Clone, Debug, Default)]
pub struct PlanChoice {
    /// The name of the plan, from an argument or `PUNCH_PLAN`.
    pub name: Option<String>,
    /// The plan its session is bound to.
    pub session: Option<SessionKey>,
    /// The plan chosen for this worktree (`plan use`).
    pub worktree: Option<String>,
    /// Whether a conversation that is bound to no plan works on the shared one, or on one of its own.
    pub plans: Plans,
}

impl PlanChoice {
    /// The name of the plan that the first write makes.
    fn new_plan(&self) -> String {
        match &self.session {
            Some(key) if self.plans == Plans::Session => plan_of_session(key),
            _ => DEFAULT_PLAN.to_owned(),
        }
    }
}

/// The name of the plan that belongs to a conversation and its subagents.
fn plan_of_session(key: &SessionKey) -> String {
    let name = text::neutral(key.session_id().trim()).into_owned();
    match name.chars().count() {
        0..=SESSION_NAME => format!("session-{name}"),
        _ => format!("session-{}-{:016x}", name.chars().take(SESSION_NAME).collect::<String>(), fnv1a(name.bytes())),
    }
}

/// Plans behind one store.
pub struct Engine {
    pub(crate) store: Box<dyn Store>,
    clock: Clock,
    tell: Option<Tell>,
    /// The plan that this process runs.
    pub(crate) held_run: Mutex<Option<HeldRun>>,
}

impl Engine {
    /// An engine over a store.
    pub fn new(store: Box<dyn Store>, clock: Clock) -> Self {
        Self { store, clock, tell: None, held_run: Mutex::new(None) }
    }

    /// Returns this engine reporting to `tell` what happens after a commit, such as a plan file that could not be
    /// written: no reason to fail the write.
    #[must_use]
    pub fn telling(self, tell: Tell) -> Self {
        Self { tell: Some(tell), ..self }
    }

    /// Tells of trouble.
    pub fn trouble(&self, error: &EngineError) {
        self.tell(&News::Trouble(error));
    }

    pub(crate) fn tell(&self, news: &News<'_>) {
        if let Some(tell) = &self.tell {
            tell(news);
        }
    }

    /// The store itself, for what has no rules: backups, checks, wake-ups.
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// The time: by the clock of the store if it has one, otherwise by that of the caller.
    pub fn now(&self) -> i64 {
        self.store.now().unwrap_or_else(|| (self.clock)())
    }

    /// Every plan.
    pub fn plans(&self) -> Result<Vec<PlanInfo>, EngineError> {
        self.browse(|catalogue| catalogue.plans())
    }

    /// Reads what belongs to no plan.
    pub fn browse<T>(&self, f: impl FnOnce(&dyn Catalogue) -> Result<T, StoreError>) -> Result<T, EngineError> {
        let (mut f, mut out) = (Some(f), None);
        self.store.browse(&mut |catalogue| {
            if let Some(f) = f.take() {
                out = Some(f(catalogue)?);
            }
            Ok(())
        })?;
        out.ok_or(EngineError::Store(StoreError::Abort))
    }

    /// Reads one moment of a plan.
    pub fn read<T>(
        &self,
        plan: PlanId,
        f: impl FnOnce(&dyn Snapshot) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let (mut f, mut out) = (Some(f), None);
        let done = self.store.read(plan, &mut |snapshot| {
            let Some(f) = f.take() else { return Ok(()) };
            out = Some(f(snapshot));
            if matches!(out, Some(Err(_))) { Err(StoreError::Abort) } else { Ok(()) }
        });
        match out {
            Some(result) => result,
            None => Err(done.err().unwrap_or(StoreError::Abort).into()),
        }
    }

    /// The plan that is meant, `None` if there is no plan at all yet.
    pub fn choose(&self, choice: &PlanChoice) -> Result<Option<PlanInfo>, EngineError> {
        self.browse(|catalogue| Ok(meant(catalogue, choice)))?
    }

    /// Reads one moment of the plan that is meant, in one transaction if `guess` is that plan; `None` if there is no
    /// plan. What is meant is decided at that moment too. Answers also which plan it was: the guess for the next time.
    pub(crate) fn read_meant<T>(
        &self,
        guess: Option<PlanId>,
        choose: impl Fn(&dyn Catalogue) -> Result<PlanChoice, StoreError>,
        f: impl Fn(&dyn Snapshot) -> Result<T, EngineError>,
    ) -> Result<Option<(PlanId, T)>, EngineError> {
        if let Some(plan) = guess {
            let tried = self.read(plan, |snapshot| match meant(snapshot, &choose(snapshot)?)? {
                Some(found) if found.id == plan => f(snapshot).map(Some),
                _ => Ok(None),
            });
            match tried {
                Ok(Some(answer)) => return Ok(Some((plan, answer))),
                // What was guessed is not meant, or is not a plan of this store.
                Ok(None) | Err(EngineError::Store(StoreError::UnknownPlan { .. })) => {}
                Err(error) => return Err(error),
            }
        }
        match self.choose(&self.browse(choose)?)? {
            Some(found) => Ok(Some((found.id, self.read(found.id, f)?))),
            None => Ok(None),
        }
    }

    /// The plan that is meant; the default plan is made if there is none.
    pub fn choose_or_create(&self, choice: &PlanChoice) -> Result<PlanId, EngineError> {
        match self.choose(choice)? {
            Some(plan) => Ok(plan.id),
            None => match self.store.create_plan(&choice.new_plan(), self.now()) {
                Ok(id) => Ok(id),
                // Another process may have made it in between.
                Err(error) => match self.choose(choice)? {
                    Some(plan) => Ok(plan.id),
                    None => Err(error.into()),
                },
            },
        }
    }

    /// The whole plan at this moment.
    pub fn whole(&self, plan: PlanId) -> Result<Plan, EngineError> {
        self.slice(plan, &Footprint::everything())
    }

    /// A part of the plan at this moment.
    pub fn slice(&self, plan: PlanId, footprint: &Footprint) -> Result<Plan, EngineError> {
        self.read(plan, |snapshot| {
            let mut slice = Plan::slice(snapshot.row()?);
            snapshot.load(footprint, &mut slice)?;
            Ok(slice)
        })
    }
}

/// Rule 38 at one moment of the store.
pub(crate) fn meant(
    catalogue: &(impl Catalogue + ?Sized),
    choice: &PlanChoice,
) -> Result<Option<PlanInfo>, EngineError> {
    let plans = catalogue.plans()?;
    if let Some(name) = &choice.name {
        let found = plans.iter().find(|p| p.name == *name && p.archived.is_none());
        let found = found.or_else(|| plans.iter().find(|p| p.name == *name));
        return found.cloned().map(Some).ok_or_else(|| {
            let near = text::nearest(name, plans.iter().map(|p| p.name.as_str()), 3);
            EngineError::UnknownPlan { name: name.clone(), near }
        });
    }
    let in_use = |p: &&PlanInfo| p.archived.is_none();
    let bound = match &choice.session {
        Some(key) => catalogue.session(key)?.and_then(|session| session.plan),
        None => None,
    };
    let used = match (&choice.worktree, bound) {
        (Some(worktree), None) => catalogue.worktree_plan(worktree)?,
        _ => None,
    };
    let wanted = bound.or(used);
    let wanted = wanted.and_then(|id| plans.iter().filter(in_use).find(|p| p.id == id));
    if choice.plans == Plans::Session && (bound.is_none() || wanted.is_none()) {
        let name = choice.session.as_ref().map(plan_of_session);
        return Ok(plans.iter().filter(in_use).find(|p| Some(&p.name) == name.as_ref()).cloned());
    }
    let default = plans.iter().filter(in_use).find(|p| p.name == DEFAULT_PLAN);
    Ok(wanted.or(default).or_else(|| plans.iter().find(in_use)).cloned())
}
