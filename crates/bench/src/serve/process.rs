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

fn cpu(pid: u32) -> Option<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may have spaces; it ends with the last bracket. Then come the 3rd field and those behind it.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    // A hundred a second, on every Linux there is.
    Some(Duration::from_millis(ticks * 10))
}

fn proportional(pid: u32) -> Option<u64> {
    let all = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    all.lines().find_map(|line| line.strip_prefix("Pss:")?.trim().strip_suffix(" kB")?.trim().parse().ok())
}
