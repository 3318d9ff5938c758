//! Status changes in payload order, and their effects: counters of dependents, flags, cascades.

use super::draft::PlanDraft;
use super::resolve::ResolvedBatch;
use super::vouch::{self, CheckRole};
use super::{ApplyStop, claims, restore};
use crate::{
    CancelledDep, Dep, DepOnRunning, EventKind, Evidence, Hold, InProgressLimit, MissingEvidence, Need, Op, Refusal,
    StartGate, Status, Todo, Uid, VerifyMode, Warning,
};

pub(super) fn transitions(draft: &mut PlanDraft<'_>, batch: &ResolvedBatch<'_>) -> Result<(), ApplyStop> {
    demote_running(draft)?;
    // With the gate judged at the end, these must have nothing unmet then.
    let mut gated: Vec<Uid> = Vec::new();
    let mut said_blocked: Vec<Uid> = Vec::new();
    let mut added = batch.added.iter();
    for (op, target) in batch.ops.iter().zip(&batch.targets) {
        let uid = match (op, target) {
            (Op::Add(_), _) => match added.next() {
                Some((uid, _)) => *uid,
                None => continue,
            },
            (_, Some(uid)) => *uid,
            (_, None) => continue,
        };
        if !matches!(op, Op::Rm(_)) {
            expire(draft, uid)?;
        }
        match op {
            Op::Add(add) => arrive(draft, uid, add, &mut gated)?,
            Op::Start(_) => start(draft, uid, &mut gated)?,
            Op::Claim(_, until) => claims::claim(draft, uid, *until)?,
            Op::Renew(_, until) => claims::renew(draft, uid, *until)?,
            Op::Unclaim(_) => claims::unclaim(draft, uid)?,
            Op::HandOver(_, owner) => claims::hand_over(draft, uid, owner)?,
            Op::Done { evidence, fence, .. } => done(draft, uid, evidence.as_ref(), *fence, &mut gated)?,
            Op::Report { evidence, fence, .. } => report(draft, uid, evidence.as_ref(), *fence)?,
            Op::Vouch { stale, evidence, .. } => vouch::vouch(draft, uid, *stale, evidence.as_ref())?,
            Op::RecordCheck { found, .. } => vouch::record_check(draft, uid, found, CheckRole::Result)?,
            Op::Refute { found, .. } => vouch::record_check(draft, uid, found, CheckRole::Refutation)?,
            Op::Restore { work, .. } => restore::restore(draft, uid, work)?,
            Op::Drop(_) => close(draft, uid, Status::Cancelled, EventKind::Cancelled)?,
            Op::Fail(_, error) => fail(draft, uid, error)?,
            Op::Reopen(_) => reopen(draft, uid)?,
            Op::Hold(_, hold) => put_on_hold(draft, uid, hold)?,
            Op::Release(_) => release(draft, uid)?,
            Op::Block(_) => {
                reopen(draft, uid)?;
                said_blocked.push(uid);
            }
            Op::Edit(..) | Op::Rm(_) | Op::Note(..) | Op::Move(..) => {}
            Op::Arrange(_) | Op::Phases(_) | Op::SetPolicy(_) | Op::Undo { .. } | Op::Redo => {}
        }
    }
    for uid in said_blocked {
        block(draft, uid)?;
    }
    let mut refusals = Vec::new();
    for uid in gated {
        let todo = draft.get(uid)?;
        if todo.derived.unmet > 0 && matches!(todo.status, Status::InProgress | Status::Completed) {
            refusals.push(not_ready(draft, uid)?);
        }
    }
    draft.refuse(refusals)
}

/// A running todo that got an unmet dependency stops, where the policy says so (rule 3).
fn demote_running(draft: &mut PlanDraft<'_>) -> Result<(), ApplyStop> {
    if draft.ctx.policy.dep_on_running == DepOnRunning::Keep {
        return Ok(());
    }
    let running: Vec<Uid> =
        draft.rows.values().filter(|t| t.is_live() && t.status == Status::InProgress).map(|t| t.uid).collect();
    for uid in running {
        let had = draft.plan.get(uid).map_or(0, |t| t.derived.unmet);
        let todo = draft.get(uid)?;
        // An edit of the dependencies ends no claim: the todo runs on and is reported stalled.
        if todo.derived.unmet > had && !claims::is_protected(todo, &draft.ctx.actor, draft.clock) {
            set_status(draft, uid, Status::Pending, EventKind::Demoted, |t| t.flags.resume = true)?;
        }
    }
    Ok(())
}

