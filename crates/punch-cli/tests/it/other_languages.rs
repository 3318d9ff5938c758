//! The program on the page about hosts in other languages runs as it stands there.

use std::io::ErrorKind;
use std::path::Path;
use std::{env, fs};

use crate::world::{PUNCH, World, finished};

#[test]
fn the_program_in_python_runs_as_it_stands_on_its_page() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/embedding/other-languages.md");
    let page = fs::read_to_string(page).unwrap();
    let program = page.split("```python\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let folders = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&folders).collect::<Vec<_>>();
    let own = Path::new(PUNCH).parent().unwrap().to_owned();
    let path = env::join_paths([own].into_iter().chain(folders)).unwrap();
    let world = World::new();
    let done = match world.program("python3").args(["-c", program]).env("PATH", path).output() {
        Err(error) if error.kind() == ErrorKind::NotFound && env::var_os("CI").is_none() => {
            eprintln!("SKIPPED: python3 is not installed");
            return;
        }
        done => finished(done.unwrap()),
    };
    assert_eq!(done.exit, Some(0), "{}", done.render());
    assert_eq!(done.stdout, "in_progress Write the parser\nready Write the docs\n");
}
