//! First starts that download: a fake `npx` that takes as long as the test wants, and has it all at hand afterwards.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use testkit::{PATIENCE, bin, wait_until};

use super::Farm;
use crate::house::{Run, Runs as _};

/// "Downloads" until the file `gate` is there, and then keeps the file `cache`. Notes its starts and how far it came.
const NPX: &str = r#"#!/bin/sh
[ "$1" = -y ] || exit 64
store=$2
shift 2
echo start >> "$store/starts"
if [ ! -e "$store/cache" ]; then
  part=0
  while [ ! -e "$store/gate" ]; do
    part=$((part + 1))
    echo "fetching part $part" >&2 || exit 65
    echo $part > "$store/part"
    sleep 0.01
  done
  : > "$store/cache"
fi
exec "$@"
"#;

/// Times that a download is many times longer than.
const HASTY: &str = "[wait]\nagent = \"100ms\"\nstdio = \"200ms\"\n[limits]\nprobe = \"50ms\"\n";

struct Store(Farm);

impl Store {
    fn new(settings: &str) -> Self {
        let farm = Farm::new();
        let npx = farm.house.put("bin/npx", NPX);
        std::fs::set_permissions(npx, std::fs::Permissions::from_mode(0o755)).unwrap();
        farm.house.put("store/readme", "");
        let events = farm.diary("everything");
        let args = json!(["-y", farm.house.at("store"), bin("fake-mcp"), "--events", events]);
        let env = json!({Farm::MARK: farm.house.at("")});
        farm.enter("everything", json!({"command": "npx", "args": args, "env": env}));
        farm.settings(settings);
        Self(farm)
    }

    fn ask(&self, args: &[&str]) -> Run {
        let path = format!("{}:{}", self.0.house.at("bin"), std::env::var("PATH").unwrap());
        self.0.house.ask(args).env("PATH", &path)
    }

    /// The same in the background.
    fn begin(&self, args: &[&str]) -> Child {
        let mut command = self.ask(args).command();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn part(&self) -> u32 {
        let text = std::fs::read_to_string(self.0.house.path("store/part")).unwrap_or_default();
        text.trim().parse().unwrap_or(0)
    }

    /// Waits until it came further than any of the hasty times.
    #[track_caller]
    fn is_far(&self, least: u32) {
        assert!(wait_until(PATIENCE, || least <= self.part()), "at part {}", self.part());
    }

    fn open_the_gate(&self) {
        self.0.house.put("store/gate", "");
    }

    fn is_cached(&self) -> bool {
        self.0.house.path("store/cache").exists()
    }

    fn starts(&self) -> usize {
        self.0.house.text("store/starts").lines().count()
    }
}

#[test]
fn f51_a_download_goes_on_after_a_command_that_did_not_need_it() {
    let store = Store::new(HASTY);
    let ran = store.ask(&["tools"]).run().exits(0);
    assert!(ran.err.contains("still starting: everything (fetching part"), "{ran:?}");
    assert!(!ran.err.contains("error"), "{ran:?}");
    // It goes on alone, is shown, and is not begun a second time.
    let before = store.part();
    store.is_far(before + 50);
    let status = store.ask(&["status", "--json"]).run().exits(0).json();
    let guard = status[0]["lingering_pid"].as_u64().unwrap();
    assert!(testkit::proc::alive(u32::try_from(guard).unwrap()), "{status}");
    let shown = store.ask(&["status"]).run().exits(0);
    assert!(shown.out.contains("the download of an earlier command goes on"), "{shown:?}");
    assert_eq!(store.starts(), 1);
    // Once it is done nothing of it is left, and what was fetched is at hand.
    store.open_the_gate();
    store.0.is_empty();
    assert!(store.is_cached());
    let ran = store.ask(&["call", "everything/add", "a=2", "b=3"]).run().exits(0);
    assert_eq!(ran.out.trim(), "5");
    let ran = store.ask(&["tools", "--wait", "60s"]).run().exits(0);
    assert!(ran.out.contains("mcp_everything_add") && ran.err.is_empty(), "{ran:?}");
    store.0.is_empty();
}

#[test]
fn f51_a_call_waits_for_the_download_of_its_server() {
    let store = Store::new(HASTY);
    let call = store.begin(&["call", "everything/add", "a=2", "b=3"]);
    store.is_far(100);
    store.open_the_gate();
    let output = call.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "5", "{output:?}");
    assert_eq!(store.starts(), 1, "one process from the first part to the answer");
    store.0.is_empty();
}

