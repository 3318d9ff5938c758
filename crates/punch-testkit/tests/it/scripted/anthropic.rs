use serde_json::{Value, json};

use super::client::{start, stream, whole};

fn script() -> Value {
    json!({"steps": [
        {"text": "Planning.", "thinking": "hm", "tools": [{"name": "mcp:punch/todo_write", "input": {"ops": []}}]},
        {"text": "Done.", "news": ["wrote it"], "expect": ["system words"], "tokens": 700},
    ]})
}

fn request(messages: &Value, streaming: bool) -> Value {
    let tools = json!([{"name": "Bash"}, {"name": "mcp__punch__todo_write"}]);
    json!({"model": "m", "system": "system words", "messages": messages, "tools": tools, "stream": streaming})
}

#[test]
fn a_stream_has_blocks_with_deltas_and_ends_with_the_reason() {
    let server = start(script());
    let events = stream(&server, "/v1/messages", &request(&json!([{"role": "user", "content": "go"}]), true));
    let names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    let block = ["content_block_start", "content_block_delta", "content_block_stop"];
    let thought = ["content_block_start", "content_block_delta", "content_block_delta", "content_block_stop"];
    let expected = [&["message_start"][..], &thought, &block, &block, &["message_delta", "message_stop"]].concat();
    assert_eq!(names, expected);
    assert!(events.iter().all(|(name, data)| data["type"] == name.as_str()));
    assert_eq!(events[6].1["delta"]["text"], "Planning.");
    let call = &events[8].1["content_block"];
    assert_eq!(call, &json!({"type": "tool_use", "id": "toolu_tx1x0", "name": "mcp__punch__todo_write", "input": {}}));
    assert_eq!(events[9].1["delta"]["partial_json"], r#"{"ops":[]}"#);
    assert_eq!(events[11].1["delta"]["stop_reason"], "tool_use");
}

#[test]
fn a_document_has_the_same_blocks() {
    let server = start(script());
    let go = json!({"role": "user", "content": "go"});
    let first = whole(&server, "/v1/messages", &request(&json!([go]), false));
    assert_eq!(first["content"][2]["input"], json!({"ops": []}));
    let result =
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": "wrote it"}]});
    let messages = json!([go, {"role": "assistant", "content": first["content"]}, result]);
    let second = whole(&server, "/v1/messages", &request(&messages, false));
    assert_eq!(second["content"], json!([{"type": "text", "text": "Done."}]));
    assert_eq!(second["stop_reason"], "end_turn");
    assert_eq!(second["usage"]["input_tokens"], 700);
    assert_eq!(server.report().verdict(), Ok(()));
}

#[test]
fn tokens_are_counted_on_request() {
    let server = start(script());
    let count = whole(&server, "/v1/messages/count_tokens", &json!({"messages": [{"content": "12345678"}]}));
    assert_eq!(count["input_tokens"], 3);
}
