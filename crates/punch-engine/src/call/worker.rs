//! What a worker sees and writes: its own todos and their status, in any dialect (rule 39). Of a list that also
//! contains other todos, only the worker's own are read; changes of anything but their status are refused or ignored.

use std::collections::{BTreeSet, HashSet};

use punch_core::dialect::extended;
use punch_core::dialect::phases::{PhaseOp, PhasesTarget};
use punch_core::{Footprint, Hold, HoldKind, Op, Phase, Plan, Policy, Ref, Status, Todo, Uid, text};
use punch_store::{Snapshot, Tx};

use super::list::ListCall;
use super::render::{self, capped};
use super::{Dialect, ToolAnswer, ToolCaller, native};
use crate::submit::apply_in_transaction;
use crate::{EngineError, ReadyQuery, Role, SessionState, ready, session};

/// What a call says about one todo.
#[derive(Clone, Debug, Default)]
struct WorkerMention {
    id: Option<String>,
    content: Option<String>,
    /// Every todo of this phase.
    phase: Option<String>,
    /// Every todo of the list.
    all: bool,
    change: TodoOutcome,
}

/// What is to become of a todo.
#[derive(Clone, Debug, Default)]
enum TodoOutcome {
    /// Nothing.
    #[default]
    Keep,
    Status(Status),
    Blocked,
    Note(String),
}

/// A call of any dialect, limited to what a worker may do.
pub(super) struct WorkerReport {
    dialect: Dialect,
    preset: fn(Policy) -> Policy,
    mentions: Vec<WorkerMention>,
}

impl WorkerReport {
    /// Reads a call of a list dialect.
    pub fn of_list(call: &ListCall) -> Result<Self, EngineError> {
        let mentions = match call {
            ListCall::Cursor(call) => call
                .todos
                .iter()
                .map(|given| WorkerMention {
                    id: Some(given.id.clone()).filter(|id| !id.is_empty()),
                    content: Some(given.content.clone()).filter(|content| !content.is_empty()),
                    change: given.status.map_or(TodoOutcome::Keep, TodoOutcome::Status),
                    ..WorkerMention::default()
                })
                .collect(),
            ListCall::Todowrite(rows) => rows
                .iter()
                .map(|row| WorkerMention {
                    id: row.id.clone(),
                    content: Some(row.content.clone()),
                    change: TodoOutcome::Status(row.status),
                    ..WorkerMention::default()
                })
                .collect(),
            ListCall::Phases(ops) => ops.iter().map(phase_op).collect::<Result<_, _>>()?,
        };
        Ok(Self { dialect: call.dialect(), preset: call.preset(), mentions })
    }

    /// Reads a call of the extended dialect.
    pub fn of_extended(call: &extended::ExtendedCall) -> Self {
        let mention = |given: &extended::ExtendedTodo| WorkerMention {
            id: Some(given.id.clone()),
            change: match given.status {
                Some(extended::ExtendedStatus::Stored(status)) => TodoOutcome::Status(status),
                Some(extended::ExtendedStatus::Blocked) => TodoOutcome::Blocked,
                None => TodoOutcome::Keep,
            },
            ..WorkerMention::default()
        };
        Self {
            dialect: Dialect::Extended,
            preset: extended::policy,
            mentions: call.todos.iter().map(mention).collect(),
        }
    }

