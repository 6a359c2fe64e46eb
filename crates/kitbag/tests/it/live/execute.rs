//! One way to call: arguments are brought into shape or refused before anything is sent, every end has its
//! kind and its words, calls side by side stay apart.

use std::time::Duration;

use kitbag::connect::StartServers;
use kitbag::{CallError, ErrorKind, Kitbag, OpenOptions, Repair, ToolCall, UserId};
use serde_json::{Value, json};

use super::farm::{Opens as _, Use as _};
use super::{Farm, calm, first};
use testkit::{PATIENCE, Since, in_time, until};

/// A farm with a server `x` that notes what it gets, by a schema with every kind of argument.
fn strict() -> Farm {
    let properties = json!({
        "n": {"type": "integer", "minimum": 1}, "x": {"type": "number"}, "on": {"type": "boolean"},
        "list": {"type": "array", "items": {"type": "integer"}}, "map": {"type": "object"},
        "text": {"type": "string"}, "mode": {"enum": ["fast", "slow"]},
    });
    let schema =
        json!({"type": "object", "properties": properties, "required": ["n"], "additionalProperties": false});
    let farm = Farm::new();
    farm.add_echo("x", &json!([{"name": "take", "description": "Takes", "inputSchema": schema}]));
    farm
}

#[tokio::test]
async fn s1_9_arguments_written_as_text_are_read_by_the_schema() {
    let rows = [
        // What fits travels as it was written.
        (r#"{"n": 1,  "x":1.50}"#, r#"{"n": 1,  "x":1.50}"#),
        (r#"{"n":"3"}"#, r#"{"n":3}"#),
        (r#"{"n":3,"x":"1.5","on":"true"}"#, r#"{"n":3,"x":1.5,"on":true}"#),
        (r#"{"n":3,"list":"[1,2]","map":"{\"a\":[true]}"}"#, r#"{"n":3,"list":[1,2],"map":{"a":[true]}}"#),
        (r#"{"n":3,"list":["1",2]}"#, r#"{"n":3,"list":[1,2]}"#),
        // A text that is wanted as one stays one.
        (r#"{"n":3,"text":"[1,2]"}"#, r#"{"n":3,"text":"[1,2]"}"#),
        // All of it as a text, as some models do.
        (r#""{\"n\": 3, \"text\":\"a\"}""#, r#"{"n": 3, "text":"a"}"#),
        // What is not touched keeps every digit.
        (
            r#"{"n":"3","x":1.50,"map":{"big":123456789012345678901234567890}}"#,
            r#"{"n":3,"x":1.50,"map":{"big":123456789012345678901234567890}}"#,
        ),
        (r#""{\"n\":\"3\"}""#, r#"{"n":3}"#),
    ];
    let farm = strict();
    let kit = farm.open(calm()).await;
    for (given, arrived) in rows {
        let done = kit.call("mcp_x_take", given).await;
        let result = done.unwrap_or_else(|failure| panic!("{given}: {}", failure.for_model()));
        assert_eq!(farm.arrived("x").last().unwrap(), arrived, "{given}");
        let same =
            serde_json::from_str::<Value>(given).unwrap() == serde_json::from_str::<Value>(arrived).unwrap();
        let whole = given.starts_with('"') && !given.contains(r#"\"3\""#);
        assert_eq!(result.info.coerced.is_empty(), same || whole, "{given}: {:?}", result.info.coerced);
    }
    farm.close(kit).await;
}

/// No arguments, in all the ways that models write them, arrive as an empty object.
#[tokio::test]
async fn s1_9_no_arguments_are_an_empty_object() {
    let farm = Farm::of("x", &[]);
    let kit = farm.open(calm()).await;
    let ways = ["", "  ", "null", "{}", "\"\"", "\"{}\"", "\" \"", "\"null\""];
    for given in ways {
        let done = kit.call("mcp_x_raw_echo", given).await;
        done.unwrap_or_else(|failure| panic!("{given}: {}", failure.for_model()));
    }
    assert_eq!(farm.arrived("x"), ["{}"; 8]);
    farm.close(kit).await;
}

#[tokio::test]
async fn s1_9_what_does_not_fit_is_refused_before_anything_is_sent() {
    let rows = [
        (r#"{"n":"three"}"#, "n"),
        (r#"{"n":0}"#, "n"),
        (r#"{"n":1.5}"#, "n"),
        (r#"{"n":1,"on":"perhaps"}"#, "on"),
        (r#"{"n":1,"list":"[1,"}"#, "list"),
        (r#"{"n":1,"list":[1,"two"]}"#, "list"),
        (r#"{"n":1,"mode":"medium"}"#, "fast"),
        (r#"{"n":1,"nn":2}"#, "nn"),
        (r#"{"text":"n is missing"}"#, "n"),
        ("{\"n\":", "not valid JSON"),
        ("[1]", ""),
        ("3", ""),
        ("\"just a text\"", ""),
    ];
    let farm = strict();
    let kit = farm.open(calm()).await;
    for (given, word) in rows {
        let failure = kit.call("mcp_x_take", given).await.unwrap_err();
        assert_eq!(failure.kind, ErrorKind::InvalidArguments, "{given}: {failure}");
        let text = failure.for_model();
        assert!(text.starts_with("invalid_arguments (x/take: ") && text.contains(word), "{given}: {text}");
        let Some(Repair::Schema(schema)) = failure.repair.as_deref() else { panic!("{given}: {failure:?}") };
        assert_eq!(schema["required"], json!(["n"]), "{given}");
        assert!(text.contains(r#""enum":["fast","slow"]"#), "the schema, to repair in one step: {text}");
    }
    assert_eq!(farm.count("x", "call"), 0);
    farm.close(kit).await;
}

/// What a model reads when a call fails: the kind, the cause, and something to do about it.
#[track_caller]
fn reads(failure: &CallError, kind: ErrorKind, words: &[&str]) {
    let text = failure.for_model();
    assert_eq!(failure.kind, kind, "{text}");
    assert!(text.starts_with(kind.as_str()) && !failure.message.trim().is_empty(), "{text}");
    for word in words {
        assert!(text.contains(word), "no {word:?} in {text}");
    }
}

async fn fails(kit: &Kitbag, tool: &str, arguments: Value) -> CallError {
    let done = kit.call(tool, &arguments.to_string()).await;
    match done {
        Err(failure) => failure,
        Ok(result) => panic!("{tool} gave {result:?}"),
    }
}

#[tokio::test]
async fn s1_10_s3_18_every_end_has_its_kind_and_the_concrete_reason() {
    let farm = Farm::of("x", &[]);
    farm.add("y", &[]);
    farm.add("odd", &["--fault", "c10"]);
    farm.add_with("broken", &["--tools", "1"], &json!({"lazy": true}));
    let mut limits = calm();
    limits.wait_idle = Duration::from_secs(1);
    limits.line = 1 << 20;
    let eager = OpenOptions { start: StartServers::AtOnce, ..farm.options(limits.clone()) };
    let kit = farm.open_with(eager).await;

    reads(&fails(&kit, "mcp_x_ehco", json!({})).await, ErrorKind::NotFound, &["mcp_x_ehco", "mcp_x_echo"]);
    reads(&fails(&kit, "echo", json!({})).await, ErrorKind::Ambiguous, &["mcp_x_echo", "mcp_y_echo"]);
    let wrong = fails(&kit, "mcp_x_add", json!({"a": "one"})).await;
    reads(&wrong, ErrorKind::InvalidArguments, &["x/add", "a", "number", r#""properties""#]);
    let silent = fails(&kit, "mcp_x_sleep", json!({"ms": 60_000})).await;
    reads(
        &silent,
        ErrorKind::OutcomeUnknown,
        &["x/sleep", "no answer within 1", "may have been carried out"],
    );
    let remote = fails(&kit, "mcp_x_rpc_error", json!({"code": -32050})).await;
    reads(&remote, ErrorKind::ServerError, &["x/rpc_error", "the error that was asked for"]);
    assert_eq!(remote.code, Some(-32050));
    let large = fails(&kit, "mcp_x_big", json!({"bytes": 2 << 20})).await;
    reads(&large, ErrorKind::TooLarge, &["x/big"]);
    reads(&fails(&kit, "mcp_odd_result_null", json!({})).await, ErrorKind::BadAnswer, &["odd/result_null"]);
    let dead = fails(&kit, "mcp_x_die", json!({"how": "kill"})).await;
    reads(&dead, ErrorKind::OutcomeUnknown, &["x/die", "may have been carried out"]);
    let failed = kit.call("mcp_y_fail", "{}").await.unwrap();
    assert_eq!((failed.kind(), first(&failed)), (Some(ErrorKind::ToolError), "this tool always fails"));
    farm.close(kit).await;

    // Remembered, and gone since.
    let fake = farm.house.at("gone");
    std::fs::copy(testkit::bin("fake-mcp"), &fake).unwrap();
    farm.add_with("broken", &["--tools", "1"], &json!({"lazy": true, "command": fake}));
    let kit =
        farm.open_with(OpenOptions { start: StartServers::AtOnce, ..farm.options(limits.clone()) }).await;
    farm.close(kit).await;
    std::fs::remove_file(&fake).unwrap();
    let kit = farm.open(limits).await;
    let away = fails(&kit, "mcp_broken_extra_0001", json!({"query": "q"})).await;
    reads(&away, ErrorKind::Unavailable, &["broken/extra_0001", "gone", "Nothing was done"]);
    farm.close(kit).await;
}

#[tokio::test]
async fn s3_20_results_stand_in_the_order_of_their_calls_and_failures_stay_alone() {
    let farm = Farm::of("x", &[]);
    farm.add("y", &[]);
    let mut limits = calm();
    limits.wait_idle = Duration::from_secs(2);
    let kit = farm.open(limits).await;
    let view = kit.own_view();
    let calls = [
        ("mcp_x_sleep", r#"{"ms":300}"#),
        ("mcp_x_sleep", r#"{"ms":600000}"#),
        ("mcp_x_add", r#"{"a":1,"b":2}"#),
        ("mcp_nobody_add", "{}"),
        ("mcp_y_fail", "{}"),
        ("mcp_y_sleep", r#"{"ms":100}"#),
        ("mcp_x_add", r#"{"a":"?"}"#),
        ("mcp_y_add", r#"{"a":3,"b":4}"#),
    ];
    let intents = calls.iter().map(|(tool, arguments)| ToolCall::new(*tool, *arguments)).collect();
    let done = in_time(kit.call_all(&view, intents)).await;
    let ended = |done: &Result<kitbag::CallResult, CallError>| match done {
        Ok(result) => first(result).to_owned(),
        Err(failure) => failure.kind.as_str().to_owned(),
    };
    let ends: Vec<String> = done.iter().map(ended).collect();
    let expected = [
        "slept 300 ms",
        "outcome_unknown",
        "3",
        "not_found",
        "this tool always fails",
        "slept 100 ms",
        "invalid_arguments",
        "7",
    ];
    assert_eq!(ends, expected);
    for name in ["x", "y"] {
        kit.lives(name).await;
    }
    farm.close(kit).await;
}

/// Three at a time: twelve calls of 200 ms take four rounds, and another server does not wait for them.
#[tokio::test]
async fn s3_20_no_more_calls_are_in_flight_than_the_server_may_have() {
    let farm = Farm::of("x", &[]);
    farm.add("y", &[]);
    farm.settings("[servers.x]\nconcurrency = 3");
    let kit = farm.open(calm()).await;
    let view = kit.own_view();
    let link = kit.on("x");
    let most = std::sync::atomic::AtomicUsize::new(0);
    let slow = kit.call_all(&view, (0..12).map(|_| ToolCall::new("mcp_x_sleep", r#"{"ms":200}"#)).collect());
    let watch = until(PATIENCE, || {
        most.fetch_max(link.in_flight(), std::sync::atomic::Ordering::Relaxed);
        false
    });
    let began = Since::now();
    let other = async {
        kit.call("mcp_y_add", r#"{"a":1,"b":1}"#).await.unwrap();
        link.in_flight()
    };
    let (done, meanwhile) = tokio::select! {
        both = async { tokio::join!(slow, other) } => both,
        _ = watch => panic!("the calls do not end"),
    };
    assert!(done.iter().all(Result::is_ok), "{done:?}");
    assert_eq!(most.into_inner(), 3);
    began.at_least(Duration::from_millis(800));
    assert!(0 < meanwhile, "the other server waited");
    farm.close(kit).await;
}

#[tokio::test]
async fn s2_23_only_what_the_operator_marked_is_repeated_after_a_loss() {
    let rows = [
        ("idempotent = ['cou*']", true),
        ("read_only = ['count']", true),
        ("idempotent = ['other']", false),
        ("", false),
    ];
    for (number, (mark, repeated)) in rows.into_iter().enumerate() {
        let farm = Farm::new();
        let once = farm.house.at(&format!("once-{number}"));
        farm.add("x", &["--cut", "request:kill", "--once", &once]);
        farm.settings(&format!("[servers.x]\n{mark}"));
        let kit = farm.open(calm()).await;
        let done = kit.call("mcp_x_count", r#"{"token":"t"}"#).await;
        let seen =
            done.as_ref().map(|result| (first(result), result.info.retries)).map_err(|error| error.kind);
        let expected = if repeated { Ok(("t", 1)) } else { Err(ErrorKind::OutcomeUnknown) };
        assert_eq!(seen, expected, "{mark}");
        assert_eq!(farm.count("x", "exec t"), usize::from(repeated), "{mark}");
        farm.close(kit).await;
    }
}

#[tokio::test]
async fn s2_26_what_is_kept_of_calls_is_cut_and_holds_no_secret() {
    let farm = Farm::of("x", &[]);
    let kit = farm.open(calm()).await;
    let planted = ["hunter2hunter2", "ghp_0123456789abcdefghijABCDEFGHIJ012345", "PLANTED-bearer-1234567890"];
    let secrets = json!({
        "message": "hello", "api_key": planted[0], "nested": {"password": planted[0], "list": [planted[1]]},
        "header": format!("Authorization: Bearer {}", planted[2]),
    });
    kit.call("mcp_x_echo", &secrets.to_string()).await.unwrap();
    kit.call("mcp_x_echo", &json!({"message": "y".repeat(5_000)}).to_string()).await.unwrap();
    kit.call("mcp_x_echo", &json!({"message": "z".repeat(50_000)}).to_string()).await.unwrap();
    // A secret that would be cut in the middle, and words a terminal would obey.
    let late =
        json!({"message": format!("{} {}", "w".repeat(170), planted[1]), "token": "\u{1b}[2J\u{202e}t"});
    kit.call("mcp_x_echo", &late.to_string()).await.unwrap();
    kit.call("mcp_x_fail", "{}").await.unwrap();
    let records = kit.recent_calls();
    assert_eq!(records.len(), 5);
    for record in &records {
        assert!(record.arguments.chars().count() <= 201, "{}", record.arguments);
        assert!(
            !record.line().chars().any(|c| c.is_control() || kitbag_core::text::is_hidden(c)),
            "{record:?}"
        );
    }
    assert!(records[0].arguments.contains(r#""message":"hello""#), "{}", records[0].arguments);
    assert!(records[1].arguments.contains("yyyy") && records[1].arguments.ends_with('…'));
    assert_eq!((records[0].kind, records[4].kind), (None, Some(ErrorKind::ToolError)));
    assert_eq!(records[0].user, UserId::local());
    let shown: String = records.iter().map(|record| record.line() + "\n").collect();
    farm.close(kit).await;
    let log = farm.log("x");
    assert!(
        log.contains("call echo ok ") && log.contains("call fail tool_error ") && !log.contains("hello"),
        "{log}"
    );
    for secret in planted {
        // Not even the beginning of one.
        for text in [&shown, &log] {
            assert!(!text.contains(&secret[..10]), "{secret} in {text}");
        }
    }
}
