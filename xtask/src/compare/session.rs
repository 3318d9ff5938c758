//! MCP servers: how soon they are ready, what a call takes, and what a whole session puts into a model's context.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::mcp::McpProcess;
use super::servers::{ComparedServer, TODOS};
use super::{ComparisonPart, ComparisonRow, Problems, Scale, ToolFigure, Unit};
use crate::process;

/// How often the list is read.
const READS: u32 = 15;

/// Counts tokens with a program of the workspace, so that the task runner itself need not be built with a tokenizer.
pub struct TokenCounter(PathBuf);

impl TokenCounter {
    /// Builds the program.
    pub fn build() -> Result<Self, String> {
        let mut cargo = process::cargo();
        cargo.args([
            "build",
            "--quiet",
            "-p",
            "punch-serve",
            "--example",
            "tokens",
            "--message-format=json-render-diagnostics",
        ]);
        let path = crate::install::executable(&process::read(&mut cargo)?);
        path.map(Self).ok_or_else(|| "cargo built no program that counts tokens".to_owned())
    }

    fn count(&self, texts: &[String]) -> Result<u64, String> {
        let child = Command::new(&self.0).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.map_err(|cause| format!("{}: {cause}", self.0.display()))?;
        if let Some(mut input) = child.stdin.take() {
            input.write_all(json!(texts).to_string().as_bytes()).map_err(|cause| cause.to_string())?;
        }
        let output = child.wait_with_output().map_err(|cause| cause.to_string())?;
        let said = String::from_utf8_lossy(&output.stdout);
        said.trim().parse().map_err(|_| format!("the token counter said `{said}`"))
    }
}

/// What is done with a new server, and what its rows are called: the CPU time of the whole process, and the time of one
/// answer.
const WORKS: [(&str, &str, ServerWork); 3] = [
    ("start and list the tools", "start and list the tools, on the clock", start),
    ("start and add 20 todos", "add a todo, on the clock", add),
    ("start and read the list of 20 todos 15 times", "read the list of 20 todos, on the clock", read),
];

/// Returns how long each answer took.
type ServerWork = fn(&ComparedServer, &mut McpProcess, &Path) -> Result<Vec<Duration>, String>;

fn start(_: &ComparedServer, connection: &mut McpProcess, _: &Path) -> Result<Vec<Duration>, String> {
    connection.request("tools/list", json!({})).map(|_| Vec::new())
}

fn add(server: &ComparedServer, connection: &mut McpProcess, folder: &Path) -> Result<Vec<Duration>, String> {
    (1..=TODOS).map(|n| timed(|| server.add(connection, folder, n))).collect()
}

fn read(server: &ComparedServer, connection: &mut McpProcess, folder: &Path) -> Result<Vec<Duration>, String> {
    (0..READS).map(|_| timed(|| server.list(connection, folder))).collect()
}

fn timed<T>(work: impl FnOnce() -> Result<T, String>) -> Result<Duration, String> {
    let begin = Instant::now();
    work().map(|_| begin.elapsed())
}

/// Measures start, writing and reading, each in new processes. The list is read in the projects that were written to.
pub fn speed(servers: &[ComparedServer], room: &Path, scale: &Scale) -> Result<ComparisonPart, String> {
    println!("==> MCP servers: time");
    let row = |what: &str, unit| ComparisonRow { what: what.into(), unit, figures: Vec::new() };
    let mut rows: Vec<ComparisonRow> = WORKS.iter().map(|(cpu, ..)| row(cpu, Unit::Cpu)).collect();
    rows.extend(WORKS.iter().map(|(_, wall, _)| row(wall, Unit::Wall)));
    let mut problems = Problems::default();
    for server in servers {
        let folder = |turn: u32| room.join(turn.to_string()).join(server.name.replace(' ', "-"));
        let prepared = (0..scale.processes).try_for_each(|turn| server.prepare(&folder(turn)));
        let is_ready = problems.keep(server.name, "a new project", prepared)?.is_some();
        for (n, (what, _, work)) in WORKS.iter().enumerate() {
            // Without its program, a server can be started, but not used.
            let measured = (is_ready && (n == 0 || server.works())).then(|| {
                (0..scale.processes).map(|turn| serve(server, &folder(turn), *work)).collect::<Result<Vec<_>, _>>()
            });
            let measured = measured.map(|measured| problems.keep(server.name, what, measured)).transpose()?.flatten();
            let (cpu, walls): (Vec<_>, Vec<_>) = measured.unwrap_or_default().into_iter().unzip();
            let values = [median(cpu), median(walls.concat())];
            println!("    {:<12} {what}: {values:.1?}", server.name);
            for (row, value) in [n, n + WORKS.len()].into_iter().zip(values) {
                rows[row].figures.push(ToolFigure::new(server.name, value));
            }
        }
    }
    Ok(ComparisonPart {
        title: "MCP servers: time",
        file: "mcp-time",
        method: format!(
            "Each server is started in {n} new projects over standard input and output. The first rows count the CPU time of a whole process, \
             from its start to its end: median of {n} processes each. Rows on the clock say how long a client waits for one answer: median \
             of {n} starts, {} additions and {} readings.",
            scale.processes * TODOS,
            scale.processes * READS,
            n = scale.processes,
        ),
        rows,
        counts: Vec::new(),
        problems: problems.0,
    })
}

