//! Every tool of the good server, its events, and pages.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::peer::{Peer, command, text};

fn parsed(line: &[u8]) -> Value {
    serde_json::from_slice(line).unwrap()
}

#[test]
fn tools_that_answer_at_once() {
    for mut peer in [Peer::legacy(&[]), Peer::modern(&[])] {
        let echo = peer.call("echo", json!({ "message": "grüß \"dich\"\n", "token": "t1" }));
        assert_eq!(text(&echo), "grüß \"dich\"\n");
        assert_eq!(echo["result"]["structuredContent"], json!({ "token": "t1" }));
        assert_eq!(peer.text("echo", json!({ "message": { "a": 1 } })), r#"{"a":1}"#);
        assert_eq!(peer.text("add", json!({ "a": 2, "b": 40 })), "42");
        assert_eq!(peer.text("big", json!({ "bytes": 300_000 })).len(), 300_000);
        assert_eq!(peer.text("pid", json!({})), peer.child.id().to_string());
        assert_eq!(peer.call("fail", json!({}))["result"]["isError"], true);
        assert_eq!(peer.call("rpc_error", json!({ "code": -32007 }))["error"]["code"], -32007);
        assert_eq!(peer.call("nobody", json!({}))["error"]["code"], -32602);
        assert_eq!(peer.call("add", json!({ "a": "x" }))["error"]["code"], -32602);
        assert_eq!(peer.request("nothing/such", json!({}))["error"]["code"], -32601);
    }
}

#[test]
fn tools_of_every_kind_of_content() {
    for mut peer in [Peer::legacy(&[]), Peer::modern(&[])] {
        let mut result = |tool: &str, arguments: Value| peer.call(tool, arguments)["result"].take();
        let image = result("image", json!({}))["content"].take();
        assert_eq!((&image[0]["type"], &image[0]["mimeType"]), (&json!("image"), &json!("image/png")));
        let audio = result("audio", json!({}))["content"].take();
        assert_eq!((&audio[0]["type"], &audio[0]["mimeType"]), (&json!("audio"), &json!("audio/wav")));
        let both = result("resource", json!({}))["content"].take();
        assert_eq!(both[0]["resource"]["text"], "embedded text");
        assert_eq!(both[1]["resource"]["blob"], "AAECZmFrZQ==");
        for (index, kind) in ["text", "blob"].into_iter().enumerate() {
            assert_eq!(result("resource", json!({ "kind": kind }))["content"], json!([both[index]]));
        }
        let link = result("resource_link", json!({}))["content"].take();
        assert_eq!((&link[0]["type"], &link[0]["uri"]), (&json!("resource_link"), &json!("fake://linked")));
        let structured = result("structured", json!({ "value": "grün" }));
        assert_eq!(structured["structuredContent"], json!({ "value": "grün", "length": 4 }));
        assert_eq!(structured["content"][0]["text"], structured["structuredContent"].to_string());
        let mixed = result("mixed", json!({}))["content"].take();
        let kinds: Vec<_> = mixed.as_array().unwrap().iter().map(|block| &block["type"]).collect();
        assert_eq!(kinds, ["text", "image", "audio", "resource_link", "resource", "resource"]);
        assert_eq!((&mixed[1], &mixed[2], &mixed[3]), (&image[0], &audio[0], &link[0]));
        let list = peer.request("tools/list", json!({}));
        let tools = list["result"]["tools"].as_array().unwrap();
        let structured = tools.iter().find(|tool| tool["name"] == "structured").unwrap();
        assert_eq!(structured["title"], "Structured answer");
        assert_eq!(structured["outputSchema"]["required"], json!(["value", "length"]));
        assert_eq!(structured["annotations"], json!({ "readOnlyHint": true, "openWorldHint": false }));
    }
}

#[test]
fn raw_echo_gives_the_bytes_back() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("events");
    let mut peer = Peer::legacy(&["--events", path.to_str().unwrap()]);
    let params = concat!(
        r#"{ "name":"raw_echo" , "arguments": {"b":1.0,"a":1e2,"big":12345678901234567890123,"a":"\u00fc ü"},"#,
        r#""_meta":{"x":[ ]}}"#
    );
    peer.send_text(&format!(r#"{{"jsonrpc":"2.0","id":"r","method":"tools/call","params":{params}}}"#));
    assert_eq!(text(&parsed(&peer.line().unwrap())), params);
    peer.end();
    let events = fs::read_to_string(path).unwrap();
    assert!(events.contains(&format!("\nparams {params}\n")), "{events}");
}

#[test]
fn what_it_inherited() {
    let mut command = command(&["--era", "legacy"]);
    command.env_clear().env("SEEN", "yes").env("OTHER", "no");
    let mut peer = Peer::spawn(command);
    let names: Vec<String> = serde_json::from_str(&peer.text("env", json!({}))).unwrap();
    assert_eq!(names, ["OTHER", "SEEN"], "sorted by std's Command");
    let values: Value = serde_json::from_str(&peer.text("env", json!({ "names": ["SEEN", "X"] }))).unwrap();
    assert_eq!(values, json!({ "SEEN": "yes" }));
    let fds: Value = serde_json::from_str(&peer.text("fds", json!({}))).unwrap();
    let inherited = fds["inherited"].as_object().unwrap();
    assert!(["0", "1", "2"].iter().all(|fd| inherited.contains_key(*fd)), "{fds}");
    // Whoever started the tests may leave descriptors open for everybody; ours are closed on exec.
    let own = testkit::proc::open_fds(std::process::id());
    for (fd, what) in inherited.iter().filter(|(fd, _)| !["0", "1", "2"].contains(&&***fd)) {
        assert_eq!(own[&fd.parse().unwrap()].to_str(), what.as_str(), "{fd} came from nowhere");
    }
    assert!(peer.request("ping", json!({}))["result"].is_object());
}

#[test]
fn sleepers_answer_out_of_order_and_can_be_cancelled() {
    let folder = TempDir::new().unwrap();
    let events = folder.path().join("events");
    let mut peer = Peer::legacy(&["--events", events.to_str().unwrap()]);
    let slow = peer.ask_call("sleep", json!({ "ms": 120 }));
    let never = peer.ask_call("sleep", json!({ "ms": 60 }));
    let fast = peer.ask_call("sleep", json!({ "ms": 20 }));
    let params = json!({ "requestId": never });
    peer.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
    assert_eq!(parsed(&peer.line().unwrap())["id"], fast);
    assert_eq!(parsed(&peer.line().unwrap())["id"], slow);
    let endless = peer.ask_call("slow_progress", json!({ "ms": 5, "n": 100_000 }));
    assert_eq!(parsed(&peer.line().unwrap())["params"]["progressToken"], endless);
    let params = json!({ "requestId": endless });
    peer.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
    peer.text("pid", json!({}));
    assert!(peer.is_silent_for(Duration::from_millis(60)));
    let events = fs::read_to_string(events).unwrap();
    assert!(events.contains(&format!("cancelled {never}\n")), "{events}");
    assert!(events.contains(&format!("cancelled {endless}\n")), "{events}");
}

#[test]
fn progress_and_logs_come_before_the_answer_in_order() {
    let mut peer = Peer::legacy(&[]);
    for ms in [0, 2] {
        peer.others.clear();
        let id = peer.ask_call("progress", json!({ "n": 5, "ms": ms }));
        assert_eq!(text(&peer.answer(id).unwrap()), "5 steps");
        let steps: Vec<_> = peer.others.iter().map(|line| parsed(line)["params"].take()).collect();
        let expected = |step| json!({ "progressToken": id, "progress": step, "total": 5 });
        assert_eq!(steps, (1..=5).map(expected).collect::<Vec<_>>());
    }
    peer.others.clear();
    peer.text("log", json!({ "n": 4 }));
    assert_eq!(peer.others.len(), 4);
    let mut modern = Peer::modern(&[]);
    modern.text("log", json!({ "n": 4 }));
    assert_eq!(modern.others.len(), 0, "the modern era logs only when asked");
}

#[test]
fn pages_and_more_tools() {
    let mut peer = Peer::legacy(&["--tools", "50", "--page", "7"]);
    let (mut names, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
        let mut page = peer.request("tools/list", params)["result"].take();
        let tools = page["tools"].as_array().unwrap();
        assert!(tools.len() <= 7);
        for tool in tools.iter().filter(|tool| tool["name"].as_str().unwrap().starts_with("extra_")) {
            assert_eq!(tool.to_string().len(), 400);
        }
        names.extend(tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()));
        cursor = page["nextCursor"].take();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(names.len(), 23 + 50);
    assert_eq!(names.last().unwrap(), "extra_0050");
    assert_eq!(peer.text("extra_0050", json!({})), "extra_0050");
    assert_eq!(peer.request("tools/list", json!({ "cursor": "x" }))["error"]["code"], -32602);
    peer.text("grow", json!({}));
    assert_eq!(parsed(&peer.others[0])["method"], "notifications/tools/list_changed");
}

#[test]
fn questions_in_both_eras() {
    let mut peer = Peer::legacy(&[]);
    let id = peer.ask_call("ask", json!({ "what": "elicitation" }));
    let question = parsed(&peer.line().unwrap());
    assert_eq!(question["method"], "elicitation/create");
    peer.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "decline" } }));
    assert_eq!(text(&peer.answer(id).unwrap()), r#"{"action":"decline"}"#);
    let id = peer.ask_call("ask", json!({ "what": "roots" }));
    let question = parsed(&peer.line().unwrap());
    assert_eq!(question["method"], "roots/list");
    let refusal = json!({ "code": -32601, "message": "no" });
    peer.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "error": refusal }));
    assert_eq!(text(&peer.answer(id).unwrap()), refusal.to_string());

    let mut modern = Peer::modern(&[]);
    let refused = modern.call("ask", json!({ "what": "sampling" }));
    assert_eq!(text(&refused), "the client does not offer sampling/createMessage");
    let offered = json!({ "io.modelcontextprotocol/clientCapabilities": { "sampling": {} } });
    let params = json!({ "name": "ask", "arguments": { "what": "sampling" }, "_meta": offered });
    let asked = modern.request("tools/call", params);
    assert_eq!(asked["result"]["resultType"], "input_required");
    assert_eq!(asked["result"]["inputRequests"]["question"]["method"], "sampling/createMessage");
    let responses = json!({ "question": { "role": "assistant" } });
    let params = json!({
        "name": "ask",
        "arguments": { "what": "sampling" },
        "inputResponses": responses,
        "requestState": asked["result"]["requestState"],
    });
    assert_eq!(text(&modern.request("tools/call", params)), responses.to_string());
}

