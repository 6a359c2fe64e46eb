//! What is listed is what can be called, for every user, every part of everything, whatever the rules say.

use std::cell::Cell;
use std::collections::BTreeSet;

use kitbag::{ServerName, ToolName};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use tokio::runtime::Builder;

use crate::client::{Answer, Client};
use crate::place::{Place, TOOLS, USERS};

const CASES: u32 = if option_env!("KITBAG_FULL_TESTS").is_some() { 5_000 } else { 256 };

const PATTERNS: [&str; 9] =
    ["*/*", "a/*", "b/*", "*/alpha", "a/bravo", "b/b*", "*/*a", "local/*", "risk:destructive"];
const SCOPES: [&str; 6] = ["/mcp", "/mcp/s/a", "/mcp/s/b", "/mcp/s/none", "/mcp/a/x", "/mcp/a/y"];

/// One set of rules, and who is looked at.
#[derive(Clone, Debug)]
struct Case {
    toml: String,
    user: &'static str,
    /// Which tools are approved before.
    approved: Vec<usize>,
}

fn patterns() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(&PATTERNS[..]), 0..3)
}

fn case() -> impl Strategy<Value = Case> {
    let group = || (patterns(), patterns());
    let agent = || (patterns(), patterns(), prop::sample::select(vec!["", "a", "b", "*"]));
    let member = || prop::sample::subsequence(vec!["g", "h"], 0..=2);
    let pins = prop::sample::select(vec!["first-use", "strict", "off"]);
    let approved = prop::sample::subsequence((0..8).collect::<Vec<_>>(), 0..=8);
    let all = ([group(), group()], [agent(), agent()], [member(), member(), member()], pins);
    (all, prop::sample::select(&USERS[..]), approved).prop_map(
        |((groups, agents, members, pins), user, approved)| {
            let mut toml = format!("[pins]\nmode = \"{pins}\"\n");
            for (name, (allow, deny)) in ["g", "h"].iter().zip(groups) {
                toml += &format!("[groups.{name}]\nallow = {allow:?}\ndeny = {deny:?}\n");
            }
            for (name, (allow, deny, servers)) in ["x", "y"].iter().zip(agents) {
                toml += &format!("[agents.{name}]\ndeny = {deny:?}\n");
                if !allow.is_empty() {
                    toml += &format!("allow = {allow:?}\n");
                }
                if !servers.is_empty() {
                    toml += &format!("servers = [{servers:?}]\n");
                }
            }
            for (name, groups) in USERS.iter().zip(members) {
                toml += &format!("[users.{name}]\ngroups = {groups:?}\n");
            }
            Case { toml, user, approved }
        },
    )
}

/// How many calls went which way: rules that allow everything, or nothing, show nothing.
#[derive(Default)]
struct Seen {
    callable: Cell<usize>,
    unknown: Cell<usize>,
}

impl Seen {
    fn note(&self, is_unknown: bool) {
        let count = if is_unknown { &self.unknown } else { &self.callable };
        count.set(count.get() + 1);
    }
}

/// What is not known is refused by the request's own error.
fn is_unknown(answer: &Answer) -> bool {
    answer.json()["error"]["code"] == json!(-32602)
}

/// A refusal without what is of its own call: its name in the logs, and the names that may have been meant, which are
/// handed back.
fn plain(answer: &Answer, name: &str) -> (Value, Vec<String>) {
    let mut value = answer.json();
    let message = value["error"]["message"].as_str().unwrap().to_owned();
    let (message, near) = match message.split_once("; did you mean ") {
        Some((message, near)) => (message.to_owned(), near.trim_end_matches('?').to_owned()),
        None => (message, String::new()),
    };
    value["error"]["message"] = message.replace(name, "NAME").into();
    assert!(value["error"]["data"]["kitbag/call"].is_string(), "{value}");
    value["error"]["data"]["kitbag/call"] = "ID".into();
    (value, near.split(", ").filter(|near| !near.is_empty()).map(str::to_owned).collect())
}

async fn check(client: &mut Client, scope: &str, seen: &Seen) -> Result<(), TestCaseError> {
    let listed: BTreeSet<String> = client.listed(scope).await.into_iter().collect();
    let nothing = "c_nothing";
    let unknown = client.ask(scope, "tools/call", json!({"name": nothing, "arguments": {}})).await;
    prop_assert!(is_unknown(&unknown), "{scope}: {unknown:?}");
    let (wanted, _) = plain(&unknown, nothing);
    let all = ["a", "b"].iter().flat_map(|server| TOOLS.iter().map(move |tool| format!("{server}_{tool}")));
    for name in all.filter(|name| !name.ends_with("wait")) {
        let answer = client.ask(scope, "tools/call", json!({"name": name, "arguments": {}})).await;
        seen.note(is_unknown(&answer));
        prop_assert_eq!(listed.contains(&name), !is_unknown(&answer), "{} {}: {:?}", scope, name, answer);
        if is_unknown(&answer) {
            let (refusal, near) = plain(&answer, &name);
            prop_assert_eq!(&refusal, &wanted, "{} {}: as if it were not there", scope, name);
            prop_assert_eq!(answer.status, unknown.status);
            prop_assert!(near.iter().all(|near| listed.contains(near)), "{}: {:?}", scope, near);
        }
    }
    Ok(())
}

#[test]
fn s2_18_listed_is_callable_through_the_endpoint_for_random_users() {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let place = runtime.block_on(Place::new("", |limits| {
        (limits.serve_rate, limits.serve_burst) = (1_000_000, 1_000_000);
    }));
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    let seen = Seen::default();
    let outcome = TestRunner::new(config).run(&case(), |case| {
        runtime.block_on(async {
            place.settings(&case.toml).await;
            let kit = place.users.of(case.user);
            let names = |at: &usize| {
                (ServerName::parse(["a", "b"][at / 4]).unwrap(), ToolName::parse(TOOLS[at % 4]).unwrap())
            };
            kit.approve_definitions(&case.approved.iter().map(names).collect::<Vec<_>>()).await.unwrap();
            let mut client = place.client(case.user).await;
            for scope in SCOPES {
                check(&mut client, scope, &seen).await?;
            }
            Ok(())
        })
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    let [callable, unknown] = [&seen.callable, &seen.unknown].map(Cell::get);
    assert!(100 < callable && 100 < unknown, "rules that decide nothing: {callable}, {unknown}");
    runtime.block_on(place.close());
}
