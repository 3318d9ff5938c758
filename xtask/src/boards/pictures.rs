//! `cargo xtask boards --pictures`: pictures of the board during a run, for the documentation. They are made from what a
//! real terminal shows.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::stage::BoardProject;
use crate::svg::{lines, svg};
use crate::{TaskResult, process};

/// Where pictures go.
const FOLDER: &str = "docs/images";

/// Makes the pictures again: an agent asks, two work, one todo waits for a decision.
pub fn make(punch: &Path) -> TaskResult {
    let folder = process::root().join(FOLDER);
    fs::create_dir_all(&folder).map_err(|cause| cause.to_string())?;
    let stage = scene(punch)?;
    let board = stage.board((120, 40))?;
    let _run = stage.run(3, "600")?;
    board.wait_for("sqlx migrate run")?;
    for (key, name, size) in [
        ("1", "now", (120, 36)),
        ("2", "list", (120, 24)),
        ("3", "graph", (120, 24)),
        ("4", "log", (120, 24)),
        ("5", "run", (120, 30)),
        ("1", "small", (40, 12)),
    ] {
        board.resize(size.0, size.1)?;
        board.key(key)?;
        thread::sleep(Duration::from_secs(2));
        let picture = svg(&lines(&board.colored_screen()?), usize::from(size.0));
        fs::write(folder.join(format!("watch-{name}.svg")), picture).map_err(|cause| cause.to_string())?;
        println!("{FOLDER}/watch-{name}.svg");
    }
    Ok(())
}

/// A plan that looks like one: phases, dependencies, a hold, something that is done.
fn scene(punch: &Path) -> Result<BoardProject, String> {
    let stage = BoardProject::new(punch)?;
    for arguments in [
        &["add", "Choose the schema", "--phase", "Store"][..],
        &["add", "Migrate schema (ask)", "--phase", "Store", "--needs", "T-1", "--priority", "1"],
        &["add", "Backfill rows", "--phase", "Store", "--needs", "T-2"],
        &["add", "Drop the old column", "--phase", "Store", "--needs", "T-3"],
        &["add", "Better parser errors", "--phase", "Parser"],
        &["add", "Fuzz the reader", "--phase", "Parser", "--needs", "T-5"],
        &["add", "Write docs for hooks", "--phase", "Docs"],
        &["add", "Choose a license", "--phase", "Docs"],
        &["add", "Release notes", "--phase", "Docs", "--needs", "T-8", "--needs", "T-3"],
        &["start", "T-1"],
        &["done", "T-1", "--evidence", "reviewed"],
        &["hold", "T-8", "MIT or Apache?"],
    ] {
        stage.punch(arguments)?;
    }
    Ok(stage)
}
