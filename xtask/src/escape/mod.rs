//! `cargo xtask escape`: who can write this, and what can it make run? Each cell lets one party write what it can
//! reach, lets the user continue with real commands, and then looks for a canary file and at the user's branch, index
//! and files.

mod files;
mod lanes;
mod projects;
mod shells;
mod world;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use crate::{TaskResult, process};
use world::EscapeWorld;

/// Cells at once. Most of them wait for processes.
const WORKERS: usize = 4;

/// One cell of the table.
struct Cell {
    /// Who writes.
    who: &'static str,
    /// What is written, and what happens then.
    what: String,
    /// What is expected of it.
    expected: ExpectedResult,
    /// Sets the trap and lets the user step into it. An error says what went wrong apart from the canary.
    run: Box<dyn Fn(&EscapeWorld) -> TaskResult + Send + Sync>,
}

/// What a cell shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ExpectedResult {
    /// Nothing runs, nothing of the user's changes.
    Held,
    /// The canary appears: shows that the cells beside it could fail.
    Runs,
}

impl Cell {
    fn held(
        who: &'static str,
        what: impl Into<String>,
        run: impl Fn(&EscapeWorld) -> TaskResult + Send + Sync + 'static,
    ) -> Self {
        Self { who, what: what.into(), expected: ExpectedResult::Held, run: Box::new(run) }
    }

    fn runs(
        who: &'static str,
        what: impl Into<String>,
        run: impl Fn(&EscapeWorld) -> TaskResult + Send + Sync + 'static,
    ) -> Self {
        Self { expected: ExpectedResult::Runs, ..Self::held(who, what, run) }
    }

    /// What became of it: a word, and whether that is as expected.
    fn judge(&self, punch: &Path) -> (String, bool) {
        let outcome = EscapeWorld::new(punch).and_then(|world| {
            (self.run)(&world)?;
            world.verdict()
        });
        match (outcome, self.expected) {
            (Ok(ran), ExpectedResult::Held) if !ran => ("held".to_owned(), true),
            (Ok(_), ExpectedResult::Held) => ("ESCAPED: the canary is there".to_owned(), false),
            (Ok(ran), ExpectedResult::Runs) => {
                (if ran { "runs, as it should" } else { "FAILED: it did not run" }.to_owned(), ran)
            }
            (Err(why), _) => (format!("FAILED: {why}"), false),
        }
    }
}

/// Runs the table. `--binary PATH` tries another build of `punch`.
pub fn run(arguments: &[&str]) -> TaskResult {
    let punch = match arguments {
        [] => process::build_punch()?,
        ["--binary", path] => PathBuf::from(path).canonicalize().map_err(|cause| format!("{path}: {cause}"))?,
        _ => return Err("`escape` takes nothing but `--binary PATH`".to_owned()),
    };
    let begun = Instant::now();
    let mut cells = lanes::cells();
    cells.extend(projects::cells());
    cells.extend(shells::cells());
    cells.extend(files::cells());
    let rows = judge_all(&cells, &punch);
    let width = |of: fn(&Cell) -> usize| cells.iter().map(of).max().unwrap_or_default();
    let (who, what) = (width(|cell| cell.who.chars().count()), width(|cell| cell.what.chars().count()));
    println!("{:<who$}  {:<what$}  result", "who", "writes and does");
    for (cell, (word, _)) in cells.iter().zip(&rows) {
        println!("{:<who$}  {:<what$}  {word}", cell.who, cell.what);
    }
    let failed = rows.iter().filter(|(_, good)| !good).count();
    println!("{} cells, {:.1} s", cells.len(), begun.elapsed().as_secs_f64());
    if failed == 0 { Ok(()) } else { Err(format!("{failed} cells are not as they should be")) }
}

fn judge_all(cells: &[Cell], punch: &Path) -> Vec<(String, bool)> {
    let next = AtomicUsize::new(0);
    let rows = Mutex::new(vec![(String::new(), false); cells.len()]);
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some((at, cell)) = Some(next.fetch_add(1, Ordering::Relaxed)).map(|at| (at, cells.get(at))) {
                    let Some(cell) = cell else { break };
                    let row = cell.judge(punch);
                    if let Ok(mut rows) = rows.lock() {
                        rows[at] = row;
                    }
                }
            });
        }
    });
    rows.into_inner().unwrap_or_default()
}
