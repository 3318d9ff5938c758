//! What the board says by itself.

use punch_core::{Actor, Hold, HoldKind, Op};

use crate::board::BoardInput;
use crate::look::BoardLook;
use crate::request::BoardRequest;

use super::scene::{BoardScene, add, id, look};

fn held(scene: &mut BoardScene, todo: &str, reason: &str) -> Vec<BoardRequest> {
    let hold = Hold { kind: HoldKind::Human, reason: reason.to_owned(), until: None, by: String::new(), at: 0 };
    let opened = std::sync::Arc::clone(scene.feed.opened().unwrap());
    let request = punch_engine::WriteRequest::of(Actor::user());
    opened.engine.submit(opened.plan, &request, &[Op::Hold(id(todo), hold)]).unwrap();
    let now = scene.now();
    scene.feed.refresh_plan(scene.board.data_mut(), now);
    scene.feed.refresh_around(scene.board.data_mut(), now);
    let asked = scene.board.apply(BoardInput::Changed);
    asked.into_iter().filter(|request| matches!(request, BoardRequest::Notify(_))).collect()
}

#[test]
fn the_terminal_is_told_once_about_what_newly_needs_the_user() {
    let mut scene = BoardScene::new(BoardLook { notify: true, ..look() }, (80, 24));
    scene.submit(Actor::user(), &[add("T-1", "Choose a license", &[]), add("T-2", "Name it", &[])]);
    let told = held(&mut scene, "T-1", "MIT or Apache?");
    let [BoardRequest::Notify(text)] = told.as_slice() else { panic!("{told:?}") };
    assert!(text.starts_with("T-1 ") && text.contains("MIT or Apache?"), "{text}");
    assert_eq!(
        scene.board.apply(BoardInput::Changed).iter().filter(|r| matches!(r, BoardRequest::Notify(_))).count(),
        0,
        "once"
    );
    let told = held(&mut scene, "T-2", "A or B?");
    assert!(matches!(told.as_slice(), [BoardRequest::Notify(text)] if text.contains("A or B?")), "{told:?}");
}

#[test]
fn the_time_limit_of_a_run_is_shown() {
    let mut scene = BoardScene::new(look(), (140, 30));
    let opened = std::sync::Arc::clone(scene.feed.opened().unwrap());
    let options = serde_json::json!({"limits": {"time": 3_600_000}});
    let begin = punch_engine::RunStart { options, ..punch_engine::RunStart::default() };
    opened.engine.begin_run(opened.plan, &begin).unwrap();
    scene.pass(600_000);
    let now = scene.now();
    scene.feed.refresh_around(scene.board.data_mut(), now);
    scene.board.apply(BoardInput::Changed);
    assert_eq!(scene.board.data().run.as_ref().unwrap().limits.time, Some(3_600_000));
    assert!(scene.picture().contains("10m of 1h00m"), "{}", scene.picture());
}

#[test]
fn nothing_is_told_unless_it_was_asked_for() {
    let mut scene = BoardScene::new(look(), (80, 24));
    scene.submit(Actor::user(), &[add("T-1", "Choose a license", &[])]);
    assert_eq!(held(&mut scene, "T-1", "MIT or Apache?"), []);
}

#[test]
fn an_agent_that_becomes_quiet_is_reported_although_nobody_writes() {
    let mut scene = BoardScene::new(BoardLook { notify: true, ..look() }, (80, 24));
    scene.submit(Actor::user(), &[add("T-1", "Parser", &[])]);
    let lease = scene.setup.settings.lease_ms();
    scene.submit(Actor::agent("claude", "s-1"), &[Op::Claim(id("T-1"), lease)]);
    assert!(scene.board.data().inbox.is_empty(), "{:?}", scene.board.data().inbox);
    let mut told = Vec::new();
    // The loop wakes at every full minute.
    for _ in 0..20 {
        scene.pass(60_000);
        let now = scene.now();
        assert!(scene.feed.is_due(now));
        scene.feed.refresh_plan(scene.board.data_mut(), now);
        assert!(scene.feed.refresh_around(scene.board.data_mut(), now));
        assert!(!scene.feed.refresh_around(scene.board.data_mut(), now), "once a minute");
        told.extend(
            scene.board.apply(BoardInput::Changed).into_iter().filter(|asked| matches!(asked, BoardRequest::Notify(_))),
        );
    }
    let quiet = scene.board.data().inbox.iter().filter(|item| item.kind == punch_core::inbox::InboxKind::Quiet);
    assert_eq!(quiet.count(), 1, "{:?}", scene.board.data().inbox);
    assert!(matches!(told.as_slice(), [BoardRequest::Notify(text)] if text.contains("no activity")), "{told:?}");
}
