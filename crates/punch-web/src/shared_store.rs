//! The store that all requests share: opened when it is first needed, and again after it was unavailable.

use std::sync::{Arc, Mutex, PoisonError};

use axum::http::StatusCode;
use punch_engine::{DEFAULT_PLAN, Engine, EngineError};
use punch_store::{PlanInfo, StoreError};

use crate::{ApiProblem, WebSetup};

/// The store, open or not.
pub(crate) struct WebStore {
    setup: Arc<WebSetup>,
    opened: Mutex<StoreSlot>,
}

#[derive(Default)]
struct StoreSlot {
    engine: Option<Arc<Engine>>,
    /// The store was open before. If it is gone it may come back, so no other one is created in its place.
    was_open: bool,
}

impl WebStore {
    pub fn new(setup: Arc<WebSetup>) -> Self {
        Self { setup, opened: Mutex::default() }
    }

    /// The engine over the store; `None` if there is no store yet.
    pub fn engine(&self) -> Result<Option<Arc<Engine>>, ApiProblem> {
        self.open(false)
    }

    /// The engine over the store, which is created if there is none.
    pub fn engine_or_new(&self) -> Result<Arc<Engine>, ApiProblem> {
        self.open(true)?.ok_or_else(no_store)
    }

    fn open(&self, create: bool) -> Result<Option<Arc<Engine>>, ApiProblem> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if opened.engine.is_none() {
            opened.engine = (self.setup.open)(create && !opened.was_open)?.map(Arc::new);
            opened.was_open |= opened.engine.is_some();
        }
        Ok(opened.engine.clone())
    }

    /// Forgets the store, so that the next request opens it again.
    pub fn forget(&self) {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).engine = None;
    }

    /// Runs a request on the store. After an error of the store the next request opens it again.
    pub fn on<T>(&self, engine: &Engine, run: impl FnOnce(&Engine) -> Result<T, EngineError>) -> Result<T, ApiProblem> {
        run(engine).map_err(|error| self.lost(error))
    }

    /// The answer to an error. If the store itself failed, it is opened again for the next request.
    pub fn lost(&self, error: EngineError) -> ApiProblem {
        let is_gone = matches!(
            &error,
            EngineError::Store(error) if !matches!(error, StoreError::Conflict { .. } | StoreError::UnknownPlan { .. })
        );
        if is_gone && error.code() != "store_busy" {
            self.forget();
        }
        error.into()
    }

    /// The plan of a name.
    pub fn plan(&self, name: &str) -> Result<(Arc<Engine>, PlanInfo), ApiProblem> {
        let engine = self.engine()?.ok_or_else(no_store)?;
        let plan = self.on(&engine, |engine| engine.named_plan(name))?;
        Ok((engine, plan))
    }

    /// The plan of a name, to write to. The first write creates the store and the default plan.
    pub fn plan_or_new(&self, name: &str) -> Result<(Arc<Engine>, PlanInfo), ApiProblem> {
        let engine = self.engine_or_new()?;
        let plan = self.on(&engine, |engine| {
            if name == DEFAULT_PLAN && engine.plans()?.is_empty() {
                engine.choose_or_create(&punch_engine::PlanChoice::default())?;
            }
            engine.named_plan(name)
        })?;
        if plan.archived.is_some() {
            return Err(EngineError::ArchivedPlan { name: plan.name }.into());
        }
        Ok((engine, plan))
    }
}

fn no_store() -> ApiProblem {
    let hint = "`punch init` or the first `punch add` creates it";
    ApiProblem::new(StatusCode::SERVICE_UNAVAILABLE, "no_store", "this project has no plan yet", hint).retry(5)
}
