//! The programs as agents: `kitbag run --agent <program>` with a model that says what a script tells it. They run as they are
//! installed, in a home of their own with settings of their own.

use std::path::Path;

use serde_json::{Value, json};
use testkit::{FakeModel, Farm, PATIENCE, tool, wait_until};

use super::host::{ALONE, Host, path, processes};
use crate::house::{Run, Runs as _};

impl Host {
    /// What a model calls a tool of ours in this program.
    fn call(self, tool: &str, arguments: &Value) -> Value {
        match self {
            Self::ClaudeCode | Self::QwenCode => {
                json!({"name": format!("mcp__kitbag__{tool}"), "arguments": arguments})
            }
            Self::GeminiCli => json!({"name": format!("mcp_kitbag-run_{tool}"), "arguments": arguments}),
            Self::Codex => json!({"name": tool, "arguments": arguments, "namespace": "mcp__kitbag_run"}),
        }
    }

    /// The heading of a tool in what the model is told.
    fn heading(self, tool: &str) -> String {
        let call = self.call(tool, &json!({}));
        format!("### {}", call["name"].as_str().unwrap())
    }

    /// Settings of a person who has servers of their own.
    fn settings(self, farm: &Farm, model: &FakeModel) -> (&'static str, String) {
        let mine = farm.entry("mine", &[], &json!({}));
        let servers = json!({"kitbag": {"command": "/bin/false"}, "mine": mine});
        match self {
            Self::ClaudeCode => {
                ("home/.claude/settings.json", json!({"permissions": {"deny": ["WebFetch"]}}).to_string())
            }
            Self::GeminiCli => {
                let auth = json!({"auth": {"selectedType": "gemini-api-key"}});
                ("home/.gemini/settings.json", json!({"mcpServers": servers, "security": auth}).to_string())
            }
            Self::QwenCode => {
                let settings =
                    json!({"mcpServers": servers, "tools": {"approvalMode": "yolo"}, "$version": 4});
                ("home/.qwen/settings.json", serde_json::to_string_pretty(&settings).unwrap())
            }
            Self::Codex => {
                let provider = format!(
                    "model = 'scripted'\nmodel_provider = 'fake'\n[model_providers.fake]\nname = 'fake'\n\
                     base_url = '{}/v1'\nwire_api = 'responses'\nenv_key = 'OPENAI_API_KEY'\n",
                    model.url()
                );
                let mine =
                    format!("[mcp_servers.mine]\ncommand = {}\nargs = {}\n", mine["command"], mine["args"]);
                ("home/.codex/config.toml", provider + &mine)
            }
        }
    }

    /// What its own command needs besides, where the tests run.
    fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Codex => &["--skip-git-repo-check"],
            Self::GeminiCli => &["--model", "gemini-2.5-flash"],
            _ => &[],
        }
    }
}

