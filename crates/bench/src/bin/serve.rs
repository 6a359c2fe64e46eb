//! The endpoint (`kitbag serve`) beside its own upstream server, the least relay there can be and, with `--peers`, what others
//! use: the same upstream, the same load client, in one run and in turns. Each call carries a token that must come back.
//!
//! Prints markdown tables; ends with 1 when a ratio is beyond its bound. `--short` takes few calls, `--long` adds 300,000 to
//! see whether memory grows, `--write FOLDER` puts the table and plots there.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on stops")]

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use bench::serve::figures::{self, Bound, Most, Row, less, more, quantiles};
use bench::serve::load::Pipe;
use bench::serve::sides::{self, AtAddress, Running, Servers, Upstream};
use bench::serve::{peers, process::rest};

/// How much is measured.
#[derive(Clone, Copy)]
struct Size {
    rounds: usize,
    calls: usize,
    rates: usize,
    many: usize,
    starts: usize,
}

const WHOLE: Size = Size { rounds: 9, calls: 4_000, rates: 5, many: 64_000, starts: 7 };
const SHORT: Size = Size { rounds: 2, calls: 500, rates: 1, many: 6_400, starts: 2 };

/// The servers and tools of somebody who has many.
const MANY: (usize, usize) = (50, 20);
/// About how long one round of a slow side may take.
const HALF: Duration = Duration::from_millis(500);
/// Between these calls memory is to stay as it is.
const LONG: (usize, usize) = (50_000, 300_000);

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    let size = if has("--short") { SHORT } else { WHOLE };
    let mut measured = Measured::new(size, has("--peers"));
    measured.latencies();
    measured.rates();
    measured.starts();
    measured.further_servers();
    measured.lists();
    if has("--long") {
        measured.long();
    }
    let bounds = measured.bounds();
    let text =
        format!("{}\n{}\n{}", figures::table(&measured.rows), figures::bounds(&bounds), measured.notes);
    print!("{text}");
    if let Some(at) = args.iter().position(|arg| arg == "--write") {
        write(Path::new(&args[at + 1]), &text, &measured.rows);
    }
    std::process::exit(i32::from(!bounds.iter().all(Bound::holds)));
}

/// A side, and how it is started.
struct Side {
    name: String,
    start: Box<dyn Fn(&AtAddress) -> Running>,
}

fn sides(with_peers: bool) -> Vec<Side> {
    let side = |name: &str, start: fn(&Upstream) -> Running, is_http: bool| Side {
        name: name.to_owned(),
        start: Box::new(move |at| {
            start(&if is_http { Upstream::Http(at.url.clone()) } else { Upstream::Stdio })
        }),
    };
    let kitbag: fn(&Upstream) -> Running = |upstream| sides::kitbag(&Servers::one(upstream.clone()));
    let mut all = vec![
        side("relay, stdio", sides::relay, false),
        side("Kitbag, stdio", kitbag, false),
        side("relay, HTTP", sides::relay, true),
        side("Kitbag, HTTP", kitbag, true),
    ];
    if with_peers {
        let peers = peers::all().into_iter();
        all.extend(peers.map(|peer| Side {
            name: format!("{}, stdio", peer.name),
            start: Box::new(move |_| peer.start()),
        }));
    }
    all
}

/// Where the row of the upstream server stands that is called directly at its address.
const DIRECT: usize = 1;
/// Where those of all other sides begin.
const FIRST: usize = 2;
/// The relay and Kitbag, with a program and with an address behind them.
const PAIRS: [(&str, usize, usize); 2] = [("stdio", FIRST, FIRST + 1), ("HTTP", FIRST + 2, FIRST + 3)];

struct Measured {
    size: Size,
    sides: Vec<Side>,
    rows: Vec<Row>,
    bounds: Vec<Bound>,
    notes: String,
}

impl Measured {
    fn new(size: Size, with_peers: bool) -> Self {
        let sides = sides(with_peers);
        let names = ["direct, stdio", "direct, HTTP"].into_iter().chain(sides.iter().map(|side| &*side.name));
        let rows = names.map(Row::new).collect();
        Self { size, sides, rows, bounds: Vec::new(), notes: String::new() }
    }

