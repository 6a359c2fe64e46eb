//! What one turn of an agent with many tools costs us, beside writing its request as JSON once: making the prompt, writing the
//! request, taking the reply apart, remembering it. Nothing is sent: the model answers at once.
//!
//! Prints a markdown table. What counts are the ratios, taken in one run. Exit code 1 when one is broken.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on stops")]

use std::hash::{DefaultHasher, Hash, Hasher};
use std::hint::black_box;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use kitbag::{Env, Kitbag, LocalTool, OpenOptions, Setup};
use kitbag_agent::{
    Agent, HttpModel, Model, ModelChoice, ModelError, ModelEvent, ModelId, Prompt, Reply, Stop, Usage, choose,
};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use testkit::FakeModel;

const TOOLS: usize = 200;
const TURNS: usize = 200;
/// Conversations; of each turn the fastest counts.
const ROUNDS: usize = 5;
/// Turns that are taken together to see how the cost grows.
const WINDOW: usize = 20;
/// Bytes of what is said in one turn.
const MESSAGE: usize = 2_000;
/// A turn, as a multiple of writing its request as JSON.
const MOST: f64 = 2.0;
/// How much the second half may grow, as a multiple of the first one.
const MOST_GROWTH: f64 = 1.5;
const VENDORS: [&str; 5] = ["openai", "openai-responses", "anthropic", "gemini", "ollama"];

fn main() {
    kitbag::guard::init();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    println!("| {TOOLS} tools, {TURNS} turns | JSON of the last request | the last turn | ratio | growth |");
    println!("|---|---:|---:|---:|---:|");
    let mut broken = false;
    for vendor in VENDORS {
        broken |= runtime.block_on(measure(vendor));
    }
    println!(
        "\nAt most {MOST} × the JSON; the second half may grow at most {MOST_GROWTH} × as much as the first."
    );
    std::process::exit(i32::from(broken));
}

/// A model that writes its request, sends it nowhere, and says the same each time. Definitions may never change.
struct Unsent {
    http: HttpModel,
    reply: Reply,
    tools: OnceLock<u64>,
}

impl Model for Unsent {
    fn id(&self) -> &ModelId {
        self.http.id()
    }

    fn stream(&self, prompt: &Prompt<'_>) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        drop(black_box(self.http.stream(prompt)));
        stream::iter([Ok(ModelEvent::End(self.reply.clone()))]).boxed()
    }
}

/// The same, and it looks at the bytes of the definitions.
struct Watching(Arc<Unsent>);

impl Model for Watching {
    fn id(&self) -> &ModelId {
        self.0.id()
    }

    fn stream(&self, prompt: &Prompt<'_>) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let mut hasher = DefaultHasher::new();
        prompt.tools.to_string().hash(&mut hasher);
        let hash = hasher.finish();
        assert_eq!(*self.0.tools.get_or_init(|| hash), hash, "the definitions changed");
        self.0.stream(prompt)
    }
}

struct Shared(Arc<Unsent>);

impl Model for Shared {
    fn id(&self) -> &ModelId {
        self.0.id()
    }

    fn stream(&self, prompt: &Prompt<'_>) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        self.0.stream(prompt)
    }
}

fn tool(number: usize) -> LocalTool {
    let text =
        |about: &str| json!({"type": "string", "description": format!("{about} of the thing in question")});
    let schema = json!({
        "type": "object", "required": ["path", "query"],
        "properties": {
            "path": text("The path"), "query": text("The words"), "owner": text("The owner"),
            "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
            "order": {"type": "string", "enum": ["newest", "oldest", "best"]},
            "labels": {"type": "array", "items": text("A label")},
        },
    });
    let about = format!("Looks for things of kind {number}, and gives those that fit, the best first. ");
    LocalTool::with_schema(&format!("find_things_{number}"), &about.repeat(3), schema, |_, _| async {
        Ok("none")
    })
}

