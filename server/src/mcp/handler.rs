//! Answers requests. One per process: every session shares its door.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, GetPromptRequestParams, GetPromptResponse,
    Implementation, ListPromptsResult, ListResourceTemplatesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;

use super::door::Door;
use super::profiles::{Answer, Profile};
use super::{prompts, resources};
use crate::ops::{self, Context};
use crate::wire::{GetParams, Int};

/// The server's side of every session.
#[derive(Clone)]
pub struct Handler {
    door: Door,
    context: Arc<Context>,
    profile: &'static Profile,
}

impl Handler {
    /// Answers from the engine behind `door`, by the tools of `profile`.
    pub fn new(door: Door, context: Context, profile: &'static Profile) -> Self {
        Handler { door, context: Arc::new(context), profile }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("memorist", env!("CARGO_PKG_VERSION")))
            .with_instructions(self.profile.instructions)
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

    /// Whatever the model can mend is a result with `isError` that says what is wrong: clients hide protocol errors.
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = self.profile.tool(&request.name) else {
            return Err(ErrorData::invalid_params(format!("unknown tool {:?}", request.name), None));
        };
        let context = self.context.clone();
        let arguments = request.arguments.unwrap_or_default();
        let answer = self.door.call(move |engine| (tool.run)(engine, &context, arguments)).await;
        let answer = answer.unwrap_or_else(|unavailable| Err(unavailable.message().to_owned()));
        Ok(match answer {
            Ok(Answer { structured, words }) => {
                let mut result = CallToolResult::structured(structured);
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
        Ok(ListPromptsResult::with_all_items(prompts::all()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(self.profile, &request.name, request.arguments.as_ref()).map(Into::into)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(vec![resources::template()]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let unknown = || ErrorData::resource_not_found(format!("no resource {uri}"), Some(json!({ "uri": uri })));
        let id = resources::id(&uri).ok_or_else(unknown)?;
        let (context, wanted) = (self.context.clone(), GetParams { id: Int(id), ..GetParams::default() });
        let answer = self.door.call(move |engine| ops::get(engine, &context, &wanted)).await;
        let internal = |message: String| ErrorData::internal_error(message, None);
        let result = answer.map_err(|unavailable| internal(unavailable.message().to_owned()))?;
        let entry = result.map_err(|error| internal(error.to_string()))?.entry.ok_or_else(unknown)?;
        let text = serde_json::to_string(&entry).map_err(|error| internal(error.to_string()))?;
        let contents = ResourceContents::text(text, &uri).with_mime_type(resources::MEDIA_TYPE);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}
