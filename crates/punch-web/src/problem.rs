//! Errors of requests as `application/problem+json`: the status, the code that programs match on, what is wrong and
//! what to do about it.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, Response, StatusCode};
use punch_core::text::neutral;
use punch_engine::EngineError;
use punch_store::StoreError;
use serde_json::{Map, Value, json};

/// Refusals that an answer lists.
const REFUSALS: usize = 20;

/// Why a request could not be answered. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiProblem {
    /// The HTTP status.
    pub status: StatusCode,
    /// What programs match on; never renamed.
    pub code: String,
    /// What is wrong, with which values.
    pub message: String,
    /// What to do.
    pub hint: String,
    /// Seconds after which it is worth trying again.
    pub retry_after: Option<u64>,
    /// Further fields of the answer.
    pub more: Box<Map<String, Value>>,
}

/// The code of a problem, beside the answer that tells it.
#[derive(Clone, Debug)]
pub(crate) struct ProblemCode(pub String);

impl ApiProblem {
    /// A problem from its parts.
    pub fn new(status: StatusCode, code: &str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        let (message, hint) = (message.into(), hint.into());
        Self { status, code: code.to_owned(), message, hint, retry_after: None, more: Box::default() }
    }

    /// The request cannot be read.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", message, "see docs/api.md, or GET /api/v1/openapi.json")
    }

    /// The caller may not do this.
    pub fn forbidden(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", message, hint)
    }

    /// The request carries no session that counts.
    pub fn unauthorized() -> Self {
        let hint = "open the address that `punch serve` printed, or send `Authorization: Bearer TOKEN`";
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", "missing or wrong token", hint)
    }

    /// What is named does not exist.
    pub fn not_found(code: &str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, code, message, hint)
    }

    /// There is no room at the moment.
    pub fn busy(code: &str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, code, message, "try again in a moment").retry(1)
    }

    /// The store, or the project, cannot be used as things are.
    pub fn unavailable(code: &str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, code, message, hint).retry(1)
    }

    /// A bug in the server: it continues.
    pub fn bug() -> Self {
        let message = "a bug in punch ended the request; the server continues";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "bug", message, "please report it with what you did")
    }

    /// Says when it is worth trying again.
    #[must_use]
    pub fn retry(self, seconds: u64) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }

    /// Adds a field to the answer.
    #[must_use]
    pub fn with(mut self, name: &str, value: Value) -> Self {
        self.more.insert(name.to_owned(), value);
        self
    }

    /// The body of the answer.
    pub fn to_json(&self) -> Value {
        let safe = |text: &str| text.lines().map(|line| neutral(line).into_owned()).collect::<Vec<_>>().join("\n");
        let mut out = json!({
            "type": format!("urn:punch:error:{}", self.code),
            "title": self.status.canonical_reason().unwrap_or("error"),
            "status": self.status.as_u16(),
            "code": self.code,
            "message": safe(&self.message),
            "hint": safe(&self.hint),
        });
        if let Some(seconds) = self.retry_after {
            out["retryAfter"] = json!(seconds);
        }
        if let Some(map) = out.as_object_mut() {
            map.extend((*self.more).clone());
        }
        out
    }

    /// The answer.
    pub fn response(&self) -> Response<Body> {
        let mut response = Response::new(Body::from(self.to_json().to_string()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = self.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"punch\""));
        }
        response.extensions_mut().insert(ProblemCode(self.code.clone()));
        response
    }
}

impl From<EngineError> for ApiProblem {
    fn from(error: EngineError) -> Self {
        let status = match &error {
            EngineError::Refused(_) | EngineError::Store(StoreError::Conflict { .. }) if is_conflict(&error) => {
                StatusCode::CONFLICT
            }
            EngineError::UnknownPlan { .. }
            | EngineError::NotFound { .. }
            | EngineError::Store(StoreError::UnknownPlan { .. }) => StatusCode::NOT_FOUND,
            EngineError::NotAllowed { .. } => StatusCode::FORBIDDEN,
            EngineError::Store(_) => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        };
        let out = Self::new(status, error.code(), error.message(), error.hint());
        let out = if status == StatusCode::SERVICE_UNAVAILABLE { out.retry(1) } else { out };
        let EngineError::Refused(refusals) = &error else { return out };
        let refusals = refusals.iter().take(REFUSALS);
        let one = |refusal: &punch_core::Refusal| json!({"code": refusal.code(), "message": neutral(&refusal.message()), "hint": neutral(&refusal.hint())});
        out.with("refusals", refusals.map(one).collect())
    }
}

fn is_conflict(error: &EngineError) -> bool {
    matches!(error.code(), "conflict" | "store_conflict")
}

impl From<punch_core::Refusal> for ApiProblem {
    fn from(refusal: punch_core::Refusal) -> Self {
        EngineError::from(refusal).into()
    }
}
