//! What the board looks up: logs of agents, who was informed, older revisions.

use std::sync::Arc;

use punch_core::{Actor, Op};
use punch_store::SessionKey;

use crate::board::BoardPanel;
use crate::request::BoardRequest;
use crate::setup::BoardSetup;
use crate::worker::{BoardJob, carry_out};

use super::scene::{BoardScene, add, id, look, setup, typical};

#[test]
#[cfg(unix)]
fn a_log_that_is_a_link_is_not_shown() {
    let folder = tempfile::tempdir().unwrap();
    let (secret, log) = (folder.path().join("secret"), folder.path().join("log"));
    std::fs::write(&secret, "the secret").unwrap();
    for (is_link, shown) in [(false, true), (true, false)] {
        let scene = typical(look(), (120, 40));
        let _ = std::fs::remove_file(&log);
        match is_link {
            true => std::os::unix::fs::symlink(&secret, &log).unwrap(),
            false => drop(std::fs::copy(&secret, &log).unwrap()),
        }
        let path = log.clone();
        let with_log = BoardSetup { agent_log: Box::new(move |_, _| Some(path.clone())), ..setup(look()) };
        let uid = scene.board.data().plan.as_ref().unwrap().by_id("T-31").unwrap().uid;
        let opened = scene.feed.opened().cloned();
        for request in [BoardRequest::AgentLog(uid), BoardRequest::Detail(uid)] {
            let found = carry_out(&with_log, &BoardJob { opened: opened.clone(), request });
            assert_eq!(format!("{found:?}").contains("the secret"), shown, "{found:?}");
        }
    }
}

#[test]
fn the_detail_says_which_agent_was_informed() {
    let mut scene = BoardScene::new(look(), (120, 40));
    scene.submit(Actor::user(), &[add("T-1", "Parser", &[])]);
    let opened = Arc::clone(scene.feed.opened().unwrap());
    let caller =
        punch_engine::call::ToolCaller::under(&scene.setup.settings, SessionKey::new("s-1", None), "claude".into());
    let write = serde_json::json!({"ops": [{"op": "note", "id": "T-1", "text": "seen"}]});
    let native = punch_engine::call::Dialect::Native;
    opened.engine.call(opened.plan, &caller, native, punch_engine::call::Tool::Write, &write, None).unwrap();
    scene.submit(Actor::user(), &[Op::Note(id("T-1"), "use version 2".into())]);
    scene.press("2");
    scene.select("T-1");
    let uid = scene.board.target().unwrap();
    scene.carry_out(BoardRequest::Detail(uid));
    let picture = scene.picture();
    assert!(picture.contains("informed: session s-1, at its next tool call"), "{picture}");
}

#[test]
fn the_log_goes_back_to_the_first_revision() {
    const REVISIONS: u64 = 450;
    let mut scene = BoardScene::new(look(), (120, 40));
    let opened = Arc::clone(scene.feed.opened().unwrap());
    let request = punch_engine::WriteRequest::of(Actor::user());
    for n in 1..=REVISIONS {
        opened.engine.submit(opened.plan, &request, &[add(&format!("T-{n}"), "Parser", &[])]).unwrap();
    }
    scene.refresh();
    scene.press("4");
    assert_eq!(scene.board.data().history.len(), 200);
    for (wanted, known) in [(400, 400), (800, 450)] {
        let asked = scene.press("G");
        assert!(asked.contains(&BoardRequest::Revisions(wanted)), "{asked:?}");
        asked.into_iter().for_each(|request| scene.carry_out(request));
        assert_eq!(scene.board.data().history.len(), known);
    }
    let asked = scene.press("G");
    assert!(!asked.iter().any(|request| matches!(request, BoardRequest::Revisions(_))), "{asked:?}");
    let history: Vec<u64> = scene.board.data().history.iter().map(|row| row.revision).collect();
    assert_eq!(history, (1..=REVISIONS).rev().collect::<Vec<_>>());
    // A new revision leaves the old ones there, and the cursor on its row.
    scene.submit(Actor::user(), &[add("T-451", "Parser", &[])]);
    assert_eq!(scene.board.data().history.len(), 450);
    assert_eq!(scene.board.panel(), BoardPanel::Log);
}

#[test]
fn a_pruned_log_is_asked_for_only_once() {
    let mut scene = BoardScene::new(look(), (120, 40));
    scene.submit(Actor::user(), &[add("T-1", "Parser", &[])]);
    scene.submit(Actor::user(), &[add("T-2", "Lexer", &[])]);
    scene.board.data_mut().history.truncate(1);
    let asked: Vec<BoardRequest> = ["4", "G", "G"].iter().flat_map(|key| scene.press(key)).collect();
    let count = asked.iter().filter(|request| matches!(request, BoardRequest::Revisions(_))).count();
    assert_eq!(count, 1, "{asked:?}");
}
