//! The difference between a host's last list and its next one, as ops on the plan.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::{HostListCopy, HostListUpdate, HostRow, HostStatus, matching};
use crate::dialect::list::{ListItem, SessionList, diff};
use crate::{Dep, Edit, Keep, Op, Plan, Ref, Status, Todo, Uid};

/// What the list of a host's own todo tool may change in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MirrorAuthority {
    /// The session's todos come from this list: todos are added, changed and archived.
    Source,
    /// The session's todos come from this list, but nothing is archived.
    Keeping,
    /// The session's todos come from elsewhere: todos that rows name by their content move forward, and nothing else
    /// changes.
    Echo,
}

/// What a copy leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MirrorStep {
    /// To be applied as one batch.
    pub ops: Vec<Op>,
    /// The host's list as it is stored; a row without a todo is the next of the batch's adds.
    pub rows: Vec<HostRow>,
    /// Finished todos that the host no longer lists. They stay in the plan.
    pub finished: Vec<Uid>,
}

/// Compares the host's list after `told` with its last one. `rows` is that list ([`HostListCopy::next`]), `known` are
/// todos that a row may refer to by its content; `plan` has these and every todo of `before` loaded.
pub fn step(
    before: &HostListCopy,
    (told, mut rows): (&HostListUpdate, Vec<HostRow>),
    known: &[&Todo],
    plan: &Plan,
    authority: MirrorAuthority,
    by: &str,
) -> MirrorStep {
    let adopted = matching::find(&mut rows, &before.rows, known);
    if authority == MirrorAuthority::Echo {
        return echo(rows, plan);
    }
    if authority == MirrorAuthority::Keeping {
        rows = with_missing(rows, &before.rows);
    }
    let by_uid: BTreeMap<Uid, &HostRow> = rows.iter().filter_map(|row| Some((row.uid?, row))).collect();
    let adopted = adopted.iter().filter_map(|todo| Some(as_row(todo, by_uid.get(&todo.uid)?)));
    // Agents write lists of what is left to do: what is finished stays, unless the host says that it is deleted.
    let deletes = matches!(told, HostListUpdate::Change(change) if change.deleted);
    let finished = |row: &&HostRow| match row.uid {
        Some(uid) if !by_uid.contains_key(&uid) && !deletes => row.is_closed() || is_closed(plan, uid),
        _ => false,
    };
    let (unlisted, listed): (Vec<&HostRow>, Vec<&HostRow>) = before.rows.iter().partition(finished);
    let mut base: Vec<HostRow> = listed.into_iter().cloned().collect();
    let own = base.len();
    base.extend(adopted);
    if base.len() > own {
        // They come from elsewhere in the plan; the list says where they belong.
        let place = |row: &HostRow| row.uid.and_then(|uid| plan.get(uid)).map(|todo| (todo.position, todo.uid));
        base.sort_by_key(place);
    }
    let finished = unlisted.into_iter().filter_map(|row| row.uid).collect();
    let mut ops = diff(&to_list(&base), &to_list(&rows), plan);
    let refs = refs(&rows);
    details(&mut ops, (&base, &before.rows), &rows, &refs, plan);
    holds(&mut ops, &base, &rows, &refs, plan, by);
    MirrorStep { ops, rows, finished }
}

/// Returns the rows together with the missing ones of the last list, each after the row that preceded it.
fn with_missing(rows: Vec<HostRow>, before: &[HostRow]) -> Vec<HostRow> {
    let listed: HashSet<Uid> = rows.iter().filter_map(|row| row.uid).collect();
    let mut missing: BTreeMap<Option<Uid>, Vec<HostRow>> = BTreeMap::new();
    let mut after = None;
    for row in before.iter().filter(|row| row.uid.is_some()) {
        match row.uid.filter(|uid| listed.contains(uid)) {
            Some(uid) => after = Some(uid),
            None => missing.entry(after).or_default().push(row.clone()),
        }
    }
    let mut out = missing.remove(&None).unwrap_or_default();
    for row in rows {
        let uid = row.uid;
        out.push(row);
        if uid.is_some() {
            out.extend(missing.remove(&uid).unwrap_or_default());
        }
    }
    out
}

