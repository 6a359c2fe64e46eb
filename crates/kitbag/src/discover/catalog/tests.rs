use kitbag_core::Severity;
use serde_json::{Value, json};

use super::*;

/// The names taken from a file with these definitions when two tools are taken from one server, and what is
/// said about the file.
fn taken(definitions: &Value) -> (Vec<String>, Vec<Fault>) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("many.json"), definitions.to_string()).unwrap();
    let mut limits = Limits::default();
    limits.tools = 2;
    let (parts, faults) = read_catalog(folder.path(), &limits).unwrap();
    let is_cut = parts[0].truncated.is_some();
    assert_eq!(is_cut, !faults.is_empty(), "{:?}", parts[0].truncated);
    (parts[0].tools.iter().map(|tool| tool.name.to_string()).collect(), faults)
}

#[test]
fn as_many_tools_are_taken_from_a_file_as_from_a_server() {
    let tool = |name: &str| json!({ "name": name });
    let (names, faults) = taken(&json!([tool("d"), tool("c"), tool("b"), tool("a")]));
    assert_eq!(names, ["c", "d"], "the first of the file");
    let [fault] = faults.as_slice() else { panic!("{faults:?}") };
    assert_eq!((fault.kind, fault.severity), (FaultKind::TooLarge, Severity::Warning));
    for words in ["has 4 tools", "2 are taken", "limits.tools", "the last 2"] {
        assert!(fault.message.contains(words), "{words}: {}", fault.message);
    }
    assert!(fault.place.as_ref().unwrap().file.ends_with("many.json"));
    assert_eq!(taken(&json!([tool("b"), tool("a")])), (vec!["a".to_owned(), "b".to_owned()], Vec::new()));
}

/// What is no tool more takes no tool's place, as from a server.
#[test]
fn what_is_no_tool_does_not_count() {
    let same = json!({"name": "a"});
    let odd = json!([{"nameless": 1}, {"name": "\n"}, 7, same, same, {"name": "b"}]);
    assert_eq!(taken(&odd), (vec!["a".to_owned(), "b".to_owned()], Vec::new()));
}
