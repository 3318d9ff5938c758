//! Task Master's tasks.json: a list of tasks, or one list per tag. Subtasks are separate todos such as `1.2`, and a
//! task waits for its subtasks. With several tags, each is a phase, and all ids except those of `master` contain its
//! name.

use serde_json::Value;

use super::Format;
use super::beads::joined;
use super::build::{DocumentBuilder, json, wrong};
use super::input_object::InputObject;
use super::todo_list::priority;
use crate::{Complexity, ParsedDocument, Record, Refusal};

/// The separator between the description and the details of a task.
pub(super) const DETAILS: &str = "Details:\n";

/// Reads a file.
pub(super) fn read(text: &str) -> Result<ParsedDocument, Refusal> {
    let mut build = DocumentBuilder::new(Format::TaskMaster);
    let Value::Object(mut file) = json(text)? else {
        return Err(wrong("", "must be an object with `tasks`, or with tags that have them"));
    };
    if file.get("tasks").is_some_and(Value::is_array) {
        let tasks = crate::json::take(&mut file, "tasks").unwrap_or_default();
        file.keys().for_each(|key| build.ignore(key));
        TaskmasterTag { name: None, prefix: String::new(), at: "tasks".to_owned() }.read(&mut build, tasks);
        return build.finish();
    }
    let tagged = |value: &Value| value.get("tasks").is_some_and(Value::is_array);
    let names: Vec<String> = file.iter().filter(|(_, tag)| tagged(tag)).map(|(name, _)| name.clone()).collect();
    let plain = plain_tag(names.iter().map(String::as_str)).map(str::to_owned);
    let phased = names.len() > 1 || plain.as_deref() != Some(USUAL);
    for (name, value) in file {
        let mut tag = match value {
            Value::Object(tag) if tag.get("tasks").is_some_and(Value::is_array) => tag,
            _ => {
                build.ignore(&name);
                continue;
            }
        };
        let tasks = crate::json::take(&mut tag, "tasks").unwrap_or_default();
        tag.keys().for_each(|key| build.ignore(&format!("{name}.{key}")));
        let prefix = if plain.as_deref() == Some(&name) { String::new() } else { format!("{name}/") };
        if phased {
            build.document.phases.push(name.clone());
        }
        TaskmasterTag { at: format!("{name}.tasks"), name: phased.then_some(name), prefix }.read(&mut build, tasks);
    }
    if names.is_empty() {
        build.error("tasks", "must be a list");
    }
    build.finish()
}

/// The tag that files have from the beginning.
pub(super) const USUAL: &str = "master";

/// The tag whose ids carry no name: the usual one, otherwise the first.
pub(super) fn plain_tag<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    names.clone().find(|name| *name == USUAL).or_else(|| names.clone().next())
}

struct TaskmasterTag {
    /// The phase.
    name: Option<String>,
    prefix: String,
    at: String,
}

impl TaskmasterTag {
    fn read(&self, build: &mut DocumentBuilder, tasks: Value) {
        let Value::Array(tasks) = tasks else { return };
        for (n, value) in tasks.into_iter().enumerate() {
            let at = format!("{}[{n}]", self.at);
            let Some(mut item) = build.item(value, &at) else { continue };
            let subtasks = item.list("subtasks");
            let Some(id) = item.filled("id") else {
                build.error(&format!("{at}.id"), "is missing");
                continue;
            };
            let siblings: Vec<String> = subtasks.iter().filter_map(|subtask| own_id(subtask.get("id")?)).collect();
            let mut record = self.task(&mut item, &id);
            record.depends_on.extend(siblings.iter().map(|sub| format!("{}{id}.{sub}", self.prefix)));
            build.push(record, item);
            for (m, value) in subtasks.into_iter().enumerate() {
                let at = format!("{at}.subtasks[{m}]");
                let Some(mut item) = build.item(value, &at) else { continue };
                let Some(sub) = item.filled("id") else {
                    build.error(&format!("{at}.id"), "is missing");
                    continue;
                };
                // A bare number means a sibling, if there is one; a string is a whole id.
                let mut waits = item.list("dependencies");
                for dep in waits.iter_mut().filter(|dep| dep.is_number()) {
                    if siblings.contains(&dep.to_string()) {
                        *dep = format!("{id}.{dep}").into();
                    }
                }
                item.put("dependencies", waits.into());
                let record = self.task(&mut item, &format!("{id}.{sub}"));
                build.push(record, item);
            }
        }
    }

    fn task(&self, item: &mut InputObject, id: &str) -> Record {
        let standing = item.status("status", &["in-progress", "done", "review", "deferred"]);
        let description = item.filled("description");
        Record {
            id: Some(format!("{}{id}", self.prefix)),
            content: item.content(&["title"]),
            description: joined(description, item.filled("details"), DETAILS),
            verification_criteria: item.filled("testStrategy"),
            status: standing.state,
            hold: standing.hold,
            priority: priority(item),
            complexity: complexity(item),
            depends_on: item.ids("dependencies").into_iter().map(|dep| format!("{}{dep}", self.prefix)).collect(),
            phase: self.name.clone(),
            ..Record::default()
        }
    }
}

fn own_id(id: &Value) -> Option<String> {
    id.as_str().map(str::to_owned).or_else(|| id.is_number().then(|| id.to_string()))
}

/// 1 to 10 in Task Master. The number itself is kept as an extra, because it is finer than our sizes.
fn complexity(item: &mut InputObject) -> Option<Complexity> {
    let value = item.take("complexity")?;
    let size = value.as_u64().and_then(size);
    item.put("complexity", value);
    size
}

/// Two of their steps are one of ours.
pub(super) fn size(number: u64) -> Option<Complexity> {
    let at = number.checked_sub(1)? / 2;
    Complexity::ALL.get(usize::try_from(at).ok()?).copied()
}
