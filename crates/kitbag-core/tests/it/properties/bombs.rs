//! Files made to hurt: each ends soon, with a fault or a bounded result.

use std::fmt::Write as _;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use kitbag_core::config::layers::{Layer, Layered, merge};
use kitbag_core::config::{Dialect, settings};
use kitbag_core::{FaultKind, Limits};

use super::{check, faults, read_as};

/// Far more than any of these needs in a debug build, far less than a square of their size takes.
const DEADLINE: Duration = Duration::from_secs(20);

/// The work runs apart, so that one without end fails instead of hanging. What counts is how long it was worked on:
/// a machine with much else to do takes longer for everything.
fn within<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, receive) = mpsc::channel();
    let thread = thread::spawn(move || {
        let done = work();
        send.send((done, worked().unwrap_or_default()))
    });
    match receive.recv_timeout(10 * DEADLINE) {
        Ok((done, took)) if took < DEADLINE => done,
        Ok((_, took)) => panic!("{what} takes {took:?}"),
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{what} does not end"),
        Err(mpsc::RecvTimeoutError::Disconnected) => panic!("{what}: {:?}", thread.join().err()),
    }
}

/// How long this thread has had a core, where the system tells.
fn worked() -> Option<Duration> {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    told.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// Reads a file within the deadline; the kinds of its faults.
#[track_caller]
fn kinds(what: &str, file: &'static str, text: String) -> Vec<FaultKind> {
    within(what, move || {
        let document = read_as(file, &text, None);
        check(&document, &text);
        faults(&document).map(|fault| fault.kind).collect()
    })
}

#[track_caller]
fn refused(what: &str, file: &'static str, text: String) {
    let kinds = kinds(what, file, text);
    assert!(matches!(kinds[..], [FaultKind::TooLarge | FaultKind::Syntax]), "{what}: {kinds:?}");
}

/// `count` lines made from their number.
fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}

const DEEP: usize = 100_000;
/// Enough to tell a square from a line.
const MANY: usize = 100_000;

#[test]
fn nesting_is_refused() {
    refused("json lists", "x.json", "[".repeat(DEEP));
    refused("json closed lists", "x.json", "[".repeat(DEEP) + &"]".repeat(DEEP));
    refused("json maps", "x.json", "{\"a\":".repeat(DEEP));
    refused("json just too deep", "x.json", "[".repeat(100) + &"]".repeat(100));
    refused("yaml flow lists", "x.yaml", "[".repeat(DEEP));
    refused("yaml flow maps", "x.yaml", "{a: ".repeat(DEEP));
    refused("yaml block lists", "x.yaml", "- ".repeat(DEEP));
    refused("yaml keys", "x.yaml", "? ".repeat(DEEP));
    refused("yaml indented", "x.yaml", lines(1000, |n| format!("{}a:\n", " ".repeat(n))));
    refused("toml lists", "x.toml", format!("a = {}", "[".repeat(DEEP)));
    refused("toml maps", "x.toml", format!("a = {}", "{a=".repeat(DEEP)));
    refused("toml dotted key", "x.toml", format!("{}a = 1", "a.".repeat(DEEP)));
    refused("toml header", "x.toml", format!("[{}a]", "a.".repeat(DEEP)));
}

#[test]
fn alias_bombs_are_refused() {
    let laughs = |first: &str, join: fn(&str) -> String| {
        let mut text = format!("a0: &a0 {first}\n");
        for n in 1..40 {
            writeln!(text, "a{n}: &a{n} {}", join(&format!("*a{}", n - 1))).unwrap();
        }
        text
    };
    refused("laughs", "x.yaml", laughs("[x, x]", |alias| format!("[{}]", [alias; 10].join(", "))));
    refused("maps", "x.yaml", laughs("{x: x}", |a| format!("{{a: {a}, b: {a}, c: {a}, d: {a}}}")));
    let merges = |n: usize| {
        let keys = (0..50).map(|k| format!("k{n}_{k}: 1")).collect::<Vec<_>>().join(", ");
        format!(
            "a{n}: &a{n} {{{keys}{}}}\n",
            if n == 0 { String::new() } else { format!(", <<: [*a{}, *a{}]", n - 1, n - 1) }
        )
    };
    refused("merges", "x.yaml", lines(400, merges));
    refused(
        "a long text",
        "x.yaml",
        format!("a: &a {}\nb: [{}]", "x".repeat(1 << 20), "*a,".repeat(300_000)),
    );
    refused(
        "a long key",
        "x.yaml",
        format!("a: &a {{{}: 1}}\nb: [{}]", "x".repeat(1000), "*a,".repeat(300_000)),
    );
    refused("itself", "x.yaml", "a: &a [*a]".to_owned());
}

