//! Who descends from whom, as the system tells.

use std::fs;

use rustix::process::{Pid, Signal, getpid, kill_process};

/// Kills every child of this process and every descendant it has right now.
pub(super) fn kill_children() {
    for child in children(getpid()) {
        kill_all(child);
    }
}

/// Kills a process and its descendants, the process last: its children stay findable until then.
pub(super) fn kill_all(root: Pid) {
    let mut family = vec![root];
    let mut next = 0;
    while let Some(pid) = family.get(next).copied() {
        // A tree cannot be bound to be small, but it can be bound to be looked at.
        if 100_000 < family.len() {
            break;
        }
        family.extend(children(pid));
        next += 1;
    }
    for pid in family.into_iter().rev() {
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// The children of all threads of a process.
fn children(parent: Pid) -> Vec<Pid> {
    let parent = parent.as_raw_nonzero();
    let Ok(threads) = fs::read_dir(format!("/proc/{parent}/task")) else { return Vec::new() };
    let lists: Option<Vec<String>> =
        threads.flatten().map(|thread| fs::read_to_string(thread.path().join("children")).ok()).collect();
    match lists {
        Some(lists) => lists
            .iter()
            .flat_map(|list| list.split_whitespace())
            .filter_map(|pid| Pid::from_raw(pid.parse().ok()?))
            .collect(),
        // Kernels without that file: everybody names a parent.
        None => by_parent(parent.get()),
    }
}

fn by_parent(parent: i32) -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| parent_of(*pid) == Some(parent)).filter_map(Pid::from_raw).collect()
}

fn parent_of(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold anything; the fields begin behind its last bracket.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}
