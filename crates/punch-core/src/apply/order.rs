//! List order: sparse positions, so that a place between two todos costs one write.

use std::collections::BTreeSet;

use super::draft::PlanDraft;
use super::resolve::{ResolvedBatch, name};
use super::{ApplyStop, resolve};
use crate::{EventKind, Footprint, ListPosition, Need, Op, Ref, Refusal, Uid};

/// Room left between neighbours.
const GAP: i64 = 1 << 20;

/// What neighbours are given when they had none left.
const ROOM: i64 = 1 << 10;

/// Live todos by position, built when a place other than the end is asked for.
pub(super) struct LiveOrder(BTreeSet<(i64, Uid)>);

/// A position at the end; needs nothing but the plan row.
pub(super) fn at_end(draft: &mut PlanDraft<'_>) -> i64 {
    draft.row.last_position = draft.row.last_position.saturating_add(GAP);
    draft.row.last_position
}

/// Runs the ops that change the order, after all adds exist.
pub(super) fn reorder(draft: &mut PlanDraft<'_>, batch: &ResolvedBatch<'_>) -> Result<(), ApplyStop> {
    let mut added = batch.added.iter();
    for (op, target) in batch.ops.iter().zip(&batch.targets) {
        match (op, target) {
            (Op::Add(add), _) => {
                if let (Some((uid, _)), false) = (added.next(), add.place == ListPosition::End) {
                    place(draft, batch, *uid, &add.place)?;
                }
            }
            (Op::Move(_, to), Some(uid)) => place(draft, batch, *uid, to)?,
            (Op::Arrange(refs), _) => arrange(draft, batch, refs)?,
            _ => {}
        }
    }
    Ok(())
}

fn place(draft: &mut PlanDraft<'_>, batch: &ResolvedBatch<'_>, uid: Uid, to: &ListPosition) -> Result<(), ApplyStop> {
    let anchor = match to {
        ListPosition::End => {
            if draft.get(uid)?.position == draft.row.last_position {
                return Ok(());
            }
            let position = at_end(draft);
            return Ok(set(draft, uid, position)?);
        }
        ListPosition::First => {
            // A batch that moves several todos has to look at all of them.
            let first = match batch.ops {
                [_] => draft.plan.first_position()?,
                _ => order(draft)?.first().map(|(position, _)| *position),
            };
            if first == Some(draft.get(uid)?.position) {
                return Ok(());
            }
            return Ok(set(draft, uid, first.unwrap_or(GAP).saturating_sub(GAP))?);
        }
        ListPosition::Before(r) | ListPosition::After(r) => {
            let found = batch.find(draft, r)?.filter(|uid| !batch.removed.contains(uid));
            found.ok_or_else(|| {
                let id = resolve::name(draft, r);
                let near = draft.near(&id, &[]);
                Refusal::UnknownTodo { id, near }
            })?
        }
    };
    let after = matches!(to, ListPosition::After(_));
    if anchor == uid || is_beside(draft, uid, anchor, after)? {
        return Ok(());
    }
    let position = match between(draft, uid, anchor, after)? {
        Some(position) => position,
        None => {
            make_room(draft, anchor)?;
            // Fresh gaps are wide, so the second look always finds room.
            between(draft, uid, anchor, after)?.unwrap_or(i64::MAX)
        }
    };
    Ok(set(draft, uid, position)?)
}

/// Returns true if the todo stands right after, or right before, the anchor already.
fn is_beside(draft: &mut PlanDraft<'_>, uid: Uid, anchor: Uid, after: bool) -> Result<bool, Need> {
    let here = (draft.get(anchor)?.position, anchor);
    let order = order(draft)?;
    let beside = match after {
        true => order.range((std::ops::Bound::Excluded(here), std::ops::Bound::Unbounded)).next(),
        false => order.range(..here).next_back(),
    };
    Ok(beside.is_some_and(|(_, beside)| *beside == uid))
}

/// The middle between the anchor and its neighbour on the asked side, if there is room.
fn between(draft: &mut PlanDraft<'_>, uid: Uid, anchor: Uid, after: bool) -> Result<Option<i64>, Need> {
    let here = (draft.get(anchor)?.position, anchor);
    let order = order(draft)?;
    let neighbour = if after {
        order.range((std::ops::Bound::Excluded(here), std::ops::Bound::Unbounded)).find(|(_, u)| *u != uid)
    } else {
        order.range(..here).rev().find(|(_, u)| *u != uid)
    };
    let other = match neighbour {
        Some((position, _)) => *position,
        None if after => here.0.saturating_add(2 * GAP),
        None => here.0.saturating_sub(2 * GAP),
    };
    let (low, high) = if after { (here.0, other) } else { (other, here.0) };
    let middle = low + (high.saturating_sub(low)) / 2;
    Ok((low < middle && middle < high).then_some(middle))
}

