//! Endpoints for operators: whether the server is alive, whether its store answers, and what it does. `/healthz` and
//! `/readyz` answer yes or no to anyone who reaches the server, because probes of service managers carry no token;
//! `/metrics` names plans and requires a token.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{HeaderValue, Response, StatusCode};
use axum::routing::{MethodFilter, on};
use punch_core::view::FleetFigures;
use punch_engine::Engine;

use crate::ApiProblem;
use crate::access::{TokenRole, peer};
use crate::context::{App, STREAMS};
use crate::dispatch::{Origin, blocking, clock};
use crate::metrics::ServerFacts;

/// How long an answer of the store counts: probes of others must not become its load.
const FRESH: Duration = Duration::from_secs(1);
/// The version of the text format.
const PROMETHEUS: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
const PLAIN: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

/// Whether the store answered, and when it was asked.
#[derive(Default)]
pub(crate) struct Readiness(Mutex<Option<(Instant, Result<(), ApiProblem>)>>);

impl Readiness {
    /// Asks the store, unless it was asked a moment ago.
    fn ask(&self, app: &App) -> Result<(), ApiProblem> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, answer)) = &*last
            && at.elapsed() < FRESH
        {
            return answer.clone();
        }
        let answer = match app.store.engine() {
            // Without a store the server is ready: the first change creates it.
            Ok(None) => Ok(()),
            Ok(Some(engine)) => app.store.on(&engine, |engine| engine.plans().map(drop)),
            Err(problem) => Err(problem),
        };
        *last = Some((Instant::now(), answer.clone()));
        answer
    }
}

/// The routes outside of the API.
pub(crate) fn routes(app: &Arc<App>, router: Router) -> Router {
    let (ready, counted) = (Arc::clone(app), Arc::clone(app));
    router
        .route("/healthz", on(MethodFilter::GET, async || text("ok\n".into(), &PLAIN, "healthz")))
        .route("/readyz", on(MethodFilter::GET, move |request: Request| readyz(Arc::clone(&ready), request)))
        .route("/metrics", on(MethodFilter::GET, move |request: Request| metrics(Arc::clone(&counted), request)))
}

async fn readyz(app: Arc<App>, request: Request) -> Response<Body> {
    let (head, _) = request.into_parts();
    let asked = match app.access.rate.probed(peer(&head), clock()) {
        Ok(()) => blocking(move || app.ready.ask(&app)).await,
        Err(problem) => Err(problem),
    };
    match asked {
        Ok(()) => text("ready\n".into(), &PLAIN, "readyz"),
        // The code and nothing else: messages name paths and addresses.
        Err(problem) => {
            let mut response = text(format!("{}\n", problem.code), &PLAIN, "readyz");
            *response.status_mut() = if problem.status == StatusCode::TOO_MANY_REQUESTS {
                problem.status
            } else {
                StatusCode::SERVICE_UNAVAILABLE
            };
            response
        }
    }
}

async fn metrics(app: Arc<App>, request: Request) -> Response<Body> {
    let (head, _) = request.into_parts();
    let page = match allowed(&app, &head) {
        Ok(()) => blocking(move || Ok(page(&app))).await,
        Err(problem) => Err(problem),
    };
    match page {
        Ok(page) => text(page, &PROMETHEUS, "metrics"),
        Err(problem) => {
            let mut response = problem.response();
            response.extensions_mut().insert(Origin { route: "metrics", caller: None });
            response
        }
    }
}

fn allowed(app: &App, head: &Parts) -> Result<(), ApiProblem> {
    let caller = app.access.caller(head, clock())?;
    app.access.site.judge_origin(head, caller.by_cookie)?;
    match caller.rights.role {
        TokenRole::Reader | TokenRole::Owner => Ok(()),
        TokenRole::Agent => {
            let message = "the token of an agent is only good for `/mcp`";
            Err(ApiProblem::forbidden(message, "make one with `punch token new NAME --role reader`"))
        }
    }
}

fn page(app: &App) -> String {
    let read = |engine: &Engine| Ok((engine.plan_entries()?, engine.fleet()?.figures()));
    let state = match app.store.engine() {
        Ok(None) => Some((Vec::new(), FleetFigures::default())),
        Ok(Some(engine)) => app.store.on(&engine, read).ok(),
        Err(_) => None,
    };
    app.metrics.render(&ServerFacts {
        version: app.setup.version,
        project: &app.setup.project,
        streams: STREAMS - app.streams.available_permits(),
        plans: state.as_ref().map(|(plans, _)| plans.as_slice()),
        fleet: state.as_ref().map(|(_, fleet)| *fleet),
    })
}

fn text(body: String, kind: &HeaderValue, route: &'static str) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    response.headers_mut().insert(CONTENT_TYPE, kind.clone());
    response.extensions_mut().insert(Origin { route, caller: None });
    response
}
