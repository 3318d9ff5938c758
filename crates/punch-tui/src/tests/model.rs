//! Any sequence of inputs keeps the board sound, and everything it did can be undone.

use proptest::prelude::*;
use punch_core::{Actor, Op, Plan, Todo};
use punch_engine::WriteRequest;

use crate::board::{BoardInput, BoardPanel, BoardView, RowKey};
use crate::keys::TABLE;
use crate::request::BoardRequest;

use super::scene::{BoardScene, add, id, look, typical};

/// One step out of three numbers: mostly keys, now and then the mouse, another size, time, or a change by an agent.
fn step(scene: &mut BoardScene, (kind, a, b): (u8, u8, u8)) -> Vec<BoardRequest> {
    let (x, y) = (u16::from(a), u16::from(b));
    match kind % 18 {
        0 => scene.board.apply(BoardInput::Click(x, y)),
        16 => {
            scene.board.apply(BoardInput::Drag(x, y));
            scene.board.apply(BoardInput::Release(x, y))
        }
        17 => scene.board.apply(BoardInput::Release(x, y)),
        1 => scene.board.apply(BoardInput::Wheel(x, y, if a.is_multiple_of(2) { 3 } else { -3 })),
        2 => scene.board.apply(BoardInput::Resize(x, y / 4)),
        3 => {
            scene.pass(i64::from(a) * 1_000);
            Vec::new()
        }
        4 => scene.board.apply(BoardInput::Paste("pasted 語\x1b[31m".into())),
        5 => {
            change(scene, a, b);
            Vec::new()
        }
        6 => {
            scene.type_text(["x", "語", "T-3", "is:ready", "\"", "under:T-35 "][usize::from(a) % 6]);
            Vec::new()
        }
        _ => {
            let binding = &TABLE[usize::from(a) % TABLE.len()];
            let keys: Vec<&str> = binding.keys[usize::from(b) % binding.keys.len()].split(' ').collect();
            keys.iter().flat_map(|name| scene.press(name)).collect()
        }
    }
}

/// A change by someone else; what is refused changes nothing, which is as good.
fn change(scene: &mut BoardScene, a: u8, b: u8) {
    let ids = ["T-8", "T-12", "T-31", "T-33", "T-36", "T-34", "T-35", "T-38", "T-39", "T-40", "T-42", "T-43", "T-50"];
    let target = id(ids[usize::from(b) % ids.len()]);
    let op = match a % 7 {
        0 => Op::Done { target, evidence: None, fence: None },
        1 => Op::Drop(target),
        2 => Op::Reopen(target),
        3 => Op::Rm(target),
        4 => Op::Start(target),
        5 => Op::Note(target, "a note".into()),
        _ => add(&format!("N-{a}-{b}"), "new", &[]),
    };
    let opened = std::sync::Arc::clone(scene.feed.opened().unwrap());
    drop(opened.engine.submit(opened.plan, &WriteRequest::of(Actor::agent("claude", "session")), &[op]));
    scene.refresh();
}

/// The cursor of every panel is on a row, and the panel with the cursor is one of the view.
fn is_sound(scene: &BoardScene) {
    let board = &scene.board;
    assert!(board.view().panels().contains(&board.panel()));
    for panel in BoardView::ALL.iter().flat_map(|view| view.panels()).copied() {
        let pane = board.pane(panel);
        assert!(pane.at < pane.rows.len().max(1), "{panel:?} {} of {}", pane.at, pane.rows.len());
        assert!(pane.top <= pane.at, "{panel:?}");
    }
    for uid in board.targets() {
        assert!(board.todo(uid).is_some());
    }
    let (width, height) = board.size();
    if width > 0 && height > 0 {
        scene.picture();
    }
}

