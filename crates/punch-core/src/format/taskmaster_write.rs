//! Writes Task Master's tasks.json: one tag, ids as numbers, subtasks inside their task.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::beads::split;
use super::taskmaster::{DETAILS, USUAL, plain_tag, size};
use super::todo_list::priority_name;
use super::{Format, extra};
use crate::{Complexity, Document, Record, RecordStatus, Status};

type TaskmasterFields = Map<String, Value>;

/// Writes a file. Ids like `3` and `3.1` are kept if all of them have this form and every subtask has its task;
/// otherwise the todos are numbered. Phases become tags if no dependency leads from one to another, because tags cannot
/// express that.
pub(super) fn write(document: &Document, lost: &mut BTreeSet<String>) -> String {
    let tags = tags(document);
    if tags.is_none() && document.records.iter().any(|record| record.phase.is_some()) {
        lost.insert("phase".to_owned());
    }
    let phases = || document.phases.iter().map(String::as_str).collect();
    let tag_names: Vec<&str> = if tags.is_some() { phases() } else { vec![USUAL] };
    let plain = plain_tag(tag_names.iter().copied()).unwrap_or(USUAL);
    let tag_of = |at: usize| tags.as_ref().map_or(0, |tags| tags[at]);
    if !(0..document.records.len()).map(tag_of).is_sorted() {
        lost.insert("the order of todos across phases".to_owned());
    }
    let names = names(document, |at| tag_names[tag_of(at)], plain);
    let places = document.places_of_ids();
    let mut tasks: Vec<Vec<Value>> = vec![Vec::new(); tag_names.len()];
    let mut heads: HashMap<(usize, &str), usize> = HashMap::new();
    let mut subtasks: Vec<(usize, &str, Value)> = Vec::new();
    for (at, record) in document.records.iter().enumerate() {
        let (name, tag) = (names[at].as_str(), tag_of(at));
        let known = record.depends_on.iter().filter_map(|dep| places.get(dep.as_str()));
        let waits = known.filter_map(|on| dependency(&names[*on], name)).collect::<Vec<Value>>();
        if record.depends_on.iter().any(|dep| !places.contains_key(dep.as_str())) {
            lost.insert("dependencies on unknown ids".to_owned());
        }
        let task = task(record, name, waits, lost);
        match name.split_once('.') {
            Some((parent, _)) => subtasks.push((tag, parent, task)),
            None => {
                heads.insert((tag, name), tasks[tag].len());
                tasks[tag].push(task);
            }
        }
    }
    if subtasks.windows(2).any(|pair| (pair[0].0, pair[0].1) != (pair[1].0, pair[1].1)) && !in_place(&names) {
        lost.insert("the order of subtasks".to_owned());
    }
    for (tag, parent, subtask) in subtasks {
        let head = heads.get(&(tag, parent)).and_then(|at| tasks[tag].get_mut(*at)?.as_object_mut());
        if let Some(Value::Array(list)) = head.map(|head| head.entry("subtasks").or_insert_with(|| json!([]))) {
            list.push(subtask);
        }
    }
    let mut file = TaskmasterFields::new();
    for (name, tasks) in tag_names.iter().zip(tasks) {
        let about = format!("Tasks for {name} context");
        file.insert((*name).to_owned(), json!({"tasks": tasks, "metadata": {"description": about}}));
    }
    let mut out = serde_json::to_string_pretty(&file).unwrap_or_default();
    out.push('\n');
    out
}

/// Every subtask comes after its task or a sibling.
fn in_place(names: &[String]) -> bool {
    let task = |name: &str| name.split('.').next().map(str::to_owned);
    names.windows(2).all(|pair| !pair[1].contains('.') || task(&pair[0]) == task(&pair[1]))
}

/// For each todo the index of its phase, if phases can be tags.
fn tags(document: &Document) -> Option<Vec<usize>> {
    let place = document.phase_places();
    let tags: Option<Vec<usize>> = document.records.iter().map(&place).collect();
    let tags = tags.filter(|tags| !tags.is_empty())?;
    let places = document.places_of_ids();
    let across = |(at, record): (usize, &Record)| {
        record.depends_on.iter().any(|dep| places.get(dep.as_str()).is_some_and(|on| tags[*on] != tags[at]))
    };
    let unique: BTreeSet<&String> = document.phases.iter().collect();
    let possible = unique.len() == document.phases.len() && !document.records.iter().enumerate().any(across);
    // A single phase with the default name could not be distinguished from no phase.
    let told = document.phases.len() > 1 || document.phases.first().is_some_and(|name| name != USUAL);
    (possible && told).then_some(tags)
}

