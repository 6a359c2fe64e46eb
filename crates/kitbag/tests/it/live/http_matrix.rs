//! What may be wrong with an address or with what it lists: one line in the log each, of the right level, with the
//! class, the address without its secrets, and the root; and not the same line again.

use std::net::TcpListener;
use std::time::Duration;

use kitbag::LinkState;
use serde_json::json;

use super::farm::{Opens as _, Use as _};
use super::hosted::hasty;
use super::http_reasons::{BlackHole, SLOW_BODY, SLOW_HEAD, slow};
use super::{Hosted, calm, until};
use testkit::PATIENCE;

const SECRETS: [&str; 2] = ["hunter22", "sekrit99"];

/// An address with a secret before the host and one behind the path.
fn with_secrets(url: &str) -> String {
    format!("{}?api_key=sekrit99", url.replacen("://", "://me:hunter22@", 1))
}

/// Opens one address until it is known what is wrong; the one line of its log.
async fn line(hosted: &Hosted, url: &str, wait: Duration) -> String {
    hosted.enter("x", url, &json!({}));
    let mut limits = hasty();
    limits.wait_http = wait;
    // A hundred pages take a busy machine a while.
    limits.wait_list = Duration::from_secs(4);
    // The second try is not this test's.
    limits.restart_first = Duration::from_secs(60);
    limits.restart_most = Duration::from_secs(60);
    let kit = hosted.farm.start(limits);
    let over = |state| matches!(state, LinkState::Failed | LinkState::Reconnecting | LinkState::Ready);
    let ended = until(PATIENCE, || over(kit.on("x").status().state)).await;
    assert!(ended, "{url}: {:?}", kit.on("x").status());
    let status = format!("{:?}", kit.on("x").status());
    kit.close().await;
    let log = hosted.farm.log("x");
    assert_eq!(log.lines().count(), 1, "{url}: {log}");
    for secret in SECRETS {
        assert!(!log.contains(secret) && !status.contains(secret), "{log} {status}");
    }
    log.trim_end().to_owned()
}

/// One row: the address, what the line begins with, what it says of the address, and the root.
async fn row(hosted: &Hosted, url: &str, begins: &str, root: &str) {
    // Only who waits for nothing is not to wait for long.
    let wait = if begins.contains("timeout") { Duration::from_millis(1500) } else { Duration::from_secs(4) };
    says(&line(hosted, &with_secrets(url), wait).await, url, begins, root);
}

#[track_caller]
fn says(line: &str, url: &str, begins: &str, root: &str) {
    assert!(line.starts_with(begins), "{line}");
    assert!(line.contains(root), "no {root:?} in {line}");
    let (_, rest) = url.split_once("://").unwrap();
    let shown = format!("@{rest}?api_key=***");
    assert_eq!(line.matches(&shown).count(), 1, "not once {shown:?} in {line}");
}

#[tokio::test]
async fn s4_6_the_matrix_of_failures_is_one_line_each() {
    let hosted = Hosted::new;
    // One that stands in the file like this would not get past reading it.
    let malformed = "http://127.0.0.1:99999/mcp";
    let said =
        line(&hosted(), &format!("${{NO_SUCH:-{}}}", with_secrets(malformed)), Duration::from_secs(4)).await;
    says(&said, malformed, "ERROR cannot connect: invalid url: ", "port");
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    row(&hosted(), &format!("http://{free}/mcp"), "ERROR cannot connect: connection: ", "refused").await;
    let unknown = "http://no-such-host.invalid/mcp";
    row(&hosted(), unknown, "ERROR cannot connect: connection: ", "lookup").await;
    let hole = BlackHole::new();
    row(&hosted(), &hole.url(), "ERROR cannot connect: timeout: ", "no connection").await;
    row(&hosted(), &slow(SLOW_HEAD), "ERROR cannot connect: timeout: ", "within").await;
    row(&hosted(), &slow(SLOW_BODY), "ERROR cannot connect: timeout: ", "within").await;
    let none = hosted();
    let missing = none.host("y", &[]).replace("/mcp", "/nothing-here");
    row(&none, &missing, "ERROR cannot connect: refused: answered 404", "not found").await;
    let page = hosted();
    let url = page.host("y", &["--fault", "h09:html"]);
    row(&page, &url, "ERROR cannot connect: not MCP: ", "text/html").await;
    for era in ["legacy", "modern"] {
        let endless = hosted();
        let url = endless.host("y", &["--fault", "s20", "--era", era]);
        row(&endless, &url, "WARNING tool list cut short: ", "more than 100 pages").await;
        let empty = hosted();
        let none = empty.farm.house.put("none.json", "[]");
        let url = empty.host("y", &["--tools", none.to_str().unwrap(), "--era", era]);
        row(&empty, &url, "WARNING it lists no tools", "").await;
        let without = hosted();
        let url = without.host("y", &["--no-tools", "--era", era]);
        row(&without, &url, "WARNING it has no tools", "").await;
    }
}

