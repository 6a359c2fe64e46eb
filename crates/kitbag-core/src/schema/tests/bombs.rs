//! Schemas made to hurt.

use std::sync::Arc;

use serde_json::Map;

use super::*;

/// Of the thread's own time, which a busy machine does not make longer, in a debug build. What takes longest takes a
/// fifth of a second.
const MOST: Duration = Duration::from_secs(2);

/// When one without end fails instead of hanging.
const DEADLINE: Duration = Duration::from_secs(120);

/// The work runs apart, on a stack as small as any thread's.
#[track_caller]
fn within<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, receive) = std::sync::mpsc::channel();
    let timed = move || {
        let before = cpu_time();
        let done = work();
        let _ = send.send((done, cpu_time().saturating_sub(before)));
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(timed).unwrap();
    let done = receive.recv_timeout(DEADLINE);
    let (done, took) = done.unwrap_or_else(|_| panic!("{what} does not end"));
    println!("{what}: {took:?}");
    assert!(took < MOST, "{what} took {took:?}");
    done
}

/// For how long this thread has been at work.
fn cpu_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs() as u32)
}

#[track_caller]
fn compile(what: &str, raw: Value) -> Result<Arc<Schema>, SchemaError> {
    within(what, move || {
        let result = Schema::compile(&raw, &Limits::default()).map(Arc::new);
        // Dropping what is nested too deep would overflow the stack of the test itself.
        std::mem::forget(raw);
        result
    })
}

#[track_caller]
fn check(what: &str, schema: &Arc<Schema>, value: Value) -> Vec<Problem> {
    let schema = Arc::clone(schema);
    within(what, move || schema.check(&value))
}

#[track_caller]
fn refuse(what: &str, raw: Value, want: SchemaError) {
    assert_eq!(compile(what, raw).err(), Some(want), "{what}");
}

const FAN_OUT: SchemaError = SchemaError::FanOut { limit: 10_000 };
const TOO_LARGE: &str = "is too large to be checked against this schema";

/// `count` definitions, each made from the reference to the next.
fn chain(count: usize, link: impl Fn(Value) -> Value) -> Value {
    let mut defs = Map::new();
    for number in 0..count {
        defs.insert(format!("d{number}"), link(json!({ "$ref": format!("#/$defs/d{}", number + 1) })));
    }
    defs.insert(format!("d{count}"), json!({ "type": "string", "minLength": 2 }));
    json!({ "$ref": "#/$defs/d0", "$defs": defs })
}

/// `{"a": {"a": … }}`.
fn nested(depth: usize, innermost: Value) -> Value {
    (0..depth).fold(innermost, |inner, _| Value::Object(Map::from_iter([("a".to_owned(), inner)])))
}

#[test]
fn t25_references_that_multiply_are_refused() {
    for keyword in ["allOf", "anyOf", "oneOf"] {
        refuse(keyword, chain(30, |next| json!({ keyword: [next.clone(), next] })), FAN_OUT);
    }
    let raw = chain(30, |next| json!({ "not": next.clone(), "if": next.clone(), "then": next }));
    refuse("not and if", raw, FAN_OUT);
    let raw = chain(30, |next| json!({ "dependentSchemas": { "a": next.clone(), "b": next } }));
    refuse("dependentSchemas", raw, FAN_OUT);
}

#[test]
fn t25_references_that_multiply_just_below_the_limit() {
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let raw = chain(11, |next| json!({ keyword: [next.clone(), next] }));
        let schema = compile(keyword, raw).unwrap();
        assert_ne!(check("a text", &schema, json!("")), [], "{keyword}");
        assert_ne!(check("an object", &schema, json!({})), [], "{keyword}");
    }
}

/// One level of the value each, but two ways to it.
#[test]
fn t25_references_that_multiply_with_the_depth_of_the_value() {
    let twice =
        |keyword: &str, next: Value| json!({ "properties": { "a": { keyword: [next.clone(), next] } } });
    for keyword in ["allOf", "anyOf"] {
        let row = compile("a row", chain(30, |next| twice(keyword, next))).unwrap();
        let circle = compile("a circle", twice(keyword, json!({ "$ref": "#" }))).unwrap();
        for schema in [row, circle] {
            assert_eq!(check("flat", &schema, nested(8, json!("xx"))), [], "{keyword}");
            // Around the most that is tried.
            for depth in 12..20 {
                check(&format!("{keyword} {depth}"), &schema, nested(depth, json!("xx")));
            }
            for depth in [30, 100] {
                let problems = check("deep", &schema, nested(depth, json!("xx")));
                assert_eq!(problems[0].message, TOO_LARGE, "{keyword}");
            }
        }
    }
    // What is wrong is not collected where that could take long.
    let raw =
        json!({ "type": "object", "properties": { "a": { "anyOf": [{ "$ref": "#" }, { "$ref": "#" }] } } });
    let schema = compile("a circle of objects", raw).unwrap();
    for depth in 1..20 {
        assert_ne!(check("wrong", &schema, nested(depth, json!("xx"))), [], "{depth}");
    }
    let problems = check("wrong", &schema, nested(16, json!("xx")));
    assert_eq!(problems, [Problem::new("", "does not match the schema")]);
}

