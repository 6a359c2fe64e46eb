//! Servers at an address that mean harm: slow, endless, huge, garbled; each costs its own call and nothing else.

use kitbag::ErrorKind;
use serde_json::json;

use super::farm::{Opens as _, Use as _};
use super::hosted::hasty;
use super::{Hosted, alone, calm};
use testkit::in_time;

#[tokio::test]
async fn t13_the_total_clock_holds_though_bytes_flow() {
    for era in ["legacy", "modern"] {
        for fault in ["h01", "h02"] {
            let hosted = Hosted::of("x", &["--era", era, "--fault", fault]);
            let kit = hosted.farm.open(hasty()).await;
            let error = in_time(kit.ask("x", "count", json!({"token": "once"}))).await.unwrap_err();
            assert_eq!(error.kind, ErrorKind::OutcomeUnknown, "{era} {fault}: {error}");
            kit.lives("x").await;
            assert_eq!(hosted.farm.count("x", "exec once"), 1, "{era} {fault}");
            hosted.close(kit).await;
        }
    }
}

#[test]
fn t05_huge_answers_over_http_cost_their_call_and_little_memory() {
    if !alone("live::http_hostile::t05_huge_answers_over_http_cost_their_call_and_little_memory") {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        for fault in ["h03:64", "h03:endless", "h08:64", "h08:endless"] {
            let hosted = Hosted::of("x", &["--fault", fault]);
            let mut limits = calm();
            limits.line = 4 << 20;
            let kit = hosted.farm.open(limits).await;
            let error = kit.ask("x", "echo", json!({"message": "a"})).await.unwrap_err();
            assert_eq!(error.kind, ErrorKind::TooLarge, "{fault}: {error}");
            kit.lives("x").await;
            hosted.close(kit).await;
        }
    });
    let peak = super::farm::peak_mib();
    assert!(peak < 80, "{peak} MiB");
}

/// A response among other lines of one body: log lines, answers to ids never asked, the same answer again.
#[tokio::test]
async fn f72_noise_around_an_answer_over_http_is_noise() {
    for era in ["legacy", "modern"] {
        for fault in ["s01", "s07", "s14", "s15", "s17"] {
            let hosted = Hosted::of("x", &["--era", era, "--answer", "json", "--fault", fault]);
            let kit = hosted.farm.open(calm()).await;
            for _ in 0..20 {
                kit.lives("x").await;
            }
            assert_eq!(kit.on("x").tools().tools.len(), 23, "{era} {fault}");
            hosted.close(kit).await;
        }
    }
}

#[tokio::test]
async fn what_was_not_asked_for_is_refused() {
    let hosted = Hosted::of("x", &["--fault", "h18"]);
    let kit = hosted.farm.open(calm()).await;
    let error = kit.ask("x", "echo", json!({"message": "a"})).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::BadAnswer, "{error}");
    assert!(error.message.contains("gzip"), "{error}");
    kit.lives("x").await;
    let asked = hosted.requests("x").iter().any(|line| line.contains("accept-encoding"));
    assert!(!asked, "nobody asked for it");
    hosted.close(kit).await;
}

#[tokio::test]
async fn garbled_lengths_end_their_call_only() {
    for fault in ["h15:short", "h15:junk", "h15:twice", "h15:negative", "h15:sse"] {
        let hosted = Hosted::of("x", &["--fault", fault]);
        let kit = hosted.farm.open(hasty()).await;
        let _ = in_time(kit.ask("x", "count", json!({"token": "once"}))).await;
        assert!(hosted.farm.count("x", "exec once") <= 1, "{fault}");
        kit.lives("x").await;
        hosted.close(kit).await;
    }
}

#[tokio::test]
async fn t41_marked_parameters_become_headers_and_bad_marks_cost_their_tool() {
    let hosted = Hosted::of("x", &["--era", "modern", "--fault", "h12"]);
    let kit = hosted.farm.open(calm()).await;
    let list = kit.on("x").tools();
    let names: Vec<&str> = list.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["marked"], "{:?}", list.rejected);
    assert_eq!(list.rejected.len(), 6, "{:?}", list.rejected);
    let arguments = json!({
        "region": "a\r\nX-Injected: yes", "limit": 7, "dry": true, "place": {"zone": "Zürich"}, "query": "q"
    });
    kit.ask("x", "marked", arguments).await.unwrap();
    let call = hosted.requests("x").into_iter().find(|line| line.contains("mcp-method=tools/call")).unwrap();
    for header in [
        "mcp-name=marked",
        "mcp-param-region==?base64?YQ0KWC1JbmplY3RlZDogeWVz?=",
        "mcp-param-limit=7",
        "mcp-param-dry-run=true",
        "mcp-param-zone==?base64?WsO8cmljaA==?=",
        "mcp-protocol-version=2026-07-28",
    ] {
        assert!(call.contains(header), "no {header} in {call}");
    }
    assert!(!call.contains("x-injected") && !call.contains("mcp-param-query"), "{call}");
    hosted.close(kit).await;
}

#[tokio::test]
async fn t07_lists_without_end_over_http_are_cut_and_kept() {
    for args in
        [&["--fault", "s20"][..], &["--fault", "s21:cycle", "--era", "modern"], &["--fault", "s20", "--sse"]]
    {
        let hosted = Hosted::new();
        let kind = if args.contains(&"--sse") { "sse" } else { "http" };
        hosted.add("x", args, &json!({"type": kind}));
        let kit = hosted.farm.open(calm()).await;
        let list = kit.on("x").tools();
        assert!(!list.tools.is_empty() && list.truncated.is_some(), "{args:?}: {:?}", list.truncated);
        kit.lives("x").await;
        assert!(hosted.farm.count("x", "list") <= 200, "{args:?}");
        hosted.close(kit).await;
        let log = hosted.farm.log("x");
        assert_eq!(log.lines().count(), 1, "{args:?}: {log}");
        assert!(log.starts_with("WARNING tool list cut short: "), "{args:?}: {log}");
    }
}
