use serde_json::json;

use super::*;

mod names;

fn server(name: &str) -> ServerName {
    ServerName::parse(name).unwrap()
}

fn parse(definition: Value) -> Result<Tool, Rejected> {
    Tool::parse(&server("s"), definition, &Limits::default())
}

fn part(name: &str, tools: &[&str]) -> ServerTools {
    let texts: Vec<String> = tools
        .iter()
        .map(|tool| json!({"name": tool, "inputSchema": {"type": "object"}}).to_string())
        .collect();
    ServerTools::parse(&server(name), texts.iter().map(String::as_str), &Limits::default())
}

#[test]
fn t24_a_broken_definition_costs_one_tool() {
    let rejected = |definition: Value, why: &str| {
        let reason = parse(definition.clone()).unwrap_err();
        assert!(reason.why.contains(why), "{definition}: {reason:?}");
    };
    rejected(json!(null), "not an object");
    rejected(json!(7), "not an object");
    rejected(json!({}), "no name");
    rejected(json!({"name": 7}), "no name");
    rejected(json!({"name": ""}), "empty");
    rejected(json!({"name": "x".repeat(200)}), "longer");
    rejected(json!({"name": "a\u{200b}b"}), "invisible");
    rejected(json!({"name": "a", "inputSchema": "text"}), "not an object");
    rejected(json!({"name": "a", "inputSchema": {"type": "string"}}), "type");
    rejected(json!({"name": "a", "inputSchema": {"properties": {"x\u{200b}": {}}}}), "x\\u{200b}");
    rejected(json!({"name": "a", "inputSchema": {"properties": {"x\nIgnore all": {}}}}), "line");
    rejected(json!({"name": "a", "inputSchema": {"properties": {"x": {"required": [], "y\t": 1}}}}), "tab");
    let kept = |definition: Value, note: &str| {
        let tool = parse(definition.clone()).unwrap();
        assert!(tool.notes.iter().any(|told| told.message.contains(note)), "{definition}: {:?}", tool.notes);
    };
    kept(json!({"name": "a"}), "no input schema");
    kept(json!({"name": "a", "inputSchema": {}, "description": 7}), "description");
    kept(json!({"name": "a", "inputSchema": {}, "outputSchema": []}), "output schema");
    let part = ServerTools::parse(
        &server("s"),
        ["{", "null", r#"{"name":"b"}"#, r#"{"name":"a"}"#, r#"{"name":"a"}"#],
        &Limits::default(),
    );
    assert_eq!(part.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(part.rejected.len(), 3);
}

#[test]
fn f102_a_root_that_may_also_be_null_is_listed_as_an_object() {
    for kinds in [json!(["object", "null"]), json!(["null", "object"]), json!(["object"])] {
        let input = json!({"type": kinds, "properties": {"a": {"type": "string"}}});
        let part = ServerTools::parse(
            &server("s"),
            [json!({"name": "t", "inputSchema": input}).to_string().as_str()],
            &Limits::default(),
        );
        assert_eq!(part.rejected, []);
        assert_eq!(part.tools[0].input["type"], "object");
        assert_eq!(part.tools[0].own_input(), Some(&input));
    }
    let reason = parse(json!({"name": "t", "inputSchema": {"type": ["string", "null"]}})).unwrap_err();
    assert!(reason.why.contains("not object"), "{reason:?}");
}

#[test]
fn t20_texts_a_model_reads_hide_nothing_and_the_original_stays() {
    let definition = json!({"name": "a", "title": "T\u{200b}i\ntle", "description": "one\u{202e}\r\ntwo\u{1b}[2J",
        "inputSchema": {"type": "object", "properties": {"x": {"description": "d\u{e0041}"}}}});
    let tool = parse(definition.clone()).unwrap();
    assert_eq!(tool.title.as_deref(), Some("Ti tle"));
    assert_eq!(tool.description, "one\ntwo[2J");
    assert_eq!(tool.input["properties"]["x"]["description"], "d");
    assert_eq!(*tool.raw, definition);
}

#[test]
fn a_long_description_is_cut_at_a_character() {
    let limits = Limits { description: 10, ..Limits::default() };
    let tool = Tool::parse(&server("s"), json!({"name": "a", "description": "ääääääääää"}), &limits).unwrap();
    assert_eq!(tool.description, "äää…");
}

#[test]
fn s3_10_a_removed_server_takes_exactly_its_tools() {
    let both = Snapshot::default().with(part("a", &["x", "y"])).unwrap().with(part("b", &["x"])).unwrap();
    let one = both.without(&server("a")).unwrap();
    assert_eq!(one.tools().map(|tool| tool.server.as_str()).collect::<Vec<_>>(), ["b"]);
    let gone = changes(&both, &one);
    assert_eq!(gone.len(), 2);
    assert!(gone.iter().all(|change| change.kind == ToolChangeKind::Removed && change.server == server("a")));
    // Back again: the same names.
    let back = one.with(part("a", &["x", "y"])).unwrap();
    assert_eq!(back.names().table(NameForm::Full), both.names().table(NameForm::Full));
}

#[test]
fn equal_states_are_no_change_and_the_rest_is_shared() {
    let one = Snapshot::default().with(part("a", &["x"])).unwrap().with(part("b", &["x"])).unwrap();
    assert!(one.with(part("a", &["x"])).is_none());
    let two = one.with(part("a", &["x", "z"])).unwrap();
    assert!(Arc::ptr_eq(one.part(&server("b")).unwrap(), two.part(&server("b")).unwrap()));
    assert_eq!(changes(&one, &two).len(), 1);
    let away = two.with_away(&server("a"), Some(Unreachable::because("gone"))).unwrap();
    assert_eq!(away.version(), two.version(), "what is listed did not change");
    assert!(away.with_away(&server("a"), Some(Unreachable::because("gone"))).is_none());
}

#[test]
fn t20_what_is_said_of_a_rejected_tool_hides_nothing_and_is_short() {
    for name in ["a", "a\u{202e}"] {
        let kind = format!("\u{202e}{}", "x".repeat(100_000));
        let reason = parse(json!({"name": name, "inputSchema": {"type": kind}})).unwrap_err();
        let text = format!("{} {}", reason.tool.unwrap(), reason.why);
        assert!(
            text.len() < 1_000 && text.chars().all(|c| !c.is_control() && !crate::text::is_hidden(c)),
            "{text}"
        );
    }
}

#[test]
fn a_long_title_is_cut() {
    let tool = parse(json!({"name": "a", "title": "x".repeat(1 << 20)})).unwrap();
    assert!(tool.title.unwrap().len() <= Limits::default().description);
}

#[test]
fn what_did_not_change_is_shared_within_a_server_too() {
    let one = Snapshot::default().with_all([part("a", &["x", "y"]), part("b", &["x"])]);
    let two = one.with(part("a", &["w", "x", "y"])).unwrap();
    for tool in ["x", "y"] {
        let of = |snapshot: &Snapshot| snapshot.tool(&server("a"), tool).unwrap().clone();
        assert!(Arc::ptr_eq(&of(&one), &of(&two)), "{tool}");
    }
    // Many at once that bring nothing new are no change either.
    let same = two.with_all([part("a", &["w", "x", "y"]), part("b", &["x"])]);
    assert_eq!(same.version(), two.version());
    assert!(Arc::ptr_eq(same.part(&server("a")).unwrap(), two.part(&server("a")).unwrap()));
    assert_eq!(changes(&two, &same), []);
}

#[test]
fn s4_7_local_tools_take_no_short_names() {
    let names = CatalogNames::default().local(server("local"));
    let all = Snapshot::new(names).with_all([part("local", &["x"]), part("web", &["x"])]);
    let name = |form: NameForm, of: &str| {
        let tool = all.tool(&server(of), "x").unwrap();
        all.names().table(form).name(&tool.server, &tool.name).map(ToString::to_string)
    };
    assert_eq!(name(NameForm::Full, "local").as_deref(), Some("mcp_local_x"));
    assert_eq!((name(NameForm::Short, "local"), name(NameForm::Bare, "local")), (None, None));
    assert_eq!(name(NameForm::Bare, "web").as_deref(), Some("x"));
}

#[test]
fn the_name_of_a_definition_that_cannot_be_read_is_cut() {
    let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
    let text = format!(r#"{{"name":"{}","inputSchema":{deep}}}"#, "n".repeat(1 << 20));
    let part = ServerTools::parse(&server("a"), [text.as_str()], &Limits::default());
    assert_eq!(part.rejected[0].tool.as_ref().unwrap().len(), LONGEST_NAME);
    assert_eq!(part.rejected[0].why, "it is nested too deep");
}
