//! A server without a session, and the hook that knows whose it is.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use punch_engine::call::{Dialect, Tool, ToolCaller};
use punch_engine::{Engine, PlanChoice};
use punch_store::{MemoryStore, PlanId, SessionKey};
use serde_json::{Value, json};

fn world() -> (Engine, PlanId) {
    let time = Arc::new(AtomicI64::new(1_000));
    let engine = Engine::new(Box::new(MemoryStore::new()), Box::new(move || time.fetch_add(1_000, Ordering::Relaxed)));
    let plan = engine.choose_or_create(&PlanChoice::default()).unwrap();
    (engine, plan)
}

fn write(engine: &Engine, plan: PlanId, session: &str, arguments: &Value) -> u64 {
    let session = SessionKey::new(session, None);
    let caller = ToolCaller {
        actor: punch_core::Actor::agent("mcp", owner_of(&session)),
        session,
        role: None,
        mode: Default::default(),
        limits: Default::default(),
        open_limit: 100,
        settings: None,
        structured: true,
        work: Default::default(),
        server: None,
        embedding: Default::default(),
    };
    let answer = engine.call(plan, &caller, Dialect::Todowrite, Tool::Write, arguments, None).unwrap();
    assert!(!answer.is_error, "{}", answer.text);
    answer.revision
}

fn todos(content: &str) -> Value {
    json!({"todos": [{"content": content, "status": "in_progress", "activeForm": content}]})
}

fn host(name: &str) -> SessionKey {
    SessionKey::new(name, None)
}

#[test]
fn the_session_takes_over_what_the_anonymous_one_wrote() {
    let (engine, plan) = world();
    let revision = write(&engine, plan, "mcp-1", &todos("a"));
    assert!(engine.link(&host("s"), revision, &todos("a")).unwrap());
    let (bound_to, state) = engine.session(&host("s")).unwrap().unwrap();
    assert_eq!((bound_to, state.bound, state.scope.len()), (Some(plan), true, 1));
    let whole = engine.whole(plan).unwrap();
    assert_eq!(whole.live()[0].owner.as_deref(), Some("s"));
    assert_eq!(engine.linked(&host("mcp-1")).unwrap(), Some(host("s")));
    // The log says that the owner has another name, not that the work ended and began again.
    let events = engine.read(plan, |snapshot| Ok(snapshot.events(revision, 10)?)).unwrap();
    let kinds: Vec<&str> = events.iter().filter(|event| event.revision > revision).map(|e| e.kind.name()).collect();
    assert_eq!(kinds, ["edited"]);
}

#[test]
fn the_order_of_keys_and_what_names_the_caller_do_not_matter() {
    let (engine, plan) = world();
    let revision = write(&engine, plan, "mcp-1", &todos("a"));
    let seen = json!({"plan": "main", "todos": [{"activeForm": "a", "status": "in_progress", "content": "a"}]});
    assert!(engine.link(&host("s"), revision, &seen).unwrap());
}

#[test]
fn a_receipt_alone_captures_nobody() {
    let (engine, plan) = world();
    let revision = write(&engine, plan, "mcp-1", &todos("a"));
    for (revision, arguments) in [(revision, json!({})), (revision, todos("b")), (revision + 1, todos("a"))] {
        assert!(!engine.link(&host("second"), revision, &arguments).unwrap());
    }
    assert!(!engine.link(&host(""), revision, &todos("a")).unwrap());
    assert!(engine.session(&host("second")).unwrap().is_none());
}

#[test]
fn two_servers_that_did_the_same_are_not_told_apart() {
    let (engine, plan) = world();
    // What one of them had in progress would be its own, and the other's a todo of another id.
    let todos = json!({"todos": [{"content": "a", "status": "pending", "activeForm": "a"}]});
    write(&engine, plan, "mcp-1", &todos);
    let revision = write(&engine, plan, "mcp-2", &todos);
    assert!(!engine.link(&host("s"), revision, &todos).unwrap());
}

#[test]
fn the_last_receipt_says_whose_server_it_is() {
    let (engine, plan) = world();
    for (session, content) in [("s", "a"), ("t", "b"), ("u", "c")] {
        let revision = write(&engine, plan, "mcp-1", &todos(content));
        assert!(engine.link(&host(session), revision, &todos(content)).unwrap());
        assert_eq!(engine.linked(&host("mcp-1")).unwrap(), Some(host(session)));
    }
}

#[test]
fn a_server_of_several_conversations_in_turn_belongs_to_none() {
    let (engine, plan) = world();
    for (session, content) in [("s", "a"), ("t", "b"), ("s", "c"), ("t", "d")] {
        let revision = write(&engine, plan, "mcp-1", &todos(content));
        assert!(engine.link(&host(session), revision, &todos(content)).unwrap());
    }
    assert_eq!(engine.linked(&host("mcp-1")).unwrap(), None);
    let whole = engine.whole(plan).unwrap();
    let owners: Vec<(&str, Option<&str>)> =
        whole.live().iter().map(|t| (t.content.as_str(), t.owner.as_deref())).collect();
    assert_eq!(owners, [("a", Some("s")), ("b", Some("t")), ("c", Some("s")), ("d", Some("t"))]);
}

fn owner_of(session: &SessionKey) -> String {
    match session.subagent() {
        Some(subagent) => format!("{}/{subagent}", session.session_id()),
        None => session.session_id().to_owned(),
    }
}
