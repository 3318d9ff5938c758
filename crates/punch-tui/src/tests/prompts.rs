//! Typed lines: the filter, commands, completion.

use crate::board::{Overlay, PromptKind};
use crate::request::BoardRequest;

use super::scene::{BoardScene, look, typical};

fn typed(scene: &BoardScene) -> &str {
    match scene.board.overlay() {
        Some(Overlay::Prompt(prompt)) => &prompt.text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_filter_is_the_language_of_lists() {
    let mut scene = typical(look(), (120, 40));
    scene.press("2");
    for (filter, shown, hidden) in [
        ("is:ready", "T-38", "T-34"),
        ("is:working -schema", "T-33", "T-31"),
        ("needs:T-31", "T-34", "T-38"),
        ("by:run:3/1.2", "T-33", "T-36"),
        ("p:1", "T-38", "T-39"),
    ] {
        scene.press("/");
        scene.press("Ctrl-u");
        scene.type_text(filter);
        scene.press("Enter");
        let picture = scene.picture();
        let rows: String = picture.lines().map(|line| line.chars().take(40).collect::<String>() + "\n").collect();
        assert!(rows.contains(shown) && !rows.contains(&format!(" {hidden} ")), "{filter}:\n{picture}");
    }
}

#[test]
fn a_filter_that_is_not_understood_is_refused_where_it_was_typed() {
    let mut scene = typical(look(), (120, 40));
    scene.press("2");
    for wrong in ["is:redy", "nedes:T-1", "needs:T-999"] {
        scene.press("/");
        scene.press("Ctrl-u");
        scene.type_text(wrong);
        scene.press("Enter");
        assert!(scene.board.notice().is_some_and(|notice| notice.is_problem), "{wrong}");
        assert_eq!(typed(&scene), wrong, "it can be corrected");
        scene.press("Esc");
    }
    assert!(scene.board.filter_text().is_empty());
}

/// Whatever is typed, a notice about it is on the screen together with the typed line.
#[test]
fn a_notice_about_a_typed_line_is_shown_above_it() {
    for size in [(120, 40), (80, 24), (40, 12)] {
        let mut scene = typical(look(), size);
        scene.press("/");
        scene.type_text("is:foo");
        scene.press("Enter");
        let why = scene.board.notice().unwrap().text.lines().next().unwrap().to_owned();
        let why: String = why.chars().take(30).collect();
        let picture = scene.picture();
        let lines: Vec<&str> = picture.lines().collect();
        let typed = lines.iter().position(|line| line.contains("filter: is:foo"));
        assert_eq!(typed, Some(lines.len() - 1), "{picture}");
        let shown = lines.iter().position(|line| line.contains(&why));
        assert!(shown.is_some_and(|at| at + 3 >= lines.len() && at + 1 < lines.len()), "{why}: {picture}");
    }
}

#[test]
fn tab_completes_commands_todos_agents_and_terms() {
    let mut scene = typical(look(), (120, 40));
    scene.press(":");
    scene.type_text("s");
    scene.press("Tab");
    assert_eq!(typed(&scene), "show ");
    scene.type_text("T-5");
    scene.press("Tab");
    assert_eq!(typed(&scene), "show T-50 ");
    scene.press("Esc");
    scene.press(":");
    scene.type_text("h");
    scene.press("Tab");
    assert_eq!(typed(&scene), "ho");
    scene.press("Tab");
    assert!(scene.board.notice().is_some_and(|notice| notice.text == "hold  hook"));
    scene.press("Esc");
    scene.press("/");
    scene.type_text("is:re");
    scene.press("Tab");
    assert_eq!(typed(&scene), "is:ready ");
    scene.press("Esc");
    scene.press("2");
    scene.select("T-38");
    scene.press("b");
    scene.type_text("co");
    scene.press("Tab");
    assert_eq!(typed(&scene), "codex ");
}

#[test]
fn commands_are_remembered() {
    let mut scene = typical(look(), (120, 40));
    for command in ["list", "show T-8"] {
        scene.press(":");
        scene.type_text(command);
        assert_eq!(scene.press("Enter").len(), 1);
    }
    scene.press(":");
    scene.press("Up");
    assert_eq!(typed(&scene), "show T-8");
    scene.press("Up");
    assert_eq!(typed(&scene), "list");
    scene.press("Up");
    assert_eq!(typed(&scene), "");
    assert!(matches!(scene.board.overlay(), Some(Overlay::Prompt(prompt)) if prompt.kind == PromptKind::Command));
}

#[test]
fn commands_that_start_an_agent_get_a_window_and_the_board_does_not_start_itself() {
    let mut scene = typical(look(), (120, 40));
    let mut run = |line: &str| {
        scene.press(":");
        scene.type_text(line);
        scene.press("Enter")
    };
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(run("assign T-38 --to claude"), [BoardRequest::NewAgent(words("assign T-38 --to claude"))]);
    assert_eq!(run("run --agents 2"), [BoardRequest::NewAgent(words("run --agents 2"))]);
    assert_eq!(run("run show 3"), [BoardRequest::Verb(words("run show 3"))]);
    assert_eq!(run("edit T-38"), [BoardRequest::Foreground(words("edit T-38"))]);
    assert_eq!(run("show T-38"), [BoardRequest::Verb(words("show T-38"))]);
    assert_eq!(run("watch"), []);
}

#[test]
fn what_happens_when_a_session_wants_to_stop_is_chosen_from_a_menu() {
    let mut scene = typical(look(), (120, 40));
    scene.press("5");
    scene.press("G");
    assert!(scene.picture().contains("sent back to work (2 of 10)"), "{}", scene.picture());
    scene.press("P");
    assert!(scene.picture().contains("Resume: send it back to work"), "{}", scene.picture());
    let requests = scene.press("p");
    let to = punch_core::drive::Switch::Paused;
    assert_eq!(requests, [BoardRequest::KeepGoing { session: "1a2b3c4d5e6f".into(), to }]);
}

#[test]
fn tab_puts_a_new_todo_elsewhere() {
    for (tabs, label, needs, before) in [
        (0, "add after T-39", vec![], false),
        (1, "add what needs T-39", vec!["T-39"], false),
        (2, "add before T-39", vec![], true),
        (3, "add what T-39 needs", vec![], true),
        (4, "add at the end", vec![], false),
        (5, "add after T-39", vec![], false),
    ] {
        let mut scene = typical(look(), (120, 40));
        scene.press("2");
        scene.press("E");
        scene.select("T-39");
        scene.press("a");
        for _ in 0..tabs {
            scene.press("Tab");
        }
        assert!(scene.picture().contains(label), "{label}:\n{}", scene.picture());
        scene.type_text("Fresh");
        scene.act("Enter");
        let plan = scene.board.data().plan.as_ref().unwrap();
        let (fresh, beside) = (plan.by_id("T-51").unwrap(), plan.by_id("T-39").unwrap());
        assert_eq!(fresh.content, "Fresh");
        let needed = |todo: &punch_core::Todo| -> Vec<String> {
            let uids = todo.depends_on.iter().filter_map(punch_core::Dep::target);
            uids.map(|uid| plan.get(uid).unwrap().id.clone()).collect()
        };
        assert_eq!(needed(fresh), needs, "{label}");
        assert_eq!(fresh.position < beside.position, before, "{label}");
        assert_eq!(needed(beside).contains(&fresh.id), tabs == 3, "{label}");
        assert!(scene.picture().contains("Added T-51"), "{}", scene.picture());
    }
}

#[test]
fn the_end_of_a_long_line_of_wide_characters_stays_in_view() {
    for size in [(120, 40), (80, 24), (40, 12)] {
        let mut scene = typical(look(), size);
        scene.press("a");
        scene.type_text(&"語".repeat(100));
        scene.type_text("xyz");
        let picture = scene.picture();
        assert!(picture.contains("語xyz"), "{size:?}: {picture}");
    }
}
