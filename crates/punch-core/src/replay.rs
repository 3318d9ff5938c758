//! Replays recorded calls on a fresh plan, one line at a time, to test conformance with a dialect. Every call takes the
//! same path as all others: project, step, diff, apply.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::dialect::native::TextLimits;
use crate::dialect::{Dialect, cursor, extended, list, native, phases, todowrite};
use crate::drive;
use crate::{Actor, ApplyStop, Context, Event, Footprint, Op, Outcome, Plan, Policy, Refusal, apply};

/// What the lines of a recording hold: calls of a dialect, or one of the forms that only a recording has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recording {
    /// Tool calls of a dialect.
    Calls(Dialect),
    /// Lists in phases as Markdown, read or written.
    PhasesMarkdown,
    /// `/todo` commands on a list in phases.
    PhasesCommands,
    /// Facts about agents that want to stop; the answers are decisions.
    Drive,
}

impl Recording {
    /// Every kind of recording.
    pub const ALL: &'static [Self] = &[
        Self::Calls(Dialect::Phases),
        Self::PhasesMarkdown,
        Self::PhasesCommands,
        Self::Calls(Dialect::Cursor),
        Self::Calls(Dialect::Todowrite),
        Self::Calls(Dialect::Extended),
        Self::Calls(Dialect::Native),
        Self::Drive,
    ];

    /// The name of the recording on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Calls(dialect) => dialect.name(),
            Self::PhasesMarkdown => "phases-markdown",
            Self::PhasesCommands => "phases-commands",
            Self::Drive => "drive",
        }
    }

    /// Returns the kind of recording of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|recording| recording.name() == name)
    }
}

impl From<Dialect> for Recording {
    fn from(dialect: Dialect) -> Self {
        Self::Calls(dialect)
    }
}

/// The answer to one line.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayReply {
    /// `{"id", "results"}`, or `{"id": null, "error"}`.
    pub json: Value,
    /// False if the line could not be read.
    pub readable: bool,
}

/// Replays one line.
pub fn line(recording: impl Into<Recording>, line: &[u8]) -> ReplayReply {
    match read(line).and_then(|value| run(recording.into(), &value).map(|results| (value, results))) {
        Ok((value, results)) => {
            let id = value.get("id").cloned().unwrap_or(Value::Null);
            ReplayReply { json: json!({"id": id, "results": results}), readable: true }
        }
        Err(refusal) => ReplayReply { json: json!({"id": null, "error": error(&refusal)}), readable: false },
    }
}

fn read(line: &[u8]) -> Result<Value, Refusal> {
    let text = std::str::from_utf8(line).map_err(|e| unreadable(format!("not UTF-8 at byte {}", e.valid_up_to())))?;
    let value: Value = serde_json::from_str(text).map_err(|e| unreadable(format!("not JSON: {e}")))?;
    if value.is_object() { Ok(value) } else { Err(unreadable("a line must hold one JSON object".to_owned())) }
}

fn unreadable(what: String) -> Refusal {
    Refusal::Invalid { at: "line".into(), what }
}

/// A refusal in the form that programs read.
pub fn error(refusal: &Refusal) -> Value {
    json!({"code": refusal.code(), "message": refusal.message(), "hint": refusal.hint()})
}

/// A plan in memory with its history.
#[derive(Clone, Debug)]
pub struct Memory {
    /// The plan.
    pub plan: Plan,
    /// Events by revision.
    pub log: BTreeMap<u64, Vec<Event>>,
    now: i64,
}

impl Default for Memory {
    fn default() -> Self {
        Self { plan: Plan::new(), log: BTreeMap::new(), now: 0 }
    }
}

impl Memory {
    /// Time advances by one second a call, so that replays are reproducible.
    pub const fn now(&self) -> i64 {
        self.now
    }

    /// Applies a batch and takes the outcome over.
    pub fn submit(&mut self, ops: &[Op], policy: Policy) -> Result<Outcome, Vec<Refusal>> {
        self.now += 1_000;
        let ctx = Context::new(self.now, Actor::user().signing("replay").without_claims(), policy);
        let outcome = loop {
            match apply(&self.plan, ops, &ctx) {
                Ok(outcome) => break outcome,
                Err(ApplyStop::Refused(refusals)) => return Err(refusals),
                Err(ApplyStop::Need(need)) => self.load(*need)?,
            }
        };
        if !outcome.events.is_empty() {
            self.log.insert(outcome.plan.revision, outcome.events.clone());
        }
        self.plan.commit(&outcome);
        Ok(outcome)
    }

    /// A plan in memory is whole; only the events of a revision can be asked for.
    fn load(&mut self, need: Footprint) -> Result<(), Vec<Refusal>> {
        for revision in need.revisions {
            let events = self.log.get(&revision).cloned().ok_or_else(|| vec![Refusal::UnknownRevision { revision }])?;
            self.plan.put_events(revision, events);
        }
        Ok(())
    }

