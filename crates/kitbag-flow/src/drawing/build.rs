//! A drawing made in Rust: nodes and links, written as the file Xircuits would have saved.

use std::path::PathBuf;

use serde_json::{Map, Value as Json, json};

use super::Drawing;
use crate::library::Palette;
use crate::problem::Problem;
use crate::value::Value;

/// A node that was added to a drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeId(usize);

/// A drawing that is being made. Components are linked in the order they are added, unless they are branched to.
#[derive(Debug)]
pub struct DrawingBuilder {
    file: PathBuf,
    nodes: Vec<Built>,
    links: Vec<Json>,
    last: NodeId,
    wrong: Option<Problem>,
}

#[derive(Debug)]
struct Built {
    json: Map<String, Json>,
    ports: Vec<Json>,
}

const START: NodeId = NodeId(0);
const FINISH: NodeId = NodeId(1);

impl DrawingBuilder {
    pub(super) fn new(name: &str) -> Self {
        let file = PathBuf::from(format!("{name}.xircuits"));
        let mut this = Self { file, nodes: Vec::new(), links: Vec::new(), last: START, wrong: None };
        this.node("Start", json!({"type": "Start"}));
        this.node("Finish", json!({"type": "Finish"}));
        this.port(START, false, "out-0", "▶", "");
        this.port(FINISH, true, "in-0", "▶", "");
        this
    }