/// Each level asks what the next has looked at, which has to ask again.
#[test]
fn t25_unevaluated_in_a_row() {
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let asks =
            |next| json!({ keyword: [next], "unevaluatedProperties": false, "unevaluatedItems": false });
        let schema = compile(keyword, chain(8, asks)).unwrap();
        assert_ne!(check("an object", &schema, json!({ "a": 1 })), [], "{keyword}");
        refuse(keyword, chain(30, asks), FAN_OUT);
    }
    let each = |n: usize| (format!("p{n}"), json!({ "$ref": "#/$defs/d0", "unevaluatedProperties": false }));
    let mut raw = chain(10, |next| json!({ "allOf": [next.clone(), next] }));
    raw["properties"] = (0..40).map(each).collect();
    refuse("many that ask", raw, FAN_OUT);
}

#[test]
fn t25_references_in_a_row_or_in_a_circle_are_refused() {
    refuse("a row", chain(5_000, |next| next), SchemaError::Deep { limit: 64 });
    let defs = json!({ "a": { "$ref": "#/$defs/b" }, "b": { "allOf": [{ "$ref": "#/$defs/a" }] } });
    refuse("a circle", json!({ "$ref": "#/$defs/a", "$defs": defs }), SchemaError::Loop);
    refuse("itself", json!({ "$ref": "#" }), SchemaError::Loop);
}

#[test]
fn t25_size_and_depth_are_refused() {
    refuse("deep", nested(100_000, json!({})), SchemaError::Deep { limit: 64 });
    let wide: Map<_, _> = (0..1_000_000).map(|n| (format!("p{n}"), Value::Bool(true))).collect();
    let wide = Value::Object(Map::from_iter([("properties".to_owned(), Value::Object(wide))]));
    refuse("wide", wide, SchemaError::Large { limit: 20_000 });
    let long = json!({ "enum": ["x".repeat(2 << 20)] });
    refuse("long", long, SchemaError::Long { limit: 1 << 20 });
}

#[test]
fn t25_large_but_allowed() {
    let each = |n: usize| (format!("p{n}"), json!({ "type": "string" }));
    let wide: Map<_, _> = (0..9_000).map(each).collect();
    let schema = compile("wide", json!({ "properties": wide })).unwrap();
    assert_eq!(check("one of many", &schema, json!({ "p1": "x" })), []);
    let both = |next: Value| json!({ "properties": { "a": next.clone(), "b": next } });
    let schema = compile("two names for each next", chain(60, both)).unwrap();
    assert_eq!(check("one way through it", &schema, nested(60, json!("xx"))), []);
    let options: Vec<_> = (0..15_000).collect();
    let schema = compile("options", json!({ "items": { "enum": options } })).unwrap();
    assert_ne!(check("many against many", &schema, json!(vec!["x"; 100_000])), []);
}

/// As deep as is allowed in every direction at once.
#[test]
fn t25_the_stack_is_enough() {
    let deep = |inner: Value| (0..50).fold(inner, |inner, _| json!({ "items": inner }));
    let schema = compile("deep definitions in a row", chain(40, deep)).unwrap();
    let lists = (0..127).fold(json!("xx"), |inner, _| json!([inner]));
    check("lists", &schema, lists);
    let parts = (0..12).fold(json!({ "$ref": "#" }), |inner, _| json!({ "allOf": [inner] }));
    let around = json!({ "items": parts });
    let schema = compile("around and around", around).unwrap();
    for depth in 30..40 {
        check("lists, around", &schema, (0..depth).fold(json!("xx"), |inner, _| json!([inner])));
    }
    let text = check(
        "a value that no parser gives",
        &schema,
        (0..5_000).fold(json!(1), |inner, _| Value::Array(vec![inner])),
    );
    assert_eq!(text[0].message, TOO_LARGE);
}

