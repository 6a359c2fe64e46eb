//! What `/proc` knows about processes: the only witness of "nothing left behind" that the code under test
//! cannot fool.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Whether the process runs; a zombie does not.
pub fn alive(pid: u32) -> bool {
    stat(pid).is_some_and(|stat| !matches!(stat.state, 'Z' | 'X'))
}

/// Whether the process has ended and nobody has waited for it.
pub fn zombie(pid: u32) -> bool {
    stat(pid).is_some_and(|stat| stat.state == 'Z')
}

/// Every living process below `pid`, itself not included. One whose parents died is no longer below it.
pub fn descendants(pid: u32) -> Vec<u32> {
    let parents: Vec<_> = all().filter_map(|pid| Some((pid, stat(pid)?))).collect();
    let mut found = vec![pid];
    let mut next = 0;
    while let Some(&above) = found.get(next) {
        found.extend(parents.iter().filter(|(_, stat)| stat.parent == above).map(|(pid, _)| *pid));
        next += 1;
    }
    found.remove(0);
    found.retain(|pid| alive(*pid));
    found
}

/// Every living process that was started with `name=value` in its environment.
pub fn with_env_marker(name: &str, value: &str) -> Vec<u32> {
    let marker = format!("{name}={value}");
    let marked = |pid: &u32| {
        let environ = fs::read(of(*pid, "environ")).unwrap_or_default();
        environ.split(|byte| *byte == 0).any(|entry| entry == marker.as_bytes())
    };
    all().filter(|pid| alive(*pid)).filter(marked).collect()
}

/// The open file descriptors of a process and what each is; empty if the process is gone.
pub fn open_fds(pid: u32) -> BTreeMap<u32, PathBuf> {
    let Ok(entries) = fs::read_dir(of(pid, "fd")) else { return BTreeMap::new() };
    let number = |path: &Path| path.file_name()?.to_str()?.parse().ok();
    let one = |entry: fs::DirEntry| Some((number(&entry.path())?, fs::read_link(entry.path()).ok()?));
    entries.flatten().filter_map(one).collect()
}

/// Memory of its own that a process holds now, in KiB.
pub fn rss_anon_kb(pid: u32) -> Option<u64> {
    status(pid, "RssAnon")
}

/// The most memory that a process ever held, in KiB.
pub fn vm_hwm_kb(pid: u32) -> Option<u64> {
    status(pid, "VmHWM")
}

/// Whether the process catches the signal of this number, from a handler of its own.
pub fn catches(pid: u32, signal: i32) -> bool {
    let Some(line) = status_line(pid, "SigCgt") else { return false };
    let mask = u64::from_str_radix(line.trim(), 16).unwrap_or(0);
    let bit = u32::try_from(signal - 1).unwrap_or(0);
    mask.checked_shr(bit).is_some_and(|rest| rest & 1 == 1)
}

struct Stat {
    state: char,
    parent: u32,
}

/// `pid (name) state ppid …`; the name may hold anything, so what counts stands after the last bracket.
fn stat(pid: u32) -> Option<Stat> {
    let text = fs::read(of(pid, "stat")).ok()?;
    let text = String::from_utf8_lossy(&text);
    let mut rest = text.rsplit_once(')')?.1.split_whitespace();
    Some(Stat { state: rest.next()?.chars().next()?, parent: rest.next()?.parse().ok()? })
}

fn status(pid: u32, name: &str) -> Option<u64> {
    status_line(pid, name)?.trim().trim_end_matches("kB").trim().parse().ok()
}

fn status_line(pid: u32, name: &str) -> Option<String> {
    let text = fs::read_to_string(of(pid, "status")).ok()?;
    let value = |line: &str| Some(line.strip_prefix(name)?.strip_prefix(':')?.to_owned());
    text.lines().find_map(value)
}

fn all() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn of(pid: u32, file: &str) -> PathBuf {
    format!("/proc/{pid}/{file}").into()
}
