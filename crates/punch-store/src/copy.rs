//! Copies every plan from one store to another, whatever the backends: through the same trait as everything else, event by
//! event. The copy is compared with its source before it counts.

use std::collections::BTreeMap;

use punch_core::{Event, Footprint, Outcome, Plan, PlanRow};
use serde::{Deserialize, Serialize};

use crate::{
    Activity, CheckpointRow, CompletedFiles, Durability, HandOut, LedgerEntry, PlanId, PlanInfo, Question,
    QuestionFilter, ReadMarker, SessionRow, Snapshot, Store, StoreError, StoredRun, Tx,
};

/// Entries that are read at a time.
const PAGE: usize = 10_000;

/// What was copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopyReport {
    /// Plans, archived ones too.
    pub plans: u64,
    /// Todos, removed ones too.
    pub todos: u64,
    /// Events.
    pub events: u64,
    /// Sessions.
    pub sessions: u64,
}

/// Everything about one plan that a copy keeps, and the sessions that work on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanCopy {
    name: String,
    created_at: i64,
    pruned: u64,
    sessions: Vec<SessionRow>,
    content: PlanContent,
}

impl PlanCopy {
    /// The name of the plan.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Everything about one plan that a copy keeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct PlanContent {
    row: PlanRow,
    todos: Vec<punch_core::Todo>,
    baseline: (PlanRow, Vec<punch_core::Todo>),
    events: Vec<Event>,
    runs: Vec<StoredRun>,
    spending: Vec<LedgerEntry>,
    checkpoints: Vec<CheckpointRow>,
    questions: Vec<Question>,
    activity: Vec<Activity>,
    readers: Vec<ReadMarker>,
    batches: Vec<HandOut>,
    files: Vec<CompletedFiles>,
}

/// Reads one plan as a value.
pub fn read_plan(store: &dyn Store, plan: PlanId) -> Result<PlanCopy, StoreError> {
    let info = plans_of(store)?.into_iter().find(|info| info.id == plan).ok_or(StoreError::UnknownPlan { plan })?;
    let sessions = sessions_of(store)?.into_iter().filter(|session| session.plan == Some(plan));
    // The number of the plan is that of its store.
    let sessions = sessions.map(|session| SessionRow { plan: None, ..session }).collect();
    let content = read(store, plan)?;
    Ok(PlanCopy { name: info.name, created_at: info.created_at, pruned: info.pruned, sessions, content })
}

/// Adds a plan that was read as a value, with the sessions that work on it. Verified like [`copy_store`]. Fails if the store
/// has a plan of that name.
pub fn add_plan(store: &dyn Store, plan: &PlanCopy) -> Result<PlanId, StoreError> {
    let id = store.create_plan(&plan.name, plan.created_at)?;
    store.write(id, Durability::Full, &mut |tx| {
        put(tx, plan.pruned, None, &plan.content)?;
        plan.sessions.iter().try_for_each(|session| tx.put_session(&SessionRow { plan: Some(id), ..session.clone() }))
    })?;
    verify(&plan.content, store, id, &plan.name)?;
    Ok(id)
}

/// Copies all plans and sessions into a store that has no plans yet. Verified: the events and the todos of each plan are
/// equal afterwards. Left out are what has a meaning only for a moment or on one machine: leases of runners, seats, announced
/// calls, answers to repeated calls, offers, decisions, and which plan a worktree uses. Activity and questions are
/// numbered anew.
pub fn copy_store(from: &dyn Store, to: &dyn Store) -> Result<CopyReport, StoreError> {
    if !plans_of(to)?.is_empty() {
        return Err(StoreError::Conflict { what: "the store to copy to already has plans".into() });
    }
    let stamp = from.stamp(None)?;
    let (mut plans, mut ids) = (plans_of(from)?, BTreeMap::new());
    // The name of an archived plan may be in use again: those that are put away come first.
    plans.sort_by_key(|plan| (plan.archived.is_none(), plan.id));
    let mut report = CopyReport::default();
    for info in &plans {
        let content = read(from, info.id)?;
        let copy = to.create_plan(&info.name, info.created_at)?;
        to.write(copy, Durability::Full, &mut |tx| put(tx, info.pruned, info.archived, &content))?;
        verify(&content, to, copy, &info.name)?;
        ids.insert(info.id, copy);
        report.plans += 1;
        report.todos += content.todos.len() as u64;
        report.events += content.events.len() as u64;
    }
    if let Some(first) = ids.values().next() {
        let sessions = sessions_of(from)?;
        report.sessions = sessions.len() as u64;
        to.write(*first, Durability::Full, &mut |tx| {
            for session in &sessions {
                let plan = session.plan.and_then(|plan| ids.get(&plan)).copied();
                tx.put_session(&SessionRow { plan, ..session.clone() })?;
            }
            Ok(())
        })?;
    }
    if from.stamp(None)? != stamp {
        let what = "the source was changed while it was copied; delete the copy and copy again".into();
        return Err(StoreError::Conflict { what });
    }
    Ok(report)
}

