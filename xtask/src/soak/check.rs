//! Judges a history of events against what writers tried and were promised. Pure, and without a word of the engine's own
//! code: a mistake there must not excuse itself here.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

use super::history::HistoryEvent;
use super::journal::{JournalEntry, TryOutcome};
use super::order;

/// Name of the user in events. Everybody else is an agent.
pub const USER: &str = "user";

/// Faults that are listed; the rest is counted.
const SHOWN: usize = 20;

/// A todo while the history is replayed.
#[derive(Clone, Debug, Default)]
struct ReplayedTodo {
    id: String,
    status: String,
    removed: bool,
    owner: Option<String>,
    /// Owner and end of the claim that is in force.
    lease: Option<(String, i64)>,
    /// An undo or redo changed it.
    reverted: bool,
}

/// What the writers worked under. All times in milliseconds.
pub struct WriterConditions {
    /// How long claims lasted.
    pub lease: i64,
    /// From when to when they worked, since the epoch.
    pub window: (i64, i64),
    /// Tokens that the ledger has in the end, where some were reported.
    pub tokens: Option<u64>,
}

/// Everything that is wrong with a history; empty if all promises were held.
pub fn check(events: &[HistoryEvent], records: &[JournalEntry], under: &WriterConditions) -> Vec<String> {
    let mut faults = Vec::new();
    numbered(events, &mut faults);
    let replayed = replay(events, records, under.lease, &mut faults);
    added(events, records, &mut faults);
    claimed(events, records, &replayed, &mut faults);
    undone(events, records, &mut faults);
    listed(records, &replayed, &mut faults);
    order::real_time(events, records, &mut faults);
    order::times(events, under.window, &mut faults);
    if let Some(tokens) = under.tokens {
        order::spent(records, tokens, &mut faults);
    }
    if faults.len() > SHOWN {
        let more = faults.len() - SHOWN;
        faults.truncate(SHOWN);
        faults.push(format!("and {more} more"));
    }
    faults
}

/// Revisions and the events in them are numbered without gaps.
fn numbered(events: &[HistoryEvent], faults: &mut Vec<String>) {
    let (mut revision, mut seq) = (0, 0);
    for event in events {
        let expected = if event.revision == revision { (revision, seq) } else { (revision + 1, 0) };
        if (event.revision, event.seq) != expected {
            faults.push(format!("gap: event {}.{} follows {revision}.{seq}", event.revision, event.seq));
        }
        (revision, seq) = (event.revision, event.seq + 1);
    }
}

/// What replaying leaves behind.
struct ReplayState {
    todos: BTreeMap<u64, ReplayedTodo>,
    contents: HashMap<String, Vec<u64>>,
}

