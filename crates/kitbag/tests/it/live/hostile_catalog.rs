//! Catalogs made to deceive: hidden characters, colliding names, lying annotations, broken definitions, bombs.

use std::collections::{BTreeMap, BTreeSet};
use std::net::TcpListener;
use std::sync::Arc;

use kitbag::{
    ApprovalAnswer, ApprovalRequest, Approver, Authorize, BoxFuture, Decision, ErrorKind, Fault, FaultKind,
    Kitbag, LinkState, OpenOptions, Tool, UserId, View,
};
use kitbag_core::text::is_hidden;
use serde_json::Value;

use super::farm::{Opens as _, Use as _};
use super::{Farm, calm, first, names};
use testkit::in_time;

/// Everything a model or a person reads of a view and its faults.
fn shown(kit: &Kitbag, view: &View) -> Vec<String> {
    let mut texts = Vec::new();
    for shown in view.tools().iter().chain(view.shadowed()) {
        let tool = &shown.tool;
        texts.extend([shown.name.to_string(), shown.full.to_string(), tool.description.clone()]);
        texts.extend(tool.title.clone().into_iter().chain(tool.category.clone()));
        texts.extend(view.notes_of(shown).iter().map(ToString::to_string));
        texts
            .extend([strings(&tool.input), tool.output.as_deref().map(strings).unwrap_or_default()].concat());
        texts.extend(shown.examples().iter().flat_map(strings));
    }
    texts.extend(view.left_out().iter().map(|left| format!("{} {:?}", left.tool, left.trail)));
    texts.extend(kit.faults().iter().chain(view.faults()).map(ToString::to_string));
    texts
}

/// Every string in a value, keys too: JSON text would hide what is escaped in it.
fn strings(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(fields) => {
            fields.iter().flat_map(|(key, value)| [vec![key.clone()], strings(value)].concat()).collect()
        }
        _ => Vec::new(),
    }
}

#[track_caller]
fn is_plain(text: &str) {
    let bad = |c: char| c.is_control() && !matches!(c, '\n' | '\t') || is_hidden(c);
    let found: Vec<String> =
        text.chars().filter(|c| bad(*c)).map(|c| c.escape_unicode().to_string()).collect();
    assert!(found.is_empty(), "{found:?} in {:?}", kitbag_core::text::visible(text));
}

#[tokio::test]
async fn t20_no_hidden_character_reaches_a_model_and_the_original_stays() {
    for (fault, original) in [("c02", "\u{e0001}"), ("c02:escaped", "\u{e0001}"), ("c03", "\u{1b}[2J")] {
        let farm = Farm::of("x", &["--fault", fault]);
        let kit = farm.open(calm()).await;
        let view = kit.own_view();
        assert!(names(&view).contains(&"mcp_x_plain".to_owned()), "{fault}: {:?}", names(&view));
        for text in shown(&kit, &view) {
            is_plain(&text);
        }
        let raw: Vec<String> = kit.snapshot().tools().flat_map(|tool| strings(&tool.raw)).collect();
        assert!(raw.iter().any(|text| text.contains(original)), "{fault}: the original is kept");
        // What carries meaning on the wire cannot be made harmless: those tools are out, each with a reason.
        let faults: Vec<Fault> = kit.faults();
        let faults = faults.iter().filter(|fault| fault.kind == FaultKind::BadTool);
        let faults: Vec<String> = faults.map(ToString::to_string).collect();
        let out = if fault == "c03" {
            vec!["na"]
        } else {
            vec!["ghost", "hidden_property", "hidden_enum", "hidden_twins", "tw"]
        };
        for name in &out {
            assert!(
                faults.iter().any(|text| text.contains(name) && text.contains("left out")),
                "{fault} {name}: {faults:#?}"
            );
        }
        assert_eq!(faults.len(), out.len(), "{fault}: {faults:#?}");
        farm.close(kit).await;
    }
}

