use super::*;
use crate::catalog::OperatorMarks;
use crate::model::{Effect, Risk};

fn outcome(rule: impl Rule + 'static, tool: Tool) -> RuleOutcome {
    let mut shaped = Shaper::default().with(rule).shape(tool);
    assert_eq!(shaped.trail.len(), 1);
    let outcome = shaped.trail.remove(0).outcome;
    assert_eq!(shaped.tool.is_some(), matches!(outcome, RuleOutcome::Kept | RuleOutcome::Changed));
    outcome
}

fn changed(rule: impl Rule + 'static, tool: Tool) -> Tool {
    let shaped = Shaper::default().with(rule).shape(tool);
    assert_eq!(shaped.trail[0].outcome, RuleOutcome::Changed);
    shaped.tool.unwrap()
}

#[test]
fn s3_5_filter() {
    let check = |include: &[&str], exclude: &[&str], name: &str, kept: bool| {
        let filter = Filter { include: globs(include), exclude: globs(exclude) };
        let outcome = outcome(filter, named(name));
        assert_eq!(
            outcome == RuleOutcome::Kept,
            kept,
            "{name} with {include:?} and not {exclude:?}: {outcome:?}"
        );
    };
    check(&[], &[], "read", true);
    check(&["read"], &[], "read", true);
    check(&["read"], &[], "read_file", false);
    check(&["read*"], &[], "read_file", true);
    check(&["get_*", "read*"], &[], "read", true);
    check(&["*"], &[], "fs/read", true);
    check(&["get_?"], &[], "get_a", true);
    check(&["get_?"], &[], "get_ab", false);
    check(&["{get,list}_*"], &[], "list_all", true);
    check(&[], &["delete_*"], "delete_all", false);
    check(&[], &["delete_*"], "read", true);
    // Exclude wins, however the two are written.
    check(&["delete_all"], &["delete_*"], "delete_all", false);
    check(&["delete_*"], &["delete_all"], "delete_all", false);
    check(&["*"], &["*"], "read", false);
    // The server's own name counts, letter by letter.
    check(&["Read"], &[], "read", false);
    check(&["列*"], &[], "列出", true);
}

#[test]
fn s3_5_predicate() {
    assert_eq!(outcome(KeepIf(|_: &Tool| true), named("a")), RuleOutcome::Kept);
    let reads = |tool: &Tool| tool.name.as_str().starts_with("read");
    assert_eq!(outcome(KeepIf(reads), named("read_x")), RuleOutcome::Kept);
    let dropped = outcome(KeepIf(reads), named("write_x"));
    assert_eq!(dropped, RuleOutcome::Dropped("refused by a predicate".to_owned()));
    let panics = outcome(KeepIf(|tool: &Tool| tool.title.as_deref().unwrap().is_empty()), named("a"));
    assert!(matches!(panics, RuleOutcome::Failed(why) if why.starts_with("panicked: ")));
}

#[test]
fn s3_6_names_and_texts_change_and_the_servers_own_stay() {
    let before = named("read_file");
    let after = changed(Rename("open_it".to_owned()), before.clone());
    assert_eq!(after.name_override, Some(shown("open_it")));
    assert_eq!((&after.name, &after.raw), (&before.name, &before.raw));
    let after = changed(Describe("new\u{200b}\r\nwords\u{1b}".to_owned()), before.clone());
    assert_eq!(after.description, "new\nwords");
    assert_eq!(after.raw["description"], "says");
    let category = changed(Categorize("co\u{202e}de".to_owned()), before.clone()).category;
    assert_eq!(category.as_deref(), Some("code"));
    assert_eq!(changed(Order(-3), before.clone()).order, -3);
    let examples = vec![json!({"a": 1}), json!({"a": 2})];
    assert_eq!(changed(WithExamples(examples.clone()), before).examples, examples);
}

#[test]
fn s3_6_a_name_that_no_model_takes_is_refused() {
    for bad in ["", "1st", "a b", "a-b", "ä", "a.b", "a\u{200b}", &"x".repeat(65)] {
        let RuleOutcome::Failed(why) = outcome(Rename(bad.to_owned()), named("a")) else { panic!("{bad:?}") };
        assert!(why.contains("shown name"), "{why}");
    }
    for good in ["a", "_", "A1_", &"x".repeat(64)] {
        assert_eq!(outcome(Rename(good.to_owned()), named("a")), RuleOutcome::Changed, "{good:?}");
    }
}

