//! The tools that the suite asks for.

use std::time::Duration;

use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use crate::handler::{CHANGES, Changed, PNG, from_json};
use crate::inputs::{self, ask, question, roots, sampling};

const NAMES: &[&str] = &[
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_tool_with_logging",
    "test_error_handling",
    "test_tool_with_progress",
    "test_sampling",
    "test_elicitation",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_missing_capability",
    "test_streaming_elicitation",
    "test_logging_tool",
    "test_trigger_tool_change",
    "test_trigger_prompt_change",
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
];

pub fn list() -> Value {
    let tool = |name: &&str| {
        let properties = match *name {
            "test_sampling" => json!({"prompt": {"type": "string"}}),
            "test_elicitation" => json!({"message": {"type": "string"}}),
            _ => json!({}),
        };
        json!({"name": name, "description": name, "inputSchema": {"type": "object", "properties": properties}})
    };
    NAMES.iter().map(tool).collect()
}

pub async fn call(
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let argument = |name: &str| request.arguments.as_ref().and_then(|map| map.get(name)).and_then(Value::as_str);
    let image = json!({"type": "image", "data": PNG, "mimeType": "image/png"});
    let resource = |uri: &str, mime: &str, text: &str| json!({"type": "resource", "resource": {"uri": uri, "mimeType": mime, "text": text}});
    let content = match request.name.as_ref() {
        "test_simple_text" => json!([text("This is a simple text response for testing.")]),
        "test_image_content" => json!([image]),
        "test_audio_content" => {
            json!([{"type": "audio", "data": "UklGRiQAAABXQVZFZm10IBAAAAABAAEA", "mimeType": "audio/wav"}])
        }
        "test_embedded_resource" => {
            json!([resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")])
        }
        "test_multiple_content_types" => {
            let mixed = resource("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#);
            json!([text("Multiple content types test:"), image, mixed])
        }
        "test_error_handling" => {
            let result = json!({"resultType": "complete", "isError": true,
                "content": [text("This tool intentionally returns an error for testing")]});
            return Ok(from_json::<CallToolResult>(result)?.into());
        }
        "test_tool_with_logging" => {
            for line in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
                log(context, line).await?;
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            json!([text("Logged.")])
        }
        "test_tool_with_progress" => {
            for progress in [0.0, 50.0, 100.0] {
                if let Some(token) = context.meta.get_progress_token() {
                    let note = ProgressNotificationParam::new(token, progress).with_total(100.0);
                    context.peer.notify_progress(note).await.map_err(failed)?;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            json!([text("Progressed.")])
        }
        "test_sampling" => {
            let answer = request_client(context, sampling(argument("prompt").unwrap_or_default(), 100)).await?;
            let said = answer["content"]["text"].as_str().or(answer["content"][0]["text"].as_str());
            json!([text(&format!("LLM response: {}", said.unwrap_or_default()))])
        }
        "test_elicitation" => {
            let field = |about: &str| json!({"type": "string", "description": about});
            let fields = json!({"username": field("User's response"), "email": field("User's email address")});
            let schema = json!({"type": "object", "properties": fields, "required": ["username", "email"]});
            let answer = elicit(context, argument("message").unwrap_or_default(), schema).await?;
            json!([text(&format!("User response: action: {}, content: {}", answer["action"], answer["content"]))])
        }
        "test_elicitation_sep1034_defaults" => completed(&elicit(context, "Defaults", defaults()).await?),
        "test_elicitation_sep1330_enums" => completed(&elicit(context, "Choices", choices()).await?),
        "test_missing_capability" => {
            let has = context.client_capabilities().is_some_and(|client| client.sampling.is_some());
            if !has {
                let needed = from_json::<ClientCapabilities>(json!({"sampling": {}}))?;
                return Err(ErrorData::missing_required_client_capability(needed));
            }
            json!([text("The client can sample.")])
        }
        "test_streaming_elicitation" => {
            let question = question("Continue?", "ok", "boolean");
            return Ok(ask(json!({"confirm": question}), None)?.into());
        }
        "test_logging_tool" => {
            if context.meta.0.0.contains_key("io.modelcontextprotocol/logLevel") {
                log(context, "Asked to log").await?;
            }
            json!([text("Done.")])
        }
        "test_trigger_tool_change" => triggered(Changed::Tools),
        "test_trigger_prompt_change" => triggered(Changed::Prompts),
        name if name.starts_with("test_input_required_result_") => return required(name, &request, context),
        _ => return Err(ErrorData::invalid_params("no such tool", None)),
    };
    done(&content)
}

fn required(
    name: &str,
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let responses = request.input_responses.as_ref();
    let answered = |key: &str, field: &str| inputs::answered(responses, key, field);
    let has = |key: &str| responses.is_some_and(|map| map.contains_key(key));
    let round = inputs::open(request.request_state.as_deref())?;
    let name_question = || question("What is your name?", "name", "string");
    let confirm = || question("Please confirm", "ok", "boolean");
    let asked = match name.trim_start_matches("test_input_required_result_") {
        "elicitation" => match answered("user_name", "name") {
            Some(name) => return done(&json!([text(&format!("Hello, {name}!"))])),
            None => ask(json!({"user_name": name_question()}), None),
        },
        "sampling" if has("capital_question") => {
            let answer = responses.and_then(|map| map.get("capital_question")).cloned().unwrap_or_default();
            let said = answer["content"]["text"].as_str().or(answer["content"][0]["text"].as_str());
            return done(&json!([text(said.unwrap_or("no text"))]));
        }
        "sampling" => ask(json!({"capital_question": sampling("What is the capital of France?", 100)}), None),
        "list_roots" if has("client_roots") => {
            let found = responses.and_then(|map| map.get("client_roots")).cloned().unwrap_or_default();
            return done(&json!([text(&format!("Roots: {}", found["roots"]))]));
        }
        "list_roots" => ask(json!({"client_roots": roots()}), None),
        "request_state" | "tampered_state" => match (round, answered("confirm", "ok")) {
            (Some(_), Some(_)) => return done(&json!([text("state-ok")])),
            _ => ask(json!({"confirm": confirm()}), Some(inputs::seal("one"))),
        },
        "multiple_inputs" if round.is_some() && has("user_name") && has("greeting") && has("client_roots") => {
            return done(&json!([text("All answered.")]));
        }
        "multiple_inputs" => {
            let all = json!({"user_name": name_question(), "greeting": sampling("Generate a greeting", 50), "client_roots": roots()});
            ask(all, Some(inputs::seal("one")))
        }
        "multi_round" => match (round, answered("step1", "name"), answered("step2", "color")) {
            (Some("two"), _, Some(color)) => return done(&json!([text(&format!("Your color is {color}."))])),
            (Some("one"), Some(_), _) => {
                let next = question("Step 2: What is your favorite color?", "color", "string");
                ask(json!({"step2": next}), Some(inputs::seal("two")))
            }
            _ => ask(
                json!({"step1": question("Step 1: What is your name?", "name", "string")}),
                Some(inputs::seal("one")),
            ),
        },
        "capabilities" => {
            let client = context.client_capabilities().unwrap_or_default();
            let mut all = json!({});
            if client.sampling.is_some() {
                all["greeting"] = sampling("Generate a greeting", 50);
            }
            if client.elicitation.is_some() {
                all["user_name"] = name_question();
            }
            if client.roots.is_some() {
                all["client_roots"] = roots();
            }
            ask(all, None)
        }
        _ => return Err(ErrorData::invalid_params("no such tool", None)),
    };
    Ok(asked?.into())
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn done(content: &Value) -> Result<CallToolResponse, ErrorData> {
    Ok(from_json::<CallToolResult>(json!({"resultType": "complete", "content": content}))?.into())
}

fn completed(answer: &Value) -> Value {
    let action = answer["action"].as_str().unwrap_or_default();
    json!([text(&format!("Elicitation completed: action={action}, content={}", answer["content"]))])
}

fn triggered(changed: Changed) -> Value {
    let listeners = CHANGES.send(changed).unwrap_or_default();
    json!([text(&format!("Told {listeners} listeners."))])
}

fn failed(error: rmcp::ServiceError) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

#[expect(deprecated, reason = "revisions before 2026-07-28 have log messages")]
async fn log(context: &RequestContext<RoleServer>, line: &str) -> Result<(), ErrorData> {
    let note = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(line));
    context.peer.notify_logging_message(note).await.map_err(failed)
}

async fn elicit(context: &RequestContext<RoleServer>, message: &str, schema: Value) -> Result<Value, ErrorData> {
    let params = json!({"mode": "form", "message": message, "requestedSchema": schema});
    request_client(context, json!({"method": "elicitation/create", "params": params})).await
}

async fn request_client(context: &RequestContext<RoleServer>, request: Value) -> Result<Value, ErrorData> {
    let answer = context.peer.send_request(from_json(request)?).await.map_err(failed)?;
    serde_json::to_value(answer).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

fn defaults() -> Value {
    json!({"type": "object", "required": [], "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": true},
    }})
}

fn choices() -> Value {
    let titled = |kind: &str| {
        json!([{"const": "value1", "title": format!("First {kind}")}, {"const": "value2", "title": format!("Second {kind}")},
            {"const": "value3", "title": format!("Third {kind}")}])
    };
    let options = json!(["option1", "option2", "option3"]);
    json!({"type": "object", "required": [], "properties": {
        "untitledSingle": {"type": "string", "enum": options},
        "titledSingle": {"type": "string", "oneOf": titled("Option")},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled("Choice")}},
    }})
}
