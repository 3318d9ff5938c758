//! The protocol's side of a server: what it can do, its tools, resources and prompt.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::request::Parts;
use punch_core::view::Plain;
use punch_engine::Proofs;
use punch_engine::call::{CallResult, ToolAnswer, budget};
use punch_store::SessionKey;
use rmcp::model::*;
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::identity::{CallerIdentity, ConversationTag, TokenName};
use crate::service::{CheckResult, PlanResource, ToolRequest, ToolService};
use crate::service_thread::ServiceThread;
use crate::watch::SubscriptionWatch;
use crate::{OfferedTool, ServeLog, ServeProblem, ToolOffers, checks, guide, resources};

/// The time after which a caller who asked for progress is informed that its call still waits.
const PATIENCE: Duration = Duration::from_secs(1);

/// How a server presents itself.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// The tools.
    pub offer: ToolOffers,
    /// Send structured content beside the text.
    pub structured: bool,
    /// What is known about callers.
    pub identity: CallerIdentity,
    /// Tells our own conversations apart.
    pub tag: ConversationTag,
}

/// Serves one connection; [`Server::connection`] makes servers for others over the same tool service.
pub struct Server {
    settings: Arc<ServerSettings>,
    service: ServiceThread,
    watch: SubscriptionWatch,
    /// The conversation of this connection, where no host names one.
    own: SessionKey,
    subscriptions: Mutex<HashMap<String, CancellationToken>>,
}

impl Server {
    /// Starts the thread of the tool service.
    pub fn start(settings: ServerSettings, service: Arc<dyn ToolService>, log: ServeLog) -> std::io::Result<Self> {
        let service = ServiceThread::start(service, log)?;
        let (watch, own) = (SubscriptionWatch::new(service.clone()), settings.tag.connection());
        Ok(Self { settings: Arc::new(settings), service, watch, own, subscriptions: Mutex::default() })
    }

