use super::*;

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.breaker_failures = 3;
    limits.breaker_window = Duration::from_secs(10);
    limits.breaker_open = Duration::from_secs(5);
    limits
}

fn fail(breaker: &Breaker, now: Instant) {
    breaker.enter(now).unwrap().ended(Some(ErrorKind::OutcomeUnknown), now, &limits());
}

#[test]
fn s3_20_it_opens_lets_one_through_and_closes() {
    let (breaker, began) = (Breaker::default(), Instant::now());
    let at = |seconds: u64| began + Duration::from_secs(seconds);
    fail(&breaker, at(0));
    fail(&breaker, at(1));
    assert_eq!(breaker.open(at(1)), None);
    fail(&breaker, at(2));
    let open = breaker.enter(at(3)).unwrap_err();
    assert_eq!(open, Open { failures: 3, left: Duration::from_secs(4) });
    // One goes through, and while it is on its way no other.
    let probe = breaker.enter(at(7)).unwrap();
    assert!(breaker.enter(at(7)).is_err());
    probe.ended(Some(ErrorKind::Timeout), at(8), &limits());
    assert_eq!(breaker.enter(at(9)).unwrap_err().left, Duration::from_secs(4));
    // One that was given up says nothing; the next one may try.
    drop(breaker.enter(at(13)).unwrap());
    breaker.enter(at(13)).unwrap().ended(Some(ErrorKind::ServerError), at(13), &limits());
    assert_eq!(breaker.open(at(13)), None);
    let (one, other) = (breaker.enter(at(13)).unwrap(), breaker.enter(at(13)).unwrap());
    assert!(!one.is_probe && !other.is_probe);
}

#[test]
fn s3_20_only_unanswered_calls_in_a_row_count() {
    let (breaker, began) = (Breaker::default(), Instant::now());
    let at = |seconds: u64| began + Duration::from_secs(seconds);
    for kind in [None, Some(ErrorKind::ToolError), Some(ErrorKind::ServerError), Some(ErrorKind::BadAnswer)] {
        fail(&breaker, at(0));
        fail(&breaker, at(0));
        breaker.enter(at(0)).unwrap().ended(kind, at(0), &limits());
    }
    assert_eq!(breaker.open(at(0)), None);
    // Too far apart.
    fail(&breaker, at(0));
    fail(&breaker, at(0));
    fail(&breaker, at(11));
    assert_eq!(breaker.open(at(11)), None);
    // What never left says nothing, neither way.
    fail(&breaker, at(11));
    breaker.enter(at(11)).unwrap().ended(Some(ErrorKind::Unavailable), at(11), &limits());
    fail(&breaker, at(11));
    assert!(breaker.open(at(11)).is_some());
    breaker.close();
    assert_eq!(breaker.open(at(11)), None);
}

#[test]
fn s3_20_calls_lost_together_are_one_failure() {
    let (breaker, began) = (Breaker::default(), Instant::now());
    let turns: Vec<_> = (0..9).map(|_| breaker.enter(began).unwrap()).collect();
    for (place, turn) in (1..).zip(turns) {
        turn.ended(Some(ErrorKind::OutcomeUnknown), began + Duration::from_secs(place), &limits());
    }
    assert_eq!(breaker.open(began + Duration::from_secs(9)), None);
}