#[test]
fn deaths() {
    for (how, code) in [("exit", Some(1)), ("kill", None), ("eof", Some(0))] {
        let mut peer = Peer::legacy(&[]);
        let id = peer.ask_call("die", json!({ "how": how }));
        assert_eq!(peer.answer(id), None);
        assert_eq!(peer.ended().0.code(), code, "{how}");
    }
}

#[test]
fn events_are_written_as_they_happen() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("events");
    let args = ["--events", path.to_str().unwrap()];
    let mut peer = Peer::legacy(&args);
    peer.request("tools/list", json!({}));
    peer.text("count", json!({ "token": "one two" }));
    let pid = peer.child.id();
    peer.end();
    let events = fs::read_to_string(&path).unwrap();
    let (greeted, events): (Vec<&str>, Vec<&str>) =
        events.split_inclusive('\n').partition(|line| line.starts_with("greeted "));
    assert!(greeted.len() == 1 && greeted[0].contains("\"capabilities\":{}"), "{greeted:?}");
    let events = events.concat();
    let expected = format!("start {pid}\ninitialize\nlist\ncall count one_two\nexec one_two\nstdin-eof\n");
    assert_eq!(events, expected);

    let peer = Peer::modern(&args);
    let pid = rustix::process::Pid::from_child(&peer.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let (status, _) = peer.ended();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(15));
    assert!(fs::read_to_string(&path).unwrap().ends_with("discover\nterm\n"));
}

#[test]
fn a_late_start() {
    let before = testkit::Since::now();
    Peer::legacy(&["--start-delay", "150"]);
    before.at_least(Duration::from_millis(150));
}
