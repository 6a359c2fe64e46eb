//! The loop of an agent, over the APIs of OpenAI, Anthropic and Gemini: show tools, call what the model asks for,
//! answer in the provider's form, until the model asks for nothing more.
//!
//! The model's replies are recorded, so that no network is needed; the tools are really called.

use kitbag::{CallOptions, Env, Intent, Kitbag, PresentOptions, Provider, ServerName, ServerSpec, Setup};
use serde_json::{Value, json};

/// What each provider's model replied, turn by turn.
const RECORDED: [(Provider, &str); 3] = [
    (Provider::OpenAiChat, include_str!("../../../testdata/replies/openai.json")),
    (Provider::Anthropic, include_str!("../../../testdata/replies/anthropic.json")),
    (Provider::Gemini, include_str!("../../../testdata/replies/gemini.json")),
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    kitbag::guard::init();
    let program = testkit::bin("fake-mcp").display().to_string();
    let calc = ServerSpec::program(ServerName::parse("calc")?, &program, []);
    let env = Env::new([], std::env::current_dir()?);
    let (kit, faults) = Kitbag::open(Setup::from_specs(env, vec![calc])).await?;
    assert!(faults.is_empty(), "{faults:?}");
    for (provider, recorded) in RECORDED {
        let replies: Vec<Value> = serde_json::from_str(recorded)?;
        let (messages, said) = converse(&kit, provider, replies).await?;
        // Anthropic and Gemini take all results of a turn in one message, OpenAI takes one message each.
        assert_eq!(messages.len(), if provider == Provider::OpenAiChat { 5 } else { 4 }, "{provider}");
        let results = json!(messages[2..messages.len() - 1]).to_string();
        assert!(results.contains("42") && results.contains("hello"), "{provider}: {results}");
        assert_eq!(said, "The sum is 42.", "{provider}");
        println!("{provider}: {said}");
    }
    assert_eq!(kit.recent_calls().len(), 6);
    kit.close().await;
    Ok(())
}

/// One conversation; its messages and the model's last words.
async fn converse(
    kit: &Kitbag,
    provider: Provider,
    replies: Vec<Value>,
) -> Result<(Vec<Value>, String), Box<dyn std::error::Error>> {
    let view = kit.own_view();
    // What goes into the request: `shown.tools` as `tools`, `shown.prompt` into the system prompt.
    let shown = kit.present(&view, &PresentOptions::native(provider));
    assert!(shown.tools.to_string().contains("mcp_calc_add"), "{provider}");
    let mut messages = vec![match provider {
        Provider::Gemini => json!({"role": "user", "parts": [{"text": "What is 2 + 40?"}]}),
        _ => json!({"role": "user", "content": "What is 2 + 40?"}),
    }];
    for reply in replies {
        let answers = kit.run_all(&view, &shown, &reply, &CallOptions::default()).await;
        messages.push(message(provider, &reply));
        if answers.is_empty() {
            let requests = shown.decode(&view, &reply);
            let said = requests.iter().find_map(|request| match &request.intent {
                Intent::Say(text) => Some(text.clone()),
                _ => None,
            });
            return Ok((messages, said.unwrap_or_default()));
        }
        messages.extend(answers);
    }
    Err("the recording ends before the conversation does".into())
}

/// The message in a reply, to be sent back with the next request.
fn message(provider: Provider, reply: &Value) -> Value {
    match provider {
        Provider::OpenAiChat => reply["choices"][0]["message"].clone(),
        Provider::Gemini => reply["candidates"][0]["content"].clone(),
        _ => json!({"role": reply["role"], "content": reply["content"]}),
    }
}
