//! The tools of real servers in every provider's words: each keeps that provider's rules, and arguments come
//! back as they were.

mod corpus;
mod hostile;
mod legal;
mod round_trip;
mod rules;
mod sdks;
mod slim;

use std::fmt::Write as _;

use kitbag_core::present::native::{Native, NativeRequest, Provider, Slim, Strict, compile};

use corpus::{live, part, servers, view};

/// Every way to ask for definitions.
pub(crate) fn requests() -> Vec<NativeRequest> {
    let mut requests = Vec::new();
    for provider in Provider::ALL {
        for strict in [Strict::Off, Strict::WithinBudget] {
            for slim in [Slim::On, Slim::Off] {
                requests.push(NativeRequest { strict, slim, ..NativeRequest::new(provider) });
            }
        }
    }
    requests
}

fn definitions(native: &Native) -> Vec<&serde_json::Value> {
    let list = native.tools.as_array().unwrap();
    let inner = list.first().and_then(|first| first.get("functionDeclarations"));
    inner.map_or(list, |inner| inner.as_array().unwrap()).iter().collect()
}

#[test]
fn every_definition_keeps_its_providers_rules() {
    for parts in [servers(), live()] {
        let view = view(parts);
        for request in requests() {
            let native = compile(&view, &request);
            let all = definitions(&native);
            assert_eq!(all.len() + native.quarantined.len(), view.tools().len());
            let found: Vec<String> = all.iter().flat_map(|one| rules::broken(&request, one)).collect();
            assert!(found.is_empty(), "{request:?}: {} broken\n{}", found.len(), found.join("\n"));
            let found = rules::broken_together(&request, &all);
            assert!(found.is_empty(), "{request:?}: {found:?}");
        }
    }
}

#[test]
fn the_order_is_that_of_the_view_and_the_bytes_are_stable() {
    let (one, two) = (view(servers()), view(servers().into_iter().rev().collect()));
    for request in requests() {
        let (first, second) = (compile(&one, &request), compile(&two, &request));
        assert_eq!(first.tools.to_string(), second.tools.to_string(), "{request:?}");
        let named = |one: &serde_json::Value| {
            one.get("function").unwrap_or(one).get("name").unwrap().as_str().unwrap().to_owned()
        };
        let names: Vec<String> = definitions(&first).into_iter().map(named).collect();
        let listed = one.tools().iter().map(|shown| shown.name.to_string());
        let left_out = |name: &String| !first.quarantined.iter().any(|one| one.name.as_str() == name);
        assert_eq!(names, listed.filter(left_out).collect::<Vec<_>>());
    }
}

#[test]
fn quarantine_and_notes_are_reviewed() {
    let mut out = String::new();
    let odd = vec![part("odd", &hostile::bad())];
    for (corpus, parts) in [("servers", servers()), ("livemcpbench", live()), ("odd ones", odd)] {
        let view = view(parts);
        for request in requests().into_iter().filter(|request| request.slim == Slim::On) {
            let native = compile(&view, &request);
            let (count, left_out) = (definitions(&native).len(), native.quarantined.len());
            writeln!(
                out,
                "# {corpus}, {}, strict {:?}: {count} tools, {left_out} left out",
                request.provider, request.strict
            )
            .unwrap();
            for one in &native.quarantined {
                writeln!(out, "left out {} ({}/{}): {}", one.name, one.server, one.tool, one.why).unwrap();
            }
            let mut kinds = std::collections::BTreeMap::<&str, Vec<&str>>::new();
            for note in &native.notes {
                kinds
                    .entry(&note.text)
                    .or_default()
                    .push(note.tool.as_ref().map_or("", |tool| tool.as_str()));
            }
            for (text, tools) in kinds {
                writeln!(
                    out,
                    "{:>4} {text}: {}{}",
                    tools.len(),
                    tools[0],
                    if tools.len() == 1 { "" } else { ", …" }
                )
                .unwrap();
            }
            out.push('\n');
        }
    }
    insta::with_settings!({snapshot_path => "../golden", prepend_module_to_snapshot => false, omit_expression => true}, {
        insta::assert_snapshot!("native__quarantine", out);
    });
}

/// Bytes of compact JSON on the servers' tools; tokens are counted where there is a tokenizer.
#[test]
fn sizes_stay_within_bounds() {
    let view = view(servers());
    let mut out = String::new();
    for provider in Provider::ALL {
        let size = |slim| {
            compile(&view, &NativeRequest { slim, ..NativeRequest::new(provider) }).tools.to_string().len()
        };
        writeln!(out, "{provider}: {} full, {} slim", size(Slim::Off), size(Slim::On)).unwrap();
    }
    insta::with_settings!({snapshot_path => "../golden", prepend_module_to_snapshot => false, omit_expression => true}, {
        insta::assert_snapshot!("native__sizes", out);
    });
}
