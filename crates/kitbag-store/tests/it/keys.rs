//! Answers to inputs are encrypted, each for its own place.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use kitbag::Secret;
use kitbag::store::{Store, StoreError};

use crate::rows::input;
use crate::stores::{Place, user};

async fn with_answers() -> (Place, Arc<dyn Store>) {
    let place = Place::sqlite();
    let store = place.open();
    store.put_input(&input("ada", "key"), &Secret::new("hunter2-of-ada")).await.unwrap();
    store.put_input(&input("ben", "key"), &Secret::new("hunter2-of-ben")).await.unwrap();
    (place, store)
}

#[track_caller]
fn is_key_error<T: std::fmt::Debug>(result: Result<T, StoreError>, words: &str) {
    let Err(error @ StoreError::Key { .. }) = result else { panic!("{result:?}") };
    assert!(error.to_string().contains("kitbag.key"), "{error}");
    assert!(error.to_string().contains(words), "{error}");
}

#[tokio::test]
async fn answers_are_nowhere_in_the_files() {
    let (place, _store) = with_answers().await;
    let key = place.state().join("kitbag.key");
    assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    for entry in fs::read_dir(place.state()).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        assert!(!bytes.windows(7).any(|part| part == b"hunter2"));
    }
}

#[tokio::test]
async fn a_missing_or_wrong_key_is_an_error_and_no_new_one_is_made() {
    let (place, store) = with_answers().await;
    let file = place.state().join("kitbag.key");
    let right = fs::read(&file).unwrap();
    let ada = input("ada", "key");
    let other = place.state().join("other");

    fs::rename(&file, &other).unwrap();
    is_key_error(store.input(&ada).await, "missing");
    is_key_error(store.inputs(&user("ada")).await, "missing");
    is_key_error(store.put_input(&ada, &Secret::new("new")).await, "missing");
    assert!(!file.exists());

    fs::write(&file, "0".repeat(64)).unwrap();
    is_key_error(store.input(&ada).await, "another key");
    is_key_error(store.put_input(&ada, &Secret::new("new")).await, "another key");
    fs::write(&file, "not a key").unwrap();
    is_key_error(store.input(&ada).await, "not a key");
    // What cannot be read can be forgotten.
    assert!(store.remove_input(&input("ben", "key")).await.unwrap());

    fs::write(&file, right).unwrap();
    assert_eq!(store.input(&ada).await.unwrap().unwrap().expose(), "hunter2-of-ada");
}

/// Who can write to the database gives nobody another one's answer.
#[tokio::test]
async fn an_answer_in_another_place_cannot_be_read() {
    for change in ["user_id = 'eve' WHERE user_id = 'ada'", "id = 'k'", "scope = 's'"] {
        let (place, _) = with_answers().await;
        assert!(0 < place.run(&format!("UPDATE inputs SET {change}")).await);
        let store = place.open();
        let user = user(if change.starts_with("user_id") { "eve" } else { "ada" });
        is_key_error(store.inputs(&user).await, "changed since");
    }
    let (place, store) = with_answers().await;
    place.run("UPDATE inputs SET sealed = (SELECT sealed FROM inputs WHERE user_id = 'ben')").await;
    is_key_error(store.input(&input("ada", "key")).await, "changed since");
    place.run("UPDATE inputs SET sealed = x'00'").await;
    is_key_error(store.input(&input("ada", "key")).await, "changed since");
}