#[test]
fn t25_patterns_that_explode_when_compiled() {
    let schema = compile("giant", json!({ "pattern": "(a{1000}){1000}" })).unwrap();
    let why = "is a pattern that cannot be checked in linear time and bounded memory, it is not checked";
    assert_eq!(schema.notes(), [format!("/pattern {why}")]);
    let many = |pattern: fn(usize) -> String| {
        let each = |n| (format!("p{n}"), json!({ "pattern": pattern(n) }));
        json!({ "properties": (0..2_000).map(each).collect::<Map<_, _>>() })
    };
    let schema = compile("many giants", many(|n| format!("([a-z]{{{n}}}x){{99}}{n}"))).unwrap();
    assert_eq!(schema.notes().len(), 17);
    let schema = compile("many", many(|n| format!("^[a-z]{{{n}}}$"))).unwrap();
    assert!(schema.notes()[0].contains("is one of too many patterns"), "{:?}", schema.notes());
    compile("escapes", json!({ "pattern": "\\cA".repeat(600) })).unwrap();
}

#[test]
fn t25_patterns_that_explode_when_asked() {
    let text = "a".repeat(1 << 20) + "!";
    for pattern in ["(a+)+$", "^(a|aa)+$"] {
        let schema = compile(pattern, json!({ "pattern": pattern })).unwrap();
        let problems = check("a long text", &schema, json!(text));
        assert!(problems[0].message.ends_with(&format!("does not match the pattern {pattern}")));
    }
    // Linear time is the length of the text times the size of the pattern: eight seconds for these, unbounded.
    let mut state = 1u32;
    let mut coin = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if state >> 31 == 0 { 'a' } else { 'b' }
    };
    let mixed: String = (0..1 << 20).map(|_| coin()).collect();
    for pattern in ["^[ab]*a[ab]{600}[ab]*c?d$", r"^(\S*a\S{90}){3}!$", "(a|b)*a(a|b){900}c$"] {
        let schema = compile(pattern, json!({ "pattern": pattern })).unwrap();
        for length in [1 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 1 << 20] {
            assert_ne!(check("a mixed text", &schema, json!(mixed[..length])), [], "{length}");
        }
        let names = json!({ "patternProperties": { pattern: true } });
        let names = compile("names", names).unwrap();
        check("a mixed name", &names, Value::Object(Map::from_iter([(mixed.clone(), json!(1))])));
    }
}

/// The other readers of a schema have no compiled form and bounds of their own.
#[test]
fn t25_reading_without_compiling_is_bounded() {
    let fan =
        chain(30, |next| json!({ "anyOf": [next.clone(), next.clone()], "allOf": [next.clone(), next] }));
    let list = json!({ "type": "array", "items": fan, "$defs": fan["$defs"] });
    for raw in [fan, list] {
        within("coerce", {
            let raw = raw.clone();
            move || {
                coerce(&raw, &mut json!(vec!["3"; 10_000]));
                coerce(&raw, &mut json!({ "a": "3" }));
                property(&raw, "a").cloned()
            }
        });
        assert_eq!(within("example", move || example(&raw)), None);
    }
    let each = |n: usize| (format!("p{n}"), json!({ "$ref": "#" }));
    let wide: Map<_, _> = (0..5_000).map(each).collect();
    let raw = json!({ "type": "object", "properties": wide, "required": ["p1", "p2"], "anyOf": [{ "$ref": "#/$defs/a" }], "$defs": { "a": { "minProperties": 30 } } });
    within("a wide example", move || example(&raw));
    within("a deep one", || {
        let raw = nested(100_000, json!({}));
        let found = (property(&raw, "a").is_some(), example(&raw), neutral_schema(&raw).is_err());
        std::mem::forget(raw);
        assert_eq!(found, (false, None, true));
    });
}

/// A model's arguments times a server's schema.
#[test]
fn f4_arguments_of_a_megabyte_are_read_in_time() {
    let numbers = |count: usize| (0..count).map(Value::from).collect::<Vec<_>>();
    let branches = |count: u32| -> Vec<Value> {
        (0..count).map(|least| json!({"type": "integer", "minimum": 1_000_000 + least})).collect()
    };
    let words: Vec<String> = (0..3_000).map(|number| format!("w{number}")).collect();
    for (what, items) in [
        ("choices", json!({"items": {"anyOf": branches(500)}})),
        ("one of", json!({"items": {"oneOf": branches(500)}})),
        ("enum", json!({"items": {"enum": words}})),
        ("unique", json!({"uniqueItems": true})),
    ] {
        let mut list = items;
        list["type"] = "array".into();
        let raw = json!({"type": "object", "properties": {"a": list}});
        let schema = compile(what, raw.clone()).unwrap();
        let texts: Vec<Value> = numbers(100_000).iter().map(|number| number.to_string().into()).collect();
        for given in [numbers(100_000), texts] {
            let (schema, raw) = (schema.clone(), raw.clone());
            within(what, move || {
                let text = json!({"a": given}).to_string();
                let mut given = parse_unique(&text).unwrap();
                schema.check(&given);
                schema.accepts_text(&text);
                crate::schema::coerce(&raw, &mut given);
                crate::schema::read_text(&raw, &text);
            });
        }
    }
}
