//! The context of a request: the server, the caller, and the parsed address and body.

use std::sync::{Arc, MutexGuard};

use axum::http::StatusCode;
use punch_core::text::{clip, nearest};
use punch_core::view::BoardRow;
use punch_core::{Plan, Todo};
use punch_engine::{Answerer, Engine, EngineError};
use punch_store::PlanId;
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::access::{AccessControl, WebCaller};
use crate::feed::{PlanFeed, PlanPicture};
use crate::feeds::Feeds;
use crate::metrics::Metrics;
use crate::operation::Readiness;
use crate::query::Query;
use crate::request_log::RequestLog;
use crate::shared_store::WebStore;
use crate::{ApiProblem, WebSetup};

/// Batches whose checks run at once.
const CHECKS: usize = 4;
/// Streams that are open at once.
pub(crate) const STREAMS: usize = 128;

/// The answer to a request.
pub(crate) type ApiResult = Result<Value, ApiProblem>;

/// An answer with the rows of a whole plan. They are written as they are: as values, a large plan would take many times
/// their memory.
#[derive(Serialize)]
pub(crate) struct RowsAnswer {
    #[serde(flatten)]
    pub rest: Value,
    pub rows: Vec<BoardRow>,
}

/// Everything that requests share.
pub(crate) struct App {
    pub setup: Arc<WebSetup>,
    pub store: Arc<WebStore>,
    pub feeds: Feeds,
    pub access: AccessControl,
    pub checks: Semaphore,
    pub streams: Arc<Semaphore>,
    pub metrics: Metrics,
    pub ready: Readiness,
    pub log: Option<RequestLog>,
    pub end: CancellationToken,
}

impl App {
    pub fn new(setup: Arc<WebSetup>, access: AccessControl, log: Option<RequestLog>, end: CancellationToken) -> Self {
        let store = Arc::new(WebStore::new(Arc::clone(&setup)));
        Self {
            feeds: Feeds::new(Arc::clone(&store), Arc::clone(&setup)),
            store,
            setup,
            access,
            checks: Semaphore::new(CHECKS),
            streams: Arc::new(Semaphore::new(STREAMS)),
            metrics: Metrics::default(),
            ready: Readiness::default(),
            log,
            end,
        }
    }
}

/// A request that is about no plan.
pub(crate) struct RequestContext<'a> {
    pub app: &'a App,
    pub caller: &'a WebCaller,
}

/// A request about a plan.
pub(crate) struct PlanContext<'a> {
    pub app: &'a App,
    pub caller: &'a WebCaller,
    pub feed: &'a Arc<PlanFeed>,
    /// Parts of the path by name.
    pub path: &'a [(String, String)],
    pub query: &'a Query,
    pub body: &'a Value,
}

impl PlanContext<'_> {
    pub fn id(&self) -> PlanId {
        self.feed.info.id
    }

    /// Asks the store.
    pub fn on<T>(&self, run: impl FnOnce(&Engine) -> Result<T, EngineError>) -> Result<T, ApiProblem> {
        self.app.store.on(&self.feed.engine, run)
    }

    /// Proof that the user sends the request. `what` needs it, and `otherwise` is another way to do it.
    pub fn the_user(&self, what: &str, otherwise: &str) -> Result<Answerer, ApiProblem> {
        self.caller.answerer().ok_or_else(|| {
            let message = format!("this session may not {what}");
            let hint = format!("open the link that `punch serve` prints in your own terminal, or {otherwise}");
            ApiProblem::new(StatusCode::FORBIDDEN, "not_the_user", message, hint)
        })
    }

    /// The plan as it is now. Holds back the stream while it is kept, so nothing slow may be done with it.
    pub fn picture(&self) -> Result<MutexGuard<'_, PlanPicture>, ApiProblem> {
        self.feed.advance().map_err(|error| self.app.store.lost(error))
    }

    pub fn plan_of<'p>(&self, picture: &'p PlanPicture) -> Result<&'p Plan, ApiProblem> {
        picture.plan().ok_or_else(ApiProblem::bug)
    }

    pub fn part(&self, name: &str) -> &str {
        self.path.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// A number in the path.
    pub fn number(&self, name: &str) -> Result<u64, ApiProblem> {
        let wrong = || ApiProblem::bad_request(format!("`{}` is not a number", clip(self.part(name), 40)));
        self.part(name).parse().map_err(|_| wrong())
    }

    /// The todo that the path names.
    pub fn todo<'p>(&self, plan: &'p Plan) -> Result<&'p Todo, ApiProblem> {
        plan.by_id(self.part("id")).ok_or_else(|| self.unknown_todo(plan))
    }

    /// A copy of the todo that the path names.
    pub fn own_todo(&self) -> Result<Todo, ApiProblem> {
        let picture = self.picture()?;
        self.todo(self.plan_of(&picture)?).cloned()
    }

    pub fn unknown_todo(&self, plan: &Plan) -> ApiProblem {
        self.unknown(plan, self.part("id"))
    }

    pub fn unknown(&self, plan: &Plan, id: &str) -> ApiProblem {
        let near = nearest(id, plan.ids(), 3);
        EngineError::NotFound { given: clip(id, 200).into_owned(), near }.into()
    }

    /// The body, which is an object with no other fields than these.
    pub fn body(&self, known: &[&str]) -> Result<&Map<String, Value>, ApiProblem> {
        let object = || ApiProblem::bad_request("the body must be a JSON object");
        let map = self.body.as_object().ok_or_else(object)?;
        match map.keys().find(|key| !known.contains(&key.as_str())) {
            None => Ok(map),
            Some(key) => {
                let message = format!("unknown field `{}`; the body takes {}", clip(key, 40), known.join(", "));
                Err(ApiProblem::bad_request(message))
            }
        }
    }
}
