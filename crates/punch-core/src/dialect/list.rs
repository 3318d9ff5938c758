//! What the list dialects share: rows with a handle, matching payload rows to known ones, and the difference between
//! two lists as ops.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use crate::plan::made_number;
use crate::{
    Add, DepOnRunning, Edit, InProgressLimit, Keep, ListPosition, MissingDep, OnCycle, OnRemove, Op, PhaseRef,
    PhaseUid, Plan, Policy, Ref, StartGate, Status, Uid,
};

/// Stands for "no phase" in a projection that needs one; never given to a stored phase.
pub const NO_PHASE: PhaseUid = PhaseUid(0);

/// The policy of dialects whose calls send a whole list: the list says what is, so its order is not held against it.
pub fn policy(plan: Policy) -> Policy {
    Policy {
        start_gate: StartGate::Warn,
        in_progress: InProgressLimit::Any,
        on_cycle: OnCycle::Refuse,
        missing_dep: MissingDep::Refuse,
        on_remove: OnRemove::Detach,
        dep_on_running: DepOnRunning::Keep,
        ..plan
    }
}

/// One row of a list, in the engine's words. What a dialect cannot express is `None` and keeps its value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListItem {
    /// The todo that this row represents; `None` asks for a new one.
    pub uid: Option<Uid>,
    /// The id for a new todo.
    pub id: Option<String>,
    /// What is to be done.
    pub content: String,
    /// The present-tense form, where the dialect has one.
    pub active_form: Option<String>,
    /// The status as the dialect shows it.
    pub status: Status,
    /// Ids, where the dialect has dependencies.
    pub depends_on: Option<Vec<String>>,
    /// Index into [`SessionList::phases`], where the dialect has phases.
    pub phase: Option<usize>,
    /// Remarks, where the dialect has them.
    pub notes: Option<Vec<String>>,
}

/// A list as a session sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionList {
    /// Phases in order, where the dialect has them; without a uid they are new.
    pub phases: Vec<(Option<PhaseUid>, String)>,
    /// Rows in order.
    pub items: Vec<ListItem>,
}

/// The fields of a row that describe its todo.
#[derive(Clone, Copy, Debug)]
pub struct RowName<'a> {
    /// The handle, if it is known.
    pub uid: Option<Uid>,
    /// The id, if the row has one.
    pub id: Option<&'a str>,
    /// What is to be done.
    pub content: &'a str,
}

impl ListItem {
    /// Returns the fields of this row that describe its todo.
    pub fn name(&self) -> RowName<'_> {
        RowName { uid: self.uid, id: self.id.as_deref(), content: &self.content }
    }
}

/// Returns the handles of payload rows: their own, or those of known rows by id, then by exact content, the k-th duplicate
/// to the k-th duplicate (rule 7).
pub fn match_rows(rows: &[RowName<'_>], known: &[RowName<'_>]) -> Vec<Option<Uid>> {
    let mut uids: Vec<Option<Uid>> = rows.iter().map(|row| row.uid).collect();
    let mut taken: BTreeSet<Uid> = BTreeSet::new();
    if rows.iter().any(|row| row.uid.is_none() && row.id.is_some()) {
        let ids: BTreeMap<&str, Uid> = known.iter().filter_map(|item| Some((item.id?, item.uid?))).collect();
        for (uid, row) in uids.iter_mut().zip(rows).filter(|(uid, _)| uid.is_none()) {
            *uid = row.id.and_then(|id| ids.get(id)).copied().filter(|uid| taken.insert(*uid));
        }
    }
    taken.extend(uids.iter().flatten());
    let free = known.iter().filter_map(|item| Some((item.content, item.uid.filter(|uid| !taken.contains(uid))?)));
    let mut by_content: Vec<(&str, Uid)> = free.collect();
    by_content.sort_by_key(|(content, _)| *content);
    // How many of the rows that say the same were given away, at the place of the first of them.
    let mut given = vec![0; by_content.len()];
    for (uid, row) in uids.iter_mut().zip(rows).filter(|(uid, _)| uid.is_none()) {
        let first = by_content.partition_point(|(content, _)| *content < row.content);
        let Some(count) = given.get_mut(first) else { continue };
        if let Some((_, found)) = by_content.get(first + *count).filter(|(content, _)| *content == row.content) {
            *uid = Some(*found);
            *count += 1;
        }
    }
    uids
}

/// Gives new phases the handles of known ones of the same name, the k-th to the k-th, and rows those of known rows:
/// for lists that were read from a text and carry no handles.
pub fn match_list(new: &mut SessionList, known: &SessionList) {
    let mut by_name: HashMap<&str, VecDeque<PhaseUid>> = HashMap::new();
    for (uid, name) in &known.phases {
        by_name.entry(name).or_default().extend(*uid);
    }
    for (uid, name) in new.phases.iter_mut().filter(|(uid, _)| uid.is_none()) {
        *uid = by_name.get_mut(name.as_str()).and_then(VecDeque::pop_front);
    }
    fn names(list: &SessionList) -> Vec<RowName<'_>> {
        list.items.iter().map(ListItem::name).collect()
    }
    let uids = match_rows(&names(new), &names(known));
    new.items.iter_mut().zip(uids).for_each(|(item, uid)| item.uid = uid);
}