#[test]
fn s3_9_names_with_and_without_their_server_and_the_tag() {
    let read = json!({"name": "read_file", "description": "Reads", "inputSchema": {}});
    let check = |rules: Shaper, name: &str, description: &str| {
        let mut scene =
            Scene::of(Snapshot::default().with_all([part_of("filesystem", std::slice::from_ref(&read))]));
        scene.shapers.insert(server("filesystem"), rules);
        let view = scene.view();
        assert_eq!(listed(&view), [name]);
        assert_eq!(view.tools()[0].tool.description, description);
        assert_eq!(view.tools()[0].tool.name.as_str(), "read_file", "what the server is asked for");
        check_names(&view);
    };
    let tag = || Tag("[Filesystem MCP] ".to_owned());
    check(Shaper::default(), "mcp_filesystem_read_file", "Reads");
    check(Shaper::default().with(tag()), "mcp_filesystem_read_file", "[Filesystem MCP] Reads");
    check(Shaper::default().with(UseNameForm(NameForm::Full)), "mcp_filesystem_read_file", "Reads");
    check(Shaper::default().with(UseNameForm(NameForm::Short)), "filesystem_read_file", "Reads");
    check(Shaper::default().with(UseNameForm(NameForm::Bare)), "read_file", "Reads");
    check(
        Shaper::default().with(UseNameForm(NameForm::Bare)).with(tag()),
        "read_file",
        "[Filesystem MCP] Reads",
    );
    check(Shaper::default().with(Rename("open_it".to_owned())), "open_it", "Reads");
}

#[test]
fn options_are_merged_deeply() {
    let options = |value: Value| ProviderOptions(value.as_object().unwrap().clone());
    let first = changed(
        options(json!({"openai": {"function": {"strict": true}, "x": [1]}, "gemini": 1})),
        named("a"),
    );
    let second =
        changed(options(json!({"openai": {"function": {"y": 2}, "x": [2]}, "gemini": {"z": 3}})), first);
    assert_eq!(
        Value::Object(second.options),
        json!({"openai": {"function": {"strict": true, "y": 2}, "x": [2]}, "gemini": {"z": 3}})
    );
}

#[test]
fn s1_19_order_comes_before_the_name() {
    let mut scene = Scene::new(&[("a", &["x", "y", "z"]), ("b", &["x"])]);
    scene.rule("a", "z", Order(-1));
    scene.rule("a", "x", Order(5));
    assert_eq!(listed(&scene.view()), ["mcp_a_z", "mcp_a_y", "mcp_b_x", "mcp_a_x"]);
    check_names(&scene.view());
}

#[test]
fn marks_are_the_operators_word_alone() {
    let says = |name: &str, hints: Value| {
        let tool = tool(json!({"name": name, "inputSchema": {}, "annotations": hints}));
        let marks =
            MarkAs { repeatable: globs(&["get_*"]), read_only: globs(&["*_one"]), ..MarkAs::default() };
        Shaper::default().with(marks).shape(tool).tool.unwrap().marks
    };
    let reads = Risk { effect: Some(Effect::Read), open: None };
    assert_eq!(says("get_one", json!({})), OperatorMarks { repeatable: true, risk: reads });
    assert_eq!(says("get_all", json!({})), OperatorMarks { repeatable: true, risk: Risk::default() });
    // t23: what the server claims about its tool decides nothing.
    let claims = json!({"readOnlyHint": true, "idempotentHint": true, "destructiveHint": false});
    assert_eq!(says("set_all", claims), OperatorMarks::default());
}

#[test]
fn s3_6_a_schema_may_be_edited_and_an_error_costs_the_tool() {
    let edit = EditSchema(|schema: &mut Value| {
        schema["properties"] = json!({"q": {"type": "string"}});
        Ok(())
    });
    let after = changed(edit, named("a"));
    assert_eq!(after.input["properties"]["q"]["type"], "string");
    assert_eq!(after.raw["inputSchema"], json!({"type": "object"}));
    let refused = outcome(EditSchema(|_: &mut Value| Err("not this one".to_owned())), named("a"));
    assert_eq!(refused, RuleOutcome::Failed("not this one".to_owned()));
    let no_object = |schema: &mut Value| {
        *schema = json!(true);
        Ok(())
    };
    assert!(matches!(outcome(EditSchema(no_object), named("a")), RuleOutcome::Failed(_)));
    let panics = |schema: &mut Value| {
        schema["properties"]["no"]["such"] = json!(1);
        schema["type"]["text"] = json!(1);
        Ok(())
    };
    assert!(matches!(outcome(EditSchema(panics), named("a")), RuleOutcome::Failed(_)));
}

#[test]
fn s3_7_a_rule_that_panics_costs_its_tool() {
    let panics = Does("panics", |_| panic!("on purpose"));
    let shaped = Shaper::default().with(panics).shape(named("a"));
    assert!(shaped.tool.is_none());
    assert_eq!(shaped.trail[0].outcome, RuleOutcome::Failed("panicked: on purpose".to_owned()));
    let with_words = Does("panics", |tool: Tool| panic!("{} on purpose", tool.name));
    let shaped = Shaper::default().with(with_words).shape(named("a"));
    assert_eq!(shaped.trail[0].outcome, RuleOutcome::Failed("panicked: a on purpose".to_owned()));
}

