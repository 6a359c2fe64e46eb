//! SQLite's files: when they come to be, who may read them, and what is wrong with those that cannot be used.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use kitbag::Limits;
use kitbag::store::{ApprovalAnswer, AuditQuery, AuditScope, AuditVerdict, StoreError};

use crate::rows::{ask, batch, owner, pin, row};
use crate::stores::{Place, at, user};

fn mode(file: &Path) -> u32 {
    fs::metadata(file).unwrap().permissions().mode() & 0o777
}

/// Opening and reading create nothing; the first write does, for its owner alone.
#[tokio::test]
async fn nothing_is_created_before_something_is_written() {
    let place = Place::sqlite();
    let store = place.open();
    store.pins(&owner("")).await.unwrap();
    store.remove_pins(&[pin("", "read", "").key]).await.unwrap();
    store.revoke_token(&user("ada"), "laptop").await.unwrap();
    store.sweep_approvals(at(1)).await.unwrap();
    store.page(&AuditQuery::newest(AuditScope::All, 9)).await.unwrap();
    assert_eq!(store.verify().await.unwrap(), AuditVerdict::Intact { rows: 0 });
    assert!(!place.state().exists());

    store.put_pins(&[pin("", "read", "{}")]).await.unwrap();
    assert_eq!(mode(&place.state()), 0o700);
    let files: Vec<_> = fs::read_dir(place.state()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.contains(&place.file()), "{files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
    assert_eq!(place.open().pins(&owner("")).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_path_may_hold_any_character() {
    let place = Place::sqlite();
    let file = place.state().join("a b%20?#é.db");
    let store =
        kitbag_store::open(&format!("sqlite:{}", file.display()), &place.state(), &place.limits).unwrap();
    store.put_pins(&[pin("", "read", "{}")]).await.unwrap();
    assert!(file.exists());
}

#[tokio::test]
async fn a_database_of_a_newer_kitbag_is_left_alone() {
    let place = Place::sqlite();
    place.open().put_pins(&[pin("", "read", "{}")]).await.unwrap();
    place
        .run(
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
              VALUES (7, 'newer', TRUE, x'00', 0)",
        )
        .await;
    let error = place.open().pins(&owner("")).await.unwrap_err();
    let what = place.file().display().to_string();
    assert_eq!(error, StoreError::Newer { what, found: 7, known: 3 });
}

/// A file that is no database, and one with a page that was overwritten.
#[tokio::test]
async fn a_damaged_file_is_named_and_left_alone() {
    let place = Place::sqlite();
    fs::create_dir_all(place.state()).unwrap();
    let noise = "this is not a database. ".repeat(400);
    fs::write(place.file(), &noise).unwrap();
    let store = place.open();
    for error in [store.pins(&owner("")).await.unwrap_err(), store.put_pins(&[]).await.unwrap_err()] {
        let StoreError::Damaged { what, hint, .. } = &error else { panic!("{error:?}") };
        assert_eq!((what, hint.is_empty()), (&place.file().display().to_string(), false));
    }
    assert_eq!(fs::read_to_string(place.file()).unwrap(), noise);

    let place = Place::sqlite();
    let rows = (0..200).map(|n| row("ada", n)).collect();
    place.open().append(&batch("w", 1, rows)).await.unwrap();
    place.run("PRAGMA wal_checkpoint(TRUNCATE)").await;
    let mut bytes = fs::read(place.file()).unwrap();
    let from = bytes.len() / 4;
    bytes[from..].fill(0xa5);
    fs::write(place.file(), &bytes).unwrap();
    let error = place.open().verify().await.unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
}

#[tokio::test]
async fn a_url_that_names_no_store_is_refused() {
    let error = |url: &str| match kitbag_store::open(url, Path::new("state"), &Limits::default()) {
        Err(StoreError::Url(why)) => why,
        Err(error) => panic!("{error:?}"),
        Ok(_) => panic!("{url} was opened"),
    };
    assert!(error("mysql://x").contains("neither"));
    assert!(error("").contains("neither"));
    let secret = error("postgres://ada:hunter2@[::x/things");
    assert!(!secret.contains("hunter2"), "{secret}");
}

/// A folder that may not be written is a passing trouble, with the file's name.
#[tokio::test]
async fn a_place_that_cannot_be_written_is_named() {
    let place = Place::sqlite();
    fs::write(place.state(), "a file where the folder should be").unwrap();
    let error = place.open().put_pins(&[pin("", "read", "{}")]).await.unwrap_err();
    let StoreError::Unavailable { what, .. } = &error else { panic!("{error:?}") };
    assert_eq!(*what, place.file().display().to_string());
}

/// The arguments of a call are on disk while a person is asked, and not afterwards.
#[tokio::test]
async fn arguments_are_forgotten_with_the_end_of_an_approval() {
    let place = Place::sqlite();
    let store = place.open();
    let ada = user("ada");
    let [once, withdrawn, expired] = [
        store.ask(&ask("ada")).await.unwrap(),
        store.ask(&ask("ada")).await.unwrap(),
        store.ask(&ask("ada")).await.unwrap(),
    ];
    let is_there = async || {
        place.run("PRAGMA wal_checkpoint(TRUNCATE)").await;
        fs::read(place.file()).unwrap().windows(7).any(|part| part == b"hunter2")
    };
    assert!(is_there().await);
    store.answer(&ada, &once, ApprovalAnswer::Once, at(1)).await.unwrap();
    store.withdraw(&ada, &withdrawn).await.unwrap();
    assert!(is_there().await, "one is still asked");
    store.answer_of(&ada, &expired, at(1000)).await.unwrap();
    assert!(!is_there().await);
}
