//! Copies the host's own todo list into the plan: one transaction with the session's state, once per call, never
//! refused. The first tool that a session uses decides which tool its todos come from.

use std::collections::{BTreeSet, HashSet};

use punch_core::apply::{leave_out, spare};
use punch_core::dialect::mirror::{self, HostListCopy, HostListUpdate, HostRow, HostStatus, MirrorAuthority, Room};
use punch_core::drive::missing_evidence;
use punch_core::{ApplyStop, Footprint, Op, Plan, Ref, Refusal, Status, Todo, Uid, text};
use punch_store::{Ahead, PlanId, SessionKey, Tx, Which};

use super::{Dialect, ToolCaller};
use crate::host::checks;
use crate::submit::{apply_in_transaction, apply_to_slice};
use crate::{Engine, EngineError, PlanChange, Role, SessionState, WriteRequest, offers, session};

/// The name under which the session stores its host's last list.
const KEPT: &str = "mirror";

/// Todos of each kind among which a new row is looked for by its content: those of the session, the last ones that were
/// copied, and the first open ones. Enough for plans that people read, and a bound for the others: a copy costs the
/// same however large the plan is.
const LOOKED_AT: usize = 200;

/// Tools of a host that work on one list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Family<'a> {
    /// Its stored name.
    pub name: &'a str,
    /// Subagents work on the list of the conversation they belong to.
    pub shared: bool,
}

/// A use of such a tool, and who used it.
#[derive(Clone, Copy, Debug)]
pub struct TodoUse<'a> {
    /// The caller of the host's tool.
    pub caller: &'a ToolCaller<'a>,
    /// The family of the host's tools.
    pub family: Family<'a>,
    /// The update of the host's list.
    pub told: &'a HostListUpdate,
    /// A use that was reported a report ago under the same key does nothing.
    pub key: Option<&'a str>,
}

impl Engine {
    /// Copies what a host's tool did. Answers the revision if the plan changed.
    pub fn mirror(&self, plan: PlanId, used: &TodoUse<'_>) -> Result<Option<u64>, EngineError> {
        let request = used.request();
        self.write_for(plan, &request, Ahead::default(), |tx, now| match used.put(tx, now, plan, &request)? {
            Some(made) => {
                session::store(tx, &made.list, plan, &made.state, now)?;
                Ok(made.revision)
            }
            None => Ok(None),
        })
    }
}

/// A copy that was made, and the session that has to be stored with it.
pub(crate) struct MirrorResult {
    pub list: SessionKey,
    pub state: SessionState,
    /// The revision, if the plan changed.
    pub revision: Option<u64>,
    /// What the plan did not take over as it was, or took over with a warning.
    pub notes: Notes,
}

/// What the model should hear about a copy.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes {
    /// Todos that it called done and that stay open until their check passes.
    pub unproven: Vec<Uid>,
    /// Todos that it called done and for which it was asked for a check.
    pub asked: Vec<Uid>,
    /// Todos that are done although their last check failed, a line each.
    pub warnings: Vec<String>,
    /// Todos that were in the list of the session before.
    pub listed: Vec<Uid>,
}

