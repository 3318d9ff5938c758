//! Stores with changed bytes: opening, reading and checking one ends in an answer or an error, never in a panic.

use std::fs;
use std::sync::OnceLock;

use punch_store::{OpenMode, open_file};
use punch_testkit::source::ByteSource;
use punchlist::{Options, Session, View};
use serde_json::json;

/// The bytes say which bytes of a good store are changed.
pub fn store(bytes: &[u8]) {
    let mut image = good_store().to_vec();
    let mut choices = ByteSource::new(bytes);
    while !choices.is_empty() {
        let page = choices.below(256) * 4096 % image.len();
        let at = (page + choices.below(16) * 256 + choices.below(256)) % image.len();
        match choices.below(4) {
            0 => image[at] ^= 1 << choices.below(8),
            1 => image[at] = choices.byte(),
            2 => {
                let end = (at + 1 + choices.below(256)).min(image.len());
                image[at..end].fill(choices.byte());
            }
            _ if choices.one_in(4) => image.truncate(at.max(1)),
            _ => image[at] = 0,
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store.db");
    fs::write(&path, &image).expect("a file");
    if let Ok(store) = open_file(&path, OpenMode::Existing, None) {
        let _ = (store.info(), store.check());
    }
    let Ok(session) = Session::open(&path, Options::new("fuzz").shared("main")) else { return };
    for view in [View::Checklist, View::Tree] {
        let _ = session.view(view);
    }
    let _ = session.call("todo_read", &json!({}));
    let _ = session
        .call("todo_write", &json!({"ops": [{"op": "add", "content": "one more"}, {"op": "done", "id": "T-1"}]}));
}

/// A store with a plan, its history and a session.
fn good_store() -> &'static [u8] {
    static GOOD: OnceLock<Vec<u8>> = OnceLock::new();
    GOOD.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("store.db");
        {
            let session = Session::open(&path, Options::new("fuzz").shared("main")).expect("a store");
            let add = |n: u32| json!({"op": "add", "content": format!("step {n}"), "dependsOn": if n > 1 { vec![format!("T-{}", n - 1)] } else { vec![] }});
            for chunk in [1..=20, 21..=40] {
                let ops: Vec<_> = chunk.map(add).collect();
                session.call("todo_write", &json!({"ops": ops})).expect("a plan");
            }
            session.call("todo_write", &json!({"ops": [{"op": "start", "id": "T-1"}, {"op": "note", "id": "T-1", "text": "a note"}]})).expect("work");
        }
        fs::read(&path).expect("the store")
    })
}
