//! Who is at the limit, who is not, and what is forgotten.

use std::time::Duration;

use governor::clock::FakeRelativeClock;
use kitbag::{Limits, UserId};

use super::{Overload, Places, Rates};

fn user(id: &str) -> UserId {
    UserId::parse(id).unwrap()
}

fn limits(change: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = Limits::default();
    change(&mut limits);
    limits
}

#[test]
fn t17_requests_of_one_user_have_a_rate_and_a_burst_and_others_theirs() {
    let clock = FakeRelativeClock::default();
    let few = limits(|limits| (limits.serve_rate, limits.serve_burst) = (2, 5));
    let rates = Rates::with_clock(&few, clock.clone());
    let (ada, bob) = (user("ada"), user("bob"));
    for _ in 0..5 {
        rates.request(&ada).unwrap();
    }
    let refused = rates.request(&ada).unwrap_err();
    assert_eq!((refused.what, refused.seconds()), (Overload::Requests, 1));
    rates.request(&bob).unwrap();
    clock.advance(Duration::from_millis(500));
    rates.request(&ada).unwrap();
    rates.request(&ada).unwrap_err();
}

#[test]
fn t17_users_who_do_not_come_again_are_forgotten() {
    let clock = FakeRelativeClock::default();
    let rates = Rates::with_clock(&Limits::default(), clock.clone());
    for n in 0..1000 {
        rates.request(&user(&format!("u{n}"))).unwrap();
    }
    assert_eq!(rates.limiter.len(), 1000);
    clock.advance(Duration::from_secs(60));
    rates.request(&user("ada")).unwrap();
    rates.sweep();
    assert_eq!(rates.limiter.len(), 1);
}

#[test]
fn t17_calls_of_one_user_and_of_one_session_are_bounded() {
    let few = limits(|limits| (limits.serve_calls, limits.serve_session_calls) = (3, 2));
    let (places, ada, bob) = (Places::default(), user("ada"), user("bob"));
    let what = |session| places.call(&ada, session, &few).map(drop).map_err(|refused| refused.what);
    assert_eq!(what(2), Err(Overload::SessionCalls));
    let open: Vec<_> = (0..3).map(|n| places.call(&ada, n % 2, &few).unwrap()).collect();
    assert_eq!(what(0), Err(Overload::Calls));
    places.call(&bob, 0, &few).unwrap();
    assert_eq!(places.open(), 3);
    drop(open);
    assert_eq!(what(0), Ok(()));
    assert_eq!(places.lock().len(), 0, "nothing is kept of whoever has none open");
}

#[test]
fn a_refusal_says_what_why_and_when() {
    let places = Places::default();
    let none = limits(|limits| limits.serve_calls = 1);
    let _open = places.call(&user("ada"), 0, &none).unwrap();
    let refused = places.call(&user("ada"), 0, &none).map(drop).unwrap_err();
    let words = "too many calls of this user at once; try again in 1 s (serve_calls in `kitbag limits`)";
    assert_eq!(refused.to_string(), words);
}
