//! What comes back: every kind of content as it was sent, odd results in one table, and the part of a large
//! one that waits to be read by page.

use std::time::{Duration, SystemTime};

use kitbag::cli::READ_RESULT;
use kitbag::{
    AgentRules, CallError, CallOptions, CallResult, ErrorKind, Kitbag, Limits, ResultSize, ToolCall,
    Transport, UserId,
};
use serde_json::{Value, json};

use super::farm::Opens as _;
use super::{Farm, calm, first};
use testkit::in_time;

fn kinds(result: &CallResult) -> Vec<&str> {
    result.content.iter().map(kitbag::ContentBlock::kind).collect()
}

/// All texts that a model is given.
fn model_text(result: &CallResult) -> String {
    let blocks = result.for_model();
    blocks
        .iter()
        .map(|block| block.as_text().map_or_else(|| block.as_value().to_string(), str::to_owned))
        .collect()
}

#[tokio::test]
async fn s3_12_every_kind_of_content_comes_back_as_it_was_sent() {
    let farm = Farm::of("x", &[]);
    let kit = farm.open(calm()).await;
    let rows: [(&str, &[&str]); 6] = [
        ("image", &["image"]),
        ("audio", &["audio"]),
        ("resource", &["resource", "resource"]),
        ("resource_link", &["resource_link"]),
        ("mixed", &["text", "image", "audio", "resource_link", "resource", "resource"]),
        ("pid", &["text"]),
    ];
    for (tool, expected) in rows {
        let result = kit.call(&format!("mcp_x_{tool}"), "{}").await.unwrap();
        assert_eq!(kinds(&result), expected, "{tool}");
        assert_eq!((result.is_error, result.info.notes.as_slice()), (false, [].as_slice()), "{tool}");
        // As its server wrote it, further members too.
        let sent = kit
            .call_raw(&result.info.server, kitbag::connect::RawCall::new(tool, &super::farm::raw(&json!({}))))
            .await;
        let sent: Value = serde_json::from_str(sent.unwrap().result.get()).unwrap();
        let got: Value = result.content.iter().map(|block| block.as_value().clone()).collect();
        assert_eq!(got, sent["content"], "{tool}");
        let model: Value = result.for_model().iter().map(|block| block.as_value().clone()).collect();
        assert_eq!(model, sent["content"], "{tool}");
    }
    let mixed = kit.call("mcp_x_mixed", "{}").await.unwrap();
    let (kind, png) = mixed.content[1].bytes().unwrap();
    assert_eq!((kind.as_str(), &png[..4]), ("image/png", b"\x89PNG".as_slice()));
    assert_eq!(mixed.content[5].bytes().unwrap().1, b"\x00\x01\x02fake");
    let structured = kit.call("mcp_x_structured", r#"{"value":"abc"}"#).await.unwrap();
    assert_eq!(structured.structured, Some(json!({"value": "abc", "length": 3})));
    assert_eq!(model_text(&structured), r#"{"value":"abc","length":3}"#, "once, not twice");
    farm.close(kit).await;
}

#[tokio::test]
async fn s3_13_a_tool_that_fails_gives_its_own_words() {
    let farm = Farm::of("x", &[]);
    let kit = farm.open(calm()).await;
    let failed = kit.call("mcp_x_fail", "{}").await.unwrap();
    assert!(failed.is_error);
    assert_eq!(
        (failed.kind(), model_text(&failed).as_str()),
        (Some(ErrorKind::ToolError), "this tool always fails")
    );
    farm.close(kit).await;
}

/// Odd results: `kinds of blocks | text for the model | flags`, or the kind of error.
const ODD: [(&str, &str); 26] = [
    ("content_missing", " |  | noted"),
    ("content_null", " |  | noted"),
    ("content_object", "text | not in a list | noted"),
    ("content_text", "text | not a list | noted"),
    ("block_null", "text | after null | noted"),
    ("block_untyped", "unknown text | {\"text\":\"no type\"}after it | noted"),
    ("block_unknown", "hologram text | {\"type\":\"hologram\",\"beam\":1}after it | noted"),
    ("text_number", "text | {\"type\":\"text\",\"text\":42} | noted"),
    (
        "image_broken",
        "image | {\"type\":\"image\",\"data\":\"not*base64!\",\"mimeType\":\"image/png\"} | noted",
    ),
    ("image_untyped", "image | {\"type\":\"image\",\"data\":\"AAEC\"} | "),
    ("resource_nowhere", "resource | {\"type\":\"resource\",\"resource\":{\"text\":\"no uri\"}} | noted"),
    ("link_nowhere", "resource_link | {\"type\":\"resource_link\",\"name\":\"no uri\"} | noted"),
    ("error_text", "text | is it one? | failed noted"),
    ("error_empty", " |  | failed"),
    ("structured_wrong", "text | five | structured noted"),
    ("structured_list", " | [1,2] | structured noted"),
    ("structured_missing", "text | only text | "),
    ("structured_only", " | {\"count\":5} | structured"),
    ("structured_twice", "text | { \"unit\": \"km\", \"count\": 5 } | structured"),
    ("empty", " |  | "),
    ("result_null", "bad_answer"),
    ("result_text", "text | just a text | "),
    ("result_list", "text | just the content | noted"),
    ("image_twice", "image | (an image) | structured"),
    ("huge", "text text | (a beginning) | handle"),
    ("good", "text | (params) | "),
];

fn told(done: &Result<CallResult, CallError>) -> String {
    let result = match done {
        Ok(result) => result,
        Err(failure) => return failure.kind.as_str().to_owned(),
    };
    let flags = [
        (result.is_error, "failed"),
        (result.structured.is_some(), "structured"),
        (result.info.handle.is_some(), "handle"),
        (!result.info.notes.is_empty(), "noted"),
    ];
    let flags: Vec<&str> = flags.into_iter().filter(|(is, _)| *is).map(|(_, word)| word).collect();
    let text = match result.info.tool.as_str() {
        "image_twice" => "(an image)".to_owned(),
        "huge" => "(a beginning)".to_owned(),
        "good" => "(params)".to_owned(),
        _ => model_text(result),
    };
    format!("{} | {text} | {}", kinds(result).join(" "), flags.join(" "))
}

#[tokio::test]
async fn s3_13_odd_results_end_at_once_each_in_its_way() {
    for era in ["legacy", "modern"] {
        let farm = Farm::of("x", &["--fault", "c10", "--era", era]);
        let kit = farm.open(calm()).await;
        for (tool, expected) in ODD {
            let done = in_time(kit.call(&format!("mcp_x_{tool}"), "{}")).await;
            assert_eq!(told(&done), expected, "{tool}: {done:?}");
        }
        assert_eq!(kit.own_view().tools().len(), ODD.len() + 1);
        let twice = kit.call("mcp_x_image_twice", "{}").await.unwrap();
        let picture = &twice.structured.as_ref().unwrap()["picture"];
        assert_eq!(
            (picture["mimeType"].as_str(), twice.structured.as_ref().unwrap()["width"].as_u64()),
            (Some("image/png"), Some(1))
        );
        assert!(picture["data"].as_str().unwrap().contains("see content"), "{picture}");
        assert!(twice.content[0].bytes().is_some());
        farm.close(kit).await;
    }
}

fn small() -> Limits {
    let mut limits = calm();
    limits.result = 10_000;
    limits
}

/// All pages of a result joined, as a model would read them.
async fn pages(kit: &Kitbag, handle: &str) -> String {
    let mut text = String::new();
    for number in 1.. {
        let arguments = json!({"handle": handle, "page": number}).to_string();
        let result = kit.call(READ_RESULT, &arguments).await.unwrap();
        assert!(!result.is_error && result.info.handle.is_none() && result.content.len() == 1, "{result:?}");
        let (page, foot) = first(&result).rsplit_once("\n[page ").unwrap();
        assert!(page.len() <= 10_000);
        text.push_str(page);
        if foot.ends_with("the last]") {
            break;
        }
    }
    text
}

#[tokio::test]
async fn t27_a_large_result_comes_in_part_and_the_rest_by_page() {
    let farm = Farm::of("x", &["--fault", "c10"]);
    let kit = farm.open(small()).await;
    let whole = ToolCall {
        options: CallOptions { size: ResultSize::Whole, ..CallOptions::default() },
        ..ToolCall::new("mcp_x_huge", r#"{"size":123457}"#)
    };
    let whole = kit.call_tool(&kit.own_view(), whole).await.unwrap();
    assert_eq!((first(&whole).len(), &whole.info.handle), (123_457, &None));
    let result = kit.call("mcp_x_huge", r#"{"size":123457}"#).await.unwrap();
    let handle = result.info.handle.clone().unwrap();
    assert!(first(&whole).starts_with(first(&result)) && first(&result).len() <= 10_000);
    let hint = result.content[1].as_text().unwrap();
    assert!(hint.contains(&handle) && hint.contains(READ_RESULT) && hint.contains("123457"), "{hint}");
    assert_eq!(pages(&kit, &handle).await, first(&whole));
    // Pages need not be read in order, and the bound is exact.
    let rest = kit.call(READ_RESULT, &json!({"handle": handle, "page": 13}).to_string()).await.unwrap();
    assert!(first(&rest).contains("[page 13 of 13, the last]"), "{}", first(&rest));
    for page in [0, 14] {
        let beyond = kit.call(READ_RESULT, &json!({"handle": handle, "page": page}).to_string()).await;
        assert!(beyond.is_err() || beyond.unwrap().is_error, "{page}");
    }
    let exact = kit.call("mcp_x_huge", r#"{"size":10000}"#).await.unwrap();
    assert_eq!((exact.info.handle, exact.content.len()), (None, 1));
    farm.close(kit).await;
}

/// Characters of several bytes are not cut in two, wherever a page ends.
#[tokio::test]
async fn t27_pages_end_between_characters() {
    let farm = Farm::of("x", &[]);
    let kit = farm.open(small()).await;
    for shift in 0..4 {
        let text = "a".repeat(shift) + &"🧰é".repeat(6_000);
        let result = kit.call("mcp_x_echo", &json!({"message": text}).to_string()).await.unwrap();
        assert_eq!(pages(&kit, &result.info.handle.unwrap()).await, text);
    }
    farm.close(kit).await;
}

#[tokio::test]
async fn t27_a_large_structured_part_is_not_lost_beside_a_short_text() {
    let farm = Farm::of("x", &[]);
    let kit = farm.open(small()).await;
    let token = "t".repeat(50_000);
    let arguments = json!({"message": "short", "token": token}).to_string();
    let result = kit.call("mcp_x_echo", &arguments).await.unwrap();
    assert_eq!((first(&result), result.structured.as_ref()), ("short", None));
    let all = pages(&kit, &result.info.handle.unwrap()).await;
    assert!(all.contains(&token), "{} bytes", all.len());
    farm.close(kit).await;
}

/// Base64 is nothing to read by page.
#[tokio::test]
async fn t27_a_large_picture_stays_a_picture() {
    let farm = Farm::of("x", &[]);
    let mut limits = calm();
    limits.result = 64;
    let kit = farm.open(limits).await;
    let image = kit.call("mcp_x_image", "{}").await.unwrap();
    assert_eq!((kinds(&image), &image.info.handle), (vec!["image"], &None));
    assert!(64 < image.content[0].as_value().to_string().len() && image.content[0].bytes().is_some());
    let mixed = kit.call("mcp_x_mixed", "{}").await.unwrap();
    assert_eq!(kinds(&mixed), ["text", "text", "image", "audio", "resource"], "the texts are to be paged");
    farm.close(kit).await;
}

#[tokio::test]
async fn t27_handles_are_for_their_user_and_for_nothing_else() {
    let farm = Farm::of("x", &["--fault", "c10"]);
    farm.house.put("kit/state/results/secret.txt", "PLANTED");
    farm.house.put("kit/state/results/user_local/0123.txt", "PLANTED");
    let kit = farm.open(small()).await;
    let result = kit.call("mcp_x_huge", r#"{"size":50000}"#).await.unwrap();
    let handle = result.info.handle.unwrap();
    let eve = kit.view(&UserId::parse("eve").unwrap(), &AgentRules::default()).unwrap();
    let read = |handle: &str| json!({"handle": handle}).to_string();
    let theirs = kit.call_tool(&eve, ToolCall::new(READ_RESULT, read(&handle))).await.unwrap();
    assert!(theirs.is_error && model_text(&theirs).contains("there is no result"), "{theirs:?}");
    let long = "f".repeat(100_000);
    let zeros = "0".repeat(32);
    let up = format!("../user_local/{handle}");
    for bad in
        ["", "0123", "../secret", "../../secret.txt", "/etc/passwd", &zeros, &up, &long, "\u{202e}\u{1b}[2J"]
    {
        let refused = kit.call(READ_RESULT, &read(bad)).await.unwrap();
        let text = model_text(&refused);
        assert!(refused.is_error && text.contains("there is no result") && text.len() < 400, "{bad}: {text}");
        assert!(!text.contains("PLANTED") && !text.contains(['\u{202e}', '\u{1b}']), "{text}");
    }
    assert!(!kit.call(READ_RESULT, &read(&handle)).await.unwrap().is_error);
    assert!(!kit.call(READ_RESULT, &read(&handle.to_uppercase())).await.unwrap().is_error);
    use std::os::unix::fs::PermissionsExt as _;
    let file = farm.house.path(&format!("kit/state/results/user_local/{handle}.txt"));
    assert_eq!(
        std::fs::metadata(file).unwrap().permissions().mode() & 0o077,
        0,
        "nobody else on this machine"
    );
    farm.close(kit).await;
}

#[tokio::test]
async fn t27_a_result_is_gone_after_its_time() {
    let farm = Farm::of("x", &["--fault", "c10"]);
    let kit = farm.open(small()).await;
    // As old as if its time, and no more, were over.
    let ages = |file: &std::path::Path| {
        let then = SystemTime::now() - kit.limits().result_ttl - Duration::from_secs(1);
        std::fs::File::options().write(true).open(file).unwrap().set_modified(then).unwrap();
    };
    let result = kit.call("mcp_x_huge", r#"{"size":50000}"#).await.unwrap();
    let handle = result.info.handle.unwrap();
    let file = farm.house.path(&format!("kit/state/results/user_local/{handle}.txt"));
    assert!(!kit.call(READ_RESULT, &json!({"handle": handle}).to_string()).await.unwrap().is_error);
    ages(&file);
    let gone = kit.call(READ_RESULT, &json!({"handle": handle}).to_string()).await.unwrap();
    assert!(gone.is_error && model_text(&gone).contains("too old"), "{gone:?}");
    assert!(!file.exists());
    // Nobody need ask for it: the next large result clears up.
    let result = kit.call("mcp_x_huge", r#"{"size":50000}"#).await.unwrap();
    let old = farm.house.path(&format!("kit/state/results/user_local/{}.txt", result.info.handle.unwrap()));
    ages(&old);
    kit.call("mcp_x_huge", r#"{"size":50000}"#).await.unwrap();
    assert!(!old.exists());
    farm.close(kit).await;
}

/// Where nothing can be kept, the bound holds all the same, and the model is told.
#[tokio::test]
async fn t27_a_large_result_that_cannot_be_kept_is_still_bounded() {
    let farm = Farm::of("x", &["--fault", "c10"]);
    farm.house.put("kit/state/results", "a file where the folder should be");
    let kit = farm.open(small()).await;
    let result = kit.call("mcp_x_huge", r#"{"size":50000}"#).await.unwrap();
    assert_eq!(result.info.handle, None);
    let text = model_text(&result);
    assert!(text.len() < 11_000 && text.contains("50000 bytes"), "{} bytes", text.len());
    farm.close(kit).await;
}

#[tokio::test]
async fn s3_23_a_result_tells_how_it_went() {
    let farm = Farm::of("x", &[]);
    let kit = farm.open(calm()).await;
    let result = kit.call("mcp_x_sleep", r#"{"ms":"50"}"#).await.unwrap();
    let meta = &result.info;
    assert_eq!(
        (meta.server.as_str(), meta.tool.as_str(), meta.transport),
        ("x", "sleep", Some(Transport::Stdio))
    );
    assert_eq!((meta.retries, meta.cache_hit, meta.handle.as_ref()), (0, false, None));
    assert!(Duration::from_millis(50) <= meta.took && meta.took < Duration::from_secs(20), "{:?}", meta.took);
    let [coerced] = meta.coerced.as_slice() else { panic!("{meta:?}") };
    assert_eq!((coerced.path.as_str(), coerced.from, coerced.to), ("ms", "string", "integer"));
    farm.close(kit).await;
}
