//! What comes out of a server's pipes: too much, too deep, too late, in pieces, or not at all.

use std::time::Duration;

use kitbag::{ErrorKind, LinkState};
use kitbag_core::catalog::ListCut;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::farm::{Opens as _, Use as _, peak_mib};
use super::{Farm, alone, calm, said, until};
use testkit::{Since, in_time};

const LONG: Duration = Duration::from_secs(30);

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// Calls a tool that the fault spoils; its error, which came soon.
async fn spoilt(farm: &Farm, fault: &str, kind: ErrorKind) -> String {
    let kit = farm.open(calm()).await;
    let error = in_time(kit.ask("x", "echo", json!({"message": "x"}))).await.unwrap_err();
    assert_eq!(error.kind, kind, "{fault}: {error}");
    kit.lives("x").await;
    farm.close(kit).await;
    error.message
}

#[test]
fn t03_a_flood_on_stderr_is_drained_and_its_tail_kept() {
    if !alone("live::wire::t03_a_flood_on_stderr_is_drained_and_its_tail_kept") {
        return;
    }
    let farm = Farm::of("x", &["--fault", "s04:100", "--stderr", "password=PLANTED-1234"]);
    runtime().block_on(async {
        let kit = farm.open(calm()).await;
        kit.lives("x").await;
        let held = testkit::proc::rss_anon_kb(std::process::id()).unwrap();
        let server = said(&kit.ask("x", "pid", json!({})).await.unwrap());
        let written = || {
            let io = std::fs::read_to_string(format!("/proc/{server}/io")).unwrap_or_default();
            let line = io.lines().find_map(|line| line.strip_prefix("wchar: "));
            100 << 20 <= line.and_then(|bytes| bytes.parse::<u64>().ok()).unwrap_or(0)
        };
        while !until(Duration::from_millis(1), written).await {
            kit.lives("x").await;
        }
        let grown = testkit::proc::rss_anon_kb(std::process::id()).unwrap().saturating_sub(held);
        assert!(grown < 2048, "{grown} kB more");
        let died = kit.ask("x", "die", json!({"how": "exit"})).await.unwrap_err();
        assert!(died.message.contains("stay patient") || died.message.contains("end of the flood"), "{died}");
        farm.close(kit).await;
    });
    let log = farm.log("x");
    // Its first lines may be gone by now.
    assert!(!log.contains("PLANTED"), "{}", &log[..200]);
    assert!(log.len() < 2 << 20, "{} bytes of log", log.len());
}

#[tokio::test]
async fn t03_a_secret_on_stderr_is_masked_in_the_log() {
    let farm = Farm::of("x", &["--stderr", "password=PLANTED-1234"]);
    let kit = farm.open(calm()).await;
    kit.lives("x").await;
    let masked = || farm.log("x").contains("password=***");
    assert!(until(LONG, masked).await, "{}", farm.log("x"));
    farm.close(kit).await;
    assert!(!farm.log("x").contains("PLANTED"));
}

#[tokio::test]
async fn t04_noise_is_counted_and_reported_once() {
    let farm = Farm::of("x", &["--fault", "s01"]);
    let kit = farm.open(calm()).await;
    for number in 0..20 {
        let reply = kit.ask("x", "echo", json!({"message": format!("m{number}")})).await.unwrap();
        assert_eq!(said(&reply), format!("m{number}"));
    }
    kit.lives("x").await;
    assert!(20 < kit.on("x").status().noise, "{:?}", kit.on("x").status());
    let log = farm.log("x");
    assert_eq!(log.matches("output that is").count(), 1, "{log}");
    assert!(log.contains("server ready") && !log.contains('\u{1b}'), "{log}");
    farm.close(kit).await;
}

#[test]
fn t05_an_endless_answer_fails_its_call_and_nothing_else() {
    if !alone("live::wire::t05_an_endless_answer_fails_its_call_and_nothing_else") {
        return;
    }
    runtime().block_on(async {
        for fault in ["s02:128", "s03:64", "s03:64,idlast"] {
            let farm = Farm::of("x", &["--fault", fault]);
            let message = spoilt(&farm, fault, ErrorKind::TooLarge).await;
            assert!(message.contains("larger than the limit of 16777216"), "{fault}: {message}");
        }
    });
    assert!(peak_mib() < 64, "{} MiB", peak_mib());
}

/// A line that does not say whose answer it is belongs to the only call there is, and costs it at once.
#[tokio::test]
async fn t05_f73_an_endless_line_without_an_id_fails_the_only_call() {
    let farm = Farm::of("x", &["--fault", "s02:32,noid"]);
    spoilt(&farm, "s02:32,noid", ErrorKind::TooLarge).await;
}

