use serde_json::json;

use super::*;

#[test]
fn values_are_those_of_any_reader() {
    for text in [
        r#"{"b":[1,-2,1e300,1.5,18446744073709551615,null,true,"é\n"],"a":{"b":{}}}"#,
        "[]",
        "\"x\"",
        "123456789012345678901234567890",
        " null ",
    ] {
        assert_eq!(parse_unique(text).unwrap(), serde_json::from_str::<Value>(text).unwrap(), "{text}");
    }
    for text in ["", "{", "{\"a\":}", "[1,]", "1 2", "01e999", "1e400e", "[-1e400", &"[".repeat(1_000)] {
        assert!(parse_unique(text).is_err() && serde_json::from_str::<Value>(text).is_err(), "{text}");
    }
}

#[test]
fn f95_numbers_are_written_as_they_were_read() {
    for text in [
        "123456789012345678901",
        "-0.1000000000000000055511151231257827",
        "1E+2",
        "-0",
        r#"{"a":"\u00e4\/\"1","b":["\\",2.0,"x\\\"3"]}"#,
        "1e400",
        r#"{"1e400":"\"1e400\\","b":[-1e400,1e-400,{"c":3.0}],"d":"2","e":18446744073709551616}"#,
    ] {
        assert_eq!(ExactJson::parse(text).unwrap().to_string(), text);
    }
    assert_eq!(parse_unique("[-1e400]").unwrap(), json!([f64::MIN]));
}

#[test]
fn f95_what_is_changed_leaves_the_digits_of_its_neighbours() {
    let mut exact =
        ExactJson::parse(r#"{"a":{"n":1.0000000000000000001,"s":"3"},"b":[1e2,2],"c":1}"#).unwrap();
    exact.set(&json!({"c": 1.0, "a": {"n": 1.0, "s": 3}, "b": [100.0, "x"], "d": null}));
    assert_eq!(
        exact.to_string(),
        r#"{"c":1.0,"a":{"n":1.0000000000000000001,"s":3},"b":[1e2,"x"],"d":null}"#
    );
}

#[test]
fn f26_a_key_that_stands_twice_is_named() {
    for text in [r#"{"a":1,"a":2}"#, r#"{"x":[{"a":1,"b":2,"a":1}]}"#, r#"{"a":1,"\u0061":2}"#] {
        let error = parse_unique(text).unwrap_err().to_string();
        assert!(error.contains("\"a\" is given twice"), "{text}: {error}");
    }
    let long = format!(r#"{{"{0}":1,"{0}":2}}"#, "k\u{202e}".repeat(5_000));
    let error = parse_unique(&long).unwrap_err().to_string();
    assert!(error.len() < 200 && !error.contains('\u{202e}'), "{error}");
    assert!(parse_unique(r#"{"a":{"a":1},"b":{"a":1}}"#).is_ok());
}
