//! A flow built in Rust, without a file: an agent's toolbelt, and one call of a tool of this program.

use kitbag::{Env, Kitbag, LocalTool, OpenOptions, ServerSpec, Setup};
use kitbag_flow::{CheckOptions, Drawing, Flow, Host, Output, Problem};
use serde_json::json;

struct Lines;
impl Output for Lines {
    fn print(&self, text: &str) {
        println!("{text}");
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let shout =
        LocalTool::with_schema("shout", "Says it louder", json!({"type": "object"}), |words, _| async move {
            Ok(words.values().map(ToString::to_string).collect::<String>().to_uppercase())
        });
    let setup = Setup::from_specs(Env::new([], "."), Vec::<ServerSpec>::new());
    let (kit, _) = Kitbag::open_with(setup, OpenOptions { local: vec![shout], ..Default::default() }).await?;
    let drawing = drawing()?;
    let flow = Flow::new(&drawing, &CheckOptions::default()).map_err(|mut problems| problems.remove(0))?;
    let done = flow.run(&Host::new(Env::new([], "."), Lines).kit(kit.clone()), Default::default()).await?;
    assert_eq!(done.values[0].text(), "\"HELLO\"");
    kit.close().await;
    Ok(())
}

fn drawing() -> Result<Drawing, Problem> {
    let mut drawing = Drawing::build("shouting");
    let belt = drawing.then("AgentMakeToolbelt", []);
    let who =
        [("agent_name", "bot".into()), ("agent_provider", "ollama".into()), ("agent_model", "qwen3".into())];
    let agent = drawing.then("AgentInit", who.into_iter().chain([("system_prompt", "{tools}".into())]));
    drawing.connect((belt, "toolbelt_spec"), (agent, "toolbelt_spec"));
    let call = [
        ("agent_name", "bot".into()),
        ("tool_name", "shout".into()),
        ("conversation", "Loud, please".into()),
    ];
    let run = drawing
        .then("AgentRunTool", call.into_iter().chain([("tool_args", "{\"words\": \"hello\"}".into())]));
    let print = drawing.then("Print", []);
    drawing.connect((run, "tool_output"), (print, "msg"));
    drawing.output((run, "tool_output"));
    drawing.finish()
}