/// Starts a server, works with it and ends it: its CPU time, and how long each answer took.
fn serve(server: &ComparedServer, folder: &Path, work: ServerWork) -> Result<(Duration, Vec<Duration>), String> {
    let begin = Instant::now();
    let mut connection = server.open(folder)?;
    let mut answers = work(server, &mut connection, folder)?;
    if answers.is_empty() {
        answers.push(begin.elapsed());
    }
    Ok((connection.close()?, answers))
}

/// Counts what stands in a model's context: the definitions of the tools, and a whole session.
pub fn tokens(servers: &[ComparedServer], room: &Path, counter: &TokenCounter) -> Result<ComparisonPart, String> {
    println!("==> MCP servers: tokens");
    let row = |what: &str| ComparisonRow { what: what.into(), unit: Unit::Tokens, figures: Vec::new() };
    let mut rows = vec![row("definitions of the tools and instructions"), row("whole session with 20 todos")];
    let mut problems = Problems::default();
    for server in servers {
        let folder = room.join(server.name.replace(' ', "-"));
        let counted = server.prepare(&folder).and_then(|()| count(server, &folder, counter));
        let (offered, whole) = problems.keep(server.name, "tokens", counted)?.unzip();
        println!("    {:<12} {offered:?} {whole:?}", server.name);
        for (row, value) in rows.iter_mut().zip([offered, whole.flatten()]) {
            row.figures.push(ToolFigure::new(server.name, value.map(|value| value as f64)));
        }
    }
    Ok(ComparisonPart {
        title: "MCP servers: tokens",
        file: "mcp-tokens",
        method: "Tokens as o200k counts them. The definitions are name, description and input schema of every tool, with the server's \
                 instructions. The session creates 20 todos that depend on each other, starts and finishes each, and reads the list at \
                 the end; it counts the definitions, the arguments of every call and every answer, once each. Tools that take many \
                 todos in one call are used that way. Task Master offers its `standard` set, the smallest one that can add a task."
            .to_owned(),
        rows,
        counts: Vec::new(),
        problems: problems.0,
    })
}

/// Tokens of what a server offers, and of that with a whole session, where the server can do one here.
fn count(server: &ComparedServer, folder: &Path, counter: &TokenCounter) -> Result<(u64, Option<u64>), String> {
    let mut connection = server.open(folder)?;
    let tools = connection.request("tools/list", json!({}))?;
    let mut texts: Vec<String> = tools["tools"].as_array().into_iter().flatten().map(definition).collect();
    texts.push(connection.instructions.clone());
    let offered = counter.count(&texts)?;
    if !server.works() {
        return Ok((offered, None));
    }
    for exchange in server.session(&mut connection, folder)? {
        texts.extend([exchange.call, exchange.answer]);
    }
    Ok((offered, Some(counter.count(&texts)?)))
}

/// A tool as a model reads it.
fn definition(tool: &Value) -> String {
    json!({"name": tool["name"], "description": tool["description"], "input_schema": tool["inputSchema"]}).to_string()
}

/// In milliseconds.
fn median(mut times: Vec<Duration>) -> Option<f64> {
    times.sort_unstable();
    times.get(times.len() / 2).map(|middle| middle.as_secs_f64() * 1e3)
}
