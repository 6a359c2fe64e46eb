use serde_json::json;

use super::*;

#[track_caller]
fn check(vars: &[(&str, &str)], expected: &str) {
    let env = vars.iter().fold(Env::default(), |env, (name, value)| env.with(name, value));
    let shown = match Plan::of(&env) {
        Ok(Plan::Each) => "each".to_owned(),
        Ok(Plan::Given(calls)) => json!(calls).to_string(),
        Ok(Plan::Echo { of, by }) => format!("{of} by {by}"),
        Err(failure) => failure.message,
    };
    assert_eq!(shown, expected, "{vars:?}");
}

#[test]
fn what_the_suite_asks_for() {
    check(&[], "each");
    check(&[(SCENARIO, "tools_call")], "each");
    check(&[(CONTEXT, r#"{"name": "auth/pre-registration", "client_id": "x"}"#)], "each");
    check(
        &[(CONTEXT, r#"{"toolCalls": [{"name": "b", "arguments": {"x": 1, "y": null}}, {"name": "a"}]}"#)],
        r#"[["b",{"x":1}],["a",{}]]"#,
    );
    check(&[(SCENARIO, "json-schema-2020-12-preservation")], "json_schema_2020_12_tool by json_schema_echo");
    check(
        &[(CONTEXT, "{")],
        "MCP_CONFORMANCE_CONTEXT is not JSON: EOF while parsing an object at line 1 column 1",
    );
}