    /// One call after the other, on one core: waking an idle one is not part of what is measured. In turns, and the best of
    /// each: a neighbour's work must not count for one side only.
    fn latencies(&mut self) {
        let _pinned = Pinned::to_one_core();
        let Size { rounds, calls, .. } = self.size;
        let at = AtAddress::start(&[]);
        let direct = at.target();
        let mut pipe = Pipe::start(&mut Command::new(sides::built("bench-upstream")));
        let running: Vec<Running> = self.sides.iter().map(|side| (side.start)(&at)).collect();
        let many = many();
        let mut with_many = None;
        for round in 0..=rounds {
            let mut now = vec![(pipe.latencies(calls), None), (direct.latencies(calls), None)];
            for (number, side) in running.iter().chain([&many]).enumerate() {
                let family = side.family();
                let before = family.cpu();
                let calls = self.rows.get(FIRST + number).map_or(calls, |row| row.fitting(calls, HALF));
                let all = side.target.latencies(calls);
                now.push((all, Some(family.cpu().saturating_sub(before).as_secs_f64() * 1e6 / calls as f64)));
            }
            less(&mut with_many, quantiles(now.pop().unwrap().0).0);
            // Before the first round everything is cold; it only tells how much a round can be.
            if round == 0 {
                with_many = None;
                for (row, (all, _)) in self.rows.iter_mut().zip(now) {
                    less(&mut row.p50, quantiles(all).0);
                }
                continue;
            }
            for (row, (all, cpu)) in self.rows.iter_mut().zip(now) {
                let (p50, p99) = quantiles(all);
                less(&mut row.p50, p50);
                less(&mut row.p99, p99);
                if let Some(cpu) = cpu {
                    less(&mut row.cpu, cpu);
                }
            }
        }
        let ratio = with_many.unwrap() / self.rows[FIRST + 1].p50.unwrap();
        self.bound(
            format!("p50, {} servers and {} tools / one", MANY.0, MANY.0 * MANY.1),
            ratio,
            Most::AtMost(1.1),
        );
    }

    /// Many calls in flight, on all cores; memory before and after.
    fn rates(&mut self) {
        let at = AtAddress::start(&[]);
        let direct = at.target();
        let running: Vec<Running> = self.sides.iter().map(|side| (side.start)(&at)).collect();
        let memory = |rows: &mut [Row], keep: fn(&mut Row, f64)| {
            for (row, side) in rows[FIRST..].iter_mut().zip(&running) {
                keep(row, side.family().memory() as f64);
            }
        };
        for side in &running {
            side.target.latencies(1);
        }
        memory(&mut self.rows, |row, kb| row.idle = Some(kb));
        for _ in 0..self.size.rates {
            more(&mut self.rows[DIRECT].rate, direct.rate(self.size.many));
            for (row, side) in self.rows[FIRST..].iter_mut().zip(&running) {
                let calls = row.fitting(self.size.many, 2 * HALF);
                more(&mut row.rate, side.target.rate(calls));
            }
        }
        memory(&mut self.rows, |row, kb| row.loaded = Some(kb));
    }

    /// From nothing to the first list. Kitbag starts in an empty home each time: nothing is remembered.
    fn starts(&mut self) {
        let at = AtAddress::start(&[]);
        for _ in 0..self.size.starts {
            for (row, side) in self.rows[FIRST..].iter_mut().zip(&self.sides) {
                less(&mut row.cold, (side.start)(&at).took.as_secs_f64() * 1e3);
            }
        }
    }

    /// What each further server takes.
    fn further_servers(&mut self) {
        const FURTHER: usize = 10;
        let at = AtAddress::start(&[]);
        for upstream in [Upstream::Stdio, Upstream::Http(at.url.clone())] {
            let memory = |count: usize| {
                let servers = Servers { count, ..Servers::one(upstream.clone()) };
                let side = sides::kitbag(&servers);
                side.target.latencies(1);
                side.family().memory() as f64 / 1024.0
            };
            let each = (memory(1 + FURTHER) - memory(1)) / FURTHER as f64;
            let name = if matches!(upstream, Upstream::Stdio) { "stdio" } else { "HTTP" };
            self.bound(format!("MB of each further server, {name}"), each, Most::AtMost(0.3));
        }
    }

