//! What a server or a model can make long: none of it takes longer than its length.

use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::names::ServerName;
use crate::present::signatures::signatures;
use crate::present::tests::fixture::view;
use crate::present::text::{CallsPerReply, DeclaredServer, DeclaredState, Toolbelt};
use crate::present::{find, gateway, markdown, native, text};
use crate::shape::View;

const MEGABYTE: usize = 1 << 20;
/// As long as a description may be.
const DESCRIPTION: usize = 16 << 10;
/// Tools of one view.
const TOOLS: usize = 30;
/// Many times what any of these needs.
const DEADLINE: Duration = Duration::from_secs(10);

/// Runs the work apart, so that one without end fails instead of hanging.
#[track_caller]
fn within<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, ended) = mpsc::channel();
    std::thread::spawn(move || done.send(work()));
    ended.recv_timeout(DEADLINE).unwrap_or_else(|why| panic!("{what}: {why}"))
}

fn repeated(what: &str, bytes: usize) -> String {
    what.repeat(bytes / what.len())
}

/// Many tools, each with this as its description.
fn described(about: &str) -> View {
    let tool = |number| json!({"name": format!("t{number}"), "description": about});
    view([("s", (0..TOOLS).map(tool).collect::<Vec<Value>>().into())])
}

#[test]
fn f4_descriptions_of_odd_characters_are_presented_in_time() {
    for odd in [
        ".", "?.", "`", "````x", "<!--", "![", "#\n", "\u{202e}", "(", "e.g.", "e.g. ", "İ", "| ", "\\", "\r",
    ] {
        let about = repeated(odd, DESCRIPTION);
        within(odd, move || {
            let view = described(&about);
            assert!(!signatures(&view).is_empty());
            assert!(!markdown::markdown(&view, &markdown::MarkdownOptions::default()).is_empty());
            assert_eq!(gateway::list(&view, "s", None, usize::MAX).total, TOOLS);
        });
    }
}

#[test]
fn f4_a_query_of_a_megabyte_is_looked_for_in_time() {
    let view = described(&format!("{}z", repeated("y", DESCRIPTION - 1)));
    within("a query", move || {
        let query = repeated("z ", MEGABYTE);
        assert_eq!(gateway::list(&view, "s", Some(&query), 1).total, TOOLS);
        assert!(!find(&view, &query).is_empty());
    });
}

#[test]
fn f4_a_reply_of_a_megabyte_is_read_in_time() {
    let lines = [
        "TOOL: t0\n",
        "TOOL: t0 [\n",
        "TOOL: t0 [1]\n",
        "TOOL: t0 (\n",
        "TOOL: t0 ```\n",
        "```\n",
        "x\n",
        "\n",
    ];
    let after =
        ["{", "[", "(", "`", "\\\"", "\"", "{\"a\":", "[1,", "1", " ", "\n", "t", "```", "```\n", "İ"];
    let mut replies: Vec<String> = lines.iter().map(|line| repeated(line, MEGABYTE)).collect();
    for odd in after {
        replies.push(format!("TOOL: t0 {}", repeated(odd, MEGABYTE)));
        replies.push(format!(
            "TOOL: {}\n{}",
            repeated(odd, MEGABYTE / 2),
            repeated("TOOL: t0 [1]\n", MEGABYTE / 2)
        ));
    }
    for reply in replies {
        let what: String = reply.chars().take(20).collect();
        within(&what, move || {
            let view = described("Does it");
            let local = ServerName::local();
            let servers = [DeclaredServer { name: "s", standing: DeclaredState::Ready }];
            let belt =
                Toolbelt { view: &view, local: Some(&local), servers: &servers, others: &[("o", "x")] };
            assert!(!text::decode(&belt, &reply, CallsPerReply::InOrder).intents.is_empty());
            let whole = Value::from(reply);
            native::decode(native::Provider::Generic, &whole);
            let call = json!({"tool_calls": [{"function": {"name": whole, "arguments": whole}}]});
            assert_eq!(native::decode(native::Provider::OpenAiChat, &call).len(), 1);
        });
    }
}
