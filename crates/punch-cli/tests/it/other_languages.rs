//! The programs on the page about hosts in other languages run as they stand there.

use std::io::ErrorKind;
use std::path::Path;
use std::{env, fs};

use crate::world::{PUNCH, World, finished};

/// The programs of the page, with the names under which it saves them.
const PROGRAMS: [(&str, &str); 2] = [
    ("todo_tools.py", "in_progress Write the parser\nready Write the docs\n"),
    ("agent_loop.py", "continued\nstopped\n"),
];

#[test]
fn the_programs_in_python_run_as_they_stand_on_their_page() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/embedding/other-languages.md");
    let page = fs::read_to_string(page).unwrap();
    let programs: Vec<&str> = page.split("```python\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(programs.len(), PROGRAMS.len());
    let folders = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&folders).collect::<Vec<_>>();
    let own = Path::new(PUNCH).parent().unwrap().to_owned();
    let path = env::join_paths([own].into_iter().chain(folders)).unwrap();
    let saved = tempfile::tempdir().unwrap();
    for ((name, printed), program) in PROGRAMS.iter().zip(programs) {
        let file = saved.path().join(name);
        fs::write(&file, program).unwrap();
        let world = World::new();
        let done = match world.program("python3").arg(&file).env("PATH", &path).output() {
            Err(error) if error.kind() == ErrorKind::NotFound && env::var_os("CI").is_none() => {
                eprintln!("SKIPPED: python3 is not installed");
                return;
            }
            done => finished(done.unwrap()),
        };
        assert_eq!(done.exit, Some(0), "{name}: {}", done.render());
        assert_eq!(done.stdout, *printed, "{name}");
    }
}
