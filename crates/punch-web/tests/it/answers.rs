//! What is answered: reads, writes, refusals, hostile text, plans of every size, a store that goes away.

use punch_core::drive::Switch;
use punch_engine::ActivityKind;
use serde_json::{Value, json};

use crate::client::{Options, Server, engine};

#[test]
fn a_new_project_is_empty_until_the_first_write() {
    let server = Server::start();
    assert_eq!(server.get("").json()["plan"], Value::Null);
    assert_eq!(server.get("/plans").json()["plans"], json!([]));
    assert_eq!(server.get("/plans/main/board").problem(), (503, "no_store".into()));
    server.ops(json!([{"op": "add", "content": "First"}]));
    let board = server.get("/plans/main/board").json();
    assert_eq!((board["revision"].as_u64(), board["rows"][0]["text"].as_str()), (Some(1), Some("First")));
    assert_eq!(server.get("").json()["plan"], "main");
    assert_eq!(server.get("/plans/other/board").problem(), (404, "unknown_plan".into()));
    assert_eq!(server.post("/plans/other/ops", &json!({"ops": [{"op": "add", "content": "x"}]})).status, 404);
}

#[test]
fn reads_show_what_was_written() {
    let server = Server::start();
    let added = server.ops(json!([
        {"op": "add", "content": "Build", "phase": "One", "description": "See **this** <b>x</b>\n\n- a\n- b"},
        {"op": "add", "content": "Test", "dependsOn": ["T-1"], "priority": 1, "labels": ["qa"]},
        {"op": "add", "content": "Ship", "dependsOn": ["T-2"], "estimatedTokens": 5000},
    ]));
    assert_eq!(added["added"], json!(["T-1", "T-2", "T-3"]));
    let board = server.get("/plans/main/board").json();
    let row = |id: &str| board["rows"].as_array().unwrap().iter().find(|row| row["id"] == id).unwrap().clone();
    assert_eq!(row("T-1")["status"], "ready");
    assert_eq!((row("T-2")["status"].as_str(), row("T-2")["needs"].clone()), (Some("waiting"), json!(["T-1"])));
    assert_eq!((row("T-1")["dependents"].as_u64(), row("T-2")["priority"].as_u64()), (Some(1), Some(1)));
    assert_eq!(row("T-1")["phase"], board["phases"][0]["uid"]);
    assert_eq!(board["progress"], json!({"completed": 0, "total": 3, "percent": 0}));

    let found = server.get("/plans/main/todos?f=is:ready").json();
    assert_eq!(found["rows"].as_array().unwrap().len(), 1);
    let uids = server.get("/plans/main/todos?form=uids&limit=1").json();
    assert_eq!(uids["uids"].as_array().unwrap().len(), 3);
    let page = server.get("/plans/main/todos?limit=2").json();
    let rest = server.get(&format!("/plans/main/todos?limit=2&after={}", page["next"])).json();
    assert_eq!((rest["rows"][0]["id"].as_str(), &rest["next"]), (Some("T-3"), &Value::Null));
    assert_eq!(server.get("/plans/main/todos?f=is:nonsense").status, 422);

    let todo = server.get("/plans/main/todos/T-1").json();
    assert_eq!(todo["todo"]["blocks"], json!(["T-2"]));
    assert_eq!(todo["markdown"]["description"][0]["type"], "paragraph");
    assert_eq!(todo["markdown"]["description"][1]["items"].as_array().unwrap().len(), 2);
    assert!(!todo["markdown"].to_string().contains("\"html\""));
    let why = server.get("/plans/main/todos/T-3/why").json();
    assert_eq!(why["waitsFor"][0]["id"], "T-2");
    assert_eq!(server.get("/plans/main/todos/T-9").problem(), (404, "unknown_todo".into()));
    for (path, code) in [("diff", "no_worktree"), ("log", "no_log")] {
        assert_eq!(server.get(&format!("/plans/main/todos/T-1/{path}")).problem(), (404, code.into()));
    }
    let graph = server.get("/plans/main/graph").json();
    assert_eq!(graph["edges"].as_array().unwrap().len(), 2);
    assert!(graph["nodes"].as_array().unwrap().iter().all(|node| node["critical"] == true));
    let near = server.get("/plans/main/graph?around=T-3&depth=1").json();
    assert_eq!(near["nodes"].as_array().unwrap().len(), 2);
    assert_eq!(server.get("/plans/main/schedule?agents=2").json()["slots"].as_array().unwrap().len(), 3);

    server.ops(json!([{"op": "edit", "id": "T-1", "priority": 2}]));
    let history = server.get("/plans/main/todos/T-1/history").json();
    assert_eq!(history["entries"][0]["detail"], json!(["priority: 3 → 2"]));
    let old = server.get("/plans/main/at/1").json();
    assert_eq!(old["rows"][0].get("priority"), None);
    assert_eq!(server.get("/plans/main/at/99").problem(), (404, "unknown_revision".into()));
    let undone = server.post("/plans/main/undo", &json!({})).json();
    assert_eq!(undone["undid"], 2);
    assert_eq!(server.get("/plans/main/history?limit=1").json()["next"], 3);
    assert_eq!(server.get("/plans/main/runs").json()["runs"], json!([]));
    assert_eq!(server.get("/plans/main/runs/1").problem(), (404, "unknown_run".into()));
    assert_eq!(server.get("/plans/main/checkpoints").json()["checkpoints"], json!([]));
    assert_eq!(
        server.post("/plans/main/runs/1/control", &json!({"wanted": "stop"})).problem(),
        (404, "unknown_run".into())
    );
    assert_eq!(server.post("/plans/main/seen", &json!({"revision": 2})).json()["seen"], 2);
    assert_eq!(server.get("/plans/main/board").json()["seen"], 2);
}

