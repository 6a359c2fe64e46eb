//! Nodes with inputs of every kind, good and bad, beside the real ones.

use kitbag_flow::{Drawing, DrawingBuilder, Value};
use serde_json::json;

use crate::real::equal;

fn value(json: serde_json::Value) -> Value {
    Value::of_json(&json)
}

/// A node whose output is printed and is a result; or what it raises, caught and not.
fn of(name: &str, inputs: &[(&str, Value)], output: &str) -> Vec<Drawing> {
    let add = |drawing: &mut DrawingBuilder| {
        let inputs: Vec<(&str, Value)> = inputs.to_vec();
        drawing.then(name, inputs)
    };
    let mut plain = Drawing::build("one");
    let node = add(&mut plain);
    let print = plain.then("Print", []);
    plain.connect((node, output), (print, "msg"));
    plain.output((node, output));
    let mut caught = Drawing::build("caught");
    let handler = caught.then("ExceptionHandler", []);
    let inside = caught.branch(handler, "body", name, inputs.to_vec());
    let print = caught.then("Print", []);
    caught.connect((inside, output), (print, "msg"));
    let told = caught.branch(handler, "handler", "Print", []);
    caught.connect((handler, "exception"), (told, "msg"));
    caught.after(handler);
    vec![plain.finish().unwrap(), caught.finish().unwrap()]
}

/// The component, its inputs, the output that is looked at.
type Row<'a> = (&'a str, Vec<(&'a str, Value)>, &'a str);