/// Returns a todo as the row that the host's list would have had for it before.
fn as_row(todo: &Todo, row: &HostRow) -> HostRow {
    HostRow {
        uid: Some(todo.uid),
        content: todo.content.clone(),
        active_form: row.active_form.is_some().then(|| todo.active_text().to_owned()),
        description: todo.description.clone(),
        status: if todo.hold.is_some() { HostStatus::Blocked } else { word(todo.status) },
        priority: row.priority.map(|_| todo.priority),
        ..HostRow::default()
    }
}

fn is_closed(plan: &Plan, uid: Uid) -> bool {
    plan.get(uid).is_some_and(|todo| !todo.status.is_open())
}

const fn word(status: Status) -> HostStatus {
    match status {
        Status::Pending | Status::Failed => HostStatus::Pending,
        Status::InProgress => HostStatus::InProgress,
        Status::Completed => HostStatus::Completed,
        Status::Cancelled => HostStatus::Cancelled,
    }
}

/// Only forward: the other list may be behind.
fn echo(rows: Vec<HostRow>, plan: &Plan) -> MirrorStep {
    let mut ops = Vec::new();
    for row in &rows {
        let Some(todo) = row.uid.and_then(|uid| plan.get(uid)).filter(|todo| todo.is_live()) else { continue };
        let target = Ref::Uid(todo.uid);
        match (row.status, todo.status) {
            (HostStatus::Completed, Status::Pending | Status::InProgress) => {
                ops.push(Op::Done { target, evidence: None, fence: None });
            }
            (HostStatus::InProgress, Status::Pending) => ops.push(Op::Start(target)),
            _ => {}
        }
    }
    MirrorStep { ops, rows: rows.into_iter().filter(|row| row.uid.is_some()).collect(), finished: Vec::new() }
}

fn to_list(rows: &[HostRow]) -> SessionList {
    let item = |row: &HostRow| ListItem {
        uid: row.uid,
        content: row.content.clone(),
        active_form: row.active_form.clone(),
        status: row.status.status(),
        ..ListItem::default()
    };
    SessionList { phases: Vec::new(), items: rows.iter().map(item).collect() }
}

/// How an op names each row.
fn refs(rows: &[HostRow]) -> Vec<Ref> {
    let mut added = 0;
    let name = |row: &HostRow| match row.uid {
        Some(uid) => Ref::Uid(uid),
        None => {
            added += 1;
            Ref::New(added - 1)
        }
    };
    rows.iter().map(name).collect()
}

