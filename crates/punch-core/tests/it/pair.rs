//! The engine and the naive model side by side, with everything that must hold after every write.

use punch_core::apply::{derive, fold};
use punch_core::{Event, EventKind, Outcome, Patch, Plan, PlanRow, Refusal, Status, Todo, Uid, Warning};
use punch_testkit::ask::{ListSpot, ModelBatch, ModelOp, TodoName};
use punch_testkit::model::{Model, ModelView, No, Trace};

use crate::bridge;

/// Both sides of one plan.
#[derive(Clone)]
pub struct Pair {
    pub plan: Plan,
    pub model: Model,
    pub log: Vec<Event>,
}

impl Pair {
    pub fn new() -> Self {
        Self { plan: Plan::new(), model: Model::default(), log: Vec::new() }
    }

    /// Runs a batch on both and compares; the error says where they differ.
    pub fn run(&mut self, batch: &ModelBatch) -> Result<Result<Outcome, Vec<Refusal>>, String> {
        let before = self.plan.clone();
        let (expected, trace) = self.model.apply_with_trace(batch);
        let ctx = bridge::context(batch, self.model.now);
        let got = bridge::submit(&self.plan, &bridge::ops(batch), &ctx);
        check(self.plan == before, || "apply changed the plan it only reads".into())?;
        match (&got, expected) {
            (Err(refusals), Err(no)) => refused(refusals, &no)?,
            (Ok(outcome), Ok(())) => {
                self.plan.commit(outcome);
                self.log.extend(outcome.events.clone());
                written(&before, &self.plan, outcome)?;
                logged(outcome, trace)?;
                self.adopt_order(batch, &outcome.added)?;
                self.compare()?;
                rederived(&self.plan)?;
            }
            (Ok(_), Err(no)) => return Err(format!("accepted, the model says {no:?}")),
            (Err(refusals), Ok(())) => return Err(format!("refused: {refusals:?}, the model accepts")),
        }
        Ok(got)
    }

    pub fn compare(&self) -> Result<(), String> {
        let (engine, model) = (bridge::state(&self.plan, self.model.now), self.model.state());
        check(engine == model, || difference(&engine, &model))?;
        for row in &engine.rows {
            let pending = row.item.status == punch_testkit::ask::ModelStatus::Pending || (row.ready || row.blocked);
            check(pending == (row.ready != row.blocked), || format!("P is not ready plus blocked: {row:?}"))?;
        }
        Ok(())
    }

    /// Arranging promises the order of the named todos and keeps that of the others; the mixture is free.
    fn adopt_order(&mut self, batch: &ModelBatch, added: &[Uid]) -> Result<(), String> {
        let mut arranged =
            batch.asks.iter().filter_map(|ask| if let ModelOp::Arrange(names) = ask { Some(names) } else { None });
        let Some(names) = arranged.next() else { return Ok(()) };
        let engine: Vec<usize> = self.plan.live().iter().map(|t| t.uid.0 as usize - 1).collect();
        let moves = |ask: &ModelOp| {
            matches!(ask, ModelOp::Move(..)) || matches!(ask, ModelOp::Add(new) if new.spot != ListSpot::End)
        };
        if arranged.next().is_none() && !batch.asks.iter().any(moves) {
            let keys: Vec<usize> = names.iter().filter_map(|name| self.key(name, added)).collect();
            for named in [true, false] {
                let part = |order: &[usize]| -> Vec<usize> {
                    order.iter().copied().filter(|key| keys.contains(key) == named).collect()
                };
                let (a, b) = (part(&engine), part(&self.model.order));
                check(a == b, || format!("arranged {names:?}: engine {a:?}, model {b:?}"))?;
            }
        }
        self.model.order = engine;
        Ok(())
    }

    fn key(&self, name: &TodoName, added: &[Uid]) -> Option<usize> {
        match name {
            TodoName::Id(id) => self.model.find(id),
            TodoName::Key(key) => Some(*key),
            TodoName::New(n) => added.get(*n).map(|uid| uid.0 as usize - 1),
        }
    }

