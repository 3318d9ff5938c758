use serde_json::{Value, json};

use super::client::{start, stream, whole};

const STREAM: &str = "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse";
const WHOLE: &str = "/v1beta/models/gemini-2.5-pro:generateContent";

fn request(contents: &Value) -> Value {
    let tools = json!([{"functionDeclarations": [{"name": "write_todos"}, {"name": "mcp_punch_todo_write"}]}]);
    json!({"contents": contents, "systemInstruction": {"parts": [{"text": "system words"}]}, "tools": tools})
}

#[test]
fn streamed_or_whole_the_document_is_the_same() {
    let script = json!({"steps": [
        {"text": "Planning.", "tools": [{"name": "mcp:punch/todo_write", "input": {"ops": []}}]},
        {"text": "Done.", "news": ["wrote it"], "expect": ["system words"]},
    ]});
    let server = start(script);
    let go = json!({"role": "user", "parts": [{"text": "go"}]});
    let events = stream(&server, STREAM, &request(&json!([go])));
    assert_eq!(events.len(), 1);
    let content = &events[0].1["candidates"][0]["content"];
    let call = json!({"functionCall": {"id": "tx1x0", "name": "mcp_punch_todo_write", "args": {"ops": []}}});
    assert_eq!(content["parts"], json!([{"text": "Planning."}, call]));
    assert_eq!(events[0].1["modelVersion"], "gemini-2.5-pro");
    let response = json!({"functionResponse": {"name": "x", "response": {"output": "wrote it"}}});
    let second = whole(&server, WHOLE, &request(&json!([go, content, {"role": "user", "parts": [response]}])));
    assert_eq!(second["candidates"][0]["content"]["parts"], json!([{"text": "Done."}]));
    assert_eq!(second["candidates"][0]["finishReason"], "STOP");
    assert_eq!(server.report().verdict(), Ok(()));
}

#[test]
fn tokens_are_counted_on_request() {
    let server = start(json!({}));
    let count = whole(&server, "/v1beta/models/m:countTokens", &json!({"contents": [{"parts": [{"text": "1234"}]}]}));
    assert_eq!(count["totalTokens"], 2);
}
