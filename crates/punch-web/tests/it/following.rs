//! The stream: after random cuts and with many writers, what a client has equals the store.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use punch_core::reason::PlanReader;
use punch_core::view::BoardRow;
use punch_core::{Op, Ref};
use punch_engine::WriteRequest;
use serde_json::{Value, json};

use crate::client::{Server, clock, engine};

/// Rows as a page keeps them.
#[derive(Default)]
struct Page {
    revision: u64,
    rows: BTreeMap<u64, Value>,
}

impl Page {
    fn read(server: &Server) -> Self {
        let board = server.get("/plans/main/board").json();
        let rows = board["rows"].as_array().unwrap().iter();
        Self {
            revision: board["revision"].as_u64().unwrap(),
            rows: rows.map(|row| (row["uid"].as_u64().unwrap(), row.clone())).collect(),
        }
    }

    /// Applies an event; false if the board has to be read again.
    fn apply(&mut self, event: &str, data: &Value) -> bool {
        match event {
            "change" => {
                if data["from"].as_u64() != Some(self.revision) {
                    return false;
                }
                self.revision = data["revision"].as_u64().unwrap();
                for row in data["rows"].as_array().unwrap() {
                    self.rows.insert(row["uid"].as_u64().unwrap(), row.clone());
                }
                for uid in data["gone"].as_array().unwrap() {
                    self.rows.remove(&uid.as_u64().unwrap());
                }
                true
            }
            "reset" => false,
            _ => true,
        }
    }
}

#[test]
fn after_random_cuts_the_picture_equals_the_store() {
    const WRITERS: usize = 8;
    const WRITES: usize = 30;
    let server = Server::start();
    server.ops(json!([{"op": "add", "content": "first"}]));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (server, done) = (&server, &done);
        let writers: Vec<_> = (0..WRITERS)
            .map(|n| {
                scope.spawn(move || {
                    // Half of them write beside the server, as other processes do.
                    let own = (n % 2 == 0).then(|| engine(&server.database(), true).unwrap());
                    for k in 0..WRITES {
                        let content = format!("{n}/{k}");
                        match &own {
                            None => {
                                let added =
                                    server.ops(json!([{"op": "add", "content": content, "dependsOn": ["T-1"]}]));
                                let id = added["added"][0].clone();
                                if k % 3 == 0 {
                                    server.ops(json!([{"op": "rm", "id": id}]));
                                }
                            }
                            Some(engine) => {
                                let plan = engine.named_plan("main").unwrap().id;
                                let add = punch_core::Add {
                                    edit: punch_core::Edit {
                                        content: punch_core::Keep::Set(content),
                                        depends_on: punch_core::Keep::Set(vec![Ref::Id("T-1".into())]),
                                        ..Default::default()
                                    },
                                    ..Default::default()
                                };
                                let request = WriteRequest::by("user", None);
                                engine.submit(plan, &request, &[Op::Add(add)]).unwrap();
                            }
                        }
                    }
                })
            })
            .collect();
        let followers: Vec<_> = (0..4_usize)
            .map(|n| {
                scope.spawn(move || {
                    let mut page = Page::read(server);
                    let mut seed = 17 + n as u64;
                    loop {
                        // A quiet stream is cut, too.
                        let mut stream = server.stream(Some(page.revision)).impatient();
                        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        let events = seed >> 61;
                        let mut broken = false;
                        for _ in 0..events + 2 {
                            let Some((event, data)) = stream.next() else { break };
                            if !page.apply(&event, &data) {
                                broken = true;
                                break;
                            }
                        }
                        if broken {
                            page = Page::read(server);
                        }
                        if done.load(Ordering::Acquire) {
                            let end = server.get("/plans/main/board").json()["revision"].as_u64().unwrap();
                            if page.revision == end {
                                return page;
                            }
                        }
                    }
                })
            })
            .collect();
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        // A last write that everyone is sent.
        server.ops(json!([{"op": "start", "id": "T-1"}]));
        done.store(true, Ordering::Release);
        let expected = Page::read(server);
        let engine = engine(&server.database(), false).unwrap();
        let plan = engine.whole(engine.named_plan("main").unwrap().id).unwrap();
        let rows = BoardRow::all(PlanReader::new(&plan, clock()));
        let fresh: BTreeMap<u64, Value> = rows.iter().map(|row| (row.uid.0, json!(row))).collect();
        assert_eq!(expected.rows, fresh, "rows that are kept up to date equal rows that are made anew");
        for follower in followers {
            let page = follower.join().unwrap();
            assert_eq!(page.rows.len(), expected.rows.len());
            assert_eq!(page.rows, expected.rows);
        }
    });
}