#[tokio::test]
async fn t20_no_hidden_character_of_a_result_or_failure_reaches_a_model_or_a_log() {
    let farm = Farm::of("x", &["--fault", "c03"]);
    let kit = farm.open(calm()).await;
    for tool in ["say", "fail_loudly", "structured", "link", "plain"] {
        let result = kit.call(&format!("mcp_x_{tool}"), r#"{"text":"\u001b[2J"}"#).await.unwrap();
        let blocks = result.for_model();
        assert!(!blocks.is_empty(), "{tool}");
        for block in blocks {
            // A JSON text in it is read, too: what is only escaped there comes back to life.
            let text = block.as_text().and_then(|text| serde_json::from_str::<Value>(text).ok());
            let inner = text.map(|value| strings(&value)).unwrap_or_default();
            for text in
                strings(block.as_value()).iter().chain(if tool == "plain" { &[] } else { inner.as_slice() })
            {
                is_plain(text);
            }
        }
        result.info.notes.iter().for_each(|note| is_plain(note));
    }
    let refused = kit.call("mcp_x_refuse", "{}").await.unwrap_err();
    assert_eq!(refused.kind, ErrorKind::ServerError);
    assert!(refused.for_model().contains("said"), "{}", refused.for_model());
    is_plain(&refused.for_model());
    is_plain(&refused.to_string());
    let strange = kit.call("mcp_x_\u{202e}\u{1b}[2Jsay", "{}").await.unwrap_err();
    is_plain(&strange.for_model());
    is_plain(&strange.to_string());
    for record in kit.recent_calls() {
        is_plain(&record.line());
    }
    farm.close(kit).await;
    is_plain(&farm.log("x"));
}

#[tokio::test]
async fn t22_names_that_collide_reach_their_own_server_and_tool() {
    let farm = Farm::of("acme_", &["--fault", "c05:a"]);
    farm.add("acme", &["--fault", "c05:b"]);
    let kit = farm.open(calm()).await;
    for names in ["full", "short", "bare"] {
        farm.settings(&format!("[present]\nnames = '{names}'"));
        kit.reload().await.unwrap();
        let view = kit.own_view();
        let theirs: Vec<_> =
            view.tools().iter().filter(|shown| shown.tool.server.as_str() != "local").collect();
        let distinct: BTreeSet<&str> = theirs.iter().map(|shown| shown.name.as_str()).collect();
        assert_eq!((theirs.len(), distinct.len()), (12, 12), "{distinct:?}");
        assert!(distinct.iter().all(|name| name.len() <= 64), "{distinct:?}");
        for shown in theirs {
            let label = if shown.tool.server.as_str() == "acme" { "b" } else { "a" };
            for name in [&shown.name, &shown.full] {
                let result = kit.call(name.as_str(), "{}").await.unwrap();
                assert_eq!(first(&result), format!("{label}/{}", shown.tool.name), "{name}");
            }
        }
        // A name that both could mean is not guessed.
        let both = kit.call("get_file", "{}").await;
        if names != "bare" {
            assert_eq!(both.unwrap_err().kind, ErrorKind::Ambiguous, "{names}");
        }
    }
    farm.close(kit).await;
}

/// Decides by what the operator says alone; notes what it was asked.
struct ByName;

impl Authorize for ByName {
    fn authorize(&self, _: &UserId, tool: &Tool) -> Decision {
        if tool.name.as_str() == "look" { Decision::Ask } else { Decision::Allow }
    }
}

/// A person who approves of everything.
struct Yes;

impl Approver for Yes {
    fn approve(&self, _: ApprovalRequest) -> BoxFuture<'_, ApprovalAnswer> {
        Box::pin(async { ApprovalAnswer::Once })
    }
}

