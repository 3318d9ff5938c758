//! Cold calls of command lines: every call is a process of its own, as a hook or an agent's shell starts it.

use std::path::Path;
use std::time::{Duration, Instant};

use super::clients::{CommandLineTool, ToolWork};
use super::{ComparisonPart, ComparisonRow, SIZES, ToolFigure, Unit};
use crate::bench::cli::call::{self, Costs};

/// Calls of one kind: as many as fit into the time, which is three or more for every tool that answers within a second.
const MOST: u32 = 15;
const TIME: Duration = Duration::from_secs(3);
/// A tool that takes longer for a call, in milliseconds, is not measured with larger plans.
const TOO_SLOW: f64 = 3_000.0;

/// Measures every kind of call at every size.
pub fn measure(clients: &[CommandLineTool], room: &Path) -> Result<ComparisonPart, String> {
    let mut rows: Vec<ComparisonRow> = Vec::new();
    let mut slow: Vec<&str> = Vec::new();
    for size in SIZES {
        println!("==> cold calls at {size} todos");
        let mut columns: Vec<Option<Vec<f64>>> = Vec::new();
        for client in clients {
            if slow.contains(&client.name) {
                columns.push(None);
                continue;
            }
            let folder = room.join(size.to_string()).join(client.name.replace(' ', "-"));
            if let Some(mut import) = client.prepare(&folder, size)? {
                call::call(&mut import)?;
            }
            let column = column(client, &folder, size)?;
            println!("    {:<12} {}", client.name, column.iter().map(|ms| format!("{ms:>9.1}")).collect::<String>());
            if column.iter().any(|ms| *ms > TOO_SLOW) {
                slow.push(client.name);
            }
            columns.push(Some(column));
        }
        for (n, work) in ToolWork::ALL.iter().enumerate() {
            let what = format!("{}, {} todos", work.title(), super::page::thousands(u64::from(size)));
            let figure = |(client, column): (&CommandLineTool, &Option<Vec<f64>>)| ToolFigure {
                tool: client.name.into(),
                value: column.as_ref().map(|column| column[n]),
            };
            rows.push(ComparisonRow {
                what,
                unit: Unit::Cpu,
                figures: clients.iter().zip(&columns).map(figure).collect(),
            });
        }
    }
    Ok(ComparisonPart {
        title: "Calls of the command line",
        file: "calls",
        method: "Each call is a new process on a plan in layers, where every todo depends on three others. Median CPU time (user and \
                 system) of up to 15 calls within three seconds; a call that takes longer is measured once, and \
                 its tool is not measured with larger plans (a dash). What can be started: the first ten todos; Task Master only has \
                 `next`, which finds one.",
        rows,
        counts: Vec::new(),
    })
}

/// The medians of all kinds of work, in their order. A todo that is started is finished before the next one.
fn column(client: &CommandLineTool, folder: &Path, size: u32) -> Result<Vec<f64>, String> {
    let mut column = Vec::new();
    for works in [&[ToolWork::Ready][..], &[ToolWork::Show], &[ToolWork::Add], &[ToolWork::Start, ToolWork::Done]] {
        let mut costs = vec![Costs::default(); works.len()];
        let begin = Instant::now();
        for turn in 0..MOST {
            if turn > 0 && begin.elapsed() > TIME {
                break;
            }
            for (work, costs) in works.iter().zip(&mut costs) {
                costs.push(call::call(&mut client.work(folder, *work, size, turn))?);
            }
        }
        column.extend(costs.iter().map(Costs::cpu));
    }
    Ok(column)
}

/// Measures the import of a whole plan, where a tool has one.
pub fn import(clients: &[CommandLineTool], room: &Path) -> Result<ComparisonPart, String> {
    let mut rows = Vec::new();
    for size in SIZES {
        println!("==> import of {size} todos");
        let mut figures = Vec::new();
        for client in clients {
            let mut costs = Costs::default();
            for turn in 0..if client.imports() { 3 } else { 0 } {
                let folder = room.join(format!("{size}-{turn}")).join(client.name.replace(' ', "-"));
                let Some(mut import) = client.prepare(&folder, size)? else { break };
                costs.push(call::call(&mut import)?);
            }
            let value = Some(costs.cpu()).filter(|value| value.is_finite());
            figures.push(ToolFigure { tool: client.name.into(), value });
        }
        let what = format!("import {} todos with dependencies", super::page::thousands(u64::from(size)));
        rows.push(ComparisonRow { what, unit: Unit::Cpu, figures });
    }
    Ok(ComparisonPart {
        title: "Import",
        file: "import",
        method: "One command reads the whole plan from a file in the tool's own format. Median CPU time of three imports. Tools without \
                 such a command are left out: their files were written directly for the other measurements.",
        rows,
        counts: Vec::new(),
    })
}
