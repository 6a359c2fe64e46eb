//! Steady links: lists are asked for no more often than they need be, connections that a server closes cost nothing,
//! and one connection that cannot be made costs its own call alone.

use std::time::Duration;

use kitbag::{ErrorKind, Kitbag, LinkState};
use serde_json::json;

use super::farm::{Opens as _, Use as _};
use super::{Farm, Hosted, calm, names, said, until};
use testkit::Since;

const LONG: Duration = Duration::from_secs(30);
const HOUR: Duration = Duration::from_secs(3600);

async fn call_often(kit: &Kitbag, times: usize) {
    for _ in 0..times {
        kit.ask("x", "add", json!({"a": 2, "b": 3})).await.unwrap();
    }
}

/// A server as a program or at an address.
enum Either {
    Program(Farm),
    Address(Hosted),
}

impl Either {
    fn both(args: &[&str]) -> [Self; 2] {
        [Self::Program(Farm::of("x", args)), Self::Address(Hosted::of("x", args))]
    }

    fn farm(&self) -> &Farm {
        match self {
            Self::Program(farm) | Self::Address(Hosted { farm, .. }) => farm,
        }
    }

    fn lists(&self) -> usize {
        self.farm().count("x", "list")
    }

    async fn close(&self, kit: Kitbag) {
        match self {
            Self::Program(farm) => farm.close(kit).await,
            Self::Address(hosted) => hosted.close(kit).await,
        }
    }
}

#[tokio::test]
async fn f80_a_list_that_never_holds_is_not_asked_for_all_the_time() {
    for server in Either::both(&["--era", "modern", "--no-changes", "--ttl", "0", "--page", "5"]) {
        let mut limits = calm();
        (limits.refresh, limits.poll) = (Duration::from_millis(1), HOUR);
        let began = Since::now();
        let kit = server.farm().open(limits).await;
        kit.reaches("x", LinkState::Ready).await;
        let pages = server.lists();
        call_often(&kit, 500).await;
        // Every wait is twice as long as the one before, so this holds however slow the machine is.
        let rounds = 2 + (began.periods(Duration::from_millis(1)) + 1).ilog2() as usize;
        let lists = server.lists();
        assert!(lists <= rounds * pages, "{lists} requests for {pages} pages, more than {rounds} times");
        server.close(kit).await;
    }
}

#[tokio::test]
async fn f24_a_server_that_tells_of_changes_is_not_asked() {
    for era in ["legacy", "modern"] {
        for server in Either::both(&["--era", era, "--ttl", "0", "--fault", "c15"]) {
            let mut limits = calm();
            (limits.refresh, limits.poll) = (Duration::from_millis(1), Duration::from_millis(1));
            let kit = server.farm().open(limits).await;
            kit.reaches("x", LinkState::Ready).await;
            // A newer server says that it will tell some time after the first list.
            let mut is_quiet = false;
            for _ in 0..20 {
                let before = server.lists();
                call_often(&kit, 100).await;
                is_quiet = before == server.lists();
                if is_quiet {
                    break;
                }
            }
            assert!(is_quiet, "{era}: {} lists", server.lists());
            kit.call("mcp_x_add_tool", "{}").await.unwrap();
            let is_there = || names(&kit.own_view()).contains(&"mcp_x_added_1".to_owned());
            assert!(until(LONG, is_there).await, "{era}");
            server.close(kit).await;
        }
    }
}

/// One says nothing of changes; the other would, but there is nothing it could say it on.
#[tokio::test]
async fn f24_a_server_that_cannot_tell_of_changes_is_asked_slowly() {
    let silent = ["--era", "legacy", "--no-changes", "--fault", "c15:quiet"];
    let unheard = ["--era", "legacy", "--stateless", "--fault", "c15"];
    let newer = ["--era", "modern", "--ttl", "none", "--no-changes", "--fault", "c15:quiet"];
    let [program, address] = Either::both(&silent);
    let [newer, _] = Either::both(&newer);
    for server in [program, address, newer, Either::Address(Hosted::of("x", &unheard))] {
        let mut limits = calm();
        limits.poll = Duration::from_millis(50);
        let kit = server.farm().open(limits).await;
        kit.reaches("x", LinkState::Ready).await;
        kit.call("mcp_x_add_tool", "{}").await.unwrap();
        let is_there = || names(&kit.own_view()).contains(&"mcp_x_added_1".to_owned());
        assert!(until(LONG, is_there).await);
        server.close(kit).await;
    }
}

