//! `--dry-run`: who would work on what, and what would keep the run from starting. Nothing is written.

use punch_core::reason::PlanReader;
use punch_core::schedule::{ScheduleRequest, schedule};
use punch_core::text;
use punch_core::view::{Cap, Gantt, ScheduleView, spans};
use punch_run::RunOptions;
use serde_json::json;

use crate::failure::Failure;
use crate::project::OpenProject;
use crate::reply::VerbReply;

/// Lines of the schedule.
const LINES: usize = 60;

pub fn preview(open: &OpenProject, options: &RunOptions) -> Result<VerbReply, Failure> {
    let (plan, now) = (open.engine.whole(open.plan)?, open.engine.now());
    let ask = ScheduleRequest {
        agents: u32::try_from(options.seats).unwrap_or(u32::MAX),
        context: open.project.config.settings.run_context.value,
        calibration: open.engine.calibration()?,
        skip_optional: options.skip_optional,
        oversize: options.oversize,
        ..ScheduleRequest::default()
    };
    let made = schedule(&plan, &ask, now);
    let project = &open.project;
    let gantt = Gantt { width: project.width(), glyphs: project.glyphs(), cap: Cap::new(LINES, usize::MAX) };
    let consents = project.consents();
    let allowed = |command| consents.as_ref().is_some_and(|consents| consents.has(command));
    let missing: Vec<String> = plan
        .live()
        .into_iter()
        .filter(|todo| todo.is_open_work() && todo.verify.as_ref().is_some_and(|command| !allowed(command)))
        .map(|todo| todo.id.clone())
        .collect();
    let agents: Vec<String> = options.specs.iter().map(ToString::to_string).collect();
    let view = ScheduleView::of(PlanReader::new(&plan, now), &made);
    let mut lines = vec![spans::text(&gantt.draw(&view).0)];
    let shown: Vec<String> = agents.iter().map(|agent| text::neutral(&text::clip(agent, 80)).into_owned()).collect();
    lines.push(format!("agents: {} at once, {}", options.seats, shown.join(", ")));
    if !missing.is_empty() {
        let ids: Vec<String> = missing.iter().take(10).map(|id| text::neutral(id).into_owned()).collect();
        lines.push(format!("checks that need your approval: {}; the run would not start", ids.join(", ")));
    }
    let json = json!({"dryRun": true, "agents": agents, "seats": options.seats, "withoutConsent": missing,
        "schedule": made});
    Ok(VerbReply::new(lines.join("\n"), json))
}