/// Writes what time alone has done: a lease that ran out, a timer that elapsed (rule 33).
fn expire(draft: &mut PlanDraft<'_>, uid: Uid) -> Result<(), ApplyStop> {
    let now = draft.clock;
    if draft.get(uid)?.lease_expired(now) {
        set_status(draft, uid, Status::Pending, EventKind::LeaseExpired, |t| t.flags.resume = true)?;
    }
    if draft.get(uid)?.hold.as_ref().is_some_and(|hold| hold.elapsed(now)) {
        draft.edit(uid, EventKind::Released, |t| t.hold = None)?;
    }
    Ok(())
}

/// A new todo takes the status it was given; only what starts or completes work passes the gate.
fn arrive(draft: &mut PlanDraft<'_>, uid: Uid, add: &crate::Add, gated: &mut Vec<Uid>) -> Result<(), ApplyStop> {
    let flags = draft.get(uid)?.flags;
    match add.status {
        Status::Pending => {}
        Status::InProgress => start(draft, uid, gated)?,
        Status::Completed => {
            gate(draft, uid, gated)?;
            let verify = draft.ctx.policy.verify;
            let unchecked = matches!(verify, VerifyMode::Evidence | VerifyMode::Command) && add.carried.is_none();
            let refuses = draft.ctx.policy.missing_evidence == MissingEvidence::Refuse;
            if unchecked && refuses && verify == VerifyMode::Command {
                return Err(Refusal::NeedsEvidence { id: draft.id(uid) }.into());
            }
            close_with(draft, uid, Status::Completed, EventKind::Completed, |t| t.flags.unchecked = unchecked)?;
        }
        Status::Cancelled => close(draft, uid, Status::Cancelled, EventKind::Cancelled)?,
        Status::Failed => close(draft, uid, Status::Failed, EventKind::Failed)?,
    }
    if let Some(hold) = &add.hold {
        put_on_hold(draft, uid, hold)?;
    }
    if let Some(carried) = add.carried.as_deref() {
        draft.edit(uid, EventKind::Edited, |t| {
            t.started_at = carried.started_at;
            t.finished_at = carried.finished_at.filter(|_| !t.status.is_open());
            t.flags = flags;
        })?;
    }
    Ok(())
}

pub(super) fn not_ready(draft: &PlanDraft<'_>, uid: Uid) -> Result<Refusal, Need> {
    Ok(Refusal::NotReady { id: draft.id(uid), reasons: draft.before_start(uid)? })
}

/// May work on it begin or be called done?
fn gate(draft: &mut PlanDraft<'_>, uid: Uid, gated: &mut Vec<Uid>) -> Result<(), ApplyStop> {
    let todo = draft.get(uid)?;
    let (unmet, held) = (todo.derived.unmet, todo.hold_at(draft.clock).is_some());
    match draft.ctx.policy.start_gate {
        StartGate::Strict if unmet > 0 || held => Err(not_ready(draft, uid)?.into()),
        StartGate::AtEnd if held => Err(not_ready(draft, uid)?.into()),
        StartGate::Strict => Ok(()),
        StartGate::AtEnd => {
            gated.push(uid);
            Ok(())
        }
        StartGate::Warn => {
            if unmet > 0 {
                let id = todo.id.clone();
                draft.warnings.push(Warning::StartedEarly { id, unmet });
            }
            Ok(())
        }
    }
}

/// Two todos that touch the same files are not worked on at once, unless the user says so (rule 48).
fn apart(draft: &mut PlanDraft<'_>, uid: Uid) -> Result<(), ApplyStop> {
    let todo = draft.get(uid)?;
    if todo.files.is_empty() || draft.row.counts.in_progress == 0 {
        return Ok(());
    }
    let Some(other) = draft.file_conflict(uid)? else { return Ok(()) };
    if draft.ctx.policy.start_gate == StartGate::Strict && !draft.ctx.actor.is_user() {
        return Err(not_ready(draft, uid)?.into());
    }
    let (id, files) = (draft.id(uid), other.about.unwrap_or_default());
    draft.warnings.push(Warning::SharedFiles { id, other: other.id, files });
    Ok(())
}

