//! OpenAI Responses.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{StreamEvent, items, word};
use crate::scripted::asked::{flat, flat_since};
use crate::scripted::{ModelRequest, ModelTurn, ScriptedToolUse, ToolOffer};

pub fn read(body: &Value) -> ModelRequest {
    let part = |key: &str| body.get(key).map(flat).unwrap_or_default();
    let by_model = |item: &Value| {
        item["role"] == "assistant" || matches!(word(item, "type"), "function_call" | "custom_tool_call" | "reasoning")
    };
    let input = body.get("input").filter(|input| input.is_array());
    ModelRequest {
        model: word(body, "model").to_owned(),
        text: part("instructions") + &part("input"),
        news: input.map_or_else(|| part("input"), |input| flat_since(Some(input), by_model)),
        tools: tools(body),
        stream: body["stream"] == true,
    }
}

/// Tools come alone or in namespaces; a namespace and a name are joined for the script.
fn tools(body: &Value) -> BTreeMap<String, ToolOffer> {
    let mut out = BTreeMap::new();
    for tool in items(body, "tools") {
        let (kind, name) = (word(tool, "type"), word(tool, "name"));
        if kind == "namespace" {
            for inner in items(tool, "tools") {
                let bare = word(inner, "name").to_owned();
                let joint = if name.ends_with("__") { "" } else { "__" };
                let offered = ToolOffer { namespace: name.to_owned(), bare, free_text: false };
                out.insert(format!("{name}{joint}{}", offered.bare), offered);
            }
            continue;
        }
        let name = if name.is_empty() { kind } else { name };
        out.insert(name.to_owned(), ToolOffer { free_text: kind == "custom", ..ToolOffer::default() });
    }
    out
}

pub fn events(answer: &ModelTurn) -> Vec<StreamEvent> {
    let event = |name: &'static str, mut data: Value| {
        data["type"] = json!(name);
        (Some(name), data)
    };
    let mut out = vec![event("response.created", json!({"response": response(answer, "in_progress", &[])}))];
    let output = output(answer);
    for (index, item) in output.iter().enumerate() {
        let mut begun = item.clone();
        begun["status"] = json!("in_progress");
        let words = item["content"][0]["text"].clone();
        if words.is_string() {
            begun["content"] = json!([]);
        }
        out.push(event("response.output_item.added", json!({"output_index": index, "item": begun})));
        if words.is_string() {
            let delta = json!({"item_id": item["id"], "output_index": index, "content_index": 0, "delta": words});
            out.push(event("response.output_text.delta", delta));
        }
        out.push(event("response.output_item.done", json!({"output_index": index, "item": item})));
    }
    let status = if answer.cut() { "incomplete" } else { "completed" };
    let name = if answer.cut() { "response.incomplete" } else { "response.completed" };
    out.push(event(name, json!({"response": response(answer, status, &output)})));
    out
}

pub fn whole(answer: &ModelTurn) -> Value {
    response(answer, if answer.cut() { "incomplete" } else { "completed" }, &output(answer))
}

fn response(answer: &ModelTurn, status: &str, output: &[Value]) -> Value {
    let mut out = json!({
        "id": format!("resp_{}", answer.id), "object": "response", "created_at": 0, "model": answer.model,
        "status": status, "output": output,
    });
    if status == "incomplete" {
        out["incomplete_details"] = json!({"reason": "max_output_tokens"});
    }
    if status != "in_progress" {
        let usage = answer.usage;
        out["usage"] = json!({
            "input_tokens": usage.input, "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": usage.output, "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": usage.input + usage.output,
        });
    }
    out
}

fn output(answer: &ModelTurn) -> Vec<Value> {
    let mut out = Vec::new();
    if !answer.words().is_empty() {
        let content = json!([{"type": "output_text", "text": answer.words(), "annotations": []}]);
        let id = format!("msg_{}", answer.id);
        let role = "assistant";
        out.push(json!({"type": "message", "id": id, "role": role, "status": "completed", "content": content}));
    }
    out.extend(answer.calls.iter().map(call));
    out
}

fn call(call: &ScriptedToolUse) -> Value {
    let tool = call.tool.clone().unwrap_or_default();
    let name = if tool.bare.is_empty() { &call.name } else { &tool.bare };
    let mut out = json!({
        "id": format!("fc_{}", call.id), "call_id": format!("call_{}", call.id), "name": name, "status": "completed",
    });
    if !tool.namespace.is_empty() {
        out["namespace"] = json!(tool.namespace);
    }
    if tool.free_text {
        out["type"] = json!("custom_tool_call");
        out["input"] = call.input.get("input").unwrap_or(&call.input).clone();
    } else {
        out["type"] = json!("function_call");
        out["arguments"] = json!(call.input.to_string());
    }
    out
}
