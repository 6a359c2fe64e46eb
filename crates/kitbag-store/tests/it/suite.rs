//! What every store promises: each check gets an empty one. The audit log and the races of approvals have files of
//! their own.

use std::pin::Pin as Pinned;
use std::sync::Arc;

use kitbag::Secret;
use kitbag::store::{
    ApprovalAnswer, AuditQuery, AuditScope, Hash256, PinState, Store, TokenEntry, TokenError,
};

use crate::rows::{ask, batch, input, owner, pin, row, token};
use crate::stores::{Place, at, memory, user};
use crate::{approvals, audit};

type Check = fn(Arc<dyn Store>) -> Pinned<Box<dyn Future<Output = ()> + Send>>;

macro_rules! checks {
    ($($path:path),* $(,)?) => { &[$((stringify!($path), |store| Box::pin($path(store)))),*] };
}

const CHECKS: &[(&str, Check)] = checks![
    pins_are_kept_and_removed,
    the_first_definition_stays_until_one_is_approved,
    approvals::an_approval_is_asked_and_answered,
    approvals::what_is_over_takes_no_answer,
    approvals::always_becomes_a_grant,
    approvals::pending_approvals_are_bounded_and_swept,
    approvals::of_many_answers_one_counts,
    tokens_are_found_by_their_hash,
    inputs_are_kept_and_forgotten,
    audit::pages_are_newest_first,
    audit::a_batch_is_written_once,
    audit::what_rotates_away_leaves_a_chain_that_verifies,
    audit::one_of_many_rotates_and_not_too_soon,
    audit::any_text_is_kept,
    audit::writers_have_chains_of_their_own,
    two_users_have_two_of_everything,
    an_empty_store_has_nothing,
];