#[test]
fn wide_files_end_soon() {
    kinds(
        "one line",
        "x.json",
        format!("{{\"mcpServers\": {{\"a\": {{\"command\": \"{}\"}}}}}}", "x".repeat(4 << 20)),
    );
    kinds("one open line", "x.json", format!("{{\"mcpServers\": \"{}", "x".repeat((4 << 20) - 100)));
    kinds("one bare line", "x.yaml", "x".repeat((4 << 20) - 1));
    kinds("one bare line", "x.toml", "x".repeat((4 << 20) - 1));
    kinds("anchors", "x.yaml", lines(100_000, |n| format!("k{n}: &a{n} 1\n")));
    kinds("dotted keys", "x.toml", lines(100_000, |n| format!("a.b{n}.c = 1\n")));
    kinds("tables", "x.toml", lines(100_000, |n| format!("[mcp_servers.s{n}]\ncommand='x'\n")));
    kinds("list of tables", "x.toml", lines(MANY, |_| "[[mcp_servers]]\n".to_owned()));
    for file in ["x.json", "x.yaml"] {
        let keys = lines(399_990, |n| format!("\"{n:x}\":1,"));
        kinds("top keys", file, format!("{{{keys} \"z\": 1}}"));
        kinds("keys beside", file, format!("{{{keys} \"mcpServers\": {{\"a\": {{\"command\": \"x\"}}}}}}"));
        kinds(
            "keys of an entry",
            file,
            format!("{{\"mcpServers\": {{\"a\": {{{keys} \"command\": \"x\"}}}}}}"),
        );
        kinds(
            "servers",
            file,
            format!("{{\"mcpServers\": {{{}\"z\":1}}}}", lines(MANY, |n| format!("\"k{n}\":{{}},"))),
        );
    }
    let slips = lines(MANY, |n| format!("\"comman{}\":1,", char::from(b'a' + (n % 26) as u8)));
    kinds("slips", "x.json", format!("{{\"mcpServers\": {{\"a\": {{{slips} \"x\": 1}}}}}}"));
    kinds(
        "wrappers",
        "x.json",
        format!("{{{}\"z\":1}}", lines(MANY, |n| format!("\"server{}\":{{}},", n % 10))),
    );
}