#[test]
fn a_todo_names_the_command_of_the_inbox_that_approves_its_check() {
    let server = Server::with(Options { approvals: true, ..Options::default() });
    let add = json!([{"op": "add", "content": "Build", "verifyCommand": "make check"}]);
    server.ops(add.clone());
    engine(&server.database(), false).unwrap().create_plan("side").unwrap();
    assert_eq!(server.post("/plans/side/ops", &json!({"ops": add})).status, 200);
    for (plan, command) in [("main", "punch verify --allow T-1"), ("side", "punch verify --allow T-1 --plan side")] {
        let check = server.get(&format!("/plans/{plan}/todos/T-1")).json()["check"].clone();
        assert_eq!(check, json!({"command": "make check", "approved": false, "approve": command}));
        let inbox = server.get(&format!("/plans/{plan}/inbox")).json();
        assert_eq!((&inbox["items"][0]["kind"], &inbox["items"][0]["action"]), (&json!("approval"), &json!(command)));
    }
}

#[test]
fn a_write_takes_effect_once_under_its_key_and_only_at_its_revision() {
    let server = Server::start();
    let body = json!({"ops": [{"op": "add", "content": "Once"}], "key": "k1"});
    let first = server.post("/plans/main/ops", &body).json();
    assert_eq!(server.post("/plans/main/ops", &body).json(), first);
    assert_eq!(server.get("/plans/main/board").json()["rows"].as_array().unwrap().len(), 1);
    let late = json!({"ops": [{"op": "start", "id": "T-1"}], "ifRevision": 0});
    let refused = server.post("/plans/main/ops", &late);
    assert_eq!(refused.problem(), (409, "conflict".into()));
    let rehearsed = server.post("/plans/main/rehearse", &json!({"ops": [{"op": "start", "id": "T-1"}]})).json();
    assert_eq!(rehearsed["rows"][0]["status"], "in_progress");
    assert_eq!(server.get("/plans/main/board").json()["rows"][0]["status"], "ready", "nothing was written");
}

