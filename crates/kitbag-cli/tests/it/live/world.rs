//! The findings of the review of the engine, each shown by its effect: what real servers got, what a person was asked,
//! how a command ended. Where something is shared, kept or remembered, two users try it.

use std::time::Duration;

use kitbag::{Kitbag, Options, Request, ServerName, Setup, UserId};
use serde_json::{Value, json};

use super::Farm;
use super::farm::{Use as _, said};

mod apply;
mod approvals;
mod clocks;
mod closed;
mod judged;
mod lists;
mod names;
mod owners;
mod questions;
mod reloads;
mod revive;
mod trust;
mod unreadable;
mod views;
mod watch;

/// What must happen at last.
const LONG: Duration = Duration::from_secs(30);

fn user(name: &str) -> UserId {
    UserId::parse(name).unwrap()
}

fn server(name: &str) -> ServerName {
    ServerName::parse(name).unwrap()
}

/// What a user's files say.
fn setup_of(farm: &Farm, name: &str) -> Setup {
    let request = Request { env: farm.env(), user: Some(user(name)), ..Request::default() };
    Setup::discover(&request).unwrap()
}

/// A handle of a user, its servers there or hopeless.
async fn open_for(farm: &Farm, name: &str, options: Options) -> Kitbag {
    let kit = Kitbag::start(setup_of(farm, name), options);
    kit.wait(Duration::from_secs(60)).await;
    kit
}

/// Writes a server into a user's own folder.
fn put_own(farm: &Farm, name: &str, server: &str, mut entry: Value) {
    entry["name"] = server.into();
    farm.house.put(&format!("kit/config/servers/user_{name}/{server}.json"), entry.to_string());
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
fn listed(view: &kitbag::shape::View) -> Vec<String> {
    super::names(view).into_iter().filter(|name| name != kitbag::execute::READ_RESULT).collect()
}