/// The older transport and pipes say the same; a pipe has no address.
#[tokio::test]
async fn s4_6_a_server_without_tools_is_a_warning() {
    let hosted = Hosted::new();
    let none = hosted.farm.house.put("none.json", "[]");
    let args = ["--tools", none.to_str().unwrap()];
    let url = hosted.host("sse", &[&args[..], &["--sse"]].concat());
    hosted.enter("sse", &url, &json!({"type": "sse"}));
    hosted.farm.add("pipe", &args);
    let kit = hosted.farm.open(calm()).await;
    kit.reaches("sse", LinkState::Ready).await;
    kit.reaches("pipe", LinkState::Ready).await;
    hosted.close(kit).await;
    assert_eq!(hosted.farm.log("sse"), format!("WARNING it lists no tools at {url}\n"));
    assert_eq!(hosted.farm.log("pipe"), "WARNING it lists no tools\n");
}

/// A list that goes on failing in the same way is told once, one that was repaired and breaks again is news.
#[tokio::test]
async fn s4_6_each_matter_with_a_list_is_told_once() {
    for (how, begins) in [
        ("error", "WARNING tools cannot be listed: "),
        ("garbage", "WARNING tools cannot be listed: "),
        ("timeout", "WARNING tools cannot be listed: no answer within 1s at "),
        ("half", "WARNING tools cannot be listed: the list broke off: "),
        ("empty", "WARNING it lists no tools at "),
    ] {
        let hosted = Hosted::new();
        hosted.add("x", &["--fault", "c15", "--page", "2", "--era", "legacy"], &json!({}));
        let mut limits = calm();
        if how == "timeout" {
            limits.wait_list = Duration::from_secs(1);
        }
        let kit = hosted.farm.open(limits).await;
        kit.reaches("x", LinkState::Ready).await;
        let lists = || hosted.farm.count("x", "list");
        for times in 1..=2 {
            kit.ask("x", "break_list", json!({"how": how})).await.unwrap();
            let lines = || hosted.farm.log("x").lines().count();
            assert!(until(Duration::from_secs(10), || times <= lines()).await, "{how}: {times}");
            // Asked for again, and again in vain.
            for _ in 0..2 {
                let before = lists();
                kit.ask("x", "add_tool", json!({})).await.unwrap();
                assert!(until(Duration::from_secs(10), || before < lists()).await, "{how}");
            }
            let good = kit.on("x").tools().tools.len();
            kit.ask("x", "mend_list", json!({})).await.unwrap();
            let is_repaired = || {
                let link = kit.on("x");
                link.status().state == LinkState::Ready && good < link.tools().tools.len()
            };
            assert!(until(Duration::from_secs(10), is_repaired).await, "{how}: {:?}", kit.on("x").status());
            let log = hosted.farm.log("x");
            assert_eq!(log.lines().count(), times, "{how}: {log}");
            assert!(log.lines().all(|line| line.starts_with(begins)), "{how}: {log}");
            assert!(log.lines().all(|line| line.matches("http://127.0.0.1:").count() == 1), "{how}: {log}");
        }
        hosted.close(kit).await;
    }
}
