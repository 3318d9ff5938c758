//! Claims: who may change the work on a todo, and how a claim begins, is extended and ends. One check at the beginning
//! of a write covers every op, because nothing inside a write can begin or end another actor's claim unseen.

use super::draft::PlanDraft;
use super::resolve::ResolvedBatch;
use super::transition::{begin, not_ready, set_status};
use super::{ApplyStop, Context};
use crate::reason::is_empty;
use crate::{
    Actor, EventKind, Fields, Footprint, LONGEST_LEASE, Need, Op, Plan, Ref, Refusal, Status, Todo, Uid, Warning,
};

/// Returns true if `actor` must leave the work on this todo alone: another actor's claim is live, and this one does not
/// override claims.
pub fn is_protected(todo: &Todo, actor: &Actor, now: i64) -> bool {
    !actor.overrides_claims() && todo.leased_by_other(actor.owner(), now)
}

/// The refusal for a todo that someone else has claimed.
pub fn leased(todo: &Todo) -> Refusal {
    Refusal::Leased { id: todo.id.clone(), owner: todo.owner.clone(), until: todo.lease_until, free: None }
}

/// Refuses a batch that would change the work on todos that someone else has claimed.
pub(super) fn protect(draft: &PlanDraft<'_>, batch: &ResolvedBatch<'_>) -> Result<(), ApplyStop> {
    let concerned = batch.ops.iter().zip(&batch.targets);
    let concerned = concerned.filter_map(|(op, target)| Some((op, (*target).filter(|_| changes_work(op))?)));
    let concerned: Vec<(&Op, Uid)> = concerned.filter(|(_, uid)| !is_added(batch, *uid)).collect();
    Footprint::gather(concerned.iter().map(|(_, uid)| draft.get(*uid)))?;
    let mut refusals = Vec::new();
    for (op, uid) in concerned {
        let todo = draft.get(uid)?;
        // An answer to an earlier claim is refused as late, which says more.
        let late = matches!(op, Op::Done { fence: Some(given), .. } | Op::Report { fence: Some(given), .. } if *given != todo.fence);
        if !late && is_protected(todo, &draft.ctx.actor, draft.clock) {
            refusals.push(leased(todo));
        }
    }
    draft.refuse(refusals)
}

/// Takes the ops out of a batch that would be refused because someone else has claimed their todo, for formats in which a
/// whole list is sent again and again. Answers a warning for each of those todos.
pub fn spare(ops: Vec<Op>, plan: &Plan, actor: &Actor, now: i64) -> (Vec<Op>, Vec<Warning>) {
    leave_out(ops, plan, |todo| {
        let owner = || todo.owner.clone();
        is_protected(todo, actor, now).then(|| Warning::LeftOut { id: todo.id.clone(), owner: owner() })
    })
}

/// Takes the ops out of a batch that change the work on a todo to which there is an objection. Answers each objection once.
pub fn leave_out(ops: Vec<Op>, plan: &Plan, objection: impl Fn(&Todo) -> Option<Warning>) -> (Vec<Op>, Vec<Warning>) {
    let mut warnings = Vec::new();
    let ops = ops.into_iter().filter(|op| {
        let target = super::resolve::target(op).filter(|_| changes_work(op));
        let todo = target.and_then(|target| match target {
            Ref::Uid(uid) => plan.get(*uid),
            Ref::Id(id) => plan.by_id(id),
            Ref::New(_) => None,
        });
        let Some(warning) = todo.and_then(&objection) else { return true };
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
        false
    });
    (ops.collect(), warnings)
}

fn is_added(batch: &ResolvedBatch<'_>, uid: Uid) -> bool {
    batch.added.first().is_some_and(|(first, _)| uid >= *first)
}

/// Returns true for ops that change how far the work on a todo is, or who does it.
const fn changes_work(op: &Op) -> bool {
    match op {
        Op::Start(_) | Op::Claim(..) | Op::Renew(..) | Op::Unclaim(_) | Op::HandOver(..) => true,
        Op::Done { .. } | Op::Report { .. } | Op::Vouch { .. } | Op::Restore { .. } => true,
        Op::Drop(_) | Op::Fail(..) | Op::Reopen(_) | Op::Hold(..) | Op::Release(_) | Op::Block(_) | Op::Rm(_) => true,
        Op::Add(_) | Op::Edit(..) | Op::Note(..) | Op::Move(..) | Op::Arrange(_) => false,
        Op::Phases(_) | Op::SetPolicy(_) | Op::Undo { .. } | Op::Redo => false,
        // What a check finds is true whoever has claimed the todo.
        Op::RecordCheck { .. } | Op::Refute { .. } => false,
    }
}

/// Refuses to bring back older fields of a todo that someone else has claimed, where they say something about the work.
pub(super) fn protect_fields(draft: &mut PlanDraft<'_>, uid: Uid, fields: &Fields) -> Result<(), ApplyStop> {
    let todo = draft.get(uid)?;
    let work = |f: &Fields| (f.status, f.removed.is_some(), f.owner.clone(), f.fence, f.hold.clone());
    if work(&todo.fields) == work(fields) {
        return Ok(());
    }
    if is_protected(todo, &draft.ctx.actor, draft.clock) {
        return Err(leased(todo).into());
    }
    Ok(note_end(draft, uid)?)
}

