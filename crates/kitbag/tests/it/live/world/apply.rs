//! f7 and f14: a setup made in code is what runs, at the start and later, in its own environment, and nothing else
//! does.

use std::time::Duration;

use kitbag::spec::ServerTarget;
use kitbag::{ApplyError, Env, ErrorKind, Kitbag, LinkState, ServerName, ServerSpec, Setup};

use super::super::farm::{Opens as _, Use as _, first};
use super::super::{Farm, calm, until};
use super::{LONG, listed, pid, server, user, variable};

/// A fake server described in code.
fn spec(farm: &Farm, name: &str, args: &[&str]) -> ServerSpec {
    let events = farm.diary(name);
    let all = ["--events", events.to_str().unwrap()].into_iter().chain(args.iter().copied());
    let fake = testkit::bin("fake-mcp");
    ServerSpec::program(ServerName::parse(name).unwrap(), fake.to_str().unwrap(), all)
}

fn of(farm: &Farm, specs: Vec<ServerSpec>) -> Setup {
    Setup::from_specs(farm.env(), specs)
}

async fn gone(farm: &Farm, pid: &str) -> bool {
    let _ = farm;
    let pid = pid.parse().unwrap();
    until(LONG, || !testkit::proc::alive(pid)).await
}

#[tokio::test]
async fn f7_a_world_of_no_servers_stays_one() {
    let farm = Farm::of("configured", &[]);
    let (kit, _) = Kitbag::open_with(of(&farm, Vec::new()), farm.options(calm())).await.unwrap();
    for _ in 0..2 {
        let faults = kit.reload().await.unwrap();
        assert!(faults.is_empty(), "{faults:?}");
        kit.wait(LONG).await;
        assert_eq!((kit.links().len(), kit.status().len()), (0, 0), "{:?}", kit.status());
        assert_eq!(listed(&kit.own_view()), Vec::<String>::new());
    }
    kit.restart(&server("configured")).await.unwrap_err();
    assert_eq!(farm.count("configured", "start"), 0);
    farm.close(kit).await;
}