/// Copies of requests, answers to almost the right id: noise, whatever is in it.
#[tokio::test]
async fn f72_a_server_that_logs_to_its_output_works() {
    for era in ["legacy", "modern"] {
        let farm = Farm::of("x", &["--fault", "s31", "--era", era]);
        let kit = farm.open(calm()).await;
        for number in 0..5 {
            let reply = kit.ask("x", "echo", json!({"message": format!("m{number}")})).await.unwrap();
            assert_eq!(said(&reply), format!("m{number}"), "{era}");
        }
        let status = kit.on("x").status();
        assert!(10 < status.noise && status.restarts == 0, "{status:?}");
        assert_eq!(farm.log("x").matches("output that is").count(), 1, "{}", farm.log("x"));
        farm.close(kit).await;
    }
}

/// One tool nested beyond any reading costs that tool.
#[tokio::test]
async fn f78_a_tool_nested_too_deep_costs_no_other() {
    let farm = Farm::of("x", &["--fault", "c08:deep,5000"]);
    let kit = farm.open(calm()).await;
    let view = kit.own_view();
    let has = |name: &str| view.tools().iter().any(|shown| shown.tool.name.as_str() == name);
    assert!(has("plain") && !has("abyss"), "{:?}", kit.faults());
    let told = kit.faults().iter().any(|fault| fault.message.contains("abyss"));
    assert!(told, "{:?}", kit.faults());
    farm.close(kit).await;
}

/// A list without end of bytes is cut, and says so.
#[tokio::test]
async fn f18_a_list_of_too_many_bytes_is_cut() {
    let farm = Farm::of("x", &["--fault", "s20"]);
    let mut limits = calm();
    limits.list = 20_000;
    let kit = farm.open(limits).await;
    let list = kit.on("x").tools();
    assert!(!list.tools.is_empty(), "what came before is kept");
    assert_eq!(list.truncated, Some(ListCut::by("list", "more than 20000 bytes")));
    farm.close(kit).await;
}

#[tokio::test]
async fn t06_bad_text_and_deep_nesting_fail_at_once() {
    for fault in ["s18", "s19", "s19:200"] {
        let farm = Farm::of("x", &["--fault", fault]);
        spoilt(&farm, fault, ErrorKind::BadAnswer).await;
    }
}

#[tokio::test]
async fn t07_lists_without_end_are_cut_and_kept() {
    for fault in ["s20", "s21:same", "s21:empty", "s21:cycle"] {
        for era in ["legacy", "modern"] {
            let farm = Farm::of("x", &["--fault", fault, "--era", era]);
            let kit = farm.open(calm()).await;
            let list = kit.on("x").tools();
            assert!(!list.tools.is_empty(), "{fault} {era}");
            let mut names: Vec<_> = list.tools.iter().map(|tool| tool.name.to_string()).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), list.tools.len(), "{fault} {era}");
            // An empty cursor is the end in the older protocol.
            let is_whole = (fault, era) == ("s21:empty", "legacy");
            assert_eq!(list.truncated.is_none(), is_whole, "{fault} {era}: {:?}", list.truncated);
            let status = kit.on("x").status();
            assert_eq!(status.error.is_none(), is_whole, "{fault} {era}: {status:?}");
            assert_eq!(status.state, LinkState::Ready);
            kit.lives("x").await;
            let asked = farm.count("x", "list");
            assert!(asked <= 200, "{fault} {era}: {asked} requests");
            farm.close(kit).await;
        }
    }
}

/// With clocks five times as fast: three lists in the first 400 ms, then one a second.
#[tokio::test]
async fn t08_a_storm_of_changes_makes_few_lists() {
    let farm = Farm::of("x", &["--fault", "s23"]);
    let mut limits = calm();
    limits.refresh = Duration::from_secs(1);
    let kit = farm.start(limits);
    let began = Since::now();
    let within_bound = || {
        let lists = farm.count("x", "list");
        let most = 3 + began.periods(Duration::from_secs(1));
        assert!(lists <= most, "{lists} of {most}");
        5 <= lists
    };
    // It goes on listening, too.
    assert!(until(LONG, within_bound).await, "{} lists", farm.count("x", "list"));
    kit.lives("x").await;
    farm.close(kit).await;
}

#[tokio::test]
async fn t09_a_flood_of_notes_is_bounded_in_order_and_the_answer_comes() {
    let farm = Farm::of("x", &["--fault", "s24"]);
    let kit = farm.open(calm()).await;
    let (notes, mut mailbox) = mpsc::channel(256);
    let reply = kit.noted("x", "echo", json!({"message": "x"}), notes).await.unwrap();
    assert_eq!((said(&reply).as_str(), reply.retries), ("x", 0));
    let (mut last, mut seen) = (0, 0);
    while let Ok(note) = mailbox.try_recv() {
        seen += 1;
        let params: Value = serde_json::from_str(note.params.get()).unwrap();
        let Some(progress) = params["progress"].as_u64() else { continue };
        assert!(last < progress, "{progress} after {last}");
        last = progress;
    }
    assert!(0 < last && seen <= 256, "{seen} notes");
    kit.lives("x").await;
    farm.close(kit).await;
}

