use serde_json::json;

use super::*;
use crate::model::Limits;

fn server(name: &str) -> ServerName {
    ServerName::parse(name).unwrap()
}

fn part(name: &str, definitions: &[Value]) -> ServerTools {
    let texts: Vec<String> = definitions.iter().map(Value::to_string).collect();
    ServerTools::parse(&server(name), texts.iter().map(String::as_str), &Limits::default())
}

fn codes(notes: &[Fault]) -> Vec<&'static str> {
    notes.iter().map(|note| note.kind.as_str()).collect()
}

#[test]
fn f81_each_oddity_of_a_definition_has_a_code() {
    let check = |definition: Value, expected: &[&str]| {
        let part = part("s", std::slice::from_ref(&definition));
        let notes = Snapshot::default().with(part).unwrap().notes(&|_| None);
        assert_eq!(codes(&notes), expected, "{definition}: {notes:#?}");
        let is_named = |note: &Fault| note.message.starts_with("the tool \"a\" ");
        assert!(notes.iter().all(is_named), "{notes:#?}");
        let is_whose = |note: &Fault| note.server == Some(server("s")) && note.stage == Stage::Catalog;
        assert!(notes.iter().all(is_whose), "{notes:#?}");
    };
    let tool = |key: &str, value: Value| {
        let mut tool = json!({"name": "a", "inputSchema": {"type": "object"}});
        tool[key] = value;
        tool
    };
    check(tool("description", json!("plain, and in lines\r\n\tof text ⚠️ 1️⃣")), &[]);
    check(tool("description", json!("one\u{200b}two")), &["hidden_characters"]);
    check(tool("title", json!("one\u{1b}[2Jtwo")), &["hidden_characters"]);
    check(tool("inputSchema", json!({"description": "\u{202e}"})), &["hidden_characters"]);
    check(tool("inputSchema", json!({"properties": {"x": {"pattern": "(?=a)"}}})), &["schema_not_checked"]);
    check(tool("outputSchema", json!({"$ref": "https://x.example.com/"})), &["schema_not_checked"]);
    check(tool("outputSchema", json!("text")), &["odd_definition"]);
    check(tool("description", json!(7)), &["odd_definition"]);
    check(json!({"name": "a"}), &["odd_definition"]);
    check(tool("description", json!("x".repeat(20_000))), &["description_cut"]);
    check(tool("inputSchema", json!(7)), &["bad_tool"]);
}

#[test]
fn f81_hidden_characters_are_told_by_number_and_place() {
    let definition = json!({"name": "a", "title": "\u{feff}t", "description": "d\u{200b}\u{200b}\u{202e}",
        "inputSchema": {"type": "object", "properties": {"x": {"title": "\u{1}\u{2}\u{3}"}}}});
    let notes = part("s", &[definition]).tools[0].notes.clone();
    let said =
        "has hidden characters (U+0001, U+0002, U+0003, U+200B, …) in its title, description, inputSchema";
    assert!(notes[0].message.contains(said), "{notes:?}");
}

#[test]
fn f81_names_that_look_alike() {
    let alike = |a: &str, b: &str| at_a_glance(a) == at_a_glance(b);
    for (a, b) in [
        ("get-file", "get_file"),
        ("get.file", "getFile"),
        ("acme_", "acme"),
        ("раypal", "paypal"),
        ("list", "1ist"),
        ("go", "g0"),
    ] {
        assert!(alike(a, b), "{a} {b}");
    }
    for (a, b) in [("get_file", "get_files"), ("read", "write"), ("page_1", "page_2"), ("a", "b")] {
        assert!(!alike(a, b), "{a} {b}");
    }
}

#[test]
fn f81_twins_are_found_across_servers_and_named_by_both() {
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    let all = Snapshot::default().with_all([
        part("a", &[tool("b_c"), tool("other")]),
        part("a_b", &[tool("c"), tool("other")]),
        part("x", &[tool("other")]),
    ]);
    let notes = all.notes(&|_| None);
    let told: Vec<(&str, &str)> =
        notes.iter().map(|note| (note.server.as_ref().unwrap().as_str(), note.message.as_str())).collect();
    assert_eq!(
        told,
        [
            ("a", "the tool \"b_c\" has a name that looks like a_b/c"),
            ("a_b", "the tool \"c\" has a name that looks like a/b_c"),
        ]
    );
}

