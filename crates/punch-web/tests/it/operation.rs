//! What operators ask: health, readiness, metrics and the log of requests.

use std::sync::{Arc, Mutex};

use punch_web::{NewToken, TokenFile, TokenRole};
use serde_json::{Value, json};

use crate::client::{Answer, Options, Server, clock};

fn plain(server: &Server, path: &str) -> Answer {
    server.raw("GET", path, &[("Host", &server.host())], "")
}

fn with_token(server: &Server, path: &str, token: &str) -> Answer {
    server.raw("GET", path, &[("Host", &server.host()), ("Authorization", &format!("Bearer {token}"))], "")
}

#[test]
fn probes_need_no_token_and_learn_nothing_but_yes_or_no() {
    let server = Server::start();
    let alive = plain(&server, "/healthz");
    assert_eq!((alive.status, alive.body.as_str()), (200, "ok\n"));
    let ready = plain(&server, "/readyz");
    assert_eq!((ready.status, ready.body.as_str()), (200, "ready\n"), "a project without a plan");
    assert_eq!(server.raw("POST", "/healthz", &[("Host", &server.host())], "").status, 405);
    for path in ["/healthz", "/readyz", "/metrics"] {
        assert_eq!(server.raw("GET", path, &[("Host", "evil.com")], "").status, 403, "{path}");
    }
}

#[test]
fn a_store_that_does_not_answer_is_not_ready_and_the_server_is_still_alive() {
    let server = Server::start();
    std::fs::write(server.database(), "this is not a store, and long enough to be looked at").unwrap();
    let ready = plain(&server, "/readyz");
    assert_eq!(ready.status, 503);
    assert!(ready.body.starts_with("store_") && !ready.body.contains('/'), "{}", ready.body);
    assert_eq!(plain(&server, "/healthz").status, 200);
    let metrics = with_token(&server, "/metrics", &server.token);
    assert!(metrics.status == 200 && metrics.body.contains("\npunch_store_up 0\n"), "{}", metrics.body);
}

#[test]
fn metrics_need_a_token_that_may_read() {
    let server = Server::start();
    assert_eq!(plain(&server, "/metrics").problem(), (401, "unauthorized".into()));
    assert_eq!(with_token(&server, "/metrics", "guess").status, 401);
    let tokens = TokenFile::in_folder(server.folder.path());
    let made = |name: &str, role| tokens.add(&NewToken { name: name.into(), role, expires_at: None }, clock()).unwrap();
    assert_eq!(with_token(&server, "/metrics", &made("prometheus", TokenRole::Reader)).status, 200);
    assert_eq!(with_token(&server, "/metrics", &made("bot", TokenRole::Agent)).problem(), (403, "forbidden".into()));
}

#[test]
fn metrics_count_requests_refusals_and_todos() {
    let server = Server::start();
    server.ops(json!([{"op": "add", "content": "a"}, {"op": "add", "content": "b"}]));
    server.ops(json!([{"op": "done", "id": "T-1"}]));
    assert_eq!(server.get("/plans/nowhere/board").status, 404);
    let answer = with_token(&server, "/metrics", &server.token);
    assert_eq!(answer.header("content-type").as_deref(), Some("text/plain; version=0.0.4; charset=utf-8"));
    for line in [
        "punch_info{version=\"0.0.0\",project=\"test\"} 1",
        "punch_store_up 1",
        "punch_plans{state=\"used\"} 1",
        "punch_todos{plan=\"main\",status=\"pending\"} 1",
        "punch_todos{plan=\"main\",status=\"completed\"} 1",
        "punch_plan_revision_total{plan=\"main\"} 2",
        "punch_http_requests_total{route=\"ops\",status=\"200\"} 2",
        "punch_http_requests_total{route=\"board\",status=\"404\"} 1",
        "punch_http_problems_total{code=\"unknown_plan\"} 1",
        "punch_http_request_seconds_count{route=\"ops\"} 2",
    ] {
        assert!(answer.body.lines().any(|known| known == line), "{line}\n{}", answer.body);
    }
    // Every family is described before its samples.
    for line in answer.body.lines().filter(|line| !line.starts_with('#')) {
        let name = line.split(['{', ' ']).next().unwrap();
        let family = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        assert!(answer.body.contains(&format!("# TYPE {family} ")), "{line}");
    }
}

#[test]
fn every_request_leaves_a_record_without_secrets() {
    let records: Arc<Mutex<Vec<Value>>> = Arc::default();
    let server = Server::with(Options { log: Some(Arc::clone(&records)), ..Options::default() });
    let tokens = TokenFile::in_folder(server.folder.path());
    let token =
        tokens.add(&NewToken { name: "phone".into(), role: TokenRole::Owner, expires_at: None }, clock()).unwrap();
    server.ops(json!([{"op": "add", "content": "hush"}]));
    with_token(&server, "/api/v1/plans/main/todos?f=hush", &token);
    with_token(&server, "/api/v1/plans", "guess");
    plain(&server, "/");
    let records = records.lock().unwrap().clone();
    let of = |n: usize, name: &str| records[n][name].clone();
    let shown: Vec<(Value, Value, Value)> =
        (0..records.len()).map(|n| (of(n, "route"), of(n, "status"), of(n, "level"))).collect();
    assert_eq!(
        json!(shown),
        json!([["ops", 200, "info"], ["todos", 200, "info"], ["plans", 401, "warn"], ["page", 200, "info"]])
    );
    assert_eq!((of(1, "caller"), of(1, "path")), (json!("phone"), json!("/api/v1/plans/main/todos")));
    assert_eq!(of(2, "code"), json!("unauthorized"));
    let time = of(0, "time").as_str().unwrap().to_owned();
    assert!(time.len() == 24 && time.ends_with('Z') && time.contains('T'), "{time}");
    let text = json!(records).to_string();
    assert!(!text.contains(&server.token) && !text.contains(&token) && !text.contains("hush"), "{text}");
}
