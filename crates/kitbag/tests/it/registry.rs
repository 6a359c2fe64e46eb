//! The registry by itself: several threads, several files, whole or not at all.

use kitbag::files::{Registry, RegistryError, SecretStore, TrustEntry, TrustStore};
use kitbag::{Secret, ServerName, ServerSpec, UserId};
use serde_json::json;

use crate::{House, user};

fn name(text: &str) -> ServerName {
    ServerName::parse(text).unwrap()
}

fn spec(house: &House, text: &str) -> ServerSpec {
    let file = house.put("spec.json", json!({"mcpServers": {text: {"command": text}}}).to_string());
    let request = kitbag::DiscoverOptions { configs: vec![file], ..house.request() };
    let setup = kitbag::Setup::discover(&request).unwrap();
    setup.used().next().unwrap().clone()
}

#[test]
fn s2_13_threads_do_not_lose_each_others_servers() {
    let house = House::new();
    std::thread::scope(|scope| {
        for n in 0..8 {
            let folders = house.folders();
            scope.spawn(move || {
                Registry::shared(&folders)
                    .add_entry(&name(&format!("s{n}")), &json!({"command": "x"}))
                    .unwrap()
            });
        }
    });
    assert_eq!(house.setup().used().count(), 8);
}

#[test]
fn s2_13_several_are_added_together_or_not_at_all() {
    let house = House::new();
    let registry = Registry::shared(&house.folders());
    registry.add(&spec(&house, "b")).unwrap();
    let before = house.text("kit/config/mcp.json");
    let specs = ["a", "b", "c"].map(|text| spec(&house, text));
    let refused = registry.add_all(&specs).unwrap_err();
    assert!(matches!(&refused, RegistryError::Duplicate { name, .. } if name.as_str() == "b"), "{refused}");
    assert_eq!(house.text("kit/config/mcp.json"), before);
    registry.add_all(&[specs[0].clone(), specs[2].clone()]).unwrap();
    assert_eq!(house.states(), "a=used b=used c=used");
}

#[test]
fn s2_13_an_entry_without_a_way_to_reach_it_is_refused() {
    let house = House::new();
    let registry = Registry::shared(&house.folders());
    for entry in [
        json!({}),
        json!({"enabled": false}),
        json!({"args": ["x"]}),
        json!(5),
        json!(null),
        json!({"command": ""}),
    ] {
        let refused = registry.add_entry(&name("x"), &entry);
        assert!(matches!(refused, Err(RegistryError::Invalid { .. })), "{entry}: {refused:?}");
    }
    assert!(!house.path("kit/config/mcp.json").exists());
}

