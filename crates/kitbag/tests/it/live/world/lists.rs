//! f9: lists of tools are remembered for whoever may see them, and for the values their server ran with.

use std::time::{Duration, SystemTime};

use kitbag::connect::StartServers;
use kitbag::{DiscoverOptions, Env, Kitbag, OpenOptions, Setup};
use serde_json::json;

use super::super::farm::Opens as _;
use super::super::{Farm, calm, until};
use super::{LONG, listed, open_for, put_own, user};

/// How many tools of `x` a handle knows of before anything is started.
fn remembered(farm: &Farm, name: &str, env: Env) -> usize {
    let starts = farm.count("x", "start");
    let setup =
        Setup::discover(&DiscoverOptions { env, user: Some(user(name)), ..DiscoverOptions::default() })
            .unwrap();
    let kit = Kitbag::start(setup, farm.options(calm()));
    let tools = listed(&kit.own_view()).len();
    assert_eq!(farm.count("x", "start"), starts, "nothing is started");
    tools
}

/// Opens as a user until what its servers list is remembered in a file.
async fn learn(farm: &Farm, name: &str, env: Env, file: &str) {
    let setup =
        Setup::discover(&DiscoverOptions { env, user: Some(user(name)), ..DiscoverOptions::default() })
            .unwrap();
    let kit = Kitbag::start(setup, OpenOptions { start: StartServers::AtOnce, ..farm.options(calm()) });
    kit.wait(Duration::from_secs(60)).await;
    let file = farm.house.path(&format!("kit/cache/tools/{file}"));
    assert!(until(LONG, || file.exists()).await, "{}", file.display());
    farm.close(kit).await;
}

#[tokio::test]
async fn f9_the_list_of_a_users_own_server_is_shown_to_nobody_else() {
    let farm = Farm::new();
    for name in ["ada", "bob"] {
        put_own(&farm, name, "x", farm.entry("x", &["--tools", "3"], &json!({"lazy": true})));
    }
    learn(&farm, "ada", farm.env(), "user_ada/x.json").await;
    assert!(3 < remembered(&farm, "ada", farm.env()));
    assert_eq!(remembered(&farm, "bob", farm.env()), 0, "the same words, another user's");
}

#[tokio::test]
async fn f9_a_list_belongs_to_the_values_its_server_ran_with() {
    let farm = Farm::new();
    farm.add_with("x", &[], &json!({"lazy": true, "env": {"TENANT": "${TENANT}"}}));
    farm.settings("[users.ada]\n[users.bob]\n");
    let env = |tenant| farm.env().with("TENANT", tenant);
    learn(&farm, "ada", env("one"), "x.json").await;
    assert!(0 < remembered(&farm, "ada", env("one")));
    // Who shares the server shares what it lists.
    assert!(0 < remembered(&farm, "bob", env("one")));
    for name in ["ada", "bob"] {
        assert_eq!(remembered(&farm, name, env("two")), 0, "{name}: not what another tenant has");
    }
}

/// What is passed on by name is a value like any other.
#[tokio::test]
async fn f9_a_list_belongs_to_the_variables_passed_to_its_server() {
    let farm = Farm::new();
    farm.add_with("x", &[], &json!({"lazy": true, "env_vars": ["TENANT"]}));
    farm.settings("[users.ada]\n");
    let env = |tenant| farm.env().with("TENANT", tenant);
    learn(&farm, "ada", env("one"), "x.json").await;
    assert!(0 < remembered(&farm, "ada", env("one")));
    assert_eq!(remembered(&farm, "ada", env("two")), 0, "not what another tenant has");
    assert_eq!(remembered(&farm, "ada", farm.env()), 0, "nor what one has where none is named");
}

#[tokio::test]
async fn f9_a_private_list_is_remembered_for_its_user_alone() {
    let farm = Farm::new();
    let modern = |scope| ["--era", "modern", "--scope", scope];
    farm.add_with("x", &modern("private"), &json!({"lazy": true}));
    farm.settings("[users.ada]\n[users.bob]\n");
    learn(&farm, "ada", farm.env(), "user_ada/x.json").await;
    assert!(0 < remembered(&farm, "ada", farm.env()));
    assert_eq!(remembered(&farm, "bob", farm.env()), 0);
    // A public one is everybody's.
    let farm = Farm::new();
    farm.add_with("x", &modern("public"), &json!({"lazy": true}));
    farm.settings("[users.ada]\n[users.bob]\n");
    learn(&farm, "ada", farm.env(), "x.json").await;
    assert!(0 < remembered(&farm, "bob", farm.env()));
}

/// What one user's handle shows of a server does not come by another's.
#[tokio::test]
async fn f9_a_handle_shows_its_own_users_servers_to_nobody_else() {
    let farm = Farm::new();
    put_own(&farm, "ada", "x", farm.entry("x", &[], &json!({})));
    let ada = open_for(&farm, "ada", farm.options(calm())).await;
    assert!(!listed(&ada.own_view()).is_empty());
    let rules = kitbag::AgentRules::default();
    let others = ada.view(&user("bob"), &rules).unwrap();
    assert_eq!(listed(&others), Vec::<String>::new());
    farm.close(ada).await;
}

/// Whoever can write the cache makes nobody read without end.
#[tokio::test]
async fn f18_a_remembered_list_beyond_its_bound_is_not_read() {
    let farm = Farm::new();
    farm.add_with("x", &[], &json!({"lazy": true}));
    farm.settings("[users.ada]\n");
    learn(&farm, "ada", farm.env(), "x.json").await;
    let file = farm.house.path("kit/cache/tools/x.json");
    let list = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{list}{}", " ".repeat(1 << 20))).unwrap();
    assert!(0 < remembered(&farm, "ada", farm.env()));
    std::fs::write(&file, format!("{list}{}", " ".repeat(calm().list))).unwrap();
    assert_eq!(remembered(&farm, "ada", farm.env()), 0);
}

/// The clock was wrong when it was written down.
#[tokio::test]
async fn t42_a_list_from_the_future_is_no_newer_than_now() {
    let farm = Farm::new();
    farm.add_with("x", &[], &json!({"lazy": true}));
    farm.settings("[users.ada]\n");
    learn(&farm, "ada", farm.env(), "x.json").await;
    let file = std::fs::File::options().write(true).open(farm.house.path("kit/cache/tools/x.json")).unwrap();
    let ahead = Duration::from_secs(365 * 24 * 3600);
    file.set_modified(SystemTime::now() + ahead).unwrap();
    let kit = open_for(&farm, "ada", farm.options(calm())).await;
    let since = kit.snapshot().stale(&super::server("x")).and_then(|stale| stale.since).unwrap();
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    assert!(since <= now && now - since < 3600, "{since}, and now is {now}");
    farm.close(kit).await;
}