fn plans_of(store: &dyn Store) -> Result<Vec<PlanInfo>, StoreError> {
    let mut out = Vec::new();
    store.browse(&mut |catalogue| {
        out = catalogue.plans()?;
        Ok(())
    })?;
    Ok(out)
}

fn sessions_of(store: &dyn Store) -> Result<Vec<SessionRow>, StoreError> {
    let mut out = Vec::new();
    store.browse(&mut |catalogue| {
        out = catalogue.sessions(None, i64::MIN, usize::MAX)?;
        Ok(())
    })?;
    Ok(out)
}

fn read(store: &dyn Store, plan: PlanId) -> Result<PlanContent, StoreError> {
    let mut out = None;
    store.read(plan, &mut |snapshot| {
        out = Some(content(snapshot)?);
        Ok(())
    })?;
    out.ok_or(StoreError::Abort)
}

fn content(snapshot: &dyn Snapshot) -> Result<PlanContent, StoreError> {
    let row = snapshot.row()?;
    let mut plan = Plan::slice(row.clone());
    snapshot.load(&Footprint::everything(), &mut plan)?;
    let todos: Vec<punch_core::Todo> = plan.all().cloned().collect();
    let baseline = snapshot.baseline()?;
    let mut events: Vec<Event> = Vec::new();
    loop {
        let page = snapshot.events(events.last().map_or(0, |event| event.revision), PAGE)?;
        if page.is_empty() {
            break;
        }
        events.extend(page);
    }
    let mut spending = Vec::new();
    loop {
        let page = snapshot.spending(spending.len(), PAGE)?;
        if page.is_empty() {
            break;
        }
        spending.extend(page);
    }
    let mut files = Vec::new();
    for todo in &todos {
        files.extend(snapshot.completed_files(todo.uid)?);
    }
    let numbered = |seq: usize| seq as u64 + 1;
    let activity = snapshot.activity(0, usize::MAX)?.into_iter().enumerate();
    let mut questions = snapshot.questions(QuestionFilter::All, usize::MAX)?;
    questions.reverse();
    let mut checkpoints = snapshot.checkpoints(usize::MAX)?;
    checkpoints.reverse();
    Ok(PlanContent {
        row,
        baseline: (baseline.row.clone(), baseline.all().cloned().collect()),
        events,
        runs: snapshot.runs(usize::MAX)?,
        spending,
        checkpoints,
        questions: questions.into_iter().enumerate().map(|(n, q)| Question { id: numbered(n), ..q }).collect(),
        activity: activity.map(|(n, activity)| Activity { seq: numbered(n), ..activity }).collect(),
        readers: snapshot.read_markers()?,
        batches: snapshot.batches()?,
        files,
        todos,
    })
}

fn put(tx: &mut dyn Tx, pruned: u64, archived: Option<i64>, content: &PlanContent) -> Result<(), StoreError> {
    if pruned > 0 {
        let mut baseline = Plan::slice(content.baseline.0.clone());
        content.baseline.1.iter().cloned().for_each(|todo| baseline.put(todo));
        tx.begin_at(&baseline)?;
    }
    for events in content.events.chunk_by(|a, b| a.revision == b.revision) {
        let revision = events.first().map_or(0, |event| event.revision);
        let plan = PlanRow { revision, ..tx.row()? };
        tx.put(&Outcome { plan, events: events.to_vec(), ..Outcome::default() })?;
    }
    tx.put(&Outcome { plan: content.row.clone(), rows: content.todos.clone(), ..Outcome::default() })?;
    content.runs.iter().rev().try_for_each(|run| tx.put_run(run))?;
    content.spending.iter().try_for_each(|spent| tx.spend(spent))?;
    content.checkpoints.iter().try_for_each(|checkpoint| tx.put_checkpoint(checkpoint))?;
    content.questions.iter().try_for_each(|question| tx.put_question(question).map(|_| ()))?;
    content.activity.iter().try_for_each(|activity| tx.put_activity(activity).map(|_| ()))?;
    content.readers.iter().try_for_each(|marker| tx.put_read_marker(marker))?;
    content.batches.iter().try_for_each(|batch| tx.put_batch(batch))?;
    content.files.iter().try_for_each(|files| tx.put_completed_files(files))?;
    if archived.is_some() {
        tx.archive(archived)?;
    }
    Ok(())
}

/// Reads the copy back. What a store forgets by itself, such as old activity, may be missing; history and todos may not.
fn verify(content: &PlanContent, to: &dyn Store, copy: PlanId, name: &str) -> Result<(), StoreError> {
    let found = read(to, copy)?;
    let differs = [
        ("events", content.events != found.events),
        ("todos", content.todos != found.todos || content.row != found.row),
        ("the baseline", content.baseline != found.baseline),
        ("runs", content.runs != found.runs),
        ("the ledger", content.spending != found.spending),
        ("checkpoints", content.checkpoints != found.checkpoints),
    ];
    match differs.into_iter().find(|(_, differs)| *differs) {
        Some((what, _)) => {
            Err(StoreError::Conflict { what: format!("the copy of plan `{name}` differs from its source in {what}") })
        }
        None => Ok(()),
    }
}