#[test]
fn a_key_of_one_caller_says_nothing_about_the_writes_of_another() {
    let server = Server::start();
    let file = punch_web::TokenFile::in_folder(server.folder.path());
    let owner = |name: &str| {
        let new = punch_web::NewToken { name: name.into(), role: punch_web::TokenRole::Owner, expires_at: None };
        file.add(&new, crate::client::clock()).unwrap()
    };
    let login = |token: &str| {
        let session = server.post_as("none", "/session", &json!({"token": token})).json();
        session["token"].as_str().unwrap().to_owned()
    };
    let write = |token: &str| {
        let body = json!({"ops": [{"op": "add", "content": "Mine"}], "key": "1"});
        server.post_as(token, "/plans/main/ops", &body).json()["revision"].as_u64().unwrap()
    };
    let phone = owner("phone");
    let callers = [server.token.clone(), login(&server.link()), login(&server.link()), phone.clone(), owner("desk")];
    for caller in &callers {
        let revision = write(caller);
        assert_eq!(write(caller), revision, "sent again");
    }
    assert_eq!(server.get("/plans/main/board").json()["rows"].as_array().unwrap().len(), callers.len());
    assert_eq!(write(&login(&phone)), 4, "every session of a token is the same caller");
}

#[test]
fn an_unchanged_plan_is_not_sent_again() {
    let server = Server::start();
    server.ops(json!([{"op": "add", "content": "x"}]));
    let first = server.get("/plans/main/board");
    let tag = first.header("etag").unwrap();
    assert!(tag.starts_with("\"r1."), "{tag}");
    let bearer = format!("Bearer {}", server.token);
    let again = |tag: &str| {
        let headers = [("Host", server.host()), ("Authorization", bearer.clone()), ("If-None-Match", tag.to_owned())];
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        server.raw("GET", "/api/v1/plans/main/board", &headers, "")
    };
    assert_eq!((again(&tag).status, again(&tag).body.as_str()), (304, ""));
    server.ops(json!([{"op": "start", "id": "T-1"}]));
    assert_eq!(again(&tag).status, 200);
    let tag = server.get("/plans/main/board").header("etag").unwrap();
    server.post("/plans/main/seen", &json!({"revision": 1}));
    assert_eq!(again(&tag).status, 200, "what is beside the todos counts, too");
    let tag = |path: &str| server.get(&format!("/plans/main/{path}")).header("etag");
    for path in ["history", "at/1", "todos/T-1/history"] {
        assert_eq!(tag(path).as_deref(), Some("\"r2\""), "only the revision decides what {path} answers");
    }
    assert_eq!(tag("todos/T-1"), None, "its worktree changes without the plan");
}

#[test]
fn hostile_text_stays_text() {
    let server = Server::with(Options { settings: vec![("limits.long", "20000")], ..Options::default() });
    let word = "w".repeat(10_000);
    let hostile = [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "\u{202e}gpj.exe",
        "\u{1b}[31mred\u{1b}[0m",
        "[x](javascript:alert(1))",
        "![x](data:text/html,<script>1</script>)",
        "[a](vbscript:x) <a href='x'>y</a>",
        "\"'`${}</textarea>",
    ];
    let ops: Vec<Value> = hostile
        .iter()
        .map(|text| {
            json!({"op": "add", "content": text, "description": format!("{text}\n\n{word}\n\n<div>\n{text}\n</div>"), "phase": "<b>"})
        })
        .collect();
    server.ops(json!(ops));
    for n in 1..=hostile.len() {
        let id = format!("T-{n}");
        let note = json!([{"op": "note", "id": id, "text": hostile[n - 1]}]);
        server.ops(note);
        let answer = server.get(&format!("/plans/main/todos/{id}"));
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("content-type").as_deref(), Some("application/json"));
        let todo = answer.json();
        for shown in [todo["markdown"].to_string(), todo["row"].to_string()] {
            assert!(!shown.contains('\u{202e}') && !shown.contains('\u{1b}') && !shown.contains("\\u001b"), "{shown}");
            for scheme in ["\"href\":\"javascript", "\"href\":\"data", "\"href\":\"vbscript"] {
                assert!(!shown.contains(scheme), "{shown}");
            }
        }
    }
    let deep = format!("{}x", "> ".repeat(2_000));
    server.ops(json!([{"op": "edit", "id": "T-1", "description": deep}]));
    assert_eq!(server.get("/plans/main/todos/T-1").status, 200);
}

