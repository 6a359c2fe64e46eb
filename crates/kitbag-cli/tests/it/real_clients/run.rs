//! A client in front of Kitbag, and behind Kitbag a server on the official SDK for Rust.

use std::fs::File;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use testkit::{Farm, House, PATIENCE, bin, tool, wait_until};

use super::offers::{Client, Set};
use crate::house::BINARY;
use crate::real_hosts::host::{ALONE, path, processes};
use crate::serve::Served;

/// What the client tells of itself at `kitbag serve`, behind which the newer era is spoken.
#[track_caller]
pub(super) fn over_http(client: &Client, era: &str) -> Value {
    let farm = farm(&[]);
    let served = Served::start(&farm, &[]);
    let told = told(&House::new(), client, &[era, "http", &served.url]);
    served.stop();
    told
}

/// The same when it starts `kitbag stdio` itself, before a server that speaks the older era alone.
#[track_caller]
pub(super) fn over_pipes(client: &Client, era: &str) -> Value {
    let farm = farm(&["--era", "older"]);
    let told = told(&farm.house, client, &[era, "stdio", BINARY, "stdio"]);
    farm.is_empty();
    told
}

fn farm(args: &[&str]) -> Farm {
    let farm = Farm::new();
    let mark = json!({(Farm::MARK): farm.house.at("")});
    farm.enter("everything", json!({"command": bin("everything-mcp"), "args": args, "env": mark}));
    farm
}

/// Runs the driver, of which nothing is left afterwards.
#[track_caller]
fn told(house: &House, client: &Client, args: &[&str]) -> Value {
    let (out, err) = (house.path("client.out"), house.path("client.err"));
    let mut command = driver(house, client);
    command.args(args).current_dir(house.path("project"));
    command.env_clear().envs(house.vars()).envs(ALONE).env("PATH", path(house));
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    // Files, not pipes: a child that outlives the driver cannot hold the test up.
    command.stdin(Stdio::null()).stdout(File::create(&out).unwrap()).stderr(File::create(&err).unwrap());
    let mut child = command.spawn().unwrap();
    // Each of its operations has its own time.
    let ended = wait_until(4 * PATIENCE, || child.try_wait().unwrap().is_some());
    let gone = ended && wait_until(PATIENCE, || processes(house).is_empty());
    let left = processes(house);
    for pid in &left {
        let _ = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
    }
    let (out, err) = (house.text("client.out"), house.text("client.err"));
    assert!(ended, "{} does not end: {out}\n{err}", client.driver);
    assert!(gone, "{} left processes behind: {left:?}", client.driver);
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{}: {error} in {out:?}: {err}", client.driver))
}

/// How its driver is started.
fn driver(house: &House, client: &Client) -> Command {
    let scripts = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/clients"));
    let python = |set: &str| {
        let mut command = Command::new(tool(&format!("{set}/bin/python")));
        command.arg(scripts.join(client.driver));
        command
    };
    match client.set {
        Set::Python1 => python("py-clients-1"),
        Set::Python2 => python("py-clients-2"),
        Set::Rust => Command::new(bin(client.driver)),
        Set::Npm => {
            // Node looks for packages beside the script.
            symlink(tool("clients/node_modules"), house.path("node_modules")).unwrap();
            for script in ["operations.mjs", client.driver] {
                std::fs::copy(scripts.join(script), house.path(script)).unwrap();
            }
            let mut command = Command::new("node");
            command.arg(house.path(client.driver));
            command
        }
    }
}
