//! Literals and spelling; the real Python is asked in `tests/it`.

use super::{Dialect, List, Value, read};

#[track_caller]
fn check(text: &str, dialect: Dialect, expected: Option<&str>) {
    let value = read(text, dialect).map(|value| value.repr());
    assert_eq!(value.as_deref().ok(), expected, "{text:?}: {value:?}");
}

#[test]
fn literals_of_python_and_json_are_read_each_in_its_own_way() {
    use Dialect::{Json, Python};
    for (text, python, json) in [
        ("1", Some("1"), Some("1")),
        ("-0x1F", Some("-31"), None),
        ("1_000", Some("1000"), None),
        ("007", None, None),
        ("1.", Some("1.0"), None),
        (".5", Some("0.5"), None),
        ("1e3", Some("1000.0"), Some("1000.0")),
        ("True", Some("True"), None),
        ("true", None, Some("True")),
        ("NaN", None, Some("nan")),
        ("'it\\'s \\x41\\u00e9\\n'", Some("\"it's Aé\\n\""), None),
        ("\"\\ud83d\\ude00\"", None, Some("'😀'")),
        ("\"\\ud83d\"", None, None),
        ("(1,)", Some("(1,)"), None),
        ("1, 'a', [2]", Some("(1, 'a', [2])"), None),
        ("()", Some("()"), None),
        ("[1, 2,]", Some("[1, 2]"), None),
        ("{'a': (1, 2), 1: None,}", Some("{'a': (1, 2), 1: None}"), None),
        ("{\"a\": null}", None, Some("{'a': None}")),
        ("{1: 2}", Some("{1: 2}"), None),
        ("{[1]: 2}", None, None),
        ("1 + 1", None, None),
        ("__import__('os')", None, None),
        ("", None, None),
        ("[", None, None),
    ] {
        check(text, Python, python);
        check(text, Json, json);
    }
    let deep = "[".repeat(5000);
    assert!(read(&deep, Json).unwrap_err().contains("levels"));
}

#[test]
fn a_list_within_itself_is_written_and_copied_to_an_end() {
    let list = List::default();
    list.push(Value::List(list.clone()));
    let value = Value::List(list);
    assert_eq!((value.repr(), value.deep_copy().repr()), ("[[...]]".to_owned(), "[[...]]".to_owned()));
    assert!(value.to_json().unwrap_err().to_string().contains("Circular"));
}

#[test]
fn equal_numbers_are_one_key() {
    let dict = Value::dict([]);
    for key in [Value::from(1_i64), Value::from(1.0), Value::from(true)] {
        super::set_item(&dict, &key, key.clone()).unwrap();
    }
    assert_eq!(dict.repr(), "{1: True}");
}