#[test]
fn f51_a_download_that_is_interrupted_leaves_nothing_behind() {
    for signal in [Signal::INT, Signal::TERM, Signal::KILL] {
        let store = Store::new(HASTY);
        let mut call = store.begin(&["call", "everything/add", "a=2", "b=3"]);
        store.is_far(30);
        kill_process(Pid::from_child(&call), signal).unwrap();
        call.wait().unwrap();
        store.0.is_empty();
        assert!(!store.is_cached());
    }
}

#[test]
fn f51_a_download_goes_on_no_longer_than_its_limit() {
    let store = Store::new(&format!("{HASTY}start_linger = \"200ms\"\n"));
    store.ask(&["tools"]).run().exits(0);
    store.0.is_empty();
    assert!(!store.is_cached());
}

#[test]
fn f51_a_first_start_has_a_clock_of_its_own() {
    let store = Store::new(&format!("{HASTY}wait_download = \"400ms\"\nrestart_first = \"10ms\"\n"));
    let ran = store.ask(&["call", "everything/add"]).run().exits(4);
    assert!(ran.err.contains("not connected within 400ms (wait_download)"), "{ran:?}");
    store.0.is_empty();
    // What its own entry says binds, whatever it does.
    let own = format!("{HASTY}restart_first = \"10ms\"\n[servers.everything]\nconnect_timeout = \"150ms\"\n");
    let store = Store::new(&own);
    let ran = store.ask(&["call", "everything/add"]).run().exits(4);
    assert!(ran.err.contains("not connected within 150ms (connect_timeout)"), "{ran:?}");
    store.0.is_empty();
}

#[test]
fn f51_warm_fetches_all_and_says_how_each_is() {
    let store = Store::new(HASTY);
    store.0.enter("gone", json!({"command": "no-such-program"}));
    let warm = store.begin(&["servers", "warm"]);
    store.is_far(100);
    store.open_the_gate();
    let output = warm.wait_with_output().unwrap();
    let out = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(out.contains("everything: ready 23 tools\n"), "{output:?}");
    assert!(
        out.contains("gone: failed missing program: \"no-such-program\" cannot be found\n"),
        "{output:?}"
    );
    assert_eq!(output.status.code(), Some(4));
    assert_eq!(store.starts(), 1);
    let ran = store.ask(&["servers", "warm", "everything", "--json"]).run().exits(0).json();
    assert_eq!(ran[0]["state"], "ready", "{ran}");
    store.ask(&["servers", "warm", "nobody"]).run().exits(5);
    store.0.is_empty();
}

#[test]
fn f54_remembered_tools_are_shown_before_their_server_is_there() {
    let store = Store::new(HASTY);
    store.open_the_gate();
    store.ask(&["servers", "warm"]).run().exits(0);
    for file in ["store/gate", "store/cache"] {
        std::fs::remove_file(store.0.house.path(file)).unwrap();
    }
    let mut tools = store.begin(&["tools", "--wait", "60s"]);
    let mut out = BufReader::new(tools.stdout.take().unwrap());
    let mut first = String::new();
    out.read_line(&mut first).unwrap();
    assert!(first.trim_start().starts_with("mcp_everything_") && !first.contains('['), "{first:?}");
    assert!(!store.is_cached() && tools.try_wait().unwrap().is_none(), "before the server is there");
    store.open_the_gate();
    let output = tools.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    store.0.is_empty();
}

#[test]
fn f54_a_bare_name_starts_only_the_server_that_has_it() {
    let farm = Farm::of("calc", &[]);
    farm.add_echo("other", &json!([{"name": "reverse", "inputSchema": {"type": "object"}}]));
    farm.house.run(&["tools"]).exits(0);
    let starts = |name: &str| farm.count(name, "start");
    let (calc, other) = (starts("calc"), starts("other"));
    assert!(0 < calc && 0 < other);
    assert_eq!(farm.house.run(&["call", "add", "a=2", "b=3"]).exits(0).out.trim(), "5");
    farm.house.run(&["show", "add"]).exits(0);
    assert!(calc < starts("calc"));
    assert_eq!(starts("other"), other);
    // What is not remembered of anybody may be new, and a server nothing is known of may have it as well.
    farm.house.run(&["call", "nowhere"]).exits(5);
    assert!(other < starts("other"));
    farm.add("twin", &[]);
    farm.house.run(&["call", "add", "a=2", "b=3"]).fails(5, "twin");
    farm.is_empty();
}