/// Follows every todo through its history: fences grow, completions that were promised are there, and no agent changes
/// the status of a todo under the live lease of another.
fn replay(events: &[HistoryEvent], records: &[JournalEntry], lease: i64, faults: &mut Vec<String>) -> ReplayState {
    let mut promised: BTreeMap<u64, Vec<(&str, &str)>> = BTreeMap::new();
    let mut tries: HashMap<(&str, &str), i64> = HashMap::new();
    for record in records {
        if let JournalEntry::Done { by, id, acknowledged } = record {
            *tries.entry((by, id)).or_default() += 1;
            if let Some(revision) = acknowledged {
                promised.entry(*revision).or_default().push((by, id));
            }
        }
    }
    let mut completions: HashMap<(String, String), i64> = HashMap::new();
    let mut todos: BTreeMap<u64, ReplayedTodo> = BTreeMap::new();
    let mut contents: HashMap<String, Vec<u64>> = HashMap::new();
    let mut fence = 0;
    for revision in events.chunk_by(|a, b| a.revision == b.revision) {
        // One write may claim several todos; its events have an order of their own. Only together they exceed the past.
        let mut fences = BTreeSet::new();
        for event in revision {
            let Some(uid) = event.todo else { continue };
            if let Some(content) = event.field("content").and_then(Value::as_str).filter(|_| event.kind == "added") {
                contents.entry(content.to_owned()).or_default().push(uid);
            }
            let todo = todos.entry(uid).or_default();
            if let Some(new) = event.field("fence").and_then(Value::as_u64)
                && (new <= fence || !fences.insert(new))
            {
                let number = event.revision;
                faults.push(format!("fence {new} of revision {number} is not above {fence}, or not unique"));
            }
            under_lease(event, todo, faults);
            if event.kind == "completed" && todo.status == "completed" {
                faults.push(format!("completed twice: {} in revision {}", todo.id, event.revision));
            }
            follow(event, todo, lease);
            if event.kind == "completed" {
                *completions.entry((event.by.clone(), todo.id.clone())).or_default() += 1;
            }
        }
        fence = fences.last().map_or(fence, |highest| fence.max(*highest));
        let number = revision.first().map_or(0, |event| event.revision);
        for (by, id) in promised.remove(&number).into_iter().flatten() {
            if !todos.values().any(|todo| todo.id == id && todo.status == "completed") {
                faults.push(format!("lost: {by} was told in revision {number} that {id} is completed, and it is not"));
            }
        }
    }
    for (number, lost) in promised {
        faults.push(format!("lost: revision {number}, in which {lost:?} were completed, does not exist"));
    }
    for ((by, id), count) in completions {
        // Completions by lists and imports are not tried one by one.
        let tried = tries.get(&(by.as_str(), id.as_str()));
        if tried.is_some_and(|tried| count > *tried) {
            faults.push(format!("doubled: {by} completed {id} {count} times in {} tries", tried.unwrap_or(&0)));
        }
    }
    ReplayState { todos, contents }
}

/// An agent may not change the status of a todo that another agent has claimed, until the lease is over.
fn under_lease(event: &HistoryEvent, todo: &ReplayedTodo, faults: &mut Vec<String>) {
    let Some((owner, until)) = &todo.lease else { return };
    let changes = event.status().is_some_and(|status| status != todo.status)
        || event.field("removed").is_some()
        || matches!(event.kind.as_str(), "claimed" | "started");
    if changes && event.by != *owner && event.by != USER && event.at < *until {
        faults.push(format!(
            "under a lease: {} ({}) of revision {} by {}, claimed by {owner} for {} ms more",
            todo.id,
            event.kind,
            event.revision,
            event.by,
            until - event.at
        ));
    }
}

/// Takes an event over.
fn follow(event: &HistoryEvent, todo: &mut ReplayedTodo, lease: i64) {
    let text = |name: &str| event.field(name).and_then(Value::as_str).map(str::to_owned);
    todo.reverted |= event.kind == "reverted";
    if let Some(id) = text("id") {
        todo.id = id;
    }
    if let Some(owner) = event.field("owner") {
        todo.owner = owner.as_str().map(str::to_owned);
    }
    if let Some(removed) = event.field("removed") {
        todo.removed = !removed.is_null();
        todo.lease = None;
    }
    if let Some(status) = text("status") {
        todo.status = status;
        todo.lease = None;
    } else if event.kind == "added" {
        todo.status = "pending".into();
    }
    // An agent's `start` is a claim too. It has a fence of its own; the user's start has none and claims without an end.
    let claims =
        event.kind == "claimed" || (event.kind == "started" && event.by != USER && event.field("fence").is_some());
    if claims {
        todo.lease = todo.owner.clone().map(|owner| (owner, event.at.saturating_add(lease)));
    }
}

