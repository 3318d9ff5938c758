//! Eight servers on one plan: nothing is lost, nothing happens twice.

use std::collections::BTreeSet;
use std::thread;

use serde_json::json;

use super::client::{Client, project, revision};

const SERVERS: usize = 8;
const CALLS: usize = 125;

#[test]
fn a_thousand_mixed_calls_of_eight_servers_leave_every_change_and_no_gap() {
    let folder = project();
    Client::ready(folder.path(), &[])
        .call("todo_write", json!({"ops": [{"op": "add", "id": "seed", "content": "seed"}]}));
    let path = folder.path();
    let done: Vec<Vec<u64>> = thread::scope(|scope| {
        let work = |server: usize| scope.spawn(move || one(path, server));
        let started: Vec<_> = (0..SERVERS).map(work).collect();
        started.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let revisions: Vec<u64> = done.into_iter().flatten().collect();
    let distinct: BTreeSet<u64> = revisions.iter().copied().collect();
    assert_eq!(distinct.len(), revisions.len(), "a revision was given twice");
    let last = 1 + u64::try_from(revisions.len()).unwrap();
    assert_eq!(distinct, (2..=last).collect(), "there are gaps");
    let mut reader = Client::ready(folder.path(), &[]);
    let mut listed = String::new();
    for offset in (0..2_000).step_by(100) {
        listed.push_str(&reader.call("todo_read", json!({"all": true, "limit": 100, "offset": offset})));
    }
    for server in 0..SERVERS {
        for call in (0..CALLS).filter(|call| call % 5 != 4) {
            assert!(listed.contains(&format!("{server}-{call}.")), "todo {server}-{call} is lost");
        }
    }
}

/// The revisions that one server got for its changes.
fn one(folder: &std::path::Path, server: usize) -> Vec<u64> {
    let dialect = ["native", "cursor", "native", "extended"][server % 4];
    let mut client = Client::ready(folder, &["--dialect", dialect]);
    let mut revisions = Vec::new();
    for call in 0..CALLS {
        let (id, content) = (format!("{server}-{call}"), format!("{server}-{call}."));
        let arguments = match (dialect, call % 5) {
            ("cursor", 4) => json!({"merge": true, "todos": [{"id": format!("{server}-0"), "status": "cancelled"}]}),
            (_, 4) => {
                client.call("todo_read", json!({"view": "next"}));
                continue;
            }
            ("native", _) => json!({"ops": [{"op": "add", "id": id, "content": content}]}),
            ("cursor", _) => json!({"merge": true, "todos": [{"id": id, "content": content}]}),
            (_, _) => json!({"mode": "patch", "todos": [{"id": id, "title": content}]}),
        };
        let text = client.call("todo_write", arguments);
        assert!(!text.starts_with("Error"), "{text}");
        // Cancelling what is cancelled changes nothing and makes no revision.
        if call % 5 != 4 || call == 4 {
            revisions.push(revision(&text));
        }
    }
    assert_eq!(client.end().1, Some(0));
    revisions
}