    /// Brings the plan from one list to another.
    pub fn change(
        &mut self,
        base: &list::SessionList,
        new: &list::SessionList,
        policy: Policy,
    ) -> Result<Outcome, Vec<Refusal>> {
        let ops = list::diff(base, new, &self.plan);
        self.submit(&ops, policy)
    }
}

fn run(recording: Recording, line: &Value) -> Result<Value, Refusal> {
    let mut memory = Memory::default();
    let memory = &mut memory;
    match recording {
        Recording::Calls(Dialect::Cursor) => {
            let mode = line.get("mode").and_then(Value::as_str).unwrap_or("conservative");
            let mode = cursor::DelegationMode::parse(mode)
                .ok_or_else(|| unreadable("mode is off, conservative or aggressive".into()))?;
            each(line, "calls", |call| cursor_call(memory, call, mode))
        }
        Recording::Calls(Dialect::Todowrite) => each(line, "calls", |call| todowrite_call(memory, call)),
        Recording::Calls(Dialect::Extended) => each(line, "calls", |call| extended_call(memory, call)),
        Recording::Calls(Dialect::Native) => each(line, "calls", |call| native_call(memory, call)),
        Recording::Drive if line.get("calls").is_some() => {
            each(line, "calls", |call| decision(call).unwrap_or_else(|refusal| json!({"error": error(&refusal)})))
        }
        Recording::Drive => Ok(json!([decision(line)?])),
        Recording::Calls(Dialect::Phases) => {
            phases_initial(memory, line)?;
            each(line, "batches", |batch| phases_batch(memory, batch))
        }
        Recording::PhasesCommands => {
            phases_initial(memory, line)?;
            each(line, "commands", |command| phases_command(memory, command))
        }
        Recording::PhasesMarkdown => {
            let kind = line.get("kind").and_then(Value::as_str).unwrap_or_default();
            Ok(json!([phases::markdown_answer(kind, line.get("input").unwrap_or(&Value::Null))?]))
        }
    }
}

/// The decision that follows from what one call holds.
fn decision(call: &Value) -> Result<Value, Refusal> {
    let input = serde_json::from_value(call.clone());
    let input = input.map_err(|e| Refusal::Invalid { at: "call".into(), what: e.to_string() })?;
    let decision = drive::decide(&input);
    let mut out = serde_json::to_value(&decision).unwrap_or_default();
    if let drive::Decision::Allow { reason } = &decision {
        out["sentence"] = json!(reason.text());
    }
    Ok(out)
}

/// Puts the list that a line starts from into the plan.
fn phases_initial(memory: &mut Memory, line: &Value) -> Result<(), Refusal> {
    let Some(initial) = line.get("initial") else { return Ok(()) };
    let initial = phases::phases_from_json(initial)?;
    phases_change(memory, &[], &initial).map(|_| ()).map_err(|refusals| {
        refusals.into_iter().next().unwrap_or_else(|| unreadable("the initial list was refused".into()))
    })
}

fn phases_change(
    memory: &mut Memory,
    shown: &[phases::TaskPhase],
    new: &[phases::TaskPhase],
) -> Result<Vec<phases::TaskPhase>, Vec<Refusal>> {
    let policy = phases::policy(memory.plan.row.policy);
    memory.change(&phases::to_list(shown), &phases::to_list(new), policy)?;
    Ok(phases::project(&memory.plan))
}

fn phases_batch(memory: &mut Memory, batch: &Value) -> Value {
    let shown = phases::project(&memory.plan);
    let Ok(ops) = phases::parse_ops(batch) else { return phases::rejected_json(&shown) };
    let mut answer = phases::step(&shown, &ops);
    match phases_change(memory, &shown, &answer.phases) {
        Ok(phases) => answer.phases = phases,
        Err(refusals) => {
            answer = phases::PhasesAnswer {
                phases: shown,
                errors: refusals.iter().map(Refusal::message).collect(),
                failed: Vec::new(),
                completed: Vec::new(),
                is_error: true,
            };
        }
    }
    phases::answer_json(&answer)
}

fn phases_command(memory: &mut Memory, command: &Value) -> Value {
    let shown = phases::project(&memory.plan);
    let said = match command.as_str() {
        None => {
            phases::CommandOutput { output: "a command must be a string".into(), phases: shown.clone(), refused: true }
        }
        Some(line) => match phases::run(&shown, line) {
            phases::CommandReply::Said(said) => said,
            phases::CommandReply::Effect(_) => phases::CommandOutput {
                output: "Files are not available in a replay.".into(),
                phases: shown.clone(),
                refused: true,
            },
        },
    };
    let said = match phases_change(memory, &shown, &said.phases) {
        Ok(phases) => phases::CommandOutput { phases, ..said },
        Err(refusals) => phases::CommandOutput {
            output: refusals.first().map(Refusal::message).unwrap_or_default(),
            phases: shown,
            refused: true,
        },
    };
    phases::said_json(&said)
}

