//! What annoyed people in their first hour with punch, and must not come back.

use crate::world::World;

#[test]
fn an_unknown_option_is_not_offered_as_the_text_of_a_todo() {
    let world = World::new();
    let run = world.punch(&["add", "x", "--estimate", "30m"]);
    assert_eq!(run.exit, Some(2));
    assert!(run.stderr.contains("unexpected argument '--estimate'"), "{}", run.stderr);
    assert!(!run.stderr.contains("as a value"), "{}", run.stderr);
    // A similar option is still suggested.
    assert!(world.punch(&["add", "x", "--prioriti", "1"]).stderr.contains("'--priority'"));
}

#[test]
fn every_view_counts_what_is_done() {
    let world = World::new();
    world.ok(&["add", "a", "b", "c", "d"]);
    world.ok(&["edit", "T-3", "--needs", "T-2"]);
    world.ok(&["edit", "T-4", "--needs", "T-1,T-3"]);
    world.ok(&["done", "T-1"]);
    assert!(world.ok(&["plan", "list"]).contains("1 of 4 done"));
    assert!(world.ok(&["status"]).starts_with("main: 1 of 4 done (25%)\n"));
    assert!(world.ok(&["status", "--line"]).starts_with("1/4"));
    let graph = world.ok(&["graph"]);
    let groups: Vec<&str> = graph.lines().filter(|line| line.starts_with("group ")).collect();
    assert_eq!(groups, ["group 1", "group 2", "group 3"], "{graph}");
}

#[test]
fn the_demo_has_short_chapters_in_order_and_no_accidental_error() {
    let world = World::new();
    let demo = world.ok(&["demo", "--all"]);
    let chapters: Vec<&str> = demo.split("# Chapter ").skip(1).collect();
    assert_eq!(chapters.len(), 7, "{demo}");
    for (at, chapter) in chapters.iter().enumerate() {
        assert!(chapter.starts_with(&format!("{} of 7: ", at + 1)), "{chapter}");
        assert!(chapter.lines().count() < 60, "{chapter}");
    }
    // One refusal is part of the story.
    assert_eq!(demo.lines().filter(|line| line.starts_with("error:")).count(), 1, "{demo}");
    let (begins, ends) = (demo.find("run 1 begins"), demo.find("done: run 1"));
    assert!(begins.is_some() && begins < ends, "{demo}");
}
