//! Nothing outlives us: however a server, its guard or Kitbag ends.

use std::os::unix::process::CommandExt as _;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use testkit::proc;

use super::Farm;
use crate::house::Runs as _;

const TREES: [&str; 5] = ["s13", "s13:stubborn", "s13:hold", "s13:bare", "s13:stubborn,hold,bare"];
const LONG: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Normal,
    Int,
    Term,
    Kill,
    KillGroup,
}

fn pid(child: &Child) -> Pid {
    Pid::from_child(child)
}

/// `kitbag call` in the middle of a long call, in a group of its own.
fn in_a_call(farm: &Farm) -> Child {
    let mut command = farm.house.ask(&["call", "x/sleep", "ms=600000", "--wait", "60s"]).command();
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().unwrap();
    assert!(testkit::wait_until(LONG, || farm.count("x", "call sleep") == 1), "the call was not made");
    // The server, its child and its orphaned grandchild.
    assert_eq!(farm.count("x", "start") + farm.count("x", "child"), 3);
    child
}

/// The one process between Kitbag and the server.
fn guard_of(child: &Child, farm: &Farm) -> Pid {
    let server: u32 = farm.events("x", "start")[0].split(' ').nth(1).unwrap().parse().unwrap();
    let mut guards = proc::descendants(child.id());
    guards.retain(|pid| proc::descendants(*pid).contains(&server));
    assert_eq!(guards.len(), 1, "one guard between Kitbag and the server");
    Pid::from_raw(guards[0] as i32).unwrap()
}

fn check(tree: &str, end: End) {
    let farm = Farm::of("x", &["--fault", tree]);
    if end == End::Normal {
        farm.house.run(&["call", "x/add", "a=2", "b=3", "--wait", "60s"]).exits(0);
        assert_eq!(farm.count("x", "child"), 2);
        return farm.is_empty();
    }
    let mut child = in_a_call(&farm);
    let sent = match end {
        End::Int => kill_process(pid(&child), Signal::INT),
        End::Term => kill_process(pid(&child), Signal::TERM),
        End::Kill => kill_process(pid(&child), Signal::KILL),
        _ => kill_process_group(pid(&child), Signal::KILL),
    };
    sent.unwrap();
    let code = child.wait().unwrap().code();
    let expected = matches!(end, End::Int | End::Term).then_some(130);
    assert_eq!(code, expected, "{tree} {end:?}");
    farm.is_empty();
}

/// Ends a process that is stuck by a signal; says whether it was gone in time. It is killed otherwise.
fn ends_by(signal: Signal, mut child: Child) -> bool {
    kill_process(pid(&child), signal).unwrap();
    let is_gone = testkit::wait_until(LONG, || child.try_wait().unwrap().is_some());
    let _ = child.kill();
    is_gone && child.wait().unwrap().code() == Some(130)
}

/// Whether a thread of a process waits in this part of the kernel.
fn waits_in(child: &Child, place: &str) -> bool {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", child.id())).into_iter().flatten().flatten();
    let mut places = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("wchan")).ok());
    places.any(|found| found.contains(place))
}

/// The runtime's only thread is stuck in a write that nobody reads, with a server running.
#[test]
fn f4_a_signal_ends_a_process_that_is_stuck_in_a_write() {
    for signal in [Signal::TERM, Signal::INT] {
        let farm = Farm::of("x", &[]);
        farm.settings("[limits]\nwait_signal = \"100ms\"\n");
        let mut command =
            farm.house.ask(&["call", "x/big", "bytes=4000000", "--full", "--wait", "60s"]).command();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let child = command.spawn().unwrap();
        assert!(testkit::wait_until(LONG, || farm.count("x", "call big") == 1), "the call was not made");
        assert!(testkit::wait_until(LONG, || waits_in(&child, "pipe_write")), "nothing was written");
        assert!(ends_by(signal, child), "{signal:?}");
        farm.is_empty();
    }
}

/// A tool of the program itself is stuck in the reading of a pipe that nobody writes to.
#[test]
fn f4_a_signal_ends_a_process_whose_own_tool_hangs() {
    let farm = Farm::new();
    // The orderly way is free, so it is not the bound that ends it.
    farm.settings("[limits]\nwait_signal = \"5m\"\n");
    let mut command = farm.house.ask(&["--demo", "call", "folder", "path=pipe"]).command();
    let pipe = command.get_current_dir().unwrap().join("pipe");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).unwrap();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().unwrap();
    assert!(testkit::wait_until(LONG, || waits_in(&child, "wait_for_partner")), "the tool was not called");
    assert!(ends_by(Signal::TERM, child));
}

#[test]
fn t01_nothing_is_left_however_kitbag_ends() {
    let ends = [End::Normal, End::Int, End::Term, End::Kill, End::KillGroup];
    thread::scope(|scope| {
        for end in ends {
            scope.spawn(move || TREES.iter().for_each(|tree| check(tree, end)));
        }
    });
}

/// With Kitbag and the guard both killed there is nobody left to clear up, until the next start.
#[test]
fn t01_what_a_killed_guard_leaves_is_swept_at_the_next_start() {
    let farm = Farm::of("x", &["--fault", "s13"]);
    let mut child = in_a_call(&farm);
    // Stopped first: it would notice, and sweep by itself.
    kill_process(pid(&child), Signal::STOP).unwrap();
    kill_process(guard_of(&child, &farm), Signal::KILL).unwrap();
    kill_process(pid(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    let other = Farm::new();
    other.house.run(&["status"]).exits(0);
    farm.is_empty();
}

/// A guard that is still clearing up after a killed Kitbag is not taken for something left behind: it alone
/// knows of the grandchild that carries no marker.
#[test]
fn t01_a_start_elsewhere_leaves_guards_to_their_work() {
    let farm = Farm::of("x", &["--fault", "s13:stubborn,hold,bare"]);
    let mut child = in_a_call(&farm);
    let guard = guard_of(&child, &farm);
    // Held up, as on a busy machine, until the other start is over.
    kill_process(guard, Signal::STOP).unwrap();
    kill_process(pid(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    Farm::new().house.run(&["status"]).exits(0);
    kill_process(guard, Signal::CONT).unwrap();
    farm.is_empty();
}