/// Begins work, which is a claim: the actor owns the todo from now on. What another actor has in progress without a live
/// claim is taken over.
fn start(draft: &mut PlanDraft<'_>, uid: Uid, gated: &mut Vec<Uid>) -> Result<(), ApplyStop> {
    let todo = draft.get(uid)?;
    let (status, mine) = (todo.status, todo.owner.as_deref() == draft.ctx.actor.owner());
    if status == Status::Completed {
        return Err(Refusal::Transition { id: todo.id.clone(), op: "start", status }.into());
    }
    if status == Status::InProgress {
        if draft.ctx.policy.start_gate == StartGate::AtEnd {
            gated.push(uid);
        }
        if mine {
            return claims::prolong(draft, uid);
        }
    } else {
        gate(draft, uid, gated)?;
        apart(draft, uid)?;
    }
    within_limit(draft, uid, draft.ctx.actor.owner())?;
    // Once a todo has been claimed, the next start makes answers to the old claim late.
    let todo = draft.get(uid)?;
    let fenced = todo.fence > 0 || claims::is_claim(draft.ctx, draft.fresh.contains(&uid));
    begin(draft, uid, EventKind::Started, fenced)?;
    claims::prolong(draft, uid)
}

pub(super) fn begin(draft: &mut PlanDraft<'_>, uid: Uid, kind: EventKind, fenced: bool) -> Result<(), ApplyStop> {
    let (now, owner) = (draft.now, draft.ctx.actor.owner().map(str::to_owned));
    draft.row.last_fence += u64::from(fenced);
    let fence = draft.row.last_fence;
    set_status(draft, uid, Status::InProgress, kind, |t| {
        if fenced {
            t.fence = fence;
        }
        t.owner = owner;
        t.started_at = Some(now);
        t.finished_at = None;
        t.hold = None;
        // A claim of what was reported takes over the verification.
        t.flags = crate::Flags { reported: t.flags.reported && kind == EventKind::Claimed, ..crate::Flags::default() };
    })
}

/// One in progress per owner (rule 18).
pub(super) fn within_limit(draft: &PlanDraft<'_>, uid: Uid, owner: Option<&str>) -> Result<(), ApplyStop> {
    if draft.ctx.policy.in_progress == InProgressLimit::Any {
        return Ok(());
    }
    let before = draft.plan.running_of(owner)?.into_iter().map(|t| t.uid);
    let mut running = None;
    for other in before.chain(draft.active.iter().copied()).filter(|other| *other != uid) {
        let todo = draft.get(other)?;
        let works = todo.is_live() && todo.status == Status::InProgress && todo.owner.as_deref() == owner;
        if works && !todo.lease_expired(draft.clock) {
            running = Some(todo);
            break;
        }
    }
    match running {
        None => Ok(()),
        Some(other) => {
            let before = draft.plan.get(other.uid);
            let together = before.is_none_or(|t| t.status != Status::InProgress || t.owner.as_deref() != owner);
            Err(Refusal::InProgressLimit { id: draft.id(uid), running: other.id.clone(), together }.into())
        }
    }
}

/// Keeps what the worker says about work that the runner or the user will verify and complete.
fn report(
    draft: &mut PlanDraft<'_>,
    uid: Uid,
    evidence: Option<&Evidence>,
    fence: Option<u64>,
) -> Result<(), ApplyStop> {
    claims::in_time(draft, uid, fence)?;
    let todo = draft.get(uid)?;
    if todo.status != Status::InProgress {
        return Err(Refusal::Transition { id: todo.id.clone(), op: "report", status: todo.status }.into());
    }
    let (id, now) = (todo.id.clone(), draft.now);
    let evidence = evidence.filter(|evidence| evidence.text.is_some());
    if !todo.flags.reported || evidence.is_some() {
        let evidence = evidence.map(|evidence| Evidence { at: now, ..evidence.clone() });
        draft.edit(uid, EventKind::Flagged, |t| {
            vouch::push(&mut t.evidence, evidence);
            t.flags.reported = true;
        })?;
    }
    draft.warnings.push(Warning::Reported { id });
    Ok(())
}

fn done(
    draft: &mut PlanDraft<'_>,
    uid: Uid,
    evidence: Option<&Evidence>,
    fence: Option<u64>,
    gated: &mut Vec<Uid>,
) -> Result<(), ApplyStop> {
    claims::in_time(draft, uid, fence)?;
    let todo = draft.get(uid)?;
    let at_end = draft.ctx.policy.start_gate == StartGate::AtEnd;
    if todo.status == Status::Completed {
        if at_end {
            gated.push(uid);
        }
        return vouch::add_missing(draft, uid, evidence);
    }
    // A todo that was started in order may finish even if a dependency was added or reopened since. This is checked
    // before the proof, because a check that could change nothing need not run.
    if todo.status != Status::InProgress || at_end {
        gate(draft, uid, gated)?;
    }
    let unchecked = vouch::is_unchecked(draft, uid, evidence)?;
    let (kept, seen) = (vouch::kept(draft, evidence), vouch::observed(draft, uid));
    close_with(draft, uid, Status::Completed, EventKind::Completed, |t| {
        if let Some(seen) = seen {
            vouch::replace_observed(&mut t.evidence, seen);
        }
        t.evidence.extend(kept);
        t.flags.unchecked = unchecked;
    })
}

