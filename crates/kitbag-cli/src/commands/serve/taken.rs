//! Who has a port that is wanted: the process and its program, where the system tells us. Only processes of the same user
//! can be looked into, and of theirs nothing is said but the name of the program: arguments may hold secrets.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

#[cfg(test)]
mod tests;

/// A process that listens at a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Holder {
    pub(super) pid: u32,
    /// The file name of its program.
    pub(super) program: String,
    /// Whether it is another `kitbag serve`.
    pub(super) is_kitbag: bool,
    /// Where it listens.
    pub(super) at: SocketAddr,
}

/// Whoever listens where we cannot; none where that is not known.
pub(super) fn holder(wanted: SocketAddr) -> Option<Holder> {
    let proc = Path::new("/proc");
    let table = |name: &str| std::fs::read_to_string(proc.join("net").join(name)).unwrap_or_default();
    let sockets: Vec<(SocketAddr, u64)> = listening(&table("tcp")).chain(listening(&table("tcp6"))).collect();
    let (at, inode) = sockets.into_iter().find(|(at, _)| is_in_the_way(*at, wanted))?;
    let link = format!("socket:[{inode}]");
    let entries = std::fs::read_dir(proc).ok()?.filter_map(Result::ok);
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let pid = pids.into_iter().find(|pid| has_open(&proc.join(pid.to_string()).join("fd"), &link))?;
    let of = proc.join(pid.to_string());
    let exe = std::fs::read_link(of.join("exe")).ok()?;
    // A program that was replaced since it was started has this behind its name.
    let program = exe.file_name()?.to_string_lossy().trim_end_matches(" (deleted)").to_owned();
    let words = std::fs::read(of.join("cmdline")).unwrap_or_default();
    let serves = words.split(|byte| *byte == 0).any(|word| word == b"serve");
    Some(Holder { pid, is_kitbag: serves && program == "kitbag", program, at })
}

fn has_open(folder: &Path, link: &str) -> bool {
    let open = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    open.into_iter()
        .any(|entry| std::fs::read_link(entry.path()).is_ok_and(|target| target.as_os_str() == link))
}

/// Whether a socket at the one address keeps us from the other.
fn is_in_the_way(at: SocketAddr, wanted: SocketAddr) -> bool {
    at.port() == wanted.port()
        && (at.ip() == wanted.ip() || at.ip().is_unspecified() || wanted.ip().is_unspecified())
}

/// The sockets of a table of the kernel that listen, each with its inode.
fn listening(table: &str) -> impl Iterator<Item = (SocketAddr, u64)> + '_ {
    table.lines().skip(1).filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (local, state, inode) = (words.get(1)?, words.get(3)?, words.get(9)?);
        (*state == "0A").then_some(())?;
        Some((address(local)?, inode.parse().ok()?))
    })
}

/// `0100007F:20E4`: the bytes of the address in words as the machine has them, and the port.
fn address(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let words: Option<Vec<[u8; 4]>> = (0..ip.len() / 8)
        .map(|at| u32::from_str_radix(ip.get(at * 8..at * 8 + 8)?, 16).ok().map(u32::to_ne_bytes))
        .collect();
    let bytes = words?.concat();
    let ip = match bytes.len() {
        4 => IpAddr::V4(Ipv4Addr::from(<[u8; 4]>::try_from(bytes).ok()?)),
        _ => IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?)),
    };
    Some(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?))
}
