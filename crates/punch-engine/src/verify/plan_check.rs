//! Makes the check of a whole plan due once every todo is done.

use punch_core::dialect::mirror;
use punch_core::{Footprint, Todo, Uid, due_plan_check, is_plan_check, may_be_finished};
use punch_store::{PlanId, SessionKey};

use crate::config::Settings;
use crate::{Engine, EngineError, WriteRequest, session};

impl Engine {
    /// Reports the todo for the check of the whole plan, if the plan looks finished and its check has not decided about it
    /// yet. `None` if there is nothing to check. A session that is given answers for the todo from then on.
    pub fn report_plan_check(
        &self,
        plan: PlanId,
        request: &WriteRequest<'_>,
        settings: &Settings,
        key: Option<&SessionKey>,
    ) -> Result<Option<Todo>, EngineError> {
        let Some(command) = settings.plan_check() else { return Ok(None) };
        if !self.read(plan, |snapshot| Ok(may_be_finished(&snapshot.row()?.counts)))? {
            return Ok(None);
        }
        let request = WriteRequest { preset: mirror::policy, ..request.clone() };
        let make = &mut |part: &punch_core::Plan, _: i64| Ok(due_plan_check(part, &command));
        let changed = self.submit_with(plan, &request, &Footprint::everything(), make)?;
        let added: Option<Uid> = changed.outcome.added.first().copied();
        let uid = added.or_else(|| changed.outcome.rows.iter().find(|todo| is_plan_check(todo)).map(|todo| todo.uid));
        let Some(todo) = uid.and_then(|uid| changed.plan.get(uid)).cloned() else { return Ok(None) };
        if let Some(key) = key {
            self.write(plan, punch_store::Durability::Relaxed, |tx, now| {
                let mut state = session::load(tx, key, plan)?;
                state.add_unproven(todo.uid);
                if !state.scope.contains(&todo.uid) && !state.beyond.contains(&todo.uid) {
                    state.beyond.push(todo.uid);
                }
                Ok(session::keep(tx, key, state.bound.then_some(plan), &state, now)?)
            })?;
        }
        Ok(Some(todo))
    }
}
