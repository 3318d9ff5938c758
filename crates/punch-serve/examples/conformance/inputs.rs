//! Results that ask the client for more before they are complete.

use punch_core::hash::fnv1a;
use rmcp::ErrorData;
use rmcp::model::{InputRequiredResult, InputResponses};
use serde_json::{Value, json};

use crate::handler::from_json;

/// Asks for something, with or without a state to come back with.
pub fn ask(requests: Value, state: Option<String>) -> Result<InputRequiredResult, ErrorData> {
    let mut result = json!({"resultType": "input_required", "inputRequests": requests});
    if let Some(state) = state {
        result["requestState"] = json!(state);
    }
    from_json(result)
}

/// A question with one field.
pub fn question(message: &str, field: &str, kind: &str) -> Value {
    let schema = json!({"type": "object", "properties": {field: {"type": kind}}, "required": [field]});
    json!({"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}})
}

pub fn sampling(text: &str, most: u32) -> Value {
    let message = json!({"role": "user", "content": {"type": "text", "text": text}});
    json!({"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": most}})
}

pub fn roots() -> Value {
    json!({"method": "roots/list", "params": {}})
}

/// The field of an accepted answer.
pub fn answered(responses: Option<&InputResponses>, key: &str, field: &str) -> Option<String> {
    let content = responses?.get(key)?.get("content")?.get(field)?;
    Some(content.as_str().map_or_else(|| content.to_string(), str::to_owned))
}

/// A state that cannot be made up by a client that does not know the secret.
pub fn seal(round: &str) -> String {
    format!("{round}.{:016x}", digest(round))
}

/// The round of a sealed state.
pub fn open(state: Option<&str>) -> Result<Option<&str>, ErrorData> {
    let Some(state) = state else { return Ok(None) };
    match state.split_once('.') {
        Some((round, seal)) if seal == format!("{:016x}", digest(round)) => Ok(Some(round)),
        _ => Err(ErrorData::invalid_params("the request state was tampered with", None)),
    }
}

fn digest(text: &str) -> u64 {
    let secret = std::process::id().to_le_bytes();
    let bytes = secret.into_iter().chain(text.bytes()).chain(secret);
    fnv1a(bytes)
}
