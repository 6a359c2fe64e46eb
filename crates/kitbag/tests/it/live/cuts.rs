//! Connections cut at every step of their life: no call runs twice, and each ends in the right way.

use std::time::{Duration, SystemTime};

use kitbag::connect::{RawCall, RawCallError, RawReply};
use kitbag::{ErrorKind, Kitbag, LinkState, ServerName};
use serde_json::json;

use super::farm::{Opens as _, Use as _, raw};
use super::{Farm, calm, said, until};

const CUTS: usize = if option_env!("KITBAG_FULL_TESTS").is_some() { 10_000 } else { 500 };

const STEPS: [&str; 6] = ["start", "handshake", "list", "request", "half", "answer"];

/// A small generator, so that a seed tells the whole run.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new() -> Self {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let seed = testkit::seed().unwrap_or(now.as_nanos() as u64 | 1);
        println!("seed: {seed} (KITBAG_SEED repeats it)");
        Self(seed)
    }

    /// The same rolls for the same seed, unlike those of the next one.
    pub(super) fn seeded(seed: u64) -> Self {
        let mut dice = Self((seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        for _ in 0..8 {
            dice.roll(2);
        }
        dice
    }

    pub(super) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides as u64) as usize
    }
}

fn name(step: &str, how: &str) -> String {
    format!("{step}-{how}")
}

fn ways() -> Vec<(&'static str, &'static str)> {
    STEPS.iter().flat_map(|step| [(*step, "kill"), (*step, "eof")]).collect()
}

pub(super) fn fast() -> kitbag::Limits {
    let mut limits = calm();
    limits.restart_first = Duration::from_millis(1);
    limits.restart_most = Duration::from_millis(4);
    limits
}

#[tokio::test]
async fn t18_no_call_runs_twice_wherever_the_connection_is_cut() {
    let mut dice = Dice::new();
    let farm = Farm::new();
    for (step, how) in ways() {
        let once = farm.house.at(&name(step, how));
        std::fs::write(&once, "not now").unwrap();
        farm.add(&name(step, how), &["--cut", &format!("{step}:{how}"), "--once", &once]);
    }
    let kit = farm.open(fast()).await;
    // Each way gets its share, in an order that the seed decides; four at a time keep both cores busy.
    let mut left: Vec<(&str, &str)> = ways().into_iter().cycle().take(CUTS).collect();
    for at in (1..left.len()).rev() {
        left.swap(at, dice.roll(at + 1));
    }
    let mut lanes: [Vec<_>; 4] = Default::default();
    for (number, (step, how)) in left.into_iter().enumerate() {
        // All cuts of one server in one lane: they must not mix.
        let lane = ways().iter().position(|way| *way == (step, how)).unwrap() % lanes.len();
        lanes[lane].push((number, step, how));
    }
    let [a, b, c, d] = &lanes;
    tokio::join!(run(&farm, &kit, a), run(&farm, &kit, b), run(&farm, &kit, c), run(&farm, &kit, d));
    let mut cuts = 0;
    for (step, how) in ways() {
        let name = name(step, how);
        cuts += farm.count(&name, "start") - 1;
        let mut tokens = farm.events(&name, "exec");
        let all = tokens.len();
        tokens.sort_unstable();
        tokens.dedup();
        assert_eq!(tokens.len(), all, "{name} executed a call twice");
    }
    assert!(CUTS <= cuts, "only {cuts} new starts after {CUTS} cuts");
    farm.close(kit).await;
}

async fn run(farm: &Farm, kit: &Kitbag, lane: &[(usize, &str, &str)]) {
    for (number, step, how) in lane {
        one(farm, kit, *number, step, how).await;
    }
}

