//! Which sessions end, and whose.

use std::sync::Arc;
use std::time::Duration;

use kitbag::{Env, Kitbag, Limits, OpenOptions, ServerSpec, Setup, UserId};

use super::{Session, Sessions};
use crate::client::Client;
use crate::endpoint::{Endpoint, EndpointOptions, Scope};

/// A client of a user's who has no servers.
fn client(user: &str) -> Arc<Client> {
    let setup = Setup::from_specs(Env::default(), Vec::<ServerSpec>::new());
    let kit = Kitbag::start(setup, OpenOptions::default());
    let endpoint = Endpoint::new(kit.clone(), EndpointOptions::default());
    Client::new(endpoint, kit, UserId::parse(user).unwrap(), Scope::Everything)
}

fn sessions(change: impl FnOnce(&mut Limits)) -> Sessions {
    let mut limits = Limits::default();
    change(&mut limits);
    Sessions::new(Arc::new(limits))
}

fn begin(sessions: &Sessions, client: &Arc<Client>) -> (String, Arc<Session>) {
    sessions.begin(client.clone()).unwrap()
}

#[tokio::test]
async fn t17_whoever_begins_many_sessions_ends_their_own_that_nobody_used() {
    let sessions = sessions(|limits| limits.serve_user_sessions = 50);
    let (ada, bob) = (client("ada"), client("bob"));
    let (of_bob, _) = begin(&sessions, &bob);
    let (used, _) = begin(&sessions, &ada);
    assert!(sessions.find(&used, &ada.user).is_some());
    let (open, session) = begin(&sessions, &ada);
    let _in_use = session.in_use();
    let (first, ended) = begin(&sessions, &ada);
    for _ in 0..10_000 {
        begin(&sessions, &ada);
    }
    assert!(ended.ended.is_cancelled() && sessions.find(&first, &ada.user).is_none());
    assert!(sessions.find(&used, &ada.user).is_some(), "one that was used stays longer");
    assert!(sessions.find(&open, &ada.user).is_some(), "one in use stays");
    assert!(sessions.find(&of_bob, &bob.user).is_some(), "another user's stays");
    assert_eq!(sessions.open().len(), 51);
}

#[tokio::test]
async fn sessions_in_use_end_for_nobody() {
    let sessions = sessions(|limits| limits.serve_sessions = 2);
    let (ada, bob) = (client("ada"), client("bob"));
    let (_, first) = begin(&sessions, &ada);
    let (_, second) = begin(&sessions, &ada);
    let in_use = (first.in_use(), second.in_use());
    assert!(sessions.begin(bob.clone()).is_none());
    drop(in_use);
    assert!(sessions.begin(bob).is_some());
}

#[tokio::test]
async fn a_session_that_nobody_uses_ends() {
    let sessions = sessions(|limits| limits.serve_idle = Duration::ZERO);
    let ada = client("ada");
    let (id, session) = begin(&sessions, &ada);
    let in_use = session.in_use();
    assert!(sessions.find(&id, &ada.user).is_some(), "it is in use");
    drop(in_use);
    assert!(sessions.find(&id, &ada.user).is_none() && session.ended.is_cancelled());
}

#[tokio::test]
async fn t40_a_session_is_its_users() {
    let sessions = sessions(|_| {});
    let (ada, bob) = (client("ada"), client("bob"));
    let (id, _) = begin(&sessions, &ada);
    assert!(sessions.find(&id, &bob.user).is_none() && !sessions.end(&id, &bob.user));
    assert!(sessions.find(&id, &ada.user).is_some() && sessions.end(&id, &ada.user));
    assert!(sessions.find(&id, &ada.user).is_none());
}
