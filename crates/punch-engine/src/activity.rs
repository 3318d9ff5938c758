//! Activity: what happens around a plan without changing it, such as sessions, decisions, seats and events of runs,
//! failures, questions and controls. It is a second sequence beside the events of the plan. The store prunes it; no
//! rule depends on it (decision 0038).

use punch_core::{Footprint, Plan, Uid, text};
use punch_store::{Activity, Durability, PlanId, SessionKey, Snapshot, StoreError, Tx};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Engine, EngineError, RunEvent, SeatStage};

/// Characters of a text from outside, such as the error of a tool.
const LONGEST: usize = 300;
/// Activities about a todo that are looked at for each one that is not of a run.
const OF_RUNS: usize = 20;

/// Something that happened. Every text in it is one line of bounded length that is safe to print.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ActivityKind {
    /// A session appears for the first time, or begins again.
    SessionStarted {
        /// The agent program, such as `claude`.
        agent: String,
        /// How it began, such as `resume`; empty if its agent did not report that.
        how: String,
    },
    /// A session has ended.
    SessionEnded {
        /// The agent program.
        agent: String,
    },
    /// An agent wanted to stop.
    Decision {
        /// The agent program.
        agent: String,
        /// True if it was sent back to work.
        continues: bool,
        /// The code of the reason it was allowed to stop, or the number of the continuation.
        reason: String,
    },
    /// A turn of an agent failed, was interrupted, or its context was compacted.
    Turn {
        /// The agent program.
        agent: String,
        /// What happened: `turn_failed`, `interrupted` or `compacting`.
        what: String,
        /// The error, if there was one.
        error: String,
    },
    /// A tool of an agent failed.
    ToolFailed {
        /// The agent program.
        agent: String,
        /// The tool.
        tool: String,
        /// The id of the todo that the agent was working on.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        todo: Option<String>,
        /// The error.
        error: String,
    },
    /// An agent tried to change the plan, and that failed.
    WriteFailed {
        /// The agent program.
        agent: String,
        /// The reason.
        error: String,
    },
    /// A session was informed of what the user changed in a todo.
    Informed {
        /// The agent program.
        agent: String,
        /// The id of the todo.
        todo: String,
    },
    /// A seat of a run does something else now.
    Seat {
        /// The number of the run.
        run: u64,
        /// The number of the seat.
        seat: u32,
        /// The stage of the seat.
        stage: SeatStage,
        /// The id of the todo that it works on.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        todo: Option<String>,
    },
    /// An event of a run.
    Run {
        /// The number of the run.
        run: u64,
        /// The event.
        event: RunEvent,
    },
    /// An agent asks the user something.
    Asked {
        /// The number of the question.
        question: u64,
        /// The agent program.
        agent: String,
        /// The beginning of the question.
        text: String,
    },
    /// A question was answered.
    Answered {
        /// The number of the question.
        question: u64,
        /// The answer.
        answer: String,
        /// The actor that answered.
        by: String,
        /// Where the answer was given.
        via: String,
    },
    /// The user approved a command that checks todos.
    Approved {
        /// The command.
        command: String,
        /// The actor that approved the command.
        by: String,
        /// The place where the approval was given.
        via: String,
    },
    /// A question was closed without an answer.
    QuestionClosed {
        /// The number of the question.
        question: u64,
        /// Why.
        reason: String,
    },
    /// The user controls a run, a seat or the automatic continuation of sessions.
    Control {
        /// What is controlled, such as `run 3`, `seat 2 of run 3`, `session 1a2b` or `all sessions`.
        scope: String,
        /// The state that the user requests: `go`, `pause` or `stop`.
        wanted: String,
        /// The actor that wants it.
        by: String,
    },
    /// Something that only a newer version knows.
    #[serde(other)]
    Unknown,
}

/// One activity of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActivityRecord {
    /// Its number in the plan, growing and never reused.
    pub seq: u64,
    /// When the activity happened.
    pub at: i64,
    /// The session or seat that it comes from.
    pub source: Option<String>,
    /// The todo that it is about.
    pub todo: Option<Uid>,
    /// The kind of activity, with its details.
    pub kind: ActivityKind,
}

/// Some activities of a plan, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActivityPage {
    /// The activities.
    pub records: Vec<ActivityRecord>,
    /// The number of the last activity that was looked at: where the next page begins.
    pub next: u64,
    /// Activities between the asked number and the first of this page were pruned.
    pub has_gap: bool,
}

impl Engine {
    /// Returns the activities of a plan with a number above `since`, oldest first.
    pub fn activity(&self, plan: PlanId, since: u64, limit: usize) -> Result<ActivityPage, EngineError> {
        self.read(plan, |snapshot| activity_after(snapshot, since, limit))
    }

    /// Returns the number of the newest activity of a plan, 0 if there was never any.
    pub fn last_activity(&self, plan: PlanId) -> Result<u64, EngineError> {
        self.read(plan, |snapshot| Ok(snapshot.activity_span()?.newest))
    }

    /// Records that an agent could not change the plan. That this cannot be recorded is reported as trouble: it is no
    /// reason to answer something else.
    pub(crate) fn record_failed_write(&self, plan: PlanId, session: &SessionKey, agent: &str, error: &EngineError) {
        let kind = ActivityKind::WriteFailed { agent: one_line(agent), error: one_line(&error.message()) };
        let source = session.full_name();
        let done = self.write(plan, Durability::Relaxed, |tx, now| Ok(record(tx, Some(&source), None, &kind, now)?));
        if let Err(error) = done {
            self.trouble(&error);
        }
    }
}

