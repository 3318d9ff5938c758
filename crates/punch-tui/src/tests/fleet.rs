//! Workers of the fleet on the board.

use std::path::Path;
use std::sync::Arc;

use punch_core::{Actor, Uid, WorkerId};
use punch_engine::{WorkerBody, WorkerName, WriteRequest};
use punch_store::SessionKey;

use crate::board::{BoardPanel, RowKey};
use crate::setup::BoardStore;

use super::scene::{BoardScene, MINUTE, add, look};

/// How long a worker counts as alive.
const LEASE: i64 = 30_000;

fn register(opened: &BoardStore, name: &str, host: &str) -> WorkerName {
    let labels = [punch_core::Label::parse("gpu").unwrap()].into();
    let body = WorkerBody { host: host.into(), seats: 2, labels, ..WorkerBody::this_process(Path::new("/work"), "1") };
    opened.engine.register_worker(name, &body, LEASE).unwrap()
}

fn claim(opened: &BoardStore, worker: &WorkerName, uid: u64) {
    let owner = WorkerId { run: 1, epoch: worker.epoch, number: uid, fleet: Some(worker.name.clone()) }.to_string();
    let request = WriteRequest::of(Actor::runner(1, Some(&owner)));
    let key = SessionKey::new(format!("s-{owner}"), None);
    opened.engine.claim_for_worker(opened.plan, &request, &key, Uid(uid), 90 * MINUTE).unwrap();
}

/// Two workers on two machines, each with a todo.
fn at_work(size: (u16, u16)) -> BoardScene {
    let mut scene = BoardScene::new(look(), size);
    scene.submit(Actor::user(), &[add("T-1", "Train the model", &[]), add("T-2", "Test it", &[])]);
    let opened = Arc::clone(scene.feed.opened().unwrap());
    for (name, host, uid) in [("near", "lab", 1), ("far", "attic", 2)] {
        claim(&opened, &register(&opened, name, host), uid);
    }
    scene.pass(5_000);
    scene.refresh();
    scene
}

#[test]
fn the_run_view_lists_workers_by_machine_with_what_they_do() {
    let mut scene = at_work((120, 40));
    scene.press("5");
    let picture = scene.picture();
    let lines: Vec<String> =
        picture.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let at =
        |part: &str| lines.iter().position(|line| line.contains(part)).unwrap_or_else(|| panic!("{part}: {picture}"));
    assert_eq!((at("Workers on attic") + 1, at("Workers on lab") + 1), (at("far working"), at("near working")));
    assert!(lines[at("near working")].contains("near working 1/2 seats 0/h T-1 <1m gpu"), "{picture}");
    // The row of a worker stands for its todo.
    scene.press("G");
    assert_eq!(scene.board.pane(BoardPanel::Seats).selected(), Some(&RowKey::Worker("near".into())));
    assert_eq!(scene.board.target(), Some(Uid(1)));
}

#[test]
fn a_worker_that_is_lost_is_a_warning_in_the_first_view_and_its_todo_is_stuck() {
    for size in [(120, 40), (80, 24)] {
        let mut scene = at_work(size);
        assert!(!scene.picture().contains("is lost"), "{}", scene.picture());
        // Nobody writes: only time passes.
        scene.pass(2 * MINUTE);
        scene.refresh();
        let picture = scene.picture();
        for part in ["Working (2)", "worker far on attic is lost, last seen 2 minutes ago", "T-2 of plan main is stuck"]
        {
            assert!(picture.contains(part), "{part}: {picture}");
        }
        scene.press("5");
        let picture = scene.picture();
        for part in ["lost", "stuck: T-1", "claimed by near, which is gone"] {
            assert!(picture.contains(part), "{part}: {picture}");
        }
    }
}

#[test]
fn an_idle_board_is_not_woken_for_the_fleet() {
    let mut scene = at_work((120, 40));
    assert_eq!(scene.feed.next_look(), None);
    let opened = Arc::clone(scene.feed.opened().unwrap());
    register(&opened, "third", "lab");
    scene.refresh();
    let due = scene.feed.next_look().expect("the write came right after the last look");
    assert_eq!(scene.board.data().fleet.workers.len(), 2);
    scene.pass(due - scene.now());
    scene.refresh();
    assert_eq!((scene.board.data().fleet.workers.len(), scene.feed.next_look()), (3, None));
}
