//! Decides who may talk to the HTTP server: a request must name this machine as its host, must not come from a foreign
//! web page, and must carry the token. The decision is made from the headers, before the body is read.

use axum::body::Body;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, ORIGIN, WWW_AUTHENTICATE};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Response, StatusCode};
use serde_json::json;

use crate::Token;

/// Names of this machine in `Host` and `Origin`.
const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Why a request is turned away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denial {
    /// It names another host, which a rebound DNS name would.
    Host,
    /// It comes from a foreign web page.
    Origin,
    /// It does not carry the token.
    Token,
    /// Its body is larger than a request may be.
    TooLarge,
    /// Its body did not arrive in time, or broke off.
    TooSlow,
    /// It would open one session too many.
    TooMany,
    /// Its caller asks too often, or its address has sent too many wrong tokens.
    TooOften,
}

/// Judges the head of a request. `own` is the address the server listens on, which may be a loopback address without a
/// name.
pub(crate) fn judge(head: &Parts, own: &str, token: &Token) -> Result<(), Denial> {
    let is_ours = |authority: &str| is_local(authority, own);
    // A request may name its host in its first line too, and then both must be ours.
    let target = head.uri.authority().map(axum::http::uri::Authority::as_str);
    let named = only_value(head, &HOST).map_err(|_| Denial::Host)?;
    if [target, named] == [None, None] || ![target, named].into_iter().flatten().all(is_ours) {
        return Err(Denial::Host);
    }
    let origin = only_value(head, &ORIGIN).map_err(|_| Denial::Origin)?;
    if !origin.is_none_or(|origin| origin.strip_prefix("http://").is_some_and(is_ours)) {
        return Err(Denial::Origin);
    }
    let mut given = head.headers.get_all(AUTHORIZATION).iter();
    match (given.next(), given.next()) {
        (Some(header), None) if token.authorizes(header.as_bytes()) => Ok(()),
        _ => Err(Denial::Token),
    }
}

/// A header that is there twice, or is not text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AmbiguousHeader;

/// The value of a header that may be there once.
pub fn only_value<'h>(head: &'h Parts, name: &HeaderName) -> Result<Option<&'h str>, AmbiguousHeader> {
    let mut all = head.headers.get_all(name).iter();
    match (all.next(), all.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(|_| AmbiguousHeader),
        (Some(_), Some(_)) => Err(AmbiguousHeader),
    }
}

/// Whether it is one of our names, alone or with a port.
fn is_local(authority: &str, own: &str) -> bool {
    let names = NAMES.into_iter().chain([own]);
    names.filter_map(|name| strip_name(authority, name)).any(|rest| match rest.strip_prefix(':') {
        Some(port) => port.bytes().all(|digit| digit.is_ascii_digit()) && port.parse::<u16>().is_ok(),
        None => rest.is_empty(),
    })
}

fn strip_name<'a>(authority: &'a str, name: &str) -> Option<&'a str> {
    let (start, rest) = authority.split_at_checked(name.len())?;
    start.eq_ignore_ascii_case(name).then_some(rest)
}

