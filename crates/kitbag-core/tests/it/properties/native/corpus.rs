//! Views of the recorded tools.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use kitbag_core::catalog::{Part, Snapshot};
use kitbag_core::model::AgentRules;
use kitbag_core::names::Form;
use kitbag_core::shape::{AllowAll, Shaper, View, ViewRequest};
use kitbag_core::{Limits, ServerName, UserId};
use serde_json::Value;

fn testdata() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata")
}

pub(crate) fn part(server: &str, definitions: &[Value]) -> Part {
    let texts: Vec<String> = definitions.iter().map(Value::to_string).collect();
    let server = ServerName::parse(server).unwrap();
    Part::parse(&server, texts.iter().map(String::as_str), &Limits::default())
}

fn read(path: &Path) -> Vec<Value> {
    let Value::Array(list) = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap() else {
        panic!()
    };
    list
}

/// 305 tools of 18 servers.
pub(crate) fn servers() -> Vec<Part> {
    let mut paths: Vec<_> =
        fs::read_dir(testdata().join("tools")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "json"));
    paths.sort();
    let parts: Vec<Part> =
        paths.iter().map(|path| part(path.file_stem().unwrap().to_str().unwrap(), &read(path))).collect();
    assert_eq!(parts.iter().map(|part| part.tools.len()).sum::<usize>(), 305);
    parts
}

/// 527 tools of 70 servers.
pub(crate) fn live() -> Vec<Part> {
    let mut parts = Vec::new();
    for server in read(&testdata().join("livemcpbench/tools.json")) {
        for (id, listed) in server["tools"].as_object().unwrap() {
            parts.push(part(
                &format!("{} {id}", server["name"].as_str().unwrap()),
                listed["tools"].as_array().unwrap(),
            ));
        }
    }
    assert_eq!(parts.iter().map(|part| part.tools.len() + part.rejected.len()).sum::<usize>(), 527);
    parts
}

pub(crate) fn view(parts: Vec<Part>) -> View {
    let mut snapshot = Snapshot::default();
    for part in parts {
        snapshot = snapshot.with(part).unwrap_or(snapshot);
    }
    View::new(&ViewRequest {
        snapshot: &Arc::new(snapshot),
        shapers: &BTreeMap::new(),
        rules: &Shaper::default(),
        agent: &AgentRules::default(),
        form: Form::Full,
        user: &UserId::local(),
        permit: &AllowAll,
        local: None,
        before: None,
    })
    .unwrap()
}
