//! The extended surface: replace or patch, with sizes and groups.

use std::collections::{BTreeSet, HashSet};

use punch_core::dialect::extended;
use punch_core::{Footprint, Op, Plan, Ref, Todo, Uid};
use punch_store::{PlanId, Snapshot, StoreError, Which};
use serde_json::{Value, json};

use super::reach::WHOLE;
use super::render::{self, capped};
use super::{Answer, Caller, pack, stated, unpack};
use crate::submit::settle_on;
use crate::{Engine, EngineError, Role, SessionState, link, session};

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
        self.write_for(plan, &request, |tx, now| {
            if let Some(body) = key.map(|key| tx.answer(key, now)).transpose()?.flatten() {
                return Ok(unpack(&body));
            }
            let mut state = session::load(tx, &caller.session, plan)?;
            if state.role_of(&caller.session, caller.role) != Role::Owner {
                return Err(EngineError::NotAllowed { what: "change the plan".into() });
            }
            let scope: HashSet<Uid> = state.scope.iter().copied().collect();
            let part = part(tx, &call, &state)?;
            let whole = part.row.counts.total() <= WHOLE as u64;
            let mut ops = extended::ops(&part, &call)?;
            // Only what the session was shown can be archived by leaving it out (rule 8).
            ops.retain(|op| !matches!(op, Op::Rm(Ref::Uid(uid)) if !scope.contains(uid)));
            let changed = settle_on(tx, now, &request, part, &mut |_, _| Ok(ops.clone()))?;
            render::within(changed.outcome.plan.counts.open(), caller.open_limit)?;
            let named: Vec<&Todo> = call.todos.iter().filter_map(|given| changed.plan.by_id(&given.id)).collect();
            let kept = if call.replace { Vec::new() } else { state.scope.clone() };
            let uids: BTreeSet<Uid> = kept.into_iter().chain(named.iter().map(|t| t.uid)).collect();
            state.scope = uids.into_iter().collect();
            state.shown = changed.outcome.plan.revision;
            state.bound = true;
            state.drive.untouched = false;
            state.dialect = Some("extended".into());
            let warnings = extended::group_warnings(&changed.plan, &call);
            let group =
                |t: &&Todo| format!("{} (P{}, group {})", render::line(t, changed.now), t.priority, t.derived.level);
            let mut lines: Vec<String> = named.iter().map(group).collect();
            let ready = match whole {
                true => extended::ready(&changed.plan, changed.now),
                // Of a large plan the first ones; they are the best.
                false => tx.ready(changed.now, None, SHOWN + 1)?.into_iter().map(|t| t.fields.id).collect(),
            };
            lines.push(format!("Ready: {}", if ready.is_empty() { "none".to_owned() } else { shown(&ready, whole) }));
            lines.extend(warnings.iter().take(5).map(|w| format!("Note: {}", w.message())));
            lines.extend(render::reported(&changed.outcome));
            lines.push(render::progress(&changed.plan.row, &super::native::next(tx, caller, changed.now)?));
            let answer = Answer {
                text: capped(&lines.join("\n")),
                structured: match caller.structured {
                    true => json!({
                        "success": true,
                        "todos": extended::rows(&changed.plan, changed.now),
                        "ready": ready,
                        "warnings": warnings.iter().map(punch_core::Warning::message).collect::<Vec<_>>(),
                    }),
                    false => Value::Null,
                },
                is_error: false,
                revision: changed.outcome.plan.revision,
            };
            stated::enter(tx, caller, &state, &stated::extended(&changed.plan, &call), now)?;
            link::note(&mut state, &caller.session, arguments);
            session::store(tx, &caller.session, plan, &state, now)?;
            if let Some(key) = key {
                tx.put_answer(key, &pack(&answer), now)?;
            }
            Ok(answer)
        })
    }
}

/// What the call is about: a small plan as a whole, of a large one what it names and what it could archive.
fn part(tx: &dyn Snapshot, call: &extended::Call, state: &SessionState) -> Result<Plan, StoreError> {
    let mut part = Plan::slice(tx.row()?);
    if part.row.counts.total() <= WHOLE as u64 {
        tx.list(Which::Live, None, usize::MAX)?.into_iter().for_each(|todo| part.put(todo));
    }
    let mut wanted = Footprint::default();
    wanted.ids.extend(call.todos.iter().map(|given| given.id.clone()));
    if call.replace {
        wanted.todos.extend(state.scope.iter().copied().filter(|uid| part.get(*uid).is_none()));
    }
    tx.load(&wanted, &mut part)?;
    Ok(part)
}

/// Ids that are named.
const SHOWN: usize = 20;

/// The first ids of a list, and how many more there are, if that is known.
fn shown(ids: &[String], counted: bool) -> String {
    let first: Vec<String> = ids.iter().take(SHOWN).map(|id| punch_core::text::neutral(id).into_owned()).collect();
    match ids.len().saturating_sub(SHOWN) {
        0 => first.join(", "),
        more if counted => format!("{} and {more} more", first.join(", ")),
        _ => format!("{} and more", first.join(", ")),
    }
}
