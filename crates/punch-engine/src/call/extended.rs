//! The extended surface: replace or patch, with sizes and groups.

use std::collections::HashSet;

use punch_core::dialect::extended;
use punch_core::{Footprint, Op, Plan, Ref, Stop, Uid};
use punch_store::PlanId;
use serde_json::{Value, json};

use super::render::{self, capped};
use super::{Answer, Caller, pack, unpack};
use crate::submit::settle;
use crate::{Engine, EngineError, Role, session};

impl Engine {
    pub(super) fn call_extended(
        &self,
        plan: PlanId,
        caller: &Caller<'_>,
        arguments: &Value,
        key: Option<&str>,
    ) -> Result<Answer, EngineError> {
        let call = extended::read(arguments, &caller.limits)?;
        let request = caller.request(extended::policy);
        self.write(plan, request.durability, |tx, now| {
            if let Some(body) = key.map(|key| tx.answer(key, now)).transpose()?.flatten() {
                return Ok(unpack(&body));
            }
            let mut state = session::load(tx, &caller.session, plan)?;
            if caller.role.unwrap_or(state.role) != Role::Owner {
                return Err(EngineError::NotAllowed { what: "change the plan".into() });
            }
            let scope: HashSet<Uid> = state.scope.iter().copied().collect();
            let mut ask = |whole: &Plan, _: i64| -> Result<Vec<Op>, Stop> {
                whole.need_whole()?;
                let mut ops = extended::ops(whole, &call)?;
                // Only what the session was shown can be archived by leaving it out (rule 8).
                ops.retain(|op| !matches!(op, Op::Rm(Ref::Uid(uid)) if !scope.contains(uid)));
                Ok(ops)
            };
            let changed = settle(tx, now, &request, &Footprint::everything(), &mut ask)?;
            render::within(changed.outcome.plan.counts.open(), caller.open_limit)?;
            let named = call.todos.iter().filter_map(|given| changed.plan.by_id(&given.id)).map(|t| t.uid);
            let kept = if call.replace { Vec::new() } else { state.scope.clone() };
            state.scope =
                kept.into_iter().chain(named).collect::<std::collections::BTreeSet<_>>().into_iter().collect();
            state.shown = changed.outcome.plan.revision;
            state.bound = true;
            state.dialect = Some("extended".into());
            let warnings = extended::group_warnings(&changed.plan, &call);
            let mut lines: Vec<String> = call
                .todos
                .iter()
                .filter_map(|given| changed.plan.by_id(&given.id))
                .map(|t| format!("{} (P{}, group {})", render::line(t, changed.now), t.priority, t.derived.level))
                .collect();
            let ready = extended::ready(&changed.plan, changed.now);
            lines.push(format!("Ready: {}", if ready.is_empty() { "none".to_owned() } else { shown(&ready) }));
            lines.extend(warnings.iter().take(5).map(|w| format!("Note: {}", w.message())));
            lines.push(render::progress(&changed.plan.row, &super::native::next(tx, caller, changed.now)?));
            let answer = Answer {
                text: capped(&lines.join("\n")),
                structured: json!({
                    "success": true,
                    "todos": extended::rows(&changed.plan, changed.now),
                    "ready": ready,
                    "warnings": warnings.iter().map(punch_core::Warning::message).collect::<Vec<_>>(),
                }),
                is_error: false,
                revision: changed.outcome.plan.revision,
            };
            session::store(tx, &caller.session, plan, &state, now)?;
            if let Some(key) = key {
                tx.put_answer(key, &pack(&answer), now)?;
            }
            Ok(answer)
        })
    }
}

/// The first ids of a list.
fn shown(ids: &[String]) -> String {
    let first: Vec<String> = ids.iter().take(20).map(|id| punch_core::text::neutral(id).into_owned()).collect();
    match ids.len().saturating_sub(20) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}
