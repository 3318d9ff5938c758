//! One request to a model: the events of the stream put together into a message.

use punchlist::{Finish, finish};
use serde_json::{Value, json};

use super::{Problem, http};

/// Calls in one message.
const CALLS: usize = 100;

/// A message of the model.
#[derive(Debug, Default)]
pub struct Message {
    /// Its words.
    pub text: String,
    /// Its calls.
    pub calls: Vec<Call>,
    /// Why it ended.
    pub finish: Finish,
}

/// A call of a tool.
#[derive(Debug, Default)]
pub struct Call {
    /// The model's number for it.
    pub id: String,
    /// Which tool.
    pub name: String,
    /// A string of JSON.
    pub arguments: String,
}

impl Message {
    /// As it stands in the history.
    pub fn to_json(&self) -> Value {
        let mut out = json!({"role": "assistant", "content": self.text});
        if !self.calls.is_empty() {
            let call = |call: &Call| {
                let function = json!({"name": call.name, "arguments": call.arguments});
                json!({"id": call.id, "type": "function", "function": function})
            };
            out["tool_calls"] = self.calls.iter().map(call).collect();
        }
        out
    }

    /// Adds one event of the stream.
    fn add(&mut self, event: &Value, say: &mut dyn FnMut(&str)) -> Result<(), Problem> {
        if let Some(error) = event.get("error") {
            return Err(format!("the model failed: {error}").into());
        }
        let choice = &event["choices"][0];
        if let Some(text) = choice["delta"]["content"].as_str() {
            say(text);
            self.text += text;
        }
        for part in choice["delta"]["tool_calls"].as_array().into_iter().flatten() {
            let at = part["index"].as_u64().unwrap_or(0) as usize;
            if at >= CALLS {
                return Err(format!("more than {CALLS} calls in one message").into());
            }
            self.calls.resize_with(self.calls.len().max(at + 1), Call::default);
            let call = &mut self.calls[at];
            let put = |to: &mut String, value: &Value| *to += value.as_str().unwrap_or_default();
            put(&mut call.id, &part["id"]);
            put(&mut call.name, &part["function"]["name"]);
            put(&mut call.arguments, &part["function"]["arguments"]);
        }
        if let Some(reason) = choice["finish_reason"].as_str() {
            self.finish = finish(reason);
        }
        Ok(())
    }
}

/// Asks for the next message; `say` gets its words as they come.
pub fn ask(url: &str, body: &Value, say: &mut dyn FnMut(&str)) -> Result<Message, Problem> {
    let mut lines = http::post(&format!("{}/chat/completions", url.trim_end_matches('/')), &body.to_string())?;
    let mut message = Message { finish: Finish::Unknown, ..Message::default() };
    while let Some(line) = http::line(&mut *lines)? {
        let Some(data) = line.strip_prefix("data:") else { continue };
        match data.trim() {
            "[DONE]" => break,
            data => message.add(&serde_json::from_str(data)?, say)?,
        }
    }
    Ok(message)
}