#[tokio::test]
async fn t23_lying_annotations_change_no_decision() {
    let mut seen = Vec::new();
    for fault in ["c07", "c07:plain"] {
        let farm = Farm::new();
        let once = farm.house.at("once");
        farm.add("x", &["--fault", fault, "--cut", "request:kill", "--once", &once]);
        farm.settings("[servers.x]\napprove = ['look']\nread_only = ['look']");
        let (permit, approver) = (Some(Arc::new(ByName) as _), Some(Arc::new(Yes) as _));
        let options = OpenOptions { permit, approver, ..farm.options(calm()) };
        let kit = farm.open_with(options).await;
        let view = kit.own_view();
        let tools: BTreeMap<String, String> = view
            .tools()
            .iter()
            .map(|shown| {
                let decision = ByName.authorize(&UserId::local(), &shown.tool);
                (shown.name.to_string(), format!("{:?} {decision:?} {:?}", shown.tool.marks, shown.trail))
            })
            .collect();
        // `wipe` says it is idempotent and only reads: it is not repeated for that.
        let lost = kit.call("mcp_x_wipe", r#"{"path":"/"}"#).await.unwrap_err();
        assert_eq!((lost.kind, farm.count("x", "exec wipe")), (ErrorKind::OutcomeUnknown, 0), "{fault}");
        std::fs::remove_file(&once).unwrap();
        let looked = kit.call("mcp_x_look", r#"{"path":"/"}"#).await.unwrap();
        assert_eq!((looked.info.retries, farm.count("x", "exec look")), (1, 1), "{fault}");
        seen.push((tools, lost.for_model()));
        farm.close(kit).await;
    }
    assert_eq!(seen[0], seen[1]);
}

#[tokio::test]
async fn t24_s4_12_a_broken_definition_costs_itself_alone() {
    let farm = Farm::of("x", &["--fault", "c06"]);
    let kit = farm.open(calm()).await;
    let view = kit.own_view();
    let listed: Vec<String> =
        names(&view).into_iter().filter_map(|name| Some(name.strip_prefix("mcp_x_")?.to_owned())).collect();
    for name in [
        "first",
        "middle",
        "last",
        "about_number",
        "about_null",
        "title_list",
        "schema_missing",
        "schema_null",
        "schema_untyped",
        "twice",
        "hints_list",
        "hints_text",
        "output_garbage",
        "output_list",
    ] {
        assert!(listed.contains(&name.to_owned()), "no {name} in {listed:?}");
    }
    // Listed or left out with a reason, each of the 31 definitions; never both, never neither.
    let faults: Vec<String> = kit.faults().iter().map(ToString::to_string).collect();
    println!("{} listed, {} left out: {faults:#?}", listed.len(), faults.len());
    assert_eq!(listed.len() + faults.len(), 3 + 16 + 1 + 12, "{listed:?} {faults:#?}");
    assert!(faults.iter().all(|text| text.starts_with("x: ") && text.contains("left out: ")), "{faults:#?}");
    for name in ["schema_text", "schema_list", "schema_of_text"] {
        assert!(faults.iter().any(|text| text.contains(name)), "{name}: {faults:#?}");
    }
    // What is listed is callable, or says why its schema cannot be used, before anything is sent.
    for name in &listed {
        let sent = farm.count("x", "call");
        match kit.call(&format!("mcp_x_{name}"), "{}").await {
            Ok(_) => assert_eq!(farm.count("x", "call"), sent + 1, "{name}"),
            Err(failure) => {
                assert_eq!(
                    (failure.kind, farm.count("x", "call")),
                    (ErrorKind::InvalidArguments, sent),
                    "{failure}"
                );
                assert!(failure.message.contains("schema"), "{name}: {failure}");
            }
        }
    }
    for name in ["first", "middle", "last"] {
        assert_eq!(farm.count("x", &format!("exec {name}")), 1);
    }
    farm.close(kit).await;
}

#[tokio::test]
async fn t25_schema_bombs_harm_nobody_and_a_tree_is_a_tree() {
    let farm = Farm::of("x", &["--fault", "c08"]);
    let kit = farm.open(calm()).await;
    kit.reaches("x", LinkState::Ready).await;
    let all = names(&kit.own_view());
    for name in ["tree", "slow_pattern", "look_around", "plain"] {
        assert!(all.contains(&format!("mcp_x_{name}")), "{name}: {all:?} {:?}", kit.faults());
    }
    let tree =
        r#"{"root":{"value":"r","children":[{"value":"a","children":[{"value":"b"}]},{"value":"c"}]}}"#;
    kit.call("mcp_x_tree", tree).await.unwrap();
    assert_eq!(farm.arrived("x"), [tree]);
    let bad =
        kit.call("mcp_x_tree", r#"{"root":{"value":"r","children":[{"children":[]}]}}"#).await.unwrap_err();
    assert_eq!(bad.kind, ErrorKind::InvalidArguments, "{bad}");
    let rows = [
        ("fan_out", r#"{"top":{"left":{"left":{"right":{}}}}}"#),
        ("loop", r#"{"a":1,"self":2}"#),
        ("nested", r#"{"in":{"in":{}}}"#),
        ("slow_pattern", r#"{"text":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"}"#),
        ("huge_pattern", r#"{"text":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"}"#),
        ("look_around", r#"{"ahead":"admin1","behind":"x","back":"aaa"}"#),
        ("wide", r#"{"p00001":"a"}"#),
        ("plain", r#"{"text":"t"}"#),
    ];
    for (name, arguments) in rows {
        let done = in_time(kit.call(&format!("mcp_x_{name}"), arguments)).await;
        if let Err(failure) = done {
            assert!(matches!(failure.kind, ErrorKind::InvalidArguments | ErrorKind::NotFound), "{failure}");
            assert!(!failure.message.is_empty() && failure.for_model().len() < 10_000, "{failure}");
            // What could never be called is not listed.
            let gone = !all.contains(&format!("mcp_x_{name}"));
            assert_eq!(failure.kind == ErrorKind::NotFound, gone, "{name}: {failure}");
            assert!(!failure.message.contains("cannot be used"), "{failure}");
        }
    }
    farm.close(kit).await;
}

#[tokio::test]
async fn t25_a_definition_too_deep_to_read_costs_no_other() {
    let farm = Farm::of("deep", &["--fault", "c08:deep"]);
    farm.add("good", &[]);
    let kit = farm.start(calm());
    kit.lives("good").await;
    kit.on("deep").settled().await;
    let why = format!("{:?}", kit.faults());
    assert!(why.contains("abyss") && why.contains("is nested too deep"), "{why}");
    kit.lives("good").await;
    farm.close(kit).await;
}

#[tokio::test]
async fn t25_nothing_is_fetched_for_a_schema() {
    let canary = TcpListener::bind("127.0.0.1:0").unwrap();
    canary.set_nonblocking(true).unwrap();
    let port = canary.local_addr().unwrap().port();
    let farm = Farm::of("x", &["--fault", &format!("c09:{port}")]);
    let kit = farm.open(calm()).await;
    for name in ["local", "local_anchor", "local_id"] {
        kit.call(&format!("mcp_x_{name}"), r#"{"a":"word"}"#).await.unwrap();
        let wrong = kit.call(&format!("mcp_x_{name}"), r#"{"a":[7]}"#).await.unwrap_err();
        assert_eq!(wrong.kind, ErrorKind::InvalidArguments, "{name}: the reference counts: {wrong}");
    }
    let faults = kit.faults();
    for name in ["ext", "ext_file", "ext_relative", "ext_id", "ext_dynamic", "ext_deep"] {
        let refused = kit.call(&format!("mcp_x_{name}"), r#"{"a":"word"}"#).await.unwrap_err();
        assert_eq!(refused.kind, ErrorKind::NotFound, "{name}: {refused}");
        let told = |fault: &&Fault| fault.message.contains(&format!("{name:?}"));
        let fault = faults.iter().find(told).unwrap_or_else(|| panic!("{name}: {faults:?}"));
        assert!(fault.message.contains("outside of it"), "{fault}");
        assert_eq!(farm.count("x", &format!("exec {name}")), 0);
    }
    // An unknown dialect is no reason to fetch one.
    let _ = kit.call("mcp_x_ext_meta", r#"{"a":"word"}"#).await;
    farm.close(kit).await;
    assert_eq!(canary.accept().err().unwrap().kind(), std::io::ErrorKind::WouldBlock, "somebody called");
}
