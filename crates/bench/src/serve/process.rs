//! What the processes of one side take, without those of the server behind it.

use std::fs;
use std::process::Child;
use std::time::Duration;

/// One side's own processes.
pub struct Family(Vec<u32>);

impl Family {
    /// A process with all below it but the upstream servers.
    pub fn of(child: &Child) -> Self {
        let mut all = testkit::proc::descendants(child.id());
        all.retain(|pid| !is_upstream(*pid));
        all.push(child.id());
        Self(all)
    }

    /// The processor time they have had.
    pub fn cpu(&self) -> Duration {
        self.0.iter().filter_map(|pid| cpu(*pid)).sum()
    }

    /// Memory, in kB; what several processes share is divided among them.
    pub fn memory(&self) -> u64 {
        self.0.iter().filter_map(|pid| proportional(*pid)).sum()
    }
}

/// Waits until what goes on behind calls, such as writing records, has ended.
pub fn rest() {
    std::thread::sleep(Duration::from_secs(1));
}

fn is_upstream(pid: u32) -> bool {
    let program = fs::read_link(format!("/proc/{pid}/exe"));
    program.is_ok_and(|program| program.file_name().is_some_and(|name| name == "bench-upstream"))
}

/// What its threads have had; one that ended meanwhile would be missing, and none does while calls are made.
fn cpu(pid: u32) -> Option<Duration> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten();
    let had = threads.filter_map(|thread| {
        let stat = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        stat.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
    });
    Some(had.sum())
}

fn proportional(pid: u32) -> Option<u64> {
    let all = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    all.lines().find_map(|line| line.strip_prefix("Pss:")?.trim().strip_suffix(" kB")?.trim().parse().ok())
}