#[tokio::test]
async fn t09_progress_for_ever_ends_at_the_total_clock_and_is_cancelled() {
    let farm = Farm::of("x", &["--fault", "s25"]);
    let mut limits = calm();
    limits.wait_idle = Duration::from_millis(700);
    limits.wait_total = Duration::from_secs(2);
    let kit = farm.open(limits).await;
    let began = Since::now();
    let error = in_time(kit.ask("x", "echo", json!({"message": "x"}))).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::OutcomeUnknown, "{error}");
    began.at_least(Duration::from_secs(2));
    assert!(until(LONG, || farm.count("x", "cancelled") == 1).await, "the server was not told");
    kit.lives("x").await;
    farm.close(kit).await;
}

/// Half-closed pipes show at once, whatever was going on.
#[tokio::test]
async fn t12_closed_pipes_are_noticed_at_once() {
    let mut limits = calm();
    limits.restart_most = Duration::from_secs(600);
    limits.restart_first = Duration::from_secs(600);
    limits.wait_agent = Duration::from_secs(3);
    for fault in ["s10", "s10:start", "s10:list", "s10:call", "s11", "s11:start", "s11:list"] {
        let farm = Farm::of("x", &["--fault", fault]);
        let kit = farm.start(limits.clone());
        let error = in_time(kit.ask("x", "echo", json!({"message": "x"}))).await.unwrap_err();
        let kinds = [ErrorKind::Unavailable, ErrorKind::OutcomeUnknown];
        assert!(kinds.contains(&error.kind), "{fault}: {error:?}");
        let pipe = if fault.starts_with("s10") { "output" } else { "input" };
        assert!(error.message.contains(&format!("closed its {pipe}")), "{fault}: {error}");
        farm.close(kit).await;
    }
}

#[tokio::test]
async fn t12_a_server_that_stops_reading_costs_only_its_own_calls() {
    let farm = Farm::of("x", &["--fault", "s12:list"]);
    farm.add("good", &[]);
    let mut limits = calm();
    limits.wait_total = Duration::from_secs(3);
    let kit = farm.open(limits).await;
    let big = json!({"message": "y".repeat(1 << 20)});
    let stuck = kit.ask("x", "echo", big);
    // Queued behind the one that is stuck in the pipe, this one never leaves.
    let queued = async {
        let mut looks = 0;
        let on_its_way = || {
            looks += usize::from(kit.on("x").in_flight() == 1);
            looks == 10
        };
        assert!(until(LONG, on_its_way).await);
        kit.ask("x", "count", json!({"token": "queued"})).await
    };
    let others = async {
        for _ in 0..50 {
            kit.ask("good", "add", json!({"a": 2, "b": 3})).await.unwrap();
        }
    };
    let (stuck, queued, ()) = tokio::join!(stuck, queued, others);
    assert_eq!(stuck.unwrap_err().kind, ErrorKind::OutcomeUnknown);
    assert_eq!(queued.unwrap_err().kind, ErrorKind::Timeout);
    kit.lives("good").await;
    farm.close(kit).await;
}

#[tokio::test]
async fn t14_doubled_stray_and_malformed_messages_do_no_harm() {
    for fault in ["s14", "s15", "s17", "s06", "s07"] {
        let farm = Farm::of("x", &["--fault", fault]);
        let kit = farm.open(calm()).await;
        for number in 0..20 {
            let message = |part: &str| json!({"message": format!("{part}{number}")});
            let (a, b) = tokio::join!(kit.ask("x", "echo", message("a")), kit.ask("x", "echo", message("b")));
            let (a, b) = (a.unwrap(), b.unwrap());
            assert_eq!((said(&a), said(&b)), (format!("a{number}"), format!("b{number}")), "{fault}");
            assert_eq!((a.retries, b.retries), (0, 0));
        }
        kit.lives("x").await;
        assert_eq!(farm.count("x", "start"), 1, "{fault}");
        farm.close(kit).await;
    }
}

/// Bytes flow all the time, and still the call ends.
#[tokio::test]
async fn s28_a_dripping_answer_ends_at_the_total_clock() {
    let farm = Farm::of("x", &["--fault", "s28"]);
    let mut limits = calm();
    limits.wait_total = Duration::from_secs(1);
    let kit = farm.open(limits).await;
    let error = in_time(kit.ask("x", "echo", json!({"message": "x"}))).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::OutcomeUnknown, "{error}");
    farm.close(kit).await;
}
