//! Connections to an address cut at every step of their life, with the server's process or without: no call runs
//! twice, each ends in the right way, and the next one works without anybody's help.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use kitbag::connect::{RawCall, RawCallError};
use kitbag::{ErrorKind, Kitbag, LinkState, ServerName};
use serde_json::json;
use testkit::Http;
use tokio::net::TcpSocket;

use super::cuts::{Dice, fast};
use super::farm::{Opens as _, Use as _, raw};
use super::{Farm, said, until};

/// A fifth of all, as there are five forms.
const CUTS: usize = if option_env!("KITBAG_FULL_TESTS").is_some() { 2_000 } else { 100 };

const STEPS: [&str; 8] = ["start", "handshake", "list", "listen", "request", "head", "half", "answer"];

/// The process ends, the connection is reset, or it ends as if all had been said.
const HOWS: [&str; 3] = ["kill", "rst", "fin"];

/// Which transport, which era, which form of answers.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Modern,
    ModernEvents,
    Legacy,
    LegacyEvents,
    OlderSse,
}

impl Form {
    fn args(self) -> &'static [&'static str] {
        match self {
            Self::Modern => &["--era", "modern", "--answer", "json"],
            Self::ModernEvents => &["--era", "modern", "--answer", "sse"],
            Self::Legacy => &["--era", "legacy", "--answer", "json"],
            Self::LegacyEvents => &["--era", "legacy", "--answer", "sse"],
            Self::OlderSse => &["--sse"],
        }
    }

    /// Whether an answer that broke off can be taken up again, while its server lives.
    fn resumes(self) -> bool {
        self == Self::LegacyEvents
    }
}

/// A server that is started again whenever it has ended, as a service would be.
struct Host {
    http: Mutex<Http>,
    is_held_down: AtomicBool,
    /// Bound and not listening: nobody else gets the port while the server is away, no client by chance either.
    _port: TcpSocket,
}

impl Host {
    fn start(args: &[&str]) -> Self {
        let mut http = Http::start(args);
        let address: SocketAddr = http.address().parse().unwrap();
        http.stop();
        let port = TcpSocket::new_v4().unwrap();
        port.set_reuseaddr(true).unwrap();
        port.bind(address).unwrap();
        http.start_again();
        Self { http: Mutex::new(http), is_held_down: AtomicBool::new(false), _port: port }
    }

