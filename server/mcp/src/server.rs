use std::{fmt, sync::Arc, time::Duration};

use polymnemo_memory::{Ctx, MemoryService};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
        ContentBlock, CustomRequest, CustomResult, DiscoverResult, ErrorCode, Implementation, InitializeRequestParams,
        InitializeResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, MetaObject,
        PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
        ServerConfig, Tool as ToolDefinition,
    },
    service::RequestContext,
};

use crate::{
    Caller, Toolset,
    answer::Form,
    completion,
    guard::{self, Ended},
    instructions::INSTRUCTIONS,
    params, resources,
    tools::ToolEntry,
};

/// How long a client may keep what is the same for every request: tools, templates, instructions.
const STABLE_TTL_MS: u64 = 300_000;

/// The key of the server's name in the `_meta` of a result (revision 2026-07-28).
const SERVER_INFO_KEY: &str = "io.modelcontextprotocol/serverInfo";

/// The MCP handler over the memory service. Cheap to clone, and without state between requests.
#[derive(Clone)]
pub struct McpServer(Arc<Shared>);

struct Shared {
    service: MemoryService,
    caller: Caller,
    tools: Vec<ToolEntry>,
    time_limit: Duration,
}

impl McpServer {
    /// A server that shows these tools to whoever [`Caller`] says is asking.
    #[must_use]
    pub fn new(service: MemoryService, caller: Caller, toolset: Toolset) -> Self {
        Self(Arc::new(Shared { service, caller, tools: toolset.tools(), time_limit: guard::TIME_LIMIT }))
    }

    fn tool(&self, name: &str) -> Option<&ToolEntry> {
        self.0.tools.iter().find(|tool| tool.is_called(name))
    }

    /// Who sent this request; their client counts as seen.
    fn caller(&self, context: &RequestContext<RoleServer>) -> Result<Ctx, ErrorData> {
        let ctx = self.0.caller.of(context)?;
        self.0.service.record_seen(&ctx);
        Ok(ctx)
    }

    fn unknown_tool(&self, name: &str) -> ErrorData {
        let shown: String = name.chars().take(60).collect();
        let names: Vec<&str> = self.0.tools.iter().map(|tool| tool.definition.name).collect();
        ErrorData::invalid_params(format!("unknown tool `{shown}`; the tools are {}", names.join(", ")), None)
    }

    /// Runs a request that is not a tool call: what ends it early is a protocol error.
    async fn guarded<T>(
        &self,
        context: &RequestContext<RoleServer>,
        work: impl Future<Output = Result<T, ErrorData>>,
    ) -> Result<T, ErrorData> {
        let ended = guard::run(self.0.time_limit, &context.ct, work).await;
        ended.unwrap_or_else(|ended| Err(ErrorData::internal_error(ended.to_string(), None)))
    }

    async fn run_tool(
        &self,
        tool: &ToolEntry,
        ctx: &Ctx,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let started = std::time::Instant::now();
        let form = Form::of(context);
        let call = tool.call(&self.0.service, ctx, request.arguments.unwrap_or_default(), form);
        let result = match guard::run(self.0.time_limit, &context.ct, call).await {
            Ok(Ok(result)) => result,
            Ok(Err(error)) => {
                tracing::error!(mcp.tool = tool.definition.name, %error, "an answer can't be written as JSON");
                failed(&Ended::Panicked, tool)
            }
            Err(ended) => failed(&ended, tool),
        };
        tracing::info!(
            mcp.tool = tool.definition.name,
            mcp.failed = result.is_error == Some(true),
            mcp.took_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            user.id = %ctx.user.id,
            client.name = ctx.client.as_deref(),
            "a tool was called"
        );
        result
    }
}