fn fields(plan: &Plan) -> Vec<Todo> {
    let mut todos: Vec<Todo> = plan.live().into_iter().cloned().collect();
    for todo in &mut todos {
        // Undo leaves alone who works on a todo, and times and fences only grow.
        todo.updated_at = 0;
        (todo.fields.fence, todo.lease_until, todo.fields.owner) = (0, None, None);
        (todo.fields.started_at, todo.fields.attempts) = (None, 0);
    }
    todos
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_sequence_of_inputs_keeps_the_board_sound(steps in proptest::collection::vec(any::<(u8, u8, u8)>(), 1..80)) {
        let mut scene = typical(look(), (120, 40));
        for one in steps {
            for request in step(&mut scene, one) {
                match request {
                    // These leave the board.
                    BoardRequest::Foreground(_) | BoardRequest::NewAgent(_) | BoardRequest::Verb(_) | BoardRequest::Suspend | BoardRequest::Quit => {}
                    BoardRequest::Answer { question, .. } => prop_assert_eq!(question, 7),
                    request => {
                        scene.carry_out(request);
                        scene.refresh();
                    }
                }
            }
            scene.show();
            is_sound(&scene);
        }
    }

    #[test]
    fn the_inbox_of_the_board_is_that_of_the_command_line(steps in proptest::collection::vec(any::<(u8, u8)>(), 1..40)) {
        let mut scene = typical(look(), (120, 40));
        for (a, b) in steps {
            // What only time changes counts, too.
            scene.pass(60_000);
            change(&mut scene, a, b);
            let opened = std::sync::Arc::clone(scene.feed.opened().unwrap());
            let expected = opened.engine.inbox(opened.plan, &scene.setup.inbox_query()).unwrap();
            prop_assert_eq!(&scene.board.data().inbox, &expected);
        }
    }

    #[test]
    fn keys_that_look_around_ask_for_no_change(steps in proptest::collection::vec(any::<u8>(), 1..60)) {
        const LOOKING: [&str; 20] = [
            "j", "k", "Tab", "h", "1", "2", "3", "4", "5", "]", "[", "Enter", "Esc", "!", "E", "H", "t", "?", "Space", "G",
        ];
        let mut scene = typical(look(), (80, 24));
        for n in steps {
            for request in scene.press(LOOKING[usize::from(n) % LOOKING.len()]) {
                let is_reading = request.only_reads() || matches!(request, BoardRequest::MarkSeen(_));
                // The menu of all keys runs what is chosen in it.
                let from_menu = LOOKING[usize::from(n) % LOOKING.len()] == "Enter";
                prop_assert!(is_reading || from_menu, "{request:?}");
            }
        }
    }

    #[test]
    fn what_the_board_did_can_be_undone_from_it(steps in proptest::collection::vec(any::<(u8, u8)>(), 1..25)) {
        const CHANGING: [&str; 12] = ["s", "d", "r", "+", "-", "J", "K", "<", ">", "c", "X", "u"];
        let mut scene = typical(look(), (120, 40));
        scene.press("2");
        let before = fields(scene.board.data().plan.as_ref().unwrap());
        let first = scene.board.data().plan.as_ref().unwrap().row.revision;
        for (a, b) in steps {
            for _ in 0..b % 16 {
                scene.press("j");
            }
            scene.act(CHANGING[usize::from(a) % CHANGING.len()]);
            if scene.board.overlay().is_some() {
                scene.act("y");
            }
        }
        let made = scene.board.data().plan.as_ref().unwrap().row.revision - first;
        for _ in 0..made {
            scene.act("z");
        }
        let after = fields(scene.board.data().plan.as_ref().unwrap());
        for (after, before) in after.iter().zip(&before) {
            prop_assert_eq!(after, before);
        }
        prop_assert_eq!(after.len(), before.len());
    }
}

#[test]
fn the_cursor_stays_on_its_todo_when_others_come_and_go() {
    let mut scene = typical(look(), (120, 40));
    scene.press("2");
    for _ in 0..6 {
        scene.press("j");
    }
    let target = scene.board.target().unwrap();
    scene.submit(Actor::user(), &[add("N-1", "new", &[]), Op::Move(id("N-1"), punch_core::ListPosition::First)]);
    assert_eq!(scene.board.target(), Some(target));
    let gone = scene.board.todo(target).unwrap().id.clone();
    let next = scene.board.pane(BoardPanel::List).rows[scene.board.pane(BoardPanel::List).at + 1].clone();
    scene.submit(Actor::user(), &[Op::Rm(id(&gone))]);
    let RowKey::Todo(next) = next else { panic!("{next:?}") };
    assert_eq!(scene.board.target(), Some(next));
}

#[test]
fn escape_goes_back_one_step_and_never_quits() {
    let mut scene = typical(look(), (80, 24));
    scene.press("2");
    scene.press("/");
    scene.type_text("backfill");
    scene.press("Enter");
    assert!(scene.picture().contains("filter: backfill"));
    scene.press("Space");
    scene.press("Enter");
    assert!(scene.board.is_detail_open());
    scene.press("Esc");
    assert!(!scene.board.is_detail_open() && !scene.board.marked().is_empty());
    scene.press("Esc");
    assert!(scene.board.marked().is_empty() && !scene.board.filter_text().is_empty());
    scene.press("Esc");
    assert!(scene.board.filter_text().is_empty());
    scene.press("Esc");
    assert_eq!(scene.board.view(), BoardView::Now);
    assert_eq!(scene.press("Esc"), []);
}

#[test]
fn several_marked_todos_are_given_to_one_agent() {
    let mut scene = typical(look(), (120, 40));
    scene.press("2");
    scene.press("/");
    scene.type_text("is:ready");
    scene.press("Enter");
    scene.press("Home");
    scene.press("Space");
    scene.press("Space");
    scene.press("b");
    scene.type_text("claude");
    let requests = scene.press("Enter");
    let [BoardRequest::NewAgent(words)] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!(words.first().map(String::as_str), Some("assign"));
    assert_eq!(words.len(), 5, "{words:?}");
    assert_eq!(words[3..], ["--to", "claude"]);
}

#[test]
fn destructive_actions_say_what_they_will_do() {
    let mut scene = typical(look(), (120, 40));
    scene.press("2");
    scene.select("T-31");
    assert_eq!(scene.press("c"), []);
    let picture = scene.picture();
    assert!(picture.contains("Cancel T-31?"), "{picture}");
    assert!(picture.contains("T-34, T-35 depend on it."), "{picture}");
    assert!(picture.contains("run:3/1.1 is working on it."), "{picture}");
    assert_eq!(scene.press("Esc"), []);
    assert!(scene.board.data().plan.as_ref().unwrap().by_id("T-31").unwrap().status.is_open());
}

#[test]
fn a_refused_action_says_why_in_place() {
    let mut scene = typical(look(), (120, 40));
    scene.press("2");
    scene.select("T-34");
    scene.act("s");
    let picture = scene.picture();
    assert!(scene.board.notice().is_some_and(|notice| notice.is_problem), "{picture}");
    assert!(picture.contains("T-31"), "{picture}");
}
