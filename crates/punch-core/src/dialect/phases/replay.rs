//! The answers in the JSON shape of recorded replies.

use serde_json::{Value, json};

use super::command::CommandOutput;
use super::list::{TaskPhase, invalid, phases_from_json, phases_to_json};
use super::markdown::{read, write};
use super::step::PhasesAnswer;
use super::summary::summary;
use crate::Refusal;

/// The reply to a batch that passed the schema.
pub fn answer_json(answer: &PhasesAnswer) -> Value {
    let completed = answer.completed.iter().map(|task| json!({"phase": task.phase, "content": task.content}));
    json!({
        "rejected": false,
        "phases": phases_to_json(&answer.phases),
        "errors": answer.errors,
        "summary": summary(&answer.phases, &answer.errors),
        "completedTasks": completed.collect::<Value>(),
        "isError": answer.is_error,
    })
}

/// The reply to a batch the schema refused; the list stays as it was.
pub fn rejected_json(previous: &[TaskPhase]) -> Value {
    json!({
        "rejected": true,
        "phases": phases_to_json(previous),
        "errors": [],
        "summary": null,
        "completedTasks": [],
        "isError": true,
    })
}

/// The reply to a command.
pub fn said_json(said: &CommandOutput) -> Value {
    json!({"output": said.output, "phases": phases_to_json(&said.phases)})
}

/// Reads and writes once: `md` takes a text, `phases` takes a list.
pub fn markdown_answer(kind: &str, input: &Value) -> Result<Value, Refusal> {
    match kind {
        "md" => {
            let text = input.as_str().ok_or_else(|| invalid("input", "must be a string"))?;
            let first = read(text);
            let markdown = write(&first.phases);
            let second = read(&markdown);
            let stable = second.errors.is_empty() && second.phases == first.phases;
            Ok(json!({
                "phases": phases_to_json(&first.phases),
                "errors": first.errors,
                "markdown": markdown,
                "stable": stable,
            }))
        }
        "phases" => {
            let phases = phases_from_json(input)?;
            let markdown = write(&phases);
            let reading = read(&markdown);
            let lossless = reading.errors.is_empty() && reading.phases == phases;
            Ok(json!({
                "markdown": markdown,
                "phases": phases_to_json(&reading.phases),
                "errors": reading.errors,
                "lossless": lossless,
            }))
        }
        _ => Err(invalid("kind", "must be `md` or `phases`")),
    }
}