/// One cut, what became of the call, and the call after it.
async fn one(farm: &Farm, kit: &Kitbag, number: usize, step: &str, how: &str) {
    let server = name(step, how);
    let once = farm.house.path(&server);
    let starts = farm.count(&server, "start");
    std::fs::remove_file(&once).unwrap();
    let before = matches!(step, "start" | "handshake" | "list");
    if before {
        // It happens in its next life, so this one has to end.
        let died = kit.ask(&server, "die", json!({"how": how})).await;
        assert_eq!(died.unwrap_err().kind, ErrorKind::OutcomeUnknown, "{server} {number}");
    }
    let token = format!("cut-{number}");
    let outcome = kit.ask(&server, "count", json!({"token": token})).await;
    let was_cut = until(Duration::from_secs(20), || once.exists()).await;
    assert!(was_cut, "{server} {number} was not cut: {outcome:?}");
    let ran = farm.count(&server, &format!("exec {token}"));
    let read = farm.count(&server, &format!("call count {token}"));
    judge(step, &outcome, &token, ran, read);
    // After a whole answer the end is not seen yet: what is sent into it would be lost, rightly.
    let renewed = || step != "answer" || starts < farm.count(&server, "start");
    assert!(until(Duration::from_secs(20), renewed).await, "{server} {number} was not started again");
    let after = format!("after-{number}");
    let next = kit.ask(&server, "count", json!({"token": after})).await;
    // Listing happens beside the calls: what is sent just before that cut may be lost with it.
    let lost = before && next.as_ref().is_err_and(|error| error.kind == ErrorKind::OutcomeUnknown);
    assert!(lost || next.as_ref().is_ok_and(|reply| said(reply) == after), "{server} {number}: {next:?}");
    kit.reaches(&server, LinkState::Ready).await;
}

#[track_caller]
fn judge(step: &str, outcome: &Result<RawReply, RawCallError>, token: &str, ran: usize, read: usize) {
    let kind = outcome.as_ref().map(said).map_err(|error| error.kind);
    match step {
        // Nothing had been said when it ended, so the call went to the next life.
        "start" | "handshake" => assert_eq!((kind, ran), (Ok(token.to_owned()), 1), "{step}"),
        // The call may have been on its way together with the list.
        "list" => match kind {
            Ok(text) => assert_eq!((text.as_str(), ran), (token, 1), "{step}"),
            Err(kind) => assert_eq!((kind, ran), (ErrorKind::OutcomeUnknown, 0), "{step}"),
        },
        "request" => assert_eq!((kind, ran, read), (Err(ErrorKind::OutcomeUnknown), 0, 1), "{step}"),
        "half" => assert_eq!((kind, ran, read), (Err(ErrorKind::OutcomeUnknown), 1, 1), "{step}"),
        _ => assert_eq!((kind, ran, read), (Ok(token.to_owned()), 1, 1), "{step}"),
    }
}

/// What the operator says may be repeated is, and only then.
#[tokio::test]
async fn s2_23_a_repeatable_call_is_made_again_after_a_cut() {
    let farm = Farm::new();
    for (step, how) in [("request", "kill"), ("request", "eof"), ("half", "kill"), ("half", "eof")] {
        let once = farm.house.at(&name(step, how));
        farm.add(&name(step, how), &["--cut", &format!("{step}:{how}"), "--once", &once]);
    }
    let kit = farm.open(fast()).await;
    for link in kit.links() {
        let arguments = raw(&json!({"token": "again"}));
        let call = RawCall { repeatable: true, ..RawCall::new("count", &arguments) };
        let server = ServerName::parse(link.name().as_str()).unwrap();
        let reply = kit.call_raw(&server, call).await;
        let reply = reply.unwrap_or_else(|error| panic!("{server}: {} {error}", error.kind.as_str()));
        assert_eq!((said(&reply).as_str(), reply.retries), ("again", 1), "{server}");
        let ran = if server.as_str().starts_with("half") { 2 } else { 1 };
        assert_eq!(farm.count(server.as_str(), "exec again"), ran, "{server}");
    }
    farm.close(kit).await;
}