#[tokio::test]
async fn f7_servers_of_code_come_change_and_go() {
    let farm = Farm::of("configured", &[]);
    let (kit, _) = Kitbag::open_with(of(&farm, Vec::new()), farm.options(calm())).await.unwrap();
    kit.apply(of(&farm, vec![spec(&farm, "a", &[]), spec(&farm, "b", &[])])).await.unwrap();
    kit.wait(LONG).await;
    let (a, b) = (pid(&kit, "a").await, pid(&kit, "b").await);
    // One is replaced, one stays, one is new; a reload changes nothing about it.
    let next = || vec![spec(&farm, "a", &["--tools", "1"]), spec(&farm, "b", &[]), spec(&farm, "c", &[])];
    kit.apply(of(&farm, next())).await.unwrap();
    kit.reload().await.unwrap();
    kit.wait(LONG).await;
    assert!(gone(&farm, &a).await);
    assert_eq!(pid(&kit, "b").await, b);
    assert_eq!((farm.count("a", "start"), farm.count("b", "start"), farm.count("c", "start")), (2, 1, 1));
    assert!(until(LONG, || listed(&kit.own_view()).contains(&"mcp_a_extra_0001".to_owned())).await);
    kit.lives("c").await;
    kit.apply(of(&farm, vec![spec(&farm, "b", &[])])).await.unwrap();
    for name in ["mcp_a_echo", "mcp_c_echo"] {
        assert_eq!(
            kit.call(name, r#"{"message":"hi"}"#).await.unwrap_err().kind,
            ErrorKind::NotFound,
            "{name}"
        );
    }
    assert_eq!(first(&kit.call("mcp_b_add", r#"{"a":1,"b":2}"#).await.unwrap()), "3");
    kit.apply(of(&farm, Vec::new())).await.unwrap();
    assert!(gone(&farm, &b).await);
    assert_eq!(farm.count("configured", "start"), 0);
    farm.close(kit).await;
}

#[tokio::test]
async fn f7_another_users_setup_is_refused() {
    let farm = Farm::of("x", &[]);
    farm.settings("[users.ada]\n");
    let kit = farm.open(calm()).await;
    let before = pid(&kit, "x").await;
    let theirs = || of(&farm, vec![spec(&farm, "hers", &[])]).for_user(user("ada"));
    for setup in [theirs(), super::setup_of(&farm, "ada")] {
        let error = kit.apply(setup).await.unwrap_err();
        assert!(matches!(&error, ApplyError::OtherUser { other, .. } if *other == user("ada")), "{error}");
    }
    assert_eq!(pid(&kit, "x").await, before);
    assert_eq!(farm.count("hers", "start"), 0);
    farm.close(kit).await;
    // Hers is taken by her own.
    let (kit, _) = Kitbag::open_with(theirs(), farm.options(calm())).await.unwrap();
    assert_eq!(kit.user(), &user("ada"));
    kit.apply(theirs()).await.unwrap();
    kit.reload().await.unwrap();
    assert_eq!(farm.count("hers", "start"), 1);
    farm.close(kit).await;
}

#[tokio::test]
async fn f7_a_closed_handle_stays_closed() {
    let farm = Farm::of("x", &[]);
    let kit = farm.open(calm()).await;
    let (clone, view) = (kit.clone(), kit.own_view());
    kit.lives("x").await;
    farm.close(kit).await;
    assert!(matches!(clone.apply(of(&farm, vec![spec(&farm, "late", &[])])).await, Err(ApplyError::Closed)));
    assert!(matches!(clone.reload().await, Err(ApplyError::Closed)));
    assert!(matches!(clone.restart(&server("x")).await, Err(ApplyError::Closed)));
    let call = || kitbag::ToolCall::new("mcp_x_echo", r#"{"message":"hi"}"#);
    for view in [view, clone.own_view()] {
        let ended = tokio::time::timeout(Duration::from_secs(20), clone.call_tool(&view, call())).await;
        assert_eq!(ended.unwrap().unwrap_err().kind, ErrorKind::Unavailable);
    }
    assert_eq!((farm.count("x", "start"), farm.count("late", "start")), (1, 0));
    farm.is_empty();
}

/// The same with a variable that is passed on by name.
fn passing(mut spec: ServerSpec, name: &str) -> ServerSpec {
    if let ServerTarget::Stdio(program) = &mut spec.link {
        program.pass.push(name.to_owned());
    }
    spec
}

#[tokio::test]
async fn f14_another_environment_restarts_the_servers_it_reaches() {
    let farm = Farm::new();
    let specs = |env: &Env| {
        let specs = vec![passing(spec(&farm, "a", &[]), "TOKEN"), spec(&farm, "b", &[])];
        Setup::from_specs(env.clone(), specs)
    };
    let one = farm.env().with("TOKEN", "one");
    let (kit, _) = Kitbag::open_with(specs(&one), farm.options(calm())).await.unwrap();
    assert_eq!(variable(&kit, "a", "TOKEN").await, "one");
    let two = farm.env().with("TOKEN", "two");
    let other = two.clone().with("OTHER", "x");
    let zone = other.clone().with("TZ", "Asia/Tokyo");
    let vars = farm.house.vars().into_iter().map(|(name, value)| (name.into(), value.into()));
    let elsewhere = Env::new(vars, farm.house.path("home")).with("TOKEN", "two").with("TZ", "Asia/Tokyo");
    let moved = elsewhere.clone().with("KITBAG_HOME", &farm.house.at("moved"));
    for (what, env, restarts) in [
        ("the same again", one, [false, false]),
        ("a variable that one passes on", two, [true, false]),
        ("one that nobody gets", other, [false, false]),
        ("one that everybody gets", zone, [true, true]),
        ("another working folder", elsewhere, [true, true]),
        ("other folders of ours", moved, [true, true]),
    ] {
        let before = [pid(&kit, "a").await, pid(&kit, "b").await];
        kit.apply(specs(&env)).await.unwrap();
        kit.wait(LONG).await;
        let after = [pid(&kit, "a").await, pid(&kit, "b").await];
        assert_eq!([before[0] != after[0], before[1] != after[1]], restarts, "{what}");
        assert_eq!(variable(&kit, "a", "TOKEN").await, env.get("TOKEN").unwrap(), "{what}");
        assert_eq!(variable(&kit, "b", "TZ").await, env.get("TZ").unwrap_or_default(), "{what}");
    }
    assert!(farm.house.path("moved/state/logs/b.log").exists());
    farm.close(kit).await;
}

#[tokio::test]
async fn f14_a_program_is_looked_for_where_the_environment_says_now() {
    let farm = Farm::new();
    let here = ServerSpec::program(server("here"), "only-here", ["--era", "modern"]);
    let (kit, _) = Kitbag::open_with(of(&farm, vec![here.clone()]), farm.options(calm())).await.unwrap();
    assert_eq!(kit.on("here").status().state, LinkState::Failed);
    let folder = farm.house.path("bin");
    std::fs::create_dir(&folder).unwrap();
    std::os::unix::fs::symlink(testkit::bin("fake-mcp"), folder.join("only-here")).unwrap();
    let path = format!("{}:{}", farm.house.at("bin"), farm.env().get("PATH").unwrap());
    kit.apply(Setup::from_specs(farm.env().with("PATH", &path), vec![here])).await.unwrap();
    kit.reaches("here", LinkState::Ready).await;
    farm.close(kit).await;
}
