//! Forty secrets given to a server that tells them in every way it can: none is shown, logged, recorded or cached.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::{Farm, Hosted};
use crate::house::Runs as _;

const SERVER: &str = include_str!("planted.py");

/// Fewer bytes of a secret may be anybody's.
const PART: usize = 12;

/// Text that looks like what keys are made of.
fn noise(seed: usize, length: usize) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut state = seed as u64 * 0x9e37_79b9 + 12345;
    let mut digit = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(DIGITS[(state >> 40) as usize % 64])
    };
    (0..length).map(|_| digit()).collect()
}

/// Eight kinds, five of each.
fn secrets() -> Vec<String> {
    let kinds: [fn(usize) -> String; 8] = [
        |n| {
            let lines: Vec<String> = (0..4).map(|line| noise(n * 10 + line, 64)).collect();
            format!(
                "-----BEGIN PRIVATE KEY-----\n{}\n{}==\n-----END PRIVATE KEY-----\n",
                lines.join("\n"),
                noise(n, 6)
            )
        },
        |n| format!("{}'{}\"{}", noise(n, 9), noise(n + 1, 5), noise(n + 2, 9)),
        |n| format!("{}\\{}\\n{}", noise(n, 9), noise(n + 1, 5), noise(n + 2, 9)),
        |n| format!("pässwörd→{}…日本{}", noise(n, 8), noise(n + 1, 8)),
        |n| format!("{}\n{}\nQ{n}=", noise(n, 40), noise(n + 1, 40)),
        |n| format!("ghp_{}", noise(n, 36).replace(['+', '/'], "x")),
        |n| format!("correct horse {} battery staple {n}", noise(n, 4)),
        |n| format!("{}/{}+{}%41&{}", noise(n, 6), noise(n + 1, 6), noise(n + 2, 6), noise(n + 3, 6)),
    ];
    (0..40).map(|n| kinds[n % 8](n * 100)).collect()
}

fn farm(keys: Value) -> (Farm, Vec<String>) {
    let farm = Farm::new();
    let script = farm.house.put("planted.py", SERVER);
    let mut env: Map<String, Value> = secrets()
        .into_iter()
        .enumerate()
        .map(|(n, secret)| (format!("PLANTED_KEY_{n:02}"), secret.into()))
        .collect();
    env.insert("PYTHONUTF8".to_owned(), "1".into());
    let mut run = std::process::Command::new("python3");
    run.arg(&script).arg("needles").envs(env.iter().map(|(name, value)| (name, value.as_str().unwrap())));
    let needles = serde_json::from_slice(&run.output().unwrap().stdout).unwrap();
    let mut keys = keys;
    env.extend(keys["env"].as_object().cloned().unwrap_or_default());
    keys["env"] = Value::Object(env);
    keys["command"] = "python3".into();
    keys["args"] = json!([script]);
    farm.add_with("x", &[], &keys);
    (farm, needles)
}

fn windows(text: &str) -> impl Iterator<Item = &[u8]> {
    text.as_bytes().windows(PART)
}

/// No part of any form is in a text, and it is not empty for that reason.
#[track_caller]
fn hides(what: &str, text: &str, needles: &[String]) {
    let seen: HashSet<&[u8]> = windows(text).collect();
    for needle in needles {
        let found = windows(needle).find(|part| {
            let diverse = part.iter().collect::<HashSet<_>>().len();
            4 <= diverse && seen.contains(*part)
        });
        assert!(found.is_none(), "{what} shows {:?} of {needle:?}", found.map(String::from_utf8_lossy));
    }
}

#[track_caller]
fn tells(what: &str, text: &str) {
    for word in ["case 0: ", "case 39: ", "***"] {
        assert!(text.contains(word), "{what} has no {word:?}: {}", &text[..text.len().min(2000)]);
    }
}

#[test]
fn f71_none_of_forty_secrets_is_shown_anywhere() {
    let (farm, needles) = farm(json!({}));
    assert_eq!(needles.len(), 40 * 16);
    let runs: [(&[&str], i32); 14] = [
        (&["tools", "--verbose"], 0),
        (&["tools", "--json"], 0),
        (&["show", "x/tell", "--json"], 0),
        (&["call", "x/tell", "--full"], 0),
        (&["call", "x/tell", "--full", "--json"], 0),
        (&["call", "x/tell", "--json"], 0),
        (&["call", "x/fail", "--full"], 1),
        (&["call", "x/file", "--full"], 0),
        (&["call", "x/file", "--full", "--json", "--save", "saved"], 0),
        (&["call", "x/note", "--full", "--verbose"], 0),
        (&["call", "x/note", "--full", "--verbose", "--json"], 0),
        (&["logs", "x", "--lines", "100000"], 0),
        (&["logs", "x", "--lines", "100000", "--json"], 0),
        (&["status", "--json", "--verbose"], 0),
    ];
    for (args, code) in runs {
        let ran = farm.house.run(&[args, &["--wait", "60s"]].concat());
        let what = args.join(" ");
        hides(&what, &ran.all(), &needles);
        let ran = ran.exits(code);
        if what.starts_with("logs") || what.contains("--full") {
            tells(&what, &ran.all());
        }
    }
    for args in [&["call", "x/refuse"][..], &["call", "x/refuse", "--json"], &["call", "x/die"]] {
        let ran = farm.house.run(&[args, &["--wait", "60s"]].concat());
        assert_ne!(ran.code, Some(0), "{args:?}");
        hides(&args.join(" "), &ran.all(), &needles);
    }
    tells("the log", &farm.log("x"));
    let mut kept = 0;
    for folder in ["kit/state", "kit/cache", "project"] {
        for (file, bytes) in farm.house.files(folder) {
            kept += usize::from(file.to_string_lossy().contains("/results/"));
            hides(&file.to_string_lossy(), &String::from_utf8_lossy(&bytes), &needles);
        }
    }
    assert!(0 < kept, "no large result was kept");
    farm.is_empty();
}

#[test]
fn f71_a_server_that_crashes_tells_none_of_forty_secrets() {
    let (farm, needles) = farm(json!({"env": {"MODE": "crash"}}));
    for args in
        [&["status"][..], &["status", "--json"], &["status", "--verbose"], &["call", "x/tell"], &["tools"]]
    {
        let ran = farm.house.run(&[args, &["--wait", "3s"]].concat());
        hides(&args.join(" "), &ran.all(), &needles);
    }
    hides("the log", &farm.log("x"), &needles);
    tells("the log", &farm.log("x"));
    farm.is_empty();
}

/// The token that was sent to an address is not printed because a tool repeats it.
#[test]
fn f71_a_result_does_not_print_the_servers_own_token() {
    let hosted = Hosted::new();
    let token = "PLANTED-bearer-token-1";
    hosted.add(
        "x",
        &[],
        &json!({"headers": {"Authorization": format!("Bearer {token}"), "Accept-Language": "de-DE-bayern"}}),
    );
    let house = &hosted.farm.house;
    let message = format!("message=I am Bearer {token} of de-DE-bayern");
    for flags in [&[][..], &["--json"]] {
        let shown = house.run(&[&["call", "x/echo", &message, "--wait", "30s"], flags].concat()).exits(0).out;
        assert!(shown.contains("I am *** of de-DE-bayern"), "{shown}");
    }
    let shown = house.run(&["call", "x/echo", &message, "--show-secrets", "--wait", "30s"]).exits(0).out;
    assert!(shown.contains(token), "{shown}");
}
