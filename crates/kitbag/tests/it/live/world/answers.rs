//! Answers to inputs that a store keeps: taken over from the file once, each its user's.

use std::sync::Arc;

use kitbag::files::SecretStore;
use kitbag::store::{InputStore as _, MemoryStore, Store};
use kitbag::{Kitbag, OpenOptions, Secret, Setup};
use serde_json::json;

use super::super::farm::Opens as _;
use super::super::{Farm, calm, until};
use super::{LONG, setup_of, user, variable};

fn asking() -> Farm {
    let farm = Farm::new();
    let inputs = json!([{"id": "key", "type": "promptString", "description": "The key"}]);
    farm.add_with("x", &[], &json!({"env": {"VALUE": "${input:key}"}, "inputs": inputs}));
    farm.settings("[users.ada]\n[users.bob]\n[users.cyd]\n");
    farm
}

fn answer(setup: &Setup) -> Option<String> {
    let spec = setup.used().next().unwrap();
    setup.answer(spec, "key").map(|answer| answer.expose().to_owned())
}

async fn open(farm: &Farm, name: &str, store: &Arc<MemoryStore>) -> Kitbag {
    let options = OpenOptions { store: Some(store.clone()), ..farm.options(calm()) };
    Kitbag::open_with(setup_of(farm, name), options).await.unwrap().0
}

#[tokio::test]
async fn s1_12_a_store_takes_the_answers_of_the_file_over_and_keeps_users_apart() {
    let farm = asking();
    for (name, value) in [("ada", "hers"), ("bob", "his")] {
        let setup = setup_of(&farm, name);
        let spec = setup.used().next().unwrap();
        SecretStore::keep(&setup.folders, &user(name), spec, "key", &Secret::new(value)).unwrap();
    }
    let store = Arc::new(MemoryStore::default());
    let mut setup = setup_of(&farm, "cyd");
    let file = setup.folders.answers();
    assert!(file.exists() && setup.needs_answers());
    // Whoever comes first takes over those of everybody.
    setup.read_answers(&*store).await.unwrap();
    assert_eq!((file.exists(), answer(&setup)), (false, None));
    for (name, value) in [("ada", "hers"), ("bob", "his")] {
        let own = store.inputs(&user(name)).await.unwrap();
        assert_eq!((own.len(), own[0].1.expose()), (1, value));
        let mut setup = setup_of(&farm, name);
        assert_eq!(answer(&setup), None, "the file is gone");
        setup.read_answers(&*store).await.unwrap();
        assert_eq!(answer(&setup).as_deref(), Some(value));
    }
    // They are what servers get.
    let (ada, bob) = (open(&farm, "ada", &store).await, open(&farm, "bob", &store).await);
    assert_eq!(
        (variable(&ada, "x", "VALUE").await, variable(&bob, "x", "VALUE").await),
        ("hers".into(), "his".into())
    );
    let starts = farm.count("x", "start");
    let cyd = open(&farm, "cyd", &store).await;
    assert_eq!(farm.count("x", "start"), starts, "{:?}", cyd.status());
    for kit in [ada, bob] {
        kit.close().await;
    }
    farm.close(cyd).await;
}

#[tokio::test]
async fn s1_12_what_is_written_into_the_file_later_is_taken_over_too_and_a_damaged_file_stays() {
    let farm = asking();
    let store = Arc::new(MemoryStore::default());
    for value in ["first", "second"] {
        let mut setup = setup_of(&farm, "ada");
        let spec = setup.used().next().unwrap();
        SecretStore::keep(&setup.folders, &user("ada"), spec, "key", &Secret::new(value)).unwrap();
        setup.read_answers(&*store).await.unwrap();
        assert_eq!(answer(&setup).as_deref(), Some(value));
    }
    farm.house.put("kit/state/secrets.json", "{");
    let mut setup = setup_of(&farm, "ada");
    setup.read_answers(&*store).await.unwrap();
    assert!(setup.folders.answers().exists());
    assert_eq!(answer(&setup).as_deref(), Some("second"));
}

#[tokio::test]
async fn f14_a_new_answer_in_the_store_is_followed() {
    let farm = asking();
    let store = Arc::new(MemoryStore::default());
    let kit = Kitbag::start(
        setup_of(&farm, "ada"),
        OpenOptions { store: Some(store.clone()), ..farm.options(super::watch::quick()) },
    );
    let setup = kit.setup();
    let key = SecretStore::key(&user("ada"), setup.used().next().unwrap(), "key");
    super::watch::following(&kit, async {
        for answer in ["one", "two"] {
            let before = farm.count("x", "start");
            let store: &dyn Store = &*store;
            SecretStore::keep_in(store, &setup.folders, &key, &Secret::new(answer)).await.unwrap();
            assert!(until(LONG, || farm.count("x", "start") == before + 1).await, "{answer}");
            kit.wait(LONG).await;
            assert_eq!(variable(&kit, "x", "VALUE").await, answer);
        }
    })
    .await;
    farm.close(kit).await;
}
