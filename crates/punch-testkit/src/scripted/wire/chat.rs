//! OpenAI Chat Completions.

use serde_json::{Value, json};

use super::{StreamEvent, items, word};
use crate::scripted::asked::{flat, flat_since};
use crate::scripted::{ModelRequest, ModelTurn, ToolOffer};

pub fn read(body: &Value) -> ModelRequest {
    let tools = items(body, "tools").iter().map(|tool| word(&tool["function"], "name").to_owned());
    ModelRequest {
        model: word(body, "model").to_owned(),
        text: body.get("messages").map(flat).unwrap_or_default(),
        news: flat_since(body.get("messages"), |message| message["role"] == "assistant"),
        tools: tools.filter(|name| !name.is_empty()).map(|name| (name, ToolOffer::default())).collect(),
        stream: body["stream"] == true,
    }
}

pub fn events(answer: &ModelTurn) -> Vec<StreamEvent> {
    let chunk = |choices: Value| {
        let mut out = base(answer, "chat.completion.chunk");
        out["choices"] = choices;
        out
    };
    let choice = |delta: Value, finish: Value| chunk(json!([{"index": 0, "delta": delta, "finish_reason": finish}]));
    let mut out = vec![choice(json!({"role": "assistant", "content": answer.words()}), Value::Null)];
    for (index, mut call) in calls(answer).into_iter().enumerate() {
        call["index"] = json!(index);
        out.push(choice(json!({"tool_calls": [call]}), Value::Null));
    }
    out.push(choice(json!({}), json!(finish(answer))));
    let mut last = chunk(json!([]));
    last["usage"] = usage(answer);
    out.push(last);
    out.into_iter().map(|data| (None, data)).collect()
}

pub fn whole(answer: &ModelTurn) -> Value {
    let mut message = json!({"role": "assistant", "content": answer.words()});
    if !answer.calls.is_empty() {
        message["tool_calls"] = json!(calls(answer));
    }
    let mut out = base(answer, "chat.completion");
    out["choices"] = json!([{"index": 0, "message": message, "finish_reason": finish(answer)}]);
    out["usage"] = usage(answer);
    out
}

fn base(answer: &ModelTurn, object: &str) -> Value {
    json!({"id": format!("chatcmpl-{}", answer.id), "object": object, "created": 0, "model": answer.model})
}

fn calls(answer: &ModelTurn) -> Vec<Value> {
    let call = |call: &crate::scripted::ScriptedToolUse| {
        let function = json!({"name": call.name, "arguments": call.input.to_string()});
        json!({"id": format!("call_{}", call.id), "type": "function", "function": function})
    };
    answer.calls.iter().map(call).collect()
}

fn finish(answer: &ModelTurn) -> &'static str {
    match (answer.cut(), answer.calls.is_empty()) {
        (true, _) => "length",
        (false, false) => "tool_calls",
        (false, true) => "stop",
    }
}

fn usage(answer: &ModelTurn) -> Value {
    let usage = answer.usage;
    json!({
        "prompt_tokens": usage.input, "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output, "prompt_tokens_details": {"cached_tokens": 0},
    })
}
