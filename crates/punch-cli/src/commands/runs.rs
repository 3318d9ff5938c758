//! `punch runs`: what was run, how it ended, what it cost; and the story of one run.

use std::collections::BTreeMap;

use clap::{Args, Subcommand};
use punch_core::time::utc;
use punch_core::{Event, Footprint, Patch, Plan, Uid, text};
use punch_engine::{RunRecord, Sum, copies};
use punch_run::worktree::{Leftover, left_behind};
use punch_run::{dollars, of_run};
use punch_store::Spent;
use serde_json::{Value, json};

use crate::environment::{self, span};
use crate::failure::Failure;
use crate::project::{Open, Project};
use crate::reply::Reply;
use crate::safety;

const EXAMPLES: &str = "\
Examples:
  punch runs
  punch runs show              # the last one
  punch runs show 3
  punch runs show 3 --json";

/// The arguments of `punch runs`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Runs {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// At most so many runs
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
}

/// What can be asked about runs.
#[derive(Subcommand)]
enum Verb {
    /// The story of one run, with its cost
    Show {
        /// Its number; the last one, if none is named
        #[arg(value_name = "RUN")]
        run: Option<u64>,
        /// At most so many events
        #[arg(long, value_name = "N", default_value_t = 200)]
        limit: usize,
    },
}

impl Runs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<Reply, Failure> {
        let Some(open) = project.read()?.plan() else { return Ok(Reply::new(NONE, json!({"runs": []}))) };
        match self.verb {
            None => list(&open, self.limit),
            Some(Verb::Show { run, limit }) => {
                let last = || open.engine.runs(open.plan, 1).map(|runs| runs.first().map(|run| run.id));
                match run.map_or_else(last, |run| Ok(Some(run)))? {
                    Some(run) => show(&open, run, limit),
                    None => Ok(Reply::new(NONE, json!({"runs": []}))),
                }
            }
        }
    }
}

const NONE: &str = "Nothing was run yet. `punch run --agent claude` does.";

fn list(open: &Open, limit: usize) -> Result<Reply, Failure> {
    let mut lines = Vec::new();
    let mut found = Vec::new();
    for run in open.engine.runs(open.plan, limit)? {
        let sum = Sum::of(&open.engine.ledger(open.plan, run.id)?);
        lines.push(format!("{:>4}  {}  {:<11}  {}", run.id, utc(run.started_at), word(&run), cost(&sum)));
        found.push(as_json(&run, &sum));
    }
    let left = if lines.is_empty() { Vec::new() } else { left(open) };
    if !left.is_empty() {
        lines.push("\nIn this repository, of these and other runs:".to_owned());
        lines.extend(left.iter().map(told_left));
    }
    let text = if lines.is_empty() { NONE.to_owned() } else { lines.join("\n") };
    let left: Vec<Value> =
        left.iter().map(|left| json!({"branch": left.branch, "folder": left.folder, "reason": left.reason})).collect();
    Ok(Reply::new(text, json!({"runs": found, "left": left})))
}

/// Branches and worktrees of runs; none where git reports nothing.
fn left(open: &Open) -> Vec<Leftover> {
    let location = &open.project.location;
    let folder = environment::state_home().map(|state| copies::trees_of(&state, &location.database));
    left_behind(&location.project_root, &folder.unwrap_or_default()).unwrap_or_default()
}

fn told_left(left: &Leftover) -> String {
    let branch = left.branch.as_deref().map(|branch| format!("branch {}", neutral(branch, 100)));
    let folder =
        left.folder.as_ref().map(|folder| format!("work tree {}", neutral(&folder.display().to_string(), 300)));
    let parts: Vec<String> =
        branch.into_iter().chain(folder).chain(left.reason.as_deref().map(|reason| neutral(reason, 100))).collect();
    format!("  {}", parts.join(", "))
}

