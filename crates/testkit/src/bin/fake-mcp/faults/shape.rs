//! Right answers in the wrong order, in wrong pieces or at the wrong time.

use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::{Entry, Fault, N};
use crate::out::{Kind, Pipe};
use crate::server::Server;
use crate::wire;

pub(super) const FAULTS: &[Entry] = &[
    Entry {
        label: "s06",
        modes: &[],
        about: "answers in bursts every 20 ms, the last one first",
        make: |_| Arc::new(Bursts::default()),
    },
    Entry {
        label: "s07",
        modes: &[],
        about: "CRLF line ends; messages in pieces of 1 to 7 bytes or several in one write",
        make: |_| Arc::new(Pieces::default()),
    },
    Entry {
        label: "s28",
        modes: &[N],
        about: "answers to calls one byte every N ms (100)",
        make: |modes| Arc::new(Drip { pause: ms(modes.number(100)) }),
    },
    Entry {
        label: "s29",
        modes: &[N],
        about: "silent for N ms (3000) before the first byte, then good",
        make: |modes| Arc::new(Silence { until: Instant::now() + ms(modes.number(3000)) }),
    },
];

fn ms(number: usize) -> Duration {
    Duration::from_millis(number as u64)
}

#[derive(Default)]
struct Bursts(Arc<Mutex<Vec<Vec<u8>>>>);

impl Fault for Bursts {
    fn start(&self, server: &Arc<Server>) {
        let (parked, server) = (Arc::clone(&self.0), Arc::clone(server));
        thread::spawn(move || {
            loop {
                thread::sleep(ms(20));
                let mut burst = mem::take(&mut *parked.lock().unwrap_or_else(PoisonError::into_inner));
                burst.reverse();
                server.out.raw(&burst.concat());
            }
        });
    }

    fn emit(&self, pipe: &mut Pipe, kind: Kind, line: &[u8]) {
        match kind {
            Kind::Note => pipe.hold(line),
            _ => self.0.lock().unwrap_or_else(PoisonError::into_inner).push(line.to_vec()),
        }
    }
}

/// In turn: one message in pieces, one in a single write with two log messages around it.
#[derive(Default)]
struct Pieces(AtomicUsize);

impl Fault for Pieces {
    fn emit(&self, pipe: &mut Pipe, _: Kind, line: &[u8]) {
        let turn = self.0.fetch_add(1, Ordering::Relaxed);
        let crlf = |line: &[u8]| [line.trim_ascii_end(), b"\r\n"].concat();
        if turn % 2 == 1 {
            let mut note = Vec::new();
            wire::log(&mut note, turn);
            let note = crlf(&note);
            return pipe
                .write_now(&[&note, &crlf(line), &note].into_iter().flatten().copied().collect::<Vec<_>>());
        }
        let line = crlf(line);
        let mut rest = &*line;
        for size in (1..=7).cycle() {
            let (piece, after) = rest.split_at(size.min(rest.len()));
            pipe.write_now(piece);
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
    }
}

struct Drip {
    pause: Duration,
}

impl Fault for Drip {
    fn emit(&self, pipe: &mut Pipe, kind: Kind, line: &[u8]) {
        if kind != Kind::CallAnswer {
            return pipe.hold(line);
        }
        for byte in line {
            pipe.write_now(&[*byte]);
            thread::sleep(self.pause);
        }
    }
}

struct Silence {
    until: Instant,
}

impl Fault for Silence {
    fn emit(&self, pipe: &mut Pipe, _: Kind, line: &[u8]) {
        thread::sleep(self.until.saturating_duration_since(Instant::now()));
        pipe.hold(line);
    }
}