#[test]
fn plans_of_every_size_are_answered() {
    let server = Server::start();
    server.ops(json!([{"op": "add", "content": "one"}]));
    server.ops(json!([{"op": "rm", "id": "T-1"}]));
    let board = server.get("/plans/main/board").json();
    assert_eq!((board["rows"].clone(), board["progress"]["percent"].as_u64()), (json!([]), Some(0)));
    for _ in 0..10 {
        let ops: Vec<Value> = (0..1_000).map(|n| json!({"op": "add", "content": format!("todo {n}")})).collect();
        server.ops(json!(ops));
    }
    let board = server.get("/plans/main/board").json();
    assert_eq!(board["rows"].as_array().unwrap().len(), 10_000);
    for path in ["todos?f=is:ready", "graph", "schedule", "inbox", "history"] {
        assert_eq!(server.get(&format!("/plans/main/{path}")).status, 200, "{path}");
    }
}

#[test]
fn a_store_that_goes_away_is_noticed_and_found_again() {
    let server = Server::start();
    server.ops(json!([{"op": "add", "content": "x"}]));
    let mut stream = server.stream(Some(1));
    assert_eq!(stream.next().unwrap().0, "hello");
    let (folder, away) = (server.folder.path().join("store"), server.folder.path().join("away"));
    std::fs::rename(&folder, &away).unwrap();
    // The file is still open, and must not be taken for the store.
    let write = || server.post("/plans/main/ops", &json!({"ops": [{"op": "start", "id": "T-1"}]}));
    for _ in 0..2 {
        assert_eq!(server.get("/plans/main/board").status, 503);
        assert_eq!(write().status, 503, "no other store is made in its place");
    }
    assert!(std::iter::from_fn(|| stream.next()).all(|(_, data)| data["revision"] != 2), "the stream ends");
    assert!(!folder.exists());
    std::fs::rename(&away, &folder).unwrap();
    assert_eq!(server.get("/plans/main/board").json()["revision"], 1);
    let mut stream = server.stream(Some(1));
    assert_eq!(write().status, 200);
    let is_new = |(event, data): (String, Value)| event == "change" && data["revision"] == 2;
    assert!(std::iter::from_fn(|| stream.next()).any(is_new), "streams follow it again");
}

#[test]
fn a_store_that_others_keep_locked_is_busy_and_can_still_be_read() {
    let server = Server::with(Options { wait: Some(std::time::Duration::from_millis(10)), ..Options::default() });
    server.ops(json!([{"op": "add", "content": "x"}]));
    let lock = std::fs::File::options().write(true).open(server.database().with_extension("lock")).unwrap();
    lock.lock().unwrap();
    let write = || server.post("/plans/main/ops", &json!({"ops": [{"op": "start", "id": "T-1"}]}));
    let refused = write();
    assert_eq!(refused.problem(), (503, "store_busy".into()));
    assert_eq!((refused.header("retry-after").as_deref(), &refused.json()["retryAfter"]), (Some("1"), &json!(1)));
    assert_eq!(server.get("/plans/main/board").json()["revision"], 1, "readers do not wait for writers");
    lock.unlock().unwrap();
    assert_eq!(write().status, 200);
}

