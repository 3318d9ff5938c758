//! What a verb answers: text for people, or one JSON object with `"schema": 1`.

use punch_core::time::ago;
use punch_core::{Dep, Footprint, Plan, Record, Records, Status, Todo, Uid, Verify, text};
use punch_engine::Changed;
use serde_json::{Map, Value, json};

use crate::failure::Exit;

/// The answer of a verb.
pub struct Reply {
    /// For people; printed to standard output with a final newline unless empty.
    pub text: String,
    /// For programs.
    pub json: Value,
    /// How it ends.
    pub exit: Exit,
    /// The plan was changed.
    pub wrote: bool,
}

impl Reply {
    /// An answer that ends well.
    pub fn new(text: impl Into<String>, json: Value) -> Self {
        Self { text: text.into(), json: with_schema(json), exit: Exit::Ok, wrote: false }
    }

    /// Nothing more to say: the verb has printed a document.
    pub fn printed() -> Self {
        Self { text: String::new(), json: Value::Null, exit: Exit::Ok, wrote: false }
    }

    /// Marks the answer as one of a verb that changed something.
    pub fn after_write(self) -> Self {
        Self { wrote: true, ..self }
    }
}

/// Puts `"schema": 1` first.
pub fn with_schema(value: Value) -> Value {
    let mut out = Map::from_iter([("schema".to_owned(), json!(1))]);
    if let Value::Object(map) = value {
        out.extend(map);
    }
    Value::Object(out)
}

/// A todo in the extended format, with the fields that programs look for first always present.
pub fn record(plan: &Plan, todo: &Todo, now: i64) -> Value {
    complete(todo, &Record::of(plan, todo, now))
}

/// Many todos in that format.
pub fn records<'a>(plan: &Plan, todos: impl IntoIterator<Item = &'a Todo>, now: i64) -> Vec<Value> {
    let records = Records::new(plan);
    todos.into_iter().map(|todo| complete(todo, &records.of(todo, now))).collect()
}

fn complete(todo: &Todo, record: &Record) -> Value {
    let mut map = record.to_map();
    map.entry("priority").or_insert_with(|| json!(todo.priority));
    map.entry("dependsOn").or_insert_with(|| json!([]));
    map.entry("blocks").or_insert_with(|| json!([]));
    map.insert("effectivePriority".into(), json!(todo.effective_priority()));
    if let Some(check) = todo.last_check() {
        let last = json!({
            "passed": check.passed(),
            "exitCode": check.exit_code,
            "command": check.command,
            "commit": check.commit,
            "at": check.at,
        });
        map.insert("lastCheck".into(), last);
    }
    Value::Object(map)
}

/// One todo on one line: symbol, id, content.
pub fn line(todo: &Todo, now: i64) -> String {
    if !todo.is_live() {
        return format!("archived: {}  {}", text::neutral(&todo.id), text::clip(&text::neutral(&todo.content), 200));
    }
    let symbol = match todo.status_at(now) {
        Status::Pending if todo.is_blocked(now) => "[.]",
        Status::Pending => "[ ]",
        Status::InProgress => "[>]",
        Status::Completed => "[x]",
        Status::Cancelled => "[-]",
        Status::Failed => "[!]",
    };
    let content = text::neutral(&todo.content);
    format!("{symbol} {}  {}", text::neutral(&todo.id), text::clip(&content, 200))
}

/// The last run of a todo's verify command: how it ended, when, at which commit, and which command it was.
pub fn check(todo: &Todo, now: i64) -> Option<String> {
    let check = todo.last_check()?;
    let command = todo.verify.as_ref().map(Verify::line).unwrap_or_default();
    let commit = check.commit.as_deref().map(|commit| format!(" at {}", text::neutral(&text::clip(commit, 10))));
    Some(format!(
        "{} {}{}: `{}`",
        check.outcome(),
        ago(now.saturating_sub(check.at)),
        commit.unwrap_or_default(),
        text::clip(&text::neutral(&command), 200)
    ))
}

/// A few words about the proof of a todo where it is not as it should be: its check failed, or there is none.
pub fn doubt(todo: &Todo) -> Option<&'static str> {
    match todo.failed_check() {
        Some(_) => Some("check failed"),
        None if todo.flags.unchecked => Some("unchecked"),
        None => None,
    }
}

/// The answer to a change of some todos: what they are now, what became ready, what to know. The JSON is only made
/// where it is asked for: records of many todos cost more than the change.
pub fn changed(changed: &Changed, uids: &[Uid], as_json: bool) -> Reply {
    let (plan, now, outcome) = (&changed.plan, changed.now, &changed.outcome);
    let todos: Vec<&Todo> = uids.iter().filter_map(|uid| plan.get(*uid)).collect();
    let ids = |uids: &[Uid]| -> Vec<&str> { uids.iter().filter_map(|u| plan.get(*u)).map(|t| t.id.as_str()).collect() };
    let mut lines: Vec<String> = todos.iter().take(50).map(|t| line(t, now)).collect();
    if todos.len() > 50 {
        lines.push(format!("and {} more", todos.len() - 50));
    }
    let unblocked = ids(&outcome.unblocked);
    if !unblocked.is_empty() {
        let shown: Vec<String> = unblocked.iter().take(10).map(|id| text::neutral(id).into_owned()).collect();
        let more = if unblocked.len() > 10 { format!(" and {} more", unblocked.len() - 10) } else { String::new() };
        lines.push(format!("ready now: {}{more}", shown.join(", ")));
    }
    let warnings: Vec<String> = outcome.warnings.iter().map(|w| text::neutral(&w.message()).into_owned()).collect();
    lines.extend(warnings.iter().take(10).map(|w| format!("note: {w}")));
    if warnings.len() > 10 {
        lines.push(format!("note: {} more", warnings.len() - 10));
    }
    let mut json = Value::Null;
    if as_json {
        json = json!({"todo": todos.first().map(|t| record(plan, t, now))});
        if todos.len() > 1 {
            json["todos"] = records(plan, todos.iter().copied(), now).into();
        }
        json["unblocked"] = json!(unblocked);
        json["warnings"] = json!(warnings);
        json["revision"] = json!(outcome.plan.revision);
    }
    let wrote = !outcome.events.is_empty();
    Reply { wrote, ..Reply::new(lines.join("\n"), json) }
}

/// Loads what the dependencies and the dependents of todos are called, so that records can name them.
pub fn load_names(
    snapshot: &dyn punch_store::Snapshot,
    plan: &mut Plan,
    uids: &[Uid],
) -> Result<(), punch_store::StoreError> {
    // One by one, a todo that waits for many of these would be read as often.
    if uids.len() > 64 && uids.len() as u64 > plan.row.counts.total() / 16 {
        return snapshot.load(&Footprint::everything(), plan);
    }
    let deps = uids.iter().filter_map(|uid| plan.get(*uid)).flat_map(|t| t.depends_on.iter());
    let todos = deps.filter_map(Dep::target).filter(|uid| plan.get(*uid).is_none()).collect();
    let dependents = uids.iter().copied().collect();
    snapshot.load(&Footprint { todos, dependents, ..Footprint::default() }, plan)
}

/// `a, b and c`
pub fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
