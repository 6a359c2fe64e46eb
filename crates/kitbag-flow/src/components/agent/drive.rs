//! From the record of an agent to the agent itself.

use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::{BoxStream, once};
use kitbag_agent::{
    HttpModel, Model, ModelChoice, ModelError, ModelEvent, ModelId, Prompt, Talk, TextAgent, Vendor, choose,
};

use super::belt::defined;
use super::{Remembered, talk_value};
use crate::component::Call;
use crate::raised::Raised;
use crate::value::{Dict, Object, Value, items};

/// What can be written as a provider.
pub(super) const PROVIDERS: &str =
    "write openai, vertexai, bedrock, openai-responses, anthropic, gemini or ollama";

/// Whose API a provider of a drawing means.
pub(super) fn vendor(provider: &str) -> Result<&str, Raised> {
    match provider {
        // The models these two sell, at the address of who makes them.
        "vertexai" => Ok("gemini"),
        "bedrock" => Ok("anthropic"),
        "openai" | "openai-responses" | "anthropic" | "gemini" | "ollama" => Ok(provider),
        other => Err(Raised::new("Exception", format!("Agent provider '{other}' is not supported."))),
    }
}

/// Key and address of an API, as OpenAIAuthorize sets them.
pub(super) struct Client {
    pub(super) key: Option<String>,
    pub(super) base: Option<String>,
}

/// Where the client is kept.
pub(super) const CLIENT: &str = "client";

/// The model of an agent.
pub(super) fn model(call: &Call, record: &Dict) -> Result<HttpModel, Raised> {
    let word = |key: &str| record.get(key).map(|value| value.text()).unwrap_or_default();
    let vendor = vendor(&word("agent_provider"))?.to_owned();
    let mut env = call.host().env().clone();
    if let Some(Value::Object(object)) = call.context().get(CLIENT)
        && let Some(client) = object.get::<Client>()
        && vendor.starts_with("openai")
    {
        env = client.key.iter().fold(env, |env, key| env.with("OPENAI_API_KEY", key));
        env = client.base.iter().fold(env, |env, base| env.with("OPENAI_BASE_URL", base));
    }
    let flag = Some(format!("{vendor}/{}", word("agent_model")));
    let choice = ModelChoice { flag, agent: None };
    choose(&choice, &env, call.host().bounds()).map_err(|error| failed(&error.to_string()))
}

/// The agent of a record.
pub(super) async fn agent(call: &Call, record: &Dict, model: impl Model) -> Result<TextAgent, Raised> {
    let kit = call.host().open_kit().await.map_err(|why| Raised::new("RuntimeError", why))?;
    let servers = record.get("enabled_mcp_servers").unwrap_or_else(|| Value::list([]));
    let servers: Vec<String> = items(&servers)?.iter().map(Value::text).collect();
    let depth = call.depth;
    let tools: Vec<_> = defined(record).iter().map(|tool| tool.local(depth)).collect();
    let system = record.get("agent_system_prompt").unwrap_or_default().text();
    let mut agent = TextAgent::new(model, kit).servers(servers).tools(tools).system(system);
    if let Some(Value::Int(thoughts)) = record.get("max_thoughts") {
        agent = agent.max_thoughts(usize::try_from(thoughts).unwrap_or(1));
    }
    if let Some(Value::Object(object)) = record.get("agent_memory")
        && let Some(memory) = object.get::<Remembered>()
    {
        agent = agent.memory(Arc::clone(&memory.0) as Arc<_>);
    }
    Ok(agent)
}

/// With the text for `{metadata}`, and the branch that runs after each call of a tool.
pub(super) fn watched(agent: TextAgent, call: &Call) -> Result<TextAgent, Raised> {
    let metadata = call.get("metadata")?;
    let metadata = if metadata.is_none() { String::new() } else { metadata.text() };
    let call = call.clone();
    Ok(agent.metadata(metadata).on_thought(move |talk| {
        let call = call.clone();
        async move {
            let seen = call.set("out_conversation", talk_value(&talk));
            seen.map_err(|raised| raised.to_string())?;
            call.branch("on_thought").await.map(|_| ()).map_err(|raised| raised.to_string())
        }
    }))
}

/// Lets it work, and sets what comes of it.
pub(super) async fn work(call: &Call, agent: &TextAgent, talk: &Talk) -> Result<(), Raised> {
    let done = agent.run(talk).await.map_err(|error| failed(&error.to_string()))?;
    call.set("out_conversation", talk_value(&done.conversation))?;
    call.set("last_response", done.last_response)
}

/// A model or an agent that failed: never an answer.
pub(super) fn failed(why: &str) -> Raised {
    Raised::new("AgentError", why)
}

pub(super) fn client(key: Option<String>, base: Option<String>) -> Value {
    Value::Object(Object::new("OpenAI", Client { key, base }))
}

/// No model: for calls that need none.
pub(super) struct NoModel(ModelId);

impl NoModel {
    pub(super) fn new() -> Self {
        Self(ModelId { vendor: Vendor::OpenAi, name: "none".to_owned() })
    }
}

impl Model for NoModel {
    fn id(&self) -> &ModelId {
        &self.0
    }

    fn stream(&self, _prompt: &Prompt<'_>) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        once(std::future::ready(Err(ModelError::NoModel))).boxed()
    }
}
