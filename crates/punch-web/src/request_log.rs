//! One record per request, which the calling program writes down. Records contain no secrets: neither headers nor the
//! query string are in them.

use std::time::Duration;

use punch_core::time::rfc3339;
use serde_json::{Value, json};

/// A request that was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestRecord {
    /// When the request came, in milliseconds since 1970.
    pub at: i64,
    /// The HTTP method.
    pub method: String,
    /// The path, without what stands behind `?`.
    pub path: String,
    /// The name of the route, as in the description of the API.
    pub route: &'static str,
    /// The HTTP status.
    pub status: u16,
    /// How long it took until the answer began.
    pub took: Duration,
    /// The code of the error, if it was refused.
    pub code: Option<String>,
    /// The name of the token that was used; `None` for the user who started the server, and for nobody.
    pub caller: Option<String>,
}

impl RequestRecord {
    /// The record for programs.
    pub fn to_json(&self) -> Value {
        let level = match self.status {
            500.. => "error",
            400.. => "warn",
            _ => "info",
        };
        json!({
            "time": rfc3339(self.at), "level": level, "event": "request", "method": self.method,
            "path": self.path, "route": self.route, "status": self.status,
            "ms": u64::try_from(self.took.as_micros()).unwrap_or(u64::MAX) as f64 / 1_000.0,
            "code": self.code, "caller": self.caller,
        })
    }

    /// The record for people, on one line.
    pub fn to_line(&self) -> String {
        let Self { method, path, status, .. } = self;
        let code = self.code.as_ref().map(|code| format!(" {code}")).unwrap_or_default();
        let caller = self.caller.as_ref().map(|caller| format!(" {caller}")).unwrap_or_default();
        let line = format!("{} {method} {path} {status}{code} {} ms{caller}", rfc3339(self.at), self.took.as_millis());
        punch_core::text::neutral(&line).into_owned()
    }
}

/// Where records go.
pub type RequestLog = Box<dyn Fn(&RequestRecord) + Send + Sync>;