/// Returns the activities of one moment of a plan with a number above `since`, oldest first.
pub(crate) fn activity_after(snapshot: &dyn Snapshot, since: u64, limit: usize) -> Result<ActivityPage, EngineError> {
    let span = snapshot.activity_span()?;
    // A store that was restored from a copy may know fewer than were seen.
    let restored = since > span.newest;
    let rows = snapshot.activity(if restored { 0 } else { since }, limit)?;
    let next = rows.last().map_or(span.newest.min(since), |row| row.seq);
    let records = rows.iter().map(read).collect();
    Ok(ActivityPage { records, next, has_gap: restored || span.has_gap_after(since) })
}

/// Returns the newest activities about one todo, newest first: at most `limit`, without those of runs, of which there are
/// many.
pub(crate) fn about(snapshot: &dyn Snapshot, todo: Uid, limit: usize) -> Result<Vec<ActivityRecord>, StoreError> {
    let found = snapshot.activity_of(todo, limit.saturating_mul(OF_RUNS))?;
    let is_of_run = |kind: &ActivityKind| matches!(kind, ActivityKind::Run { .. } | ActivityKind::Seat { .. });
    Ok(found.iter().map(read).filter(|record| !is_of_run(&record.kind)).take(limit).collect())
}

/// Returns the todo with an id, unless the plan no longer has it.
pub(crate) fn todo_of(snapshot: &dyn Snapshot, id: &str) -> Result<Option<Uid>, StoreError> {
    let mut part = Plan::slice(snapshot.row()?);
    snapshot.load(&Footprint { ids: [id.to_owned()].into(), ..Footprint::default() }, &mut part)?;
    Ok(part.by_id(id).map(|todo| todo.uid))
}

/// Adds an activity to a transaction.
pub(crate) fn record(
    tx: &mut dyn Tx,
    source: Option<&str>,
    todo: Option<Uid>,
    kind: &ActivityKind,
    now: i64,
) -> Result<(), StoreError> {
    let mut body = serde_json::to_value(kind).unwrap_or_default();
    let Some(Value::String(name)) = body.as_object_mut().and_then(|body| body.remove("kind")) else { return Ok(()) };
    let source = source.map(|source| text::clip(source, LONGEST).into_owned());
    tx.put_activity(&Activity { seq: 0, at: now, kind: name, source, todo, body: body.to_string() })?;
    Ok(())
}

/// Turns a text from outside into one short line that is safe to print.
pub fn one_line(given: &str) -> String {
    let first = given.trim().lines().next().unwrap_or_default().trim_end();
    text::clip(&text::neutral(&text::clip(first, LONGEST)), LONGEST).into_owned()
}

/// Returns the source of what a run does, or one of its seats.
pub(crate) fn of_run(run: u64, seat: Option<u32>) -> String {
    seat.map_or_else(|| format!("run:{run}"), |seat| format!("run:{run}#{seat}"))
}

fn read(row: &Activity) -> ActivityRecord {
    let mut body: Value = serde_json::from_str(&row.body).unwrap_or_default();
    if let Some(fields) = body.as_object_mut() {
        fields.insert("kind".to_owned(), Value::String(row.kind.clone()));
    }
    let kind = serde_json::from_value(body).unwrap_or(ActivityKind::Unknown);
    ActivityRecord { seq: row.seq, at: row.at, source: row.source.clone(), todo: row.todo, kind }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RunOutcome, Sum};

    fn stored(kind: &ActivityKind) -> Activity {
        let mut body = serde_json::to_value(kind).unwrap();
        let name = body.as_object_mut().unwrap().remove("kind").unwrap();
        let kind = name.as_str().unwrap().to_owned();
        Activity { seq: 1, at: 2, kind, source: None, todo: None, body: body.to_string() }
    }

    #[test]
    fn what_is_written_is_read_and_what_is_unknown_stays_unknown() {
        let ended = RunEvent::Ended {
            outcome: RunOutcome::Stalled,
            because: vec!["T-1 failed".into()],
            completed: 1,
            failed: 1,
            spent: Sum::default(),
        };
        for kind in [
            ActivityKind::Run { run: 3, event: ended },
            ActivityKind::Seat { run: 3, seat: 1, stage: SeatStage::Working, todo: Some("T-1".into()) },
            ActivityKind::ToolFailed { agent: "a".into(), tool: "Bash".into(), todo: None, error: "e".into() },
            ActivityKind::SessionEnded { agent: "claude".into() },
        ] {
            assert_eq!(read(&stored(&kind)).kind, kind);
        }
        let newer = Activity { kind: "telepathy".into(), ..stored(&ActivityKind::SessionEnded { agent: "a".into() }) };
        assert_eq!(read(&newer).kind, ActivityKind::Unknown);
        let broken = Activity { body: "[".into(), ..newer };
        assert_eq!(read(&broken).kind, ActivityKind::Unknown);
    }

    #[test]
    fn texts_become_one_safe_line() {
        assert_eq!(one_line("\n  first\u{1b}[31m \nsecond"), punch_core::text::neutral("first\u{1b}[31m"));
        assert!(one_line(&"x".repeat(10_000)).chars().count() <= LONGEST);
    }
}
