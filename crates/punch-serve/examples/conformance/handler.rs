//! What the suite asks of a server besides tools and prompts.

use std::sync::LazyLock;

use rmcp::model::*;
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::sync::broadcast;

use crate::{prompts, tools};

/// A picture of one red dot.
pub const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// A list that is said to have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    Tools,
    Prompts,
}

/// Everybody who listens, over all connections: in the stateless revision each request has its own.
pub static CHANGES: LazyLock<broadcast::Sender<Changed>> = LazyLock::new(|| broadcast::channel(16).0);

#[derive(Default)]
pub struct Fixture;

/// Reads a value of the protocol from JSON, which is how the suite describes it.
pub fn from_json<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

#[expect(deprecated, reason = "revisions before 2026-07-28 have these methods")]
impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_logging()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("punch-conformance", "0"))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        from_json(json!({"resultType": "complete", "tools": tools::list()}))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        tools::call(request, &context).await
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        from_json(json!({"resultType": "complete", "prompts": prompts::list()}))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(request)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        from_json(json!({"resultType": "complete", "resources": [
            {"uri": "test://static-text", "name": "text", "description": "A text", "mimeType": "text/plain"},
            {"uri": "test://static-binary", "name": "binary", "description": "A picture", "mimeType": "image/png"},
            {"uri": "test://watched-resource", "name": "watched", "description": "To subscribe to", "mimeType": "text/plain"},
        ]}))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = json!({
            "uriTemplate": "test://template/{id}/data",
            "name": "template",
            "description": "Data by id",
            "mimeType": "application/json",
        });
        from_json(json!({"resultType": "complete", "resourceTemplates": [template]}))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
        let content = match (uri.as_str(), id) {
            ("test://static-text", _) => {
                json!({"mimeType": "text/plain", "text": "This is the content of the static text resource."})
            }
            ("test://static-binary", _) => json!({"mimeType": "image/png", "blob": PNG}),
            ("test://watched-resource", _) => json!({"mimeType": "text/plain", "text": "Watched."}),
            (_, Some(id)) => {
                let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
                json!({"mimeType": "application/json", "text": data.to_string()})
            }
            (_, None) => return Err(ErrorData::resource_not_found("no such resource", Some(json!({"uri": uri})))),
        };
        let mut content = content;
        content["uri"] = json!(uri);
        let result: ReadResourceResult = from_json(json!({"resultType": "complete", "contents": [content]}))?;
        Ok(result.into())
    }

    async fn subscribe(&self, _: SubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn set_level(&self, _: SetLevelRequestParams, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        let stateless = context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        if stateless { Err(ErrorData::method_not_found::<SetLevelRequestMethod>()) } else { Ok(()) }
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        from_json(
            json!({"resultType": "complete", "completion": {"values": ["paris", "park"], "total": 2, "hasMore": false}}),
        )
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = CHANGES.subscribe();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                change = changes.recv() => {
                    // What was not asked for is refused by the sink.
                    let _ = match change {
                        Ok(Changed::Tools) => context.sink().notify_tool_list_changed().await,
                        Ok(Changed::Prompts) => context.sink().notify_prompt_list_changed().await,
                        Err(_) => return Ok(()),
                    };
                }
            }
        }
    }
}
