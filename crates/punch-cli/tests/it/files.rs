//! Files that are not what they should be: each refusal names the file and a way out, and leaves the file alone.

use std::{fs, path::Path};

use crate::world::World;

/// Refused with that code, naming the path, by a reading and by a writing verb; the file stays as it is.
fn refused(world: &World, path: &Path, exit: i32, code: &str) {
    let before = fs::read(path).ok();
    for arguments in [&["list"][..], &["add", "x"]] {
        assert_eq!(world.refused(arguments), (exit, code.to_owned()), "{arguments:?}");
        let run = world.punch(arguments);
        assert!(run.stderr.contains(path.to_str().unwrap()), "{}", run.stderr);
        assert!(run.stderr.contains("hint: "), "{}", run.stderr);
        assert_eq!(run.stdout, "");
    }
    // An agent must never fail because of its plan.
    for (event, report) in [
        ("SessionStart", r#"{"session_id":"s","source":"startup"}"#),
        (
            "PostToolUse",
            r#"{"session_id":"s","tool_name":"TodoWrite","tool_input":{"todos":[{"content":"a","status":"pending","activeForm":"a"}]}}"#,
        ),
        ("Stop", r#"{"session_id":"s"}"#),
    ] {
        let hook = world.feed(&["hook", "--agent", "claude", event], report);
        assert_eq!(hook.exit, Some(0), "{event}: {}", hook.render());
    }
    assert_eq!(fs::read(path).ok(), before);
}

fn with_store() -> (World, std::path::PathBuf) {
    let world = World::new();
    world.ok(&["add", "first"]);
    let store = world.store();
    (world, store)
}

#[test]
fn a_damaged_store_is_told_and_a_copy_brings_it_back() {
    let (world, store) = with_store();
    world.ok(&["store", "backup", "good.db"]);
    fs::write(&store, vec![b'x'; 8192]).unwrap();
    refused(&world, &store, 1, "store_damaged");
    let doctor = world.punch(&["doctor"]);
    assert_eq!(doctor.exit, Some(1), "{}", doctor.render());
    assert!(doctor.stdout.contains("damaged   store: "), "{}", doctor.stdout);
    let told = world.ok(&["store", "restore", "good.db"]);
    assert!(told.contains("store.db.damaged"), "{told}");
    assert_eq!(world.ids(), ["T-1"]);
    world.sound();
}

/// Every page in turn: an answer, a refusal or a finding, never a panic, and never silence with wrong data.
#[test]
fn damage_anywhere_in_the_file_is_met_without_a_crash() {
    let world = World::new();
    let lines: String = (0..300).map(|n| format!("todo {n}\n")).collect();
    world.feed(&["add", "-"], &lines);
    // A copy has no log beside it, so the damage is in what is read.
    world.ok(&["store", "backup", "good.db"]);
    let (good, folder) = (fs::read(world.project.join("good.db")).unwrap(), world.project.join("broken"));
    fs::create_dir(&folder).unwrap();
    let pages = good.len() / 4096;
    assert!(pages > 10);
    for page in 0..pages {
        let mut bad = good.clone();
        bad[page * 4096 + 16..page * 4096 + 512].fill(0xa5);
        for file in fs::read_dir(&folder).unwrap() {
            fs::remove_file(file.unwrap().path()).unwrap();
        }
        fs::write(folder.join("store.db"), bad).unwrap();
        for verb in [&["list"][..], &["done", "T-150"], &["doctor"]] {
            let run = world.punch(&[verb, &["--store", "broken"]].concat());
            assert!(matches!(run.exit, Some(0 | 1 | 3)), "page {page}, {verb:?}: {}", run.render());
        }
    }
}

#[test]
fn a_truncated_store_is_told() {
    let (world, store) = with_store();
    world.ok(&["store", "backup", "good.db"]);
    let bytes = fs::read(world.project.join("good.db")).unwrap();
    fs::write(&store, &bytes[..bytes.len() / 2]).unwrap();
    let wal = store.with_added_extension("wal");
    assert!(!wal.exists());
    let doctor = world.punch(&["doctor"]);
    assert_eq!(doctor.exit, Some(1), "{}", doctor.render());
}

#[test]
fn an_empty_file_is_no_store() {
    let (world, store) = with_store();
    fs::write(&store, "").unwrap();
    refused(&world, &store, 1, "store_damaged");
}

#[test]
fn another_program_s_database_is_left_alone() {
    let (world, store) = with_store();
    // A SQLite database without our mark: the copy of a store with its application number taken out.
    world.ok(&["store", "backup", "copy.db"]);
    let mut bytes = fs::read(world.project.join("copy.db")).unwrap();
    bytes[68..72].fill(0);
    fs::write(&store, bytes).unwrap();
    refused(&world, &store, 1, "store_foreign");
    assert_eq!(world.punch(&["doctor"]).exit, Some(3));
    let foreign = fs::read(&store).unwrap();
    world.ok(&["store", "restore", "copy.db"]);
    assert_eq!(fs::read(store.with_added_extension("damaged")).unwrap(), foreign);
    assert_eq!(world.ids(), ["T-1"]);
}

#[test]
fn a_store_of_a_newer_major_version_is_not_touched() {
    let (world, store) = with_store();
    world.ok(&["store", "backup", "copy.db"]);
    let mut bytes = fs::read(world.project.join("copy.db")).unwrap();
    bytes[60..64].copy_from_slice(&9_000_u32.to_be_bytes());
    fs::write(&store, bytes).unwrap();
    refused(&world, &store, 1, "store_too_new");
}

#[test]
fn a_folder_in_place_of_the_file_is_refused() {
    let (world, store) = with_store();
    fs::remove_file(&store).unwrap();
    fs::create_dir(&store).unwrap();
    refused(&world, &store, 1, "store_not_a_file");
}

#[cfg(unix)]
#[test]
fn symbolic_links_are_not_followed() {
    let (world, store) = with_store();
    let elsewhere = world.root.join("elsewhere.db");
    fs::rename(&store, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &store).unwrap();
    refused(&world, &store, 1, "store_symlink");
    let other = World::new();
    fs::create_dir(other.root.join("real")).unwrap();
    let link = other.project.join(".punch");
    std::os::unix::fs::symlink(other.root.join("real"), &link).unwrap();
    refused(&other, &link, 1, "store_symlink");
}

#[test]
fn a_file_in_place_of_the_folder_is_refused() {
    let world = World::new();
    let file = world.project.join(".punch");
    fs::write(&file, "hello").unwrap();
    refused(&world, &file, 1, "store_not_a_folder");
}

#[test]
fn a_store_that_others_keep_locked_is_busy_after_the_deadline() {
    let (world, store) = with_store();
    let lock = fs::File::options().write(true).open(store.with_extension("lock")).unwrap();
    lock.lock().unwrap();
    assert_eq!(world.refused(&["add", "second"]), (3, "store_busy".to_owned()));
    // Readers do not wait for writers.
    assert_eq!(world.ids(), ["T-1"]);
    lock.unlock().unwrap();
    world.ok(&["add", "second"]);
}

#[test]
fn a_store_that_came_with_the_repository_is_refused() {
    let world = World::with_git();
    world.ok(&["init", "--in-tree"]);
    world.ok(&["add", "first"]);
    world.git(&["add", "-f", ".punch/store.db"]);
    refused(&world, &world.project.join(".punch"), 1, "store_tracked");
    world.git(&["rm", "-q", "--cached", ".punch/store.db"]);
    assert_eq!(world.ids(), ["T-1"]);
}

#[test]
fn two_stores_are_an_error_that_names_both() {
    let world = World::with_git();
    world.ok(&["add", "in git"]);
    let in_tree = world.project.join(".punch");
    fs::create_dir(&in_tree).unwrap();
    world.ok(&["store", "backup", ".punch/store.db", "--store", ".git/punch"]);
    refused(&world, &in_tree, 1, "two_stores");
    assert!(world.punch(&["list"]).stderr.contains(".git/punch"));
    assert_eq!(world.ok(&["list", "--store", ".git/punch"]), "[ ] T-1  in git\n");
    // The environment chooses as the flag does, and the flag wins.
    let mut command = world.command(&["list", "--store", ".punch"]);
    let chosen = crate::world::finished(command.env("PUNCH_STORE", "/nowhere").output().unwrap());
    assert_eq!(chosen.stdout, "[ ] T-1  in git\n");
}
