//! `kitbag call`: arguments in, content out, files saved, progress shown, failures that help.

use serde_json::{Value, json};

use super::Farm;
use super::cli_show::defined;
use crate::house::Runs as _;
use crate::pty::{self, uncoloured};

/// The arguments that arrive at the server, which gives back what it got.
#[track_caller]
fn arrives(farm: &Farm, args: &[&str]) -> Value {
    let all: Vec<&str> = ["call", "x/t"].iter().chain(args).copied().collect();
    let text = farm.house.run(&all).exits(0).out;
    let params: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    params["arguments"].clone()
}

#[test]
fn pairs_are_read_by_the_schema() {
    let farm = defined(&json!([{"name": "t", "inputSchema": {"type": "object", "properties": {
        "n": {"type": "integer"}, "s": {"type": "string"}, "b": {"type": "boolean"},
        "list": {"type": "array"}, "either": {"type": ["integer", "string"]}, "any": {}}}}]));
    assert_eq!(arrives(&farm, &["n=3", "s=3", "b=true"]), json!({"n": 3, "s": "3", "b": true}));
    assert_eq!(arrives(&farm, &["either=3", "unknown=3"]), json!({"either": "3", "unknown": "3"}));
    assert_eq!(arrives(&farm, &["either:=3", "any:={\"a\":[1]}"]), json!({"either": 3, "any": {"a": [1]}}));
    assert_eq!(arrives(&farm, &["list=[1,\"a\"]", "s=a=b"]), json!({"list": [1, "a"], "s": "a=b"}));
    assert_eq!(arrives(&farm, &["--args", "{\"n\": 1, \"s\": \"a\"}", "n=2"]), json!({"n": 2, "s": "a"}));
    let piped = farm.house.ask(&["call", "x/t", "--args", "-"]).input("{\"n\": 7}").run().exits(0).out;
    assert!(piped.contains("\"n\":7"), "{piped}");
    farm.house.run(&["call", "x/t", "n:=three"]).fails(7, "not valid JSON");
    farm.house.run(&["call", "x/t", "n"]).fails(7, "not key=value");
    farm.house.run(&["call", "x/t", "--args", "{"]).fails(7, "not valid JSON");
    farm.house.run(&["call", "x/t", "n=three"]).fails(7, "expected integer");
    farm.is_empty();
}