#[test]
fn f81_a_name_of_its_own_ends_a_likeness() {
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    let all = Snapshot::default().with(part("s", &[tool("get-file"), tool("get_file")])).unwrap();
    assert_eq!(codes(&all.notes(&|_| None)), ["twin_names", "twin_names"]);
    let written = |tool: &Tool| (tool.name.as_str() == "get-file").then(|| "fetch".to_owned());
    assert_eq!(all.notes(&written), []);
}

#[test]
fn f81_a_stale_list_says_since_when_and_why() {
    let known = Snapshot::default().with(part("s", &[json!({"name": "a", "inputSchema": {}})])).unwrap();
    let told = |snapshot: &Snapshot, stale: StaleList| {
        let notes = snapshot.with_stale(&server("s"), Some(stale)).unwrap().notes(&|_| None);
        notes.iter().map(|note| (note.severity.as_str(), note.kind.as_str(), note.message.clone())).next()
    };
    let failed = StaleList { since: Some(0), why: Some("tools cannot be listed: gone".to_owned()) };
    let said =
        "these tools are from the last good list of 1970-01-01T00:00:00Z: tools cannot be listed: gone";
    assert_eq!(told(&known, failed.clone()), Some(("warning", "list_stale", said.to_owned())));
    let said = "tools cannot be listed: gone";
    assert_eq!(told(&Snapshot::default(), failed), Some(("error", "list_failed", said.to_owned())));
    let (severity, code, _) = told(&known, StaleList::default()).unwrap();
    assert_eq!((severity, code), ("note", "list_stale"));
    assert_eq!(told(&Snapshot::default(), StaleList::default()), None);
    // It is no change of what is listed.
    assert_eq!(
        known.with_stale(&server("s"), Some(StaleList::default())).unwrap().version(),
        known.version()
    );
    assert!(known.with_stale(&server("s"), None).is_none());
    assert_eq!(known.without(&server("s")).unwrap().notes(&|_| None), []);
}

#[test]
fn f81_nothing_is_told_of_a_server_that_is_gone_and_never_listed() {
    let failed = StaleList { since: None, why: Some("tools cannot be listed".to_owned()) };
    let unlisted = Snapshot::default().with_stale(&server("s"), Some(failed)).unwrap();
    let gone = unlisted.without(&server("s")).unwrap();
    assert_eq!((gone.notes(&|_| None), gone.version()), (Vec::new(), unlisted.version()));
    assert!(gone.without(&server("s")).is_none());
}

#[test]
fn f78_a_cut_list_names_the_limit() {
    let mut cut = part("s", &[]);
    cut.truncated = Some(ListCut::by("tools", "more than 40 tools"));
    let notes = Snapshot::default().with(cut).unwrap().notes(&|_| None);
    assert_eq!(codes(&notes), ["list_cut"]);
    assert_eq!(notes[0].hint.as_deref(), Some("raise \"tools\" under [limits] in kitbag.toml"));
}

#[test]
fn f83_of_a_flood_of_broken_definitions_the_rest_is_counted() {
    let mut flood = part("s", &[json!({"name": "a", "inputSchema": 7}), json!({})]);
    flood.rejected_more = 3;
    assert_eq!(flood.left_out(), 5);
    let told: Vec<String> = flood.rejections().map(|note| note.message).collect();
    assert_eq!(
        told,
        [
            "the tool \"a\" is left out: its input schema is not an object",
            "a tool is left out: it has no name",
            "3 more tools are left out"
        ]
    );
}

#[test]
fn codes_are_words_and_each_is_explained() {
    for kind in FaultKind::ALL {
        let word = kind.as_str();
        assert!(word.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{word}");
        assert!(kind.about().ends_with('.') && !kind.about().starts_with(' '), "{word}: {}", kind.about());
    }
}
