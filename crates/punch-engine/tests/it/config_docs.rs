//! The checked-in reference is the one the table gives.

use std::{fs, path::Path};

use punch_engine::config::docs;

/// After a change of the table: `UPDATE_DOCS=1 cargo test -p punch-engine config_docs`.
#[test]
fn the_reference_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/config.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, docs()).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    assert_eq!(written, docs(), "run the test with UPDATE_DOCS=1");
}
