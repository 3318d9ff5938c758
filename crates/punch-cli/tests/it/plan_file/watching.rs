//! `sync --watch` with the ways in which editors save.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use super::{linked, text};

/// Writes into the file that is there.
fn truncate(path: &Path, text: &str) {
    let mut file = fs::File::create(path).unwrap();
    // In pieces, as a slow editor does.
    for piece in text.as_bytes().chunks(40) {
        file.write_all(piece).unwrap();
        file.flush().unwrap();
    }
}

/// Writes another file and puts it in place.
fn atomic(path: &Path, text: &str) {
    let other = path.with_extension("swp");
    fs::write(&other, text).unwrap();
    fs::rename(other, path).unwrap();
}

/// Moves the file out of the way and writes a new one.
fn rename(path: &Path, text: &str) {
    fs::rename(path, path.with_extension("md~")).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn every_way_to_save_is_seen_and_the_plan_is_followed() {
    let world = linked();
    let path = world.project.join("a.plan.md");
    let mut command = world.command(&["plan-file", "sync", "--watch", "--json"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(|line| line.unwrap());
    let mut next = || serde_json::from_str::<Value>(&lines.next().unwrap()).unwrap();
    // It is up once it has told how things stand.
    assert_eq!(next()["changed"], serde_json::json!([]));
    let ways: [fn(&Path, &str); 3] = [truncate, atomic, rename];
    for (n, save) in ways.into_iter().enumerate() {
        let (old, new) = (format!("Build it{}", ".".repeat(n)), format!("Build it{}", ".".repeat(n + 1)));
        save(&path, &text(&world).replace(&old, &new));
        let told = next();
        assert_eq!(told["changed"], serde_json::json!(["build"]), "{n}: {told}");
        assert_eq!(world.json(&["show", "build"])["todo"]["content"], new);
    }
    world.ok(&["edit", "ship", "--content", "Ship it now"]);
    assert_eq!(next()["edits"], 1);
    assert!(text(&world).contains("Ship it now"));
    child.kill().unwrap();
    child.wait().unwrap();
}
