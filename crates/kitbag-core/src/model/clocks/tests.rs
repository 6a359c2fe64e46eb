use super::*;
use crate::names::ServerName;

fn spec(connect: u64, call: u64) -> ServerSpec {
    let name = ServerName::parse("x").unwrap();
    let mut spec = ServerSpec::program(name, "x", []);
    let time = |seconds: u64| (0 < seconds).then(|| Duration::from_secs(seconds));
    (spec.waits.connect, spec.waits.call) = (time(connect), time(call));
    spec
}

#[test]
fn f1_a_servers_own_times_bind_within_the_limits() {
    let check = |spec: &ServerSpec, wanted: [&str; 4], faults: usize| {
        let limits = Limits::default();
        let clocks = Timeouts::of(spec, &limits);
        let shown = [clocks.connect, clocks.list, clocks.idle, clocks.total].map(|clock| clock.to_string());
        assert_eq!(shown, wanted);
        assert_eq!(Timeouts::faults(spec, &limits).len(), faults, "{wanted:?}");
    };
    check(&spec(0, 0), ["60s (wait_stdio)", "30s (wait_list)", "300s (wait_idle)", "600s (wait_total)"], 0);
    check(&spec(10, 2), ["10s (connect_timeout)", "30s (wait_list)", "2s (timeout)", "2s (timeout)"], 0);
    check(&spec(0, 400), ["60s (wait_stdio)", "30s (wait_list)", "300s (wait_idle)", "400s (timeout)"], 1);
    check(
        &spec(99, 900),
        ["60s (wait_stdio)", "30s (wait_list)", "300s (wait_idle)", "600s (wait_total)"],
        2,
    );
}

#[test]
fn f1_a_call_may_want_another_time_than_its_server() {
    let limits = Limits::default();
    let clocks = Timeouts::of(&spec(0, 60), &limits);
    let check = |seconds: u64, idle: &str, total: &str| {
        let clocks = clocks.for_call(Duration::from_secs(seconds), &limits);
        assert_eq!((clocks.idle.to_string(), clocks.total.to_string()), (idle.to_owned(), total.to_owned()));
    };
    check(2, "2s (timeout of the call)", "2s (timeout of the call)");
    check(100, "100s (timeout of the call)", "100s (timeout of the call)");
    check(9_000, "300s (wait_idle)", "600s (wait_total)");
}

#[test]
fn times_read_as_people_write_them() {
    let check = |millis: u64, text: &str| {
        assert_eq!(Seconds(Duration::from_millis(millis)).to_string(), text);
    };
    check(2001, "2s");
    check(2000, "2s");
    check(1500, "1.5s");
    check(20, "20ms");
}

#[test]
fn f83_times_are_shown_with_one_digit_behind_the_point() {
    for (nanos, text) in [
        (4_000_952_976, "4s"),
        (4_149_000_000, "4.1s"),
        (250_000_000, "250ms"),
        (999_999, "0ms"),
        (600_000_000_000, "600s"),
    ] {
        assert_eq!(Seconds(Duration::from_nanos(nanos)).to_string(), text);
    }
}