#[test]
fn a_stream_says_hello_sends_rows_of_dependents_and_what_was_missed() {
    let server = Server::start();
    server.ops(json!([{"op": "add", "content": "A"}, {"op": "add", "content": "B", "dependsOn": ["T-1"]}]));
    let mut page = Page::read(&server);
    let mut stream = server.stream(Some(page.revision));
    let (event, hello) = stream.next().unwrap();
    assert_eq!((event.as_str(), hello["revision"].as_u64()), ("hello", Some(1)));
    // What time may have changed at this revision comes first.
    assert!(std::iter::from_fn(|| stream.next()).any(|(event, _)| event == "activity"));
    server.ops(json!([{"op": "done", "id": "T-1", "evidence": "looked at it"}]));
    let change = loop {
        let (event, data) = stream.next().unwrap();
        if event == "change" {
            break data;
        }
    };
    assert_eq!((change["from"].as_u64(), change["revision"].as_u64()), (Some(1), Some(2)));
    let ids: Vec<&str> = change["rows"].as_array().unwrap().iter().filter_map(|row| row["id"].as_str()).collect();
    assert_eq!(ids, ["T-1", "T-2"], "the dependent looks different, too");
    assert!(change["history"][0]["changes"].as_str().unwrap().contains("T-1 completed"), "{change}");
    drop(stream);
    server.ops(json!([{"op": "start", "id": "T-2"}]));
    server.ops(json!([{"op": "note", "id": "T-2", "text": "n"}]));
    let mut again = server.stream(Some(1));
    assert_eq!(again.next().unwrap().0, "hello");
    let (event, missed) = again.next().unwrap();
    assert_eq!((event.as_str(), missed["from"].as_u64(), missed["revision"].as_u64()), ("change", Some(1), Some(4)));
    assert!(page.apply(&event, &missed));
    assert_eq!(page.rows, Page::read(&server).rows);
    let mut ahead = server.stream(Some(99));
    assert_eq!(ahead.next().unwrap().0, "hello");
    assert_eq!(ahead.next().unwrap().0, "reset");
}

#[test]
fn a_stream_ends_with_its_session_or_token_and_is_sent_nothing_more() {
    let server = Server::start();
    server.ops(json!([{"op": "add", "content": "A"}]));
    let file = punch_web::TokenFile::in_folder(server.folder.path());
    let new = punch_web::NewToken { name: "wall".into(), role: punch_web::TokenRole::Reader, expires_at: None };
    let token = file.add(&new, clock()).unwrap();
    let login = |secret: &str| {
        let session = server.post_as("none", "/session", &json!({"token": secret})).json();
        session["token"].as_str().unwrap().to_owned()
    };
    let (by_token, by_link) = (login(&token), login(&server.link()));
    let mut ended: Vec<_> = [&token, &by_token, &by_link].map(|token| server.stream_as(token, Some(1))).into();
    let mut remains = server.stream(Some(1));
    for stream in ended.iter_mut().chain([&mut remains]) {
        assert_eq!(stream.next().unwrap().0, "hello");
    }
    file.revoke("wall").unwrap();
    let left = [("Host", server.host()), ("Authorization", format!("Bearer {by_link}"))];
    let left: Vec<(&str, &str)> = left.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(server.raw("DELETE", "/api/v1/session", &left, "").status, 200);
    server.ops(json!([{"op": "start", "id": "T-1"}]));
    let is_new = |(event, data): (String, Value)| event == "change" && data["revision"] == 2;
    for mut stream in ended {
        assert!(!std::iter::from_fn(|| stream.next()).any(is_new), "it ends, and the change does not reach it");
    }
    assert!(std::iter::from_fn(|| remains.next()).any(is_new));
}

#[test]
fn at_most_128_streams_are_open() {
    let server = Server::start();
    server.ops(json!([{"op": "add", "content": "A"}]));
    let mut streams: Vec<_> = (0..128).map(|_| server.stream(Some(1))).collect();
    assert!(streams.iter_mut().all(|stream| stream.next().is_some_and(|(event, _)| event == "hello")));
    assert_eq!(server.get("/plans/main/events").problem(), (503, "too_many_streams".into()));
    assert_eq!(server.get("/plans/main/board").status, 200, "requests have room");
    server.ops(json!([{"op": "start", "id": "T-1"}]));
    for stream in &mut streams {
        let is_new = |(event, data): &(String, Value)| event == "change" && data["revision"] == 2;
        assert!(std::iter::from_fn(|| stream.next()).any(|event| is_new(&event)));
    }
}