fn each(line: &Value, key: &str, f: impl FnMut(&Value) -> Value) -> Result<Value, Refusal> {
    match line.get(key) {
        Some(Value::Array(calls)) => Ok(calls.iter().map(f).collect()),
        _ => Err(unreadable(format!("`{key}` must be a list"))),
    }
}

fn first(refusals: &[Refusal]) -> Value {
    refusals.first().map_or(Value::Null, error)
}

fn cursor_call(memory: &mut Memory, call: &Value, mode: cursor::DelegationMode) -> Value {
    let shown = cursor::project(&memory.plan);
    let call = match cursor::read(call) {
        Ok(call) => call,
        Err(refusal) => return json!({"success": false, "error": error(&refusal)}),
    };
    let (now, mut made) = (memory.now, 0);
    let mut make_id = || {
        made += 1;
        format!("todo-{now}-{made:09}")
    };
    let mut answer = cursor::step(&shown, &call, &mut make_id);
    let policy = cursor::policy(memory.plan.row.policy);
    match memory.change(&cursor::to_list(&shown), &cursor::to_list(&answer.list), policy) {
        // What the plan says now is what is shown, should a rule have changed anything on the way.
        Ok(_) => answer.list = cursor::project(&memory.plan),
        Err(refusals) => return json!({"success": false, "error": first(&refusals)}),
    }
    cursor::answer(&answer, mode)
}

fn todowrite_call(memory: &mut Memory, call: &Value) -> Value {
    let shown = todowrite::project(&memory.plan);
    let refused = |kind: &str, text: Option<&str>| {
        let mut out = json!({"success": false, "kind": kind});
        if let Some(text) = text {
            out["error"] = json!(text);
        }
        out["progress"] = todowrite::progress(&shown);
        out["items"] = todowrite::items(&shown);
        out
    };
    let rows = match todowrite::read(call) {
        Ok(rows) => todowrite::step(&shown, rows),
        Err(todowrite::TodoWriteRefusal::ManyInProgress) => {
            return refused("many_in_progress", Some(todowrite::TodoWriteRefusal::MANY));
        }
        Err(todowrite::TodoWriteRefusal::Invalid(refusal)) => return refused("invalid", Some(&refusal.message())),
    };
    let policy = todowrite::policy(memory.plan.row.policy);
    if let Err(refusals) = memory.change(&todowrite::to_list(shown.clone()), &todowrite::to_list(rows), policy) {
        return refused("invalid", refusals.first().map(Refusal::message).as_deref());
    }
    let now = todowrite::project(&memory.plan);
    json!({
        "success": true,
        "output": todowrite::render(&now),
        "progress": todowrite::progress(&now),
        "items": todowrite::items(&now),
    })
}

fn extended_call(memory: &mut Memory, call: &Value) -> Value {
    let policy = extended::policy(memory.plan.row.policy);
    let done = extended::read(call, &TextLimits::default())
        .and_then(|call| extended::ops(&memory.plan, &call))
        .map_err(|refusal| vec![refusal])
        .and_then(|ops| memory.submit(&ops, policy));
    let mut out = match done {
        Ok(_) => json!({"success": true}),
        Err(refusals) => json!({"success": false, "code": refusals.first().map(Refusal::code)}),
    };
    out["todos"] = extended::rows(&memory.plan, memory.now);
    out["ready"] = json!(extended::ready(&memory.plan, memory.now));
    out
}

fn native_call(memory: &mut Memory, call: &Value) -> Value {
    let policy = memory.plan.row.policy;
    let done = native::read(&memory.plan, call, &TextLimits::default())
        .map_err(|refusal| vec![refusal])
        .and_then(|ops| memory.submit(&ops, policy));
    let names = |uids: &[crate::Uid]| -> Value {
        uids.iter().filter_map(|uid| memory.plan.get(*uid)).map(|t| json!(t.id)).collect()
    };
    let mut out = match done {
        Ok(outcome) => json!({
            "success": true,
            "added": names(&outcome.added),
            "unblocked": names(&outcome.unblocked),
            "warnings": outcome.warnings.iter().map(crate::Warning::message).collect::<Vec<_>>(),
        }),
        Err(refusals) => json!({"success": false, "errors": refusals.iter().take(20).map(error).collect::<Vec<_>>()}),
    };
    out["revision"] = json!(memory.plan.row.revision);
    out["todos"] = extended::rows(&memory.plan, memory.now);
    out["ready"] = json!(extended::ready(&memory.plan, memory.now));
    out
}
