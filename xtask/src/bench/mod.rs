//! `cargo xtask bench core`: what the core costs, in instructions, beside a naive rescan and petgraph.
//!
//! Instructions and not time: they are the same on every run and on a busy machine, so a limit can be a limit.

mod callgrind;
mod cases;
pub mod cli;
mod mcp;
pub mod run;
mod tools;

use std::collections::BTreeMap;

use callgrind::{Bench, Count};
use cases::{CASES, Case};

use crate::process;

pub use mcp::mcp;

/// What the orders of a schedule gain and cost.
pub fn schedule() -> Result<(), String> {
    process::run(process::cargo().args(["bench", "--package", "punch-core", "--bench", "schedule_cost"]))
}

/// Measures every case, prints one table, and fails if a target is missed.
pub fn core() -> Result<(), String> {
    let bench = Bench::build()?;
    println!(
        "{:<34} {:>9} {:>12} {:>8} {:>10} {:>10} {:>10}  target",
        "operation", "size", "instr/op", "x 1k", "naive x", "petgraph x", "bytes/todo"
    );
    let mut missed = Vec::new();
    for case in CASES {
        let mut first = None;
        for &size in case.sizes {
            let Some(ours) = bench.run("punch", case.case, size)? else {
                println!("{:<34} {size:>9} {:>12}", case.title, "missing");
                continue;
            };
            let first = *first.get_or_insert(ours.per_op());
            let mut row = Row { case, size, ours, first, others: BTreeMap::new() };
            for &engine in case.against {
                if let Some(count) = bench.run(engine, case.case, size)? {
                    row.others.insert(engine, count.per_op());
                }
            }
            println!("{}", row.text());
            missed.extend(row.missed());
        }
    }
    if missed.is_empty() { Ok(()) } else { Err(format!("targets missed:\n{}", missed.join("\n"))) }
}

struct Row {
    case: &'static Case,
    size: u32,
    ours: Count,
    first: f64,
    others: BTreeMap<&'static str, f64>,
}

impl Row {
    fn text(&self) -> String {
        let ours = self.ours.per_op();
        let ratio = |engine| self.others.get(engine).map_or("-".to_owned(), |theirs| format!("{:.1}", theirs / ours));
        let bytes = self.bytes().map_or("-".to_owned(), |bytes| format!("{bytes:.0}"));
        let verdict = match (self.case.target(self.size), self.missed().is_empty()) {
            (text, _) if text.is_empty() => String::new(),
            (text, true) => format!("{text}: met"),
            (text, false) => format!("{text}: MISSED"),
        };
        format!(
            "{:<34} {:>9} {ours:>12.1} {:>8.2} {:>10} {:>10} {bytes:>10}  {verdict}",
            self.case.title,
            self.size,
            ours / self.first,
            ratio("naive"),
            ratio("petgraph"),
        )
    }

    fn bytes(&self) -> Option<f64> {
        self.ours.bytes.map(|bytes| bytes as f64 / f64::from(self.size))
    }

    fn missed(&self) -> Vec<String> {
        let mut out = Vec::new();
        let mut check = |what: &str, value: f64, limit: Option<f64>| {
            if let Some(limit) = limit.filter(|limit| value > *limit) {
                out.push(format!("{} at {}: {what} {value:.2}, at most {limit}", self.case.title, self.size));
            }
        };
        let case = self.case;
        check("instructions", self.ours.per_op(), case.limit);
        check("growth", self.ours.per_op() / self.first, case.growth.filter(|_| self.size <= cases::GROWTH_TO));
        if let Some(bytes) = self.bytes() {
            check("bytes a todo", bytes, case.bytes);
        }
        out
    }
}