fn show(open: &Open, id: u64, limit: usize) -> Result<Reply, Failure> {
    let Some(run) = open.engine.run(open.plan, id)? else {
        return Err(Failure::refused("unknown_run", format!("there is no run {id}"), "`punch runs` lists them"));
    };
    let ledger = open.engine.ledger(open.plan, id)?;
    let (events, before) = open.engine.events_of_run(open.plan, &run, limit)?;
    let todos = events.iter().filter_map(of).chain(ledger.iter().map(|spent| spent.uid)).collect();
    let names = open.engine.slice(open.plan, &Footprint { todos, ..Footprint::default() })?;
    let sum = Sum::of(&ledger);
    let mut lines = vec![format!("run {id}: {}, {}", word(&run), cost(&sum))];
    let ended = run.ended_at.map_or_else(|| "not ended".to_owned(), |at| format!("ended {}", utc(at)));
    let taken_up = if run.body.epoch > 1 {
        format!(", taken up {}", safety::count(u64::from(run.body.epoch - 1), "time"))
    } else {
        String::new()
    };
    lines.push(format!("began {}, {ended}{taken_up}", utc(run.started_at)));
    let agents: Vec<String> = run.body.agents.iter().map(|agent| neutral(agent, 100)).collect();
    lines.push(format!("agents: {}", agents.join(", ")));
    let folder = of_run(&open.project.location.database, open.plan, id);
    if folder.is_dir() {
        lines.push(format!("logs: {}", folder.display()));
    }
    lines.extend(run.body.because.iter().map(|line| format!("  {}", neutral(line, 300))));
    lines.push(String::new());
    if before > 0 {
        lines.push(format!("… {before} earlier events; --limit N shows more"));
    }
    lines.extend(events.iter().filter_map(|event| event_line(event, &names)));
    lines.push(String::new());
    lines.extend(by_todo(&ledger, &names));
    let rows: Vec<Value> = events
        .iter()
        .map(|event| {
            let todo = of(event).and_then(|uid| names.get(uid)).map(|todo| todo.id.as_str());
            json!({"at": event.at, "revision": event.revision, "kind": event.kind.name(), "todo": todo})
        })
        .collect();
    let mut json = as_json(&run, &sum);
    json["events"] = json!(rows);
    json["ledger"] = ledger.iter().map(|spent| entry(spent, &names)).collect();
    Ok(Reply::new(lines.join("\n"), json))
}

fn of(event: &Event) -> Option<Uid> {
    match event.patch {
        Patch::Todo(uid, _) => Some(uid),
        Patch::Phases(_) | Patch::Policy(_) => None,
    }
}

fn event_line(event: &Event, names: &Plan) -> Option<String> {
    let todo = names.get(of(event)?)?;
    let (id, content) = (neutral(&todo.id, 40), neutral(&todo.content, 80));
    let kind = if event.kind.name() == "flagged" { "reported" } else { event.kind.name() };
    Some(format!("{}  {kind:<13} {id} {content}", utc(event.at)))
}

/// What each todo took, and how often it was tried.
fn by_todo(ledger: &[Spent], names: &Plan) -> Vec<String> {
    let mut sums: BTreeMap<Uid, Vec<&Spent>> = BTreeMap::new();
    ledger.iter().for_each(|spent| sums.entry(spent.uid).or_default().push(spent));
    let line = |(uid, entries): (&Uid, &Vec<&Spent>)| {
        let id = names.get(*uid).map_or_else(|| format!("#{}", uid.0), |todo| neutral(&todo.id, 40));
        let attempts: std::collections::BTreeSet<u32> = entries.iter().map(|spent| spent.attempt).collect();
        let tries = if attempts.len() > 1 { format!(", {} attempts", attempts.len()) } else { String::new() };
        format!("{id}: {}{tries}", cost(&Sum::of(entries.iter().copied())))
    };
    sums.iter().map(line).collect()
}

fn word(run: &RunRecord) -> &'static str {
    run.body.outcome.map_or("unfinished", punch_engine::RunOutcome::name)
}

fn cost(sum: &Sum) -> String {
    let guess = match (sum.estimated, sum.tokens) {
        (0, _) => String::new(),
        (guess, all) if guess == all => " (estimated)".to_owned(),
        (guess, _) => format!(" ({guess} estimated)"),
    };
    let money = if sum.cost > 0 { format!(", {}", dollars(sum.cost)) } else { String::new() };
    let time = span(i64::try_from(sum.ms / 1_000 * 1_000).unwrap_or(i64::MAX));
    format!("{} tokens{guess}{money}, {}, {time} of work", sum.tokens, safety::count(sum.turns, "turn"))
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

fn entry(spent: &Spent, names: &Plan) -> Value {
    json!({
        "todo": names.get(spent.uid).map(|todo| todo.id.as_str()), "attempt": spent.attempt, "agent": spent.agent,
        "subagent": spent.subagent, "tokensIn": spent.tokens_in, "tokensOut": spent.tokens_out, "tokensAgain": spent.again,
        "costMicros": spent.cost, "ms": spent.ms, "turns": spent.turns, "estimated": spent.estimated, "at": spent.at,
    })
}
