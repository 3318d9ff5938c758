//! Records as answers show them: the fields that programs look for first are always present, and so is what follows
//! from the plan around a todo.

use serde_json::{Map, Value, json};

use super::{Record, Records};
use crate::reason::{PlanReader, WaitReason};
use crate::{Plan, Todo};

/// Reasons that an answer names.
const REASONS: usize = 20;

impl Record {
    /// One todo for programs, as the user sees it.
    pub fn answer<'a>(plan: &'a Plan, todo: &'a Todo, now: i64) -> Value {
        Value::Object(Self::of(plan, todo, now).completed(PlanReader::new(plan, now), todo))
    }

    fn completed<'a>(&self, reader: PlanReader<'a>, todo: &'a Todo) -> Map<String, Value> {
        let mut map = self.to_map();
        map.entry("priority").or_insert_with(|| json!(todo.priority));
        map.entry("dependsOn").or_insert_with(|| json!([]));
        map.entry("blocks").or_insert_with(|| json!([]));
        map.insert("effectivePriority".into(), json!(todo.effective_priority()));
        map.insert("shown".into(), json!(reader.shown(todo)));
        let reasons = reader.reasons(todo);
        if !reasons.is_empty() {
            let reason =
                |reason: &WaitReason| json!({"cause": reason.cause.name(), "id": reason.id, "text": reason.words()});
            map.insert("reasons".into(), reasons.iter().take(REASONS).map(reason).collect());
        }
        if let Some(check) = todo.last_check() {
            let last = json!({
                "passed": check.passed(),
                "exitCode": check.exit_code,
                "command": check.command,
                "commit": check.commit,
                "at": check.at,
                "observed": check.observed.is_some(),
            });
            map.insert("lastCheck".into(), last);
        }
        if let Some(proof) = todo.proof() {
            map.insert("proof".into(), json!(proof));
        }
        map
    }
}

impl<'a> Records<'a> {
    /// Many todos for programs, as the user sees them.
    pub fn answers(&self, todos: impl IntoIterator<Item = &'a Todo>, now: i64) -> Vec<Value> {
        let reader = PlanReader::new(self.plan, now);
        todos.into_iter().map(|todo| Value::Object(self.of(todo, now).completed(reader, todo))).collect()
    }
}
