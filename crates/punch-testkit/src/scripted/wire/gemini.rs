//! Gemini generateContent and streamGenerateContent. A stream has the one document as its only event.

use serde_json::{Value, json};

use super::{items, word};
use crate::scripted::asked::{flat, flat_since};
use crate::scripted::{ModelRequest, ModelTurn, ToolOffer};

pub fn read(path: &str, body: &Value) -> ModelRequest {
    let part = |key: &str| body.get(key).map(flat).unwrap_or_default();
    let declared = items(body, "tools").iter().flat_map(|tool| items(tool, "functionDeclarations"));
    let model = path.rsplit('/').next().and_then(|last| last.split(':').next());
    ModelRequest {
        model: model.unwrap_or_default().to_owned(),
        text: part("systemInstruction") + &part("contents"),
        news: flat_since(body.get("contents"), |content| content["role"] == "model"),
        tools: declared.map(|tool| (word(tool, "name").to_owned(), ToolOffer::default())).collect(),
        stream: path.ends_with(":streamGenerateContent"),
    }
}

pub fn whole(answer: &ModelTurn) -> Value {
    let mut parts = Vec::new();
    if !answer.words().is_empty() {
        parts.push(json!({"text": answer.words()}));
    }
    for call in &answer.calls {
        parts.push(json!({"functionCall": {"id": call.id, "name": call.name, "args": call.input}}));
    }
    let finish = if answer.cut() { "MAX_TOKENS" } else { "STOP" };
    let usage = answer.usage;
    json!({
        "candidates": [{"content": {"role": "model", "parts": parts}, "index": 0, "finishReason": finish}],
        "usageMetadata": {
            "promptTokenCount": usage.input, "candidatesTokenCount": usage.output,
            "totalTokenCount": usage.input + usage.output,
        },
        "modelVersion": answer.model,
    })
}
