//! Handles a request: finds out who asks and whether that is allowed, reads the body, then runs the handler on a thread
//! that may block.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::body::Body;
use axum::extract::{FromRequestParts, RawPathParams, Request};
use axum::http::header::{CONTENT_TYPE, ETAG, IF_NONE_MATCH, SET_COOKIE};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Response, StatusCode};
use punch_serve::{Denial, HttpLimits};
use serde::Serialize;
use serde_json::{Value, json};

use crate::access::{COOKIE_NAME, TokenRole, WebCaller, peer};
use crate::context::{App, PlanContext, RequestContext};
use crate::feed::PlanFeed;
use crate::query::Query;
use crate::read::merge;
use crate::routes::{EntityTag, Handler, Needs, Route};
use crate::{ApiProblem, stream};

/// Bytes of a body.
pub(crate) const BODY: usize = 1024 * 1024;

/// Makes the answer to a request about a plan.
type Respond = Box<dyn FnOnce(&PlanContext<'_>) -> Result<Response<Body>, ApiProblem> + Send>;

/// The time for sessions and tokens.
pub(crate) fn clock() -> i64 {
    let passed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(passed.as_millis()).unwrap_or(i64::MAX)
}

/// Where an answer comes from, for metrics and the log.
#[derive(Clone)]
pub(crate) struct Origin {
    pub route: &'static str,
    /// The name of the token that was used.
    pub caller: Option<String>,
}

/// Answers a request.
pub(crate) async fn answer(
    app: Arc<App>,
    route: &'static Route,
    limits: HttpLimits,
    request: Request,
) -> Response<Body> {
    let mut origin = Origin { route: route.name, caller: None };
    let mut response = match answered(app, route, limits, request, &mut origin).await {
        Ok(response) => response,
        Err(problem) => problem.response(),
    };
    response.extensions_mut().insert(origin);
    response
}

async fn answered(
    app: Arc<App>,
    route: &'static Route,
    limits: HttpLimits,
    request: Request,
    origin: &mut Origin,
) -> Result<Response<Body>, ApiProblem> {
    let (mut head, body) = request.into_parts();
    let now = clock();
    let caller = match route.needs {
        Needs::Nothing => None,
        Needs::Reader | Needs::Owner => Some(app.access.caller(&head, now)?),
    };
    app.access.site.judge_origin(&head, caller.as_ref().is_some_and(|caller| caller.by_cookie))?;
    if let Some(caller) = &caller {
        origin.caller = caller.token_name().map(str::to_owned);
        allow(caller, route)?;
    }
    let query = Query::parse(head.uri.query())?;
    query.only(&route.query.iter().map(|param| param.name).collect::<Vec<_>>())?;
    let body = if route.body.is_some() { read(&head, body, limits).await? } else { Value::Null };
    let Some(caller) = caller else { return login(&app, &head, &body, now) };
    let path = path(&mut head).await?;
    let respond: Respond = match route.handler {
        Handler::Login => return Err(ApiProblem::bug()),
        Handler::Logout => {
            caller.key.iter().for_each(|key| app.access.sessions.close(*key));
            let mut response = json_response(&json!({"schema": 1}));
            if caller.by_cookie {
                set_cookie(&mut response, "", 0)?;
            }
            return Ok(response);
        }
        Handler::Free(run) => {
            let value = blocking(move || run(&RequestContext { app: &app, caller: &caller })).await?;
            return Ok(json_response(&value));
        }
        Handler::Events => return events(app, caller, &head, path, &query).await,
        Handler::Plan(run) | Handler::FirstPlan(run) => Box::new(move |at| Ok(json_response(&run(at)?))),
        Handler::Rows(run) => Box::new(move |at| Ok(json_response(&run(at)?))),
    };
    let creates = matches!(route.handler, Handler::FirstPlan(_));
    let known = head.headers.get(IF_NONE_MATCH).filter(|_| route.method == "GET").cloned();
    blocking(move || {
        let feed = feed(&app, &path, creates)?;
        let before = match route.tag {
            EntityTag::Nothing => None,
            tag => feed.advance().map_err(|error| app.store.lost(error))?.etag(tag),
        };
        if let (Some(tag), Some(known)) = (&before, &known)
            && known.to_str().is_ok_and(|known| known.split(',').any(|one| one.trim() == tag))
        {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            return with_tag(response, tag);
        }
        let at = PlanContext { app: &app, caller: &caller, feed: &feed, path: &path, query: &query, body: &body };
        let response = respond(&at)?;
        match before {
            Some(tag) => with_tag(response, &tag),
            None => Ok(response),
        }
    })
    .await
}

fn allow(caller: &WebCaller, route: &Route) -> Result<(), ApiProblem> {
    match (caller.rights.role, route.needs) {
        (TokenRole::Agent, _) => Err(ApiProblem::forbidden(
            "the token of an agent is only good for `/mcp`",
            "make one with `punch token new NAME --role reader`",
        )),
        (TokenRole::Reader, Needs::Owner) => {
            Err(ApiProblem::forbidden("this session may only read", "open the board with a link or token of an owner"))
        }
        _ => Ok(()),
    }
}

/// Runs what may block on a thread of its own. A bug in one request does not take the others with it.
pub(crate) async fn blocking<T: Send + 'static>(
    run: impl FnOnce() -> Result<T, ApiProblem> + Send + 'static,
) -> Result<T, ApiProblem> {
    tokio::task::spawn_blocking(run).await.unwrap_or_else(|_| Err(ApiProblem::bug()))
}