    fn http<T>(&self, act: impl FnOnce(&mut Http) -> T) -> T {
        act(&mut self.http.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Ends it and keeps it from being started again until it is let.
    fn hold_down(&self) {
        self.is_held_down.store(true, Ordering::SeqCst);
        self.http(Http::stop);
    }

    fn let_up(&self) {
        self.is_held_down.store(false, Ordering::SeqCst);
    }

    fn keep(&self) {
        self.http(|http| {
            if !self.is_held_down.load(Ordering::SeqCst) && http.has_ended() {
                http.start_again();
            }
        });
    }
}

/// Servers that are kept running by a thread beside the test.
struct Service {
    farm: Farm,
    hosts: BTreeMap<String, Arc<Host>>,
    is_over: Arc<AtomicBool>,
    keeper: Option<JoinHandle<()>>,
}

impl Service {
    /// A server for each way to be cut.
    fn start(form: Form, ways: &[(&str, &str)], armed: bool) -> Self {
        let farm = Farm::new();
        let mut hosts = BTreeMap::new();
        for (step, how) in ways {
            let name = name(step, how);
            let once = farm.house.at(&name);
            if !armed {
                std::fs::write(&once, "not now").unwrap();
            }
            let (events, cut) = (farm.diary(&name), format!("{step}:{how}"));
            let own = ["--events", events.to_str().unwrap(), "--cut", &cut, "--once", &once];
            let host = Arc::new(Host::start(&[&own, form.args()].concat()));
            let kind = if form == Form::OlderSse { "sse" } else { "http" };
            farm.enter(&name, json!({"type": kind, "url": host.http(|http| http.url().to_owned())}));
            hosts.insert(name, host);
        }
        let is_over = Arc::new(AtomicBool::new(false));
        let keeper = {
            let (is_over, hosts): (_, Vec<_>) = (is_over.clone(), hosts.values().cloned().collect());
            std::thread::spawn(move || {
                testkit::wait_until(Duration::from_secs(3600), || {
                    hosts.iter().for_each(|host| host.keep());
                    is_over.load(Ordering::SeqCst)
                });
            })
        };
        Self { farm, hosts, is_over, keeper: Some(keeper) }
    }

    fn once(&self, server: &str) -> std::path::PathBuf {
        self.farm.house.path(server)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        let _ = self.keeper.take().map(JoinHandle::join);
    }
}

fn name(step: &str, how: &str) -> String {
    format!("{step}-{how}")
}

fn limits() -> kitbag::Limits {
    let mut limits = fast();
    limits.resume = Duration::from_millis(5);
    limits.refresh = Duration::from_millis(5);
    limits
}

#[tokio::test]
async fn t18_no_call_runs_twice_over_http_of_the_newer_era() {
    all(Form::Modern).await;
}

#[tokio::test]
async fn t18_no_call_runs_twice_over_http_of_the_newer_era_with_events() {
    all(Form::ModernEvents).await;
}

#[tokio::test]
async fn t18_no_call_runs_twice_over_http_of_the_older_era() {
    all(Form::Legacy).await;
}

#[tokio::test]
async fn t18_no_call_runs_twice_over_http_of_the_older_era_with_events() {
    all(Form::LegacyEvents).await;
}

#[tokio::test]
async fn t18_no_call_runs_twice_over_the_older_sse() {
    all(Form::OlderSse).await;
}

async fn all(form: Form) {
    let mut dice = Dice::new();
    let ways: Vec<_> = STEPS.iter().flat_map(|step| HOWS.map(|how| (*step, how))).collect();
    let service = Service::start(form, &ways, false);
    let kit = service.farm.open(limits()).await;
    let mut left: Vec<_> = ways.iter().copied().cycle().take(CUTS).collect();
    for at in (1..left.len()).rev() {
        left.swap(at, dice.roll(at + 1));
    }
    let mut lanes: [Vec<_>; 4] = Default::default();
    for (number, way) in left.into_iter().enumerate() {
        // All cuts of one server in one lane: they must not mix.
        let lane = ways.iter().position(|other| *other == way).unwrap() % lanes.len();
        lanes[lane].push((number, way));
    }
    // All that is wrong is told, not only the first.
    let run = async |lane: &[(usize, (&'static str, &'static str))]| {
        let mut wrong = Vec::new();
        for (number, way) in lane {
            wrong.extend(one(&service, &kit, form, *number, *way).await.err());
        }
        wrong
    };
    let [a, b, c, d] = &lanes;
    let wrong = <[_; 4]>::from(tokio::join!(run(a), run(b), run(c), run(d))).concat();
    assert!(wrong.is_empty(), "{} of {CUTS}:\n{}", wrong.len(), wrong.join("\n"));
    for name in service.hosts.keys() {
        let mut tokens = service.farm.events(name, "exec");
        let all = tokens.len();
        tokens.sort_unstable();
        tokens.dedup();
        assert_eq!(tokens.len(), all, "{name} executed a call twice");
        // A list may be on its way; it comes back.
        let link = kit.on(name);
        assert!(
            until(Duration::from_secs(20), || link.in_flight() == 0).await,
            "{name}: {}",
            link.in_flight()
        );
    }
    kit.close().await;
}

/// One cut, what became of the call, and the call after it; what is wrong with them.
async fn one(
    service: &Service,
    kit: &Kitbag,
    form: Form,
    number: usize,
    (step, how): (&str, &str),
) -> Result<(), String> {
    let server = name(step, how);
    let once = service.once(&server);
    let token = format!("cut-{number}");
    let starts = service.farm.count(&server, "start");
    let begins = matches!(step, "start" | "handshake" | "list" | "listen");
    let call = kit.ask(&server, "count", json!({"token": token}));
    let outcome = if begins {
        // It happens when a conversation begins, so this one has to end, and not by that cut.
        let host = &service.hosts[&server];
        host.hold_down();
        std::fs::remove_file(&once).unwrap();
        let link = kit.on(&server);
        let back = async {
            let noticed = until(Duration::from_secs(20), || link.status().state != LinkState::Ready).await;
            host.let_up();
            assert!(noticed, "{server} {number}: nobody noticed that it is gone");
        };
        tokio::join!(call, back).0
    } else {
        std::fs::remove_file(&once).unwrap();
        call.await
    };
    let was_cut = until(Duration::from_secs(20), || once.exists()).await;
    assert!(was_cut, "{server} {number} was not cut: {outcome:?}");
    let seen = Seen {
        kind: outcome.as_ref().map(said).map_err(|error| error.kind),
        ran: service.farm.count(&server, &format!("exec {token}")),
        read: service.farm.count(&server, &format!("call count {token}")),
    };
    let right = seen.is_right(form, (step, how), &token);
    let after = format!("after-{number}");
    if how == "kill" {
        let again = || starts + usize::from(begins) < service.farm.count(&server, "start");
        assert!(until(Duration::from_secs(20), again).await, "{server} {number} was not started again");
    }
    let mut next = kit.ask(&server, "count", json!({"token": after})).await;
    // Before the end of a connection shows, what is sent into it is lost, rightly; what is sent then is not.
    let is_early = how != "kill" && (step == "answer" || may_meet_another(form, (step, how)));
    if is_early && is_unknown(&next) {
        next = kit.ask(&server, "count", json!({"token": after.clone() + "-again"})).await;
    }
    let works = next.as_ref().is_ok_and(|reply| said(reply).starts_with(&after));
    kit.reaches(&server, LinkState::Ready).await;
    if right && works {
        return Ok(());
    }
    Err(format!("{server} {number}: {seen:?} {:?}, then {next:?}", outcome.err().map(|error| error.message)))
}

/// What became of a call, and what its server saw of it.
#[derive(Debug)]
struct Seen {
    kind: Result<String, ErrorKind>,
    ran: usize,
    read: usize,
}

impl Seen {
    fn is_right(&self, form: Form, way: (&str, &str), token: &str) -> bool {
        let good = self.kind.as_ref().is_ok_and(|said| said == token) && self.ran == 1;
        let unknown = self.kind.as_ref().is_err_and(|kind| *kind == ErrorKind::OutcomeUnknown);
        match way {
            ("request", _) => unknown && (self.ran, self.read) == (0, 1),
            ("head" | "half", "rst" | "fin") if form.resumes() => good && self.read == 1,
            ("head" | "half", _) => unknown && (self.ran, self.read) == (1, 1),
            ("answer", _) => good && self.read == 1,
            // Nothing had been said that could be lost.
            ("start", "rst" | "fin") if unknown => (self.ran, self.read) == (0, 0),
            // Two ends may meet one call, and one that is refused twice before anybody read it is told so.
            _ if may_meet_another(form, way) => {
                let away = self.kind.as_ref().is_err_and(|kind| *kind == ErrorKind::Unavailable);
                good || unknown && self.ran <= 1 || away && (self.ran, self.read) == (0, 0)
            }
            _ => good,
        }
    }
}

/// Whether a cut that is meant for something beside a call may meet the call, too: it takes the process away from
/// it, or the one stream that brings all answers, or whatever connects first.
fn may_meet_another(form: Form, way: (&str, &str)) -> bool {
    match way {
        ("start", _) | ("list", "kill") => true,
        ("listen", "kill") => form != Form::OlderSse,
        ("list", _) => form == Form::OlderSse,
        _ => false,
    }
}

fn is_unknown<T>(outcome: &Result<T, RawCallError>) -> bool {
    outcome.as_ref().is_err_and(|error| error.kind == ErrorKind::OutcomeUnknown)
}

/// What the operator says may be repeated is, and only then.
#[tokio::test]
async fn s2_23_a_repeatable_call_over_http_is_made_again_after_a_cut() {
    for form in [Form::Modern, Form::ModernEvents, Form::Legacy, Form::LegacyEvents, Form::OlderSse] {
        let ways: Vec<_> =
            ["request", "half"].into_iter().flat_map(|step| HOWS.map(|how| (step, how))).collect();
        let service = Service::start(form, &ways, true);
        let kit = service.farm.open(limits()).await;
        for (step, how) in ways {
            let name = name(step, how);
            let server = ServerName::parse(&name).unwrap();
            let arguments = raw(&json!({"token": "again"}));
            let call = RawCall { repeatable: true, ..RawCall::new("count", &arguments) };
            let reply = kit.call_raw(&server, call).await;
            let reply = reply.unwrap_or_else(|error| panic!("{name}: {} {error}", error.kind.as_str()));
            let resumed = form.resumes() && step == "half" && how != "kill";
            assert_eq!(said(&reply), "again", "{name}");
            // Once because it was lost, and more often if nobody was there to take it then.
            let retries = if resumed { 0..=0 } else { 1..=4 };
            assert!(retries.contains(&reply.retries), "{name}: {}", reply.retries);
            let ran = if step == "half" && !resumed { 2 } else { 1 };
            assert_eq!(service.farm.count(&name, "exec again"), ran, "{name}");
        }
        kit.close().await;
    }
}

/// A list whose connection breaks off is asked for again, also when there is none yet.
#[tokio::test]
async fn a_list_that_broke_off_over_http_is_asked_for_again() {
    let ways = [("list", "rst"), ("list", "fin")];
    for form in [Form::Modern, Form::Legacy, Form::OlderSse] {
        let service = Service::start(form, &ways, true);
        let kit = service.farm.open(limits()).await;
        for (step, how) in ways {
            let server = name(step, how);
            kit.reaches(&server, LinkState::Ready).await;
            assert!(service.once(&server).exists(), "{server} was not cut");
            assert!(!kit.on(&server).tools().tools.is_empty(), "{server}");
        }
        kit.close().await;
    }
}