    /// The list of many tools, beside the same bytes from memory.
    fn lists(&mut self) {
        let _pinned = Pinned::to_one_core();
        let side = many();
        let house = testkit::House::new();
        let result: serde_json::Value = serde_json::from_slice(&side.target.list()).unwrap();
        let bytes = result["result"].to_string();
        house.put("list.json", &bytes);
        let at = AtAddress::start(&["--list", &house.at("list.json")]);
        let direct = at.target();
        let (mut ours, mut bare) = (None, None);
        for _ in 0..=self.size.rounds {
            less(&mut bare, quantiles(direct.lists(50)).0);
            less(&mut ours, quantiles(side.target.lists(50)).0);
        }
        let ratio = ours.unwrap() / bare.unwrap();
        let (tools, kb) = (side.target.tools, bytes.len() / 1024);
        let _ = writeln!(
            self.notes,
            "`tools/list` of {tools} tools ({kb} kB): {:.0} µs, the same bytes from memory {:.0} µs.",
            ours.unwrap(),
            bare.unwrap()
        );
        self.bound(
            format!("`tools/list` of {tools} tools / the same bytes from memory"),
            ratio,
            Most::AtMost(2.0),
        );
    }

    /// Whether memory grows.
    fn long(&mut self) {
        let at = AtAddress::start(&[]);
        for upstream in [Upstream::Stdio, Upstream::Http(at.url.clone())] {
            let side = sides::kitbag(&Servers::one(upstream.clone()));
            side.target.rate(LONG.0);
            rest();
            let before = side.family().memory() as f64;
            side.target.rate(LONG.1 - LONG.0);
            rest();
            let after = side.family().memory() as f64;
            let name = if matches!(upstream, Upstream::Stdio) { "stdio" } else { "HTTP" };
            let (calls, more) = LONG;
            let what = format!("memory after {more} calls / after {calls}, {name}");
            self.bound(what, after / before, Most::AtMost(1.02));
        }
    }

    fn bound(&mut self, what: String, found: f64, most: Most) {
        self.bounds.push(Bound { what, found, most });
    }

    fn bounds(&mut self) -> Vec<Bound> {
        let mut all = Vec::new();
        for (name, relay, kitbag) in PAIRS {
            let mut ratio = |what: &str, figure: fn(&Row) -> Option<f64>, most| {
                let found = figure(&self.rows[kitbag]).unwrap() / figure(&self.rows[relay]).unwrap();
                all.push(Bound { what: format!("{what}, {name}: Kitbag / relay"), found, most });
            };
            ratio("p50", |row| row.p50, Most::AtMost(1.6));
            ratio("CPU", |row| row.cpu, Most::AtMost(1.6));
            ratio("calls/s", |row| row.rate, Most::AtLeast(0.5));
            ratio("to the first list", |row| row.cold, Most::AtMost(3.0));
            let idle = self.rows[kitbag].idle.unwrap() / 1024.0;
            all.push(Bound { what: format!("idle MB, {name}"), found: idle, most: Most::AtMost(15.0) });
        }
        all.append(&mut self.bounds);
        all
    }
}

fn many() -> Running {
    sides::kitbag(&Servers { upstream: Upstream::Stdio, count: MANY.0, tools: MANY.1 })
}

fn write(folder: &Path, text: &str, rows: &[Row]) {
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join("serve.md"), text).unwrap();
    let plot = |name: &str, title: &str, figure: fn(&Row) -> Option<f64>| {
        std::fs::write(folder.join(name), figures::plot(title, rows, figure)).unwrap();
    };
    plot("serve-p50.svg", "One call, middle of all, pinned to one core (µs)", |row| row.p50);
    plot("serve-cpu.svg", "Processor time of the gateway for a call, pinned to one core (µs)", |row| {
        row.cpu
    });
    plot("serve-rate.svg", "Calls a second, 64 in flight", |row| row.rate);
    plot("serve-memory.svg", "Memory after the first call (MB, proportional)", |row| {
        Some(row.idle? / 1024.0)
    });
}

struct Pinned(rustix::thread::CpuSet);

impl Pinned {
    fn to_one_core() -> Self {
        let cores = rustix::thread::sched_getaffinity(None).unwrap();
        let mut one = rustix::thread::CpuSet::new();
        one.set(0);
        rustix::thread::sched_setaffinity(None, &one).unwrap();
        Self(cores)
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        rustix::thread::sched_setaffinity(None, &self.0).unwrap();
    }
}
