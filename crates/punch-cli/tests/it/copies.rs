//! The hourly copy in the user's state folder.

use std::{
    fs,
    path::PathBuf,
    time::{Duration, SystemTime},
};

use crate::world::World;

fn copy(world: &World) -> PathBuf {
    let folder = world.root.join("home/.local/state/punch/copies");
    let files = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let mut copies: Vec<PathBuf> = files.filter(|path| path.to_str().unwrap().ends_with(".db")).collect();
    assert_eq!(copies.len(), 1, "{copies:?}");
    copies.remove(0)
}

fn make_older(copy: &std::path::Path) {
    for path in [copy.to_owned(), copy.with_extension("lock")] {
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(2 * 60 * 60)).unwrap();
    }
}

#[test]
fn a_lost_store_is_offered_and_comes_back_from_its_copy() {
    let world = World::with_git();
    world.ok(&["add", "first"]);
    fs::remove_dir_all(world.project.join(".git/punch")).unwrap();
    let list = world.punch(&["list"]);
    assert_eq!((list.exit, list.stdout.as_str()), (Some(0), "No todos yet: `punch add 'First thing'` adds one.\n"));
    assert!(list.stderr.contains("hint: `punch store restore --copy` restores it"), "{}", list.stderr);
    // A missing store is not damage.
    assert_eq!(world.punch(&["doctor"]).exit, Some(0));
    world.ok(&["store", "restore", "--copy"]);
    assert_eq!(world.ids(), ["T-1"]);
    world.sound();
}

#[test]
fn the_copy_is_renewed_after_an_hour_and_not_before() {
    let world = World::new();
    world.ok(&["add", "first"]);
    world.ok(&["add", "second"]);
    let copy = copy(&world);
    let todos = || world.json(&["list", "--all", "--store", "look"])["todos"].as_array().unwrap().len();
    fs::create_dir(world.project.join("look")).unwrap();
    fs::copy(&copy, world.project.join("look/store.db")).unwrap();
    assert_eq!(todos(), 1);
    make_older(&copy);
    world.ok(&["list"]);
    assert!(copy.metadata().unwrap().modified().unwrap().elapsed().unwrap() > Duration::from_secs(3600), "by a read");
    world.ok(&["done", "T-1"]);
    fs::copy(&copy, world.project.join("look/store.db")).unwrap();
    assert_eq!(todos(), 2);
}

#[test]
fn a_new_store_does_not_overwrite_the_copy_of_a_lost_one() {
    let world = World::new();
    world.ok(&["add", "precious"]);
    fs::remove_dir_all(world.project.join(".punch")).unwrap();
    let add = world.punch(&["add", "new"]);
    assert_eq!(add.exit, Some(0));
    let (_, path) = add.stderr.split_once("hint: `punch store restore '").unwrap();
    let (path, _) = path.split_once('\'').unwrap();
    world.ok(&["store", "restore", path]);
    assert_eq!(world.ok(&["list"]), "[ ] T-1  precious\n");
    // And what was replaced is still there.
    let copies = world.json(&["store", "info"]);
    let mut files = copies["copies"].as_array().unwrap().iter().map(|copy| copy["file"].as_str().unwrap());
    let replaced = files.rfind(|file| file.contains("/replaced-")).unwrap();
    world.ok(&["store", "restore", replaced]);
    assert_eq!(world.ok(&["list"]), "[ ] T-1  new\n");
}

#[test]
fn a_setting_turns_copies_off() {
    let world = World::new();
    world.ok(&["config", "set", "store.copy", "false"]);
    world.ok(&["add", "first"]);
    assert!(!world.root.join("home/.local").exists());
    assert!(world.ok(&["doctor"]).contains("note      copy: none: the setting `store.copy` is false"));
}

#[test]
fn a_copy_that_cannot_be_made_is_no_reason_to_fail() {
    let world = World::new();
    fs::create_dir_all(world.root.join("home/.local")).unwrap();
    fs::write(world.root.join("home/.local/state"), "in the way").unwrap();
    let run = world.punch(&["add", "first"]);
    assert_eq!((run.exit, run.stdout.as_str()), (Some(0), "[ ] T-1  first\n"), "{}", run.stderr);
}
