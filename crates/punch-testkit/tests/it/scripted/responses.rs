use serde_json::{Value, json};

use super::client::{start, stream, whole};

fn script() -> Value {
    json!({"steps": [
        {"text": "Planning.", "tools": [
            {"name": "mcp:punch/todo_write", "input": {"ops": []}},
            {"name": "apply_patch", "input": {"input": "*** Begin"}},
        ]},
        {"text": "cut off", "stop": "max_tokens", "news": ["wrote it"], "expect": ["system words"]},
    ]})
}

fn request(input: &Value, streaming: bool) -> Value {
    let inner = json!([{"type": "function", "name": "todo_write"}]);
    let tools = json!([{"type": "namespace", "name": "mcp__punch", "tools": inner},
        {"type": "custom", "name": "apply_patch"}, {"type": "web_search"}]);
    json!({"model": "m", "instructions": "system words", "input": input, "tools": tools, "stream": streaming})
}

#[test]
fn calls_go_back_into_their_namespace_and_free_text_stays_text() {
    let server = start(script());
    let events = stream(&server, "/v1/responses", &request(&json!([{"role": "user", "content": "go"}]), true));
    let names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    let item = ["response.output_item.added", "response.output_item.done"];
    let message = ["response.output_item.added", "response.output_text.delta", "response.output_item.done"];
    let expected = [&["response.created"][..], &message, &item, &item, &["response.completed"]].concat();
    assert_eq!(names, expected);
    assert!(events.iter().all(|(name, data)| data["type"] == name.as_str()));
    let call = &events[5].1["item"];
    assert_eq!((&call["name"], &call["namespace"]), (&json!("todo_write"), &json!("mcp__punch")));
    assert_eq!(call["arguments"], r#"{"ops":[]}"#);
    let patch = &events[7].1["item"];
    assert_eq!((&patch["type"], &patch["input"]), (&json!("custom_tool_call"), &json!("*** Begin")));
    assert_eq!(events[8].1["response"]["output"].as_array().map(Vec::len), Some(3));
}

#[test]
fn what_came_since_the_last_answer_is_news() {
    let server = start(script());
    whole(&server, "/v1/responses", &request(&json!("go"), false));
    let input = json!([{"role": "user", "content": "go"}, {"type": "function_call", "name": "todo_write"},
        {"type": "function_call_output", "call_id": "x", "output": "wrote it"}]);
    let second = whole(&server, "/v1/responses", &request(&input, false));
    assert_eq!(second["status"], "incomplete");
    assert_eq!(server.report().verdict(), Ok(()));
}