/// Servers of many makes close a connection five seconds after its last answer; here all is fifty times as fast.
#[tokio::test]
async fn f24_calls_across_the_moment_a_server_closes_idle_connections_are_not_lost() {
    const LANES: usize = 10;
    for era in ["modern", "legacy"] {
        let args = ["--era", era, "--idle", "100", "--no-changes", "--ttl", "0"];
        let hosted = Hosted::of("x", &args);
        // Another server, whose answers come when they are meant to.
        hosted.farm.add("pace", &[]);
        let mut limits = calm();
        limits.http_idle /= 50;
        let kit = hosted.farm.open(limits).await;
        kit.reaches("x", LinkState::Ready).await;
        let lane = |lane: usize| {
            let kit = kit.clone();
            async move {
                let mut tokens = Vec::new();
                for number in 0..20 {
                    let token = format!("{lane}-{number}");
                    let reply = kit.ask("x", "count", json!({"token": token})).await;
                    assert_eq!(kit.on("x").status().state, LinkState::Ready, "{reply:?}");
                    tokens.push((token, reply));
                    // Before, at and after the moment in which the connection is closed.
                    let idle = 60 + 7 * ((3 * lane + number) % LANES);
                    kit.ask("pace", "sleep", json!({"ms": idle})).await.unwrap();
                }
                tokens
            }
        };
        let outcomes = futures_util::future::join_all((0..LANES).map(lane)).await;
        for (token, reply) in outcomes.into_iter().flatten() {
            assert!(reply.is_ok(), "{era} {token}: {reply:?}");
            assert_eq!(hosted.farm.count("x", &format!("exec {token}")), 1, "{era} {token}");
        }
        assert!(0 < hosted.farm.count("x", "idle-close"), "{era}: none was closed");
        hosted.close(kit).await;
        assert_eq!(hosted.farm.log("x"), "", "{era}: it was well all the time");
        assert_eq!(hosted.farm.count("x", "session"), usize::from(era == "legacy"), "{era}");
    }
}

#[tokio::test]
async fn f19_a_connection_that_cannot_be_made_fails_its_own_call_alone() {
    for (kind, args) in [
        ("http", &["--era", "modern"][..]),
        ("http", &["--era", "legacy"]),
        ("http", &["--era", "legacy", "--answer", "sse"]),
        ("sse", &["--sse"]),
    ] {
        let hosted = Hosted::new();
        let door = hosted.farm.house.at("door");
        hosted.add("x", &[args, &["--door", &door]].concat(), &json!({"type": kind}));
        let mut limits = calm();
        // Every call makes a connection of its own, and what is over is over at once.
        (limits.http_idle, limits.wait_end) = (Duration::from_nanos(1), Duration::from_millis(20));
        limits.restart_first = Duration::from_millis(5);
        let kit = hosted.farm.open(limits).await;
        kit.lives("x").await;
        let healthy = kit.ask("x", "sleep", json!({"ms": 2000}));
        let others = async {
            assert!(until(LONG, || hosted.farm.count("x", "call sleep") == 1).await);
            std::fs::write(&door, "shut").unwrap();
            let address = hosted.address("x");
            assert!(until(LONG, || std::net::TcpStream::connect(&address).is_err()).await);
            let error = kit.ask("x", "echo", json!({"message": "a"})).await.unwrap_err();
            assert_eq!(error.kind, ErrorKind::Unavailable, "{args:?}: {error}");
            assert_eq!(kit.on("x").status().state, LinkState::Ready, "{args:?}");
            std::fs::remove_file(&door).unwrap();
            assert!(until(LONG, || std::net::TcpStream::connect(&address).is_ok()).await);
            kit.lives("x").await;
        };
        let (healthy, ()) = tokio::join!(healthy, others);
        let healthy = healthy.unwrap_or_else(|error| panic!("{args:?}: {error}"));
        assert_eq!(said(&healthy), "slept 2000 ms", "{args:?}");
        kit.lives("x").await;
        hosted.close(kit).await;
    }
}

/// With nothing in flight that shows that it is there, a server that cannot be reached is gone, and found again.
#[tokio::test]
async fn f19_a_server_that_is_gone_is_noticed_and_found_again() {
    for (kind, args) in
        [("http", &["--era", "modern"][..]), ("http", &["--era", "legacy"]), ("sse", &["--sse"])]
    {
        let hosted = Hosted::new();
        hosted.add("x", args, &json!({"type": kind}));
        let kit = hosted.farm.open(calm()).await;
        kit.lives("x").await;
        let lost = kit.ask("x", "sleep", json!({"ms": 3_600_000}));
        let crash = async {
            assert!(until(LONG, || hosted.farm.count("x", "call sleep") == 1).await);
            hosted.crash("x");
        };
        let (lost, ()) = tokio::join!(lost, crash);
        assert_eq!(lost.unwrap_err().kind, ErrorKind::OutcomeUnknown, "{args:?}");
        kit.reaches("x", LinkState::Reconnecting).await;
        hosted.again("x");
        kit.reaches("x", LinkState::Ready).await;
        hosted.close(kit).await;
    }
}

#[tokio::test]
async fn f82_a_line_on_stderr_that_does_not_end_is_in_the_log_while_its_server_runs() {
    const SECRET: &str = "planted-5ecret-0f-the-1ine";
    let farm = Farm::new();
    farm.add_with("x", &["--fault", "s04:8,line"], &json!({"env": {"FAKE_SECRET": SECRET}}));
    let mut limits = calm();
    limits.stderr_pause /= 50;
    let kit = farm.open(limits).await;
    assert!(until(LONG, || farm.log("x").contains("the last words")).await, "{}", farm.log("x"));
    kit.lives("x").await;
    let logs = farm.log("x");
    assert!(logs.starts_with("the first words ...") && logs.ends_with(" the last words\n"), "{logs}");
    assert!(logs.lines().count() <= 4 && logs.len() < 20_000, "{} bytes", logs.len());
    assert!(logs.contains("key ***") && !logs.contains("planted"), "{logs}");
    farm.close(kit).await;
}
