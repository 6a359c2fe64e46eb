//! Trouble on stderr: more than anybody reads, and what nobody should read.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;
use std::{process, thread};

use super::{Entry, Fault, N};
use crate::server::Server;

pub(super) const FAULTS: &[Entry] = &[
    Entry {
        label: "s04",
        modes: &[N, "line"],
        about: "N MiB (100) on stderr; serves only while somebody reads them; line: one line that does not end, with \
                FAKE_SECRET in its last words",
        make: |modes| match modes.has("line") {
            true => Arc::new(EndlessLine { mib: modes.number(100) }),
            false => Arc::new(Flood { mib: modes.number(100) }),
        },
    },
    Entry {
        label: "s08",
        modes: &[],
        about: "crashes at start with code 3, printing FAKE_SECRET on stderr, plain and encoded",
        make: |_| Arc::new(Crash),
    },
];

struct Flood {
    mib: usize,
}

impl Fault for Flood {
    /// The first MiB in the reader itself, as a real server would: without a reader on the other side it
    /// never gets to serve.
    fn start(&self, _: &Arc<Server>) {
        let rest = self.mib.saturating_sub(1);
        flood_mib(0);
        thread::spawn(move || {
            (1..=rest).for_each(flood_mib);
            let _ = io::stderr().write_all(b"end of the flood\n");
        });
    }
}

fn flood_mib(number: usize) {
    let line = format!("{number:06} WARN the cache is cold, trying again in a moment, please stay patient\n");
    let chunk = line.repeat(64 * 1024 / line.len());
    (0..16).for_each(|_| {
        let _ = io::stderr().write_all(chunk.as_bytes());
    });
}

struct EndlessLine {
    mib: usize,
}

impl Fault for EndlessLine {
    fn start(&self, _: &Arc<Server>) {
        let secret = std::env::var("FAKE_SECRET").unwrap_or_default();
        eprint!("the first words ");
        let chunk = [b'.'; 64 * 1024];
        (0..self.mib * 16).for_each(|_| {
            let _ = io::stderr().write_all(&chunk);
        });
        eprint!(" key {secret} the last words");
    }
}

struct Crash;

impl Fault for Crash {
    fn start(&self, _: &Arc<Server>) {
        let secret = std::env::var("FAKE_SECRET").unwrap_or_else(|_| "no-secret-was-given".into());
        eprintln!("Error: cannot log in with token {secret}");
        eprintln!("  request: Authorization: Bearer {secret}");
        eprintln!("  base64: {}", base64(secret.as_bytes()));
        eprintln!("  hex: {}", hex(secret.as_bytes()));
        eprintln!("  url: https://api.example/login?key={}", url_encoded(secret.as_bytes()));
        eprintln!("fatal: giving up");
        process::exit(3);
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * at) & 63) as usize];
            text.push(if at <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn url_encoded(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) {
            text.push(char::from(*byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
        text
    })
}
