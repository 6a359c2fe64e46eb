//! Tokens that stop being good while something goes on by them.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::FutureExt as _;
use kitbag::UserId;
use kitbag::store::{Hash256, MemoryStore, TokenEntry, TokenStore as _};

use super::{Held, NOTED, Passes};
use crate::access::Caller;

fn entry(user: &str, secret: &str, expires: Option<SystemTime>) -> TokenEntry {
    let (user, hash) = (UserId::parse(user).unwrap(), Hash256::of(secret));
    TokenEntry { user, name: secret.to_owned(), hash, created: SystemTime::now(), expires, used: None }
}

fn caller(entry: &TokenEntry) -> Caller {
    Caller { user: entry.user.clone(), token: Some(entry.hash) }
}

#[tokio::test]
async fn t40_what_goes_on_by_a_token_ends_with_it_and_nothing_else() {
    let store = Arc::new(MemoryStore::default());
    let soon = SystemTime::now() + Duration::from_secs(3600);
    let all = [entry("ada", "revoked", None), entry("ada", "kept", Some(soon)), entry("bob", "gone", None)];
    for entry in &all {
        store.add_token(entry).await.unwrap();
    }
    let passes = Passes::new(Some(store.clone()));
    let open: Vec<_> = all.iter().map(|entry| passes.pass(caller(entry))).collect();
    let is_over = |at: usize| open[at].over().now_or_never().is_some();
    passes.look(|_| true).await;
    assert_eq!([is_over(0), is_over(1), is_over(2)], [false; 3]);
    store.revoke_token(&all[0].user, "revoked").await.unwrap();
    passes.look(|user| user.as_str() != "bob").await;
    assert_eq!([is_over(0), is_over(1), is_over(2)], [true, false, true]);
}

#[tokio::test]
async fn t40_a_token_that_runs_out_ends_what_goes_on() {
    let store = Arc::new(MemoryStore::default());
    let ends = SystemTime::now() + Duration::from_millis(20);
    let short = entry("ada", "short", Some(ends));
    store.add_token(&short).await.unwrap();
    let passes = Passes::new(Some(store));
    let pass = passes.pass(caller(&short));
    while SystemTime::now() < ends {
        tokio::task::yield_now().await;
    }
    passes.look(|_| true).await;
    assert!(pass.over().now_or_never().is_some());
}

#[tokio::test(start_paused = true)]
async fn when_a_token_was_used_is_written_once_a_minute_and_forgotten_here() {
    let store = Arc::new(MemoryStore::default());
    let token = entry("ada", "t", None);
    store.add_token(&token).await.unwrap();
    let passes = Passes::new(Some(store.clone()));
    let used = async || store.find_token(&token.hash).await.unwrap().unwrap().used;
    drop(passes.pass(caller(&token)));
    assert_eq!(used().await, None);
    passes.look(|_| true).await;
    let first = used().await;
    assert!(first.is_some());
    drop(passes.pass(caller(&token)));
    passes.look(|_| true).await;
    assert_eq!(used().await, first, "a moment later");
    let later = |held: &Held| held.used;
    let last = passes.lock().values().map(later).max();
    tokio::time::advance(NOTED).await;
    passes.look(|_| true).await;
    assert_eq!(used().await, last);
    assert_eq!(passes.lock().len(), 1);
    tokio::time::advance(NOTED).await;
    passes.look(|_| true).await;
    assert_eq!(passes.lock().len(), 0, "nothing is kept of a token that nobody uses");
}
