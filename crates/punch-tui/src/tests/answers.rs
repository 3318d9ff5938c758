//! Questions and approvals are answered only when they are selected, were on screen in full, and for half a second.

use punch_core::inbox::{InboxItem, InboxKind};
use punch_core::{Actor, Edit, Keep, Op, Verify};
use punch_engine::{Consents, QuestionReply, WorkTree};

use crate::board::{BoardInput, BoardPanel, Overlay};
use crate::request::BoardRequest;
use crate::setup::BoardSetup;
use crate::worker::{BoardJob, carry_out};

use super::scene::{BoardScene, id, look, setup, typical};

const ALLOWED: BoardRequest = BoardRequest::Answer { question: 7, answer: QuestionReply::Allow, reason: None };

#[test]
fn a_question_beside_the_list_is_answered_after_half_a_second() {
    let mut scene = typical(look(), (120, 40));
    assert_eq!(scene.press("y"), [], "it has only just appeared");
    assert!(scene.picture().contains("only just appeared"));
    scene.pass(499);
    assert_eq!(scene.press("y"), []);
    scene.pass(1);
    assert_eq!(scene.press("y"), [ALLOWED]);
}

#[test]
fn on_a_narrow_screen_the_key_first_shows_the_question_in_full() {
    for size in [(80, 24), (40, 12)] {
        let mut scene = typical(look(), size);
        scene.pass(10_000);
        assert!(scene.press("y").iter().all(BoardRequest::only_reads), "it is only shown");
        assert_eq!(scene.board.panel(), BoardPanel::Detail);
        let picture = scene.picture();
        assert!(picture.contains("sqlx migrate run") && picture.contains("sqlite:dev.db"), "{picture}");
        assert_eq!(scene.press("y"), [], "half a second has not passed");
        scene.pass(500);
        assert_eq!(scene.press("y"), [ALLOWED], "{size:?}");
    }
}

#[test]
fn a_question_that_does_not_fit_has_to_be_scrolled_to_its_end() {
    let mut scene = typical(look(), (40, 12));
    scene.board.data_mut().questions[0].lines = (0..40).map(|n| format!("line {n}")).collect();
    scene.board.apply(BoardInput::Changed);
    scene.press("Enter");
    scene.pass(10_000);
    assert_eq!(scene.press("y"), []);
    for _ in 0..10 {
        scene.press("Ctrl-d");
    }
    assert_eq!(scene.press("y"), [], "the end has only just appeared");
    scene.pass(500);
    assert_eq!(scene.press("y"), [ALLOWED]);
}

#[test]
fn skipping_the_middle_of_a_question_is_not_reading_it() {
    let mut scene = typical(look(), (40, 12));
    scene.board.data_mut().questions[0].lines = (0..40).map(|n| format!("line {n}")).collect();
    scene.board.apply(BoardInput::Changed);
    scene.press("Enter");
    scene.press("G");
    scene.pass(10_000);
    assert_eq!(scene.press("y"), []);
}

#[test]
fn another_question_on_the_same_todo_has_to_be_read_anew() {
    let mut scene = typical(look(), (120, 40));
    scene.pass(1_000);
    scene.board.data_mut().questions[0].id = 8;
    scene.board.data_mut().questions[0].lines = vec!["rm -rf /".into()];
    scene.board.data_mut().inbox[0].question = Some(8);
    scene.board.apply(BoardInput::Changed);
    assert_eq!(scene.press("y"), []);
}

#[test]
fn a_changed_question_that_was_never_drawn_is_not_answered() {
    let mut scene = typical(look(), (120, 40));
    scene.pass(1_000);
    scene.press("4");
    scene.pass(1_000);
    assert_eq!(scene.press("y"), [], "the log is shown, not the question");
}

#[test]
fn a_question_that_is_too_long_to_be_stored_can_only_be_denied() {
    let mut scene = typical(look(), (120, 40));
    scene.board.data_mut().questions[0].is_cut = true;
    scene.board.apply(BoardInput::Changed);
    scene.show();
    scene.pass(1_000);
    assert_eq!(scene.press("y"), []);
    assert_eq!(scene.press("n"), [BoardRequest::Answer { question: 7, answer: QuestionReply::Refuse, reason: None }]);
}

#[test]
fn a_reason_goes_with_a_denial() {
    let mut scene = typical(look(), (120, 40));
    scene.pass(1_000);
    assert_eq!(scene.press("N"), []);
    scene.type_text("not in production");
    let reason = Some("not in production".to_owned());
    assert_eq!(scene.press("Enter"), [BoardRequest::Answer { question: 7, answer: QuestionReply::Refuse, reason }]);
}

#[test]
fn a_terminal_below_an_agent_answers_nothing() {
    let mut scene = typical(look(), (120, 40));
    scene.board.data_mut().no_answers = Some("an agent started this program".into());
    scene.board.apply(BoardInput::Changed);
    scene.show();
    scene.pass(1_000);
    assert_eq!(scene.press("y"), []);
    assert!(scene.picture().contains("cannot be answered here"));
}

#[test]
fn pasted_text_presses_no_keys() {
    let mut scene = typical(look(), (120, 40));
    scene.pass(1_000);
    assert_eq!(scene.board.apply(BoardInput::Paste("y".into())), []);
}

