//! Cold calls of command lines: every call is a process of its own, as a hook or an agent's shell starts it.

use std::path::Path;
use std::time::{Duration, Instant};

use super::clients::{CommandLineTool, ToolWork};
use super::{ComparisonPart, ComparisonRow, LIMIT, Problems, Scale, ToolFigure, Unit};
use crate::bench::cli::call::{self, Costs};
use crate::compare::thousands;

/// Calls of one kind: as many as fit into the time, which is three or more for every tool that answers within a second.
const TIME: Duration = Duration::from_secs(3);
/// A tool that takes longer for a call, in milliseconds, is not measured with larger plans.
const TOO_SLOW: f64 = 3_000.0;

/// Measures every kind of call at every size.
pub fn measure(clients: &[CommandLineTool], room: &Path, scale: &Scale) -> Result<ComparisonPart, String> {
    let mut rows: Vec<ComparisonRow> = Vec::new();
    let mut given_up: Vec<&str> = Vec::new();
    let mut problems = Problems::default();
    for size in scale.sizes.iter().copied() {
        println!("==> cold calls at {size} todos");
        let mut columns: Vec<Vec<Option<f64>>> = Vec::new();
        for client in clients {
            if given_up.contains(&client.name) {
                columns.push(vec![None; ToolWork::ALL.len()]);
                continue;
            }
            let folder = room.join(size.to_string()).join(client.name.replace(' ', "-"));
            let plan = client.prepare(&folder, size);
            let plan =
                plan.and_then(|import| import.map(|mut import| call::call_within(LIMIT, &mut import)).transpose());
            let what = format!("a plan of {} todos", thousands(size.into()));
            let column = match problems.keep(client.name, &what, plan)? {
                Some(_) => column(client, &folder, size, scale.calls, &mut problems)?,
                None => vec![None; ToolWork::ALL.len()],
            };
            let texts = column.iter().map(|ms| ms.map_or_else(|| format!("{:>9}", "-"), |ms| format!("{ms:>9.1}")));
            println!("    {:<12} {}", client.name, texts.collect::<String>());
            if column.iter().any(|ms| ms.is_none_or(|ms| ms > TOO_SLOW)) {
                given_up.push(client.name);
            }
            columns.push(column);
        }
        for (n, work) in ToolWork::ALL.iter().enumerate() {
            let figures = clients.iter().zip(&columns).map(|(client, column)| ToolFigure::new(client.name, column[n]));
            let what = format!("{}, {} todos", work.title(), thousands(size.into()));
            rows.push(ComparisonRow { what, unit: Unit::Cpu, figures: figures.collect() });
        }
    }
    Ok(ComparisonPart {
        title: "Calls of the command line",
        file: "calls",
        method: format!(
            "Each call is a new process on a plan in layers, where every todo depends on three others. Median CPU time (user and system) \
             of up to {} calls within three seconds; a call that takes longer is measured once, and its tool is not measured with larger \
             plans (a dash). What can be started: the first ten todos; Task Master only has `next`, which finds one.",
            scale.calls
        ),
        rows,
        counts: Vec::new(),
        problems: problems.0,
    })
}

/// The medians of all kinds of work, in their order. A todo that is started is finished before the next one.
fn column(
    client: &CommandLineTool,
    folder: &Path,
    size: u32,
    calls: u32,
    problems: &mut Problems,
) -> Result<Vec<Option<f64>>, String> {
    let mut column = Vec::new();
    for works in [&[ToolWork::Ready][..], &[ToolWork::Show], &[ToolWork::Add], &[ToolWork::Start, ToolWork::Done]] {
        let mut costs = vec![Costs::default(); works.len()];
        let begin = Instant::now();
        'turns: for turn in 0..calls {
            if turn > 0 && begin.elapsed() > TIME {
                break;
            }
            for (work, costs) in works.iter().zip(&mut costs) {
                let cost = call::call_within(LIMIT, &mut client.work(folder, *work, size, turn));
                let what = format!("{}, {} todos", work.title(), thousands(size.into()));
                match problems.keep(client.name, &what, cost)? {
                    Some(cost) => costs.push(cost),
                    None => break 'turns,
                }
            }
        }
        column.extend(costs.iter().map(median));
    }
    Ok(column)
}

/// The median of the CPU time in milliseconds; `None` if nothing was measured.
fn median(costs: &Costs) -> Option<f64> {
    Some(costs.cpu()).filter(|value| value.is_finite())
}

/// Measures the import of a whole plan, where a tool has one.
pub fn import(clients: &[CommandLineTool], room: &Path, scale: &Scale) -> Result<ComparisonPart, String> {
    let (mut rows, mut problems) = (Vec::new(), Problems::default());
    for size in scale.sizes.iter().copied() {
        println!("==> import of {size} todos");
        let what = format!("import {} todos with dependencies", thousands(size.into()));
        let mut figures = Vec::new();
        for client in clients.iter().filter(|client| client.imports()) {
            let mut costs = Costs::default();
            for turn in 0..scale.imports {
                let folder = room.join(format!("{size}-{turn}")).join(client.name.replace(' ', "-"));
                let cost = client.prepare(&folder, size).and_then(|import| {
                    call::call_within(LIMIT, &mut import.ok_or("there is no command that imports a plan")?)
                });
                match problems.keep(client.name, &what, cost)? {
                    Some(cost) => costs.push(cost),
                    None => break,
                }
            }
            figures.push(ToolFigure::new(client.name, median(&costs)));
        }
        rows.push(ComparisonRow { what, unit: Unit::Cpu, figures });
    }
    Ok(ComparisonPart {
        title: "Import",
        file: "import",
        method: format!(
            "One command reads the whole plan from a file in the tool's own format. Median CPU time of {} imports, each into a new \
             project. Tools without such a command are left out: their files were written directly for the other measurements.",
            scale.imports
        ),
        rows,
        counts: Vec::new(),
        problems: problems.0,
    })
}