/// Sets rows of `base` to pending whose lease has run out and that `new` still has in progress: the list claims them
/// again.
pub fn reclaim(base: &mut SessionList, new: &SessionList, plan: &Plan, now: i64) {
    let is_running = |item: &&ListItem| item.status == Status::InProgress;
    let running: BTreeSet<Uid> = new.items.iter().filter(is_running).filter_map(|item| item.uid).collect();
    for item in base.items.iter_mut().filter(|item| item.status == Status::InProgress) {
        let todo = item.uid.filter(|uid| running.contains(uid)).and_then(|uid| plan.get(uid));
        if todo.is_some_and(|todo| todo.lease_expired(now)) {
            item.status = Status::Pending;
        }
    }
}

/// Returns the ops that bring a plan from `base`, the list last shown to the session, to `new`. Only differences become
/// ops, so changes by others stay; rows of `base` that are not in `new` are archived.
pub fn diff(base: &SessionList, new: &SessionList, plan: &Plan) -> Vec<Op> {
    let mut ops = Vec::new();
    let phases_change = base.phases != new.phases;
    if phases_change {
        ops.push(phases(base, new, plan));
    }
    let known: BTreeMap<Uid, &ListItem> = base.items.iter().filter_map(|item| Some((item.uid?, item))).collect();
    let kept: BTreeSet<Uid> = new.items.iter().filter_map(|item| item.uid).collect();
    let live = |uid: &Uid| plan.get(*uid).is_some_and(crate::Todo::is_live);
    let mut removed: BTreeSet<Uid> = BTreeSet::new();
    for item in &base.items {
        if let Some(uid) = item.uid.filter(|uid| !kept.contains(uid) && live(uid)) {
            removed.insert(uid);
            ops.push(Op::Rm(Ref::Uid(uid)));
        }
    }
    let mut statuses = Vec::new();
    let mut order = Vec::with_capacity(new.items.len());
    let mut added = 0;
    let place = PhaseNames { base, new, listed: phases_change };
    // A made id is none that the payload uses for a row it was not given to: the same payload would next time mean
    // another todo by it.
    let mut next = first_free_number(plan, new.items.iter().filter_map(|item| item.id.as_deref()));
    for item in &new.items {
        match item.uid {
            None => {
                let mut add = add(item, &place);
                // Without dependencies the id is not visible: one that is taken, perhaps by a todo this dialect does not
                // show, is not a reason to refuse.
                let holder = item.id.as_deref().and_then(|id| plan.by_id(id));
                let taken = holder.is_some_and(|todo| !removed.contains(&todo.uid));
                if item.depends_on.is_none() && taken {
                    add.id = None;
                }
                if add.id.is_none() && next > plan.row.next_number {
                    add.id = Some(format!("T-{next}"));
                    next += 1;
                }
                ops.push(Op::Add(add));
                order.push(Ref::New(added));
                added += 1;
            }
            Some(uid) if !live(&uid) => {}
            Some(uid) => {
                if let Some(old) = known.get(&uid) {
                    ops.extend(edit(uid, old, item, &place));
                    statuses.extend(status(uid, old.status, item.status, plan.get(uid).map(|todo| todo.status)));
                }
                order.push(Ref::Uid(uid));
            }
        }
    }
    // New rows are added at the end; if they belong there and the others kept their order, nothing moves.
    let was: Vec<Uid> =
        base.items.iter().filter_map(|item| item.uid).filter(|uid| kept.contains(uid) && live(uid)).collect();
    let is: Vec<Uid> = order.iter().filter_map(|r| if let Ref::Uid(uid) = r { Some(*uid) } else { None }).collect();
    let appended = order.iter().skip_while(|r| matches!(r, Ref::Uid(_))).all(|r| matches!(r, Ref::New(_)));
    if was != is || !appended {
        ops.push(Op::Arrange(order));
    }
    ops.extend(statuses);
    ops
}

/// The first number of which neither a todo of the plan nor one of these ids is made: `T-N` is free for every `N` from
/// there on.
pub fn first_free_number<'a>(plan: &Plan, ids: impl Iterator<Item = &'a str>) -> u64 {
    plan.row.next_number.max(ids.filter_map(made_number).max().map_or(0, |used| used + 1))
}