/// Warns if the work on a todo changes that someone else has claimed.
pub(super) fn note_end(draft: &mut PlanDraft<'_>, uid: Uid) -> Result<(), Need> {
    let todo = draft.get(uid)?;
    if todo.leased_by_other(draft.ctx.actor.owner(), draft.clock) {
        let (id, owner) = (todo.id.clone(), todo.owner.clone().unwrap_or_default());
        draft.warnings.push(Warning::ClaimEnded { id, owner });
    }
    Ok(())
}

/// Returns true if a start is a claim: always under a name, and for a user where the todo was there before. A todo
/// that an import or a plan file brings in progress stays unclaimed.
pub(super) fn is_claim(ctx: &Context, new: bool) -> bool {
    ctx.actor.needs_lease() || (ctx.actor.claims() && !new)
}

/// Gives the actor's own todo in progress a whole lease, unless it has a longer one.
pub(super) fn prolong(draft: &mut PlanDraft<'_>, uid: Uid) -> Result<(), ApplyStop> {
    if draft.ctx.actor.needs_lease() {
        let until = Some(draft.clock.saturating_add(draft.ctx.lease));
        if draft.get(uid)?.lease_until < until {
            draft.touch(uid)?.lease_until = until;
        }
    }
    Ok(())
}

pub(super) fn claim(draft: &mut PlanDraft<'_>, uid: Uid, until: i64) -> Result<(), ApplyStop> {
    let until = within_longest(draft, until);
    let todo = draft.get(uid)?;
    if todo.status == Status::InProgress {
        if todo.owner.as_deref() != draft.ctx.actor.owner() {
            return Err(leased(todo).into());
        }
        draft.touch(uid)?.lease_until = Some(until);
        return Ok(());
    }
    if todo.status != Status::Pending {
        return Err(Refusal::Transition { id: todo.id.clone(), op: "claim", status: todo.status }.into());
    }
    // A claim is a promise to work now: whatever the gate, it is only given on ready work.
    let clear = todo.is_ready(draft.clock) && !is_empty(todo);
    if !clear || (!todo.files.is_empty() && !draft.before_start(uid)?.is_empty()) {
        return Err(not_ready(draft, uid)?.into());
    }
    // The limit is on what is started by the way: a claim asks for more work, and its lease frees what is forgotten.
    begin(draft, uid, EventKind::Claimed, true)?;
    draft.touch(uid)?.lease_until = Some(until);
    Ok(())
}

pub(super) fn renew(draft: &mut PlanDraft<'_>, uid: Uid, until: i64) -> Result<(), ApplyStop> {
    own(draft, uid, "renew")?;
    let until = within_longest(draft, until);
    let todo = draft.get(uid)?;
    if todo.lease_until.is_none() {
        return Err(Refusal::Transition { id: todo.id.clone(), op: "renew", status: todo.status }.into());
    }
    if todo.lease_until < Some(until) {
        draft.touch(uid)?.lease_until = Some(until);
    }
    Ok(())
}

/// Gives a claim back: of the actor's own work, or of anyone's where the actor overrides claims.
pub(super) fn unclaim(draft: &mut PlanDraft<'_>, uid: Uid) -> Result<(), ApplyStop> {
    if !draft.ctx.actor.overrides_claims() || draft.get(uid)?.status != Status::InProgress {
        own(draft, uid, "unclaim")?;
    }
    set_status(draft, uid, Status::Pending, EventKind::Demoted, |t| t.flags.resume = true)
}

/// Passes the actor's own claim to another name of the same session; lease and fence stay.
pub(super) fn hand_over(draft: &mut PlanDraft<'_>, uid: Uid, owner: &str) -> Result<(), ApplyStop> {
    own(draft, uid, "hand over")?;
    Ok(draft.edit(uid, EventKind::Edited, |t| t.owner = Some(owner.to_owned()))?)
}

fn within_longest(draft: &PlanDraft<'_>, until: i64) -> i64 {
    until.min(draft.clock.saturating_add(LONGEST_LEASE))
}

fn own(draft: &PlanDraft<'_>, uid: Uid, op: &'static str) -> Result<(), ApplyStop> {
    let todo = draft.get(uid)?;
    if todo.status != Status::InProgress || todo.owner.as_deref() != draft.ctx.actor.owner() {
        return Err(Refusal::Transition { id: todo.id.clone(), op, status: todo.status }.into());
    }
    Ok(())
}

/// A late answer from an earlier owner changes nothing (rule 33).
pub(super) fn in_time(draft: &PlanDraft<'_>, uid: Uid, fence: Option<u64>) -> Result<(), ApplyStop> {
    let todo = draft.get(uid)?;
    match fence.filter(|given| *given != todo.fence) {
        Some(given) => Err(Refusal::StaleFence { id: todo.id.clone(), given, current: todo.fence }.into()),
        None => Ok(()),
    }
}
