use super::*;

/// The moments, in seconds, at which a list is asked for again until `end`.
fn moments(ttl: Option<u64>, end: f64, changes_at: &[usize]) -> Vec<f64> {
    let limits = Limits::default();
    let mut pace = Pace::new(&limits);
    let (mut at, mut moments) = (0.0, Vec::new());
    loop {
        at += pace.wait(ttl.map(Duration::from_millis), &limits).as_secs_f64();
        if end < at {
            return moments;
        }
        let compared = if changes_at.contains(&moments.len()) { Compared::Other } else { Compared::Same };
        moments.push(at);
        pace.listed(compared, &limits);
    }
}

#[test]
fn f80_a_list_that_never_holds_is_asked_for_ever_more_rarely() {
    for _ in 0..100 {
        // 5, 10, 20 and 40 seconds, each late by up to a quarter.
        let asked = moments(Some(0), 85.0, &[]);
        assert!((3..=4).contains(&asked.len()), "{asked:?}");
        let hours = moments(Some(0), 24.0 * 3600.0, &[]);
        let last = &hours[hours.len() - 2..];
        assert!((300.0..=375.0).contains(&(last[1] - last[0])), "never more than `poll` apart: {last:?}");
    }
}

#[test]
fn f80_a_change_makes_it_quick_again_and_no_two_servers_beat_together() {
    let asked = moments(Some(0), 210.0, &[4]);
    assert!(asked[5] - asked[4] <= 6.25, "{asked:?}");
    let first: Vec<f64> = (0..100).map(|_| moments(Some(0), 7.0, &[])[0]).collect();
    let spread = first.iter().copied().fold(0.0, f64::max) - first.iter().copied().fold(9.0, f64::min);
    assert!(0.5 < spread, "{spread}");
}

#[test]
fn f24_a_server_is_believed_how_long_its_list_holds() {
    for (ttl, least) in [(Some(60_000), 60.0), (Some(3_600_000), 3600.0), (None, 300.0)] {
        let asked = moments(ttl, 2.0 * least, &[0]);
        assert_eq!(asked.len(), 1, "{ttl:?}: {asked:?}");
        assert!((least..=least * 1.25).contains(&asked[0]), "{ttl:?}: {asked:?}");
    }
}
