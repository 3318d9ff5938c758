//! What must not wait, what must not get lost, and what must fit.

use punch_core::{Actor, Edit, HoldKind, Keep, Op, Uid, Verify};
use punch_engine::QuestionReply;
use punch_store::RequestedState;

use crate::board::{BoardInput, RequestProblem};
use crate::request::{BoardRequest, RequestQueue};

use super::scene::{BoardScene, id, look, typical};

/// A check of a todo that was marked as done may run for minutes: an agent that asks must not wait for it.
#[test]
fn answers_and_readings_do_not_wait_for_checks() {
    let at_once = [
        BoardRequest::Answer { question: 1, answer: QuestionReply::Allow, reason: None },
        BoardRequest::Approve(punch_core::Verify::Shell("make".into())),
        BoardRequest::Control { run: 1, seat: None, wanted: RequestedState::Stop },
        BoardRequest::KeepGoing { session: "s".into(), to: punch_core::drive::Switch::Off },
        BoardRequest::MarkSeen(1),
        BoardRequest::Detail(Uid(1)),
        BoardRequest::Diff(Uid(1)),
    ];
    for request in at_once {
        assert_eq!(request.queue(), RequestQueue::AtOnce, "{request:?}");
    }
    let in_order = [
        BoardRequest::Submit { ops: vec![punch_core::Op::Start(id("T-1"))], what: String::new() },
        BoardRequest::Undo(None),
        BoardRequest::Redo,
    ];
    for request in in_order {
        assert_eq!(request.queue(), RequestQueue::Changes, "an undo must not overtake what it undoes: {request:?}");
    }
    assert_eq!(BoardRequest::Verb(vec!["list".into()]).queue(), RequestQueue::Commands);
}

fn marked_two(scene: &mut BoardScene) {
    scene.press("2");
    scene.select("T-38");
    scene.press("Space");
    scene.press("Space");
    assert_eq!(scene.board.marked().len(), 2);
}

#[test]
fn marks_stay_until_what_was_asked_for_has_been_done() {
    let mut scene = typical(look(), (120, 40));
    marked_two(&mut scene);
    scene.press("c");
    assert!(scene.picture().contains("Cancel T-38, T-39?"), "{}", scene.picture());
    scene.press("Esc");
    assert_eq!(scene.board.marked().len(), 2, "nothing was changed");
    scene.press("s");
    let refused = RequestProblem { message: "no".into(), hint: String::new() };
    scene.board.apply(BoardInput::Done(Err(refused)));
    assert_eq!(scene.board.marked().len(), 2, "it was refused");
    scene.act("+");
    assert!(scene.board.marked().is_empty(), "it was done");
}

#[test]
fn a_question_about_several_todos_speaks_of_them() {
    let mut scene = typical(look(), (120, 40));
    scene.press("2");
    scene.select("T-31");
    scene.press("Space");
    scene.press("Space");
    scene.press("c");
    let picture = scene.picture();
    assert!(picture.contains("depend on them."), "{picture}");
    assert!(picture.contains("is working on T-31.") && picture.contains("is working on T-33."), "{picture}");
}

#[test]
fn rows_say_who_works_and_how_long_a_timer_takes() {
    for size in [(120, 40), (80, 24)] {
        let mut scene = typical(look(), size);
        scene.press("2");
        let picture = scene.picture();
        assert!(picture.contains("[2] codex  working"), "{picture}");
        assert!(picture.contains("[1] claude  ? asking"), "{picture}");
        assert!(picture.contains("on hold, 1h16m left"), "{picture}");
    }
    let mut scene = typical(look(), (120, 40));
    scene.pass(200 * super::scene::MINUTE);
    scene.press("2");
    assert!(!scene.picture().contains("left: rate limit"), "the timer is over: {}", scene.picture());
    let held = scene.board.data().plan.as_ref().unwrap().by_id("T-12").unwrap().hold.clone();
    assert!(held.is_some_and(|hold| hold.kind == HoldKind::Human));
    assert!(scene.picture().contains("on hold: MIT or Apache?"));
}

/// A run with many seats and a timeline is longer than a small screen: all of it can be reached.
#[test]
fn everything_about_a_run_can_be_scrolled_to() {
    for size in [(80, 12), (40, 12), (120, 20)] {
        let mut scene = typical(look(), size);
        scene.press("5");
        let timeline = (0..12).map(|n| format!("line {n} of the timeline")).collect();
        scene.board.apply(BoardInput::Timeline(crate::board::Timeline(vec![("So far", timeline)])));
        assert!(!scene.picture().contains("line 11 of the timeline"), "{size:?}: {}", scene.picture());
        scene.press("G");
        assert!(scene.picture().contains("line 11 of the timeline"), "{size:?}: {}", scene.picture());
        scene.press("Home");
        assert!(scene.picture().contains("[1] claude"), "{size:?}: {}", scene.picture());
        for _ in 0..40 {
            scene.press("j");
        }
        assert!(scene.picture().contains("line 11 of the timeline"), "{size:?}: {}", scene.picture());
        for _ in 0..40 {
            scene.press("k");
        }
        assert!(scene.picture().contains("[1] claude"), "{size:?}: {}", scene.picture());
    }
}

