//! Restrictions in servers' own files: one that cannot be read never offers more than was meant.

use super::*;
use crate::fault::Severity;

/// An entry that cannot be used, and the words of the error that says so.
#[track_caller]
fn check(keys: &str, words: &str) {
    let loaded = one("kitbag", &format!(r#"{{"mcpServers": {{"a": {{"command": "c", {keys}}}}}}}"#));
    let errors: Vec<String> = loaded
        .faults
        .iter()
        .filter(|fault| fault.severity == Severity::Error)
        .map(ToString::to_string)
        .collect();
    assert!(loaded.spec.is_none(), "{keys} is used");
    assert!(errors.len() == 1 && errors[0].contains(words), "{keys}: {errors:?}");
}

/// What an entry takes and leaves, and whether it is on.
#[track_caller]
fn filter(keys: &str) -> (String, String, bool) {
    let spec = spec("kitbag", &format!(r#"{{"mcpServers": {{"a": {{"command": "c", {keys}}}}}}}"#));
    (spec.filter.include.join(" "), spec.filter.exclude.join(" "), spec.enabled)
}

#[test]
fn f3_a_misspelt_restriction_of_an_entry_is_an_error() {
    check(r#""excludeTool": ["x"]"#, "unknown key \"excludeTool\" (did you mean \"excludeTools\"?)");
    check(r#""incldeTools": ["x"]"#, "did you mean \"includeTools\"?");
    check(r#""exclud": ["x"]"#, "did you mean \"exclude\"?");
    check(r#""alowed_tools": ["x"]"#, "did you mean \"allowedTools\"?");
    check(r#""disable": true"#, "did you mean \"disabled\"?");
    check(r#""enable": false"#, "did you mean \"enabled\"?");
    check(r#""peruser": true"#, "did you mean \"per_user\"?");
    // Also beside a right one: both were written to be obeyed.
    check(r#""exclude": ["x"], "exclud": ["y"]"#, "did you mean \"exclude\"?");
    // Other slips are worth a warning and no more.
    let loaded = one("kitbag", r#"{"mcpServers": {"a": {"command": "c", "timeot": 1}}}"#);
    assert!(loaded.spec.is_some() && said(&loaded)[0].starts_with("warning"), "{:?}", said(&loaded));
}

#[test]
fn f3_a_list_of_an_entry_is_read_as_a_whole_or_not_at_all() {
    check(r#""tools": {"exclude": "x, y"}"#, "\"exclude\" must be a list of");
    check(r#""tools": {"include": true}"#, "\"include\" must be a list of");
    check(r#""tools": {"exclude": ["x", 1]}"#, "\"exclude\" must be a list of");
    check(r#""tools": {"exclud": ["x"]}"#, "unknown key \"exclud\" (did you mean \"exclude\"?)");
    check(r#""tools": ["x", {}]"#, "\"tools\" must be a list of");
    check(r#""exclude": ["x", 1]"#, "\"exclude\" must be a list of");
    check(r#""exclude": {"x": true}"#, "\"exclude\" must be a list of");
    check(r#""excludeTools": "x, y""#, "\"excludeTools\" must be a list of");
    let check = |keys: &str, include: &str, exclude: &str| {
        assert_eq!(filter(keys), (include.to_owned(), exclude.to_owned(), true), "{keys}");
    };
    check(r#""exclude": "x""#, "", "x");
    check(r#""tools": {"include": "x"}"#, "x", "");
    check(r#""include_tools": ["x"], "exclude_tools": ["y"]"#, "x", "y");
    check(r#""excludeTools": ["x"], "disabledTools": ["y"]"#, "", "x y");
    check(r#""tools": {"include": ["x"], "exclude": null}"#, "x", "");
    check(r#""tools": {"include": []}"#, "", "*");
    // Names of tools with their approval, as a third program has it.
    check(r#""tools": {"includes": {"approval": "auto"}, "read": {}}"#, "", "");
}

#[test]
fn f3_a_switch_of_an_entry_is_never_read_the_other_way() {
    assert!(!filter(r#""disabled": "true""#).2);
    assert!(!filter(r#""enabled": "FALSE""#).2);
    assert!(filter(r#""disabled": "false""#).2);
    for switch in [r#""disabled": "yes""#, r#""disabled": 1"#, r#""enabled": null"#, r#""enabled": "off""#] {
        check(switch, "must be true or false");
    }
}

/// `gemini mcp add --exclude-tools a,b` writes one string for both.
#[test]
fn f57_names_of_tools_in_one_string_are_told_apart() {
    let filter = |dialect: &str, keys: &str| {
        let spec = spec(dialect, &format!(r#"{{"mcpServers": {{"a": {{"command": "x", {keys}}}}}}}"#));
        (spec.filter.include, spec.filter.exclude)
    };
    let both = r#""includeTools": ["a, b", "c"], "excludeTools": ["d,e"]"#;
    for dialect in ["gemini", "qwen"] {
        let (include, exclude) = filter(dialect, both);
        assert_eq!((include.join(" "), exclude.join(" ")), ("a b c".into(), "d e".into()), "{dialect}");
    }
    assert_eq!(filter("qwen", r#""includeTools": ["{read,list}_*", ","]"#).0, ["{read,list}_*", ","]);
    assert_eq!(filter("cursor", both).0, ["a, b", "c"], "nobody else does so");
}
