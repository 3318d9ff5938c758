//! The page: its files are built from `page/` and checked in, so that building Punchlist needs nothing but Rust.

use std::sync::OnceLock;

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Response, StatusCode};
use sha2::{Digest, Sha256};

/// A file of the page.
struct PageFile {
    path: &'static str,
    kind: &'static str,
    content: &'static [u8],
    tag: OnceLock<String>,
}

impl PageFile {
    /// Names stay the same from version to version, so browsers recognize a file by its content.
    fn tag(&self) -> &str {
        self.tag.get_or_init(|| {
            let hash = Sha256::digest(self.content);
            format!("\"{}\"", hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect::<String>())
        })
    }
}

macro_rules! page_file {
    ($name:literal, $kind:literal) => {
        PageFile {
            path: concat!("/", $name),
            kind: concat!($kind, "; charset=utf-8"),
            content: include_bytes!(concat!("../page/dist/", $name)),
            tag: OnceLock::new(),
        }
    };
}

static INDEX: PageFile = page_file!("index.html", "text/html");

/// Scripts and style sheets. Pages that are opened rarely have files of their own.
static FILES: [PageFile; 11] = [
    page_file!("app.js", "text/javascript"),
    page_file!("board.js", "text/javascript"),
    page_file!("graph.js", "text/javascript"),
    page_file!("run.js", "text/javascript"),
    page_file!("log.js", "text/javascript"),
    page_file!("todo.js", "text/javascript"),
    page_file!("workers.js", "text/javascript"),
    page_file!("app.css", "text/css"),
    page_file!("board.css", "text/css"),
    page_file!("graph.css", "text/css"),
    page_file!("run.css", "text/css"),
];

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
    let path = head.uri.path();
    if ["/favicon.ico", "/robots.txt", "/manifest.webmanifest"].contains(&path) {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_FOUND;
        return response;
    }
    let file = FILES.iter().find(|file| file.path == path).unwrap_or(&INDEX);
    let tag = file.tag();
    let is_known = head.headers.get(IF_NONE_MATCH).and_then(|known| known.to_str().ok()) == Some(tag);
    let mut response = Response::new(if is_known { Body::empty() } else { Body::from(file.content) });
    if is_known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(file.kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(tag) = HeaderValue::from_str(tag) {
        headers.insert(ETAG, tag);
    }
    response
}