fn feed(app: &App, path: &[(String, String)], creates: bool) -> Result<Arc<PlanFeed>, ApiProblem> {
    let name = path.iter().find(|(name, _)| name == "plan").map_or("", |(_, value)| value.as_str());
    let (engine, info) = if creates { app.store.plan_or_new(name)? } else { app.store.plan(name)? };
    app.feeds.of(&engine, info)
}

async fn path(head: &mut Parts) -> Result<Vec<(String, String)>, ApiProblem> {
    let unreadable = |_| ApiProblem::bad_request("the address cannot be read");
    let params = RawPathParams::from_request_parts(head, &()).await.map_err(unreadable)?;
    Ok(params.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

/// Reads a JSON body.
async fn read(head: &Parts, body: Body, limits: HttpLimits) -> Result<Value, ApiProblem> {
    let kind = head.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let is_json = kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"));
    if !is_json {
        let message = "the body must be JSON";
        let hint = "send it with `Content-Type: application/json`";
        return Err(ApiProblem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not_json", message, hint));
    }
    let bytes = limits.read(head, body).await.map_err(|denial| match denial {
        Denial::TooSlow => {
            let message = "the body did not arrive in time";
            ApiProblem::new(StatusCode::REQUEST_TIMEOUT, "too_slow", message, "send the request again")
        }
        _ => {
            let message = format!("the body is larger than {} bytes", limits.bytes);
            ApiProblem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message, "send fewer ops at once")
        }
    })?;
    serde_json::from_slice(&bytes).map_err(|error| ApiProblem::bad_request(format!("the body is not JSON: {error}")))
}

async fn events(
    app: Arc<App>,
    caller: WebCaller,
    head: &Parts,
    path: Vec<(String, String)>,
    query: &Query,
) -> Result<Response<Body>, ApiProblem> {
    let last = head.headers.get("last-event-id").and_then(|id| id.to_str().ok()).and_then(|id| id.parse().ok());
    let after = last.or(query.number("after")?);
    let place = Arc::clone(&app.streams).try_acquire_owned();
    let place = place.map_err(|_| ApiProblem::busy("too_many_streams", "too many streams are open").retry(5))?;
    let own = Arc::clone(&app);
    let feed = blocking(move || feed(&own, &path, false)).await?;
    let end = app.end.clone();
    let allowed = Box::new(move || app.access.still_counts(&caller, clock()));
    stream::open(feed, after, place, allowed, end).await
}

/// Exchanges the secret of a link, or a token, for a session.
fn login(app: &App, head: &Parts, body: &Value, now: i64) -> Result<Response<Body>, ApiProblem> {
    let access = &app.access;
    let secret = body.get("token").and_then(Value::as_str);
    let secret = secret.ok_or_else(|| ApiProblem::bad_request("`token` must be a string"))?;
    let (rights, token) = match access.sessions.redeem(secret, now) {
        Some(rights) => (rights, None),
        None => match access.by_secret(secret, now) {
            Some(caller) if caller.rights.role != TokenRole::Agent => {
                access.rate.asked(&caller.id(), now)?;
                (caller.rights, caller.token)
            }
            _ => {
                access.rate.failed(peer(head), now)?;
                let message = "the link was used before, is too old, or is unknown";
                let hint = "press Enter in the terminal of `punch serve` for a new one";
                return Err(ApiProblem::new(StatusCode::UNAUTHORIZED, "link_used", message, hint));
            }
        },
    };
    let by_cookie = !access.site.is_loopback;
    let opened = access.sessions.open(rights, by_cookie, token, now);
    let (secret, caller) = opened.map_err(|_| ApiProblem::bug())?;
    let caller = if access.read_only { caller.reading() } else { caller };
    let mut out = json!({"schema": 1});
    if !by_cookie {
        out["token"] = json!(secret);
    }
    merge(&mut out, caller.to_json());
    let mut response = json_response(&out);
    if by_cookie {
        set_cookie(&mut response, &secret, caller.expires_at.unwrap_or(now).saturating_sub(now) / 1_000)?;
    }
    Ok(response)
}

fn set_cookie(response: &mut Response<Body>, secret: &str, seconds: i64) -> Result<(), ApiProblem> {
    let cookie = format!("{COOKIE_NAME}={secret}; Path=/; Max-Age={seconds}; Secure; HttpOnly; SameSite=Strict");
    let value = HeaderValue::from_str(&cookie).map_err(|_| ApiProblem::bug())?;
    response.headers_mut().insert(SET_COOKIE, value);
    Ok(())
}

fn json_response(value: &impl Serialize) -> Response<Body> {
    // Only a map with keys other than texts cannot be written, and no answer has one.
    let mut response = Response::new(Body::from(serde_json::to_string(value).unwrap_or_default()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn with_tag(mut response: Response<Body>, tag: &str) -> Result<Response<Body>, ApiProblem> {
    let tag = HeaderValue::from_str(tag).map_err(|_| ApiProblem::bug())?;
    response.headers_mut().insert(ETAG, tag);
    Ok(response)
}
