//! The process tree of s13, and the eyes that tests see it with.

use std::fs;
use std::time::Duration;

use rustix::process::{Pid, Signal, getsid, kill_process};
use serde_json::json;
use tempfile::TempDir;
use testkit::proc;

use crate::peer::{PATIENCE, Peer, command};

fn signal(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    let _ = kill_process(pid, signal);
}

struct Tree {
    peer: Peer,
    child: u32,
    stray: u32,
    events: TempDir,
}

impl Tree {
    fn start(spec: &str, marker: &str) -> Self {
        let events = TempDir::new().unwrap();
        let path = events.path().join("events").display().to_string();
        let mut command = command(&["--fault", spec, "--events", &path]);
        command.env("TESTKIT_TREE", marker);
        let mut peer = Peer::spawn(command);
        peer.initialize("2025-11-25");
        let text = fs::read_to_string(&path).unwrap();
        let mut pids = text.lines().filter_map(|line| line.strip_prefix("child ")?.parse().ok());
        let (child, stray) = (pids.next().unwrap(), pids.next().unwrap());
        Self { peer, child, stray, events }
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        for pid in [self.child, self.stray] {
            signal(pid, Signal::KILL);
            assert!(testkit::wait_until(PATIENCE, || !proc::alive(pid)), "{pid} is left");
        }
    }
}

#[test]
fn s13_leaves_a_tree() {
    let marker = format!("tree-{}", std::process::id());
    let mut tree = Tree::start("s13", &marker);
    let server = tree.peer.child.id();
    assert_eq!(proc::descendants(server), [tree.child], "the stray one has lost its parent");
    let mut marked = proc::with_env_marker("TESTKIT_TREE", &marker);
    marked.sort_unstable();
    let mut all = vec![server, tree.child, tree.stray];
    all.sort_unstable();
    assert_eq!(marked, all);
    let stray = Pid::from_raw(i32::try_from(tree.stray).unwrap());
    assert_eq!(getsid(stray).ok(), stray, "a session of its own");
    signal(tree.stray, Signal::TERM);
    assert_eq!(tree.peer.text("add", json!({ "a": 1, "b": 1 })), "2");
    tree.peer.close_stdin();
    assert!(testkit::wait_until(PATIENCE, || !proc::alive(server)));
    assert!(proc::zombie(server), "nobody has waited for it yet");
    assert!(proc::alive(tree.child) && proc::alive(tree.stray), "they outlive the server and TERM");
    signal(tree.child, Signal::TERM);
    assert!(testkit::wait_until(PATIENCE, || !proc::alive(tree.child)));
}

#[test]
fn s13_modes() {
    let mut tree = Tree::start("s13:stubborn,hold,bare", "modes");
    let server = tree.peer.child.id();
    signal(server, Signal::TERM);
    let path = tree.events.path().join("events");
    assert!(testkit::wait_until(PATIENCE, || fs::read_to_string(&path).unwrap().contains("term\n")));
    assert!(proc::alive(server), "stubborn");
    assert!(fs::read(format!("/proc/{}/environ", tree.stray)).unwrap().is_empty(), "bare");
    signal(server, Signal::KILL);
    tree.peer.child.wait().unwrap();
    assert!(tree.peer.is_silent_for(Duration::from_millis(50)), "hold: stdout stays open");
}

#[test]
fn nothing_is_left_behind() {
    let marker = format!("every-{}", std::process::id());
    for number in (1..=29).filter(|number| *number != 13) {
        // Small and quick where the default is large or slow.
        let mode = if matches!(number, 2 | 3 | 4 | 22 | 28 | 29) { ":1" } else { "" };
        let mut command = command(&["--fault", &format!("s{number:02}{mode}")]);
        command.env("TESTKIT_TREE", &marker);
        let mut peer = Peer::spawn(command);
        peer.ask("initialize", json!({}));
        peer.ask_call("echo", json!({ "message": "x" }));
        peer.close_stdin();
        // These two cannot see the end of stdin; a signal ends them.
        if matches!(number, 11 | 12) {
            signal(peer.child.id(), Signal::TERM);
        }
        peer.ended();
    }
    assert_eq!(proc::with_env_marker("TESTKIT_TREE", &marker), Vec::<u32>::new());
}

#[test]
fn what_proc_knows() {
    let own = std::process::id();
    assert!(proc::alive(own) && !proc::zombie(own));
    assert!(proc::open_fds(own).len() >= 3);
    assert!(0 < proc::rss_anon_kb(own).unwrap());
    assert!(proc::rss_anon_kb(own) <= proc::vm_hwm_kb(own));
    assert!(!testkit::wait_until(Duration::from_millis(5), || false));
    let nobody = u32::MAX;
    assert!(!proc::alive(nobody) && proc::open_fds(nobody).is_empty());
    assert_eq!((proc::rss_anon_kb(nobody), proc::descendants(nobody)), (None, vec![]));
}
