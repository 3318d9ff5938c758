//! The claiming tool: the best ready todo, or a named one, for the caller.

use punch_core::reason::PlanReader;
use punch_core::{Footprint, Plan, apply};
use punch_store::{Ahead, Snapshot};
use serde_json::json;

use super::arguments::ClaimCall;
use super::{Incoming, ToolAnswer, native, render, worker};
use crate::{Engine, EngineError, claim, offers, reference};

impl Engine {
    pub(super) fn call_claim(&self, incoming: &Incoming<'_>, call: &ClaimCall) -> Result<ToolAnswer, EngineError> {
        let caller = incoming.caller;
        let mut request = caller.request(|policy| policy);
        request.detail = true;
        let lease = call.lease.unwrap_or_else(|| request.lease());
        let first = Footprint { ids: call.id.clone().into_iter().collect(), ..Footprint::default() };
        let ahead = Ahead { dependents: true, ready: true, running: true, ..Ahead::load(&first) };
        let answer = self.write_call(incoming, &caller.request(|policy| policy), ahead, |tx, now, state, _| {
            // A worker that was given todos claims among these, and always under its own name.
            let scope = worker::scope(tx, caller)?.filter(|scope| !scope.is_empty());
            let named = call.owner.as_deref().filter(|_| scope.is_none() && caller.role.is_none());
            let owner = named.or(caller.actor.owner()).unwrap_or(caller.session.session_id());
            request.actor = caller.actor.clone().claiming_as(owner);
            let before = tx.row()?.revision;
            let wanted = match (&call.id, &scope) {
                (Some(id), _) => Some(reference::resolve(tx, id)?),
                (None, scope) => claim::best(tx, Some(owner), scope.as_deref(), now)?,
            };
            let Some(uid) = wanted else { return Ok(None) };
            if scope.is_some_and(|scope| !scope.contains(&uid)) {
                return Err(EngineError::NotAllowed { what: "claim todos that were not assigned to it".into() });
            }
            if call.id.is_some() && named.is_some() {
                // The name of someone else must not renew that one's claim.
                let mut part = Plan::slice(tx.row()?);
                tx.load(&Footprint { todos: [uid].into(), ..Footprint::default() }, &mut part)?;
                if let Some(todo) = part.get(uid).filter(|todo| apply::is_protected(todo, &caller.actor, now)) {
                    return Err(apply::leased(todo).into());
                }
            }
            let changed = claim::claim(tx, now, &request, uid, lease)?.changed;
            // The session works on it from now on: it is bound, and a worker may report on what it claimed.
            native::bind(state, &changed, before);
            if call.id.is_none() {
                // It has started something: whatever it was sent to is free again.
                offers::record(tx, owner, None, now)?;
            }
            let (todo, reader) = (changed.plan.get(uid), PlanReader::of(&changed.plan, Some(owner), changed.now));
            let mut lines: Vec<String> = todo.map(|t| render::line(reader, t)).into_iter().collect();
            lines.extend(todo.into_iter().flat_map(render::work));
            let fence = todo.map_or(0, |t| t.fence);
            let text = format!("{}\nClaimed by {owner}, fence {fence}, for {} s.", lines.join("\n"), lease / 1000);
            let until = todo.and_then(|todo| todo.lease_until);
            let structured = json!({"id": todo.map(|t| &t.id), "fence": fence, "leaseUntil": until});
            Ok(Some(ToolAnswer::new(text, structured, changed.outcome.plan.revision)))
        });
        match answer? {
            Some(answer) => Ok(answer),
            None => {
                let scope = |snapshot: &dyn Snapshot| worker::scope(snapshot, caller);
                let (row, scope) = self.read(incoming.plan, |snapshot| Ok((snapshot.row()?, scope(snapshot)?)))?;
                let scope = scope.filter(|scope| !scope.is_empty());
                let text = match (row.counts.open(), scope) {
                    (0, _) => "Nothing is open.".to_owned(),
                    // A worker has only its own todos.
                    (_, Some(_)) => "Nothing is ready to claim.".to_owned(),
                    (1, None) => {
                        "Nothing is ready to claim; 1 todo is open: view why shows what it is waiting for.".to_owned()
                    }
                    (open, None) => {
                        format!(
                            "Nothing is ready to claim; {open} todos are open: view why shows what they are waiting for."
                        )
                    }
                };
                Ok(ToolAnswer::new(text, json!({"todo": null}), row.revision))
            }
        }
    }
}
