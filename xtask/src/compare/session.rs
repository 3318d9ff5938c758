//! MCP servers: how soon they are ready, what a call takes, and what a whole session puts into a model's context.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::servers::{ComparedServer, TODOS};
use super::{ComparisonPart, ComparisonRow, ToolFigure, Unit};
use crate::process;

/// Starts and calls of which the median is taken.
const STARTS: usize = 3;
const CALLS: u32 = 15;

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

/// Measures start, writing and reading.
pub fn speed(servers: &[ComparedServer], room: &Path) -> Result<ComparisonPart, String> {
    println!("==> MCP servers: time");
    let mut rows: Vec<ComparisonRow> = Vec::new();
    let titles = [
        ("start to list of tools", Unit::Wall),
        ("CPU of start and 20 todos", Unit::Cpu),
        ("add a todo", Unit::Wall),
        ("read the list of 20", Unit::Wall),
    ];
    for (what, unit) in titles {
        rows.push(ComparisonRow { what: what.into(), unit, figures: Vec::new() });
    }
    for server in servers {
        let folder = room.join(server.name.replace(' ', "-"));
        server.prepare(&folder)?;
        let mut starts = Vec::new();
        for _ in 0..STARTS {
            let begin = Instant::now();
            let mut connection = server.open(&folder)?;
            connection.request("tools/list", json!({}))?;
            starts.push(begin.elapsed());
            connection.close()?;
        }
        let mut values = vec![Some(median(starts)), None, None, None];
        if server.works() {
            let mut connection = server.open(&folder)?;
            let (mut adds, mut lists) = (Vec::new(), Vec::new());
            for n in 1..=TODOS {
                let begin = Instant::now();
                server.add(&mut connection, &folder, n)?;
                adds.push(begin.elapsed());
            }
            for _ in 0..CALLS {
                let begin = Instant::now();
                server.list(&mut connection, &folder)?;
                lists.push(begin.elapsed());
            }
            values[1] = Some(connection.close()?.as_secs_f64() * 1e3);
            values[2] = Some(median(adds));
            values[3] = Some(median(lists));
        }
        println!("    {:<12} {values:?}", server.name);
        for (row, value) in rows.iter_mut().zip(values) {
            row.figures.push(ToolFigure { tool: server.name.into(), value });
        }
    }
    Ok(ComparisonPart {
        title: "MCP servers: time",
        file: "mcp-time",
        method: "Each server is started in an empty project over standard input and output. Medians of 3 starts, 20 additions and 15 \
                 readings of the list of 20 todos; CPU time of one process from its start through all of these calls.",
        rows,
        counts: Vec::new(),
    })
}

/// Counts what stands in a model's context: the definitions of the tools, and a whole session.
pub fn tokens(servers: &[ComparedServer], room: &Path, counter: &TokenCounter) -> Result<ComparisonPart, String> {
    println!("==> MCP servers: tokens");
    let row = |what: &str| ComparisonRow { what: what.into(), unit: Unit::Tokens, figures: Vec::new() };
    let mut rows = vec![row("definitions of the tools and instructions"), row("whole session with 20 todos")];
    for server in servers {
        let folder = room.join(server.name.replace(' ', "-"));
        server.prepare(&folder)?;
        let mut connection = server.open(&folder)?;
        let tools = connection.request("tools/list", json!({}))?;
        let mut texts: Vec<String> = tools["tools"].as_array().into_iter().flatten().map(definition).collect();
        texts.push(connection.instructions.clone());
        let offered = counter.count(&texts)?;
        let mut whole = None;
        if server.works() {
            for exchange in server.session(&mut connection, &folder)? {
                texts.extend([exchange.call, exchange.answer]);
            }
            whole = Some(counter.count(&texts)?);
        }
        connection.close()?;
        println!("    {:<12} {offered} {whole:?}", server.name);
        for (row, value) in rows.iter_mut().zip([Some(offered), whole]) {
            row.figures.push(ToolFigure { tool: server.name.into(), value: value.map(|value| value as f64) });
        }
    }
    Ok(ComparisonPart {
        title: "MCP servers: tokens",
        file: "mcp-tokens",
        method: "Tokens as o200k counts them. The definitions are name, description and input schema of every tool, with the server's \
                 instructions. The session creates 20 todos that depend on each other, starts and finishes each, and reads the list at \
                 the end; it counts the definitions, the arguments of every call and every answer, once each. Tools that take many \
                 todos in one call are used that way. Task Master offers its `standard` set, the smallest one that can add a task.",
        rows,
        counts: Vec::new(),
    })
}

/// A tool as a model reads it.
fn definition(tool: &Value) -> String {
    json!({"name": tool["name"], "description": tool["description"], "input_schema": tool["inputSchema"]}).to_string()
}

/// In milliseconds.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 2).map_or(f64::NAN, |middle| middle.as_secs_f64() * 1e3)
}
