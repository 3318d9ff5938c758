//! Columns and edges repeat what the bodies say, after any writes.

use punch_store::StoreAdmin;

use crate::contract::random::{follow, for_any_calls};
use crate::create;

#[test]
fn columns_and_edges_follow_every_write() {
    for_any_calls(24, |calls| {
        let folder = tempfile::tempdir().unwrap();
        let store = create(&folder.path().join("store.db"));
        follow(&store, calls);
        assert_eq!(store.check().unwrap(), [""; 0]);
    });
}
