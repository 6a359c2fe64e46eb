//! Nothing outlives a link or a handle: a guard that is killed, a server that is stopped, a handle that is closed.

use std::time::Duration;

use kitbag::LinkState;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use testkit::proc;

use super::farm::{Opens as _, Use as _};
use super::{Farm, alone, calm, said, until};
use testkit::in_time;

const LONG: Duration = Duration::from_secs(30);

/// A living Kitbag does it at once, and starts the server again. One of the same name stays unharmed.
#[tokio::test]
async fn t01_a_killed_guard_takes_its_server_along_and_no_other() {
    let farm = Farm::of("x", &["--fault", "s13:hold"]);
    let other = Farm::of("x", &[]);
    let (kit, bystander) = (farm.open(calm()).await, other.open(calm()).await);
    let guard = kit.on("x").status().pid.unwrap();
    let first: Vec<u32> = farm.alive().into_iter().filter(|pid| *pid != guard).collect();
    assert_eq!(first.len(), 3);
    kill_process(Pid::from_raw(guard as i32).unwrap(), Signal::KILL).unwrap();
    assert!(until(LONG, || first.iter().all(|pid| !proc::alive(*pid))).await, "{:?}", farm.alive());
    // A call before its end is noticed would be lost with it.
    assert!(until(LONG, || kit.on("x").status().pid != Some(guard)).await, "{:?}", kit.on("x").status());
    let reply = kit.ask("x", "add", json!({"a": 2, "b": 3})).await;
    assert_eq!(said(&reply.unwrap()), "5");
    bystander.lives("x").await;
    farm.close(kit).await;
    other.close(bystander).await;
}

#[test]
fn t01_cycles_leave_no_process_and_no_descriptor() {
    if !alone("live::guards::t01_cycles_leave_no_process_and_no_descriptor") {
        return;
    }
    let cycles: usize = if option_env!("KITBAG_FULL_TESTS").is_some() { 1000 } else { 50 };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let good = Farm::of("x", &[]);
        let tree = Farm::of("x", &["--fault", "s13"]);
        let mut after_ten = 0;
        for cycle in 1..=cycles {
            round(&good).await;
            if cycle <= 20 {
                round(&tree).await;
            }
            let fds = proc::open_fds(std::process::id());
            if cycle == 10 {
                after_ten = fds.len();
            }
            if cycle == cycles {
                assert_eq!(fds.len(), after_ten, "{fds:?}");
            }
            assert_eq!(zombies(), Vec::<u32>::new(), "after cycle {cycle}");
        }
    });
}

async fn round(farm: &Farm) {
    let kit = farm.open(calm()).await;
    kit.lives("x").await;
    kit.close().await;
    assert_eq!(farm.alive(), Vec::<u32>::new(), "right after closing");
}

fn zombies() -> Vec<u32> {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let ours = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
        proc::zombie(*pid) && parent == Some(std::process::id())
    };
    pids.filter(ours).collect()
}

/// All at once: the slowest decides how long it takes. The deaf ones have a second each before they are ended; one
/// after the other they would outlast the time that closing has, and be left behind.
#[tokio::test]
async fn s3_15_closing_ends_all_servers_together_inside_five_seconds() {
    let farm = Farm::new();
    for number in 0..6 {
        farm.add(&format!("x{number}"), &["--fault", "s13:stubborn,hold"]);
    }
    for number in 0..40 {
        farm.add(&format!("deaf{number}"), &["--fault", "s12:list"]);
    }
    farm.add("good", &[]);
    let kit = farm.open(calm()).await;
    in_time(kit.close()).await;
    assert_eq!(farm.alive(), Vec::<u32>::new());
}

#[tokio::test]
async fn s3_15_one_link_can_be_ended_without_the_others() {
    let farm = Farm::of("a", &["--fault", "s13"]);
    farm.add("b", &[]);
    let kit = farm.open(calm()).await;
    kit.stop(&kitbag::ServerName::parse("a").unwrap()).await.unwrap();
    kit.reaches("a", LinkState::Stopped).await;
    let error = kit.ask("a", "add", json!({"a": 1, "b": 1})).await.unwrap_err();
    assert_eq!(error.kind, kitbag::ErrorKind::Unavailable, "{error}");
    let noted: Vec<u32> = [farm.events("a", "start"), farm.events("a", "child")]
        .concat()
        .iter()
        .map(|line| line.split(' ').nth(1).unwrap().parse().unwrap())
        .collect();
    assert!(until(LONG, || noted.iter().all(|pid| !proc::alive(*pid))).await);
    kit.lives("b").await;
    farm.close(kit).await;
}
