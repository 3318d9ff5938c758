//! `punch report`: compares estimates with what todos took.

use clap::Args;
use punch_core::schedule::Fit;
use punch_core::{Complexity, text};
use punch_engine::{TodoUsage, UsageReport};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::project::Project;
use crate::reply::VerbReply;
use crate::safety::count;

const EXAMPLES: &str = "\
Examples:
  punch report
  punch report --limit 100 --json

Estimates of `punch schedule` and `punch next --budget` are multiplied by the calibration, which is learned from every
plan of this project.";

/// The arguments of `punch report`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ReportArgs {
    /// Show at most N todos
    #[arg(long, value_name = "N", default_value_t = 30)]
    limit: usize,
}

impl ReportArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        let Some(open) = project.read()?.plan() else {
            return Ok(VerbReply::new(
                "No usage recorded yet. Connected agents record it; `punch stats record T-1 --tokens 5000` does it by hand.",
                json!({"calibration": 1.0, "todos": []}),
            ));
        };
        let found = open.engine.usage_report(open.plan)?;
        Ok(VerbReply::new(as_text(&found, self.limit), as_json(&found)))
    }
}

fn as_text(found: &UsageReport, limit: usize) -> String {
    if found.todos.is_empty() {
        return "No usage recorded yet. Connected agents record it; `punch stats record T-1 --tokens 5000` does it by hand.".into();
    }
    let mut out = vec![format!("{:>10} {:>10} {:>6}  todo", "estimated", "actual", "used")];
    out.extend(found.todos.iter().take(limit).map(row));
    if found.todos.len() > limit {
        out.push(format!("and {} more", found.todos.len() - limit));
    }
    let rows = out.len();
    for (size, fit) in &found.by_complexity {
        out.push(line(size.map_or("without a size", Complexity::name), fit));
    }
    if found.total.count > 0 {
        out.push(line("all finished", &found.total));
    }
    if (found.calibration - 1.0).abs() >= 0.005 {
        out.push(format!("punch now multiplies estimates by {:.2}, learned from these todos", found.calibration));
    }
    if out.len() > rows {
        out.insert(rows, String::new());
    }
    out.join("\n")
}

fn row(taken: &TodoUsage) -> String {
    #[expect(clippy::cast_precision_loss, reason = "only whole percents are shown")]
    let ratio = (taken.estimated > 0 && taken.actual > 0).then(|| taken.actual as f64 / taken.estimated as f64);
    // How much it took was not reported, only that it was worked on.
    let actual = if taken.actual > 0 { text::grouped(taken.actual) } else { "–".into() };
    let id = text::clip(&text::neutral(&taken.id), 60).into_owned();
    let assumed = if taken.assumed { " (no estimate given)" } else { "" };
    format!("{:>10} {actual:>10} {:>6}  {id}{assumed}", text::grouped(taken.estimated), percent(ratio))
}

fn line(name: &str, fit: &Fit) -> String {
    let all = format!("{name}: {} took {} of the estimate", count(fit.count as u64, "todo"), percent(fit.bias));
    // A few todos have no distribution worth a sentence.
    if fit.count < 4 {
        return all;
    }
    let (low, median, high) = (percent(fit.low), percent(fit.median), percent(fit.high));
    format!("{all}; the median is {median}, half of them are between {low} and {high}")
}

/// A ratio of actual to estimated, as people say it.
fn percent(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "–".into(), |ratio| format!("{:.0}%", ratio * 100.0))
}

fn as_json(found: &UsageReport) -> Value {
    let sizes: Vec<Value> = found
        .by_complexity
        .iter()
        .map(|(size, fit)| {
            let mut out = json!(fit);
            out["complexity"] = json!(size);
            out
        })
        .collect();
    let todos: Vec<Value> = found
        .todos
        .iter()
        .map(|taken| {
            let mut out = json!(taken);
            out["seconds"] = json!(taken.ms / 1_000);
            if let Some(map) = out.as_object_mut() {
                map.remove("ms");
            }
            out
        })
        .collect();
    json!({"calibration": found.calibration, "total": found.total, "byComplexity": sizes, "todos": todos})
}