/// What the plain list does not carry: description, priority, dependencies.
fn details(ops: &mut Vec<Op>, (base, before): (&[HostRow], &[HostRow]), rows: &[HostRow], refs: &[Ref], plan: &Plan) {
    let old: BTreeMap<Uid, &HostRow> = base.iter().filter_map(|row| Some((row.uid?, row))).collect();
    let keys: BTreeMap<&str, &Ref> =
        rows.iter().zip(refs).filter_map(|(row, r)| Some((row.key.as_deref()?, r))).collect();
    let old_keys: BTreeMap<&str, Uid> = before.iter().filter_map(|row| Some((row.key.as_deref()?, row.uid?))).collect();
    // Compares the todos that the numbers refer to, because a host that restarts its numbering gives the same numbers
    // to other todos.
    let waited = |row: &HostRow| -> Option<BTreeSet<Uid>> {
        let waits = row.blocked_by.as_ref()?.iter();
        Some(waits.filter_map(|key| old_keys.get(key.as_str()).copied()).collect())
    };
    let waits = |row: &HostRow| -> Option<BTreeSet<Uid>> {
        let refs = row.blocked_by.as_ref()?.iter().filter_map(|key| keys.get(key.as_str()));
        refs.map(|to| if let Ref::Uid(uid) = to { Some(*uid) } else { None }).collect()
    };
    let listed: HashSet<Uid> = rows.iter().filter_map(|row| row.uid).collect();
    let mut edits: BTreeMap<usize, Edit> = BTreeMap::new();
    for (row, me) in rows.iter().zip(refs) {
        let before = row.uid.and_then(|uid| old.get(&uid)).copied();
        let todo = row.uid.and_then(|uid| plan.get(uid)).filter(|todo| todo.is_live());
        if row.uid.is_some() && todo.is_none() {
            continue;
        }
        let mut edit = Edit::default();
        if row.description.is_some() && before.is_none_or(|b| b.description != row.description) {
            edit.description = Keep::Set(row.description.clone());
        }
        if let Some(priority) = row.priority.filter(|_| before.is_none_or(|b| b.priority != row.priority)) {
            edit.priority = Keep::Set(priority.clamp(1, 5));
        }
        let same = before.is_some_and(|b| b.blocked_by.is_some() && waits(row) == waited(b));
        if let Some(waits) = row.blocked_by.as_ref().filter(|_| !same) {
            // Edges to todos outside the host's list are not the host's to drop.
            let others = todo.iter().flat_map(|todo| todo.depends_on.iter()).filter_map(|dep| match dep {
                Dep::Dangling(id) => Some(Ref::Id(id.clone())),
                Dep::On(uid) | Dep::Suspended(uid) => (!listed.contains(uid)).then_some(Ref::Uid(*uid)),
            });
            let mut set: Vec<Ref> = others.collect();
            let wanted = waits.iter().filter_map(|key| keys.get(key.as_str())).filter(|r| **r != me);
            wanted.for_each(|r| {
                if !set.contains(r) {
                    set.push((*r).clone())
                }
            });
            edit.depends_on = Keep::Set(set);
        }
        if edit == Edit::default() {
            continue;
        }
        match me {
            Ref::New(n) => drop(edits.insert(*n, edit)),
            Ref::Uid(_) | Ref::Id(_) => ops.push(Op::Edit(me.clone(), edit)),
        }
    }
    let adds = ops.iter_mut().filter_map(|op| if let Op::Add(add) = op { Some(add) } else { None });
    for (n, add) in adds.enumerate() {
        if let Some(edit) = edits.remove(&n) {
            add.edit.description = edit.description;
            add.edit.priority = edit.priority;
            add.edit.depends_on = edit.depends_on;
        }
    }
}

/// A row that the host calls blocked is held; one that it no longer calls so is released, if the hold was ours.
fn holds(ops: &mut Vec<Op>, base: &[HostRow], rows: &[HostRow], refs: &[Ref], plan: &Plan, by: &str) {
    let old: BTreeMap<Uid, HostStatus> = base.iter().filter_map(|row| Some((row.uid?, row.status))).collect();
    let mut released = Vec::new();
    for (row, me) in rows.iter().zip(refs) {
        let before = row.uid.and_then(|uid| old.get(&uid)).copied();
        let todo = row.uid.and_then(|uid| plan.get(uid));
        if row.uid.is_some() && !todo.is_some_and(Todo::is_live) {
            continue;
        }
        match (before, row.status) {
            (Some(HostStatus::Blocked), HostStatus::Blocked) => {}
            (_, HostStatus::Blocked) => ops.push(Op::Block(me.clone())),
            (Some(HostStatus::Blocked), _) => {
                let ours = todo.and_then(|todo| todo.hold.as_ref()).is_some_and(|hold| hold.by == by);
                if ours && todo.is_some_and(|todo| todo.status.is_open()) {
                    released.push(Op::Release(me.clone()));
                }
            }
            _ => {}
        }
    }
    // Before the statuses: a released todo may start in the same call.
    released.append(ops);
    *ops = released;
}