/// Added todos are there once if that was promised, not at all if they were refused, once or not at all otherwise, and
/// together.
fn added(events: &[HistoryEvent], records: &[JournalEntry], faults: &mut Vec<String>) {
    let mut places: HashMap<&str, Vec<u64>> = HashMap::new();
    for event in events.iter().filter(|event| event.kind == "added") {
        if let Some(content) = event.field("content").and_then(Value::as_str) {
            places.entry(content).or_default().push(event.revision);
        }
    }
    for record in records {
        let JournalEntry::Add { by, contents, outcome } = record else { continue };
        let found: Vec<&[u64]> =
            contents.iter().map(|content| places.get(content.as_str()).map_or(&[][..], Vec::as_slice)).collect();
        if found.iter().any(|revisions| revisions.len() > 1) {
            faults.push(format!("doubled: {contents:?} by {by} in revisions {found:?}"));
        }
        let there = found.iter().filter(|revisions| !revisions.is_empty()).count();
        if *outcome == TryOutcome::Acknowledged && there < contents.len() {
            faults.push(format!("lost: {contents:?} by {by}, {there} of {} are there", contents.len()));
        } else if *outcome == TryOutcome::Refused && there > 0 {
            faults.push(format!("stored although refused: {contents:?} by {by} in revisions {found:?}"));
        } else if there > 0 && there < contents.len() {
            faults.push(format!("torn: {contents:?} by {by}, {there} of {} are there", contents.len()));
        }
        let revisions: BTreeSet<u64> = found.iter().flat_map(|revisions| revisions.iter().copied()).collect();
        if revisions.len() > 1 && found.iter().all(|revisions| revisions.len() == 1) {
            faults.push(format!("torn: {contents:?} by {by} came in revisions {revisions:?}"));
        }
    }
}

/// Every promised fence belongs to one claim of that owner on that todo.
fn claimed(events: &[HistoryEvent], records: &[JournalEntry], replayed: &ReplayState, faults: &mut Vec<String>) {
    let mut fences: HashMap<u64, &HistoryEvent> = HashMap::new();
    for event in events {
        if let Some(fence) = event.field("fence").and_then(Value::as_u64) {
            fences.insert(fence, event);
        }
    }
    let mut given: BTreeSet<u64> = BTreeSet::new();
    for record in records {
        let JournalEntry::Claim { by, id, fence } = record else { continue };
        let event = fences.get(fence);
        let todo = event.and_then(|event| event.todo).and_then(|uid| replayed.todos.get(&uid));
        if event.is_none_or(|event| event.by != *by) || todo.is_none_or(|todo| todo.id != *id) {
            faults.push(format!("lost: the claim of {by} on {id} with fence {fence}"));
        }
        if !given.insert(*fence) {
            faults.push(format!("doubled: fence {fence} was given out twice, once to {by} for {id}"));
        }
    }
}

/// Every promised undo is there, changed something, undid what it said, and what it could mean.
fn undone(events: &[HistoryEvent], records: &[JournalEntry], faults: &mut Vec<String>) {
    let mut first: BTreeMap<u64, &HistoryEvent> = BTreeMap::new();
    for event in events {
        first.entry(event.revision).or_insert(event);
    }
    for record in records {
        let JournalEntry::Undo { by, target, revision, own } = record else { continue };
        let event = first.get(revision);
        if event.is_none_or(|event| event.by != *by || event.undoes != Some(*target)) {
            faults.push(format!("lost: the undo of revision {target} by {by} in revision {revision}"));
        }
        let author = first.get(target).map(|event| event.by.as_str());
        if *own && author != Some(by) {
            faults.push(format!("{by} undid revision {target} of {author:?} without asking for it"));
        }
    }
    let mut down: BTreeSet<u64> = BTreeSet::new();
    for (revision, event) in &first {
        let Some(target) = event.undoes else { continue };
        if down.contains(&target) {
            faults.push(format!("revision {revision} undid revision {target}, which was undone already"));
        }
        // What the target had undone stands again, what that had undone is undone again, and so on.
        let (mut next, mut stands) = (Some(target), false);
        while let Some(at) = next {
            if stands {
                down.remove(&at);
            } else {
                down.insert(at);
            }
            stands = !stands;
            next = first.get(&at).and_then(|event| event.undoes).filter(|older| *older < at);
        }
    }
}

/// Items of a mirrored list are one todo each, unless an undo brought back an older one.
fn listed(records: &[JournalEntry], replayed: &ReplayState, faults: &mut Vec<String>) {
    for record in records {
        let JournalEntry::Listed { contents } = record else { continue };
        for content in contents {
            let todos = replayed.contents.get(content).into_iter().flatten().filter_map(|uid| replayed.todos.get(uid));
            let todos: Vec<&ReplayedTodo> = todos.collect();
            let live = todos.iter().filter(|todo| !todo.removed).count();
            if live > 1 && !todos.iter().any(|todo| todo.reverted) {
                faults.push(format!("doubled: {live} todos say {content:?}"));
            }
        }
    }
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