    /// Adds a component with the values of its inputs, behind the last one.
    pub fn then<'a>(&mut self, name: &str, inputs: impl IntoIterator<Item = (&'a str, Value)>) -> NodeId {
        let id = self.component(name, inputs);
        self.follow(self.last, id);
        self.last = id;
        id
    }

    /// Adds another drawing as a node, by the path of its file, behind the last one.
    pub fn workflow<'a>(&mut self, path: &str, inputs: impl IntoIterator<Item = (&'a str, Value)>) -> NodeId {
        let name = path.rsplit('/').next().unwrap_or(path);
        let name = name.strip_suffix(".py").or(name.strip_suffix(".xircuits")).unwrap_or(name).to_owned();
        let id = self.node(&name, json!({"type": "xircuits_workflow", "path": path}));
        self.port(id, true, "in-0", "▶", "");
        self.port(id, false, "out-0", "▶", "");
        self.literals(id, inputs);
        self.follow(self.last, id);
        self.last = id;
        id
    }

    /// Adds a component that starts by itself, such as a tool. What is added next follows it.
    pub fn start<'a>(&mut self, name: &str, inputs: impl IntoIterator<Item = (&'a str, Value)>) -> NodeId {
        let id = self.component(name, inputs);
        self.last = id;
        id
    }

    /// Adds a component to a branch of another one. What is added next follows it.
    pub fn branch<'a>(
        &mut self,
        from: NodeId,
        branch: &str,
        name: &str,
        inputs: impl IntoIterator<Item = (&'a str, Value)>,
    ) -> NodeId {
        let id = self.component(name, inputs);
        let out = self.port(from, false, &format!("out-flow-{branch}"), &format!("{branch} ▶"), "");
        let into = self.own_port(id, "in-0", true);
        self.link("triangle-link", (from, out), (id, into));
        self.last = id;
        id
    }

    /// What is added next follows this one.
    pub fn after(&mut self, node: NodeId) {
        self.last = node;
    }

    /// What is added next is of the main line again, at its beginning.
    pub fn after_start(&mut self) {
        self.last = START;
    }

    /// Carries an output to an input.
    pub fn connect(&mut self, from: (NodeId, &str), to: (NodeId, &str)) {
        let out = self.data_out(from.0, from.1);
        let into = self.data_in(to.0, to.1);
        self.link("parameter-link", (from.0, out), (to.0, into));
    }

    /// Carries a value given when the drawing is run to an input.
    pub fn argument(&mut self, name: &str, kind: &str, to: (NodeId, &str)) {
        let title = format!("Argument ({kind}): {name}");
        let id = self.node(&title, json!({ "type": kind }));
        let out = self.port(id, false, "parameter-out-0", "▶", kind);
        let into = self.data_in(to.0, to.1);
        self.link("triangle-link", (id, out), (to.0, into));
    }

    /// Carries an output to the end, where it is one of the results.
    pub fn output(&mut self, from: (NodeId, &str)) {
        let out = self.data_out(from.0, from.1);
        let into = self.data_in(FINISH, "outputs");
        self.link("parameter-link", (from.0, out), (FINISH, into));
    }

    /// The drawing.
    pub fn finish(mut self) -> Result<Drawing, Problem> {
        if let Some(problem) = self.wrong {
            return Err(problem);
        }
        self.follow(self.last, FINISH);
        Drawing::read(self.file.clone(), self.written())
    }

    fn written(&self) -> String {
        let models = |all: Vec<Json>| -> Map<String, Json> {
            let key = |json: &Json| json.get("id").and_then(Json::as_str).unwrap_or_default().to_owned();
            all.into_iter().map(|json| (key(&json), json)).collect()
        };
        let node = |built: &Built| {
            let mut json = built.json.clone();
            let order = |is_in: bool| -> Vec<Json> {
                let of = built.ports.iter().filter(|port| port.get("in") == Some(&Json::Bool(is_in)));
                of.filter_map(|port| port.get("id").cloned()).collect()
            };
            json.insert("portsInOrder".to_owned(), order(true).into());
            json.insert("portsOutOrder".to_owned(), order(false).into());
            json.insert("ports".to_owned(), built.ports.clone().into());
            Json::Object(json)
        };
        let layer = |id: &str, kind: &str, all: Vec<Json>| json!({"id": id, "type": kind, "isSvg": kind == super::read::LINKS, "transformed": true, "models": models(all)});
        let drawing = json!({
            "id": "drawing", "offsetX": 0, "offsetY": 0, "zoom": 100, "gridSize": 0,
            "layers": [
                layer("links", super::read::LINKS, self.links.clone()),
                layer("nodes", super::read::NODES, self.nodes.iter().map(node).collect()),
            ],
        });
        let mut out = Vec::new();
        let format = serde_json::ser::PrettyFormatter::with_indent(b"    ");
        let mut writer = serde_json::Serializer::with_formatter(&mut out, format);
        let _ = serde::Serialize::serialize(&drawing, &mut writer);
        String::from_utf8(out).unwrap_or_default()
    }

    fn component<'a>(&mut self, name: &str, inputs: impl IntoIterator<Item = (&'a str, Value)>) -> NodeId {
        let palette = Palette::native();
        let Some(component) = palette.by_name(name) else {
            let fix = "`kitbag flow list` shows the components";
            self.wrong.get_or_insert(Problem::error(
                &self.file,
                format!("no component is called {name:?}"),
                fix,
            ));
            return START;
        };
        let face = component.face();
        let kind = if face.starts { "Start" } else { "library_component" };
        let id = self.node(name, json!({"type": kind, "path": face.path}));
        if !face.starts {
            self.port(id, true, "in-0", "▶", "");
        }
        self.port(id, false, "out-0", "▶", "");
        self.literals(id, inputs);
        id
    }

    fn literals<'a>(&mut self, id: NodeId, inputs: impl IntoIterator<Item = (&'a str, Value)>) {
        for (port, value) in inputs {
            let (kind, label) = literal(&value);
            let source = self.node(&format!("Literal {}", title(kind)), json!({ "type": kind }));
            let out = self.port(source, false, "out-0", &label, kind);
            let into = self.data_in(id, port);
            self.link("parameter-link", (source, out), (id, into));
        }
    }

    fn node(&mut self, name: &str, extras: Json) -> NodeId {
        let place = self.nodes.len();
        let json = json!({
            "id": format!("node-{place}"), "type": "custom-node", "selected": false, "extras": extras,
            "x": 60 + 220 * place, "y": if name.starts_with("Literal") { 320 } else { 120 },
            "name": name, "color": "rgb(0,102,204)",
        });
        let Json::Object(json) = json else { return NodeId(place) };
        self.nodes.push(Built { json, ports: Vec::new() });
        NodeId(place)
    }

    /// The id of the port of this name, made if there is none.
    fn port(&mut self, node: NodeId, is_in: bool, name: &str, label: &str, kind: &str) -> String {
        let Some(built) = self.nodes.get_mut(node.0) else { return String::new() };
        let id = format!("node-{}-{}-{}", node.0, if is_in { "in" } else { "out" }, name);
        if built.ports.iter().any(|port| port.get("id").and_then(Json::as_str) == Some(&id)) {
            return id;
        }
        let variable = label.split_once('[').map_or(label, |(name, _)| name);
        built.ports.push(json!({
            "id": id, "type": "default", "extras": {}, "x": 0, "y": 0, "name": name,
            "alignment": if is_in { "left" } else { "right" }, "parentNode": format!("node-{}", node.0),
            "links": [], "in": is_in, "label": label, "varName": variable, "portType": "", "dataType": kind,
        }));
        id
    }

    fn own_port(&mut self, node: NodeId, name: &str, is_in: bool) -> String {
        self.port(node, is_in, name, "▶", "")
    }

    fn data_out(&mut self, node: NodeId, label: &str) -> String {
        self.port(node, false, &format!("parameter-out-any-{label}"), label, "any")
    }

    /// A port of a list takes one more each time.
    fn data_in(&mut self, node: NodeId, label: &str) -> String {
        let name =
            self.nodes.get(node.0).and_then(|built| built.json.get("name")?.as_str()).unwrap_or_default();
        let many = if name == "Finish" { Some("dynalist") } else { Palette::native().many(name, label) };
        let Some(kind) = many else {
            return self.port(node, true, &format!("parameter-any-{label}"), label, "any");
        };
        let is_of = |port: &&Json| port.get("varName").and_then(Json::as_str) == Some(label);
        let count = self.nodes.get(node.0).map_or(0, |built| built.ports.iter().filter(is_of).count());
        match count {
            0 => self.port(node, true, &format!("parameter-{kind}-{label}"), label, kind),
            more => {
                let shown = format!("{label}[{more}]");
                self.port(node, true, &format!("parameter-{kind}-{label}-{more}"), &shown, kind)
            }
        }
    }

    fn follow(&mut self, from: NodeId, to: NodeId) {
        let (out, into) = (self.own_port(from, "out-0", false), self.own_port(to, "in-0", true));
        self.link("triangle-link", (from, out), (to, into));
    }

    fn link(&mut self, kind: &str, from: (NodeId, String), to: (NodeId, String)) {
        let id = format!("link-{}", self.links.len());
        self.links.push(json!({
            "id": id, "type": kind, "selected": false, "source": format!("node-{}", from.0.0), "sourcePort": from.1,
            "target": format!("node-{}", to.0.0), "targetPort": to.1, "points": [], "labels": [],
        }));
        for (node, port) in [from, to] {
            let ports = self.nodes.get_mut(node.0).map(|built| built.ports.iter_mut());
            let mut is_it =
                ports.into_iter().flatten().filter(|own| own.get("id").and_then(Json::as_str) == Some(&port));
            if let Some(Json::Array(links)) = is_it.next().and_then(|own| own.get_mut("links")) {
                links.push(Json::from(id.as_str()));
            }
        }
    }
}

/// The kind of a value, and how the label of a literal has it.
fn literal(value: &Value) -> (&'static str, String) {
    let inner = |text: String| text.get(1..text.len().saturating_sub(1)).unwrap_or_default().to_owned();
    let json = |value: &Value| crate::value::dumps(value).unwrap_or_default();
    match value {
        Value::Bool(_) => ("boolean", value.repr()),
        Value::Int(_) => ("int", value.repr()),
        Value::Float(_) => ("float", value.repr()),
        Value::List(_) => ("list", inner(json(value))),
        Value::Dict(_) => ("dict", inner(json(value))),
        Value::Tuple(_) => ("tuple", value.repr()),
        other => ("string", other.text()),
    }
}

fn title(kind: &str) -> String {
    let mut chars = kind.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