/// A menu that is wider than the screen says in full what its selected entry does.
#[test]
fn every_key_is_explained_in_full_on_every_screen() {
    for size in [(120, 40), (80, 24), (40, 12)] {
        let mut scene = typical(look(), size);
        scene.press("?");
        let Some(crate::board::Overlay::Menu(menu)) = scene.board.overlay().cloned() else { panic!() };
        for (keys, words, _) in &menu.entries {
            let picture = scene.picture();
            let text: String = picture.chars().filter(|c| c.is_alphanumeric()).collect();
            let wanted: String = words.chars().filter(|c| c.is_alphanumeric()).collect();
            assert!(text.contains(&wanted), "{size:?} {keys}: {words}\n{picture}");
            scene.press("j");
        }
    }
}

#[test]
fn a_notice_about_the_detail_goes_with_it() {
    let mut scene = typical(look(), (80, 24));
    scene.pass(1_000);
    scene.press("y");
    assert!(scene.board.notice().is_some());
    scene.press("Esc");
    assert!(scene.board.notice().is_none());
}

#[test]
fn a_seat_without_a_todo_says_what_it_does() {
    let mut scene = typical(look(), (120, 40));
    let seat = &mut scene.board.data_mut().run.as_mut().unwrap().seats[0];
    (seat.todo, seat.stage) = (None, punch_engine::SeatStage::Idle);
    scene.board.apply(BoardInput::Changed);
    scene.press("5");
    let picture = scene.picture();
    assert!(picture.contains("Seat 1") && picture.contains("state: idle for 12m"), "{picture}");
    assert!(!picture.contains("Nothing is selected"), "{picture}");
}

/// A todo with a check, selected in the list.
fn with_check(command: &str) -> BoardScene {
    let mut scene = typical(look(), (120, 40));
    let edit = Edit { verify: Keep::Set(Some(Verify::Shell(command.into()))), ..Edit::default() };
    scene.submit(Actor::user(), &[Op::Edit(id("T-38"), edit)]);
    scene.board.data_mut().runs_checks = true;
    scene.press("2");
    scene.select("T-38");
    scene
}

fn notice(scene: &BoardScene) -> &str {
    scene.board.notice().map_or("", |notice| &notice.text)
}

#[test]
fn a_check_that_runs_is_named_until_it_ends_and_so_is_what_waits_for_it() {
    let mut scene = with_check("sleep 600");
    assert!(scene.press("d").iter().any(BoardRequest::is_change));
    assert_eq!(notice(&scene), "Checking T-38…");
    scene.pass(60_000);
    assert_eq!(notice(&scene), "Checking T-38…", "a notice goes, but the check still runs");
    scene.press("-");
    assert_eq!(notice(&scene), "This waits for the check of T-38.");
    scene.board.apply(BoardInput::Stored(Ok("T-38 completed".into())));
    assert_eq!(notice(&scene), "T-38 completed");
    scene.board.apply(BoardInput::Stored(Ok("T-38 lowered".into())));
    scene.pass(60_000);
    assert_eq!(notice(&scene), "", "nothing is checked any more");
}

#[test]
fn other_answers_do_not_end_a_check_and_todos_without_one_are_not_checked() {
    let mut scene = with_check("sleep 600");
    scene.press("d");
    scene.board.apply(BoardInput::Done(Ok("Allowed.".into())));
    assert_eq!(notice(&scene), "Allowed.");
    scene.pass(60_000);
    assert_eq!(notice(&scene), "Checking T-38…");
    for (todo, runs_checks) in [("T-39", true), ("T-38", false)] {
        let mut scene = with_check("true");
        scene.board.data_mut().runs_checks = runs_checks;
        scene.select(todo);
        scene.press("d");
        assert_eq!(notice(&scene), "", "{todo}");
    }
}

#[test]
fn what_a_check_says_ends_the_notice_about_it() {
    let mut scene = with_check("true");
    let requests = scene.press("d");
    scene.carry_out(requests[0].clone());
    scene.press("j");
    scene.pass(60_000);
    assert_eq!(notice(&scene), "");
}

#[test]
fn editing_several_todos_at_once_is_refused_rather_than_done_to_the_first() {
    let mut scene = typical(look(), (120, 40));
    marked_two(&mut scene);
    assert_eq!(scene.press("e"), []);
    assert!(notice(&scene).contains("one todo"), "{}", notice(&scene));
    scene.press("Esc");
    assert!(matches!(&scene.press("e")[..], [BoardRequest::Foreground(_), ..]));
}

#[test]
fn changes_since_the_last_look_are_counted_beyond_those_that_are_read() {
    let mut scene = typical(look(), (120, 40));
    for n in 0..220 {
        let edit = Edit { content: Keep::Set(format!("version {n}")), ..Edit::default() };
        scene.submit(Actor::user(), &[Op::Edit(id("T-39"), edit)]);
    }
    let revision = scene.board.data().plan.as_ref().unwrap().row.revision;
    assert!(scene.board.data().history.len() < revision as usize);
    scene.press("1");
    let count = format!("Since you last looked: {revision} changes");
    assert!(scene.picture().contains(&count), "{count}: {}", scene.picture());
}
