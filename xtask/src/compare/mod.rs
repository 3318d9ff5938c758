//! `cargo xtask compare`: the same work with Punchlist and with other todo tools, in one run on one machine. Tools are
//! installed by name from their registries into a cache folder; what cannot be installed is reported. The results go to
//! `docs/benchmarks`.

mod calls;
mod chart;
mod clients;
mod install;
mod machine;
mod mcp;
mod page;
mod safety;
mod servers;
mod session;

use std::path::PathBuf;
use std::time::Instant;

use crate::bench::cli::programs;
use crate::{TaskResult, install as own, process};

use install::ComparedTools;
pub use page::thousands;

/// Sizes of the plans that cold calls are measured on.
const SIZES: [u32; 3] = [100, 1_000, 10_000];

/// One number of one tool.
#[derive(Clone, Debug)]
pub struct ToolFigure {
    /// The tool.
    pub tool: String,
    /// The number; `None` where the tool has no such function.
    pub value: Option<f64>,
}

/// One row: the same work with every tool.
#[derive(Clone, Debug)]
pub struct ComparisonRow {
    /// What was done.
    pub what: String,
    /// What the numbers count.
    pub unit: Unit,
    /// Punchlist first.
    pub figures: Vec<ToolFigure>,
}

/// What a number counts. Less is better everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Milliseconds of processor time.
    Cpu,
    /// Milliseconds on the clock.
    Wall,
    /// Tokens, as o200k counts them.
    Tokens,
    /// Writes that were acknowledged and are gone.
    Lost,
}

/// A group of rows with a heading and a picture.
pub struct ComparisonPart {
    /// The heading.
    pub title: &'static str,
    /// The name of its picture.
    pub file: &'static str,
    /// What was done, for readers who want to repeat it.
    pub method: &'static str,
    /// The rows.
    pub rows: Vec<ComparisonRow>,
    /// What else was counted, one line for each tool.
    pub counts: Vec<String>,
}

/// Installs, measures and writes the page.
pub fn run(arguments: &[&str]) -> TaskResult {
    let (mut with_beads_rust, mut program) = (false, None);
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match *word {
            "--with-beads-rust" => with_beads_rust = true,
            "--punch" => program = Some(PathBuf::from(words.next().ok_or("`--punch` needs a program")?)),
            unknown => {
                return Err(format!(
                    "unknown argument `{unknown}`; `compare` takes --with-beads-rust and --punch PROGRAM"
                ));
            }
        }
    }
    let begin = Instant::now();
    let room = tempfile::tempdir().map_err(|cause| format!("cannot make a temporary folder: {cause}"))?;
    println!("==> build punch, install the other tools");
    let built = program.map_or_else(|| own::build(&own::PUNCH).map(|built| built.path), Ok)?;
    let punch = programs::copied(&built, room.path(), "punch")?;
    let installed = ComparedTools::find(&punch, with_beads_rust)?;
    let counter = session::TokenCounter::build()?;
    println!("    {:.0} s", begin.elapsed().as_secs_f64());
    let clients = clients::all(&installed);
    let servers = servers::all(&installed);
    let folder = process::root().join("docs/benchmarks");
    let mut parts = Vec::new();
    // Slow tools take most of the time, so the page is written after each part.
    let mut add = |part: ComparisonPart| {
        parts.push(part);
        page::write(&folder, &parts, &installed)
    };
    add(session::tokens(&servers, &room.path().join("tokens"), &counter)?)?;
    add(calls::import(&clients, &room.path().join("import"))?)?;
    add(session::speed(&servers, &room.path().join("speed"))?)?;
    add(safety::measure(&clients, &room.path().join("safety"))?)?;
    add(calls::measure(&clients, &room.path().join("calls"))?)?;
    println!("==> docs/benchmarks is written, {:.0} s in all", begin.elapsed().as_secs_f64());
    Ok(())
}