#[test]
fn a_report_is_one_page_without_script() {
    let server = Server::start();
    let hostile = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'";
    server.ops(json!([
        {"op": "add", "content": hostile, "phase": hostile, "description": format!("{hostile}\n\n[x](javascript:alert(1)) [y](https://example.com/\"x) `{hostile}`\n\n| a |\n|---|\n| {hostile} |")},
        {"op": "add", "content": "B", "dependsOn": ["T-1"]},
    ]));
    let engine = engine(&server.database(), false).unwrap();
    let id = engine.named_plan("main").unwrap().id;
    let plan = engine.whole(id).unwrap();
    let history = engine.history(id, 10).unwrap();
    let story =
        |entry: &punch_engine::RevisionEntry| entry.row(&plan, &punch_core::view::RevisionStory::of(&entry.events));
    let history: Vec<_> = history.iter().map(story).collect();
    let html = punch_web::report::PlanReport { name: hostile, plan: &plan, history: &history, now: 0 }.html();
    let allowed = [
        "!doctype", "html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "progress", "ul", "li", "span",
        "b", "small", "details", "summary", "a", "code", "table", "tr", "td", "th", "div", "svg", "path", "g", "rect",
        "text",
    ];
    for tag in html.split('<').skip(1) {
        let name: String =
            tag.trim_start_matches('/').chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '!').collect();
        assert!(allowed.contains(&name.as_str()), "<{tag}");
        assert!(!tag.split('>').next().unwrap().contains("onerror"), "<{tag}");
    }
    assert!(!html.contains("href=\"javascript"));
    assert!(html.contains("<svg") && html.contains("<h2>History</h2>"));
}

#[test]
fn sessions_of_the_plan_are_shown_and_controlled() {
    let server = Server::start();
    server.ops(json!([{"op": "add", "content": "a"}]));
    let engine = engine(&server.database(), false).unwrap();
    engine.create_plan("side").unwrap();
    let plan = engine.named_plan("main").unwrap().id;
    let key = punch_store::SessionKey::new("s-1", None);
    engine.assign(plan, &key, &[punch_core::Uid(1)]).unwrap();
    engine.switch(plan, Some(&key), Switch::Paused, &punch_core::Actor::user()).unwrap();
    let sessions = |plan: &str| server.get(&format!("/plans/{plan}/board")).json()["sessions"].clone();
    assert_eq!((&sessions("main")[0]["session"], &sessions("main")[0]["switch"]), (&json!("s-1"), &json!("paused")));
    assert_eq!(sessions("side"), json!([]), "it works on another plan");
    let file = punch_web::TokenFile::in_folder(server.folder.path());
    let token = |name: &str, role| {
        let new = punch_web::NewToken { name: name.into(), role, expires_at: None };
        let made = file.add(&new, crate::client::clock()).unwrap();
        server.post_as("none", "/session", &json!({"token": made})).json()["token"].as_str().unwrap().to_owned()
    };
    let control = |token: &str, plan: &str, id: &str, wanted: &str| {
        server.post_as(token, &format!("/plans/{plan}/sessions/{id}/control"), &json!({"wanted": wanted}))
    };
    let (phone, wall) = (token("phone", punch_web::TokenRole::Owner), token("wall", punch_web::TokenRole::Reader));
    assert_eq!(control(&wall, "main", "s-1", "off").status, 403);
    assert_eq!(control(&phone, "main", "s-1", "stop").problem(), (400, "bad_request".into()));
    assert_eq!(control(&phone, "main", "s-2", "off").problem(), (404, "unknown_session".into()));
    assert_eq!(control(&phone, "side", "s-1", "off").problem(), (404, "unknown_session".into()));
    assert_eq!(sessions("main")[0]["switch"], "paused", "nothing has changed");
    assert_eq!(control(&phone, "main", "s-1", "off").json()["switch"], "off");
    assert_eq!(sessions("main")[0]["switch"], "off");
    assert_eq!(control(&phone, "main", "s-1", "resume").json()["switch"], "on");
    let last = engine.activity(plan, 0, 100).unwrap().records.pop().unwrap();
    assert!(matches!(last.kind, ActivityKind::Control { by, .. } if by == "phone"), "the token signs it");
}
