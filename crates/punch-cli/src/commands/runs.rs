//! `punch run list` and `punch run show`, formerly `punch runs`: past runs, how they ended and what they cost, and the
//! events of one run.

use clap::{Args, Subcommand};
use punch_core::view::ViewLine;
use punch_core::{Event, Footprint, Plan, text};
use punch_engine::{RunEvent, RunRecord, RunRow, Sum, todo_of};
use punch_run::of_run;
use punch_run::worktree::{Leftover, left_behind};
use punch_store::LedgerEntry;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::project::{OpenProject, Project};
use crate::reply::{Body, VerbReply};

const EXAMPLES: &str = "\
Examples:
  punch run list
  punch run show               # the last one
  punch run show 3
  punch run show 3 --json";

/// The arguments of `punch runs`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct RunsArgs {
    #[command(subcommand)]
    verb: Option<RunsVerb>,
    /// Show at most N runs
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    limit: usize,
}

/// What can be asked about runs.
#[derive(Subcommand)]
enum RunsVerb {
    /// Show one run: what happened, and what each todo cost
    Show(ShownRun),
}

/// The run to show.
#[derive(Args)]
pub struct ShownRun {
    /// The number of the run; without it, the last one
    #[arg(value_name = "RUN")]
    run: Option<u64>,
    /// Show at most N events
    #[arg(long, short = 'n', value_name = "N", default_value_t = 200)]
    limit: usize,
}

impl RunsArgs {
    /// The verb that lists runs.
    pub const fn list(limit: usize) -> Self {
        Self { verb: None, limit }
    }

    /// The verb that shows one run.
    pub const fn show(run: ShownRun) -> Self {
        Self { verb: Some(RunsVerb::Show(run)), limit: 0 }
    }

    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        let Some(open) = project.read()?.plan() else { return Ok(VerbReply::new(NONE, json!({"runs": []}))) };
        match self.verb {
            None => list(&open, self.limit),
            Some(RunsVerb::Show(ShownRun { run, limit })) => {
                let last = || open.engine.runs(open.plan, 1).map(|runs| runs.first().map(|run| run.id));
                match run.map_or_else(last, |run| Ok(Some(run)))? {
                    Some(run) => show(&open, run, limit),
                    None => Ok(VerbReply::new(NONE, json!({"runs": []}))),
                }
            }
        }
    }
}

const NONE: &str = "No runs yet: `punch run --agent claude` starts one.";

fn list(open: &OpenProject, limit: usize) -> Result<VerbReply, Failure> {
    let (mut lines, mut found): (Vec<ViewLine>, _) = (Vec::new(), Vec::new());
    let layout = open.project.layout(open.engine.now());
    for run in open.engine.runs(open.plan, limit)? {
        let sum = Sum::of(&open.engine.ledger(open.plan, run.id)?);
        lines.push(RunRow::of(&run, sum).line(layout));
        found.push(as_json(&run, &sum));
    }
    let left = if lines.is_empty() { Vec::new() } else { left(open) };
    if !left.is_empty() {
        lines.push(ViewLine::default());
        lines.push("Left in this repository by these and other runs:".into());
        lines.extend(left.iter().map(|left| told_left(left).into()));
    }
    let body = if lines.is_empty() { Body::from(NONE) } else { lines.into() };
    let left: Vec<Value> =
        left.iter().map(|left| json!({"branch": left.branch, "folder": left.folder, "reason": left.reason})).collect();
    Ok(VerbReply::new(body, json!({"runs": found, "left": left})))
}

/// Branches and worktrees of runs; none where git reports nothing.
fn left(open: &OpenProject) -> Vec<Leftover> {
    let location = &open.project.location;
    let folder = open.trees().ok().flatten();
    left_behind(&location.project_root, &folder.unwrap_or_default()).unwrap_or_default()
}

fn told_left(left: &Leftover) -> String {
    let branch = left.branch.as_deref().map(|branch| format!("branch {}", neutral(branch, 100)));
    let folder = left.folder.as_ref().map(|folder| format!("worktree {}", neutral(&folder.display().to_string(), 300)));
    let parts: Vec<String> =
        branch.into_iter().chain(folder).chain(left.reason.as_deref().map(|reason| neutral(reason, 100))).collect();
    format!("  {}", parts.join(", "))
}

fn show(open: &OpenProject, id: u64, limit: usize) -> Result<VerbReply, Failure> {
    let unknown = || Failure::refused("unknown_run", format!("there is no run {id}"), "`punch run list` shows them");
    if open.project.global.json {
        return Ok(VerbReply::new("", record(open, id, limit)?.ok_or_else(unknown)?));
    }
    let view = open.engine.run_view(open.plan, id, limit)?.ok_or_else(unknown)?;
    let mut lines = view.lines(open.project.layout(open.engine.now()));
    let folder = of_run(&open.project.location.database, open.plan, id);
    if folder.is_dir() {
        lines.insert(HEAD, format!("logs: {}", folder.display()).into());
    }
    Ok(VerbReply::new(lines, json!({})))
}

/// Lines about a run as a whole, before why it ended.
const HEAD: usize = 3;

/// Everything about a run for programs; `None` if there is no such run.
fn record(open: &OpenProject, id: u64, limit: usize) -> Result<Option<Value>, Failure> {
    let Some(run) = open.engine.run(open.plan, id)? else { return Ok(None) };
    let ledger = open.engine.ledger(open.plan, id)?;
    let (events, _) = open.engine.events_of_run(open.plan, &run, limit)?;
    let todos = events.iter().filter_map(todo_of).chain(ledger.iter().map(|spent| spent.uid)).collect();
    let names = open.engine.slice(open.plan, &Footprint { todos, ..Footprint::default() })?;
    let event = |event: &Event| {
        let todo = todo_of(event).and_then(|uid| names.get(uid)).map(|todo| todo.id.as_str());
        json!({"at": event.at, "revision": event.revision, "kind": event.kind.name(), "todo": todo})
    };
    let with_time = |(at, event): &(i64, RunEvent)| {
        let mut event = json!(event);
        event["at"] = json!(at);
        event
    };
    let mut json = as_json(&run, &Sum::of(&ledger));
    json["events"] = events.iter().map(event).collect();
    json["seats"] = json!(open.engine.seats(open.plan, id)?);
    json["reported"] = open.engine.run_events(open.plan, id, limit)?.iter().map(with_time).collect();
    json["ledger"] = ledger.iter().map(|spent| entry(spent, &names)).collect();
    Ok(Some(json))
}

fn neutral(given: &str, most: usize) -> String {
    text::clip(&text::neutral(given), most).into_owned()
}

fn as_json(run: &RunRecord, sum: &Sum) -> Value {
    json!({
        "run": run.id, "startedAt": run.started_at, "endedAt": run.ended_at, "outcome": run.body.outcome,
        "because": run.body.because, "agents": run.body.agents, "epoch": run.body.epoch, "spent": sum,
        "fromRevision": run.body.from, "toRevision": run.body.to, "options": run.body.options,
    })
}

fn entry(spent: &LedgerEntry, names: &Plan) -> Value {
    json!({
        "todo": names.get(spent.uid).map(|todo| todo.id.as_str()), "attempt": spent.attempt, "agent": spent.agent,
        "subagent": spent.subagent, "tokensIn": spent.tokens_in, "tokensOut": spent.tokens_out, "tokensAgain": spent.again,
        "costMicros": spent.cost, "ms": spent.ms, "turns": spent.turns, "estimated": spent.estimated, "at": spent.at,
    })
}
