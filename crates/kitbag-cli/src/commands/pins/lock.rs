//! `kitbag.lock`: the hashes of all definitions, to be committed and compared in CI.

use std::collections::BTreeMap;
use std::path::Path;

use kitbag_core::text::visible;
use serde_json::{Value, json};

use super::{Look, hashes, with_tools};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::json;
use crate::terminal::plural;

const VERSION: u64 = 1;

type Hashes = BTreeMap<String, BTreeMap<String, String>>;

pub(super) fn write(context: &mut Context, file: &Path) -> Result<Exit, Failure> {
    with_tools(context, Look::Connected, &[], async |context, kit, tools| {
        complete(kit)?;
        let servers = hashes(&tools);
        let count = servers.values().map(BTreeMap::len).sum();
        let text = json::pretty(&json!({"version": VERSION, "servers": servers})) + "\n";
        kitbag::files::write(file, &text).map_err(|error| Failure::new(Exit::Config, error.to_string()))?;
        context.remark(format!("{} written to {}", plural(count, "definition"), file.display()));
        Ok(Exit::Done)
    })
}

pub(super) fn check(context: &mut Context, file: &Path) -> Result<Exit, Failure> {
    let locked = read(file)?;
    with_tools(context, Look::Connected, &[], async |context, kit, tools| {
        complete(kit)?;
        let now = hashes(&tools);
        let drift = drift(&locked, &now);
        if context.global.json {
            context.print_json(&json!({"file": file.display().to_string(), "drift": drift}));
        } else {
            for row in &drift {
                let text = |key: &str| visible(row[key].as_str().unwrap_or_default());
                context.print(format!("{}/{} {}\n", text("server"), text("tool"), text("change")));
            }
            let (count, words) = match drift.len() {
                0 => (now.values().map(BTreeMap::len).sum(), "as in"),
                others => (others, "not as in"),
            };
            context.remark(format!("{} {words} {}", plural(count, "definition"), file.display()));
        }
        Ok(if drift.is_empty() { Exit::Done } else { Exit::Drift })
    })
}

/// A server that is not there would look as if its tools were removed.
fn complete(kit: &kitbag::Kitbag) -> Result<(), Failure> {
    let away =
        kit.status().into_iter().find(|row| !row.status.state.is_connected() && row.status.error.is_some());
    let Some(row) = away else { return Ok(()) };
    let message = format!("{} is not connected, so its definitions cannot be compared", visible(&row.name));
    Err(Failure::new(Exit::Unavailable, message).hint(format!("kitbag status {}", visible(&row.name))))
}

fn read(file: &Path) -> Result<Hashes, Failure> {
    let bad = |why: String| {
        let failure = Failure::new(Exit::Config, format!("{} cannot be used: {why}", file.display()));
        failure.hint("kitbag pins lock writes a new one")
    };
    let text = std::fs::read_to_string(file).map_err(|error| bad(error.to_string()))?;
    let value: Value = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
    match value["version"].as_u64() {
        Some(VERSION) => {}
        version => return Err(bad(format!("it has version {version:?}, and this Kitbag knows {VERSION}"))),
    }
    serde_json::from_value(value["servers"].clone()).map_err(|error| bad(error.to_string()))
}

/// What differs, in order of server and tool.
fn drift(locked: &Hashes, now: &Hashes) -> Vec<Value> {
    let empty = BTreeMap::new();
    let names: std::collections::BTreeSet<&String> = locked.keys().chain(now.keys()).collect();
    let mut rows = Vec::new();
    for server in names {
        let (then, now) = (locked.get(server).unwrap_or(&empty), now.get(server).unwrap_or(&empty));
        let tools: std::collections::BTreeSet<&String> = then.keys().chain(now.keys()).collect();
        for tool in tools {
            let change = match (then.get(tool), now.get(tool)) {
                (Some(then), Some(now)) if then == now => continue,
                (Some(_), Some(_)) => "changed",
                (None, _) => "added",
                (_, None) => "removed",
            };
            rows.push(json!({"server": server, "tool": tool, "change": change}));
        }
    }
    rows
}
