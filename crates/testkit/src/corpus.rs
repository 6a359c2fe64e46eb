//! The definitions of real servers as they were recorded, read in one place: tests and benchmarks of any crate
//! work with the same tools.
#![expect(clippy::unwrap_used, reason = "the recorded files are part of this repository")]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

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

/// 452 tools of malicious servers: name, description and arguments as Cisco's mcp-scanner is evaluated with.
pub fn cisco_malicious() -> Vec<Recorded> {
    let files = ["malicious_behavioral", "malicious_remote", "example_malicious_servers"];
    let all: Vec<Recorded> =
        files.iter().flat_map(|file| by_source(&format!("cisco-mcp-scanner/{file}.jsonl"))).collect();
    assert_eq!(count(&all), 452, "malicious tools of testdata/cisco-mcp-scanner");
    all
}

/// 182 harmless tools of the same evaluation.
pub fn cisco_benign() -> Vec<Recorded> {
    let all = by_source("cisco-mcp-scanner/benign_remote.jsonl");
    assert_eq!(count(&all), 182, "harmless tools of testdata/cisco-mcp-scanner");
    all
}

/// 267 tools of the attacking servers of MSB, with the attack each belongs to.
pub fn msb() -> Vec<(String, Value)> {
    let all: Vec<(String, Value)> = records("msb/attack_tools.jsonl")
        .map(|record| (record["category"].as_str().unwrap().to_owned(), definition(&record)))
        .collect();
    assert_eq!(all.len(), 267, "tools of testdata/msb");
    all
}

/// The tools of one file of records, by the file they were taken from.
fn by_source(path: &str) -> Vec<Recorded> {
    let mut all: Vec<Recorded> = Vec::new();
    for record in records(path) {
        let server = record["source"].as_str().unwrap().to_owned();
        let tool = definition(&record);
        match all.last_mut().filter(|last| last.server == server) {
            Some(last) => last.tools.push(tool),
            None => all.push(Recorded { server, tools: vec![tool] }),
        }
    }
    all
}

fn records(path: &str) -> impl Iterator<Item = Value> {
    let text = fs::read_to_string(testdata(path)).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines.into_iter()
}

/// A record of name, description and arguments as MCP writes tools.
fn definition(record: &Value) -> Value {
    let arguments = record["params"].as_array().unwrap().iter();
    let arguments = arguments.map(|name| (name.as_str().unwrap().to_owned(), json!({})));
    let properties: Map<String, Value> = arguments.collect();
    json!({
        "name": record["name"],
        "description": record["description"],
        "inputSchema": {"type": "object", "properties": properties},
    })
}

/// The 305 and the 527 tools of real servers, 832 in all.
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
