//! The fleet on the web board: its own answer, in short on every page, and in the metrics.

use std::path::Path;

use punch_core::{Actor, Op, Ref, WorkerId};
use punch_engine::{Engine, WorkerBody, WorkerName, WriteRequest};
use punch_store::SessionKey;
use serde_json::{Value, json};

use crate::client::{Server, engine};

/// Longer than any test.
const LEASE: i64 = 600_000;

fn register(engine: &Engine, name: &str, host: &str, lease: i64) -> WorkerName {
    let body = WorkerBody {
        host: host.into(),
        seats: 2,
        labels: [punch_core::Label::parse("gpu").unwrap()].into(),
        ..WorkerBody::this_process(Path::new("/work"), "1")
    };
    engine.register_worker(name, &body, lease).unwrap()
}

fn claim(engine: &Engine, worker: &WorkerName, uid: u64) {
    let plan = engine.named_plan("main").unwrap().id;
    let owner = WorkerId { run: 1, epoch: worker.epoch, number: uid, fleet: Some(worker.name.clone()) }.to_string();
    let request = WriteRequest::of(Actor::runner(1, Some(&owner)));
    let key = SessionKey::new(format!("s-{owner}"), None);
    engine.claim_for_worker(plan, &request, &key, punch_core::Uid(uid), LEASE).unwrap();
}

#[test]
fn a_store_without_workers_has_an_empty_fleet() {
    let server = Server::start();
    assert_eq!(server.get("/fleet").json()["workers"], json!([]), "without a store, too");
    server.ops(json!([{"op": "add", "content": "a"}]));
    assert_eq!(server.get("/fleet").json()["figures"]["working"], 0);
    assert_eq!(server.get("/plans/main/board").json()["fleet"], Value::Null);
}

/// What `punch worker list` prints is made from the same value; here it is held against everything that the server shows.
#[test]
fn every_surface_shows_the_same_fleet() {
    let server = Server::start();
    server.ops(
        json!([{"op": "add", "content": "Train"}, {"op": "add", "content": "Test"}, {"op": "add", "content": "c"}]),
    );
    let engine = engine(&server.database(), false).unwrap();
    let near = register(&engine, "near", "lab\u{1b}[31m", LEASE);
    claim(&engine, &near, 1);
    let dead = register(&engine, "dead", "attic", 1);
    claim(&engine, &dead, 2);
    while engine.fleet().unwrap().stuck.is_empty() {
        std::thread::yield_now();
    }
    let plan = engine.named_plan("main").unwrap().id;
    engine
        .submit(plan, &WriteRequest::of(Actor::user()), &[Op::Note(Ref::Id("T-3".into()), "looked at".into())])
        .unwrap();
    let view = engine.fleet().unwrap();
    let list = view.lines(engine.now()).join("\n");
    for part in ["near on lab", "working", "T-1 of plan main", "dead on attic: lost", "stuck: T-2 of plan main"] {
        assert!(list.contains(part), "{part}: {list}");
    }
    let mut answer = server.get("/fleet").json();
    for extra in ["schema", "now"] {
        assert!(answer.as_object_mut().unwrap().remove(extra).is_some());
    }
    assert_eq!(answer, view.record());
    assert_eq!(answer["workers"][1]["claims"][0]["text"], "Train");
    assert!(!answer.to_string().contains("\\u001b"), "{answer}");
    // The board looks at the fleet again a moment after its last look.
    let in_short = || server.get("/plans/main/board").json()["fleet"].clone();
    let mut board = in_short();
    while board["stuck"] != 1 {
        std::thread::sleep(std::time::Duration::from_millis(50));
        board = in_short();
    }
    for name in ["working", "draining", "lost", "seats", "busy", "stuck"] {
        assert_eq!(board[name], answer["figures"][name], "{name}");
    }
    assert_eq!(board["warnings"].as_array().unwrap().len(), 2, "{board}");
    let authorization = format!("Bearer {}", server.token);
    let metrics =
        server.raw("GET", "/metrics", &[("Host", &server.host()), ("Authorization", &authorization)], "").body;
    for line in [
        "punch_workers{state=\"working\"} 1",
        "punch_workers{state=\"draining\"} 0",
        "punch_workers{state=\"lost\"} 1",
        "punch_workers{state=\"gone\"} 0",
        "punch_worker_seats 2",
        "punch_worker_seats_busy 1",
        "punch_worker_stuck_claims 1",
        "punch_worker_todos_per_hour 0",
    ] {
        assert!(metrics.lines().any(|known| known == line), "{line}\n{metrics}");
    }
    assert!(!metrics.contains("attic"), "machines are not named: each would be a series of its own");
}
