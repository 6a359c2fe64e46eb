//! Secrets stay where they were given: in one server's environment, and nowhere that is shown.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::Farm;
use crate::house::Runs as _;

/// What every program gets, whoever it is.
const PASSED: [&str; 14] = [
    "HOME",
    "PATH",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "TERM",
    "USER",
    "LOGNAME",
    "SHELL",
    "TMPDIR",
    "TZ",
    "XDG_RUNTIME_DIR",
    "SSL_CERT_FILE",
];

#[test]
fn t30_a_server_sees_its_own_variables_and_nobody_elses() {
    let farm = Farm::new();
    let of = |names: [&str; 2]| json!({"env": {names[0]: "one-of-mine", names[1]: "another"}});
    farm.add_with("a", &[], &of(["A_TOKEN", "A_MODE"]));
    farm.add_with("b", &[], &of(["B_TOKEN", "B_MODE"]));
    let ask = |tool: &str, args: &str| {
        let mut run = farm.house.ask(&["call", tool, "--args", args, "--json", "--wait", "60s"]);
        for canary in
            ["OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "UV_PUBLISH_TOKEN", "LD_CANARY"]
        {
            run = run.env(canary, "CANARY");
        }
        let text = run.env("LANG", "C.UTF-8").run().exits(0).json()["content"][0]["text"].clone();
        serde_json::from_str::<Value>(text.as_str().unwrap()).unwrap()
    };
    for (server, own) in [("a", ["A_TOKEN", "A_MODE"]), ("b", ["B_TOKEN", "B_MODE"])] {
        let seen = ask(&format!("{server}/env"), "{}");
        let seen: BTreeSet<&str> = seen.as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let declared = own.into_iter().chain(["KITBAG_OWNER", "LIVE_FARM"]);
        let allowed: BTreeSet<&str> = PASSED.into_iter().chain(declared.clone()).collect();
        assert!(seen.is_subset(&allowed), "{server} sees {:?}", seen.difference(&allowed));
        assert!(declared.chain(["HOME", "PATH", "LANG"]).all(|name| seen.contains(name)), "{seen:?}");
        let fds = ask(&format!("{server}/fds"), "{}");
        // Whoever started the tests may have left descriptors open for everybody; they end here.
        let added: Vec<&String> = fds["inherited"].as_object().unwrap().keys().collect();
        assert_eq!(added, ["0", "1", "2"], "{fds}");
    }
    farm.is_empty();
}

/// The secret as a server may print it.
fn forms(secret: &str) -> Vec<String> {
    let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
    let url: String = secret
        .bytes()
        .map(|byte| match byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect();
    vec![secret.to_owned(), hex, url]
}

#[track_caller]
fn hides(text: &str, secrets: &[&str]) {
    for form in secrets.iter().flat_map(|secret| forms(secret)) {
        assert!(!text.contains(&form), "{form} in {text}");
    }
    // The fake's own base64, known beforehand.
    assert!(!text.contains("UGxhbnRlZC9TZWNyZXQrMSAy") && !text.contains("UExBTlRFRC"), "{text}");
}

#[test]
fn t31_a_crashing_server_tells_no_secret_anywhere() {
    let secret = "Planted/Secret+1 2";
    let farm = Farm::new();
    farm.add_with("x", &["--fault", "s08"], &json!({"env": {"FAKE_SECRET": secret}}));
    let runs: [&[&str]; 8] = [
        &["status"],
        &["status", "--json"],
        &["status", "--verbose"],
        &["tools", "--json", "--verbose"],
        &["call", "x/echo", "message=1", "--verbose"],
        &["call", "x/echo", "message=1", "--json"],
        &["logs", "x"],
        &["logs", "x", "--json"],
    ];
    for args in runs {
        let mut args = args.to_vec();
        args.extend(["--wait", "2s"]);
        let shown = farm.house.run(&args).all();
        assert!(shown.contains("giving up"), "{args:?}: {shown}");
        hides(&shown, &[secret]);
    }
    hides(&farm.log("x"), &[secret]);
    let cached: String = farm
        .house
        .files("kit/state")
        .into_iter()
        .map(|(_, bytes)| String::from_utf8_lossy(&bytes).into_owned())
        .collect();
    hides(&cached, &[secret]);
    farm.is_empty();
}

/// Words of the command line are secrets too, and so is what a long line cuts in two.
#[test]
fn t31_secrets_of_arguments_and_long_lines_are_hidden() {
    let secrets = ["PLANTED-arg-value-1", "PLANTED-env-value-2", "PLANTED-file-value-3"];
    let farm = Farm::new();
    let file = farm.house.put("project/x.env", format!("FILE_TOKEN={}\n", secrets[2]));
    let filler = "w ".repeat(235);
    let said = format!("{filler}it was {} or {} then", secrets[0], secrets[1]);
    let script = format!("echo 'first {} {}' >&2; echo '{said}' >&2; exit 7", secrets[0], secrets[2]);
    let keys = json!({
        "command": "sh",
        "args": ["-c", script, "sh", "--api-key", secrets[0]],
        "env": {"SERVICE_PASSWORD": secrets[1]},
        "envFile": file,
    });
    farm.add_with("x", &[], &keys);
    for args in [["status", "--json"], ["logs", "x"], ["logs", "--json"]] {
        let mut args = args.to_vec();
        if args == ["logs", "--json"] {
            args.push("x");
        }
        args.extend(["--wait", "2s"]);
        let shown = farm.house.run(&args).exits(0).all();
        assert!(shown.contains("first *** ***"), "{args:?}: {shown}");
        assert!(!shown.contains("PLANTED") && !shown.contains("PLANT"), "{args:?}: {shown}");
    }
    farm.is_empty();
}

/// A server that refuses in its own words may well repeat what it was given.
#[test]
fn t31_a_refusal_repeats_no_secret() {
    let secret = "PLANTED-refused-value";
    let farm = Farm::new();
    let answer =
        format!(r#"{{"jsonrpc":"2.0","id":%s,"error":{{"code":-32000,"message":"bad key {secret}"}}}}\n"#);
    let script = format!(r#"id=0; while read -r line; do id=$((id+1)); printf '{answer}' "$id"; done"#);
    let keys = json!({"command": "sh", "args": ["-c", script], "env": {"SERVICE_PASSWORD": secret}});
    farm.add_with("x", &[], &keys);
    let shown = farm.house.run(&["status", "--json", "--wait", "5s"]).exits(0).all();
    assert!(shown.contains("bad key ***"), "{shown}");
    assert!(!shown.contains("PLANTED"), "{shown}");
    farm.is_empty();
}
