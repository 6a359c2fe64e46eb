//! The findings of the review of the engine, each shown by its effect: what real servers got, what a person was asked,
//! how a command ended. Where something is shared, kept or remembered, two users try it.

use std::time::Duration;

use kitbag::files::{Registry, TrustStore};
use kitbag::{DiscoverOptions, Kitbag, OpenOptions, ServerName, Setup, UserId};
use kitbag_core::config::layers::EntryState;
use serde_json::{Value, json};

use super::Farm;
use super::farm::{Opens as _, Use as _, said};

mod answers;
mod apply;
mod approvals;
mod audit;
mod clocks;
mod fallback;
mod groups;
mod judged;
mod lists;
mod names;
mod owners;
mod pins;
mod questions;
mod races;
mod reloads;
mod revive;
mod toxic;
mod trust;
mod unreadable;
mod views;
mod watch;

/// What must happen at last.
const LONG: Duration = Duration::from_secs(30);

pub(crate) fn user(name: &str) -> UserId {
    UserId::parse(name).unwrap()
}

fn server(name: &str) -> ServerName {
    ServerName::parse(name).unwrap()
}

/// What a user's files say.
fn setup_of(farm: &Farm, name: &str) -> Setup {
    let request = DiscoverOptions { env: farm.env(), user: Some(user(name)), ..DiscoverOptions::default() };
    Setup::discover(&request).unwrap()
}

/// A handle of a user, its servers there or hopeless.
pub(crate) async fn open_for(farm: &Farm, name: &str, options: OpenOptions) -> Kitbag {
    let kit = Kitbag::start(setup_of(farm, name), options);
    kit.wait(Duration::from_secs(60)).await;
    kit
}

/// Writes a server into a user's own folder.
fn put_own(farm: &Farm, name: &str, server: &str, mut entry: Value) {
    entry["name"] = server.into();
    farm.house.put(&format!("kit/config/servers/user_{name}/{server}.json"), entry.to_string());
}

/// Switches a server off for one user.
fn switch_off(farm: &Farm, name: &str, off: &str) {
    let setup = setup_of(farm, name);
    Registry::of_user(&setup.folders, &user(name)).switch(&server(off), false, &setup.merged).unwrap();
}

/// Approves what is held of a folder under this name: a server, or `kitbag.toml` for its settings.
fn approve(farm: &Farm, name: &str) {
    let setup = farm.setup();
    let held = setup.merged.servers.iter().filter(|row| row.state == EntryState::Held && row.name == *name);
    let mut approvals: Vec<_> = held.map(|row| setup.approval(row.spec.as_ref().unwrap())).collect();
    approvals
        .extend(setup.held_settings().filter(|_| name == "kitbag.toml").map(|held| held.approval.clone()));
    assert_eq!(approvals.len(), 1, "{name}: {approvals:?}");
    TrustStore::approve(&setup.folders, &approvals).unwrap();
}

/// What a server's row in the files says: `used`, `held` and so on.
fn state(farm: &Farm, name: &str) -> &'static str {
    farm.setup().merged.get(&server(name)).unwrap().state.as_str()
}

async fn pid(kit: &Kitbag, server: &str) -> String {
    said(&kit.ask(server, "pid", json!({})).await.unwrap())
}

/// The value of a variable as a server sees it.
async fn variable(kit: &Kitbag, server: &str, name: &str) -> String {
    let seen = said(&kit.ask(server, "env", json!({"names": [name]})).await.unwrap());
    let seen: Value = serde_json::from_str(&seen).unwrap();
    seen[name].as_str().unwrap_or_default().to_owned()
}

/// The tools of servers that a view lists, without those of the program itself.
fn listed(view: &kitbag::View) -> Vec<String> {
    super::names(view).into_iter().filter(|name| name != kitbag::cli::READ_RESULT).collect()
}
