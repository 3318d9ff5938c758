//! The page: its files are built from `page/` and checked in, so that building Punchlist needs nothing but Rust.

use std::sync::OnceLock;

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Response, StatusCode};
use sha2::{Digest, Sha256};

const INDEX: &[u8] = include_bytes!("../page/dist/index.html");
const SCRIPT: &[u8] = include_bytes!("../page/dist/app.js");
const STYLE: &[u8] = include_bytes!("../page/dist/app.css");

/// What the page may do: load its own script, style and data, and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; font-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types 'none'";

/// Headers of every answer.
const HEADERS: [(&str, &str); 6] = [
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];

/// Adds what every answer carries. Answers of the API are kept by nobody.
pub(crate) fn protect(response: &mut Response<Body>) {
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

/// A file of the page. Every address that is not one of its files is a view of the board.
pub(crate) fn file(head: &Parts) -> Response<Body> {
    let (kind, content, tag) = match head.uri.path() {
        "/app.js" => ("text/javascript; charset=utf-8", SCRIPT, tag(SCRIPT, &SCRIPT_TAG)),
        "/app.css" => ("text/css; charset=utf-8", STYLE, tag(STYLE, &STYLE_TAG)),
        "/favicon.ico" | "/robots.txt" | "/manifest.webmanifest" => {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::NOT_FOUND;
            return response;
        }
        _ => ("text/html; charset=utf-8", INDEX, tag(INDEX, &INDEX_TAG)),
    };
    let is_known = head.headers.get(IF_NONE_MATCH).and_then(|known| known.to_str().ok()) == Some(tag);
    let mut response = Response::new(if is_known { Body::empty() } else { Body::from(content) });
    if is_known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(tag) = HeaderValue::from_str(tag) {
        headers.insert(ETAG, tag);
    }
    response
}

static INDEX_TAG: OnceLock<String> = OnceLock::new();
static SCRIPT_TAG: OnceLock<String> = OnceLock::new();
static STYLE_TAG: OnceLock<String> = OnceLock::new();

/// Names stay the same from version to version, so browsers recognize a file by its content.
fn tag(content: &[u8], known: &'static OnceLock<String>) -> &'static str {
    known.get_or_init(|| {
        let hash = Sha256::digest(content);
        format!("\"{}\"", hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect::<String>())
    })
}