impl TodoUse<'_> {
    pub(crate) fn request(&self) -> WriteRequest<'_> {
        self.caller.request(mirror::policy)
    }

    /// The copy itself, inside a transaction; `None` if it was made before.
    pub(crate) fn put(
        &self,
        tx: &mut dyn Tx,
        now: i64,
        plan: PlanId,
        request: &WriteRequest<'_>,
    ) -> Result<Option<MirrorResult>, EngineError> {
        let (caller, family) = (self.caller, self.family);
        let list =
            if family.shared { SessionKey::new(caller.session.session_id(), None) } else { caller.session.clone() };
        let mut state = session::load(tx, &list, plan)?;
        let mut copied = kept(&state);
        if self.key.is_some_and(|key| !copied.take(key)) {
            return Ok(None);
        }
        if !state.bound {
            // A conversation that was emptied begins a new list; what it had stays in the plan.
            copied = HostListCopy { calls: copied.calls, ..HostListCopy::default() };
        }
        let authority = authority(&state, &copied, caller, family);
        let rows = copied.next(self.told, Room { content: caller.limits.content, long: caller.limits.long });
        let known = known(tx, &copied, &rows, &state, caller, authority, now)?;
        let mut first = Footprint::default();
        first.todos.extend(copied.rows.iter().chain(&rows).filter_map(|row| row.uid));
        first.todos.extend(known.iter().map(|todo| todo.uid));
        let mut part = Plan::slice(tx.row()?);
        tx.load(&first, &mut part)?;
        for row in copied.rows.iter_mut().filter(|row| row.status == HostStatus::InProgress) {
            // A list that still has it in progress claims it again.
            if row.uid.and_then(|uid| part.get(uid)).is_some_and(|todo| todo.lease_expired(now)) {
                row.status = HostStatus::Pending;
            }
        }
        let known: Vec<&Todo> = known.iter().collect();
        let step = mirror::step(&copied, (self.told, rows), &known, &part, authority, caller.actor.by());
        let row = tx.row()?;
        let before = row.revision;
        if let Some(owner) = caller.actor.owner() {
            offers::record(tx, owner, None, now)?;
        }
        let (ops, mut spared) = spare(step.ops, &part, &caller.actor, now);
        let (ops, overruled) =
            leave_out(ops, &part, |todo| mirror::decided_otherwise(todo, &copied, caller.actor.by(), now));
        spared.extend(overruled);
        let mut notes = Notes { listed: state.scope.clone(), ..Notes::default() };
        let added = keep(tx, now, request, part, &ops, &mut notes)?;
        if caller.work.starts_checks {
            for uid in &notes.unproven {
                checks::report(tx, now, request, *uid)?;
            }
        }
        notes.warnings.extend(spared.iter().map(|warning| format!("Note: {}", text::neutral(&warning.message()))));
        let after = tx.row()?.revision;
        let old: Vec<Uid> = copied.rows.iter().filter_map(|row| row.uid).collect();
        copied.rows = filled(step.rows, &added);
        if copied.family.is_empty() && authority != MirrorAuthority::Echo {
            copied.family = family.name.to_owned();
            // It thinks in lists, and answers for its own.
            state.dialect.get_or_insert(Dialect::Todowrite);
        }
        scope(&mut state, &old, &copied, &step.finished);
        if after > before || authority != MirrorAuthority::Echo {
            state.bind(before, after);
        }
        let open: HashSet<Uid> =
            copied.rows.iter().filter(|row| row.status != HostStatus::Completed).filter_map(|row| row.uid).collect();
        state.unproven.retain(|uid| !open.contains(uid));
        notes.unproven.iter().for_each(|uid| state.add_unproven(*uid));
        state.asked.retain(|uid| !open.contains(uid));
        notes.asked.iter().for_each(|uid| state.add_asked(*uid));
        state.drive.untouched = false;
        // The host's model has seen the plan only if it wrote all of it.
        if state.shown == 0 || state.shown == before {
            state.shown = after;
        }
        if authority != MirrorAuthority::Echo {
            remember(tx, &old, &copied)?;
        }
        let body = serde_json::to_value(&copied).unwrap_or_default();
        state.more.insert(KEPT.to_owned(), body);
        Ok(Some(MirrorResult { list, state, revision: (after > before).then_some(after), notes }))
    }
}

pub(super) fn kept(state: &SessionState) -> HostListCopy {
    state.more.get(KEPT).and_then(|body| serde_json::from_value(body.clone()).ok()).unwrap_or_default()
}

/// The rows of todos that a model was not shown are no longer its to leave out.
pub(crate) fn left_out(state: &mut SessionState) {
    let mut copied = kept(state);
    let beyond: HashSet<Uid> = state.beyond.iter().copied().collect();
    for row in &mut copied.rows {
        row.unshown = row.uid.is_some_and(|uid| beyond.contains(&uid));
    }
    if !copied.rows.is_empty() {
        state.more.insert(KEPT.to_owned(), serde_json::to_value(&copied).unwrap_or_default());
    }
}