/// Spreads the neighbours of a todo, as few as have room among themselves: a place that is asked for again and again
/// must not move the whole list every time.
fn make_room(draft: &mut PlanDraft<'_>, anchor: Uid) -> Result<(), Need> {
    let here = (draft.get(anchor)?.position, anchor);
    let mut width = 32;
    loop {
        let order = order(draft)?;
        let mut before = order.range(..here).rev();
        let mut window: Vec<(i64, Uid)> = before.by_ref().take(width).copied().collect();
        let low = before.next().map(|(position, _)| *position);
        window.reverse();
        let mut after = order.range(here..);
        window.extend(after.by_ref().take(width));
        let high = after.next().map(|(position, _)| *position);
        let room = GAP.saturating_mul(window.len() as i64 + 1);
        let (low, high) = match (low, high) {
            (Some(low), Some(high)) => (low, high),
            (Some(low), None) => (low, low.saturating_add(room)),
            (None, Some(high)) => (high.saturating_sub(room), high),
            (None, None) => (0, room),
        };
        let step = high.saturating_sub(low) / (window.len() as i64 + 1);
        if step >= ROOM {
            for (n, (_, uid)) in window.into_iter().enumerate() {
                set(draft, uid, low + step * (n as i64 + 1))?;
            }
            return Ok(());
        }
        width *= 4;
    }
}

/// Keeps the longest run that is in order already and moves the others between its members.
fn arrange(draft: &mut PlanDraft<'_>, batch: &ResolvedBatch<'_>, refs: &[Ref]) -> Result<(), ApplyStop> {
    let mut uids = Vec::with_capacity(refs.len());
    let mut seen = BTreeSet::new();
    for r in refs {
        let uid = batch.find(draft, r)?.ok_or_else(|| Refusal::UnknownTodo { id: name(draft, r), near: Vec::new() })?;
        if seen.insert(uid) {
            uids.push(uid);
        }
    }
    let mut positions = Vec::with_capacity(uids.len());
    for uid in &uids {
        positions.push(draft.get(*uid)?.position);
    }
    let kept = longest_increasing(&positions);
    if kept.len() == uids.len() {
        return Ok(());
    }
    if let Some(spread) = spread(&positions, &kept) {
        for (uid, position) in uids.iter().zip(spread) {
            set(draft, *uid, position)?;
        }
    } else {
        for uid in uids {
            let position = at_end(draft);
            set(draft, uid, position)?;
        }
    }
    Ok(())
}

/// New positions around the kept ones, or `None` where a gap is too narrow.
fn spread(positions: &[i64], kept: &[usize]) -> Option<Vec<i64>> {
    let mut out = positions.to_vec();
    let mut edges: Vec<(i64, usize)> = vec![(kept.first().map_or(0, |k| positions[*k] - GAP * (*k as i64 + 1)), 0)];
    edges.extend(kept.iter().map(|k| (positions[*k], k + 1)));
    for (i, (low, start)) in edges.iter().enumerate() {
        let (high, end) = match kept.get(i) {
            Some(k) => (positions[*k], *k),
            None => (low.checked_add(GAP.checked_mul((positions.len() - start + 1) as i64)?)?, positions.len()),
        };
        let count = (end - start) as i64;
        let step = (high - low) / (count + 1);
        if count > 0 && step == 0 {
            return None;
        }
        for (n, slot) in out[*start..end].iter_mut().enumerate() {
            *slot = low + step * (n as i64 + 1);
        }
    }
    Some(out)
}

/// Indices of a longest strictly increasing subsequence (patience sorting).
fn longest_increasing(values: &[i64]) -> Vec<usize> {
    let mut tails: Vec<usize> = Vec::new();
    let mut before = vec![usize::MAX; values.len()];
    for (i, value) in values.iter().enumerate() {
        let at = tails.partition_point(|t| values[*t] < *value);
        if at > 0 {
            before[i] = tails[at - 1];
        }
        if at == tails.len() {
            tails.push(i);
        } else {
            tails[at] = i;
        }
    }
    let mut out = Vec::with_capacity(tails.len());
    let mut at = tails.last().copied();
    while let Some(i) = at {
        out.push(i);
        at = (before[i] != usize::MAX).then(|| before[i]);
    }
    out.reverse();
    out
}

fn set(draft: &mut PlanDraft<'_>, uid: Uid, position: i64) -> Result<(), Need> {
    let old = draft.get(uid)?.position;
    draft.edit(uid, EventKind::Moved, |t| t.position = position)?;
    draft.row.last_position = draft.row.last_position.max(position);
    if let Some(LiveOrder(set)) = &mut draft.order {
        set.remove(&(old, uid));
        set.insert((position, uid));
    }
    Ok(())
}

fn order<'d>(draft: &'d mut PlanDraft<'_>) -> Result<&'d BTreeSet<(i64, Uid)>, Need> {
    if draft.order.is_none() {
        draft.plan.need_whole()?;
        let base = draft.plan.all().filter(|t| !draft.rows.contains_key(&t.uid));
        let set = base.chain(draft.rows.values()).filter(|t| t.is_live()).map(|t| (t.position, t.uid)).collect();
        draft.order = Some(LiveOrder(set));
    }
    match &draft.order {
        Some(LiveOrder(set)) => Ok(set),
        None => Err(Box::new(Footprint::everything())),
    }
}
