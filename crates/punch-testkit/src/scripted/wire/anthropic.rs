//! Anthropic Messages.

use serde_json::{Value, json};

use super::{StreamEvent, items, word};
use crate::scripted::asked::{flat, flat_since};
use crate::scripted::{ModelRequest, ModelTurn, ToolOffer};

pub fn read(body: &Value) -> ModelRequest {
    let tools = items(body, "tools").iter().map(|tool| (word(tool, "name").to_owned(), ToolOffer::default()));
    let part = |key: &str| body.get(key).map(flat).unwrap_or_default();
    ModelRequest {
        model: word(body, "model").to_owned(),
        text: part("system") + &part("messages"),
        news: flat_since(body.get("messages"), |message| message["role"] == "assistant"),
        tools: tools.filter(|(name, _)| !name.is_empty()).collect(),
        stream: body["stream"] == true,
    }
}

pub fn events(answer: &ModelTurn) -> Vec<StreamEvent> {
    let start = json!({
        "id": format!("msg_{}", answer.id), "type": "message", "role": "assistant", "model": answer.model,
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage(answer, 1),
    });
    let mut out = vec![(Some("message_start"), json!({"type": "message_start", "message": start}))];
    for (index, block) in blocks(answer).into_iter().enumerate() {
        let (empty, deltas) = opened(block);
        let start = json!({"type": "content_block_start", "index": index, "content_block": empty});
        out.push((Some("content_block_start"), start));
        for delta in deltas {
            let delta = json!({"type": "content_block_delta", "index": index, "delta": delta});
            out.push((Some("content_block_delta"), delta));
        }
        out.push((Some("content_block_stop"), json!({"type": "content_block_stop", "index": index})));
    }
    let delta = json!({"stop_reason": stop(answer), "stop_sequence": null});
    let usage = usage(answer, answer.usage.output);
    out.push((Some("message_delta"), json!({"type": "message_delta", "delta": delta, "usage": usage})));
    out.push((Some("message_stop"), json!({"type": "message_stop"})));
    out
}

pub fn whole(answer: &ModelTurn) -> Value {
    json!({
        "id": format!("msg_{}", answer.id), "type": "message", "role": "assistant", "model": answer.model,
        "content": blocks(answer), "stop_reason": stop(answer), "stop_sequence": null,
        "usage": usage(answer, answer.usage.output),
    })
}

fn blocks(answer: &ModelTurn) -> Vec<Value> {
    let mut out = Vec::new();
    if !answer.thinking.is_empty() {
        out.push(json!({"type": "thinking", "thinking": answer.thinking, "signature": "c2NyaXB0ZWQ="}));
    }
    if !answer.words().is_empty() {
        out.push(json!({"type": "text", "text": answer.words()}));
    }
    for call in &answer.calls {
        let id = format!("toolu_{}", call.id);
        out.push(json!({"type": "tool_use", "id": id, "name": call.name, "input": call.input}));
    }
    out
}

/// A block as a stream begins it, and what then fills it.
fn opened(mut block: Value) -> (Value, Vec<Value>) {
    let deltas = match word(&block, "type") {
        "thinking" => {
            let (thinking, signature) = (block["thinking"].take(), block["signature"].take());
            (block["thinking"], block["signature"]) = (json!(""), json!(""));
            vec![
                json!({"type": "thinking_delta", "thinking": thinking}),
                json!({"type": "signature_delta", "signature": signature}),
            ]
        }
        "text" => {
            let text = std::mem::replace(&mut block["text"], json!(""));
            vec![json!({"type": "text_delta", "text": text})]
        }
        _ => {
            let input = std::mem::replace(&mut block["input"], json!({}));
            vec![json!({"type": "input_json_delta", "partial_json": input.to_string()})]
        }
    };
    (block, deltas)
}

fn stop(answer: &ModelTurn) -> &str {
    let own = if answer.calls.is_empty() { "end_turn" } else { "tool_use" };
    answer.stop.as_deref().unwrap_or(own)
}

fn usage(answer: &ModelTurn, output: u64) -> Value {
    json!({
        "input_tokens": answer.usage.input, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
        "output_tokens": output,
    })
}