#[test]
fn s3_7_rules_go_in_order_and_end_where_a_tool_is_dropped() {
    let adds = |text: &'static str| {
        Does(text, move |mut tool: Tool| {
            tool.description.push_str(text);
            Ok(Verdict::keep(tool))
        })
    };
    let drops = Does("drops", |tool: Tool| match tool.name.as_str() {
        "b" => Ok(Verdict::Drop("b goes".to_owned())),
        _ => Ok(Verdict::keep(tool)),
    });
    let shaper = Shaper::default().with(adds("1")).with(drops).with(adds("2"));
    assert_eq!(format!("{shaper:?}"), r#"["1", "drops", "2"]"#);
    let a = shaper.shape(named("a"));
    assert_eq!(a.tool.unwrap().description, "says12");
    let trail = |steps: &[(&str, RuleOutcome)]| -> Vec<RuleStep> {
        let step = |(rule, outcome): &(&str, RuleOutcome)| RuleStep {
            rule: (*rule).to_owned(),
            outcome: outcome.clone(),
        };
        steps.iter().map(step).collect()
    };
    assert_eq!(
        a.trail,
        trail(&[("1", RuleOutcome::Changed), ("drops", RuleOutcome::Kept), ("2", RuleOutcome::Changed)])
    );
    let b = shaper.shape(named("b"));
    assert!(b.tool.is_none());
    assert_eq!(
        b.trail,
        trail(&[("1", RuleOutcome::Changed), ("drops", RuleOutcome::Dropped("b goes".to_owned()))])
    );
}

#[test]
fn s3_7_one_failure_is_one_fault_with_rule_and_tool() {
    let mut scene = Scene::new(&[("s", &["a", "b", "c"]), ("t", &["a"])]);
    let rule = Does("picky", |tool: Tool| match tool.name.as_str() {
        "b" => Err(RuleError("not this one".to_owned())),
        _ => Ok(Verdict::keep(tool)),
    });
    scene.shapers.insert(server("s"), Shaper::default().with(rule));
    let view = scene.view();
    assert_eq!(listed(&view), ["mcp_s_a", "mcp_s_c", "mcp_t_a"]);
    let fault = only(view.faults());
    check_fault(fault, FaultKind::RuleFailed, Severity::Error, "b", &["picky", "b", "not this one"]);
    assert_eq!(fault.server, Some(server("s")));
    let left = view.left_out();
    assert_eq!((left.len(), left[0].tool.as_str(), left[0].trail.len()), (1, "b", 1));
    for text in ["mcp_s_b", "s/b", "b", "S_B", "mcp-s-b"] {
        assert_eq!(target(&view, text), None, "{text}");
    }
    // A tool that is dropped on purpose is nobody's mistake.
    scene
        .shapers
        .insert(server("s"), Shaper::default().with(KeepIf(|tool: &Tool| tool.name.as_str() != "b")));
    assert_eq!(scene.view().faults(), []);
    assert_eq!(scene.view().left_out().len(), 1);
}

#[test]
fn rules_for_all_come_after_those_of_the_server() {
    let mut scene = Scene::new(&[("s", &["a", "b"]), ("t", &["a"])]);
    scene.shapers.insert(server("s"), Shaper::default().with(Tag("inner ".to_owned())));
    scene.rules = Shaper::default()
        .with(Tag("outer ".to_owned()))
        .with(Filter { include: globs(&[]), exclude: globs(&["b"]) });
    let view = scene.view();
    let texts: Vec<&str> = view.tools().iter().map(|shown| shown.tool.description.as_str()).collect();
    assert_eq!(texts, ["outer inner ", "outer "]);
    assert_eq!(target(&view, "s/b"), None);
}

#[test]
fn examples_are_the_operators_or_made_from_the_schema() {
    let with_q = json!({"name": "a", "inputSchema": {"type": "object", "required": ["q"],
        "properties": {"q": {"type": "integer", "minimum": 7}}}});
    let mut scene = Scene::of(Snapshot::default().with_all([part_of("s", &[with_q])]));
    let view = scene.view();
    let made = view.tools()[0].examples();
    assert_eq!(made, [json!({"q": 7})]);
    assert_eq!(view.tools()[0].input(&Limits::default()).as_ref().unwrap().check(&made[0]), []);
    // As written, also when the schema would not take it: the operator knows better.
    scene.rule("s", "a", WithExamples(vec![json!({"q": 8}), json!({"other": 1})]));
    assert_eq!(scene.view().tools()[0].examples(), [json!({"q": 8}), json!({"other": 1})]);
}