#[test]
fn pairs_of_many_things_do_not_multiply() {
    let json = |inner: String| format!("{{\"mcpServers\": {{\"a\": {{\"command\": \"x\", {inner}}}}}}}");
    kinds(
        "variables",
        "x.json",
        json(format!("\"env\": {{{}\"Z\": \"1\"}}", lines(MANY, |n| format!("\"V{n}\":\"1\",")))),
    );
    kinds(
        "one variable",
        "x.json",
        json(format!("\"env\": {{{}\"Z\": \"1\"}}", lines(MANY, |_| "\"V\":\"1\",".into()))),
    );
    kinds(
        "wrong variables",
        "x.json",
        json(format!("\"env\": {{{}\"Z\": \"1\"}}", lines(MANY, |n| format!("\"V{n}\":[],")))),
    );
    kinds("wrong arguments", "x.json", json(format!("\"args\": [{}\"\"]", "[],".repeat(400_000))));
    kinds(
        "wrong arguments after é",
        "x.json",
        json(format!("\"é\": 1, \"args\": [{}\"\"]", "[],".repeat(400_000))),
    );
    kinds("many names", "x.json", format!("{{{}\"z\":1}}", lines(MANY, |_| "\"name\":\"x\",".into())));
    kinds(
        "one server",
        "x.json",
        format!("{{\"mcpServers\": {{{}\"z\":1}}}}", lines(MANY, |_| "\"k\":{\"url\":1},".into())),
    );
    kinds(
        "merge",
        "x.yaml",
        format!(
            "b: &b\n{}a:\n  <<: *b\n{}",
            lines(60_000, |n| format!("  k{n}: 1\n")),
            lines(60_000, |n| format!("  j{n}: 1\n"))
        ),
    );
    let servers = lines(40_000, |n| format!("\"k{n}\":{{\"command\":\"x\"}},"));
    let allowed = lines(100_000, |n| format!("\"n{n}\","));
    kinds(
        "allow list",
        "x.json",
        format!("{{\"mcpServers\": {{{servers}\"z\":1}}, \"allowMCPServers\": [{allowed}\"z\"]}}"),
    );
    let tools = lines(60_000, |n| format!("\"k{n}_t\":false,"));
    kinds(
        "hidden tools",
        "x.json",
        format!("{{\"mcpServers\": {{{servers}\"z\":1}}, \"tools\": {{{tools}\"z\":1}}}}"),
    );
    kinds(
        "underlines",
        "x.json",
        format!("{{\"mcpServers\": {{{servers}\"z\":1}}, \"tools\": {{\"{}\":false}}}}", "_".repeat(1 << 20)),
    );
    let asked = lines(30_000, |n| format!("\"k{n}\":{{\"command\":\"${{input:a}}\"}},"));
    let inputs = lines(30_000, |n| format!("{{\"id\":\"i{n}\"}},"));
    kinds(
        "inputs",
        "x.json",
        format!("{{\"servers\": {{{asked}\"z\":1}}, \"inputs\": [{inputs}{{\"id\":\"a\"}}]}}"),
    );
    let long = format!("{{\"id\":\"a\",\"description\":\"{}\"}}", "x".repeat(1 << 20));
    kinds("a long input", "x.json", format!("{{\"servers\": {{{asked}\"z\":1}}, \"inputs\": [{long}]}}"));
}

#[test]
fn texts_full_of_openings_end_soon() {
    for opening in
        ["${", "${A:-$", "${A:-${", "{{", "{env:", "$", "%", "=", ":", "a:", "-- ", "\\\\", "://", "@", "_"]
    {
        let text = format!(
            "{{\"mcpServers\": {{\"a\": {{\"command\": \"{0}\", \"args\": [\"{0}\"]}}, \"b\": {{\"url\": \"https://x/{0}\"}}}}}}",
            opening.repeat((1 << 17) / opening.len())
        );
        within(opening, move || {
            for dialect in ["gemini", "librechat", "opencode", "plain"] {
                let document = read_as("x.json", &text, Dialect::by_id(dialect));
                document
                    .servers
                    .iter()
                    .filter_map(|loaded| loaded.spec.as_ref())
                    .for_each(|spec| drop(spec.shown()));
                check(&document, &text);
            }
        });
    }
}

#[test]
fn settings_end_soon() {
    let limits = Limits::default();
    for text in [
        lines(MANY, |n| format!("k{n} = 1\n")),
        format!("[limits]\n{}", lines(MANY, |n| format!("k{n} = 1\n"))),
        format!("[servers]\n{}", lines(MANY, |n| format!("k{n} = 1\n"))),
        format!("[users]\n{}", lines(MANY, |n| format!("\"k {n}\" = 1\n"))),
        format!("[sources]\nhosts = [{}]", lines(MANY, |n| format!("\"k{n}\","))),
    ] {
        let limits = limits.clone();
        let (_, faults) = within("settings", move || settings::read("kitbag.toml".as_ref(), &text, &limits));
        assert!(faults.len() <= Limits::default().config_faults);
    }
}

#[test]
fn many_layers_of_one_name_end_soon() {
    within("layers", || {
        let documents = (0..3_000).map(|n| {
            let text = format!(
                "{{\"mcpServers\": {{\"a\": {{\"command\": \"{n}\"}}, \"b{n}\": {{\"enabled\": false}}}}}}"
            );
            Layered { layer: Layer::Shared, used: true, user: None, document: read_as("x.json", &text, None) }
        });
        let merged = merge(documents.collect(), &|_| true);
        assert_eq!(merged.servers.len(), 3_000);
        assert_eq!(merged.used().count(), 1);
    });
}