fn close(draft: &mut PlanDraft<'_>, uid: Uid, status: Status, kind: EventKind) -> Result<(), ApplyStop> {
    close_with(draft, uid, status, kind, |_| {})
}

fn close_with(
    draft: &mut PlanDraft<'_>,
    uid: Uid,
    status: Status,
    kind: EventKind,
    f: impl FnOnce(&mut crate::Fields),
) -> Result<(), ApplyStop> {
    if draft.get(uid)?.status == status {
        return Ok(());
    }
    let now = draft.now;
    set_status(draft, uid, status, kind, |t| {
        if status == Status::Completed {
            t.started_at = t.started_at.or(Some(now));
        }
        t.finished_at = Some(now);
        t.hold = None;
        t.flags = crate::Flags::default();
        f(t);
    })?;
    if draft.row.policy.cancelled_dep == CancelledDep::Cascade && status != Status::Completed {
        cascade(draft, uid)?;
    }
    Ok(())
}

/// Cancels what is pending behind a cancelled or failed todo, breadth first, without recursion.
fn cascade(draft: &mut PlanDraft<'_>, uid: Uid) -> Result<(), ApplyStop> {
    let now = draft.now;
    let mut queue = vec![uid];
    while let Some(closed) = queue.pop() {
        for dependent in draft.dependents_of(closed)? {
            // What time alone has put back to pending goes too.
            expire(draft, dependent)?;
            if draft.get(dependent)?.status != Status::Pending {
                continue;
            }
            set_status(draft, dependent, Status::Cancelled, EventKind::Cancelled, |t| {
                t.finished_at = Some(now);
                t.hold = None;
                t.flags = crate::Flags::default();
            })?;
            let id = draft.id(dependent);
            draft.warnings.push(Warning::Cascaded { uid: dependent, id });
            queue.push(dependent);
        }
    }
    Ok(())
}

/// Counts a failed attempt: the todo is tried again until its attempts are used up. A failure without a text leaves the
/// text of the last one.
fn fail(draft: &mut PlanDraft<'_>, uid: Uid, error: &str) -> Result<(), ApplyStop> {
    let most = draft.ctx.policy.attempts.0;
    let todo = draft.get(uid)?;
    let (status, attempts) = (todo.status, todo.attempts + 1);
    let record = |t: &mut Todo| {
        if !error.is_empty() {
            t.last_error = Some(error.to_owned());
        }
    };
    match status {
        Status::Failed => return Ok(draft.edit(uid, EventKind::Edited, record)?),
        Status::Completed | Status::Cancelled => {
            return Err(Refusal::Transition { id: todo.id.clone(), op: "fail", status }.into());
        }
        Status::Pending if !todo.is_ready(draft.clock) => return Err(not_ready(draft, uid)?.into()),
        Status::Pending if attempts < most => {
            return Ok(draft.edit(uid, EventKind::Failed, |t| {
                t.attempts = attempts;
                t.flags.resume = true;
                t.flags.reported = false;
                record(t);
            })?);
        }
        Status::Pending | Status::InProgress => {}
    }
    draft.edit(uid, EventKind::Edited, |t| {
        t.attempts = attempts;
        record(t);
    })?;
    if attempts >= most {
        return close(draft, uid, Status::Failed, EventKind::Failed);
    }
    set_status(draft, uid, Status::Pending, EventKind::Failed, |t| {
        t.flags.resume = true;
        t.flags.reported = false;
    })
}

fn reopen(draft: &mut PlanDraft<'_>, uid: Uid) -> Result<(), ApplyStop> {
    let status = draft.get(uid)?.status;
    if status == Status::Pending {
        return Ok(());
    }
    set_status(draft, uid, Status::Pending, EventKind::Reopened, |t| {
        t.finished_at = None;
        t.flags = crate::Flags::default();
        if status == Status::Failed {
            t.attempts = 0;
        }
    })
}