async fn check(rows: &[Row<'_>]) {
    let mut drawings = Vec::new();
    for (number, (name, inputs, output)) in rows.iter().enumerate() {
        for (kind, drawing) in of(name, inputs, output).into_iter().enumerate() {
            drawings.push((format!("node_{number}_{kind}_{name}"), drawing));
        }
    }
    equal(&drawings).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_of_strings_and_patterns_do_what_the_real_ones_do() {
    let text = |text: &str| Value::from(text);
    check(&[
        ("ConcatString", vec![("a", text("x")), ("b", text("y"))], "out"),
        ("ConcatString", vec![("a", text("x")), ("b", value(json!(1)))], "out"),
        ("ConcatString", vec![("a", value(json!(1))), ("b", text("x"))], "out"),
        ("ConcatString", vec![("a", value(json!([1]))), ("b", value(json!([2])))], "out"),
        (
            "FormatString",
            vec![
                ("format_str", text("{a} {{x}} {b!r} {c[k]} {c[l][0]}")),
                ("args", value(json!({"a": 1.5, "b": "q", "c": {"k": null, "l": [true]}}))),
            ],
            "out_str",
        ),
        ("FormatString", vec![("format_str", text("{missing}")), ("args", value(json!({})))], "out_str"),
        ("FormatString", vec![("format_str", text("{")), ("args", value(json!({"a": 1})))], "out_str"),
        ("SplitString", vec![("string", text(" a b  c ")), ("ch", text(" "))], "out"),
        ("SplitString", vec![("string", text(" a\tb \n c "))], "out"),
        ("SplitString", vec![("string", text("x")), ("ch", text(""))], "out"),
        ("SplitString", vec![("string", value(json!(5))), ("ch", text(","))], "out"),
        ("JoinArrayWithString", vec![("array", value(json!(["a", "b"]))), ("sep", text("-"))], "out"),
        ("JoinArrayWithString", vec![("array", value(json!(["a", 1]))), ("sep", text("-"))], "out"),
        ("StringWordCharacterCount", vec![("text", text("zwei Wörter"))], "character_count"),
        ("StringStartsWith", vec![("string", text("abc")), ("prefix", text("ab"))], "starts_with"),
        ("StringStartsWith", vec![("string", text("abc")), ("prefix", value(json!(1)))], "starts_with"),
        ("StringEndsWith", vec![("string", text("abc")), ("postfix", text("x"))], "ends_with"),
        ("StringGetLength", vec![("string", text("äöü😀"))], "length"),
        ("StringGetLength", vec![("string", value(json!(1)))], "length"),
        ("StringLimitToLength", vec![("string", text("äöü")), ("max_length", value(json!(2)))], "out_string"),
        (
            "StringLimitToLength",
            vec![("string", text("äöü")), ("max_length", value(json!(-1)))],
            "out_string",
        ),
        ("StringLimitToLength", vec![("string", text("abc")), ("max_length", value(json!(9)))], "out_string"),
        ("RegexMatch", vec![("input_string", text("foobar")), ("regex_pattern", text("foo|bar"))], "match"),
        ("RegexMatch", vec![("input_string", text("xfoo")), ("regex_pattern", text("foo"))], "match"),
        ("RegexFindAll", vec![("input_string", text("axbxx")), ("regex_pattern", text("x*"))], "matches"),
        (
            "RegexFindAll",
            vec![("input_string", text("a1b22")), ("regex_pattern", text(r"([a-z])(\d+)"))],
            "matches",
        ),
        (
            "RegexFindAll",
            vec![("input_string", text("a1b22")), ("regex_pattern", text(r"[a-z](\d)?"))],
            "matches",
        ),
        (
            "RegexReplace",
            vec![
                ("input_string", text("a1 b2")),
                ("regex_pattern", text(r"(\w)(?P<n>\d)")),
                ("replacement", text(r"\g<n>\1\n")),
            ],
            "modified_string",
        ),
        (
            "RegexReplace",
            vec![("input_string", text("abc")), ("regex_pattern", text("x*")), ("replacement", text("-"))],
            "modified_string",
        ),
        (
            "RegexSplit",
            vec![("input_string", text("a, b;c")), ("regex_pattern", text(r"([,;])\s*"))],
            "split_result",
        ),
        ("RegexSplit", vec![("input_string", text("abc")), ("regex_pattern", text("x*"))], "split_result"),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_of_lists_dictionaries_and_json_do_what_the_real_ones_do() {
    let text = |text: &str| Value::from(text);
    check(&[
        ("ListAppend", vec![("the_list", value(json!([1]))), ("item", text("x"))], "out_list"),
        ("ListAppend", vec![("the_list", text("no")), ("item", text("x"))], "out_list"),
        ("ListGetItem", vec![("the_list", value(json!([1, 2]))), ("index", value(json!(-1)))], "out_item"),
        ("ListGetItem", vec![("the_list", value(json!([1, 2]))), ("index", value(json!(2)))], "out_item"),
        ("ListGetItem", vec![("the_list", value(json!([1, 2]))), ("index", text("0"))], "out_item"),
        ("ListGetItem", vec![("the_list", text("äb")), ("index", value(json!(0)))], "out_item"),
        ("ListGetItem", vec![("the_list", text("ab")), ("index", text("x"))], "out_item"),
        ("ListGetItem", vec![("the_list", value(json!(5))), ("index", value(json!(0)))], "out_item"),
        ("ListSetItem", vec![("the_list", value(json!([1, 2]))), ("index", value(json!(0))), ("item", text("z"))], "out_list"),
        ("ListSetItem", vec![("the_list", value(json!([1, 2]))), ("index", value(json!(7))), ("item", text("z"))], "out_list"),
        ("DictGetItem", vec![("the_dict", value(json!({"a": 1}))), ("key", text("a"))], "out_item"),
        ("DictGetItem", vec![("the_dict", value(json!({"a": 1}))), ("key", text("it's"))], "out_item"),
        ("DictSetItem", vec![("the_dict", value(json!({"a": 1}))), ("key", value(json!(1.0))), ("item", value(json!(2)))], "out_dict"),
        ("DictSetItem", vec![("key", value(json!([1]))), ("item", value(json!(2)))], "out_dict"),
        ("SetDictValue", vec![("obj", value(json!({}))), ("name", text("k")), ("value", value(json!(null)))], "out_dict"),
        ("GetDictValue", vec![("obj", value(json!({"k": [1]}))), ("name", text("k"))], "value"),
        ("ToJson", vec![("obj", value(json!({"ü": ["\u{1f600}\"\\", 1.0, 1e30, null, true]})))], "json_str"),
        ("FromJson", vec![("json_str", text(r#"{"a": [1, 2.0, -3e2, "A\ud83d\ude00", NaN, -Infinity, 123456789012345678901234567890], "a2": {}}"#))], "obj"),
        ("DeepCopy", vec![("data", value(json!([[1]])))], "copied_data"),
        ("IsNone", vec![], "out"),
        ("IsNotNone", vec![("a", value(json!(0)))], "out"),
        ("ComparisonComponent", vec![("a", value(json!(1))), ("b", value(json!(1.0))), ("op", text("=="))], "out"),
        ("ComparisonComponent", vec![("a", value(json!(-3))), ("b", value(json!(2))), ("op", text("<"))], "out"),
        ("ComparisonComponent", vec![("a", text("3")), ("b", value(json!(2))), ("op", text(">="))], "out"),
        ("ComparisonComponent", vec![("a", value(json!([1]))), ("b", value(json!(2))), ("op", text(">="))], "out"),
        ("CounterComponent", vec![("start_number", value(json!(3))), ("step", value(json!(2)))], "out_number"),
    ])
    .await;
}
