use std::path::Path;

use super::*;
use crate::config::document::{Reading, read};
use crate::model::Limits;

fn layered(layer: Layer, used: bool, entries: &str) -> Layered {
    let file = format!("{}.json", layer.as_str());
    let text = format!("{{\"mcpServers\": {{{entries}}}}}");
    let limits = Limits::default();
    let document = read(Path::new(&file), &text, Reading { dialect: None, workspace: None, limits: &limits });
    Layered { layer, used, user: None, document }
}

fn used(layer: Layer, entries: &str) -> Layered {
    layered(layer, true, entries)
}

fn user(id: &str) -> Layer {
    Layer::User(UserId::parse(id).unwrap())
}

const ON: &str = r#""a": {"command": "one"}"#;
const OTHER: &str = r#""a": {"command": "two"}"#;
const OFF: &str = r#""a": {"enabled": false}"#;
const BACK_ON: &str = r#""a": {"enabled": true}"#;
const ONE_OFF: &str = r#""a": {"command": "one", "disabled": true}"#;
const BROKEN: &str = r#""a": {"command": 1}"#;

/// Rows as `name state layer command +origins`, then the faults' kinds.
#[track_caller]
fn check(documents: Vec<Layered>, want: &[&str]) {
    let merged = merge(documents, &|_| false);
    let rows = merged.servers.iter().map(|row| {
        let command = row.spec.as_ref().map_or("-", |spec| spec.templates()[0].1.written());
        let also: Vec<String> =
            row.also.iter().map(|origin| origin.place.file.display().to_string()).collect();
        let also = if also.is_empty() { String::new() } else { format!(" +{}", also.join("+")) };
        format!("{} {} {} {command}{also}", row.name, row.state.as_str(), row.layer.as_str())
    });
    let faults = merged.faults.iter().map(|fault| fault.kind.as_str().to_owned());
    assert_eq!(rows.chain(faults).collect::<Vec<_>>(), want);
}

#[test]
fn s2_5_shared_and_the_users_own() {
    let own = r#""b": {"command": "mine"}"#;
    check(vec![used(user("ada"), own), used(Layer::Shared, ON)], &["a used shared one", "b used user mine"]);
}

#[test]
fn s2_5_the_users_entry_overrides_the_shared_one() {
    check(
        vec![used(Layer::Shared, ON), used(user("ada"), OTHER)],
        &["a used user two", "a shadowed shared one"],
    );
}

#[test]
fn s2_5_disable_it_for_me() {
    check(vec![used(Layer::Shared, ON), used(user("ada"), OFF)], &["a disabled shared one"]);
    check(vec![used(Layer::Shared, ON), used(user("ada"), ONE_OFF)], &["a disabled user one +shared.json"]);
    check(vec![used(Layer::Shared, ONE_OFF), used(user("ada"), BACK_ON)], &["a used shared one"]);
}

#[test]
fn s2_5_another_users_servers_are_never_visible() {
    // A merge sees the documents of one user; a folder belongs to exactly one.
    let documents = |id: &str| {
        let all = [
            ("user_ada", r#""x": {"command": "hers"}"#),
            ("user_Ada", r#""y": {"command": "his"}"#),
            ("user_ada ", ON),
        ];
        let mine = all
            .into_iter()
            .filter(|(folder, _)| UserId::of_folder(folder).is_some_and(|user| user.as_str() == id));
        mine.map(|(_, entries)| used(user(id), entries)).collect::<Vec<_>>()
    };
    check(documents("ada"), &["x used user hers"]);
    check(documents("Ada"), &["y used user his"]);
    check(documents("eve"), &[]);
}

#[test]
fn layers_in_order() {
    let row = |command: &str| format!(r#""a": {{"command": "{command}"}}"#);
    let all = vec![
        used(Layer::Flags, &row("flags")),
        used(Layer::Env, &row("env")),
        used(user("ada"), &row("user")),
        used(Layer::Shared, &row("shared")),
        used(Layer::Host("cursor"), &row("host")),
    ];
    let want = [
        "a used flags flags",
        "a shadowed host host",
        "a shadowed shared shared",
        "a shadowed user user",
        "a shadowed env env",
    ];
    check(all, &want);
}

#[test]
fn equal_servers_are_one_row() {
    let three = vec![used(Layer::Host("cursor"), ON), used(Layer::Shared, ON), used(user("ada"), ON)];
    check(three, &["a used user one +shared.json+host.json"]);
    check(
        vec![layered(Layer::Host("cursor"), false, ON), used(Layer::Shared, ON)],
        &["a used shared one +host.json"],
    );
    // A row that is only found swallows no other kind.
    let found = || layered(Layer::Host("cursor"), false, ON);
    check(vec![found(), found()], &["a found host one +host.json"]);
}

#[test]
fn held_servers_neither_shadow_nor_switch() {
    check(
        vec![used(Layer::Shared, ON), used(Layer::Project, OTHER)],
        &["a used shared one", "a held project two"],
    );
    check(vec![used(Layer::Shared, ON), used(Layer::Project, OFF)], &["a used shared one"]);
    check(
        vec![used(Layer::Shared, ON), used(Layer::Project, ON)],
        &["a used shared one", "a held project one"],
    );
    // The held row in between does not keep equal ones apart.
    check(
        vec![used(Layer::Host("cursor"), ON), used(Layer::Shared, ON), used(Layer::Project, ON)],
        &["a used shared one +host.json", "a held project one"],
    );
    let approved = merge(vec![used(Layer::Shared, ON), used(Layer::Project, OTHER)], &|_| true);
    assert_eq!(approved.used().map(|spec| spec.templates()[0].1.written()).collect::<Vec<_>>(), ["two"]);
}

#[test]
fn switches() {
    check(vec![used(Layer::Shared, OFF)], &["loose_toggle"]);
    check(vec![layered(Layer::Host("cursor"), false, OFF), used(Layer::Shared, ON)], &["a used shared one"]);
    // Another program's switch reaches its own servers only.
    check(vec![used(Layer::Host("cursor"), OFF), used(Layer::Shared, ON)], &["a used shared one"]);
    check(vec![used(Layer::Host("cursor"), ON), used(Layer::Host("cursor"), OFF)], &["a disabled host one"]);
    // Ours reach whatever has the name.
    check(vec![used(Layer::Host("cursor"), ON), used(Layer::Shared, OFF)], &["a disabled host one"]);
    check(vec![used(Layer::Env, ON), used(Layer::Shared, OFF)], &["a disabled env one"]);
    check(
        vec![used(Layer::Shared, OFF), used(Layer::Host("x"), ON), used(user("ada"), BACK_ON)],
        &["a used host one"],
    );
    let merged = merge(vec![used(Layer::Shared, ON), used(user("ada"), OFF)], &|_| true);
    assert_eq!(
        merged.servers[0].spec.as_ref().unwrap().places["enabled"].file.as_ref(),
        Path::new("user.json")
    );
}

#[test]
fn a_broken_override_hides_nothing_in_silence() {
    check(
        vec![used(Layer::Shared, ON), used(user("ada"), BROKEN)],
        &["a broken user -", "a shadowed shared one"],
    );
    let merged = merge(vec![used(Layer::Shared, ON), used(user("ada"), OTHER)], &|_| true);
    let name = ServerName::parse("a").unwrap();
    assert_eq!(merged.get(&name).unwrap().layer, user("ada"));
}