/// One source per session: the first family it used, or our own tools if they came first.
fn authority(
    state: &SessionState,
    copied: &HostListCopy,
    caller: &ToolCaller<'_>,
    family: Family<'_>,
) -> MirrorAuthority {
    let ours_first = copied.family.is_empty() && state.dialect.is_some();
    let other = !copied.family.is_empty() && copied.family != family.name;
    let subagent = caller.session.subagent().is_some();
    if ours_first || other || caller.role.unwrap_or(state.role) != Role::Owner || (subagent && !family.shared) {
        MirrorAuthority::Echo
    } else if subagent {
        MirrorAuthority::Keeping
    } else {
        MirrorAuthority::Source
    }
}

/// Todos that a new row may mean: those of the session, and for a main agent the open ones of the plan.
fn known(
    tx: &dyn Tx,
    copied: &HostListCopy,
    rows: &[HostRow],
    state: &SessionState,
    caller: &ToolCaller<'_>,
    authority: MirrorAuthority,
    now: i64,
) -> Result<Vec<Todo>, EngineError> {
    let listed = |row: &&HostRow| copied.rows.iter().any(|old| old.content == row.content);
    if rows.len() <= copied.rows.len() && rows.iter().filter(listed).count() == rows.len() {
        return Ok(Vec::new());
    }
    let mut part = Plan::slice(tx.row()?);
    let mut near: BTreeSet<Uid> = state.scope.iter().rev().chain(&state.beyond).copied().take(LOOKED_AT).collect();
    if caller.session.subagent().is_none() || authority != MirrorAuthority::Echo {
        near.extend(remembered(tx)?);
    }
    tx.load(&Footprint { todos: near, ..Footprint::default() }, &mut part)?;
    let wanted: HashSet<&str> = rows.iter().map(|row| row.content.as_str()).collect();
    let usable = |todo: &Todo| {
        wanted.contains(todo.content.as_str()) && todo.is_live() && !todo.leased_by_other(caller.actor.owner(), now)
    };
    // A source takes over what is open, and what was done before when a conversation that is continued elsewhere says
    // so again; an echo also knows what its session has closed.
    let done: HashSet<&str> =
        rows.iter().filter(|row| row.status == HostStatus::Completed).map(|row| row.content.as_str()).collect();
    let again = |todo: &Todo| todo.status == Status::Completed && done.contains(todo.content.as_str());
    let own = |todo: &Todo| authority == MirrorAuthority::Echo && state.scope.contains(&todo.uid);
    let mut out: Vec<Todo> = part
        .live()
        .into_iter()
        .filter(|todo| usable(todo) && (todo.status.is_open() || again(todo) || own(todo)))
        .cloned()
        .collect();
    if caller.session.subagent().is_none() || authority != MirrorAuthority::Echo {
        let open = tx.list(Which::Open, None, LOOKED_AT)?;
        let new = open.into_iter().filter(|todo| usable(todo) && part.get(todo.uid).is_none());
        out.extend(new.collect::<Vec<_>>());
    }
    Ok(out)
}

/// The todos that were copied last, whichever session's: the next conversation begins with the same list.
fn remembered(tx: &dyn Tx) -> Result<Vec<Uid>, EngineError> {
    Ok(tx.mirrored()?)
}

fn remember(tx: &mut dyn Tx, old: &[Uid], copied: &HostListCopy) -> Result<(), EngineError> {
    let new: Vec<Uid> = copied.rows.iter().filter_map(|row| row.uid).filter(|uid| !old.contains(uid)).collect();
    if new.is_empty() {
        return Ok(());
    }
    let before = remembered(tx)?;
    let all = new.iter().copied().chain(before.into_iter().filter(|uid| !new.contains(uid))).take(LOOKED_AT);
    Ok(tx.put_mirrored(&all.collect::<Vec<Uid>>())?)
}

