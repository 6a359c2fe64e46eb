//! Drawings, where they come from, and what they print.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use kitbag::{Env, Kitbag, LocalTool, OpenOptions, ServerName, ServerSpec, Setup};
use kitbag_flow::{CheckOptions, Drawing, Flow, FlowError, Host, Output, Problem, Results, Value};
use serde_json::Value as Json;
use testkit::{FakeModel, House, in_time, tool};

/// What was printed, in order.
#[derive(Clone, Default)]
pub(crate) struct Printed(Arc<Mutex<String>>);

impl Output for Printed {
    fn print(&self, text: &str) {
        let mut printed = self.0.lock().unwrap();
        printed.push_str(text);
        printed.push('\n');
    }
}

impl Printed {
    pub(crate) fn text(&self) -> String {
        self.0.lock().unwrap().clone()
    }
}

/// A file of `testdata/xircuits`.
pub(crate) fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/xircuits").join(name)
}

pub(crate) fn example(name: &str) -> Drawing {
    kitbag_flow::load(&file(&format!("{name}.xircuits")), &kitbag::Limits::default()).unwrap()
}

pub(crate) fn flow(drawing: &Drawing) -> Flow {
    Flow::new(drawing, &CheckOptions::default()).unwrap_or_else(|problems| panic!("{}", lines(&problems)))
}

pub(crate) fn lines(problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("{problem}; {}\n", problem.fix)).collect()
}

pub(crate) fn problems(drawing: &Drawing) -> Vec<Problem> {
    match Flow::new(drawing, &CheckOptions::default()) {
        Ok(flow) => flow.notes().to_vec(),
        Err(problems) => problems,
    }
}

pub(crate) fn host(printed: &Printed) -> Host {
    Host::new(Env::new([], "."), printed.clone())
}

/// What a drawing prints, with its results, or what it raises: as its program of Python would.
pub(crate) async fn printed(drawing: &Drawing, arguments: &[(&str, &str)]) -> String {
    let flow = flow(drawing);
    let values = flow.values(arguments.iter().copied()).unwrap();
    let printed = Printed::default();
    let ended = in_time(flow.run(&host(&printed), values)).await;
    printed.text() + &ended_text(ended)
}

pub(crate) fn ended_text(ended: Result<Results, FlowError>) -> String {
    match ended {
        Ok(results) => results.text(),
        Err(FlowError::Raised { raised, .. }) => format!("raised {}: {raised}\n", raised.kind()),
        Err(other) => panic!("{other}"),
    }
}

/// Drawings compiled and run by the real Xircuits, and what each printed, without its lines about execution.
pub(crate) fn really(drawings: &[(String, Drawing)]) -> HashMap<String, String> {
    let folder = workspace();
    for (name, drawing) in drawings {
        std::fs::write(folder.path().join(format!("{name}.xircuits")), drawing.text()).unwrap();
    }
    let mut python = Command::new(tool("py-xircuits/bin/python"));
    python.arg(file("run.py")).arg(folder.path()).current_dir(folder.path());
    let printed: HashMap<String, String> = serde_json::from_slice(&output(&mut python)).unwrap();
    printed.into_iter().map(|(name, text)| (name, without_execution(&text))).collect()
}

/// One drawing compiled by `xircuits compile`, and its program run with these arguments.
pub(crate) fn really_alone(name: &str, drawing: &Drawing, arguments: &[(&str, &str)]) -> String {
    let folder = workspace();
    let file = format!("{name}.xircuits");
    std::fs::write(folder.path().join(&file), drawing.text()).unwrap();
    output(
        Command::new(tool("py-xircuits/bin/xircuits")).args(["compile", &file]).current_dir(folder.path()),
    );
    let mut python = Command::new(tool("py-xircuits/bin/python"));
    python.arg(format!("{name}.py")).current_dir(folder.path());
    python.args(arguments.iter().flat_map(|(name, value)| [format!("--{name}"), (*value).to_owned()]));
    without_execution(&String::from_utf8(output(&mut python)).unwrap())
}

