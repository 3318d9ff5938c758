//! The graph: what is around a todo, and the whole plan by layers.

use crate::board::{BoardPanel, RowKey};

use super::scene::{BoardScene, add, look, typical};
use punch_core::Actor;

fn selected(scene: &BoardScene) -> String {
    scene.board.target().and_then(|uid| scene.board.todo(uid)).map(|todo| todo.id.clone()).unwrap_or_default()
}

#[test]
fn what_a_todo_needs_is_on_its_left_and_what_waits_for_it_on_its_right() {
    let mut scene = typical(look(), (120, 40));
    scene.press("3");
    let picture = scene.picture();
    let row = picture.lines().find(|line| line.contains("T-8 ")).unwrap_or_else(|| panic!("{picture}"));
    let places = ["T-8", "T-31", "T-34"].map(|id| row.find(id).unwrap_or_else(|| panic!("{id}: {row}")));
    assert!(places.is_sorted(), "{row}");
    assert!(picture.contains("Needs (1)") && picture.contains("Blocks (2)"), "{picture}");
}

#[test]
fn keys_go_through_the_tree_and_enter_puts_a_todo_in_its_middle() {
    let mut scene = typical(look(), (120, 40));
    scene.press("3");
    assert_eq!(selected(&scene), "T-31");
    scene.press("h");
    assert_eq!(selected(&scene), "T-8");
    scene.press("h");
    assert_eq!(selected(&scene), "T-8", "nothing is further to the left");
    scene.press("l");
    scene.press("l");
    assert_eq!(selected(&scene), "T-34");
    scene.press("j");
    assert_eq!(selected(&scene), "T-35");
    scene.press("Enter");
    assert_eq!(selected(&scene), "T-35");
    let tree = scene.board.graph_tree().unwrap();
    assert_eq!(tree.center, 1, "it needs two todos and blocks none");
    assert_eq!(tree.columns, 2);
}

#[test]
fn the_whole_plan_is_in_layers_and_keys_go_from_layer_to_layer() {
    let mut scene = typical(look(), (120, 40));
    scene.press("3");
    scene.press("t");
    let picture = scene.picture();
    assert!(picture.contains("Graph of the whole plan") && picture.contains("Layer 1"), "{picture}");
    assert!(picture.contains("critical path"), "{picture}");
    scene.press("Home");
    scene.press("l");
    scene.press("l");
    let second = selected(&scene);
    scene.press("h");
    assert_ne!(selected(&scene), second);
    scene.press("Enter");
    assert!(scene.board.graph_tree().is_some(), "Enter shows what is around the selected todo");
}

#[test]
fn a_long_tree_is_scrolled_with_its_cursor() {
    let mut scene = BoardScene::new(look(), (80, 24));
    let mut ops = vec![add("A", "first", &[])];
    ops.extend((0..100).map(|n| add(&format!("B-{n}"), "waits", &["A"])));
    scene.submit(Actor::user(), &ops);
    scene.press("3");
    assert_eq!(selected(&scene), "A");
    assert!(scene.picture().contains("Blocks (100)"), "{}", scene.picture());
    scene.press("l");
    for _ in 0..59 {
        scene.press("j");
    }
    assert_eq!(selected(&scene), "B-59");
    assert!(scene.picture().contains("B-59"), "{}", scene.picture());
    scene.press("j");
    assert_eq!(scene.board.pane(BoardPanel::Graph).selected(), Some(&RowKey::Text("+40 more".into())));
    assert!(scene.picture().contains("+40 more"), "{}", scene.picture());
}

#[test]
fn a_resize_changes_between_tree_and_rows() {
    let mut scene = typical(look(), (120, 40));
    scene.press("3");
    assert!(scene.board.graph_tree().is_some());
    scene.board.apply(crate::board::BoardInput::Resize(40, 12));
    assert!(scene.board.graph_tree().is_none());
    assert!(scene.picture().contains("Needs (1)"), "{}", scene.picture());
    scene.board.apply(crate::board::BoardInput::Resize(120, 40));
    assert!(scene.board.graph_tree().is_some());
}
