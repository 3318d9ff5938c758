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

/// Todos that are completed before the pictures are taken, and what the header says then.
const QUICK: &str = "T-5 T-7";
const PROGRESS: &str = "3/10 (30%)";

/// Makes the pictures again: an agent asks, two work on their second todo, and one todo waits for a decision.
pub fn make(punch: &Path) -> TaskResult {
    let folder = process::root().join(FOLDER);
    fs::create_dir_all(&folder).map_err(|cause| cause.to_string())?;
    let stage = scene(punch)?;
    let board = stage.board((120, 40))?;
    let variables = [("WORK", "600"), ("QUICK", QUICK), ("COST", "0.42"), ("TOKENS", "31000")];
    let _run = stage.run_with(3, &["--max-cost", "5"], &variables)?;
    board.wait_for("sqlx migrate run")?;
    board.wait_for(PROGRESS)?;
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
        &["add", "Migrate schema (ask)", "--phase", "Store", "--needs", "T-1", "--priority", "1", "--tokens", "60k"],
        &["add", "Backfill rows", "--phase", "Store", "--needs", "T-2", "--tokens", "40k"],
        &["add", "Drop the old column", "--phase", "Store", "--needs", "T-3", "--tokens", "20k"],
        &["add", "Better parser errors", "--phase", "Parser", "--tokens", "25k"],
        &["add", "Fuzz the reader", "--phase", "Parser", "--needs", "T-5", "--tokens", "50k"],
        &["add", "Write docs for hooks", "--phase", "Docs", "--tokens", "35k"],
        &["add", "Choose a license", "--phase", "Docs"],
        &["add", "Release notes", "--phase", "Docs", "--needs", "T-8", "--needs", "T-3", "--tokens", "10k"],
        &["add", "Show examples in the docs", "--phase", "Docs", "--needs", "T-7", "--tokens", "30k"],
        &["start", "T-1"],
        &["done", "T-1", "--evidence", "reviewed"],
        &["hold", "T-8", "MIT or Apache?"],
    ] {
        stage.punch(arguments)?;
    }
    Ok(stage)
}