    /// Changes the status of the worker's own todos inside the call's transaction.
    pub fn write(
        &self,
        tx: &mut dyn Tx,
        now: i64,
        caller: &ToolCaller<'_>,
        state: &mut SessionState,
    ) -> Result<ToolAnswer, EngineError> {
        let own = Own::load(tx, &state.scope)?;
        let mut ops = Vec::new();
        let (mut named, mut others) = (0, 0);
        for mention in &self.mentions {
            let found = own.named(mention);
            if found.is_empty() && !mention.all {
                match is_known(tx, mention)? {
                    true => others += 1,
                    false => return Err(not_allowed("add todos")),
                }
            }
            for todo in found {
                named += 1;
                ops.extend(op(todo, &mention.change, now)?);
            }
        }
        if named == 0 {
            return Err(not_allowed("report on todos that were not assigned to it"));
        }
        let request = caller.request(self.preset);
        let first = Footprint { todos: state.scope.iter().copied().collect(), ..Footprint::default() };
        let mut changed = apply_in_transaction(tx, now, &request, &first, &mut |_, _| Ok(ops.clone()))?;
        let query = ReadyQuery::for_owner(caller.actor.owner(), Some(&state.scope), changed.now);
        let next = query.next(tx)?;
        let mut text = render::changed(tx, &mut changed, caller.actor.owner(), next.as_ref(), &HashSet::new())?;
        if others > 0 {
            let them = match others {
                1 => "1 todo of this list is not assigned to you, so it was left unchanged".to_owned(),
                _ => format!("{others} todos of this list are not assigned to you and stay as they are"),
            };
            text = format!("Note: {them}.\n{text}");
        }
        state.bound = true;
        state.shown = changed.outcome.plan.revision;
        state.dialect = Some(self.dialect);
        let structured = native::structured(&changed, next.as_ref());
        Ok(ToolAnswer::new(capped(&text), structured, changed.outcome.plan.revision))
    }
}

fn phase_op(op: &PhaseOp) -> Result<WorkerMention, EngineError> {
    let content = |content: &Option<String>, change| WorkerMention {
        content: content.clone(),
        change,
        ..WorkerMention::default()
    };
    Ok(match op {
        PhaseOp::Start { task } => content(task, TodoOutcome::Status(Status::InProgress)),
        PhaseOp::Note { task, text } => content(task, TodoOutcome::Note(text.clone().unwrap_or_default())),
        PhaseOp::Done(target) => {
            let change = TodoOutcome::Status(Status::Completed);
            match target {
                PhasesTarget::Task(task) => content(&Some(task.clone()), change),
                PhasesTarget::Phase(name) => {
                    WorkerMention { phase: Some(name.clone()), change, ..WorkerMention::default() }
                }
                PhasesTarget::All => WorkerMention { all: true, change, ..WorkerMention::default() },
            }
        }
        PhaseOp::Init { .. } | PhaseOp::Append { .. } => return Err(not_allowed("add todos")),
        PhaseOp::Drop(_) | PhaseOp::Rm(_) => return Err(not_allowed("remove todos")),
    })
}

fn op(todo: &Todo, change: &TodoOutcome, now: i64) -> Result<Option<Op>, EngineError> {
    let (target, status) = (Ref::Uid(todo.uid), todo.status_at(now));
    Ok(match change {
        TodoOutcome::Keep => None,
        TodoOutcome::Note(text) => Some(Op::Note(target, text.clone())),
        TodoOutcome::Blocked => Some(Op::Block(target)),
        TodoOutcome::Status(wanted) if *wanted == status => None,
        TodoOutcome::Status(Status::Pending) => Some(Op::Reopen(target)),
        TodoOutcome::Status(Status::InProgress) => Some(Op::Start(target)),
        TodoOutcome::Status(Status::Completed) => Some(Op::Done { target, evidence: None, fence: None }),
        TodoOutcome::Status(Status::Failed) => Some(Op::Fail(target, String::new())),
        TodoOutcome::Status(Status::Cancelled) => return Err(not_allowed("remove todos")),
    })
}

fn not_allowed(what: &str) -> EngineError {
    EngineError::NotAllowed { what: what.into() }
}

