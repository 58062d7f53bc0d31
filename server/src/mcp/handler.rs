//! The request handler. All sessions share its dispatcher; each has subscriptions of its own.

use std::future::ready;
use std::sync::Arc;
use std::time::Instant;

use memorist_engine::Engine;
use memorist_engine::types::Rights;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult, ContentBlock,
    GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, ResourceUpdatedNotificationParam, ServerCapabilities, ServerConfig, SubscribeRequestParams,
    SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, SubscriptionContext, SubscriptionSink};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;

use super::errors::{internal, protocol_error};
use super::metrics::Metrics;
use super::profiles::{Profile, SCOPES};
use super::resources::ResourceTarget;
use super::subscriptions::{self, Digests, Sink, SubscriptionSource, Subscriptions};
use super::watching::Watching;
use super::{completions, prompts, resources, tidy};
use crate::ops::Context;
use crate::serving::{Access, Changes, Dispatcher, wait_for_model, warm_up};
use crate::tools::ToolOutput;

/// The server's side of every session.
#[derive(Clone)]
pub struct Handler {
    dispatcher: Dispatcher,
    context: Arc<Context>,
    profile: &'static Profile,
    rights: Rights,
    watching: Arc<Watching>,
    metrics: Arc<Metrics>,
    changes: Changes,
    digests: Arc<Digests>,
    /// Subscriptions of the session, where there is one.
    subscriptions: Option<Arc<Subscriptions>>,
}

impl Handler {
    /// Answers with the engine of `dispatcher` and the tools of `profile`, as far as `rights` go. `watching` is to know of
    /// searches, and `metrics` counts.
    pub fn new(
        dispatcher: Dispatcher,
        context: Context,
        profile: &'static Profile,
        rights: Rights,
        watching: Arc<Watching>,
        metrics: Arc<Metrics>,
        changes: Changes,
    ) -> Self {
        let context = Arc::new(context);
        Handler {
            dispatcher,
            context,
            profile,
            rights,
            watching,
            metrics,
            changes,
            digests: Arc::default(),
            subscriptions: None,
        }
    }

    /// Answers one session, which can be sent notices.
    pub fn of_session(&self) -> Self {
        Handler { subscriptions: Some(Arc::default()), ..self.clone() }
    }

    /// The defaults of its calls.
    pub fn context(&self) -> Context {
        (*self.context).clone()
    }

    /// When its notices are due.
    pub fn changes(&self) -> Changes {
        self.changes.clone()
    }

    /// Says which projects a call may name, if a token has several and there are tools that take one.
    fn instructions(&self) -> String {
        let defaults = &self.context.defaults;
        let mut text = self.profile.instructions.to_owned();
        if let (Some(own), others @ [_, ..], true) =
            (defaults.project(), defaults.others(), self.profile.takes(SCOPES[0]))
        {
            let others: String = others.iter().map(|name| format!(", {name:?}")).collect();
            text += &format!(
                " There are memories of the projects {own:?}{others}: give each call its project; without one it is of {own:?}."
            );
        }
        text
    }

    fn source(&self) -> SubscriptionSource {
        let (dispatcher, context) = (self.dispatcher.clone(), self.context.clone());
        SubscriptionSource { dispatcher, context, changes: self.changes.clone(), digests: self.digests.clone() }
    }
}

impl Sink for Peer<RoleServer> {
    async fn updated(&self, uri: String) -> bool {
        self.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await.is_ok()
    }
}

impl Sink for SubscriptionSink {
    async fn updated(&self, uri: String) -> bool {
        self.notify_resource_updated(uri).await.is_ok()
    }
}