/// Returns the ops that turn one shown status into another, for a todo whose status in the plan is `now`. What the list
/// had as completed is reopened before it starts; what someone else has completed since stays completed.
pub(super) fn status(uid: Uid, before: Status, after: Status, now: Option<Status>) -> Vec<Op> {
    let target = Ref::Uid(uid);
    if before == after {
        return Vec::new();
    }
    match after {
        Status::Pending => vec![Op::Reopen(target)],
        Status::InProgress if now == Some(Status::Completed) && before != Status::Completed => Vec::new(),
        Status::InProgress if now == Some(Status::Completed) => vec![Op::Reopen(target.clone()), Op::Start(target)],
        Status::InProgress => vec![Op::Start(target)],
        Status::Completed => vec![Op::Done { target, evidence: None, fence: None }],
        Status::Cancelled => vec![Op::Drop(target)],
        Status::Failed => vec![Op::Fail(target, String::new())],
    }
}

struct PhaseNames<'a> {
    base: &'a SessionList,
    new: &'a SessionList,
    /// The batch carries the new phase list, so its entries can be named by index.
    listed: bool,
}

impl PhaseNames<'_> {
    /// How an op names the phase of a row of `new`.
    fn reference(&self, phase: usize) -> Option<PhaseRef> {
        match self.new.phases.get(phase) {
            Some((Some(NO_PHASE), _)) | None => None,
            Some((Some(uid), _)) => Some(PhaseRef::Uid(*uid)),
            Some((None, _)) if self.listed => {
                // The placeholder is not part of the stored list, so indexes behind it move up.
                let skipped = self.new.phases[..phase].iter().filter(|(uid, _)| *uid == Some(NO_PHASE)).count();
                Some(PhaseRef::Index(phase - skipped))
            }
            Some((None, name)) => Some(PhaseRef::Name(name.clone())),
        }
    }

    fn moved(&self, old: usize, new: usize) -> bool {
        match (self.base.phases.get(old), self.new.phases.get(new)) {
            (Some((Some(a), _)), Some((Some(b), _))) => a != b,
            _ => true,
        }
    }
}

fn phases(base: &SessionList, new: &SessionList, plan: &Plan) -> Op {
    let mut list: Vec<PhaseRef> = new
        .phases
        .iter()
        .filter(|(uid, _)| *uid != Some(NO_PHASE))
        .map(|(uid, name)| uid.map_or_else(|| PhaseRef::Name(name.clone()), PhaseRef::Uid))
        .filter(|r| match r {
            PhaseRef::Uid(uid) => plan.phase(*uid).is_some(),
            PhaseRef::Name(_) | PhaseRef::Index(_) => true,
        })
        .collect();
    // Phases that the session was never shown are not its to drop.
    let others = plan.row.phases.iter().filter(|p| !base.phases.iter().any(|(uid, _)| *uid == Some(p.uid)));
    list.extend(others.map(|p| PhaseRef::Uid(p.uid)));
    Op::Phases(list)
}

fn add(item: &ListItem, place: &PhaseNames<'_>) -> Add {
    Add {
        id: item.id.clone(),
        edit: Edit {
            content: Keep::Set(item.content.clone()),
            active_form: Keep::Set(item.active_form.clone()),
            depends_on: Keep::from_option(refs(item.depends_on.as_deref())),
            phase: item.phase.map_or(Keep::Keep, |phase| Keep::Set(place.reference(phase))),
            ..Edit::default()
        },
        place: ListPosition::End,
        status: item.status,
        hold: None,
        notes: item.notes.clone().unwrap_or_default(),
        carried: None,
    }
}

fn refs(ids: Option<&[String]>) -> Option<Vec<Ref>> {
    ids.map(|ids| ids.iter().cloned().map(Ref::Id).collect())
}

fn edit(uid: Uid, old: &ListItem, new: &ListItem, place: &PhaseNames<'_>) -> Vec<Op> {
    let mut edit = Edit::default();
    if old.content != new.content {
        edit.content = Keep::Set(new.content.clone());
    }
    // What is shown may be the content standing in for it, and that is about to change.
    if old.active_form != new.active_form || (new.active_form.is_some() && old.content != new.content) {
        edit.active_form = Keep::Set(new.active_form.clone());
    }
    if old.depends_on != new.depends_on {
        edit.depends_on = Keep::from_option(refs(new.depends_on.as_deref()));
    }
    if let (Some(before), Some(after)) = (old.phase, new.phase)
        && place.moved(before, after)
    {
        edit.phase = Keep::Set(place.reference(after));
    }
    let mut ops = Vec::new();
    if edit != Edit::default() {
        ops.push(Op::Edit(Ref::Uid(uid), edit));
    }
    if let (Some(before), Some(after)) = (&old.notes, &new.notes) {
        // Remarks are append-only; a list that lost some keeps them.
        let tail = after.get(before.len()..).filter(|_| after.starts_with(before)).unwrap_or_default();
        ops.extend(tail.iter().map(|text| Op::Note(Ref::Uid(uid), text.clone())));
    }
    ops
}