/// Whether the plan has a todo that is meant, for any worker.
fn is_known(tx: &dyn Tx, mention: &WorkerMention) -> Result<bool, EngineError> {
    if let Some(id) = &mention.id
        && tx.find(id)?.is_some()
    {
        return Ok(true);
    }
    if let Some(name) = &mention.phase {
        return Ok(tx.row()?.phases.iter().any(|phase| phase.name == *name));
    }
    let contents: BTreeSet<String> = mention.content.iter().cloned().collect();
    Ok(!contents.is_empty() && !tx.find_open_by_content(&contents)?.is_empty())
}

/// The todos of a worker, in list order.
struct Own {
    phases: Vec<Phase>,
    todos: Vec<Todo>,
}

impl Own {
    fn load(snapshot: &dyn Snapshot, scope: &[Uid]) -> Result<Self, EngineError> {
        Ok(Self { phases: snapshot.row()?.phases, todos: ready::assigned(snapshot, scope)? })
    }

    /// Those that a call means: by id, else the first by content.
    fn named(&self, mention: &WorkerMention) -> Vec<&Todo> {
        if mention.all {
            return self.todos.iter().collect();
        }
        if let Some(name) = &mention.phase {
            let phases: Vec<_> = self.phases.iter().filter(|p| p.name == *name).map(|phase| Some(phase.uid)).collect();
            return self.todos.iter().filter(|todo| phases.contains(&todo.phase)).collect();
        }
        let by_id = mention.id.as_ref().and_then(|id| self.todos.iter().find(|todo| todo.id == *id));
        let content = mention.content.as_deref().map(str::trim);
        let by_content = || self.todos.iter().find(|todo| content == Some(todo.content.trim()));
        by_id.or_else(by_content).into_iter().collect()
    }
}

/// The todos that a caller is limited to; `None` for a caller that sees the whole plan. A subagent to which nothing was
/// assigned reads the list of its main agent.
pub(super) fn scope(snapshot: &dyn Snapshot, caller: &ToolCaller<'_>) -> Result<Option<Vec<Uid>>, EngineError> {
    if caller.session.session_id().is_empty() && caller.role.is_none() {
        return Ok(None);
    }
    let state = session::load(snapshot, &caller.session, snapshot.info()?.id)?;
    let role = caller.role.unwrap_or(state.role);
    Ok((role != Role::Owner).then_some(state.scope))
}

/// The todos of a worker, open ones or all, in list order.
pub(super) fn list(snapshot: &dyn Snapshot, scope: &[Uid], all: bool, now: i64) -> Result<Vec<Todo>, EngineError> {
    let mut todos = ready::assigned(snapshot, scope)?;
    todos.retain(|todo| all || todo.status_at(now).is_open());
    Ok(todos)
}

/// The line that ends every list a worker reads.
pub(super) fn progress(todos: &[Todo], next: Option<&Todo>, now: i64) -> String {
    let done = todos.iter().filter(|todo| todo.status_at(now) == Status::Completed).count();
    let open = todos.iter().any(|todo| todo.status_at(now).is_open());
    let next = match next {
        Some(todo) if todo.status_at(now) == Status::InProgress => {
            format!("; in progress: {}", text::neutral(&todo.id))
        }
        Some(todo) => format!("; next: {} {}", text::neutral(&todo.id), text::clip(&text::neutral(&todo.content), 80)),
        None if open => "; nothing is ready".to_owned(),
        None => String::new(),
    };
    format!("{done}/{} of your todos done{next}", todos.len())
}

/// Makes every other open todo wait, so that a schedule has only the worker's own.
pub fn hold_others(whole: &mut Plan, own: &[Uid]) {
    let own: HashSet<Uid> = own.iter().copied().collect();
    let others = whole.live().into_iter().filter(|todo| todo.status.is_open() && !own.contains(&todo.uid));
    for mut todo in others.cloned().collect::<Vec<Todo>>() {
        let reason = "not assigned to this worker".into();
        todo.fields.status = Status::Pending;
        todo.fields.hold = Some(Hold { kind: HoldKind::Other, reason, until: None, by: String::new(), at: 0 });
        whole.put(todo);
    }
}