impl Denial {
    /// The answer to the request.
    pub(crate) fn response(self, token: &Token) -> Response<Body> {
        let (status, code, message) = match self {
            Self::Host => (StatusCode::FORBIDDEN, -32002, "the host is not this machine".to_owned()),
            Self::Origin => (StatusCode::FORBIDDEN, -32002, "the origin is not this machine".to_owned()),
            Self::Token => {
                let path = token.path().display();
                let message =
                    format!("missing or wrong token: send `Authorization: Bearer TOKEN` with the token from `{path}`");
                (StatusCode::UNAUTHORIZED, -32001, message)
            }
            Self::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, -32003, "the request is too large".to_owned()),
            Self::TooSlow => (StatusCode::REQUEST_TIMEOUT, -32003, "the request did not arrive in time".to_owned()),
            Self::TooMany => {
                let message = "too many sessions are open; close one, or try again in a few minutes";
                (StatusCode::SERVICE_UNAVAILABLE, -32003, message.to_owned())
            }
            Self::TooOften => (StatusCode::TOO_MANY_REQUESTS, -32003, "too many requests; wait a minute".to_owned()),
        };
        let body = json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": message}});
        let mut response = Response::new(Body::from(body.to_string()));
        *response.status_mut() = status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if self == Self::Token {
            let challenge = HeaderValue::from_static("Bearer realm=\"punch\"");
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    fn judged(uri: &str, headers: &[(&str, &str)]) -> Result<(), Denial> {
        let folder = tempfile::tempdir().unwrap();
        let token = Token::read_or_create(&folder.path().join("token")).unwrap();
        let secret = std::fs::read_to_string(token.path()).unwrap();
        let mut request = Request::builder().uri(uri);
        for (name, value) in headers {
            request = request.header(*name, value.replace("SECRET", secret.trim()));
        }
        judge(&request.body(()).unwrap().into_parts().0, "127.0.0.2", &token)
    }

    #[test]
    fn hosts_are_read_strictly() {
        let with = |host: &str| judged("/mcp", &[("host", host), ("authorization", "Bearer SECRET")]);
        for good in ["localhost", "LocalHost:1", "127.0.0.1:4815", "[::1]:65535", "[::1]", "127.0.0.2:80"] {
            assert_eq!(with(good), Ok(()), "{good}");
        }
        for wrong in [
            "",
            "evil.com",
            "localhost.evil.com",
            "127.0.0.1:42381.evil.com",
            "evil.com@127.0.0.1",
            "127.0.0.1:",
            "127.0.0.1:x",
            "127.0.0.1:+80",
            "127.0.0.1:65536",
            "localhost:80:80",
            "127.0.0.10",
            "127.0.0.1, evil.com",
            "::1",
            "[::1",
            "localhost/",
        ] {
            assert_eq!(with(wrong), Err(Denial::Host), "{wrong}");
        }
        let twice = [("host", "localhost"), ("host", "localhost"), ("authorization", "Bearer SECRET")];
        assert_eq!(judged("/mcp", &twice), Err(Denial::Host));
        assert_eq!(judged("/mcp", &twice[2..]), Err(Denial::Host), "no host at all");
        for (uri, expected) in [
            ("http://evil.com/mcp", Err(Denial::Host)),
            ("http://evil.com@127.0.0.1/mcp", Err(Denial::Host)),
            ("http://127.0.0.1:80/mcp", Ok(())),
        ] {
            assert_eq!(judged(uri, &twice[1..]), expected, "{uri}");
        }
    }

    #[test]
    fn origins_are_read_strictly() {
        let with = |origins: &[&str]| {
            let mut headers = vec![("host", "localhost"), ("authorization", "Bearer SECRET")];
            headers.extend(origins.iter().map(|origin| ("origin", *origin)));
            judged("/mcp", &headers)
        };
        for good in [&[][..], &["http://localhost:3000"], &["http://127.0.0.1"], &["http://[::1]:1"]] {
            assert_eq!(with(good), Ok(()), "{good:?}");
        }
        for wrong in [
            &["null"][..],
            &[""],
            &["https://evil.example"],
            &["https://localhost:3000"],
            &["http://localhost:3000.evil.com"],
            &["http://localhost:x"],
            &["http://localhost:3000/"],
            &["http://evil@localhost:3000"],
            &["http://localhost:3000", "http://localhost:3000"],
            &["http://localhost:3000", "https://evil.example"],
        ] {
            assert_eq!(with(wrong), Err(Denial::Origin), "{wrong:?}");
        }
    }

    #[test]
    fn the_token_is_needed_exactly_once() {
        let with = |tokens: &[&str]| {
            let mut headers = vec![("host", "localhost")];
            headers.extend(tokens.iter().map(|token| ("authorization", *token)));
            judged("/mcp", &headers)
        };
        assert_eq!(with(&["Bearer SECRET"]), Ok(()));
        for wrong in [&[][..], &["Bearer x"], &["SECRET"], &["Bearer SECRET", "Bearer SECRET"], &["Basic SECRET"]] {
            assert_eq!(with(wrong), Err(Denial::Token), "{wrong:?}");
        }
    }
}
