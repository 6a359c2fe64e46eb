//! Which of our own variables reach a program, and what is said when one that it needs does not.

use std::collections::BTreeSet;

use serde_json::json;

use super::Farm;
use crate::house::{Run, Runs as _};

/// What a person's environment has.
const SET: [(&str, &str); 9] = [
    ("HTTPS_PROXY", "http://127.0.0.1:1"),
    ("NODE_EXTRA_CA_CERTS", "/etc/corp.pem"),
    ("KUBECONFIG", "/home/ada/.kube/config"),
    ("AWS_PROFILE", "dev"),
    ("LC_TIME", "C"),
    ("SSH_AUTH_SOCK", "/tmp/agent"),
    ("DISPLAY", ":0"),
    ("BRAVE_API_KEY", "CANARY-1"),
    ("GITHUB_TOKEN", "CANARY-2"),
];

fn with_all(mut start: Run) -> Run {
    for (name, value) in SET {
        start = start.env(name, value);
    }
    start
}

/// Which of these variables a server sees.
#[track_caller]
fn seen(farm: &Farm, server: &str) -> BTreeSet<&'static str> {
    let run = with_all(farm.house.ask(&["call", &format!("{server}/env"), "--json", "--wait", "60s"]));
    let text = run.run().exits(0).json()["content"][0]["text"].clone();
    let names: Vec<String> = serde_json::from_str(text.as_str().unwrap()).unwrap();
    SET.iter().map(|(name, _)| *name).filter(|name| names.iter().any(|seen| seen == name)).collect()
}

const USUAL: [&str; 5] = ["AWS_PROFILE", "HTTPS_PROXY", "KUBECONFIG", "LC_TIME", "NODE_EXTRA_CA_CERTS"];
const SESSION: [&str; 2] = ["DISPLAY", "SSH_AUTH_SOCK"];

#[test]
fn f53_the_persons_session_is_for_the_persons_own_entries() {
    let farm = Farm::of("own", &[]);
    let entry = farm.entry("theirs", &[], &json!({}));
    farm.house.put("project/.mcp.json", json!({"mcpServers": {"theirs": entry}}).to_string());
    with_all(farm.house.ask(&["trust", "theirs"])).run().exits(0);
    let own: BTreeSet<&str> = USUAL.into_iter().chain(SESSION).collect();
    assert_eq!(seen(&farm, "own"), own);
    assert_eq!(seen(&farm, "theirs"), BTreeSet::from(USUAL));
    farm.is_empty();
}

#[test]
fn f53_env_pass_names_variables_or_all() {
    let farm = Farm::of("some", &[]);
    farm.add("all", &[]);
    farm.settings("[servers.some]\nenv_pass = [\"BRAVE_API_KEY\"]\n[servers.all]\nenv_pass = \"all\"\n");
    let some: BTreeSet<&str> = USUAL.into_iter().chain(SESSION).chain(["BRAVE_API_KEY"]).collect();
    assert_eq!(seen(&farm, "some"), some);
    assert_eq!(seen(&farm, "all"), SET.iter().map(|(name, _)| *name).collect());
    farm.settings("[servers.some]\nenv_pass = \"BRAVE_API_KEY\"\n");
    let said = farm.house.ask(&["doctor"]).run().exits(3).all();
    assert!(said.contains("\"env_pass\" must be a list of names or \"all\""), "{said}");
    farm.is_empty();
}

#[test]
fn f53_what_is_passed_is_masked_like_any_other_secret() {
    let farm = Farm::of("all", &[]);
    farm.settings("[servers.all]\nenv_pass = \"all\"\n");
    let args = ["call", "all/echo", "message=it is CANARY-2", "--wait", "60s"];
    let said = with_all(farm.house.ask(&args)).run().exits(0).all();
    assert!(said.contains("it is ***"), "{said}");
}

#[test]
fn f53_a_server_that_dies_for_want_of_a_variable_is_told_with_the_line_to_write() {
    let farm = Farm::new();
    let script = "echo 'Error: BRAVE_API_KEY environment variable is required' >&2\necho '    at main (x.js:1:2)' >&2\nexit 1";
    farm.enter("brave search", json!({"command": "sh", "args": ["-c", script]}));
    let args = ["call", "brave search/find", "--wait", "60s"];
    let line = "env_pass = [\"BRAVE_API_KEY\"] under [servers.\"brave search\"]";
    let ran = with_all(farm.house.ask(&args)).run().fails(4, line);
    assert!(
        ran.all().contains("stderr: Error: BRAVE_API_KEY environment variable is required"),
        "{}",
        ran.all()
    );
    assert!(!ran.all().contains("CANARY"), "{}", ran.all());
    // Nothing is said where there is nothing to pass on.
    let ran = farm.house.ask(&args).run().exits(4);
    assert!(!ran.all().contains("env_pass"), "{}", ran.all());
}
