//! What is slimmed takes and refuses the same arguments.

use kitbag_core::Limits;
use kitbag_core::present::native::{NativeRequest, Provider, Slim, compile_tool};
use kitbag_core::schema::Schema;
use serde_json::{Map, Value, json};

use super::corpus::{live, servers, view};
use super::round_trip::{arguments, schema_of};

/// Arguments near to valid ones.
fn near(valid: &Map<String, Value>) -> Vec<Map<String, Value>> {
    let mut all = vec![valid.clone(), Map::new()];
    for key in valid.keys() {
        let mut without = valid.clone();
        without.shift_remove(key);
        all.push(without);
        for wrong in [
            json!(null),
            json!(-1),
            json!(1e9),
            json!(""),
            json!("x"),
            json!([]),
            json!([{}]),
            json!({}),
            json!(true),
        ] {
            let mut changed = valid.clone();
            changed.insert(key.clone(), wrong);
            all.push(changed);
        }
        if let Some(Value::Object(inner)) = valid.get(key) {
            let mut changed = valid.clone();
            let mut inner = inner.clone();
            inner.insert("unknown thing".to_owned(), json!(1));
            changed.insert(key.clone(), Value::Object(inner));
            all.push(changed);
        }
    }
    let mut more = valid.clone();
    more.insert("unknown thing".to_owned(), json!(1));
    all.push(more);
    all
}

#[test]
fn slimming_changes_nothing_that_validates() {
    let (mut agreed, mut refused) = (0, 0);
    for parts in [servers(), live()] {
        let view = view(parts);
        for shown in view.tools() {
            let own = Schema::compile(&shown.tool.input, &Limits::default()).unwrap();
            let tried: Vec<_> =
                arguments(&shown.tool.input).iter().flat_map(near).map(Value::Object).collect();
            for (provider, slim) in [
                (Provider::OpenAiChat, Slim::On),
                (Provider::Anthropic, Slim::On),
                (Provider::Generic, Slim::Off),
            ] {
                {
                    let request = NativeRequest { slim, ..NativeRequest::new(provider) };
                    let compiled = compile_tool(&shown.name, &shown.tool, &request).unwrap();
                    if !compiled.back.is_plain() {
                        continue;
                    }
                    let theirs = schema_of(provider, &compiled.definition).unwrap();
                    let theirs = Schema::compile(theirs, &Limits::default()).unwrap();
                    for value in &tried {
                        let valid = own.check(value).is_empty();
                        assert_eq!(
                            theirs.check(value).is_empty(),
                            valid,
                            "{} {provider} {value}",
                            shown.name
                        );
                        agreed += 1;
                        refused += usize::from(!valid);
                    }
                }
            }
        }
    }
    assert!(30_000 < agreed && agreed / 4 < refused, "{agreed}, {refused} refused");
}