    /// Returns this server without the tools that change the plan.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        Arc::make_mut(&mut self.settings).offer.tools.retain(reads);
        self
    }

    /// A server for one more connection.
    pub fn connection(&self) -> Self {
        Self {
            settings: self.settings.clone(),
            service: self.service.clone(),
            watch: self.watch.clone(),
            own: self.settings.tag.connection(),
            subscriptions: Mutex::default(),
        }
    }

    fn tool_request(
        &self,
        tool: &OfferedTool,
        mut arguments: Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> ToolRequest {
        let who = self.settings.identity.who(&mut arguments, &context.meta.0.0);
        let arguments = Value::Object(arguments);
        // Without a separate connection, a request belongs to the process.
        let own = || match context.peer.peer_info() {
            Some(_) => self.own.clone(),
            None => self.settings.tag.own(),
        };
        let (session, server) = match who.session {
            Some(session) => (session, None),
            None => {
                let own = own();
                (who.started_for.unwrap_or_else(|| own.clone()), Some(own))
            }
        };
        let token = context.extensions.get::<Parts>().and_then(|head| head.extensions.get::<TokenName>());
        let client = || context.client_info().map(|client| punch_core::text::clip(&client.name, 40).into_owned());
        let by = token.map(|token| token.0.clone()).or_else(client);
        ToolRequest {
            dialect: self.settings.offer.dialect,
            tool: tool.tool,
            arguments,
            session,
            by: by.filter(|by| !by.trim().is_empty()).unwrap_or_else(|| "mcp".into()),
            server,
            plan: who.plan,
            id: who.call,
            structured: self.settings.structured,
            proofs: Proofs::default(),
        }
    }

    /// Runs a call; if it waits for a check, runs the check and then the call again.
    async fn answer(
        &self,
        request: ToolRequest,
        context: &RequestContext<RoleServer>,
    ) -> Result<ToolAnswer, ServeProblem> {
        let (mut request, until) = (Arc::new(request), Instant::now() + checks::LIMIT);
        loop {
            let light = request.is_light();
            let sent = request.clone();
            let call = move |service: &dyn ToolService| service.call(&sent);
            let called = match if light { self.service.at_once(call) } else { Err(call) } {
                Ok(answer) => answer?,
                Err(call) => {
                    let job = self.service.run(context.ct.clone(), call);
                    patiently(job, context, "waiting for the store").await?
                }
            };
            let id = match called {
                CallResult::Answered(answer) => return Ok(answer),
                CallResult::Wants(id) => id,
            };
            let check = checks::make(self.service.service(), &request, &id, until, &context.ct);
            match patiently(check, context, &format!("checking {}", punch_core::text::clip(&id, 80))).await? {
                CheckResult::Passed(proof) => Arc::make_mut(&mut request).proofs.push(*proof),
                CheckResult::Answered(answer) => return Ok(answer),
            }
        }
    }

    fn result(&self, answer: Result<ToolAnswer, ServeProblem>) -> CallToolResult {
        let (text, structured, is_error) = match answer {
            Ok(answer) => (budget::text(&answer.text, Some(answer.revision)), answer.structured, answer.is_error),
            // A call that was not answered has no receipt.
            Err(problem) => {
                let ServeProblem { code, message, hint } = &problem;
                let structured = json!({"error": {"code": code, "message": message, "hint": hint}});
                (budget::text(&problem.text(), None), structured, true)
            }
        };
        let mut result = CallToolResult::success(vec![ContentBlock::text(text.clone())]);
        result.is_error = is_error.then_some(true);
        if self.settings.structured {
            result.structured_content = Some(budget::structured(structured, &text));
        }
        result
    }

    fn unknown_tool(&self, name: &str) -> ErrorData {
        let known: Vec<&str> = self.settings.offer.tools.iter().map(|tool| tool.name.as_str()).collect();
        let name = Plain::clipped(name, 80);
        let text = match known.is_empty() {
            true => format!("no tool `{name}`: tools are switched off here"),
            false => format!("no tool `{name}`; available: {}", known.join(", ")),
        };
        ErrorData::invalid_params(text, None)
    }

    fn unknown_resource(uri: &str) -> ErrorData {
        let uri = Plain::clipped(uri, 200);
        let text = format!("no resource `{uri}`; available: punch://plan and punch://todo/ID");
        ErrorData::resource_not_found(text, Some(json!({"uri": uri})))
    }

    async fn reading(&self, reading: PlanResource, end: CancellationToken) -> Result<Option<String>, ErrorData> {
        let text = self.service.run(end, move |service| service.read(&reading)).await;
        // A model reads it: no todo may end the part of its context.
        let framed = |text: String| punch_core::text::without_tags(&text).into_owned();
        text.map(|text| text.map(framed))
            .map_err(|problem| ErrorData::internal_error(problem.text(), Some(json!({"code": problem.code}))))
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let about = Implementation::new("punch", env!("CARGO_PKG_VERSION"));
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .build();
        let config = ServerConfig::new(capabilities).with_server_info(about);
        let config = config.with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE);
        // The instructions say how to keep the plan up to date.
        match self.settings.offer.tools.iter().all(reads) {
            true => config,
            false => config.with_instructions(guide::instructions(self.settings.offer.dialect)),
        }
    }

    /// Stores the version that was agreed on rather than the one that was asked for, so that a second handshake on a
    /// connection does not change the protocol.
    async fn initialize(
        &self,
        mut request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let agreed = self.negotiate_initialize(&request)?;
        request.protocol_version = agreed.protocol_version.clone();
        context.peer.set_peer_info(request);
        Ok(agreed)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        const SUPPORTED: &[ProtocolVersion] =
            &[ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28];
        Cow::Borrowed(SUPPORTED)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.settings.offer.tools.iter().map(listed).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = self.settings.offer.find(&request.name) else {
            return Err(self.unknown_tool(&request.name));
        };
        let call = self.tool_request(tool, request.arguments.unwrap_or_default(), &context);
        let answer = self.answer(call, &context).await;
        Ok(self.result(answer).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(resources::list())
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let Some(reading) = resources::parse(&uri) else { return Err(Self::unknown_resource(&uri)) };
        let mime = resources::mime(&reading);
        match self.reading(reading, context.ct).await? {
            Some(text) => {
                Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(mime)]).into())
            }
            None => Err(Self::unknown_resource(&uri)),
        }
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let uri = request.uri;
        let Some(reading) = resources::parse(&uri) else { return Err(Self::unknown_resource(&uri)) };
        let end = CancellationToken::new();
        let before = self.subscriptions().insert(uri.clone(), end.clone());
        if let Some(before) = before {
            before.cancel();
        }
        let (watch, peer) = (self.watch.clone(), context.peer);
        tokio::spawn(async move {
            let tell = |_| {
                let (peer, note) = (peer.clone(), ResourceUpdatedNotificationParam::new(uri.clone()));
                async move { peer.notify_resource_updated(note).await.is_ok() }
            };
            watch.follow(vec![reading], end, tell).await;
        });
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if let Some(end) = self.subscriptions().remove(&request.uri) {
            end.cancel();
        }
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let uris = requested.resource_subscriptions.iter().flatten();
        let known: Vec<String> = uris.filter(|uri| resources::parse(uri).is_some()).cloned().collect();
        let mut accepted = SubscriptionFilter::new();
        accepted.resource_subscriptions = (!known.is_empty()).then_some(known);
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let uris = context.accepted().resource_subscriptions.clone().unwrap_or_default();
        let readings: Vec<PlanResource> = uris.iter().filter_map(|uri| resources::parse(uri)).collect();
        let end = context.request_context().ct.clone();
        let tell = |n: usize| {
            let (sink, uri) = (context.sink().clone(), uris.get(n).cloned().unwrap_or_default());
            async move { sink.notify_resource_updated(uri).await.is_ok() }
        };
        tokio::select! {
            () = self.watch.follow(readings, end, tell) => {}
            () = context.cancelled() => {}
        }
        Ok(())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(vec![Prompt::new(guide::CONTINUE, Some(guide::CONTINUE_ABOUT), None)]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name != guide::CONTINUE {
            let name = Plain::clipped(&request.name, 80);
            return Err(ErrorData::invalid_params(format!("no prompt `{name}`; available: continue"), None));
        }
        let plan = self.reading(PlanResource::Plan, context.ct).await?.unwrap_or_default();
        let message = PromptMessage::new_text(Role::User, guide::continue_with(&plan));
        Ok(GetPromptResult::new(vec![message]).with_description(guide::CONTINUE_ABOUT).into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = Plain::clipped(&request.method, 80);
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("no method `{method}`"), None))
    }
}