#[test]
fn s2_13_a_users_second_server_of_one_file_name_gets_a_file_of_its_own() {
    let house = House::new();
    std::fs::create_dir_all(house.path("kit/config/servers/user_ada")).unwrap();
    house.put("kit/config/servers/user_ada/x.json", r#"{"name": "other", "command": "y"}"#);
    let registry = Registry::of_user(&house.folders(), &user("ada"));
    let file = registry.add_entry(&name("x"), &json!({"command": "x"})).unwrap();
    assert_eq!(file, house.path("kit/config/servers/user_ada/x-2.json"));
    let setup =
        kitbag::Setup::discover(&kitbag::DiscoverOptions { user: Some(user("ada")), ..house.request() })
            .unwrap();
    assert_eq!(crate::states(&setup), "other=used x=used");
    registry.switch(&name("x"), false, &setup.merged).unwrap();
    registry.remove(&name("x"), &setup.merged).unwrap();
    assert_eq!(house.text("kit/config/servers/user_ada/x.json"), r#"{"name": "other", "command": "y"}"#);
    assert!(!file.exists());
}

#[test]
fn t33_a_registry_writes_through_no_link() {
    let house = House::new();
    std::fs::create_dir_all(house.path("kit/config/servers/user_bob")).unwrap();
    std::os::unix::fs::symlink(
        house.path("kit/config/servers/user_bob"),
        house.path("kit/config/servers/user_ada"),
    )
    .unwrap();
    let refused =
        Registry::of_user(&house.folders(), &user("ada")).add_entry(&name("x"), &json!({"command": "x"}));
    assert!(matches!(refused, Err(RegistryError::Link(_))), "{refused:?}");
    assert_eq!(std::fs::read_dir(house.path("kit/config/servers/user_bob")).unwrap().count(), 0);
}

#[test]
fn s2_13_a_shared_file_that_is_a_link_stays_one() {
    let house = House::new();
    let dotfiles = house.put("dotfiles/mcp.json", "{}\n");
    std::fs::create_dir_all(house.path("kit/config")).unwrap();
    std::os::unix::fs::symlink(&dotfiles, house.path("kit/config/mcp.json")).unwrap();
    Registry::shared(&house.folders()).add_entry(&name("x"), &json!({"command": "x"})).unwrap();
    assert!(house.path("kit/config/mcp.json").is_symlink());
    assert!(house.text("dotfiles/mcp.json").contains("\"x\""));
}

#[test]
fn t32_approvals_of_two_processes_are_both_kept() {
    let house = House::new();
    let approval =
        |n: usize| TrustEntry { file: house.path(".mcp.json"), server: format!("s{n}"), hash: "h".into() };
    std::thread::scope(|scope| {
        for n in 0..8 {
            let (folders, approval) = (house.folders(), approval(n));
            scope.spawn(move || TrustStore::approve(&folders, &[approval]).unwrap());
        }
    });
    let trust = TrustStore::load(&house.folders());
    assert!((0..8).all(|n| trust.holds(&approval(n))));
    // A new approval of one entry replaces the old one.
    TrustStore::approve(&house.folders(), &[TrustEntry { hash: "other".into(), ..approval(0) }]).unwrap();
    let trust = TrustStore::load(&house.folders());
    assert!(!trust.holds(&approval(0)) && trust.approvals().len() == 8);
}

#[test]
fn s1_12_answers_do_not_print_and_belong_to_their_file() {
    let house = House::new();
    let asking = spec(&house, "a");
    let (local, ada) = (UserId::local(), UserId::parse("ada").unwrap());
    SecretStore::keep(&house.folders(), &local, &asking, "key", &Secret::new("PLANTED-SECRET")).unwrap();
    let secrets = SecretStore::load(&house.folders());
    assert_eq!(secrets.get(&local, &asking, "key").unwrap().expose(), "PLANTED-SECRET");
    assert!(secrets.get(&ada, &asking, "key").is_none(), "f9: an answer is its user's alone");
    SecretStore::keep(&house.folders(), &ada, &asking, "key", &Secret::new("ADAS-SECRET")).unwrap();
    let secrets = SecretStore::load(&house.folders());
    assert_eq!(secrets.get(&ada, &asking, "key").unwrap().expose(), "ADAS-SECRET");
    assert_eq!(secrets.get(&local, &asking, "key").unwrap().expose(), "PLANTED-SECRET");
    assert!(!format!("{secrets:?}").contains("PLANTED"));
    let mut elsewhere = asking.clone();
    elsewhere.origin.place.file = std::sync::Arc::from(house.path("other.json").as_path());
    assert!(secrets.get(&local, &elsewhere, "key").is_none());
}

/// It may be half written, or a person's mistake; the answers of everybody are in it.
#[test]
fn f8_a_damaged_file_of_answers_is_not_written_over() {
    let house = House::new();
    let (asking, local) = (spec(&house, "a"), UserId::local());
    let keep = || SecretStore::keep(&house.folders(), &local, &asking, "key", &Secret::new("PLANTED-SECRET"));
    keep().unwrap();
    let file = house.folders().state.join("secrets.json");
    let whole = std::fs::read(&file).unwrap();
    for damaged in [&whole[..whole.len() / 2], b"[]", b"\xff\xfe"] {
        std::fs::write(&file, damaged).unwrap();
        let error = keep().unwrap_err().to_string();
        assert!(error.contains("secrets.json") && error.contains("damaged"), "{error}");
        assert_eq!(std::fs::read(&file).unwrap(), damaged);
    }
    std::fs::write(&file, whole).unwrap();
    keep().unwrap();
}
