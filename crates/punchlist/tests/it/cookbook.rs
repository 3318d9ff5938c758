//! The programs of the cookbook run, and the pages in `docs/embedding` show exactly them.

use std::fs;
use std::path::Path;

#[path = "../../examples/failing.rs"]
mod failing;
#[path = "../../examples/panel.rs"]
mod panel;
#[path = "../../examples/permission.rs"]
mod permission;
#[path = "../../examples/resume.rs"]
mod resume;
#[path = "../../examples/scheduler.rs"]
mod scheduler;
#[cfg(feature = "async")]
#[path = "../../examples/tokio_loop.rs"]
mod tokio_loop;

#[test]
fn every_program_runs() {
    permission::main().unwrap();
    failing::main().unwrap();
    scheduler::main().unwrap();
    resume::main().unwrap();
    panel::main().unwrap();
    #[cfg(feature = "async")]
    tokio_loop::main().unwrap();
}

#[test]
fn every_page_shows_its_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let update = std::env::var_os("UPDATE_DOCS").is_some();
    for (page, program) in [
        ("tokio.md", "tokio_loop.rs"),
        ("permissions.md", "permission.rs"),
        ("failing.md", "failing.rs"),
        ("scheduler.md", "scheduler.rs"),
        ("resume.md", "resume.rs"),
        ("panel.md", "panel.rs"),
        ("rig.md", "../../../examples/frameworks/src/rig.rs"),
        ("swiftide.md", "../../../examples/frameworks/src/swiftide.rs"),
    ] {
        let code = fs::read_to_string(root.join("examples").join(program)).unwrap();
        let page = root.join("../../docs/embedding").join(page);
        let text = fs::read_to_string(&page).unwrap();
        let (head, rest) = text.split_once("```rust\n").unwrap();
        let (shown, tail) = rest.split_once("```").unwrap();
        if update {
            fs::write(&page, format!("{head}```rust\n{code}```{tail}")).unwrap();
        } else {
            assert_eq!(shown, code, "{} is not {program}; UPDATE_DOCS=1 updates it", page.display());
        }
    }
}
