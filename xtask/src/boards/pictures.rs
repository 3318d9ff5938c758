//! `cargo xtask boards --pictures`: pictures of the board during a run, for README and docs. They are made from what a real
//! terminal shows.

use std::fs;
use std::thread;
use std::time::Duration;

use super::stage::Stage;
use crate::{Done, process};

/// Where pictures go.
const FOLDER: &str = "docs/pictures";

/// Makes the pictures again.
pub fn make(punch: &std::path::Path) -> Done {
    let folder = process::root().join(FOLDER);
    fs::create_dir_all(&folder).map_err(|cause| cause.to_string())?;
    let stage = scene(punch)?;
    let board = stage.board((120, 40))?;
    let _run = stage.run(3, "600")?;
    board.wait_for("sqlx migrate run")?;
    thread::sleep(Duration::from_secs(1));
    for (key, name) in [("1", "now"), ("2", "list"), ("3", "graph"), ("4", "log"), ("5", "run")] {
        board.key(key)?;
        thread::sleep(Duration::from_secs(1));
        let picture = super::svg::svg(&board.colored_screen()?, 120);
        fs::write(folder.join(format!("watch-{name}.svg")), picture).map_err(|cause| cause.to_string())?;
    }
    println!("    pictures are in {FOLDER}");
    Ok(())
}

/// A plan that looks like one: phases, dependencies, a hold, something that failed.
fn scene(punch: &std::path::Path) -> Result<Stage, String> {
    let stage = Stage::new(punch)?;
    for arguments in [
        &["add", "Choose the schema", "--phase", "Store"][..],
        &["add", "Migrate schema (ask)", "--phase", "Store", "--needs", "T-1", "--priority", "1"],
        &["add", "Backfill rows", "--phase", "Store", "--needs", "T-2"],
        &["add", "Drop the old column", "--phase", "Store", "--needs", "T-3"],
        &["add", "Better parser errors", "--phase", "Parser"],
        &["add", "Fuzz the reader", "--phase", "Parser", "--needs", "T-5"],
        &["add", "Write docs for hooks", "--phase", "Docs"],
        &["add", "Choose a licence", "--phase", "Docs"],
        &["add", "Release notes", "--phase", "Docs", "--needs", "T-8", "--needs", "T-4"],
        &["done", "T-1"],
        &["hold", "T-8", "--reason", "MIT or Apache?"],
    ] {
        stage.punch(arguments)?;
    }
    Ok(stage)
}
