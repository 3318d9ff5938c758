//! Runs as readers see them: plain values with safe text, and how they are drawn as lines. The facts are stored with the
//! plan, so these values are the same in every process.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use punch_core::view::{Layout, Plain, SpanRole, ViewLine};
use punch_core::{Event, Footprint, Plan, Uid, text};
use punch_store::{LedgerEntry, PlanId};
use serde::Serialize;

use super::{RunRecord, SeatStage, SeatStatus, Sum, dollars};
use crate::config::print_duration;
use crate::{Engine, EngineError, todo_of};

/// A run as a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunRow {
    /// The number of the run in its plan.
    pub number: u64,
    /// When it began.
    pub started_at: i64,
    /// When it ended; `None` while it works, or if it was killed.
    pub ended_at: Option<i64>,
    /// How it ended, in a word.
    pub outcome: &'static str,
    /// The resources that the run has spent.
    pub spent: Sum,
}

/// A seat of a run at work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SeatRow {
    /// Its number, counted from 1.
    pub seat: u32,
    /// The agent program.
    pub agent: Plain,
    /// The stage of the seat.
    pub stage: SeatStage,
    /// The id of its todo.
    pub todo: Option<Plain>,
    /// Since when it does that.
    pub since: i64,
    /// When the usage limit of its agent is reset, while it waits for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<i64>,
    /// When its agent last printed or reported something.
    pub last_sign: Option<i64>,
    /// Tokens that its todo took in this run so far.
    pub tokens: u64,
    /// Reported cost of its todo in this run so far, in millionths of a dollar.
    pub cost: u64,
    /// The last line that its agent printed.
    pub line: Plain,
}

/// Something that happened in a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunStep {
    /// When the step happened.
    pub at: i64,
    /// The step in words.
    pub text: Plain,
}

/// What one todo took in a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TodoCost {
    /// The id of the todo.
    pub id: Plain,
    /// The resources that the todo took.
    pub spent: Sum,
    /// How often it was tried.
    pub attempts: usize,
}

/// Everything about one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunView {
    /// The run as a row.
    pub row: RunRow,
    /// How often it was resumed.
    pub resumed: u32,
    /// Its agents, as the user named them.
    pub agents: Vec<Plain>,
    /// Why it ended, a line each.
    pub because: Vec<Plain>,
    /// Its seats, while it works.
    pub seats: Vec<SeatRow>,
    /// Steps before the first one here.
    pub earlier: usize,
    /// The steps of the run, in order.
    pub steps: Vec<RunStep>,
    /// The cost of each todo.
    pub todos: Vec<TodoCost>,
}

impl RunRow {
    /// The row of a run with what it has spent.
    pub fn of(run: &RunRecord, spent: Sum) -> Self {
        let outcome = run.body.outcome.map_or("unfinished", super::RunOutcome::name);
        Self { number: run.id, started_at: run.started_at, ended_at: run.ended_at, outcome, spent }
    }

    /// Number, beginning, outcome and cost.
    pub fn line(&self, layout: Layout) -> ViewLine {
        let began = layout.moment(self.started_at);
        // "59 minutes ago": times are aligned where they are relative.
        let began = if layout.width.is_some() { format!("{began:14}") } else { began };
        let line = ViewLine::default().with(SpanRole::Id, format!("{:>4}", self.number));
        let line = line.with(SpanRole::Detail, format!("  {began}"));
        let line = line.with(SpanRole::Text, format!("  {:<12}  ", self.outcome_word()));
        line.with(SpanRole::Detail, cost(&self.spent))
    }

    /// How it ended, for users.
    fn outcome_word(&self) -> &'static str {
        if self.ended_at.is_none() { "not finished" } else { self.outcome }
    }
}

impl From<&SeatStatus> for SeatRow {
    fn from(seat: &SeatStatus) -> Self {
        Self {
            seat: seat.seat,
            agent: Plain::clipped(&seat.agent, 40),
            stage: seat.stage,
            todo: seat.todo.as_deref().map(Plain::id),
            since: seat.since,
            until: seat.until,
            last_sign: seat.last_sign,
            tokens: seat.tokens,
            cost: seat.cost,
            line: Plain::clipped(&seat.line, 100),
        }
    }
}

impl SeatRow {
    /// The seat on a line: what it does, for how long, and what that has cost.
    pub fn draw(&self, layout: Layout) -> ViewLine {
        let whole = |since: i64| span(layout.now.saturating_sub(since).max(0));
        let line = ViewLine::default().with(SpanRole::Id, format!("[{}]", self.seat));
        let mut line = line.with(SpanRole::Text, format!(" {} {}", self.agent, self.stage.name()));
        if let Some(todo) = &self.todo {
            line = line.with(SpanRole::Text, ", ").id(todo);
        }
        let mut parts = vec![format!("for {}", whole(self.since))];
        parts.extend(self.until.map(|at| format!("until {}", layout.moment(at))));
        parts.extend(self.last_sign.map(|at| format!("last output {} ago", whole(at))));
        parts.extend((self.tokens > 0).then(|| format!("{} tokens", text::grouped(self.tokens))));
        parts.extend((self.cost > 0).then(|| dollars(self.cost)));
        parts.extend(Some(self.line.to_string()).filter(|line| !line.is_empty()));
        line.with(SpanRole::Detail, format!(", {}", parts.join(", ")))
    }
}

