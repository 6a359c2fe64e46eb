//! What the SDK calls: one handler for both eras.

use std::borrow::Cow;
use std::sync::{Arc, Mutex};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation, InputResponses, JsonObject,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, LoggingLevel,
    PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    RequestStateCodec, ServerCapabilities, ServerConfig, SetLevelRequestParams, SubscribeRequestParams,
    SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler};
use serde_json::{Value, json};
use tokio_util::task::TaskTracker;

use crate::changes::{Changes, Wishes, lock};
use crate::interview::{self, Heard, Next, parse};
use crate::plain::Waits;
use crate::{definitions, plain, prompts, resources};

/// Which revisions are spoken.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Revisions {
    #[default]
    All,
    Older,
    Newer,
}

const OLDER: [ProtocolVersion; 4] = [
    ProtocolVersion::V_2024_11_05,
    ProtocolVersion::V_2025_03_26,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
];

/// The server, as one session has it.
#[derive(Clone)]
pub(crate) struct Everything {
    shared: Arc<Shared>,
    wishes: Arc<Mutex<Wishes>>,
}

struct Shared {
    revisions: Revisions,
    changes: Changes,
    waits: Waits,
    states: RequestStateCodec,
    tasks: TaskTracker,
}

impl Everything {
    pub(crate) fn new(revisions: Revisions) -> anyhow::Result<Self> {
        let (changes, states) = (Changes::new(), interview::states()?);
        let (waits, tasks) = (Waits::default(), TaskTracker::new());
        let shared = Arc::new(Shared { revisions, changes, waits, states, tasks });
        Ok(Self { shared, wishes: Arc::default() })
    }

    /// The same for another session.
    pub(crate) fn session(&self) -> Self {
        Self { shared: self.shared.clone(), wishes: Arc::default() }
    }

    pub(crate) fn changes(&self) -> &Changes {
        &self.shared.changes
    }

    pub(crate) fn waits(&self) -> &Waits {
        &self.shared.waits
    }

    /// Whether whoever asks wants messages of this level: the newer era says so with each request.
    pub(crate) fn may_log(&self, level: LoggingLevel, context: &RequestContext<RoleServer>) -> bool {
        let least = if is_newer(context) { context.meta.log_level() } else { Some(lock(&self.wishes).level) };
        least.is_some_and(|least| severity(least) <= severity(level))
    }

    /// What comes of a request that may ask its client, in the way of the client's era.
    async fn held(
        &self,
        name: &str,
        mut call: Call,
        context: &RequestContext<RoleServer>,
    ) -> Option<Result<Next, ErrorData>> {
        let can = context.client_capabilities().unwrap_or_default();
        loop {
            let heard = Heard {
                arguments: &call.arguments,
                answers: &call.answers,
                state: call.state.as_deref(),
                can: can.clone(),
            };
            let asked = match interview::next(name, &heard, &self.shared.states)? {
                Ok(Next::Ask(asked)) if !is_newer(context) => asked,
                outcome => return Some(outcome),
            };
            match interview::ask(&context.peer, asked.input_requests.unwrap_or_default()).await {
                Ok(answers) => call.answers = answers,
                Err(error) => return Some(Err(error)),
            }
            call.state = asked.request_state;
        }
    }
}

/// A request, as far as its answer follows from it.
struct Call {
    arguments: JsonObject,
    answers: InputResponses,
    state: Option<String>,
}

fn is_newer(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| !version.has_initialize())
}

/// From chatter to disaster.
fn severity(level: LoggingLevel) -> usize {
    let levels = [
        LoggingLevel::Debug,
        LoggingLevel::Info,
        LoggingLevel::Notice,
        LoggingLevel::Warning,
        LoggingLevel::Error,
        LoggingLevel::Critical,
        LoggingLevel::Alert,
    ];
    levels.iter().position(|known| *known == level).unwrap_or(levels.len())
}

/// A result that is complete, which only the newer era says.
fn complete(mut result: Value) -> Value {
    result["resultType"] = json!("complete");
    result
}

impl ServerHandler for Everything {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_completions()
            .enable_logging()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("everything-mcp", env!("CARGO_PKG_VERSION")))
            .with_instructions("A server for tests.")
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        match self.shared.revisions {
            Revisions::All => Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS),
            Revisions::Older => Cow::Borrowed(&OLDER),
            Revisions::Newer => Cow::Borrowed(&[ProtocolVersion::V_2026_07_28]),
        }
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let (shared, wishes) = (self.shared.clone(), self.wishes.clone());
        self.shared.tasks.spawn(async move { shared.changes.tell(context.peer, &wishes).await });
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        parse(complete(definitions::list(self.changes().now().tools)))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let list: ListToolsResult = parse(definitions::list(0)).ok()?;
        list.tools.into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let call = Call {
            arguments: arguments.clone(),
            answers: request.input_responses.unwrap_or_default(),
            state: request.request_state,
        };
        let result = match self.held(&request.name, call, &context).await {
            Some(Ok(Next::Ask(asked))) => return Ok(asked.into()),
            Some(Ok(Next::Answer(result))) => result,
            // The older era has no error for it: a tool that cannot work says so.
            Some(Err(error)) if !is_newer(&context) => plain::failure(&error.message),
            Some(Err(error)) => return Err(error),
            None => tokio::select! {
                result = plain::call(self, &request.name, &arguments, &context) => result?,
                () = context.ct.cancelled() => plain::failure("cancelled"),
            },
        };
        let result: CallToolResult = parse(complete(result))?;
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        parse(complete(resources::list()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        parse(complete(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let result = resources::read(&request.uri, self.changes().now().watched)?;
        Ok(ReadResourceResponse::Complete(parse(complete(result))?))
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        lock(&self.wishes).uris.insert(request.uri);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        lock(&self.wishes).uris.remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        self.changes().feed(&subscription).await;
        Ok(())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        parse(complete(prompts::list(self.changes().now().prompts)))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let call = Call {
            arguments: arguments.clone(),
            answers: request.input_responses.unwrap_or_default(),
            state: request.request_state,
        };
        let result = match self.held(&request.name, call, &context).await {
            Some(Ok(Next::Ask(asked))) => return Ok(asked.into()),
            Some(Ok(Next::Answer(result))) => result,
            Some(Err(error)) => return Err(error),
            None => prompts::get(&request.name, &arguments)?,
        };
        let result: GetPromptResult = parse(complete(result))?;
        Ok(result.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        parse(complete(prompts::complete(&request.argument.value)))
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        lock(&self.wishes).level = request.level;
        Ok(())
    }
}
