//! A kit, a model with a script, and an agent between them.

use kitbag::{Env, Kitbag, Limits, LocalTool, OpenOptions, ServerName, ServerSpec, Setup};
use kitbag_agent::{Agent, AgentError, AgentEvent, HttpModel, ModelChoice, ModelError, Report, choose};
use serde_json::{Value, json};
use testkit::{FakeModel, House, Http, in_time};

/// The names people write for the five wire formats.
pub(crate) const VENDORS: [&str; 5] = ["openai", "openai-responses", "anthropic", "gemini", "ollama"];

/// The key of every scene.
pub(crate) const KEY: &str = "sk-scene-geheim-4711";

/// A model with a script, and folders for whoever talks to it.
pub(crate) struct Scene {
    pub(crate) model: FakeModel,
    pub(crate) house: House,
}

impl Scene {
    /// A model that says these turns.
    pub(crate) fn new(turns: Value) -> Self {
        Self::of(&json!({ "turns": turns }))
    }

    pub(crate) fn of(script: &Value) -> Self {
        Self { model: FakeModel::start(script), house: House::new() }
    }

    /// The variables of every provider, all at the fake model.
    pub(crate) fn env(&self) -> Env {
        let url = self.model.url();
        let env = Env::new([], self.house.path("project")).with("HOME", &self.house.at("home"));
        let env = env.with("KITBAG_HOME", &self.house.at("kit"));
        let env = env.with("OPENAI_BASE_URL", &format!("{url}/v1")).with("ANTHROPIC_BASE_URL", url);
        let env = env.with("GEMINI_BASE_URL", url).with("OLLAMA_BASE_URL", url);
        env.with("OPENAI_API_KEY", KEY).with("ANTHROPIC_API_KEY", KEY).with("GEMINI_API_KEY", KEY)
    }

    /// The model behind one wire format.
    pub(crate) fn model(&self, vendor: &str) -> HttpModel {
        self.model_within(vendor, &quick()).unwrap()
    }

    pub(crate) fn model_within(&self, vendor: &str, limits: &Limits) -> Result<HttpModel, ModelError> {
        let choice = ModelChoice { flag: Some(format!("{vendor}/scripted")), agent: None };
        choose(&choice, &self.env(), limits)
    }

    /// A kit with these tools of the program's own, and a server for each of these addresses.
    pub(crate) async fn kit(&self, local: Vec<LocalTool>, servers: &[(&str, &str)]) -> Kitbag {
        let setup =
            Setup::from_specs(self.env(), servers.iter().map(|(name, url)| spec(name, url)).collect());
        let options = OpenOptions { local, limits: Some(quick()), ..OpenOptions::default() };
        Kitbag::open_with(setup, options).await.unwrap().0
    }
}

/// Limits with which nothing takes long that only waits.
pub(crate) fn quick() -> Limits {
    let mut limits = Limits::default();
    limits.model_backoff = std::time::Duration::from_millis(5);
    limits
}

/// A server at an address.
pub(crate) fn spec(name: &str, url: &str) -> ServerSpec {
    ServerSpec::url(ServerName::parse(name).unwrap(), url)
}

/// A fake server at an address.
pub(crate) fn server() -> Http {
    Http::start(&["--era", "both"])
}

/// Says something, and waits for the end.
pub(crate) async fn ask(agent: &mut Agent, text: &str) -> Report {
    in_time(agent.send(text).finish()).await.unwrap()
}

/// All events of a run.
pub(crate) async fn events(agent: &mut Agent, text: &str) -> (Vec<AgentEvent>, Option<AgentError>) {
    let mut run = agent.send(text);
    let mut events = Vec::new();
    loop {
        match in_time(run.next()).await {
            Some(Ok(event)) => events.push(event),
            Some(Err(error)) => return (events, Some(error)),
            None => return (events, None),
        }
    }
}

/// A call in a script.
pub(crate) fn call(name: &str, arguments: Value) -> Value {
    json!({"name": name, "arguments": arguments})
}