impl RunView {
    /// The run with its seats, what happened, and what its todos took.
    pub fn lines(&self, layout: Layout) -> Vec<ViewLine> {
        let row = &self.row;
        let head = format!("run {}: {}, {}", row.number, row.outcome_word(), cost(&row.spent));
        let ended = row.ended_at.map(|at| format!(", ended {}", layout.moment(at))).unwrap_or_default();
        let resumed = match self.resumed {
            0 => String::new(),
            1 => ", resumed once".to_owned(),
            times => format!(", resumed {times} times"),
        };
        let agents: Vec<&str> = self.agents.iter().map(Plain::as_str).collect();
        let mut out = vec![
            ViewLine::default().with(SpanRole::Heading, head),
            format!("began {}{ended}{resumed}", layout.moment(row.started_at)).into(),
            format!("agents: {}", agents.join(", ")).into(),
        ];
        out.extend(self.because.iter().map(|line| ViewLine::from(format!("  {line}"))));
        out.extend(self.seats.iter().map(|seat| seat.draw(layout)));
        out.push(ViewLine::default());
        if self.earlier > 0 {
            let earlier = format!("… {} earlier; --limit N shows more", self.earlier);
            out.push(ViewLine::default().with(SpanRole::Detail, earlier));
        }
        out.extend(self.steps.iter().map(|step| {
            ViewLine::default()
                .with(SpanRole::Detail, format!("{}  ", layout.moment(step.at)))
                .with(SpanRole::Text, step.text.as_str())
        }));
        out.push(ViewLine::default());
        out.extend(self.todos.iter().map(|todo| {
            let tries = if todo.attempts > 1 { format!(", {} attempts", todo.attempts) } else { String::new() };
            ViewLine::default().id(&todo.id).with(SpanRole::Text, format!(": {}{tries}", cost(&todo.spent)))
        }));
        out
    }
}

impl Engine {
    /// Returns a run with at most `limit` of the things that happened in it; `None` if there is no such run.
    pub fn run_view(&self, plan: PlanId, id: u64, limit: usize) -> Result<Option<RunView>, EngineError> {
        let Some(run) = self.run(plan, id)? else { return Ok(None) };
        let ledger = self.ledger(plan, id)?;
        let reported = self.run_events(plan, id, limit)?;
        // A run of an older version, or so long ago that its own events were pruned, has the events of the plan.
        let (events, earlier) =
            if reported.is_empty() { self.events_of_run(plan, &run, limit)? } else { (Vec::new(), 0) };
        let todos = events.iter().filter_map(todo_of).chain(ledger.iter().map(|spent| spent.uid)).collect();
        let names = self.slice(plan, &Footprint { todos, ..Footprint::default() })?;
        let reported = reported
            .iter()
            .filter_map(|(at, event)| Some(RunStep { at: *at, text: Plain::clipped(&event.words()?, 400) }));
        Ok(Some(RunView {
            row: RunRow::of(&run, Sum::of(&ledger)),
            resumed: run.body.epoch.saturating_sub(1),
            agents: run.body.agents.iter().map(|agent| Plain::clipped(agent, 100)).collect(),
            because: run.body.because.iter().map(|line| Plain::clipped(line, 300)).collect(),
            seats: self.seats(plan, id)?.iter().map(SeatRow::from).collect(),
            earlier,
            steps: reported.chain(events.iter().filter_map(|event| plan_step(event, &names))).collect(),
            todos: by_todo(&ledger, &names),
        }))
    }
}

fn plan_step(event: &Event, names: &Plan) -> Option<RunStep> {
    let todo = names.get(todo_of(event)?)?;
    let kind = if event.kind.name() == "flagged" { "reported" } else { event.kind.name() };
    let text = format!("{kind:<13} {} {}", Plain::clipped(&todo.id, 40), Plain::clipped(&todo.content, 80));
    Some(RunStep { at: event.at, text: Plain::clipped(&text, 400) })
}

/// What each todo took, and how often it was tried.
fn by_todo(ledger: &[LedgerEntry], names: &Plan) -> Vec<TodoCost> {
    let mut sums: BTreeMap<Uid, Vec<&LedgerEntry>> = BTreeMap::new();
    ledger.iter().for_each(|spent| sums.entry(spent.uid).or_default().push(spent));
    let cost = |(uid, entries): (&Uid, &Vec<&LedgerEntry>)| {
        let id = names.get(*uid).map_or_else(|| format!("#{}", uid.0), |todo| todo.id.clone());
        let attempts: BTreeSet<u32> = entries.iter().map(|spent| spent.attempt).collect();
        TodoCost { id: Plain::id(&id), spent: Sum::of(entries.iter().copied()), attempts: attempts.len() }
    };
    sums.iter().map(cost).collect()
}

/// Tokens, money, turns and time.
fn cost(sum: &Sum) -> String {
    let guess = match (sum.estimated, sum.tokens) {
        (0, _) => String::new(),
        (guess, all) if guess == all => " (estimated)".to_owned(),
        (guess, _) => format!(" ({} estimated)", text::grouped(guess)),
    };
    let money = if sum.cost > 0 { format!(", {}", dollars(sum.cost)) } else { String::new() };
    let turns = if sum.turns == 1 { "1 turn".to_owned() } else { format!("{} turns", sum.turns) };
    let time = span(i64::try_from(sum.ms).unwrap_or(i64::MAX));
    format!("{} tokens{guess}{money}, {turns}, {time} of work", text::grouped(sum.tokens))
}

/// A span in whole seconds.
fn span(ms: i64) -> String {
    print_duration(Duration::from_secs(u64::try_from(ms / 1_000).unwrap_or_default()))
}