/// The result of a call that was ended before it had an answer.
fn failed(ended: &Ended, tool: &ToolEntry) -> CallToolResult {
    let name = tool.definition.name;
    let limit = guard::TIME_LIMIT.as_secs();
    let text = match ended {
        Ended::TimedOut => {
            format!("{name} took longer than {limit} seconds and was stopped. {}", tool.definition.when_timed_out)
        }
        Ended::Cancelled => format!("{name} was cancelled. {}", tool.definition.when_timed_out),
        Ended::Panicked => format!(
            "{name} failed inside the server; its log tells more. Trying once more does no harm; if it fails again, \
             tell the user."
        ),
    };
    CallToolResult::error(vec![ContentBlock::text(text)])
}

/// What this server is called.
fn implementation() -> Implementation {
    Implementation::new("polymnemo", env!("CARGO_PKG_VERSION"))
        .with_title("Polymnemo")
        .with_description("One long-term memory that a person owns and every AI client shares")
}

/// The `_meta` of a result: the server's name, for clients of a revision that has no handshake to
/// learn it from.
fn meta(context: &RequestContext<RoleServer>) -> Option<MetaObject> {
    let revision = context.protocol_version()?;
    if revision.as_str() < ProtocolVersion::V_2026_07_28.as_str() {
        return None;
    }
    let mut meta = MetaObject::default();
    meta.insert(SERVER_INFO_KEY.to_owned(), serde_json::to_value(implementation()).ok()?);
    Some(meta)
}

/// This server's lists that are never longer than a page have no cursors to give back.
fn refuse_cursor(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor) {
        Some(_) => Err(ErrorData::invalid_params("the cursor is not from this list, which has a single page", None)),
        None => Ok(()),
    }
}

impl fmt::Debug for McpServer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("McpServer").field("tools", &self.0.tools.len()).finish_non_exhaustive()
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().enable_completions().build();
        ServerConfig::new(capabilities).with_server_info(implementation()).with_instructions(INSTRUCTIONS)
    }

    /// Where the protocol has a handshake, it is the only request that tells the client's name.
    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let ctx = self.0.caller.of(&context)?;
        self.0.service.record_seen(&Ctx { client: Some(request.client_info.name.clone()), ..ctx });
        self.negotiate_initialize(&request)
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info())
            .with_ttl_ms(STABLE_TTL_MS)
            .with_cache_scope(CacheScope::Private))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        refuse_cursor(request)?;
        let form = Form::of(&context);
        let tools = self.0.tools.iter().map(|tool| tool.published(form)).collect();
        let mut result =
            ListToolsResult::with_all_items(tools).with_ttl_ms(STABLE_TTL_MS).with_cache_scope(CacheScope::Private);
        result.meta = meta(&context);
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<ToolDefinition> {
        self.tool(name).map(|tool| tool.published(Form::Structured))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = self.tool(&request.name).ok_or_else(|| self.unknown_tool(&request.name))?;
        let ctx = self.caller(&context)?;
        let result = self.run_tool(tool, &ctx, request, &context).await;
        Ok(result.with_meta(meta(&context)).into())
    }

    /// What the protocol library does not know comes here, and so do requests that it does know, but whose parameters it
    /// can't read.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(params::problem(&request)
            .unwrap_or_else(|| ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method.clone(), None)))
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let ctx = self.caller(&context)?;
        let cursor = request.and_then(|request| request.cursor);
        let mut result = self.guarded(&context, resources::list(&self.0.service, &ctx, cursor)).await?;
        result.meta = meta(&context);
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        refuse_cursor(request)?;
        let mut result = ListResourceTemplatesResult::with_all_items(vec![resources::template()])
            .with_ttl_ms(STABLE_TTL_MS)
            .with_cache_scope(CacheScope::Private);
        result.meta = meta(&context);
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let ctx = self.caller(&context)?;
        let mut result = self.guarded(&context, resources::read(&self.0.service, &ctx, &request.uri)).await?;
        result.meta = meta(&context);
        Ok(result.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let ctx = self.caller(&context)?;
        let mut result = self.guarded(&context, completion::complete(&self.0.service, &ctx, &request)).await?;
        result.meta = meta(&context);
        Ok(result)
    }
}
