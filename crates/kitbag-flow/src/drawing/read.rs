//! From the text of a file to nodes and links. What a library of another version adds or leaves out is no mistake.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value as Json;

use super::{Link, Node, NodeKind, Port};
use crate::problem::Problem;

pub(super) const NODES: &str = "diagram-nodes";
pub(super) const LINKS: &str = "diagram-links";

/// The kinds of values a literal may have.
pub(crate) const LITERALS: [&str; 9] =
    ["string", "int", "float", "boolean", "list", "dict", "tuple", "secret", "chat"];

pub(super) struct Parts {
    pub(super) nodes: Vec<Node>,
    pub(super) links: HashMap<String, Link>,
}

pub(super) fn parts(file: &Path, text: &str) -> Result<Parts, Problem> {
    let wrong = |what: String| {
        Problem::error(file, what, "open it in Xircuits and save it, or begin one with `kitbag flow new`")
    };
    let json: Json = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| wrong(format!("not a workflow: it is not JSON ({error})")))?;
    let layers = json.get("layers").and_then(Json::as_array);
    let layers = layers.ok_or_else(|| wrong("not a workflow: it has no list \"layers\"".to_owned()))?;
    let layer = |kind: &str| {
        let is_it = |layer: &&Json| text_of(layer, "type") == kind;
        let models = layers.iter().find(is_it).and_then(|layer| layer.get("models")?.as_object());
        models.ok_or_else(|| wrong(format!("not a workflow: it has no layer {kind:?} with \"models\"")))
    };
    let (nodes, links) = (layer(NODES)?, layer(LINKS)?);
    let nodes = nodes.iter().map(|(key, node)| read_node(key, node).map_err(&wrong));
    let links = links.iter().map(|(key, link)| (key.clone(), read_link(link)));
    Ok(Parts { nodes: nodes.collect::<Result<_, _>>()?, links: links.collect() })
}

fn text_of<'a>(json: &'a Json, key: &str) -> &'a str {
    json.get(key).and_then(Json::as_str).unwrap_or_default()
}

fn read_node(key: &str, json: &Json) -> Result<Node, String> {
    let id = json.get("id").and_then(Json::as_str).unwrap_or(key).to_owned();
    let name = json.get("name").and_then(Json::as_str);
    let name = name.ok_or_else(|| format!("not a workflow: node {id:?} has no \"name\""))?.to_owned();
    let ports = json.get("ports").and_then(Json::as_array).into_iter().flatten().map(read_port).collect();
    let number = |key: &str| json.get(key).and_then(Json::as_f64).unwrap_or_default();
    let kind = kind(&name, json.get("extras").unwrap_or(&Json::Null));
    Ok(Node { kind, name, x: number("x"), y: number("y"), ports, id, key: key.to_owned() })
}

fn kind(name: &str, extras: &Json) -> NodeKind {
    let (kind, path) = (text_of(extras, "type"), text_of(extras, "path").to_owned());
    match (kind, path.is_empty()) {
        (_, true) if argument(name).is_some() => {
            NodeKind::Argument(argument(name).map(|(kind, _)| kind.to_owned()).unwrap_or_default())
        }
        ("Start", true) => NodeKind::Start,
        ("Finish", true) => NodeKind::Finish,
        ("comment", true) => NodeKind::Comment,
        ("xircuits_workflow", false) => NodeKind::Workflow { path },
        (kind, false) => NodeKind::Component { path, starts: kind == "Start" },
        (kind, true) if LITERALS.contains(&kind) => NodeKind::Literal(kind.to_owned()),
        (kind, true) => NodeKind::Unknown(kind.to_owned()),
    }
}

/// The kind and the name of an argument: `Argument (<kind>): <name>`.
pub(crate) fn argument(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix("Argument (")?.split_once("): ")
}

fn read_port(json: &Json) -> Port {
    let label = text_of(json, "label");
    let variable = Some(text_of(json, "varName")).filter(|name| !name.is_empty());
    let is_in = json.get("in").and_then(Json::as_bool).unwrap_or_default();
    let links = json.get("links").and_then(Json::as_array).into_iter().flatten();
    Port {
        id: text_of(json, "id").to_owned(),
        name: text_of(json, "name").to_owned(),
        // Only ports that take something are marked; the label of a literal is its value.
        label: if is_in { label.replace('★', "") } else { label.to_owned() },
        variable: variable.unwrap_or(label).replace('★', ""),
        data_type: text_of(json, "dataType").to_owned(),
        is_in,
        is_compulsory: is_in && label.starts_with('★'),
        links: links.filter_map(Json::as_str).map(str::to_owned).collect(),
    }
}

fn read_link(json: &Json) -> Link {
    let end = |node: &str, port: &str| (text_of(json, node).to_owned(), text_of(json, port).to_owned());
    Link {
        is_flow: text_of(json, "type") == "triangle-link",
        source: end("source", "sourcePort"),
        target: end("target", "targetPort"),
    }
}