fn put_on_hold(draft: &mut PlanDraft<'_>, uid: Uid, hold: &Hold) -> Result<(), ApplyStop> {
    let todo = draft.get(uid)?;
    if !todo.status.is_open() {
        return Err(Refusal::Transition { id: todo.id.clone(), op: "hold", status: todo.status }.into());
    }
    let same = |old: &Hold| (old.kind, &old.reason, old.until) == (hold.kind, &hold.reason, hold.until);
    if todo.hold.as_ref().is_some_and(same) {
        return Ok(());
    }
    let mut hold = hold.clone();
    if hold.by.is_empty() {
        draft.ctx.actor.by().clone_into(&mut hold.by);
    }
    if hold.at == 0 {
        hold.at = draft.now;
    }
    if todo.status == Status::InProgress {
        return set_status(draft, uid, Status::Pending, EventKind::Held, |t| {
            t.hold = Some(hold);
            t.flags.resume = true;
        });
    }
    Ok(draft.edit(uid, EventKind::Held, |t| t.hold = Some(hold))?)
}

fn release(draft: &mut PlanDraft<'_>, uid: Uid) -> Result<(), ApplyStop> {
    let todo = draft.get(uid)?;
    if !todo.status.is_open() {
        return Err(Refusal::Transition { id: todo.id.clone(), op: "release", status: todo.status }.into());
    }
    Ok(draft.edit(uid, EventKind::Released, |t| t.hold = None)?)
}

/// Blocked is derived: only a todo that nothing else blocks needs a hold to be so.
fn block(draft: &mut PlanDraft<'_>, uid: Uid) -> Result<(), ApplyStop> {
    let todo = draft.get(uid)?;
    if todo.status != Status::Pending {
        return Ok(());
    }
    match (todo.derived.unmet > 0, todo.hold.is_some()) {
        (true, _) => release(draft, uid),
        (false, true) => Ok(()),
        (false, false) => {
            let reason = "reported as blocked".to_owned();
            let hold = Hold { kind: crate::HoldKind::Other, reason, until: None, by: String::new(), at: 0 };
            put_on_hold(draft, uid, &hold)
        }
    }
}

/// The one place where a stored status changes.
pub(super) fn set_status(
    draft: &mut PlanDraft<'_>,
    uid: Uid,
    status: Status,
    kind: EventKind,
    f: impl FnOnce(&mut Todo),
) -> Result<(), ApplyStop> {
    claims::note_end(draft, uid)?;
    let before = draft.get(uid)?.status;
    if before.is_open() != status.is_open() {
        draft.repull.insert(uid);
        if status.is_open() {
            draft.strengthen.insert(uid);
        } else if draft.get(uid)?.derived.unmet > 0 {
            // With everything met, what it depends on is closed and has no pull that could become weaker.
            let deps: Vec<Uid> = draft.get(uid)?.depends_on.iter().filter_map(Dep::target).collect();
            draft.repull.extend(deps);
        }
    }
    draft.edit(uid, kind, |t| {
        t.status = status;
        f(t);
    })?;
    draft.touch(uid)?.lease_until = None;
    if status == Status::InProgress {
        draft.active.insert(uid);
    } else {
        draft.active.remove(&uid);
    }
    match (draft.satisfies(before), draft.satisfies(status)) {
        (false, true) => satisfied(draft, uid),
        (true, false) => unsatisfied(draft, uid, before),
        (false, false) | (true, true) => Ok(()),
    }
}

fn satisfied(draft: &mut PlanDraft<'_>, uid: Uid) -> Result<(), ApplyStop> {
    for dependent in draft.dependents_of(uid)? {
        let todo = draft.touch(dependent)?;
        todo.derived.unmet = todo.derived.unmet.saturating_sub(1);
        if todo.derived.unmet == 0 && todo.flags.stale_dependency {
            draft.edit(dependent, EventKind::Flagged, |t| t.flags.stale_dependency = false)?;
        }
    }
    Ok(())
}

/// Rule 20: who waits is blocked again; who already built on it is warned.
fn unsatisfied(draft: &mut PlanDraft<'_>, uid: Uid, before: Status) -> Result<(), ApplyStop> {
    for dependent in draft.dependents_of(uid)? {
        let todo = draft.touch(dependent)?;
        todo.derived.unmet += 1;
        if before == Status::Completed && matches!(todo.status, Status::InProgress | Status::Completed) {
            draft.edit(dependent, EventKind::Flagged, |t| t.flags.stale_dependency = true)?;
        }
    }
    Ok(())
}
