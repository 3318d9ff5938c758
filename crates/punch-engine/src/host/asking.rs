//! Sessions outside runs that ask the user something, and the activity that a report leaves.

use punch_core::drive::{Decision, HostEvent, SessionStart};
use punch_store::Tx;

use super::HostReport;
use super::listen::{Listener, PlanSession, ReportOutcome};
use crate::activity::{self, ActivityKind, one_line};
use crate::{EngineError, SessionState, question};

impl Listener<'_> {
    /// Notes that the agent begins to ask the user something, or no longer does.
    pub(super) fn asking(
        &self,
        before: &SessionState,
        who: &mut PlanSession,
        outcome: &mut ReportOutcome,
    ) -> Result<(), EngineError> {
        let drive = &who.state.drive;
        let asks = drive.asked && !drive.ended && !drive.interrupted;
        match who.state.asking {
            Some(id) if !asks => {
                who.state.asking = None;
                outcome.no_longer_asks = Some(id);
            }
            // The runner knows better what its agents ask.
            None if asks && !before.drive.asked && who.bound() && !self.is_driven(who) => {
                outcome.asks = Some(self.current(who)?.map(|todo| todo.uid));
            }
            Some(_) | None => {}
        }
        Ok(())
    }
}

/// Stores what a report means for questions, and the activity it leaves: only with reports that are stored in any case.
/// Returns the question that the session asks from now on.
pub(super) fn record(
    tx: &mut dyn Tx,
    outcome: &ReportOutcome,
    report: &HostReport,
    now: i64,
) -> Result<Option<u64>, EngineError> {
    let source = report.key.full_name();
    if let Some(kind) = activity_of(report, outcome) {
        let todo = outcome.at_todo.as_deref().map(|id| activity::todo_of(tx, id)).transpose()?.flatten();
        activity::record(tx, Some(&source), todo, &kind, now)?;
    }
    if let Some(id) = outcome.no_longer_asks
        && let Some(asked) = tx.question(id)?
    {
        question::close(tx, &asked, "the agent no longer waits for it", now)?;
    }
    let asked = match &report.event {
        HostEvent::Asked { text } => text.as_str(),
        _ => "",
    };
    outcome.asks.map(|todo| question::note(tx, &source, &report.agent, asked, todo, now)).transpose()
}

/// Returns the activity that a report leaves.
fn activity_of(report: &HostReport, outcome: &ReportOutcome) -> Option<ActivityKind> {
    let agent = one_line(&report.agent);
    let turn = |what: &str, error: &str| {
        let (what, error) = (what.to_owned(), one_line(error));
        ActivityKind::Turn { agent: agent.clone(), what, error }
    };
    let noted = outcome.record.is_some();
    Some(match &report.event {
        HostEvent::SessionStarted { how } if outcome.state.is_some() => {
            ActivityKind::SessionStarted { agent, how: start(*how).to_owned() }
        }
        HostEvent::SessionEnded if noted => ActivityKind::SessionEnded { agent },
        HostEvent::Stopping { .. } if noted => match outcome.decision.as_ref()? {
            Decision::Continue { n, of, .. } => {
                ActivityKind::Decision { agent, continues: true, reason: format!("{n}/{of}") }
            }
            Decision::Allow { reason } => {
                ActivityKind::Decision { agent, continues: false, reason: reason.code().to_owned() }
            }
        },
        HostEvent::ToolFailed { tool, error, .. } if noted => ActivityKind::ToolFailed {
            agent,
            tool: one_line(&tool.name),
            todo: outcome.at_todo.as_deref().map(one_line),
            error: one_line(error),
        },
        HostEvent::TurnFailed { error } if noted => turn("turn_failed", error),
        HostEvent::Interrupted if noted => turn("interrupted", ""),
        HostEvent::Compacting if noted => turn("compacting", ""),
        _ if outcome.is_new && outcome.state.is_some() => ActivityKind::SessionStarted { agent, how: String::new() },
        _ => return None,
    })
}

const fn start(how: SessionStart) -> &'static str {
    match how {
        SessionStart::Startup => "startup",
        SessionStart::Resume => "resume",
        SessionStart::Clear => "clear",
        SessionStart::Compact => "compact",
        SessionStart::Fork => "fork",
        _ => "unknown",
    }
}