/// The program in front of a house, which writes down its arguments.
fn install(farm: &Farm, host: Host) {
    let command = host.command();
    let mut words = vec![command.get_program().to_str().unwrap().to_owned()];
    words.extend(command.get_args().map(|arg| arg.to_str().unwrap().to_owned()));
    let words: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let argv = farm.house.at("argv");
    let script = format!("#!/bin/sh\nprintf '%s\\n' \"$@\" > '{argv}'\nexec {} \"$@\"\n", words.join(" "));
    let file = farm.house.put(&format!("bin/{}", host.word()), script);
    std::fs::set_permissions(file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
}

/// `kitbag run` with a program as its agent.
fn run(farm: &Farm, host: Host, model: &FakeModel, args: &[&str]) -> Run {
    install(farm, host);
    let all = [&["run", "--agent", host.word()], args].concat();
    let mut run = farm.house.ask(&all);
    for (name, value) in ALONE {
        run = run.env(name, value);
    }
    run.env("PATH", &format!("{}:{}", farm.house.at("bin"), path(&farm.house)))
        .env("ANTHROPIC_BASE_URL", model.url())
        .env("ANTHROPIC_API_KEY", "sk-fake")
        .env("GOOGLE_GEMINI_BASE_URL", model.url())
        .env("GEMINI_API_KEY", "fake")
        .env("OPENAI_BASE_URL", &format!("{}/v1", model.url()))
        .env("OPENAI_API_KEY", "fake")
        .env("OPENAI_MODEL", "scripted")
}

/// An agent of the program's name in the settings.
fn settings(farm: &Farm, host: Host, rest: &str) {
    let words: Vec<&str> = [&[host.word()], host.arguments()].concat();
    farm.settings(&format!("[agents.{}]\ncommand = {words:?}\n{rest}\n", host.word()));
}

/// Nothing is left of a run: no process, no folder.
#[track_caller]
fn nothing_is_left(farm: &Farm) {
    let gone = wait_until(PATIENCE, || processes(&farm.house).is_empty());
    assert!(gone, "left behind: {:?}", processes(&farm.house));
    let left: Vec<_> = std::fs::read_dir(farm.house.path("kit/state/run/agents"))
        .unwrap()
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .collect();
    assert!(left.is_empty(), "left behind: {left:?}");
    farm.is_empty();
}

/// A result of a real server comes back through the endpoint of the run; a tool outside the agent's rules is not there; the
/// names in the prompt are those of the program; its settings stay as they are; the token is seen nowhere.
fn s2_19(host: Host) {
    let farm = Farm::of("y", &[]);
    let real = tool("npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    farm.enter("real", json!({"command": tool("hosts/node_modules/.bin/node"), "args": [real]}));
    let long = "a_tool_whose_name_is_so_long_that_it_does_not_fit_beside_more";
    farm.add_echo("zz", &json!([{"name": long, "inputSchema": {"type": "object"}}]));
    settings(&farm, host, "allow = ['real/*', 'zz/*']\ninstruction = 'Be exact.'");
    let calls = [
        host.call("real_get_sum", &json!({"a": 2, "b": 40})),
        host.call("y_count", &json!({"token": "never"})),
    ];
    let turns = json!({"turns": [{"text": ["Let me add."], "calls": calls}, {"text": ["It is ", "42."]}]});
    let model = FakeModel::start(&turns);
    let (file, text) = host.settings(&farm, &model);
    farm.house.put(file, &text);
    let ran = run(&farm, host, &model, &["What is 2 + 40?"]).run().exits(0);
    assert_eq!(ran.out, "It is 42.\n", "{host:?}: {}", ran.err);
    assert!(ran.err.contains("real_get_sum done in"), "{host:?}: {}", ran.err);
    nothing_is_left(&farm);
    let bodies = model.bodies();
    let (first, second) = (bodies[0].to_string(), bodies[1].to_string());
    let place = |word: &str| first.find(word).unwrap_or_else(|| panic!("{host:?}: no {word:?} in {first}"));
    let places = [
        place("Be exact.\\n\\nWhat is 2 + 40?"),
        place("# Available MCP Tools"),
        place(&host.heading("real_get_sum")),
    ];
    assert!(places.is_sorted(), "{host:?}: {places:?}");
    assert!(!first.contains("y_count"), "{host:?}");
    // Also a name that had to be cut is the one by which the program itself lists the tool.
    let (before, rest) = first.split_once("# Available MCP Tools").unwrap();
    let (described, after) = rest.split_once("agent tool name").unwrap();
    let heading = host.heading("zz_a_tool");
    let (_, cut) = described.split_once(&heading).unwrap_or_else(|| panic!("{host:?}: {described}"));
    let cut = heading.trim_start_matches("### ").to_owned() + cut.split("\\n").next().unwrap();
    assert!(before.contains(&cut) || after.contains(&cut), "{host:?}: {cut} in {first}");
    assert!(second.len() > first.len() && second.contains("2 and 40 is 42"), "{host:?}: {second}");
    assert_eq!(farm.events("y", "exec never"), Vec::<String>::new(), "{host:?}");
    assert_eq!(farm.house.text(file), text, "{host:?}: its settings");
    let argv = farm.house.text("argv");
    assert!(argv.contains("kitbag") && !argv.contains("kb_"), "{host:?}: {argv}");
    assert!(!ran.all().contains("kb_") && !first.contains("kb_"), "{host:?}");
}

#[test]
fn s2_19_claude_code_calls_tools_through_an_endpoint_of_the_run() {
    s2_19(Host::ClaudeCode);
}

#[test]
fn s2_19_codex_calls_tools_through_an_endpoint_of_the_run() {
    s2_19(Host::Codex);
}

#[test]
fn s2_19_gemini_cli_calls_tools_through_an_endpoint_of_the_run() {
    // It runs in no folder that is not trusted, and says so; what is trusted is its user's to say.
    let farm = Farm::new();
    settings(&farm, Host::GeminiCli, "");
    let model = FakeModel::start(&json!({"turns": []}));
    let (file, text) = Host::GeminiCli.settings(&farm, &model);
    farm.house.put(file, &text);
    let ran = run(&farm, Host::GeminiCli, &model, &["Hello"]).without("GEMINI_CLI_TRUST_WORKSPACE").run();
    ran.fails(11, "trusted directory");
    nothing_is_left(&farm);
    s2_19(Host::GeminiCli);
}

#[test]
fn s2_19_qwen_code_calls_tools_through_an_endpoint_of_the_run() {
    s2_19(Host::QwenCode);
}

/// A tool that the program does not let its model use fails the run, though the program ends with 0; the answer is shown.
fn s2_20(host: Host, denied: &Value, name: &str) {
    let farm = Farm::new();
    settings(&farm, host, "");
    let model = FakeModel::start(&json!({"turns": [{"calls": [denied]}, {"text": ["I could not."]}]}));
    let (file, text) = host.settings(&farm, &model);
    farm.house.put(file, text);
    let ran = run(&farm, host, &model, &["Do it"]).run().exits(6);
    assert_eq!(ran.out, "I could not.\n", "{host:?}");
    assert!(ran.err.contains("denied its model") && ran.err.contains(name), "{host:?}: {}", ran.err);
    let model = FakeModel::start(&json!({"turns": [{"calls": [denied]}, {"text": ["I could not."]}]}));
    farm.house.put(file, host.settings(&farm, &model).1);
    let told = run(&farm, host, &model, &["Do it", "--json"]).run().exits(6).json();
    assert_eq!((&told["ok"], &told["answer"]), (&json!(false), &json!("I could not.")), "{host:?}");
    assert_eq!(told["denied"][0]["tool"], name, "{host:?}: {told}");
    assert!(!Path::new(&farm.house.at("project/made")).exists(), "{host:?}");
    nothing_is_left(&farm);
}

#[test]
fn s2_20_a_tool_that_claude_code_denies_fails_the_run() {
    let call = json!({"name": "Bash", "arguments": {"command": "touch made"}});
    s2_20(Host::ClaudeCode, &call, "Bash");
}

#[test]
fn s2_20_a_tool_that_codex_denies_fails_the_run() {
    // A server of the user's own: nothing but our tools is approved.
    let call = json!({"name": "add", "arguments": {"a": 1, "b": 1}, "namespace": "mcp__mine"});
    s2_20(Host::Codex, &call, "mine.add");
}

#[test]
fn s2_20_a_tool_that_qwen_code_denies_fails_the_run() {
    let call =
        json!({"name": "run_shell_command", "arguments": {"command": "touch made", "is_background": false}});
    s2_20(Host::QwenCode, &call, "run_shell_command");
}

#[test]
fn s2_21_a_run_that_takes_too_long_leaves_no_process() {
    let farm = Farm::of("x", &[]);
    farm.settings("[limits]\nagent_program = '6s'\n");
    let model = FakeModel::start(&json!({"turns": [{"hold": true}]}));
    let ran = run(&farm, Host::ClaudeCode, &model, &["Wait"]).run();
    ran.fails(8, "was ended after 6s");
    nothing_is_left(&farm);
}

#[test]
fn s2_21_what_the_models_host_refuses_is_told() {
    let farm = Farm::new();
    let model = FakeModel::start(&json!({"turns": [{"status": 400, "error": "this prompt is odd"}]}));
    let ran = run(&farm, Host::ClaudeCode, &model, &["Hello"]).run();
    ran.fails(11, "\"claude\" failed with exit code 1: API Error: 400 this prompt is odd");
    nothing_is_left(&farm);
}
