//! Stores that are busy, old, missing or vanish: the last picture stays, says why, and comes back by itself.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use punch_core::Actor;
use punch_core::view::ClearDelay;
use punch_engine::{Engine, WriteRequest};
use punch_store::{MemoryStore, Store};

use crate::board::{Board, BoardInput};
use crate::feed::Feed;
use crate::setup::BoardStore;

use super::scene::{START, add, look, setup};

fn opened() -> BoardStore {
    let store = MemoryStore::new();
    let plan = store.create_plan("main", START).unwrap();
    let engine = Engine::new(Box::new(store), Box::new(|| START));
    engine.submit(plan, &WriteRequest::of(Actor::user()), &[add("T-1", "Survives", &[])]).unwrap();
    BoardStore { engine, plan, name: "main".to_owned() }
}

/// A board whose store opens as told, one answer for each try.
struct RecoveryBoard {
    board: Board,
    feed: Feed,
    now: i64,
}

impl RecoveryBoard {
    fn new(answers: Vec<Result<bool, &'static str>>) -> Self {
        let tries = AtomicUsize::new(0);
        let answers = Mutex::new(answers);
        let mut setup = setup(look());
        setup.open = Box::new(move || {
            let answers = answers.lock().unwrap();
            let at = tries.fetch_add(1, Ordering::Relaxed).min(answers.len() - 1);
            answers[at].map(|there| there.then(opened)).map_err(str::to_owned)
        });
        let board = Board::new(look(), ClearDelay::default(), (120, 40), START);
        let mut tried = Self { board, feed: Feed::new(Arc::new(setup)), now: START };
        tried.look_again();
        tried
    }

    fn look_again(&mut self) {
        self.now += 1_000;
        self.board.apply(BoardInput::Time(self.now));
        self.feed.refresh_plan(self.board.data_mut(), self.now);
        self.feed.refresh_around(self.board.data_mut(), self.now);
        self.board.apply(BoardInput::Changed);
    }

    fn picture(&self) -> String {
        let mut terminal = ratatui::Terminal::new(ratatui::backend::TestBackend::new(120, 40)).unwrap();
        terminal.draw(|frame| crate::draw::draw(&self.board, frame)).unwrap();
        crate::frame::text(terminal.backend().buffer(), false)
    }
}

#[test]
fn a_store_that_is_busy_or_too_new_is_tried_until_it_opens() {
    for why in ["the store is locked by another process", "the store was written by a newer version"] {
        let mut tried = RecoveryBoard::new(vec![Err(why), Err(why), Ok(true)]);
        assert!(tried.picture().contains(&why[..20]), "{}", tried.picture());
        tried.look_again();
        assert!(tried.picture().contains("trying again (1 s)"), "{}", tried.picture());
        tried.look_again();
        let picture = tried.picture();
        assert!(picture.contains("live") && picture.contains("Survives") && !picture.contains("trying"), "{picture}");
    }
}

#[test]
fn a_board_before_the_first_todo_finds_the_store_once_it_is_there() {
    let mut tried = RecoveryBoard::new(vec![Ok(false), Ok(true)]);
    assert!(tried.picture().contains("No plan yet. Press a to add the first todo."), "{}", tried.picture());
    tried.look_again();
    assert!(tried.picture().contains("Survives"), "{}", tried.picture());
}