#[test]
fn a_hold_is_answered_with_a_note_in_one_step() {
    let mut scene = typical(look(), (120, 40));
    let asked = scene.board.data().plan.as_ref().unwrap().by_id("T-12").unwrap().hold.clone().unwrap();
    scene.press("!");
    assert_eq!(scene.press("y"), []);
    scene.type_text("Apache");
    let requests = scene.press("Enter");
    let [BoardRequest::Submit { ops, .. }] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!(ops.len(), 2);
    scene.carry_out(requests[0].clone());
    scene.refresh();
    let plan = scene.board.data().plan.as_ref().unwrap();
    let todo = plan.by_id("T-12").unwrap();
    assert!(todo.hold.is_none());
    assert_eq!(todo.notes[0].text, format!("{} — Apache", asked.reason), "the answer keeps its question");
}

/// The words of the entries of the menu that is open.
fn entries(scene: &super::scene::BoardScene) -> Vec<String> {
    match scene.board.overlay() {
        Some(Overlay::Menu(menu)) => menu.entries.iter().map(|(_, words, _)| words.clone()).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_menu_allows_nothing_that_its_key_would_not_allow() {
    let mut scene = typical(look(), (120, 40));
    scene.pass(1_000);
    scene.press("x");
    assert!(entries(&scene).contains(&"Answer: Allow once".to_owned()), "{:?}", entries(&scene));
    // The question turns out to be longer while the menu is open.
    scene.press("End");
    scene.press("Up");
    scene.board.data_mut().questions[0].is_cut = true;
    assert_eq!(scene.press("Enter"), []);
    assert!(scene.picture().contains("can only be denied here"), "{}", scene.picture());
    scene.press("x");
    let entries = entries(&scene);
    assert!(!entries.contains(&"Answer: Allow once".to_owned()), "{entries:?}");
    assert!(entries.contains(&"Answer: Deny".to_owned()), "{entries:?}");
    scene.press("End");
    let denied = BoardRequest::Answer { question: 7, answer: QuestionReply::Option("no".into()), reason: None };
    assert_eq!(scene.press("Enter"), [denied]);
}

#[test]
fn a_question_outside_of_a_run_opens_no_prompt_for_a_reason() {
    let mut scene = typical(look(), (120, 40));
    scene.board.data_mut().questions[0].seat = None;
    scene.board.apply(BoardInput::Changed);
    scene.show();
    scene.pass(1_000);
    for key in ["y", "n", "N"] {
        assert_eq!(scene.press(key), []);
        assert_eq!(scene.board.overlay(), None, "{key}");
        assert!(scene.picture().contains("answer in its own terminal"), "{}", scene.picture());
    }
}

/// A board on which a check waits for approval.
fn unapproved(size: (u16, u16), command: &str) -> (BoardScene, BoardRequest) {
    let mut scene = typical(look(), size);
    let command = Verify::Shell(command.into());
    let edit = Edit { verify: Keep::Set(Some(command.clone())), ..Edit::default() };
    scene.submit(Actor::user(), &[Op::Edit(id("T-38"), edit)]);
    let (since, data) = (scene.now(), scene.board.data_mut());
    data.questions.clear();
    data.inbox = vec![InboxItem {
        kind: InboxKind::Approval,
        todo: Some("T-38".into()),
        text: "Index for ready: its check is not approved".into(),
        since,
        blocks: 1,
        action: "punch verify T-38 --allow".into(),
        question: None,
    }];
    scene.board.apply(BoardInput::Changed);
    scene.press("!");
    (scene, BoardRequest::Approve(command))
}

#[test]
fn a_check_is_approved_after_its_command_was_on_screen_for_half_a_second() {
    let (mut scene, approved) = unapproved((120, 40), "make check\nrm -rf build");
    let picture = scene.picture();
    for part in ["May this command check", "make check", "rm -rf build", "y approve"] {
        assert!(picture.contains(part), "{part}: {picture}");
    }
    assert_eq!(scene.press("y"), [], "it has only just appeared");
    assert!(scene.picture().contains("only just appeared"));
    scene.pass(500);
    assert_eq!(scene.press("y"), [approved]);
}

#[test]
fn a_check_command_that_does_not_fit_has_to_be_scrolled_to_its_end() {
    let command: Vec<String> = (0..40).map(|n| format!("step {n}")).collect();
    let (mut scene, approved) = unapproved((40, 12), &command.join("\n"));
    scene.pass(10_000);
    assert!(scene.press("y").iter().all(BoardRequest::only_reads), "it is only shown");
    scene.pass(10_000);
    assert_eq!(scene.press("y"), [], "its end was never on the screen");
    for _ in 0..20 {
        scene.press("Ctrl-d");
    }
    scene.pass(500);
    assert_eq!(scene.press("y"), [approved]);
}

#[test]
fn a_terminal_below_an_agent_approves_nothing() {
    let (mut scene, approved) = unapproved((120, 40), "make check");
    scene.board.data_mut().no_answers = Some("an agent started this program".into());
    scene.board.apply(BoardInput::Changed);
    scene.show();
    scene.pass(1_000);
    assert_eq!(scene.press("y"), []);
    assert!(scene.picture().contains("Cannot be approved here"), "{}", scene.picture());
    // Who is at the terminal is looked at again when the approval is to be stored.
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("punch.db");
    punch_store::SqliteStore::open(&database, punch_store::OpenMode::Create).unwrap();
    let consents = || Consents::new(folder.path(), &database, folder.path());
    let tree = WorkTree { root: folder.path().into(), git: None, consents: Some(consents()) };
    let setup = BoardSetup { own_mark: Some("CLAUDECODE"), tree, ..setup(look()) };
    let job = BoardJob { opened: scene.feed.opened().cloned(), request: approved };
    let BoardInput::Done(Err(refused)) = carry_out(&setup, &job) else { panic!("it was approved") };
    assert!(refused.message.starts_with("only you can answer"), "{}", refused.message);
    assert!(!consents().has(&Verify::Shell("make check".into())));
}
