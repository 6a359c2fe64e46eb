//! S2.13: many at once, and the end in the middle.

use std::process::{Child, Stdio};

use crate::house::{House, Runs as _};

#[test]
fn s2_13_eight_processes_add_eight_servers() {
    let house = House::new();
    let add = |n: usize| {
        let name = format!("s{n}");
        let mut command = house.ask(&["servers", "add", &name, "--", "true"]).command();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = (0..8).map(add).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let all: Vec<String> = (0..8).map(|n| format!("s{n}=used")).collect();
    assert_eq!(house.states(&[]), all.join(" "));
    let file: serde_json::Value = serde_json::from_str(&house.text("kit/config/mcp.json")).unwrap();
    assert_eq!(file["mcpServers"].as_object().unwrap().len(), 8);
}

#[test]
fn s2_13_of_eight_who_add_one_name_one_succeeds() {
    let house = House::new();
    let add = |n: usize| {
        let mut command = house.ask(&["servers", "add", "same", "--", &format!("command-{n}")]).command();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let children: Vec<_> = (0..8).map(add).collect();
    let codes: Vec<_> = children.into_iter().map(|mut child| child.wait().unwrap().code()).collect();
    assert_eq!(codes.iter().filter(|code| **code == Some(0)).count(), 1, "{codes:?}");
    assert_eq!(codes.iter().filter(|code| **code == Some(3)).count(), 7, "{codes:?}");
}

/// Looks so many times whether a process has ended, and no more once it has; how many times it did.
fn looks(child: &mut Child, most: u64) -> u64 {
    (0..most).find(|_| child.try_wait().unwrap().is_some()).unwrap_or(most)
}

#[test]
fn s2_13_a_kill_in_the_middle_leaves_a_whole_file() {
    const ROUNDS: u64 = 48;
    let house = House::new();
    let add = |name: &str| {
        let mut command = house.ask(&["servers", "add", name, "--", "true", &"x".repeat(4000)]).command();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let mut first = add("first");
    let whole = looks(&mut first, u64::MAX);
    assert!(first.wait().unwrap().success());
    let mut killed = 0;
    for round in 0..ROUNDS {
        let mut child = add(&format!("s{round}"));
        // Killed a little later each time, from the start of the process to past its end.
        looks(&mut child, whole * (round + 1) / (ROUNDS - 8));
        child.kill().unwrap();
        killed += usize::from(child.wait().unwrap().code().is_none());
        let text = house.text("kit/config/mcp.json");
        let file: Result<serde_json::Value, _> = serde_json::from_str(&text);
        assert!(file.is_ok_and(|file| file["mcpServers"]["first"].is_object()), "round {round}: {text}");
    }
    assert!(0 < killed, "every process was faster than its killer");
    // The lock died with its holders.
    house.run(&["servers", "add", "after", "--", "true"]).exits(0);
    assert!(house.states(&[]).contains("after=used"));
}