    /// Folding every event and deriving gives the plan. Leases are chatter outside the log, and what was given out
    /// is never given again, even if no row shows it any more.
    pub fn fold_again(&self) -> Result<(), String> {
        let mut folded = Plan::new();
        for event in &self.log {
            fold(&mut folded, event);
        }
        derive(&mut folded);
        let mut plan = self.plan.clone();
        for mut todo in self.plan.all().cloned() {
            todo.lease_until = None;
            plan.put(todo);
        }
        let (row, low) = (&mut plan.row, &folded.row);
        let reached = row.next_number >= low.next_number
            && row.next_uid >= low.next_uid
            && row.next_phase >= low.next_phase
            && row.last_position >= low.last_position;
        check(reached, || format!("marks went back: {row:?} {low:?}"))?;
        row.next_number = low.next_number;
        row.next_uid = low.next_uid;
        row.next_phase = low.next_phase;
        row.last_position = low.last_position;
        same(&plan, &folded)
    }
}

/// Only the rows that differ, then the rest.
fn difference(engine: &ModelView, model: &ModelView) -> String {
    let mut out = String::from("engine (<) and model (>) differ");
    for n in 0..engine.rows.len().max(model.rows.len()) {
        let (a, b) = (engine.rows.get(n), model.rows.get(n));
        if a != b {
            out += &format!("\n< {a:?}\n> {b:?}");
        }
    }
    let rest = |state: &ModelView| ModelView { rows: Vec::new(), ..state.clone() };
    if rest(engine) != rest(model) {
        out += &format!("\n< {:?}\n> {:?}", rest(engine), rest(model));
    }
    out
}

pub fn check(holds: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(message()) }
}

/// Checks that refusals have the expected codes in the expected order, presentable texts, and real cycles.
fn refused(refusals: &[Refusal], no: &[No]) -> Result<(), String> {
    let codes: Vec<&str> = refusals.iter().map(Refusal::code).collect();
    let expected: Vec<&str> = no.iter().map(|no| no.code).collect();
    check(codes == expected, || format!("refused with {codes:?} ({refusals:?}), the model with {expected:?}"))?;
    for refusal in refusals {
        presentable(refusal)?;
        if let (Refusal::Cycle { path }, Some(no)) = (refusal, no.first()) {
            check(path.len() > 1 && path.first() == path.last(), || format!("no cycle: {path:?}"))?;
            for pair in path.windows(2) {
                let edge = (pair[0].clone(), pair[1].clone());
                check(no.edges.contains(&edge), || format!("{path:?} uses {edge:?}, edges are {:?}", no.edges))?;
            }
        }
    }
    Ok(())
}

pub fn presentable(refusal: &Refusal) -> Result<(), String> {
    let (message, hint) = (refusal.message(), refusal.hint());
    let fits = |text: &str| !text.is_empty() && text.chars().count() <= 600;
    check(fits(&message) && fits(&hint), || format!("{} has message {message:?}, hint {hint:?}", refusal.code()))
}

/// Revisions have no gaps, nothing is destroyed, and events say exactly what changed.
fn written(before: &Plan, after: &Plan, outcome: &Outcome) -> Result<(), String> {
    let (old, new) = (before.row.revision, after.row.revision);
    let step = u64::from(!outcome.events.is_empty());
    check(new == old + step, || format!("revision went from {old} to {new} with {step} step"))?;
    for (n, event) in outcome.events.iter().enumerate() {
        check(event.revision == new && event.seq as usize == n, || format!("event out of line: {event:?}"))?;
    }
    for todo in before.all() {
        check(after.get(todo.uid).is_some(), || format!("{:?} was destroyed", todo.uid))?;
    }
    let mut folded = before.clone();
    for event in &outcome.events {
        fold(&mut folded, event);
    }
    for todo in after.all() {
        let seen = folded.get(todo.uid);
        let fields = seen.map(|t| &t.fields);
        check(fields == Some(&todo.fields), || format!("events give {fields:?}\nthe row has {:?}", todo.fields))?;
        let time = seen.map(|t| t.updated_at);
        check(time == Some(todo.updated_at), || format!("{}: updated {time:?}, row {}", todo.id, todo.updated_at))?;
    }
    for uid in &outcome.unblocked {
        let todo = after.get(*uid).map(|t| t.derived.unmet);
        check(todo == Some(0), || format!("{uid:?} is not unblocked"))?;
    }
    Ok(())
}