#[test]
fn f95_numbers_arrive_with_all_their_digits() {
    let of = |kind: &str| json!({"type": kind});
    let inner = json!({"type": "object", "properties": {"n": of("integer"), "d": of("number")}});
    let farm = defined(&json!([{"name": "t", "inputSchema": {"type": "object", "properties": {
        "amount": of("integer"), "x": of("number"), "in": inner}}}]));
    let check = |args: &[&str], wanted: &str| {
        let all: Vec<&str> = ["call", "x/t"].iter().chain(args).copied().collect();
        let text = farm.house.run(&all).exits(0).out;
        assert!(text.contains(&format!("\"arguments\":{wanted}")), "{args:?}: {text}");
    };
    let whole = r#"{"amount":123456789012345678901,"x":1e400,"in":{"d":0.10000000000000000001}}"#;
    check(&["--args", whole], whole);
    let pairs = ["amount=123456789012345678901", "x=-0.10000000000000000001"];
    check(&pairs, r#"{"amount":123456789012345678901,"x":-0.10000000000000000001}"#);
    check(&["x:=1E+2", "amount:=123456789012345678901"], r#"{"x":1E+2,"amount":123456789012345678901}"#);
    // The neighbours of a value that is coerced.
    let coerced = r#"{"in":{"n":"3","d":0.10000000000000000001},"x":1e400}"#;
    check(&["--args", coerced], &coerced.replace("\"3\"", "3"));
    farm.house.put(
        "kit/config/kitbag.toml",
        "[servers.x.tools.t.args]\nx = { rename = 'y' }\namount = { pin = 7 }\n",
    );
    check(
        &["--args", r#"{"y":0.10000000000000000001,"in":{"n":"3","d":1e400}}"#],
        r#"{"x":0.10000000000000000001,"in":{"n":3,"d":1e400},"amount":7}"#,
    );
    farm.is_empty();
}

#[test]
fn s1_9_wrong_arguments_are_not_sent_and_the_answer_says_what_is_right() {
    let farm =
        defined(&json!([{"name": "t", "inputSchema": {"type": "object", "additionalProperties": false,
        "required": ["city"], "properties": {
            "city": {"type": "string", "description": "Which city"},
            "unit": {"enum": ["C", "F"], "default": "C"}}}}]));
    let ran = farm.house.run(&["call", "x/t", "unit=K"]).fails(7, "invalid_arguments");
    for word in ["city", "ARGUMENT", "Which city", "\"C\" | \"F\"", "yes", "try: kitbag call mcp_x_t city="] {
        assert!(ran.err.contains(word), "no {word:?} in {}", ran.err);
    }
    assert!(!ran.err.contains("additionalProperties"), "{}", ran.err);
    let answer = farm.house.run(&["call", "x/t", "citty=Rome", "--json"]).exits(7).json();
    assert_eq!((&answer["ok"], &answer["kind"]), (&json!(false), &json!("invalid_arguments")));
    assert_eq!(answer["repair"]["schema"]["required"], json!(["city"]));
    assert!(answer["message"].as_str().unwrap().contains("city"), "{answer}");
    assert_eq!(farm.count("x", "call t"), 0);
    farm.is_empty();
}

#[test]
fn s1_10_every_failure_says_kind_cause_and_what_to_do() {
    let farm = Farm::of("x", &[]);
    farm.add_with("gone", &[], &json!({"command": "no-such-program-anywhere"}));
    farm.house.put("kit/config/kitbag.toml", "[wait]\ntotal = \"2s\"\n");
    let check = |args: &[&str], code: i32, words: &[&str]| {
        let all: Vec<&str> = ["call"].iter().chain(args).copied().collect();
        let ran = farm.house.run(&all).exits(code);
        for word in words.iter().chain(&["  try: "]) {
            assert!(ran.err.contains(word), "{args:?}: no {word:?} in {}", ran.err);
        }
    };
    check(&["x/ecko"], 5, &["not_found", "x/ecko", "mcp_x_echo"]);
    check(&["gone/echo"], 4, &["unavailable", "no-such-program-anywhere", "kitbag logs gone"]);
    check(&["x/add", "a=one"], 7, &["invalid_arguments", "a: is string, expected number", "ARGUMENT"]);
    check(&["x/rpc_error", "code=-32050"], 13, &["server_error", "-32050", "kitbag logs x"]);
    check(&["x/sleep", "ms=600000"], 9, &["outcome_unknown", "no answer within", "before you call it again"]);
    check(&["x/die", "how=kill"], 9, &["outcome_unknown", "signal 9"]);
    farm.is_empty();
}

/// The kinds that a person can bring about, each as the word of the contract.
#[test]
fn s3_18_kinds_are_words_of_the_contract() {
    let farm = Farm::of("x", &[]);
    farm.add("y", &[]);
    farm.house.put("kit/config/kitbag.toml", "[wait]\ntotal = \"2s\"\n[limits]\nline = \"64KiB\"\n");
    for (args, code, kind) in [
        (&["nothing-like-it"][..], 5, "not_found"),
        (&["echo"], 5, "ambiguous"),
        (&["x/add", "a=one"], 7, "invalid_arguments"),
        (&["x/rpc_error"], 13, "server_error"),
        (&["x/fail"], 1, "tool_error"),
        (&["x/sleep", "ms=600000"], 9, "outcome_unknown"),
        (&["x/big", "bytes=100000"], 13, "too_large"),
    ] {
        let all: Vec<&str> = ["call", "--json"].iter().chain(args).copied().collect();
        let answer = farm.house.run(&all).exits(code).json();
        assert_eq!((&answer["kind"], &answer["ok"]), (&json!(kind), &json!(false)), "{args:?}");
        assert_eq!(answer["is_error"], true, "{answer}");
        let said = answer["message"].as_str().or_else(|| answer["content"][0]["text"].as_str());
        assert!(said.is_some_and(|said| !said.is_empty()), "{answer}");
    }
    farm.is_empty();
}

#[test]
fn s3_23_a_result_says_how_it_went() {
    let farm = Farm::of("x", &[]);
    let answer =
        farm.house.run(&["call", "x/add", "--args", "{\"a\": \"2\", \"b\": 3}", "--json"]).exits(0).json();
    let meta = &answer["meta"];
    assert_eq!((&meta["server"], &meta["tool"]), (&json!("x"), &json!("add")));
    assert_eq!(
        (&meta["transport"], &meta["retries"], &meta["cache_hit"]),
        (&json!("stdio"), &json!(0), &json!(false))
    );
    assert!(meta["duration_ms"].is_u64(), "{meta}");
    assert_eq!(meta["coerced"], json!(["a"]));
    assert_eq!(answer["content"], json!([{"type": "text", "text": "5"}]));
    farm.is_empty();
}

#[test]
fn files_in_a_result_are_saved_and_named() {
    let farm = Farm::of("x", &[]);
    let first = farm.house.run(&["call", "x/mixed", "--save", "."]).exits(0).out;
    let expected = "all kinds
[image] ./mixed-1.png (image/png, 67 bytes)
[audio] ./mixed-1.wav (audio/wav, 48 bytes)
[link] fake://linked (A linked resource)
[resource] fake://text
embedded text
[resource] ./mixed-1.bin (application/octet-stream, 7 bytes)
";
    assert_eq!(first, expected);
    let png = std::fs::read(farm.house.path("project/mixed-1.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG"));
    assert_eq!(std::fs::read(farm.house.path("project/mixed-1.bin")).unwrap(), b"\x00\x01\x02fake");
    // Nothing is written over, and no link is followed.
    std::os::unix::fs::symlink(farm.house.path("elsewhere"), farm.house.path("project/image-1.png")).unwrap();
    let image = farm.house.run(&["call", "x/image", "--save", "."]).exits(0).out;
    assert!(image.starts_with("[image] ./image-2.png "), "{image}");
    assert!(!farm.house.path("elsewhere").exists());
    // Another folder, made where it is missing; a file in its place is said before anything is called.
    let there = farm.house.run(&["call", "x/image", "--save", "deep/er"]).exits(0).out;
    assert!(there.starts_with("[image] deep/er/image-1.png "), "{there}");
    let calls = farm.count("x", "call image");
    farm.house.run(&["call", "x/image", "--save", "mixed-1.png"]).fails(2, "--save");
    assert_eq!(farm.count("x", "call image"), calls);
    farm.is_empty();
}

/// What nobody asked to save lies in the state folder, not in the middle of somebody's work.
#[test]
fn f64_files_of_a_result_are_kept_in_the_state_folder() {
    let farm = Farm::of("x", &[]);
    let before = farm.house.files("project").len();
    let ran = farm.house.run(&["call", "x/mixed"]).exits(0);
    assert_eq!(farm.house.files("project").len(), before, "{ran:?}");
    let image = ran.out.lines().find_map(|line| line.strip_prefix("[image] ")).unwrap();
    let image = std::path::Path::new(image.split(" (").next().unwrap());
    let kept = farm.house.path("kit/state/results/files");
    assert!(image.starts_with(&kept) && std::fs::read(image).unwrap().starts_with(b"\x89PNG"), "{image:?}");
    let folder = image.parent().unwrap().display();
    assert_eq!(
        ran.err,
        format!(
            "read the link: kitbag resources read kitbag+x:fake://linked\n\
             3 files kept in {folder}; --save DIR chooses another folder\n"
        )
    );
    // The limit holds for all calls together.
    farm.settings("[limits]\nsaved = '130B'\n");
    let second = farm.house.run(&["call", "x/mixed"]).exits(0);
    assert!(second.err.contains("\n3 files kept in ") && !image.exists(), "{second:?}");
    farm.settings("[limits]\nsaved = '100B'\n");
    let third = farm.house.run(&["call", "x/mixed"]).exits(3);
    assert!(third.err.contains("1 file in the result of mixed not kept"), "{third:?}");
    farm.is_empty();
}

#[test]
fn programs_get_files_as_they_are_and_where_they_were_saved() {
    let farm = Farm::of("x", &[]);
    let plain = farm.house.run(&["call", "x/image", "--json"]).exits(0).json();
    assert_eq!((&plain["saved"], &plain["content"][0]["type"]), (&json!([]), &json!("image")));
    assert!(plain["content"][0]["data"].as_str().unwrap().starts_with("iVBOR"));
    assert!(!farm.house.path("project/image-1.png").exists());
    let saved = farm.house.run(&["call", "x/image", "--json", "--save", "out"]).exits(0).json();
    assert_eq!(saved["saved"], json!(["out/image-1.png"]));
    assert!(farm.house.path("project/out/image-1.png").exists());
    farm.is_empty();
}

/// A file is not printed, so it may be larger than what is.
#[test]
fn a_large_image_is_saved_whole() {
    let farm = Farm::of("x", &[]);
    farm.house.put("kit/config/kitbag.toml", "[limits]\nresult = \"40B\"\n");
    let ran = farm.house.run(&["call", "x/mixed", "--save", "."]).exits(0);
    assert!(ran.out.contains("[image] ./mixed-1.png"), "{}", ran.out);
    assert_eq!(std::fs::read(farm.house.path("project/mixed-1.png")).unwrap().len(), 67);
    farm.is_empty();
}

#[test]
fn the_rest_of_a_large_result_is_read_in_a_later_process() {
    let farm = Farm::of("x", &[]);
    farm.house.put("kit/config/kitbag.toml", "[limits]\nresult = \"1KiB\"\n");
    let ran = farm.house.run(&["call", "x/big", "bytes=2500"]).exits(0);
    assert!(ran.out.starts_with(&"x".repeat(1024)) && ran.out.len() < 1400, "{}", ran.out);
    let command = ran.err.split("read on: kitbag ").nth(1).unwrap().split(';').next().unwrap();
    let words: Vec<&str> = command.split(' ').collect();
    assert_eq!(&words[..2], ["call", "kitbag_read_result"]);
    let starts = farm.count("x", "start");
    let second = farm.house.run(&words).exits(0).out;
    assert!(second.starts_with(&"x".repeat(1024)) && second.contains("[page 2 of 3]"), "{second}");
    assert_eq!(farm.count("x", "start"), starts, "it needs no server");
    let handle = words[2];
    let last = farm.house.run(&["call", "kitbag_read_result", handle, "page=3"]).exits(0).out;
    assert!(last.starts_with(&"x".repeat(2500 - 2048)), "{last}");
    farm.house.run(&["call", "kitbag_read_result", handle, "page=4"]).exits(1);
    farm.house.run(&["call", "kitbag_read_result", "handle=../../x"]).exits(1);
    assert_eq!(farm.house.run(&["call", "x/big", "bytes=2500", "--full"]).exits(0).out.len(), 2501);
    let answer = farm.house.run(&["call", "x/big", "bytes=2500", "--json"]).exits(0).json();
    assert_eq!(answer["meta"]["handle"].as_str().unwrap().len(), 32);
    farm.is_empty();
}

#[test]
fn progress_is_drawn_on_a_terminal_and_gone_at_the_end() {
    let farm = Farm::of("x", &[]);
    let ran = pty::run(&farm.house, 80, &["call", "x/progress", "n=4", "ms=150"], &[]).exits(0);
    for word in ["\rx/progress [######------------------] 1/4", "[############------------] 2/4", "3/4"] {
        assert!(ran.out.contains(word), "no {word:?} in {:?}", ran.out);
    }
    let last = ran.out.rsplit('\r').next().unwrap();
    assert_eq!(last, "4 steps\n");
    let lines = ran.out.split('\r').map(|line| uncoloured(line).chars().count());
    assert!(lines.max().unwrap() <= 80, "{:?}", ran.out);
    for flag in ["--quiet", "--json"] {
        let ran = pty::run(&farm.house, 80, &["call", "x/progress", "n=2", "ms=60", flag], &[]).exits(0);
        assert!(!ran.out.contains("1/2"), "{flag}: {:?}", ran.out);
    }
    let piped = farm.house.run(&["call", "x/progress", "n=3", "ms=10"]).exits(0);
    assert_eq!((piped.out.as_str(), piped.err.as_str()), ("3 steps\n", ""));
    farm.is_empty();
}

#[test]
fn log_messages_are_for_those_who_want_more() {
    for era in ["legacy", "modern"] {
        let farm = Farm::of("x", &["--era", era]);
        assert_eq!(farm.house.run(&["call", "x/log", "n=2"]).exits(0).err, "");
        let more = farm.house.run(&["call", "x/log", "n=2", "--verbose"]).exits(0);
        assert_eq!(more.err, "[info fake] note 1\n[info fake] note 2\n", "{era}");
        assert_eq!(more.out, "logged 2\n");
        let json = farm.house.run(&["call", "x/log", "n=1", "--verbose", "--json"]).exits(0);
        let note: Value = serde_json::from_str(&json.err).unwrap();
        assert_eq!(note["note"], "[info fake] note 1");
        farm.is_empty();
    }
}

#[test]
fn an_operators_name_leads_to_its_server_whatever_it_looks_like() {
    let farm = Farm::of("x", &[]);
    farm.add("y", &[]);
    farm.house.put("kit/config/kitbag.toml", "[servers.y.tools.echo]\nname = \"mcp_x_shout\"\n");
    assert_eq!(farm.house.run(&["call", "mcp_x_shout", "message=a"]).exits(0).out, "a\n");
    assert_eq!(farm.count("y", "call echo"), 1);
    farm.is_empty();
}

#[test]
fn s1_14_kitbag_call_starts_the_fallback_only_when_it_is_needed() {
    let farm = Farm::new();
    let there = farm.house.put("there", "");
    farm.add_while("x", &there);
    farm.add("y", &[]);
    farm.settings("[servers.x]\nfallback = 'y'\n");
    farm.house.run(&["tools"]).exits(0);
    let before = farm.count("y", "start");
    let call = ["call", "x/echo", "message=hi", "--json"];
    assert_eq!(farm.house.run(&call).exits(0).json()["meta"]["server"], "x");
    assert_eq!(farm.count("y", "start"), before);
    farm.settings("[servers.x]\nfallback = 'y'\n[limits]\nrestart_first = '600s'\nrestart_most = '600s'\n");
    std::fs::remove_file(&there).unwrap();
    let ran = farm.house.run(&[&call[..], &["--wait", "300ms"]].concat()).exits(0).json();
    assert_eq!(ran["meta"]["server"], "y", "{ran}");
    assert!(ran["meta"]["notes"][0].as_str().unwrap().starts_with("y answered in place of x: "), "{ran}");
    farm.is_empty();
}
