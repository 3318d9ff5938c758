//! `punch status`: the plan on one line.

use clap::Args;
use punch_core::Todo;
use punch_core::view::{Progress, Row, line};
use punch_store::Which;
use serde_json::json;

use super::keep_going;
use crate::failure::Failure;
use crate::project::{Project, ProjectPlan};
use crate::reply::Reply;

const EXAMPLES: &str = "\
Examples:
  punch status
  punch status --json        # completed, total, percent, inProgress";

/// Rows that a line could ever show.
const ROWS: usize = 200;

/// The arguments of `punch status`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Status {}

impl Status {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<Reply, Failure> {
        let (glyphs, width) = (project.glyphs(), project.width());
        let (progress, todos, running, now, going) = match project.read()? {
            ProjectPlan::Empty(_) => (Progress::default(), Vec::new(), Vec::new(), 0, (Vec::new(), Vec::new())),
            ProjectPlan::Plan(open) => {
                let now = open.engine.now();
                let (counts, todos, mut running) = open.engine.read(open.plan, |snapshot| {
                    let counts = snapshot.row()?.counts;
                    let running = match counts.in_progress {
                        0 => Vec::new(),
                        _ => snapshot.list(Which::Running, None, usize::MAX)?,
                    };
                    Ok((counts, snapshot.list(Which::Live, None, ROWS)?, running))
                })?;
                running.retain(|t| !t.lease_expired(now));
                let going = open.engine.going()?;
                let lines: Vec<String> = going.iter().map(|going| keep_going::line(going, &open.project)).collect();
                let going = (lines, keep_going::records(&going, &open.project));
                (Progress::of_counts(&counts), todos, running, now, going)
            }
        };
        let rows: Vec<Row<'_>> = todos.iter().map(|t| Row::of(t, now)).collect();
        let ids: Vec<&str> = running.iter().map(|t: &Todo| t.id.as_str()).collect();
        let mut lines = vec![line::draw(&rows, progress, width, glyphs)];
        lines.extend(going.0);
        Ok(Reply::new(
            lines.join("\n"),
            json!({
                "completed": progress.completed,
                "total": progress.total,
                "percent": progress.percent(),
                "inProgress": ids.first(),
                "inProgressAll": ids,
                "keepGoing": going.1,
            }),
        ))
    }
}