/// A folder in which `xircuits init` was done.
fn workspace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    output(Command::new(tool("py-xircuits/bin/xircuits")).arg("init").current_dir(folder.path()));
    folder
}

fn output(command: &mut Command) -> Vec<u8> {
    let output = command.output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {told}\n{}", String::from_utf8_lossy(&output.stdout));
    output.stdout
}

fn without_execution(text: &str) -> String {
    let mut out = String::new();
    let lines: Vec<&str> = text.split('\n').collect();
    let mut at = 0;
    while at < lines.len() {
        let next = lines.get(at + 1).copied().unwrap_or_default();
        if lines[at].is_empty() && (next.starts_with("Executing: ") || next == "Finished Executing") {
            at += 2;
            continue;
        }
        out.push_str(lines[at]);
        out.push('\n');
        at += 1;
    }
    plain(&out)
}

/// Text as both sides are compared: an address is nobody's promise.
pub(crate) fn plain(text: &str) -> String {
    let mut parts = text.trim_end_matches('\n').split(" with id=");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out += " with id=";
        out += part.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    out + "\n"
}

/// A model with a script, a kit, and a place for both.
pub(crate) struct Stage {
    pub(crate) model: FakeModel,
    pub(crate) house: House,
    pub(crate) printed: Printed,
}

impl Stage {
    pub(crate) fn new(turns: Json) -> Self {
        let model = FakeModel::start(&serde_json::json!({ "turns": turns }));
        Self { model, house: House::new(), printed: Printed::default() }
    }

    /// Replies of text alone.
    pub(crate) fn says(texts: &[&str]) -> Self {
        Self::new(texts.iter().map(|text| serde_json::json!({ "text": [text] })).collect())
    }

    pub(crate) fn env(&self) -> Env {
        let env = Env::new([], self.house.path("project")).with("HOME", &self.house.at("home"));
        let env = env.with("KITBAG_HOME", &self.house.at("kit")).with("OPENAI_API_KEY", "sk-flow-geheim");
        env.with("OPENAI_BASE_URL", &format!("{}/v1", self.model.url()))
    }

    pub(crate) async fn kit(&self, servers: &[(&str, &str)]) -> Kitbag {
        let spec = |&(name, url): &(&str, &str)| ServerSpec::url(ServerName::parse(name).unwrap(), url);
        let setup = Setup::from_specs(self.env(), servers.iter().map(spec).collect::<Vec<_>>());
        let mut limits = kitbag::Limits::default();
        limits.model_backoff = std::time::Duration::from_millis(5);
        let local: Vec<LocalTool> = Vec::new();
        let options = OpenOptions { local, limits: Some(limits), ..OpenOptions::default() };
        Kitbag::open_with(setup, options).await.unwrap().0
    }

    pub(crate) fn host(&self, kit: &Kitbag) -> Host {
        Host::new(self.env(), self.printed.clone()).kit(kit.clone())
    }

    pub(crate) async fn run(&self, drawing: &Drawing, kit: &Kitbag) -> Result<Results, FlowError> {
        in_time(flow(drawing).run(&self.host(kit), HashMap::new())).await
    }

    /// What the model was told first.
    pub(crate) fn system(&self) -> String {
        self.model.bodies()[0]["messages"][0]["content"].as_str().unwrap().to_owned()
    }

    /// The messages of a request.
    pub(crate) fn messages(&self, request: usize) -> Vec<(String, String)> {
        let messages = self.model.bodies()[request]["messages"].clone();
        let word = |message: &Json, key: &str| message[key].as_str().unwrap_or_default().to_owned();
        messages.as_array().unwrap().iter().map(|one| (word(one, "role"), word(one, "content"))).collect()
    }
}

pub(crate) fn chat(text: &str) -> Value {
    Value::of_json(&serde_json::json!([{"role": "user", "content": text}]))
}
