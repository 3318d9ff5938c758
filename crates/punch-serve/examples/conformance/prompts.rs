//! The prompts that the suite asks for.

use rmcp::ErrorData;
use rmcp::model::{GetPromptRequestParams, GetPromptResponse, GetPromptResult};
use serde_json::{Value, json};

use crate::handler::{PNG, from_json};
use crate::inputs;

pub fn list() -> Value {
    let argument = |name: &str| json!({"name": name, "description": name, "required": true});
    json!([
        {"name": "test_simple_prompt", "description": "One text"},
        {"name": "test_prompt_with_arguments", "description": "Two arguments", "arguments": [argument("arg1"), argument("arg2")]},
        {"name": "test_prompt_with_embedded_resource", "description": "A resource", "arguments": [argument("resourceUri")]},
        {"name": "test_prompt_with_image", "description": "A picture"},
        {"name": "test_input_required_result_prompt", "description": "Asks back"},
    ])
}

pub fn get(request: GetPromptRequestParams) -> Result<GetPromptResponse, ErrorData> {
    let argument = |name: &str| request.arguments.as_ref().and_then(|map| map.get(name)).and_then(Value::as_str);
    let argument = |name: &str| argument(name).unwrap_or_default().to_owned();
    let text = |text: &str| json!({"type": "text", "text": text});
    let contents = match request.name.as_str() {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            vec![text(&format!("Prompt with arguments: arg1='{}', arg2='{}'", argument("arg1"), argument("arg2")))]
        }
        "test_prompt_with_embedded_resource" => {
            let inner = "Embedded resource content for testing.";
            let resource = json!({"uri": argument("resourceUri"), "mimeType": "text/plain", "text": inner});
            let resource = json!({"type": "resource", "resource": resource});
            vec![resource, text("Please process the embedded resource above.")]
        }
        "test_prompt_with_image" => {
            let image = json!({"type": "image", "data": PNG, "mimeType": "image/png"});
            vec![image, text("Please analyze the image above.")]
        }
        "test_input_required_result_prompt" => {
            match inputs::answered(request.input_responses.as_ref(), "user_context", "context") {
                Some(context) => vec![text(&format!("Use this context: {context}"))],
                None => {
                    let question = inputs::question("What context should the prompt use?", "context", "string");
                    return Ok(inputs::ask(json!({"user_context": question}), None)?.into());
                }
            }
        }
        _ => return Err(ErrorData::invalid_params("no such prompt", None)),
    };
    let messages: Vec<Value> =
        contents.into_iter().map(|content| json!({"role": "user", "content": content})).collect();
    let result: GetPromptResult = from_json(json!({"resultType": "complete", "messages": messages}))?;
    Ok(result.into())
}
