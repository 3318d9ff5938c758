//! A naive model of undo and redo. It keeps a whole copy of the plan before and after every revision, decides by
//! recursion which revisions still stand, and inverts a revision by comparing the copies field by field.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

/// The stored fields of every todo, archived ones too, each with all its fields.
pub type Todos = BTreeMap<u64, Map<String, Value>>;

/// What undo never undoes.
const STAYS: [&str; 4] = ["actual_tokens", "evidence", "owner", "fence"];

/// One revision as the model remembers it.
#[derive(Clone, Debug)]
pub struct ModelRevision {
    /// Who wrote it.
    pub by: String,
    /// The revision that it undid.
    pub undoes: Option<u64>,
    /// The plan before it.
    pub before: Todos,
    /// The plan after it.
    pub after: Todos,
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub enum UndoRequest {
    /// Undo this revision.
    Revision(u64),
    /// Undo the latest own change, or with true anyone's.
    Last(bool),
    /// Redo.
    Redo,
}

/// What an undo must do: the revision that it undoes and the patch of each todo, or the code of the refusal.
pub type ExpectedUndo = Result<(u64, Vec<Value>), &'static str>;

/// Every revision, the first one first.
#[derive(Clone, Debug, Default)]
pub struct ModelHistory {
    /// Revision `n` is at `n - 1`.
    pub revisions: Vec<ModelRevision>,
}

impl ModelHistory {
    fn newest(&self) -> u64 {
        self.revisions.len() as u64
    }

    fn get(&self, revision: u64) -> &ModelRevision {
        &self.revisions[usize::try_from(revision).unwrap_or(usize::MAX) - 1]
    }

    /// A revision stands unless an undo of it stands.
    pub fn stands(&self, revision: u64) -> bool {
        !(revision + 1..=self.newest()).any(|later| self.get(later).undoes == Some(revision) && self.stands(later))
    }

    /// 0 for a change, 1 for its undo, 2 for the undo of that.
    fn depth(&self, revision: u64) -> u32 {
        self.get(revision).undoes.map_or(0, |of| 1 + self.depth(of))
    }

    /// What must happen if `by` asks for this at time `now`.
    pub fn judge(&self, wish: UndoRequest, by: &str, now: i64) -> ExpectedUndo {
        if let UndoRequest::Revision(revision) = wish {
            if revision == 0 || revision > self.newest() {
                return Err("unknown_revision");
            }
            if !self.stands(revision) {
                return Err("already_undone");
            }
            let patches = self.invert(revision, by, now)?;
            return if patches.is_empty() { Err("nothing_undoable") } else { Ok((revision, patches)) };
        }
        for revision in (1..=self.newest()).rev().filter(|revision| self.stands(*revision)) {
            let own = self.get(revision).by == by;
            let meant = match wish {
                UndoRequest::Last(any) => self.depth(revision) == 0 && (own || any),
                UndoRequest::Redo => self.depth(revision) % 2 == 1 && own,
                UndoRequest::Revision(_) => false,
            };
            if meant {
                let patches = self.invert(revision, by, now)?;
                if !patches.is_empty() {
                    return Ok((revision, patches));
                }
            }
        }
        Err(if matches!(wish, UndoRequest::Redo) { "nothing_to_redo" } else { "nothing_to_undo" })
    }

    fn invert(&self, revision: u64, by: &str, now: i64) -> Result<Vec<Value>, &'static str> {
        let ModelRevision { by: author, before, after, .. } = self.get(revision);
        let Some(ModelRevision { after: current, .. }) = self.revisions.last() else { return Err("unknown_revision") };
        let mut result = current.clone();
        for (uid, new) in after {
            let todo = result.entry(*uid).or_default();
            let Some(old) = before.get(uid) else {
                let touched =
                    |(field, value): (&String, &Value)| !stays(field) && field != "notes" && todo[field] != *value;
                if new.iter().any(touched) {
                    return Err("revert_conflict");
                }
                todo.insert("removed".into(), now.into());
                continue;
            };
            for (field, value) in new.iter().filter(|(field, _)| !stays(field)) {
                if old[field] == *value || (field == "notes" && author != by) {
                    continue;
                }
                let back = match field.as_str() {
                    "notes" => notes,
                    "labels" => labels,
                    _ => restored,
                };
                let value = back(&todo[field], &old[field], value).ok_or("revert_conflict")?;
                todo.insert(field.clone(), value);
            }
        }
        check(&result)?;
        Ok(result.iter().filter_map(|(uid, todo)| patch(*uid, &current[uid], todo)).collect())
    }
}

