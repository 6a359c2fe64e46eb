use super::*;

/// Whether ada may be asked after these calls were given up, and some of them answered.
#[track_caller]
fn check(given_up: &[(u64, &str)], answered: &[u64], may_ask: bool) {
    let user = |name: &str| UserId::parse(name).unwrap();
    let mut late = Late::default();
    given_up.iter().for_each(|(id, name)| late.add(*id, &user(name), Some(1), 2));
    answered.iter().for_each(|id| late.answered(*id));
    assert_eq!(!late.are_others(&user("ada")), may_ask, "{given_up:?} {answered:?}");
}

#[test]
fn a_call_given_up_stands_between_others_and_a_question() {
    check(&[], &[], true);
    check(&[(1, "ada")], &[], true);
    check(&[(1, "bob")], &[], false);
    check(&[(1, "bob"), (2, "ada")], &[1], true);
    check(&[(1, "bob"), (2, "bob")], &[1], false);
    check(&[(1, "ada")], &[7], true);
}

/// What was forgotten cannot be known to be answered.
#[test]
fn a_forgotten_call_stays_in_between() {
    check(&[(1, "ada"), (2, "ada"), (3, "ada")], &[], true);
    check(&[(1, "bob"), (2, "ada"), (3, "ada")], &[1], false);
    check(&[(1, "ada"), (2, "bob"), (3, "ada"), (4, "ada")], &[2], false);
    check(&[(1, "bob"), (2, "ada"), (3, "ada"), (4, "ada")], &[1, 2], false);
}

#[tokio::test(start_paused = true)]
async fn a_call_of_another_client_of_the_same_user_stands_in_between_for_a_while() {
    let (ada, short) = (UserId::parse("ada").unwrap(), Duration::from_secs(10));
    let mut late = Late::default();
    late.add(1, &ada, Some(1), 8);
    assert!(!late.are_another_persons(1, short), "her own");
    assert!(late.are_another_persons(2, short));
    tokio::time::advance(short).await;
    assert!(!late.are_another_persons(2, short), "its server knows by now");
    late.add(2, &ada, None, 8);
    assert!(late.are_another_persons(1, short), "nobody answered for it");
    late.answered(2);
    assert!(!late.are_another_persons(1, short));
}