fn no_resource(uri: &str) -> ErrorData {
    ErrorData::resource_not_found(format!("no resource {uri}"), Some(json!({ "uri": uri })))
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_prompts()
            .enable_completions()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("memorist", env!("CARGO_PKG_VERSION")))
            .with_instructions(self.instructions())
    }

    async fn on_initialized(&self, _: NotificationContext<RoleServer>) {
        self.watching.greeted();
        if self.rights == Rights::Write {
            warm_up(&self.dispatcher);
        }
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.profile.tools.iter().map(|tool| tool.definition.clone()).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.profile.tool(name).map(|tool| tool.definition.clone())
    }

    /// Whatever the model can correct is a result with `isError` and an explanation: clients hide protocol errors.
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = self.profile.tool(&request.name) else {
            return Err(ErrorData::invalid_params(format!("unknown tool {:?}", request.name), None));
        };
        let arguments = request.arguments.unwrap_or_default();
        let access = (tool.access)(&arguments);
        if access == Access::Write && self.rights == Rights::Read {
            let why = format!("read-only token: {} requires write access; nothing was changed", request.name);
            self.metrics.failed("forbidden");
            return Ok(CallToolResult::error(vec![ContentBlock::text(why)]).into());
        }
        let began = Instant::now();
        let context = self.context.clone();
        if access == Access::Write {
            wait_for_model(&self.dispatcher).await;
        } else {
            self.watching.catch_up().await;
        }
        let answer = self.dispatcher.call(access, move |engine| (tool.run)(engine, &context, arguments)).await;
        if access == Access::Read {
            self.watching.searched();
        }
        self.metrics.called(&tool.definition.name, access, began.elapsed());
        match &answer {
            Ok(Ok(_)) => {}
            Ok(Err(_)) => self.metrics.failed("refused"),
            Err(unavailable) => self.metrics.failed(unavailable.name()),
        }
        let answer = answer.unwrap_or_else(|unavailable| Err(unavailable.message().to_owned()));
        Ok(match answer {
            Ok(ToolOutput { structured, words }) => {
                let mut result =
                    structured.map_or_else(|| CallToolResult::success(Vec::new()), CallToolResult::structured);
                if let Some(words) = words {
                    result.content = vec![ContentBlock::text(words)];
                }
                result.into()
            }
            Err(message) => CallToolResult::error(vec![ContentBlock::text(message)]).into(),
        })
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut all = prompts::all(self.profile);
        all.extend(tidy::is_of(self.profile).then(tidy::listed));
        Ok(ListPromptsResult::with_all_items(all))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name != tidy::NAME || !tidy::is_of(self.profile) {
            return prompts::get(self.profile, &request.name, request.arguments.as_ref()).map(Into::into);
        }
        let context = self.context.clone();
        match self.dispatcher.call(Access::Read, move |engine| tidy::get(engine, &context)).await {
            Ok(Ok(prompt)) => Ok(prompt.into()),
            Ok(Err(error)) => Err(protocol_error(&error)),
            Err(unavailable) => Err(internal(unavailable.message())),
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let (context, profile) = (self.context.clone(), self.profile);
        let complete = move |engine: &Engine| completions::complete(engine, &context, profile, &request);
        let completed = self.dispatcher.call(Access::Read, complete).await;
        completed.unwrap_or_else(|unavailable| Err(internal(unavailable.message()))).map(CompleteResult::new)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::all()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let (context, uri) = (self.context.clone(), request.uri.clone());
        let read = self.dispatcher.call(Access::Read, move |engine| resources::read(engine, &context, &uri)).await;
        let contents = match read {
            Ok(Ok(Some(contents))) => contents,
            Ok(Ok(None)) => return Err(no_resource(&request.uri)),
            Ok(Err(error)) => return Err(protocol_error(&error)),
            Err(unavailable) => return Err(internal(unavailable.message())),
        };
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    /// The subscriptions of a session, in the older era. One to a memory that there is not tells when there is.
    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let Some(subscriptions) = &self.subscriptions else {
            let why = "notices need a session, which is missing or has ended (for example after a restart of the \
                 server): initialize, and send the new id";
            return Err(ErrorData::invalid_request(why, None));
        };
        let named = ResourceTarget::by(&request.uri).ok_or_else(|| no_resource(&request.uri))?;
        let source = self.source();
        // First, so that no change between the two is missed.
        subscriptions.start(&source, context.peer);
        subscriptions.add(&source, vec![(request.uri, named)]).await
    }

    fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<(), ErrorData>> + Send + '_ {
        if let Some(subscriptions) = &self.subscriptions {
            subscriptions.remove(&request.uri);
        }
        ready(Ok(()))
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        if let Some(uris) = &mut accepted.resource_subscriptions {
            let mut digests = 0;
            uris.retain(|uri| {
                let Some(named) = ResourceTarget::by(uri).filter(|named| named.is_open_to(&self.context)) else {
                    return false;
                };
                digests += usize::from(!named.is_memory());
                named.is_memory() || digests <= subscriptions::MOST_DIGESTS
            });
            uris.truncate(subscriptions::MOST);
        }
        Some(accepted)
    }

    /// The subscriptions of a stream, in the newer era.
    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        // The client was told that it listens, and may count on it.
        let acknowledged = jiff::Timestamp::now().as_millisecond();
        let source = self.source();
        let changes = source.changes.subscribe();
        let stopping = source.changes.ended();
        let uris = context.accepted().resource_subscriptions.iter().flatten();
        let wanted = uris.filter_map(|uri| Some((uri.clone(), ResourceTarget::by(uri)?))).collect();
        let subscriptions = Arc::new(Subscriptions::default());
        subscriptions.add(&source, wanted).await?;
        for uri in subscriptions.changed_since(&source, acknowledged).await? {
            context.sink().updated(uri).await;
        }
        let notices = subscriptions::notify(Arc::downgrade(&subscriptions), source, changes, context.sink().clone());
        tokio::select! {
            () = context.cancelled() => {}
            () = stopping => {}
            () = notices => {}
        }
        Ok(())
    }
}