/// The events and warnings of statuses are those of the transition table. The order counts for each todo. Other parts of
/// a write log `edited` too, so that one is not compared.
fn logged(outcome: &Outcome, mut expected: Trace) -> Result<(), String> {
    let event = |event: &Event| match (&event.patch, event.kind) {
        (
            _,
            EventKind::Added
            | EventKind::Edited
            | EventKind::Moved
            | EventKind::Rewired
            | EventKind::Noted
            | EventKind::Removed,
        ) => None,
        (Patch::Todo(uid, _), kind) => Some((uid.0 as usize - 1, kind.name())),
        (Patch::Phases(_) | Patch::Policy(_), _) => None,
    };
    let mut events: Vec<(usize, &str)> = outcome.events.iter().filter_map(event).collect();
    expected.events.retain(|(_, name)| *name != "edited");
    events.sort_by_key(|(key, _)| *key);
    expected.events.sort_by_key(|(key, _)| *key);
    check(events == expected.events, || format!("events {events:?}, the model has {:?}", expected.events))?;
    let warning = |warning: &Warning| match warning {
        Warning::StartedEarly { id, unmet } => Some((id.clone(), "started_early", unmet.to_string())),
        Warning::ClaimEnded { id, owner } => Some((id.clone(), "claim_ended", owner.clone())),
        Warning::Reported { id } => Some((id.clone(), "reported", String::new())),
        Warning::FailedCheck { id, .. } => Some((id.clone(), "failed_check", String::new())),
        Warning::Unchecked { id } => Some((id.clone(), "unchecked", String::new())),
        Warning::SharedFiles { id, .. } => Some((id.clone(), "shared_files", String::new())),
        Warning::Cascaded { id, .. } => Some((id.clone(), "cascaded", String::new())),
        _ => None,
    };
    let mut warnings: Vec<_> = outcome.warnings.iter().filter_map(warning).collect();
    warnings.sort_by(|(a, ..), (b, ..)| a.cmp(b));
    expected.warnings.sort_by(|(a, ..), (b, ..)| a.cmp(b));
    check(warnings == expected.warnings, || format!("warnings {warnings:?}, the model has {:?}", expected.warnings))
}

/// What is stored as derived is what deriving gives.
pub fn rederived(plan: &Plan) -> Result<(), String> {
    let mut again = plan.clone();
    derive(&mut again);
    same(plan, &again)
}

pub fn same(plan: &Plan, again: &Plan) -> Result<(), String> {
    let marks = |row: &PlanRow| PlanRow { last_time: 0, ..row.clone() };
    check(marks(&plan.row) == marks(&again.row), || format!("{:?}\n{:?}", plan.row, again.row))?;
    let rows = |plan: &Plan| plan.all().cloned().collect::<Vec<Todo>>();
    check(rows(plan) == rows(again), || format!("{:#?}\n{:#?}", rows(plan), rows(again)))
}

/// How many todos an owner works on; what was let go by an expired lease does not count.
pub fn running(plan: &Plan, owner: Option<&str>, now: i64) -> usize {
    let active = |t: &&Todo| t.is_live() && t.status_at(now) == Status::InProgress && t.owner.as_deref() == owner;
    // The limit is on what was started; claims come with a lease and ask for more on purpose.
    let active = |t: &&Todo| active(t) && t.lease_until.is_none();
    plan.all().filter(active).count()
}
