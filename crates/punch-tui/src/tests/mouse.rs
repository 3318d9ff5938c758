//! The mouse.

use crate::board::{BoardInput, BoardPanel, BoardView, Overlay};
use crate::request::BoardRequest;

use super::scene::{BoardScene, look, typical};

fn click(scene: &mut BoardScene, (column, row): (u16, u16)) -> Vec<BoardRequest> {
    let mut requests = scene.board.apply(BoardInput::Click(column, row));
    requests.extend(scene.board.apply(BoardInput::Release(column, row)));
    requests
}

#[test]
fn a_click_selects_and_a_second_one_opens() {
    let mut scene = typical(look(), (80, 24));
    let place = scene.place_of("T-39");
    click(&mut scene, place);
    assert_eq!(scene.board.panel(), BoardPanel::Next);
    assert!(!scene.board.is_detail_open());
    click(&mut scene, place);
    assert!(scene.board.is_detail_open());
}

#[test]
fn the_names_of_views_can_be_clicked() {
    let mut scene = typical(look(), (80, 24));
    let place = scene.place_of("3 graph");
    click(&mut scene, place);
    assert_eq!(scene.board.view(), BoardView::Graph);
    let place = scene.place_of("T-35");
    click(&mut scene, place);
    let id = scene.board.target().and_then(|uid| scene.board.todo(uid)).unwrap().id.clone();
    assert_eq!(id, "T-35", "a cell of the tree");
}

#[test]
fn a_todo_is_dragged_to_another_place_of_the_list() {
    let mut scene = typical(look(), (80, 24));
    scene.press("2");
    let (from, to) = (scene.place_of("T-39"), scene.place_of("T-33"));
    scene.board.apply(BoardInput::Click(from.0, from.1));
    scene.board.apply(BoardInput::Drag(to.0, to.1));
    assert!(scene.picture().contains("move T-39 before T-33"), "{}", scene.picture());
    for request in scene.board.apply(BoardInput::Release(to.0, to.1)) {
        scene.carry_out(request);
    }
    scene.refresh();
    assert!(scene.place_of("T-39").1 < scene.place_of("T-33").1, "{}", scene.picture());
}

#[test]
fn an_entry_of_a_menu_is_run_by_a_second_click_and_a_click_beside_it_closes_it() {
    let mut scene = typical(look(), (120, 40));
    scene.press("?");
    let place = scene.place_of("List: phases and todos");
    click(&mut scene, place);
    assert!(matches!(scene.board.overlay(), Some(Overlay::Menu(_))));
    let place = scene.place_of("List: phases and todos");
    click(&mut scene, place);
    assert_eq!(scene.board.view(), BoardView::List);
    scene.press("?");
    click(&mut scene, (0, 0));
    assert!(scene.board.overlay().is_none());
}

#[test]
fn clicks_neither_answer_questions_nor_confirm_anything() {
    let mut scene = typical(look(), (120, 40));
    scene.pass(1_000);
    for row in 0..40 {
        for column in (0..120).step_by(7) {
            let requests = click(&mut scene, (column, row));
            assert!(!requests.iter().any(|request| matches!(request, BoardRequest::Answer { .. })), "{requests:?}");
            scene.press("1");
        }
    }
    scene.press("2");
    scene.select("T-38");
    scene.press("c");
    assert!(matches!(scene.board.overlay(), Some(Overlay::Confirm(_))));
    for row in 0..40 {
        assert_eq!(click(&mut scene, (60, row)), []);
    }
}
