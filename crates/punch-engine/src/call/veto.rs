//! Decides whether a host may complete one of its own tasks. It looks only at what is stored; nothing runs.

use std::collections::BTreeSet;

use punch_core::{Footprint, Plan, Status, Todo, VerifyMode};
use punch_store::{PlanId, SessionKey, Snapshot};

use super::mirror;
use crate::config::Settings;
use crate::{Engine, EngineError, session};

/// A task of the host.
#[derive(Clone, Copy, Debug)]
pub struct HostTask<'a> {
    /// The host's number for it.
    pub key: &'a str,
    /// The content of the task, if the host reports it.
    pub content: Option<&'a str>,
}

impl Engine {
    /// Returns the todo whose check has to pass before the task is done; `None` if the task may be completed.
    pub fn veto(
        &self,
        plan: PlanId,
        session: &SessionKey,
        task: HostTask<'_>,
        settings: &Settings,
    ) -> Result<Option<Todo>, EngineError> {
        self.read(plan, |snapshot| {
            let row = snapshot.row()?;
            if settings.policy_over(row.policy).verify != VerifyMode::Command {
                return Ok(None);
            }
            Ok(find(snapshot, plan, session, task)?.filter(is_unproven))
        })
    }
}

/// The todo that the task is a copy of; by what it says, if no copy was made.
fn find(
    snapshot: &dyn Snapshot,
    plan: PlanId,
    session: &SessionKey,
    task: HostTask<'_>,
) -> Result<Option<Todo>, EngineError> {
    let whole = SessionKey::new(session.session_id(), None);
    let copied = mirror::kept(&session::load(snapshot, &whole, plan)?);
    let uid = copied.rows.iter().find(|row| row.key.as_deref() == Some(task.key)).and_then(|row| row.uid);
    let Some(uid) = uid else {
        let said: BTreeSet<String> = task.content.map(str::to_owned).into_iter().collect();
        return Ok(snapshot.find_open_by_content(&said)?.into_iter().next());
    };
    let mut part = Plan::slice(snapshot.row()?);
    snapshot.load(&Footprint { todos: [uid].into(), ..Footprint::default() }, &mut part)?;
    Ok(part.get(uid).filter(|todo| todo.is_live()).cloned())
}

/// A check that passes finishes the todo, so one that is open has none.
fn is_unproven(todo: &Todo) -> bool {
    let proven = todo.status == Status::Completed && !todo.flags.stale;
    todo.verify.is_some() && !proven && todo.status != Status::Completed
}
