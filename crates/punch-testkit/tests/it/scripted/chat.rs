use serde_json::{Value, json};

use super::client::{start, stream, whole};

fn script() -> Value {
    json!({"steps": [
        {"text": "Planning.", "tools": [{"name": "mcp:punch/todo_write", "input": {"ops": []}}]},
        {"text": "Done.", "news": ["wrote it"]},
    ]})
}

fn request(messages: &Value, streaming: bool) -> Value {
    // A client's own tool of the same name must not be mistaken for the server's.
    let tools = json!([{"type": "function", "function": {"name": "todo_write"}},
        {"type": "function", "function": {"name": "punch_todo_write"}}]);
    json!({"model": "m", "messages": messages, "tools": tools, "stream": streaming})
}

#[test]
fn a_stream_ends_with_the_reason_the_usage_and_a_farewell() {
    let server = start(script());
    let events = stream(&server, "/v1/chat/completions", &request(&json!([{"role": "user", "content": "go"}]), true));
    let data: Vec<&Value> = events.iter().map(|(_, data)| data).collect();
    assert_eq!(data[0]["choices"][0]["delta"]["content"], "Planning.");
    let call = &data[1]["choices"][0]["delta"]["tool_calls"][0];
    let function = json!({"name": "punch_todo_write", "arguments": r#"{"ops":[]}"#});
    assert_eq!(call, &json!({"id": "call_tx1x0", "type": "function", "function": function, "index": 0}));
    assert_eq!(data[2]["choices"][0]["finish_reason"], "tool_calls");
    assert_eq!(data[3]["choices"], json!([]));
    assert!(data[3]["usage"]["total_tokens"].is_u64());
    assert_eq!(data[4], "DONE");
    assert_eq!(data.len(), 5);
}

#[test]
fn a_document_has_the_whole_message() {
    let server = start(script());
    let go = json!({"role": "user", "content": "go"});
    let first = whole(&server, "/v1/chat/completions", &request(&json!([go]), false));
    let message = &first["choices"][0]["message"];
    assert_eq!(message["tool_calls"][0]["function"]["name"], "punch_todo_write");
    let result = json!({"role": "tool", "tool_call_id": "x", "content": "wrote it"});
    let second = whole(&server, "/v1/chat/completions", &request(&json!([go, message, result]), false));
    assert_eq!(second["choices"][0]["message"], json!({"role": "assistant", "content": "Done."}));
    assert_eq!(second["choices"][0]["finish_reason"], "stop");
    assert_eq!(server.report().verdict(), Ok(()));
}