impl Server {
    fn subscriptions(&self) -> std::sync::MutexGuard<'_, HashMap<String, CancellationToken>> {
        self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.subscriptions().values().for_each(CancellationToken::cancel);
    }
}

/// Waits for a job, and sends progress notifications to clients that asked for them.
async fn patiently<T>(
    job: impl Future<Output = Result<T, ServeProblem>>,
    context: &RequestContext<RoleServer>,
    message: &str,
) -> Result<T, ServeProblem> {
    tokio::pin!(job);
    let mut waited = 0.0;
    loop {
        tokio::select! {
            biased;
            answer = &mut job => return answer,
            () = context.ct.cancelled() => {
                return Err(ServeProblem::new("cancelled", "the call was cancelled", "call the tool again if you still need it"));
            }
            () = tokio::time::sleep(PATIENCE) => {
                waited += PATIENCE.as_secs_f64();
                if let Some(token) = context.meta.get_progress_token() {
                    let note = ProgressNotificationParam::new(token, waited).with_message(message);
                    let _ = context.peer.notify_progress(note).await;
                }
            }
        }
    }
}

/// Returns true if a tool changes nothing.
fn reads(tool: &OfferedTool) -> bool {
    tool.tool == punch_engine::call::Tool::Read
}

/// A tool as the protocol lists it. Clients that load tools only when they are searched for load these at once.
fn listed(tool: &OfferedTool) -> Tool {
    let mut out = Tool::new(tool.name.clone(), tool.description.clone(), tool.input_schema.clone());
    out.annotations = Some(ToolAnnotations::new().read_only(reads(tool)).destructive(false).open_world(false));
    let meta = Map::from_iter([("anthropic/alwaysLoad".to_owned(), Value::Bool(true))]);
    out.meta = Some(MetaObject(meta));
    out
}
