//! Pictures of the board: sizes, with and without colors and Unicode, and plans from empty to very large.

use std::collections::BTreeSet;

use punch_core::view::Glyphs;
use punch_core::{Actor, ShownStatus};

use crate::board::BoardInput;
use crate::look::{BoardLook, BoardShape};
use crate::request::BoardRequest;

use super::scene::{BoardScene, add, large, look, typical};

const SIZES: [(u16, u16); 4] = [(120, 40), (80, 24), (40, 12), (20, 5)];

fn looks() -> [(&'static str, BoardLook); 2] {
    [("unicode", look()), ("ascii", BoardLook { glyphs: Glyphs::Ascii, colors: false, ..BoardLook::default() })]
}

/// The pictures of one scene in every size, as text or with the escapes that a terminal gets.
fn pictures(make: impl Fn(BoardLook, (u16, u16)) -> BoardScene, look: BoardLook, is_styled: bool) -> String {
    SIZES
        .iter()
        .map(|size| format!("{}x{}\n{}", size.0, size.1, crate::frame::text(&make(look, *size).buffer(), is_styled)))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn the_first_view_of_every_plan_in_every_size() {
    for (name, look) in looks() {
        insta::assert_snapshot!(format!("now_typical_{name}"), pictures(typical, look, false));
        for todos in [0, 1, 200, 10_000] {
            let make = |look, size| large(look, size, todos);
            insta::assert_snapshot!(format!("now_{todos}_{name}"), pictures(make, look, false));
            insta::assert_snapshot!(format!("now_{todos}_{name}_styled"), pictures(make, look, true));
        }
    }
}

#[test]
fn the_list_and_the_graph_of_large_plans() {
    let (name, look) = looks()[0];
    for todos in [200, 10_000] {
        for (view, keys) in [("list", &["2"][..]), ("graph", &["3"]), ("whole_graph", &["3", "t"])] {
            let make = |look, size| {
                let mut scene = large(look, size, todos);
                keys.iter().for_each(|key| drop(scene.press(key)));
                scene
            };
            insta::assert_snapshot!(format!("{view}_{todos}_{name}"), pictures(make, look, false));
        }
    }
}

#[test]
fn every_view_of_a_plan_in_the_middle_of_a_run() {
    for (name, look) in looks() {
        for (key, view) in [("2", "list"), ("3", "graph"), ("4", "log"), ("5", "run")] {
            let make = |look, size| {
                let mut scene = typical(look, size);
                scene.press(key);
                scene
            };
            insta::assert_snapshot!(format!("{view}_typical_{name}"), pictures(make, look, false));
        }
    }
}

#[test]
fn the_run_view_shows_who_would_work_on_what_and_when() {
    for (name, look) in looks() {
        let mut scene = typical(look, (120, 40));
        let asked = scene.press("5").into_iter().find(|request| matches!(request, BoardRequest::Timeline(_)));
        scene.carry_out(asked.unwrap());
        let picture = scene.picture();
        let mut lines = picture.lines().skip_while(|line| !line.contains("Planned"));
        assert!(lines.next().is_some(), "{name}: {picture}");
        let (first, axis) = (lines.next().unwrap(), lines.next().unwrap());
        assert!(first.contains(look.pick("  1 ▏T-", "  1 |T-")), "{name}: {picture}");
        assert!(axis.contains("now"), "{name}: {picture}");
    }
}

#[test]
fn colors_carry_no_meaning_alone() {
    insta::assert_snapshot!("now_typical_colors", pictures(typical, look(), true));
    let plain = BoardLook { colors: false, ..look() };
    for size in SIZES {
        let (with, without) = (typical(look(), size), typical(plain, size));
        assert_eq!(with.picture(), without.picture());
        assert!(without.buffer().content().iter().all(|cell| cell.fg == ratatui::style::Color::Reset));
    }
}

#[test]
fn every_status_has_a_sign_of_its_own() {
    for (_, look) in looks() {
        let signs: BTreeSet<&str> = ShownStatus::all().map(|status| look.status(status)).collect();
        assert_eq!(signs.len(), ShownStatus::all().count());
        let words: BTreeSet<&str> = ShownStatus::all().map(ShownStatus::word).collect();
        assert_eq!(words.len(), ShownStatus::all().count());
    }
}

#[test]
fn ascii_pictures_are_ascii() {
    let (_, ascii) = looks()[1];
    for size in SIZES {
        for key in ["1", "2", "3", "4", "5", "?"] {
            let mut scene = typical(ascii, size);
            scene.press(key);
            let picture = scene.picture();
            assert!(picture.is_ascii(), "{key} at {size:?}: {picture}");
        }
    }
}

#[test]
fn wide_characters_and_hostile_text_stay_in_their_places() {
    let make = |look, size| {
        let mut scene = BoardScene::new(look, size);
        scene.submit(
            Actor::user(),
            &[
                add("T-1", "設計を見直して、依存関係を整理する 🧑‍🚀 and a long tail of words that will not fit", &[]),
                add("T-2", "\u{1b}[31mred\u{7} \u{202e}desrever \u{200b}zero\twidth", &[]),
                add("a\u{1b}]0;title\u{7}b", "hostile id", &["T-1"]),
                add("T-4", &"x".repeat(5_000), &[]),
            ],
        );
        scene
    };
    insta::assert_snapshot!("now_hostile", pictures(make, look(), false));
    for size in SIZES {
        for cell in make(look(), size).buffer().content() {
            assert!(!cell.symbol().chars().any(char::is_control), "{:?}", cell.symbol());
        }
    }
}

#[test]
fn the_panel_is_the_box_of_tasks() {
    let shape = BoardLook { shape: BoardShape::Panel, ..look() };
    insta::assert_snapshot!("panel", pictures(typical, shape, false));
}

#[test]
fn a_store_that_cannot_be_read_leaves_the_last_picture() {
    let mut scene = typical(look(), (120, 40));
    let since = scene.now() - 12_000;
    scene.board.data_mut().trouble = Some(("the store is locked".into(), since));
    scene.board.apply(BoardInput::Changed);
    let picture = scene.picture();
    assert!(picture.contains("store: the store is locked, trying again (12 s)"), "{picture}");
    assert!(picture.contains("Migrate schema"), "{picture}");
}

#[test]
fn a_failed_write_of_an_agent_marks_the_picture_as_stale() {
    let mut scene = typical(look(), (120, 40));
    scene.board.data_mut().failed_write = Some("claude could not change the plan: unknown todo".into());
    scene.board.apply(BoardInput::Changed);
    assert!(scene.picture().contains("STALE"), "{}", scene.picture());
}

#[test]
fn the_hint_to_all_keys_is_never_cut() {
    for (width, height) in [(60, 18), (80, 24), (110, 30), (200, 50)] {
        let picture = typical(look(), (width, height)).picture();
        assert!(picture.contains("? all keys"), "{width}x{height}: {picture}");
    }
}

#[test]
fn the_panel_says_that_it_is_stale_however_small_it_is() {
    let shape = BoardLook { shape: BoardShape::Panel, ..look() };
    for size in [(40, 12), (80, 24), (40, 3)] {
        for is_trouble in [true, false] {
            let mut scene = typical(shape, size);
            let why = "the store is locked";
            match is_trouble {
                true => scene.board.data_mut().trouble = Some((why.into(), scene.now())),
                false => scene.board.data_mut().failed_write = Some(why.into()),
            }
            scene.board.apply(BoardInput::Changed);
            let picture = scene.picture();
            assert!(picture.contains("STALE: the store is locked"), "{size:?}: {picture}");
        }
    }
}
