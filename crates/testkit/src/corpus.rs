//! The definitions of real servers as they were recorded, read in one place: tests and benchmarks of any crate
//! work with the same tools.
#![expect(clippy::unwrap_used, reason = "the recorded files are part of this repository")]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// One server and what it lists.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// What its owner calls it.
    pub server: String,
    /// Its definitions, as MCP writes tools.
    pub tools: Vec<Value>,
}

impl Recorded {
    /// Its definitions as text, as they come over the wire.
    pub fn texts(&self) -> Vec<String> {
        self.tools.iter().map(Value::to_string).collect()
    }
}

/// 305 tools of 18 servers, in order of name.
pub fn servers() -> Vec<Recorded> {
    let entries = fs::read_dir(testdata("tools")).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "json"));
    paths.sort();
    let recorded = |path: &PathBuf| Recorded {
        server: path.file_stem().unwrap().to_str().unwrap().to_owned(),
        tools: list(read(path)),
    };
    let all: Vec<Recorded> = paths.iter().map(recorded).collect();
    assert_eq!(count(&all), 305, "tools of testdata/tools");
    all
}

/// 527 tools of 70 servers, in the order of the file.
pub fn livemcpbench() -> Vec<Recorded> {
    let mut all = Vec::new();
    for mut entry in list(read(&testdata("livemcpbench/tools.json"))) {
        let name = entry["name"].as_str().unwrap().trim().to_owned();
        for (id, listed) in entry["tools"].as_object_mut().unwrap() {
            all.push(Recorded { server: format!("{name} {id}"), tools: list(listed["tools"].take()) });
        }
    }
    assert_eq!(count(&all), 527, "tools of testdata/livemcpbench");
    all
}

/// Both, 832 tools.
pub fn all() -> Vec<Recorded> {
    [servers(), livemcpbench()].concat()
}

/// The file with the recorded definitions of one server.
pub fn file(server: &str) -> String {
    testdata(&format!("tools/{server}.json")).to_str().unwrap().to_owned()
}

fn testdata(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(path)
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn list(value: Value) -> Vec<Value> {
    let Value::Array(list) = value else { panic!("no list of tools: {value}") };
    list
}

fn count(all: &[Recorded]) -> usize {
    all.iter().map(|recorded| recorded.tools.len()).sum()
}
