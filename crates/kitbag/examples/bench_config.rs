//! How long reading servers takes: one file a server, five servers a user, at three sizes in one run.
//!
//! Prints a markdown table. What counts are the ratios: ten times the servers must not cost much more than
//! ten times the time.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on stops")]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use kitbag::Limits;
use kitbag::files::{FolderOwner, read_folder, user_folders};
use kitbag_core::config::layers::{Layer, Layered, merge};
use tempfile::TempDir;

const SIZES: [usize; 3] = [100, 1_000, 10_000];
const SERVERS_PER_USER: usize = 5;
const ROUNDS: usize = 9;
/// Ten times the servers may cost at most this many times as much.
const MOST: f64 = 12.0;

fn main() {
    let folders = SIZES.map(|servers| {
        let folder = folder();
        fill(folder.path(), servers);
        folder
    });
    // In turns, and the best of each: a neighbour's work must not count for one size only.
    let mut rows = SIZES.map(|servers| (servers, Duration::MAX));
    for _ in 0..ROUNDS {
        for ((servers, best), folder) in rows.iter_mut().zip(&folders) {
            *best = round(folder.path(), *servers).min(*best);
        }
    }
    println!("| servers | user folders | best of {ROUNDS} | per server |\n|---:|---:|---:|---:|");
    for (servers, best) in &rows {
        let each = best.as_secs_f64() * 1e6 / *servers as f64;
        println!(
            "| {servers} | {} | {:.1} ms | {each:.1} µs |",
            servers / SERVERS_PER_USER,
            best.as_secs_f64() * 1e3
        );
    }
    println!();
    let mut grown = false;
    for pair in rows.windows(2) {
        let ratio = pair[1].1.as_secs_f64() / pair[0].1.as_secs_f64();
        println!("{} servers cost {ratio:.1} × {} (at most {MOST})", pair[1].0, pair[0].0);
        grown |= MOST < ratio;
    }
    drop(folders);
    std::process::exit(i32::from(grown));
}

/// A folder in memory where there is one: the disk's own work on fresh files is not what is measured.
fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory).unwrap() } else { tempfile::tempdir().unwrap() }
}

/// Reads every user's folder and merges all of them.
fn round(folder: &Path, servers: usize) -> Duration {
    let limits = Limits::default();
    let began = Instant::now();
    let mut documents = Vec::new();
    for (user, theirs) in user_folders(folder) {
        let (read, faults) = read_folder(&theirs, FolderOwner::User, None, &limits);
        assert!(faults.is_empty());
        documents.extend(read.into_iter().map(|document| Layered {
            layer: Layer::User(user.clone()),
            used: true,
            user: None,
            document,
        }));
    }
    let merged = merge(documents, &|_| false);
    let took = began.elapsed();
    assert_eq!(merged.used().count(), servers);
    took
}

fn fill(folder: &Path, servers: usize) {
    for server in 0..servers {
        let user = folder.join(format!("user_{}", server / SERVERS_PER_USER));
        fs::create_dir_all(&user).unwrap();
        let text = format!(
            r#"{{
  "name": "server-{server}",
  "description": "One of many",
  "command": "npx",
  "args": ["-y", "example-mcp@1.2.3", "--root", "/srv/data/{server}"],
  "env": {{"LOG_LEVEL": "info", "API_KEY": "${{EXAMPLE_KEY}}"}},
  "timeout": 600,
  "enabled": true
}}
"#
        );
        fs::write(user.join(format!("server-{server}.json")), text).unwrap();
    }
}
