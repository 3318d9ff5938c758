//! `cargo xtask compare`: the same work with Punchlist and with other todo tools, in one run on one machine. Tools are
//! installed by name from their registries into a cache folder. What cannot be installed, and what another tool fails to do, is
//! reported on the page, `docs/benchmarks/compare.md`, and ends nothing.

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
use std::time::{Duration, Instant};

use crate::bench::cli::programs;
use crate::{TaskResult, install as own};

use install::ComparedTools;
pub use page::{PATH, thousands};

/// The longest that one command of a tool may take.
const LIMIT: Duration = Duration::from_secs(180);

/// How much is measured.
pub struct Scale {
    /// Sizes of the plans.
    sizes: &'static [u32],
    /// Calls of one kind, at most.
    calls: u32,
    /// Imports of one plan.
    imports: u32,
    /// Processes of each server.
    processes: u32,
    /// How long writers write at once.
    writing: Duration,
    /// How long writers are killed again and again.
    killing: Duration,
}

const FULL: Scale = Scale {
    sizes: &[100, 1_000, 10_000],
    calls: 15,
    imports: 3,
    processes: 3,
    writing: Duration::from_secs(6),
    killing: Duration::from_secs(15),
};

/// Enough to see that every tool works.
const QUICK: Scale = Scale {
    sizes: &[100],
    calls: 2,
    imports: 1,
    processes: 1,
    writing: Duration::from_secs(1),
    killing: Duration::from_secs(3),
};

/// One number of one tool.
#[derive(Clone, Debug)]
pub struct ToolFigure {
    /// The tool.
    pub tool: String,
    /// The number; `None` where the tool has no such function.
    pub value: Option<f64>,
}

impl ToolFigure {
    fn new(tool: &str, value: Option<f64>) -> Self {
        Self { tool: tool.into(), value }
    }
}

/// What went wrong with other tools, one line each.
#[derive(Debug, Default)]
pub struct Problems(Vec<String>);

impl Problems {
    /// Takes a result. An error of another tool is noted and leaves a gap; ours ends the comparison.
    fn keep<T>(&mut self, tool: &str, what: &str, result: Result<T, String>) -> Result<Option<T>, String> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(cause) if tool == install::OWN => Err(format!("{tool}, {what}: {cause}")),
            Err(cause) => {
                println!("    {tool}, {what}: {cause}");
                self.0.push(format!("{tool}, {what}: {}", first_line(&cause)));
                Ok(None)
            }
        }
    }
}

/// The beginning of an error that may be long, for a list.
fn first_line(cause: &str) -> String {
    let line = cause.lines().find(|line| !line.trim().is_empty()).unwrap_or("failed without a message").trim();
    let short: String = line.chars().take(160).collect();
    if short.len() < line.len() { format!("{short}…") } else { short.trim_end_matches('.').to_owned() }
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
    pub method: String,
    /// The rows.
    pub rows: Vec<ComparisonRow>,
    /// What else was counted, one line for each tool.
    pub counts: Vec<String>,
    /// What other tools failed to do.
    pub problems: Vec<String>,
}

/// Installs, measures and writes the page. A quick run writes nothing.
pub fn run(arguments: &[&str]) -> TaskResult {
    let (mut with_beads_rust, mut program, mut scale) = (false, None, FULL);
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match *word {
            "--with-beads-rust" => with_beads_rust = true,
            "--quick" => scale = QUICK,
            "--punch" => program = Some(PathBuf::from(words.next().ok_or("`--punch` needs a program")?)),
            unknown => {
                return Err(format!(
                    "unknown argument `{unknown}`; `compare` takes --quick, --with-beads-rust and --punch PROGRAM"
                ));
            }
        }
    }
    let is_quick = scale.sizes == QUICK.sizes;
    let begin = Instant::now();
    let room = tempfile::tempdir().map_err(|cause| format!("cannot make a temporary folder: {cause}"))?;
    println!("==> build punch, install the other tools");
    // Asked now: the page itself is a change.
    let source = machine::source(program.is_some());
    let built = program.map_or_else(|| own::build(&own::PUNCH).map(|built| built.path), Ok)?;
    let punch = programs::copied(&built, room.path(), "punch")?;
    let installed = ComparedTools::find(&punch, with_beads_rust)?;
    let counter = session::TokenCounter::build()?;
    for (tool, reason) in &installed.missing {
        println!("    without {tool}: {reason}");
    }
    println!("    {:.0} s", begin.elapsed().as_secs_f64());
    let clients = clients::all(&installed);
    let servers = servers::all(&installed);
    let mut parts = Vec::new();
    // Slow tools take most of the time, so the page is written after each part.
    let mut add = |part: ComparisonPart| {
        parts.push(part);
        if is_quick { Ok(()) } else { page::write(&parts, &installed, &source) }
    };
    add(session::tokens(&servers, &room.path().join("tokens"), &counter)?)?;
    add(calls::import(&clients, &room.path().join("import"), &scale)?)?;
    add(session::speed(&servers, &room.path().join("speed"), &scale)?)?;
    add(safety::measure(&clients, &room.path().join("safety"), &scale)?)?;
    add(calls::measure(&clients, &room.path().join("calls"), &scale)?)?;
    if is_quick {
        println!("\n{}", page::page(&parts, &installed, &source));
        println!("==> a quick run: too few measurements to publish, and nothing is written");
    } else {
        page::link()?;
        println!("==> {} is written", page::PATH);
    }
    println!("    {:.0} s in all", begin.elapsed().as_secs_f64());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_another_tool_leaves_a_gap_and_ours_ends_the_comparison() {
        let mut problems = Problems::default();
        assert_eq!(problems.keep("Taskwarrior", "add", Ok(1)), Ok(Some(1)));
        assert_eq!(problems.keep::<u8>("Taskwarrior", "add", Err("\n it broke.\nat line 1".into())), Ok(None));
        assert_eq!(problems.0, ["Taskwarrior, add: it broke"]);
        assert!(problems.keep::<u8>(install::OWN, "add", Err("it broke".into())).is_err());
        assert_eq!(first_line(&"x".repeat(200)).chars().count(), 161);
    }

    #[test]
    fn unknown_arguments_are_refused_before_anything_is_built() {
        assert!(run(&["--fast"]).unwrap_err().contains("--quick"));
    }
}