/// The id of each todo inside its tag.
fn names<'a>(document: &'a Document, tag: impl Fn(usize) -> &'a str, plain: &str) -> Vec<String> {
    let places = document.places_of_ids();
    let number = |part: &str| part.parse::<u32>().is_ok_and(|n| n.to_string() == part);
    let edges: HashSet<(usize, &str)> = document
        .records
        .iter()
        .enumerate()
        .flat_map(|(at, record)| record.depends_on.iter().map(move |dep| (at, dep.as_str())))
        .collect();
    let own = |(at, record): (usize, &Record)| {
        let prefix = if tag(at) == plain { String::new() } else { format!("{}/", tag(at)) };
        let whole = record.id.as_deref()?;
        let id = whole.strip_prefix(&prefix)?;
        let fits = match id.split_once('.') {
            None => number(id),
            // A subtask is inside its task, and the task waits for it.
            Some((task, sub)) => {
                let parent = places.get(format!("{prefix}{task}").as_str()).filter(|parent| tag(**parent) == tag(at));
                number(task) && number(sub) && parent.is_some_and(|parent| edges.contains(&(*parent, whole)))
            }
        };
        fits.then(|| id.to_owned())
    };
    let own: Option<Vec<String>> = document.records.iter().enumerate().map(own).collect();
    own.unwrap_or_else(|| (1..=document.records.len()).map(|n| n.to_string()).collect())
}

/// Returns how `name` refers to `on`; nothing if `on` is a subtask of it, because that dependency is implied.
fn dependency(on: &str, name: &str) -> Option<Value> {
    let number = |part: &str| part.parse::<u32>().map_or_else(|_| part.into(), Value::from);
    match (on.split_once('.'), name.split_once('.')) {
        (Some((task, _)), None) if task == name => None,
        (Some((task, sub)), Some((own, _))) if task == own => Some(number(sub)),
        // A bare number inside a task would mean a sibling.
        (None, Some(_)) => Some(on.into()),
        (None, None) => Some(number(on)),
        (Some(_), _) => Some(on.into()),
    }
}

fn task(record: &Record, name: &str, waits: Vec<Value>, lost: &mut BTreeSet<String>) -> Value {
    let (description, details) = split(record.description.as_deref().unwrap_or_default(), DETAILS);
    let own = name.rsplit('.').next().unwrap_or(name);
    let mut out = TaskmasterFields::new();
    let mut put = |key: &str, value: Value| drop(out.insert(key.to_owned(), value));
    put("id", own.parse::<u32>().map_or_else(|_| own.into(), Value::from));
    put("title", record.content.as_str().into());
    put("description", description.into());
    put("status", status(record, lost).into());
    put("dependencies", waits.into());
    put("priority", priority_name(record, lost).into());
    put("details", details.into());
    put("testStrategy", record.verification_criteria.as_deref().unwrap_or_default().into());
    if let Some(ours) = record.complexity {
        let kept = extra::get(record, Format::TaskMaster.name(), "complexity").and_then(Value::as_u64);
        let number = kept.filter(|kept| size(*kept) == Some(ours)).unwrap_or_else(|| number(ours));
        put("complexity", number.into());
    }
    extra::restore(record, Format::TaskMaster.name(), &mut out);
    out.into()
}

fn number(size: Complexity) -> u64 {
    Complexity::ALL.iter().position(|one| *one == size).map_or(5, |at| 2 * at as u64 + 2)
}

fn status(record: &Record, lost: &mut BTreeSet<String>) -> &'static str {
    let hold = record.hold.as_ref().map(|hold| hold.reason.as_str());
    match (record.status.stored(), hold) {
        (Status::Pending, Some("review")) => "review",
        (Status::Pending, Some("deferred")) => "deferred",
        (Status::Pending, Some(reason)) => {
            if reason != "blocked" {
                lost.insert("why todos are on hold".to_owned());
            }
            "blocked"
        }
        (Status::Pending, None) if record.status == RecordStatus::Blocked => "blocked",
        (Status::Pending, None) => "pending",
        (Status::InProgress, _) => "in-progress",
        (Status::Completed, _) => "done",
        (Status::Cancelled, _) => "cancelled",
        (Status::Failed, _) => {
            lost.insert("status failed (written as cancelled)".to_owned());
            "cancelled"
        }
    }
}
