//! Assigns todos to another conversation: a worker session that may report on these and on nothing else. The session is
//! created before its host has a name for it; the first conversation that shows the given name takes it over.

use punch_core::drive::{ASSIGNED, assignment};
use punch_core::{Actor, Footprint, Plan, Refusal, Uid, WorkerId, apply};
use punch_store::{Durability, PlanId, SessionKey};
use serde_json::json;

use crate::config::{Settings, Subagents};
use crate::link::LINKED;
use crate::{Engine, EngineError, Role, session};

/// Todos that were handed out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TodoAssignment {
    /// The session that answers for them.
    pub key: SessionKey,
    /// The todos, without duplicates, in the order given.
    pub todos: Vec<Uid>,
    /// The ids of the assigned todos.
    pub ids: Vec<String>,
    /// The first message of the new conversation.
    pub prompt: String,
}

/// Returns the key of an assignment that no agent has taken over yet; `tag` makes it unique.
pub fn assignment_key(tag: &str) -> SessionKey {
    SessionKey::provisional(format_args!("assigned-{tag}"))
}

/// Returns the key of the session to which the todos of a run's worker are assigned.
pub fn worker_key(plan: PlanId, worker: &WorkerId) -> SessionKey {
    let WorkerId { run, epoch, number, fleet } = worker;
    let name = fleet.as_ref().map(|name| format!("-{name}")).unwrap_or_default();
    assignment_key(&format!("run-{}-{run}-{epoch}-{number}{name}", plan.0))
}

impl Engine {
    /// Hands open todos to a new session. Refused where subagents are off (rule 40), and for a todo that someone other than
    /// `by` has claimed: the new session could not start it.
    pub fn hand_out(
        &self,
        plan: PlanId,
        by: &Actor,
        settings: &Settings,
        key: &SessionKey,
        todos: &[Uid],
    ) -> Result<TodoAssignment, EngineError> {
        if settings.subagents.value == Subagents::Off {
            return Err(EngineError::SubagentsOff);
        }
        let mut wanted: Vec<Uid> = Vec::new();
        todos.iter().for_each(|uid| {
            if !wanted.contains(uid) {
                wanted.push(*uid)
            }
        });
        if wanted.is_empty() || wanted.len() > ASSIGNED {
            let what = format!("1 to {ASSIGNED} todos can be assigned at once, not {}", wanted.len());
            return Err(Refusal::Invalid { at: "todos".into(), what }.into());
        }
        let part: Plan =
            self.slice(plan, &Footprint { todos: wanted.iter().copied().collect(), ..Footprint::default() })?;
        let now = self.now();
        let mut named = Vec::with_capacity(wanted.len());
        for todo in wanted.iter().filter_map(|uid| part.get(*uid)) {
            let status = todo.status_at(now);
            if !todo.is_live() || !status.is_open() {
                return Err(Refusal::Transition { id: todo.id.clone(), op: "assign", status }.into());
            }
            if todo.leased_by_other(by.owner(), now) {
                return Err(apply::leased(todo).into());
            }
            named.push((todo.id.clone(), todo.content.clone()));
        }
        let file = self.plan_file(plan)?.map(|link| link.path.display().to_string());
        let prompt = assignment(&named, file.as_deref());
        self.assign(plan, key, &wanted)?;
        Ok(TodoAssignment {
            key: key.clone(),
            todos: wanted,
            ids: named.into_iter().map(|(id, _)| id).collect(),
            prompt,
        })
    }

    /// The todos that a session was assigned; `None` for a session that is not a worker.
    pub fn assigned_todos(&self, key: &SessionKey) -> Result<Option<Vec<Uid>>, EngineError> {
        let linked = self.linked(key)?;
        let found = self.session(linked.as_ref().unwrap_or(key))?;
        Ok(found.filter(|(_, state)| state.role == Role::Worker).map(|(_, state)| state.scope))
    }

    /// The conversation `by` shows the name of an assignment: it becomes the worker. Only the first one does; whoever
    /// inherits the name from it is someone else. Answers whether it is the worker.
    pub fn adopt(&self, assigned: &SessionKey, by: &SessionKey) -> Result<bool, EngineError> {
        let by = SessionKey::new(by.session_id(), None);
        if by.session_id().is_empty() || by.is_provisional() {
            return Ok(false);
        }
        let Some((Some(plan), state)) = self.session(assigned)? else { return Ok(false) };
        let whose = json!({"host": by.session_id(), "subagent": null});
        match state.more.get(LINKED) {
            Some(linked) => return Ok(*linked == whose),
            None if state.role != Role::Worker => return Ok(false),
            None => {}
        }
        self.write(plan, Durability::Full, |tx, now| {
            let mut old = session::load(tx, assigned, plan)?;
            if let Some(linked) = old.more.get(LINKED) {
                return Ok(*linked == whose);
            }
            let mut new = session::load(tx, &by, plan)?;
            (new.role, new.bound) = (Role::Worker, true);
            (new.scope, new.shown) = (old.scope.clone(), new.shown.max(old.shown));
            old.more.insert(LINKED.to_owned(), whose.clone());
            session::store(tx, assigned, plan, &old, now)?;
            session::store(tx, &by, plan, &new, now)?;
            Ok(true)
        })
    }
}