fn stays(field: &str) -> bool {
    STAYS.contains(&field)
}

/// The older value, if the field still has the one that the revision left. Of a list, only the part that differed counts.
fn restored(current: &Value, old: &Value, new: &Value) -> Option<Value> {
    let (Value::Array(current), Value::Array(old), Value::Array(new)) = (current, old, new) else {
        return (current == new).then(|| old.clone());
    };
    let (at, removed, added) = middle(old, new);
    let end = at + added.len();
    if current.len() < end || current[at..end] != added {
        return None;
    }
    let parts = [&current[..at], &removed, &current[end..]];
    Some(parts.concat().into())
}

/// Notes that came go, notes that went come back, wherever the others are now.
fn notes(current: &Value, old: &Value, new: &Value) -> Option<Value> {
    let (Value::Array(current), Value::Array(old), Value::Array(new)) = (current, old, new) else { return None };
    let (at, removed, added) = middle(old, new);
    let mut out = current.clone();
    for note in added {
        let place = out.iter().rposition(|other| *other == note)?;
        out.remove(place);
    }
    for (n, note) in removed.into_iter().enumerate() {
        out.insert((at + n).min(out.len()), note);
    }
    Some(out.into())
}

/// Labels that came go, labels that went come back, if nobody did so already.
fn labels(current: &Value, old: &Value, new: &Value) -> Option<Value> {
    let (current, gone, come) = (words(current), minus(old, new), minus(new, old));
    if !come.is_subset(&current) || !gone.is_disjoint(&current) {
        return None;
    }
    Some(
        current
            .into_iter()
            .filter(|word| !come.contains(word))
            .chain(gone)
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect(),
    )
}

fn words(list: &Value) -> BTreeSet<String> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn minus(list: &Value, other: &Value) -> BTreeSet<String> {
    words(list).difference(&words(other)).cloned().collect()
}

/// Where two lists begin to differ, and what differs.
fn middle(old: &[Value], new: &[Value]) -> (usize, Vec<Value>, Vec<Value>) {
    let mut at = 0;
    while at < old.len() && at < new.len() && old[at] == new[at] {
        at += 1;
    }
    let mut tail = 0;
    while tail < old.len() - at && tail < new.len() - at && old[old.len() - 1 - tail] == new[new.len() - 1 - tail] {
        tail += 1;
    }
    (at, old[at..old.len() - tail].to_vec(), new[at..new.len() - tail].to_vec())
}

/// Live todos have ids of their own, and depend on live todos.
fn check(todos: &Todos) -> Result<(), &'static str> {
    let live = |uid: u64| todos.get(&uid).is_some_and(|todo| todo["removed"].is_null());
    let mut ids = BTreeSet::new();
    for (uid, todo) in todos.iter().filter(|(uid, _)| live(**uid)) {
        let lost = todo["depends_on"].as_array().into_iter().flatten().filter_map(|dep| dep["on"].as_u64());
        if !ids.insert(todo["id"].as_str()) || lost.into_iter().any(|dep| dep != *uid && !live(dep)) {
            return Err("revert_conflict");
        }
    }
    Ok(())
}

/// The difference between two states of a todo, in the form of a stored patch but for the order of fields.
fn patch(uid: u64, before: &Map<String, Value>, after: &Map<String, Value>) -> Option<Value> {
    let mut changes = Map::new();
    for (field, value) in after {
        let old = &before[field];
        if field == "labels" {
            if old != value {
                let change = json!({"removed": minus(old, value), "added": minus(value, old)});
                changes.insert(field.clone(), change);
            }
        } else if let (Value::Array(old), Value::Array(new)) = (old, value)
            && old != new
        {
            let (at, removed, added) = middle(old, new);
            changes.insert(field.clone(), json!({"at": at, "removed": removed, "added": added}));
        } else if old != value {
            changes.insert(field.clone(), json!({"before": old, "after": value}));
        }
    }
    (!changes.is_empty()).then(|| json!({"todo": uid, "changes": changes}))
}