/// Applies the batch; if a rule refuses it, whatever of it the rules allow. Answers the new todos in order, `None`
/// for those that could not be made.
fn keep(
    tx: &mut dyn Tx,
    now: i64,
    request: &WriteRequest<'_>,
    part: Plan,
    ops: &[Op],
    notes: &mut Notes,
) -> Result<Vec<Option<Uid>>, EngineError> {
    if ops.is_empty() {
        return Ok(Vec::new());
    }
    let added = |changed: &PlanChange| changed.outcome.added.iter().copied().map(Some).collect::<Vec<_>>();
    match apply_to_slice(tx, now, request, part, &mut |_, _| Ok(ops.to_vec())) {
        Ok(changed) => {
            notes.warnings.extend(super::render::reported(&changed.outcome, &str::to_owned));
            return Ok(added(&changed));
        }
        Err(EngineError::Refused(_)) => {}
        Err(error) => return Err(error),
    }
    let mut out = Vec::new();
    for op in ops {
        let one = match op {
            Op::Arrange(_) => continue,
            Op::Add(add) => {
                let mut add = add.clone();
                // It named other rows of the batch by their place in it.
                add.edit.depends_on = punch_core::Keep::Keep;
                Op::Add(add)
            }
            other => other.clone(),
        };
        let made = matches!(one, Op::Add(_));
        match apply_in_transaction(tx, now, request, &Footprint::default(), &mut |_, _| Ok(vec![one.clone()])) {
            Ok(changed) => {
                notes.warnings.extend(super::render::reported(&changed.outcome, &str::to_owned));
                out.extend(added(&changed));
            }
            Err(EngineError::Refused(_) | EngineError::NotFound { .. }) if made => out.push(None),
            Err(EngineError::Refused(refusals)) if wants_check(&refusals) => {
                if let Op::Done { target: Ref::Uid(uid), .. } = one {
                    notes.unproven.push(uid);
                }
            }
            Err(EngineError::Refused(refusals)) => {
                let asks = refusals.iter().filter_map(missing_evidence).next();
                if let (Some(text), Op::Done { target: Ref::Uid(uid), .. }) = (asks, one) {
                    begin(tx, now, request, uid)?;
                    notes.asked.push(uid);
                    notes.warnings.push(text);
                }
            }
            Err(EngineError::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(out)
}

/// Puts a todo in progress that its host calls done, so that its check is seen. Nothing changes if it is already.
fn begin(tx: &mut dyn Tx, now: i64, request: &WriteRequest<'_>, uid: Uid) -> Result<(), EngineError> {
    let mut start = |plan: &Plan, _: i64| -> Result<Vec<Op>, ApplyStop> {
        let running = plan.get(uid).is_some_and(|todo| todo.status == Status::InProgress);
        Ok(if running { Vec::new() } else { vec![Op::Start(Ref::Uid(uid))] })
    };
    let first = Footprint { todos: [uid].into(), ..Footprint::default() };
    match apply_in_transaction(tx, now, request, &first, &mut start) {
        Ok(_) | Err(EngineError::Refused(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

fn wants_check(refusals: &[Refusal]) -> bool {
    refusals.iter().any(|refusal| matches!(refusal, Refusal::NeedsVerification { .. }))
}

/// The todos that the host's own list calls done.
pub(crate) fn called_done(state: &SessionState) -> HashSet<Uid> {
    kept(state).rows.iter().filter(|row| row.status == HostStatus::Completed).filter_map(|row| row.uid).collect()
}

/// Returns true if the session's todos come from its host's own list.
pub(crate) fn is_mirrored(state: &SessionState) -> bool {
    !kept(state).family.is_empty()
}

fn filled(mut rows: Vec<HostRow>, added: &[Option<Uid>]) -> Vec<HostRow> {
    let mut added = added.iter();
    rows.iter_mut().filter(|row| row.uid.is_none()).for_each(|row| row.uid = added.next().copied().flatten());
    rows.retain(|row| row.uid.is_some());
    rows
}

/// What the session's todos are: its own, without rows that left the host's list unfinished.
fn scope(state: &mut SessionState, old: &[Uid], copied: &HostListCopy, finished: &[Uid]) {
    let new: Vec<Uid> = copied.rows.iter().filter_map(|row| row.uid).collect();
    state.scope.retain(|uid| !old.contains(uid) || new.contains(uid) || finished.contains(uid));
    for uid in &new {
        if !state.scope.contains(uid) {
            state.scope.push(*uid);
        }
    }
    state.beyond.retain(|uid| !new.contains(uid));
    // Of what is finished the newest are enough to say how far the work is.
    let mut surplus = state.scope.len().saturating_sub(new.len() + LOOKED_AT);
    if surplus > 0 {
        state.scope.retain(|uid| {
            let stays = surplus == 0 || new.contains(uid);
            surplus -= usize::from(!stays);
            stays
        });
    }
}
