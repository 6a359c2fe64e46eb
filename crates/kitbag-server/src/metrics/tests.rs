//! The page, and that it does not grow with what clients say.

use std::time::Duration;

use kitbag::{ErrorKind, ServerName};

use super::{Metrics, SERVERS};
use crate::access::Refused;
use crate::load::Overload;

const QUICK: Duration = Duration::from_millis(3);

fn name(text: &str) -> ServerName {
    ServerName::parse(text).unwrap()
}

#[test]
fn calls_refusals_and_streams_are_on_the_page() {
    let metrics = Metrics::new();
    metrics.called(Some(&name("x")), None, QUICK);
    metrics.called(Some(&name("x")), None, QUICK);
    metrics.called(Some(&name("x")), Some(ErrorKind::Timeout), QUICK);
    metrics.called(None, Some(ErrorKind::NotFound), QUICK);
    metrics.refused(Refused::NoToken);
    metrics.limited(Overload::Calls);
    let stream = metrics.stream();
    let page = metrics.page();
    for line in [
        r#"kitbag_calls_total{server="x",kind="ok"} 2"#,
        r#"kitbag_calls_total{server="x",kind="timeout"} 1"#,
        r#"kitbag_calls_total{server="",kind="not_found"} 1"#,
        r#"kitbag_call_duration_seconds_count{server="x"} 3"#,
        r#"kitbag_call_duration_seconds_bucket{server="x",le="0.005"} 3"#,
        r#"kitbag_call_duration_seconds_bucket{server="x",le="0.0025"} 0"#,
        r#"kitbag_refused_total{reason="no_token"} 1"#,
        r#"kitbag_refused_total{reason="wrong_token"} 0"#,
        r#"kitbag_limited_total{what="calls"} 1"#,
        "kitbag_streams 1",
    ] {
        assert!(page.lines().any(|found| found == line), "no {line} in\n{page}");
    }
    drop(stream);
    assert!(metrics.page().contains("kitbag_streams 0\n"));
}

#[test]
fn more_servers_than_a_bound_are_counted_together() {
    let metrics = Metrics::new();
    for n in 0..SERVERS + 5 {
        metrics.called(Some(&name(&format!("s{n}"))), None, QUICK);
    }
    let page = metrics.page();
    let rows = page.lines().filter(|line| line.starts_with("kitbag_calls_total{")).count();
    assert_eq!(rows, SERVERS + 1);
    assert!(page.contains(r#"kitbag_calls_total{server="(others)",kind="ok"} 5"#), "{page}");
}