/// Runs all checks, each with a store of its own, and names those that fail.
pub(crate) async fn run(mut store: impl FnMut() -> Arc<dyn Store>) {
    let mut failed = Vec::new();
    for (name, check) in CHECKS {
        // In a task, so that one that panics does not hide the others.
        let mut task = tokio::task::JoinSet::new();
        task.spawn(check(store()));
        if task.join_next().await.unwrap().is_err() {
            failed.push(*name);
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[tokio::test]
async fn t21_t34_t42_t44_a_store_in_memory_keeps_its_promises() {
    run(memory).await;
}

#[tokio::test]
async fn t21_t34_t42_t44_sqlite_keeps_its_promises() {
    // The folders stay until the end.
    let mut places = Vec::new();
    run(|| {
        let place = Place::sqlite();
        let store = place.open();
        places.push(place);
        store
    })
    .await;
    run(|| Place::with_url("sqlite::memory:").open()).await;
}

async fn pins_are_kept_and_removed(store: Arc<dyn Store>) {
    let approved = PinState::Approved { by: user("ada"), at: at(9) };
    let read = kitbag::store::Pin { state: approved, ..pin("", "read", "{\"a\":\"é\"}") };
    let write = pin("", "write", "{}");
    store.put_pins(&[write.clone(), read.clone()]).await.unwrap();
    assert_eq!(store.pins(&owner("")).await.unwrap(), [read.clone(), write.clone()]);
    let keys = [write.key.clone(), pin("ada", "read", "").key];
    assert_eq!(store.remove_pins(&keys).await.unwrap(), 1);
    assert_eq!(store.pins(&owner("")).await.unwrap(), [read]);
}

async fn the_first_definition_stays_until_one_is_approved(store: Arc<dyn Store>) {
    let only = async || store.pins(&owner("")).await.unwrap().pop().unwrap();
    let first = pin("", "read", "first");
    store.put_pins(std::slice::from_ref(&first)).await.unwrap();
    // Another process sees another definition: the first one stays as it is.
    store.put_pins(&[pin("", "read", "second")]).await.unwrap();
    assert_eq!(only().await, first);
    // A person approves the second one; who still sees the first one changes nothing.
    let state = PinState::Approved { by: user("ada"), at: at(9) };
    let second =
        kitbag::store::Pin { state, first_seen: at(4), last_seen: at(9), ..pin("", "read", "second") };
    store.put_pins(std::slice::from_ref(&second)).await.unwrap();
    store.put_pins(std::slice::from_ref(&first)).await.unwrap();
    assert_eq!(only().await, second);
    // Seen again it stays approved, and it is never seen earlier than it was.
    for (last, expected) in [(at(20), at(20)), (at(15), at(20))] {
        let again = kitbag::store::Pin { first_seen: at(12), last_seen: last, ..pin("", "read", "second") };
        store.put_pins(&[again]).await.unwrap();
        assert_eq!(only().await, kitbag::store::Pin { last_seen: expected, ..second.clone() });
    }
}

async fn tokens_are_found_by_their_hash(store: Arc<dyn Store>) {
    let laptop = token("ada", "laptop", "s1");
    let phone = token("ada", "phone", "s2");
    store.add_token(&phone).await.unwrap();
    store.add_token(&laptop).await.unwrap();
    assert_eq!(store.add_token(&token("ada", "laptop", "s3")).await, Err(TokenError::NameTaken));
    assert_eq!(store.add_token(&token("ben", "laptop", "s1")).await, Err(TokenError::HashTaken));
    assert_eq!(store.tokens(&user("ada")).await.unwrap(), [laptop.clone(), phone.clone()]);
    assert_eq!(store.find_token(&phone.hash).await.unwrap(), Some(phone.clone()));
    let short = TokenEntry { expires: Some(at(30)), ..token("ben", "short", "s4") };
    store.add_token(&short).await.unwrap();
    assert_eq!(store.find_token(&short.hash).await.unwrap(), Some(short.clone()));
    assert_eq!((short.is_expired(at(29)), short.is_expired(at(30))), (false, true));
    assert_eq!(store.all_tokens().await.unwrap(), [laptop.clone(), phone.clone(), short.clone()]);
    // When it was used last, whoever says so first.
    for (said, known) in [(at(20), at(20)), (at(10), at(20)), (at(40), at(40))] {
        store.token_used(&phone.hash, said).await.unwrap();
        assert_eq!(store.find_token(&phone.hash).await.unwrap().unwrap().used, Some(known));
    }
    store.token_used(&Hash256::of("gone"), at(50)).await.unwrap();
    assert!(store.revoke_token(&user("ada"), "phone").await.unwrap());
    assert!(!store.revoke_token(&user("ada"), "phone").await.unwrap());
    assert_eq!(store.find_token(&phone.hash).await.unwrap(), None);
    assert_eq!(store.tokens(&user("ada")).await.unwrap(), [laptop]);
}

async fn inputs_are_kept_and_forgotten(store: Arc<dyn Store>) {
    let key = input("ada", "api-key");
    for value in ["first", "sécond"] {
        store.put_input(&key, &Secret::new(value)).await.unwrap();
        assert_eq!(store.input(&key).await.unwrap().unwrap().expose(), value);
    }
    store.put_input(&input("ada", "a"), &Secret::new("")).await.unwrap();
    let all = store.inputs(&user("ada")).await.unwrap();
    let all: Vec<_> = all.iter().map(|(key, value)| (key.id.as_str(), value.expose())).collect();
    assert_eq!(all, [("a", ""), ("api-key", "sécond")]);
    assert!(store.remove_input(&key).await.unwrap());
    assert!(!store.remove_input(&key).await.unwrap());
    assert!(store.input(&key).await.unwrap().is_none());
}

/// One block for each table.
async fn two_users_have_two_of_everything(store: Arc<dyn Store>) {
    let (ada, ben) = (user("ada"), user("Ada"));
    // Pins.
    store.put_pins(&[pin("ada", "read", "a"), pin("", "read", "shared")]).await.unwrap();
    store.put_pins(&[pin("Ada", "read", "b")]).await.unwrap();
    for (whose, definition) in [("ada", "a"), ("Ada", "b"), ("", "shared")] {
        let pins = store.pins(&owner(whose)).await.unwrap();
        assert_eq!(pins.iter().map(|pin| pin.definition.as_str()).collect::<Vec<_>>(), [definition]);
    }
    // Approvals and grants.
    let id = store.ask(&ask("ada")).await.unwrap();
    assert!(store.pending(&ben, at(1)).await.unwrap().is_empty());
    assert_eq!(store.answer_of(&ben, &id, at(1)).await.unwrap(), None);
    assert_eq!(store.withdraw(&ben, &id).await.unwrap(), None);
    let answer = store.answer(&ben, &id, ApprovalAnswer::Always, at(1)).await;
    assert_eq!(answer, Err(kitbag::store::AnswerError::Unknown));
    store.answer(&ada, &id, ApprovalAnswer::Always, at(1)).await.unwrap();
    let grant = store.grants(&ada).await.unwrap().pop().unwrap();
    assert!(store.grants(&ben).await.unwrap().is_empty());
    let of_ben = kitbag::store::Grant { user: ben.clone(), ..grant };
    assert!(!store.revoke_grant(&of_ben).await.unwrap());
    // Tokens.
    store.add_token(&token("ada", "laptop", "s1")).await.unwrap();
    store.add_token(&token("Ada", "laptop", "s2")).await.unwrap();
    assert!(store.revoke_token(&ben, "laptop").await.unwrap());
    assert!(store.tokens(&ben).await.unwrap().is_empty());
    assert_eq!(store.tokens(&ada).await.unwrap().len(), 1);
    // Answers to inputs.
    store.put_input(&input("ada", "key"), &Secret::new("hers")).await.unwrap();
    assert!(store.input(&input("Ada", "key")).await.unwrap().is_none());
    assert!(store.inputs(&ben).await.unwrap().is_empty());
    assert!(!store.remove_input(&input("Ada", "key")).await.unwrap());
    // The audit log.
    store.append(&batch("w", 1, vec![row("ada", 1), row("Ada", 2)])).await.unwrap();
    let query = AuditQuery::newest(AuditScope::User(ben), 10);
    let rows = store.page(&query).await.unwrap();
    assert_eq!(rows.iter().map(|entry| entry.row.user.clone().unwrap()).collect::<Vec<_>>(), [user("Ada")]);
}

async fn an_empty_store_has_nothing(store: Arc<dyn Store>) {
    let ada = user("ada");
    assert!(store.pins(&owner("")).await.unwrap().is_empty());
    assert!(store.pending(&ada, at(0)).await.unwrap().is_empty());
    assert!(store.tokens(&ada).await.unwrap().is_empty());
    assert!(store.inputs(&ada).await.unwrap().is_empty());
    assert!(store.page(&AuditQuery::newest(AuditScope::All, 9)).await.unwrap().is_empty());
    assert_eq!(store.head(&kitbag::store::WriterId::new("w")).await.unwrap(), None);
}
