//! The table of keys.

use std::collections::BTreeSet;
use std::fmt::Write;

use punch_store::RequestedState;

use crate::board::BoardView;
use crate::keys::{KeyAction, KeyScope, TABLE, name};
use crate::request::BoardRequest;

use super::scene::{key, look, typical};

#[test]
fn every_key_in_the_table_can_be_typed() {
    for keys in TABLE.iter().flat_map(|binding| binding.keys) {
        for one in keys.split(' ') {
            assert_eq!(name(&key(one)).as_deref(), Some(one));
        }
    }
}

#[test]
fn a_key_has_one_meaning_in_each_scope() {
    let mut seen = BTreeSet::new();
    for binding in TABLE {
        for keys in binding.keys {
            assert!(seen.insert((format!("{:?}", binding.scope), *keys)), "{keys} twice in {:?}", binding.scope);
        }
        assert!(binding.words.chars().next().is_some_and(char::is_uppercase), "{}", binding.words);
    }
}

#[test]
fn keys_that_act_on_something_else_are_listed_before_those_that_always_act() {
    for (at, binding) in TABLE.iter().enumerate().filter(|(_, binding)| binding.scope == KeyScope::Everywhere) {
        let later = TABLE[at + 1..].iter().filter(|later| later.scope != KeyScope::Everywhere);
        let hidden = later.flat_map(|later| later.keys).find(|keys| binding.keys.contains(keys));
        assert_eq!(hidden, None, "{:?} never happens", binding.action);
    }
}

#[test]
fn the_menu_of_all_keys_runs_what_is_chosen() {
    let mut scene = typical(look(), (120, 40));
    scene.press("?");
    assert!(scene.picture().contains("Go to the next thing that needs you"), "{}", scene.picture());
    while !scene.picture().contains("> 2 ") {
        scene.press("Down");
    }
    scene.press("Enter");
    assert_eq!(scene.board.view(), BoardView::List);
    assert_eq!(TABLE.iter().filter(|binding| binding.action == KeyAction::Quit).count(), 1);
}

/// Where the table stands in the documentation.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/watch.md");
const BEGIN: &str = "<!-- keys: made from the table in crates/punch-tui/src/keys.rs -->\n";
const END: &str = "<!-- end of keys -->\n";

const fn place(scope: KeyScope) -> &'static str {
    match scope {
        KeyScope::Everywhere => "everywhere",
        KeyScope::Todo => "on todos",
        KeyScope::Question => "on a question",
        KeyScope::Hold => "on a todo that waits for your decision",
        KeyScope::Approval => "on a check that waits for approval",
        KeyScope::List => "in the list",
        KeyScope::Graph => "in the graph",
        KeyScope::Run => "while a run works",
        KeyScope::Session => "on a session",
    }
}

fn markdown() -> String {
    let mut out = "\n| keys | what they do | where |\n|---|---|---|\n".to_owned();
    for binding in TABLE {
        let keys: Vec<String> = binding.keys.iter().map(|key| format!("`{key}`")).collect();
        writeln!(out, "| {} | {} | {} |", keys.join(" "), binding.words, place(binding.scope)).unwrap();
    }
    out.push('\n');
    out
}

#[test]
fn the_documentation_lists_every_key() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("the page has the mark where keys begin");
    let (_, after) = rest.split_once(END).expect("the page has the mark where keys end");
    let wanted = format!("{before}{BEGIN}{}{END}{after}", markdown());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(PAGE, &wanted).unwrap();
    }
    assert!(page == wanted, "docs/watch.md is out of date; `UPDATE_DOCS=1 cargo test -p punch-tui` writes it again");
}

#[test]
fn the_hint_of_the_pause_key_says_what_it_does_now() {
    for (wanted, says, other) in
        [(RequestedState::Go, "P pause", "P resume"), (RequestedState::Pause, "P resume", "P pause")]
    {
        let mut scene = typical(look(), (120, 40));
        scene.board.data_mut().run.as_mut().unwrap().wanted = wanted;
        for view in ["1", "5"] {
            scene.press(view);
            let picture = scene.picture();
            assert!(picture.contains(says) && !picture.contains(other), "{view}: {picture}");
        }
        let asked = scene.press("P");
        let back = if wanted == RequestedState::Go { RequestedState::Pause } else { RequestedState::Go };
        assert!(
            asked.iter().any(|ask| matches!(ask, BoardRequest::Control { wanted, .. } if *wanted == back)),
            "{asked:?}"
        );
    }
}

#[test]
fn the_menu_of_keys_explains_marks_and_says_that_it_scrolls() {
    let mut scene = typical(look(), (80, 24));
    scene.press("?");
    let first = scene.picture();
    assert!(first.contains(" 1-20 of "), "{first}");
    scene.press("G");
    let last = scene.picture();
    for part in ["⁺²", "The todo has 2 notes", "blocks 2", "2 open todos wait for it"] {
        assert!(last.contains(part), "{part}: {last}");
    }
    scene.press("Enter");
    assert!(scene.board.overlay().is_none(), "a mark does nothing");
}