/// What the model says in each provider's own words.
fn reply(vendor: &str, id: &ModelId) -> Reply {
    let text = "All is well. ".repeat(20);
    let raw = match vendor {
        "openai-responses" => {
            json!([{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}])
        }
        "anthropic" => json!({"role": "assistant", "content": [{"type": "text", "text": text}]}),
        "gemini" => {
            json!({"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP"}]})
        }
        _ => json!({"role": "assistant", "content": text}),
    };
    let raw = to_raw_value(&raw).unwrap();
    Reply { model: id.clone(), raw, usage: Usage::default(), stop: Stop::Finished }
}

/// Whether a bound is broken.
async fn measure(vendor: &str) -> bool {
    let home = tempfile::tempdir().unwrap();
    let script = json!({"turns": [{"text": ["All is well. ".repeat(20)]}]});
    let fake = FakeModel::start(&script);
    let base = |env: Env, name: &str, url: &str| env.with(name, url);
    let env = Env::default().with("KITBAG_HOME", home.path().to_str().unwrap()).with("OPENAI_API_KEY", "k");
    let env = base(env, "OPENAI_BASE_URL", &format!("{}/v1", fake.url())).with("ANTHROPIC_API_KEY", "k");
    let env = ["ANTHROPIC_BASE_URL", "GEMINI_BASE_URL", "OLLAMA_BASE_URL"]
        .into_iter()
        .fold(env.with("GEMINI_API_KEY", "k"), |env, name| base(env, name, fake.url()));
    let options = OpenOptions { local: (0..TOOLS).map(tool).collect(), ..OpenOptions::default() };
    let (kit, _) = Kitbag::open_with(Setup::empty(env.clone()), options).await.unwrap();
    let limits = kit.limits();
    let choice = ModelChoice { flag: Some(format!("{vendor}/m")), agent: None };
    let http = choose(&choice, &env, &limits).unwrap();
    let reply = reply(vendor, http.id());
    let unsent = Arc::new(Unsent { http: http.clone(), reply, tools: OnceLock::new() });
    let said = "x".repeat(MESSAGE);
    let mut best = vec![Duration::MAX; TURNS];
    for _ in 0..ROUNDS {
        let mut agent = Agent::chat(Shared(unsent.clone()), kit.clone());
        for best in &mut best {
            let began = Instant::now();
            agent.send(said.as_str()).finish().await.unwrap();
            *best = began.elapsed().min(*best);
        }
    }
    // Once more with a look at the definitions, and a last turn that is really sent.
    let mut agent = Agent::chat(Watching(unsent.clone()), kit.clone());
    for _ in 1..TURNS {
        agent.send(said.as_str()).finish().await.unwrap();
    }
    agent.use_model(http);
    agent.send(said.as_str()).finish().await.unwrap();
    let body: Value = fake.bodies().pop().unwrap();
    let json = (0..ROUNDS * WINDOW).map(|_| timed(|| serde_json::to_vec(&body).unwrap())).min().unwrap();
    kit.close().await;
    let window = |end: usize| best[end - WINDOW..end].iter().min().unwrap().as_secs_f64();
    let (first, middle, last) = (window(WINDOW), window(TURNS / 2), window(TURNS));
    // The windows do not lie equally far from each other.
    let early = (middle - first) / (TURNS / 2 - WINDOW) as f64;
    let late = (last - middle) / (TURNS - TURNS / 2) as f64;
    let (ratio, growth) = (last / json.as_secs_f64(), late / early);
    let micros = |seconds: f64| seconds * 1e6;
    println!(
        "| {vendor} | {:.0} µs | {:.0} µs | {ratio:.2} | {growth:.2} |",
        micros(json.as_secs_f64()),
        micros(last)
    );
    MOST < ratio || MOST_GROWTH < growth
}

fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let began = Instant::now();
    black_box(work());
    began.elapsed()
}
