//! What is left when Kitbag and a guard were both killed: processes that carry the marker of an owner that
//! is no more.

use std::sync::atomic::{AtomicU64, Ordering};

/// Ends processes whose owner is gone; how many there were.
#[cfg(target_os = "linux")]
pub fn sweep() -> usize {
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
    // Nearly always there is none, and then one look at each process is all.
    let is_left = |pid: &i32| marker_of(*pid).is_some_and(|marker| !is_alive(&marker));
    let left: Vec<i32> = processes().filter(is_left).collect();
    if left.is_empty() {
        return 0;
    }
    // Whoever has a guard is the guard's to end, which may be about to, or lets a download finish.
    let guarded: Vec<String> = processes().filter(|pid| is_guard(*pid)).filter_map(marker_of).collect();
    let mut ended = 0;
    for pid in left {
        // Held open, so that the number cannot change hands between looking and killing.
        let Some(held) = Pid::from_raw(pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else {
            continue;
        };
        let Some(marker) = marker_of(pid) else { continue };
        if guarded.contains(&marker) {
            continue;
        }
        if !is_alive(&marker) && pidfd_send_signal(&held, Signal::KILL).is_ok() {
            ended += 1;
        }
    }
    ended
}

/// Other systems have no such marker to look for.
#[cfg(not(target_os = "linux"))]
pub fn sweep() -> usize {
    0
}

/// A marker for one start of a server. No two are the same: the next life of a server, and one of the same
/// name that somebody else in this process opened, are not to be swept away with it.
pub(crate) fn marker(server: &str, identity: &str) -> String {
    static STARTS: AtomicU64 = AtomicU64::new(1);
    let (pid, number) = (std::process::id(), STARTS.fetch_add(1, Ordering::Relaxed));
    let (start, space) = (start_time(pid).unwrap_or_default(), namespace().unwrap_or_default());
    format!("{pid}/{start}/{space}/{server}/{identity}/{number}")
}

/// A first download that goes on although the command that began it has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LingeringDownload {
    /// The server it is for, by the name it had.
    pub server: String,
    /// The guard that ends it: after the limit `start_linger`, or when it gets a signal.
    pub pid: u32,
    identity: String,
}

impl LingeringDownload {
    pub(crate) fn is_of(&self, server: &str, identity: &str) -> bool {
        self.server == server && self.identity == identity && !identity.is_empty()
    }
}

/// The downloads of this user's servers that go on by themselves.
#[cfg(target_os = "linux")]
pub fn lingering() -> Vec<LingeringDownload> {
    let download = |pid: i32| {
        let marker = marker_of(pid)?;
        let mut parts = marker.splitn(4, '/').nth(3)?.rsplitn(3, '/').skip(1);
        let (identity, server) = (parts.next()?.to_owned(), parts.next()?.to_owned());
        Some(LingeringDownload { server, pid: u32::try_from(pid).ok()?, identity })
    };
    processes().filter(|pid| is_called(*pid, super::linger::NAME)).filter_map(download).collect()
}

/// Other systems let none go on.
#[cfg(not(target_os = "linux"))]
pub fn lingering() -> Vec<LingeringDownload> {
    Vec::new()
}

#[cfg(target_os = "linux")]
fn processes() -> impl Iterator<Item = i32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
}

/// Ends the processes of one start whose guard was killed.
#[cfg(target_os = "linux")]
pub(crate) fn sweep_marked(ours: &str) {
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
    for pid in processes() {
        let Some(held) = Pid::from_raw(pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else {
            continue;
        };
        if marker_of(pid).as_deref() == Some(ours) {
            let _ = pidfd_send_signal(&held, Signal::KILL);
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn sweep_marked(_ours: &str) {}

#[cfg(target_os = "linux")]
fn marker_of(pid: i32) -> Option<String> {
    // Other users' environments cannot be read, which keeps us to our own.
    let environ = read(pid, "environ")?;
    let prefix = format!("{}=", super::MARKER);
    let entry = environ.split(|byte| *byte == 0).find_map(|entry| entry.strip_prefix(prefix.as_bytes()))?;
    String::from_utf8(entry.to_vec()).ok()
}

/// A file of a process. It says no size, so there is nothing to ask for before it is read.
#[cfg(target_os = "linux")]
fn read(pid: i32, file: &str) -> Option<Vec<u8>> {
    let mut file = std::fs::File::open(format!("/proc/{pid}/{file}")).ok()?;
    let (mut found, mut part) = (Vec::new(), [0; 16 << 10]);
    loop {
        match std::io::Read::read(&mut file, &mut part).ok()? {
            0 => return Some(found),
            read => found.extend_from_slice(&part[..read]),
        }
    }
}

#[cfg(target_os = "linux")]
fn is_guard(pid: i32) -> bool {
    is_called(pid, super::NAME) || is_called(pid, super::linger::NAME)
}

#[cfg(target_os = "linux")]
fn is_called(pid: i32, name: &std::ffi::CStr) -> bool {
    let found = read(pid, "comm").unwrap_or_default();
    found.trim_ascii_end() == name.to_bytes()
}

/// Whether the owner a marker names is alive: the same process, not another one under its number, not a zombie.
#[cfg(target_os = "linux")]
fn is_alive(marker: &str) -> bool {
    let mut parts = marker.split('/');
    let (Some(pid), Some(start), Some(space)) = (parts.next(), parts.next(), parts.next()) else {
        return true;
    };
    let Ok(pid) = pid.parse::<u32>() else { return true };
    // Numbers of another namespace mean other processes there; they are not ours to judge.
    if Some(space) != namespace().as_deref() {
        return true;
    }
    start_time(pid).as_deref() == Some(start) && state_of(pid) != Some('Z')
}

#[cfg(target_os = "linux")]
fn stat_fields(pid: u32) -> Option<Vec<String>> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(stat.rsplit_once(')')?.1.split_whitespace().map(str::to_owned).collect())
}

#[cfg(target_os = "linux")]
fn start_time(pid: u32) -> Option<String> {
    stat_fields(pid)?.into_iter().nth(19)
}

#[cfg(target_os = "linux")]
fn state_of(pid: u32) -> Option<char> {
    stat_fields(pid)?.first()?.chars().next()
}

#[cfg(target_os = "linux")]
fn namespace() -> Option<String> {
    let link = std::fs::read_link("/proc/self/ns/pid").ok()?;
    Some(link.to_string_lossy().chars().filter(char::is_ascii_digit).collect())
}

#[cfg(not(target_os = "linux"))]
fn start_time(_pid: u32) -> Option<String> {
    None
}

#[cfg(not(target_os = "linux"))]
fn namespace() -> Option<String> {
    None
}
