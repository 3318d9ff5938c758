//! Browsers that read slowly, or not at all, or have gone.

use serde_json::json;

use crate::client::Server;

/// Todos whose rows change together; with their texts a change has about 100 KB.
const WAITING: usize = 200;
/// More changes than a stream buffers: 64 frames, and what the sockets hold.
const CHANGES: u64 = 120;

fn with_many_dependents() -> Server {
    let server = Server::start();
    server.ops(json!([{"op": "add", "content": "root"}]));
    let add = |n: usize| json!({"op": "add", "content": format!("{n} {}", "x".repeat(400)), "dependsOn": ["T-1"]});
    server.ops((0..WAITING).map(add).collect());
    server
}

#[test]
fn a_browser_that_does_not_read_holds_up_nobody_and_then_gets_the_sum_of_what_it_missed() {
    let server = with_many_dependents();
    let start = server.get("/plans/main/board").json()["revision"].as_u64().unwrap();
    let mut slow = server.stream(Some(start));
    assert_eq!(slow.next().unwrap().0, "hello");
    for n in 0..CHANGES {
        let op = if n % 2 == 0 {
            json!({"op": "done", "id": "T-1", "evidence": "x"})
        } else {
            json!({"op": "reopen", "id": "T-1"})
        };
        assert_eq!(server.ops(json!([op]))["revision"].as_u64(), Some(start + n + 1), "writers do not wait for it");
    }
    let end = start + CHANGES;
    let (mut at, mut changes) = (start, 0);
    while at < end {
        match slow.next() {
            Some((event, data)) if event == "change" && data["revision"] != data["from"] => {
                assert_eq!(data["from"].as_u64(), Some(at), "no gap");
                at = data["revision"].as_u64().unwrap();
                changes += 1;
            }
            Some(_) => {}
            // A client that takes nothing for long is cut off. It comes back with the revision that it has.
            None => slow = server.stream(Some(at)),
        }
    }
    assert!(changes < CHANGES, "what did not fit came as a sum: {changes}");
}

#[test]
fn streams_of_browsers_that_have_gone_give_their_place_back() {
    let server = Server::start();
    server.ops(json!([{"op": "add", "content": "A"}]));
    let open = || {
        let mut streams: Vec<_> = (0..128).map(|_| server.stream(None)).collect();
        streams.iter_mut().all(|stream| stream.next().is_some_and(|(event, _)| event == "hello"))
    };
    assert!(open(), "all places are free, and then every browser goes");
    // The server notices when it reads the end of each connection, or writes to it.
    let again = (0..500).any(|n| {
        server.ops(json!([{"op": "note", "id": "T-1", "text": format!("{n}")}]));
        open()
    });
    assert!(again, "all 128 places are free again");
}
