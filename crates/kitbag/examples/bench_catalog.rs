//! What the catalog costs: taking over tools, one server's change, an agent's view, and the part of a call that
//! comes before it is sent.
//!
//! Prints markdown tables. What counts are the ratios, taken in one run: a change in one server against all of
//! them, a call against the bare check of its arguments, ten thousand tools against a hundred. Exit code 1 when
//! one is broken.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on stops")]

#[path = "catalog/whole.rs"]
mod whole;

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kitbag_core::catalog::Snapshot;
use kitbag_core::names::NameForm;
use kitbag_core::names::lookup::NameMatch;
use kitbag_core::schema::{Schema, example};
use kitbag_core::shape::{AllowAll, Authorize as _, Decision, View};
use kitbag_core::{Limits, ServerName, UserId};
use serde_json::Value;
use whole::{part, view};

const TOOLS: usize = 20;
const SIZES: [usize; 3] = [100, 1_000, 10_000];
const ROUNDS: usize = 7;
/// Tools that are called in turns, spread over the whole catalog.
const CALLED: usize = 100;
/// Calls in a row that are timed together.
const CALLS: usize = 5_000;
const CALL_ROUNDS: usize = 40;
/// One server's change, as a share of taking over everything.
const MOST_CHANGE: f64 = 0.1;
/// A call before it is sent, as a multiple of checking its arguments.
const MOST_CALL: f64 = 2.0;
/// The same in the largest catalog, as a multiple of the smallest.
const MOST_GROWTH: f64 = 1.3;

fn main() {
    let definitions = definitions();
    let catalogs = SIZES.map(|size| Catalog::new(&definitions, size));
    let (rebuilds, views) = rebuild(&catalogs);
    println!("| tools | all anew | one server | ratio | view | view from the one before |");
    println!("|---:|---:|---:|---:|---:|---:|");
    let mut broken = false;
    for (catalog, ([all, one], [view, again])) in catalogs.iter().zip(rebuilds.iter().zip(&views)) {
        println!(
            "| {} | {} | {} | {:.4} | {} | {} |",
            catalog.tools(),
            millis(*all),
            millis(*one),
            ratio(*one, *all),
            millis(*view),
            millis(*again)
        );
    }
    let [all, one] = rebuilds[SIZES.len() - 1];
    println!();
    broken |= bound("one server's change costs", ratio(one, all), MOST_CHANGE, "all of them");
    println!();
    let calls = call(&catalogs, definitions.len());
    println!("| tools | find, authorize, check | bare check | ratio |\n|---:|---:|---:|---:|");
    for (catalog, [whole, bare]) in catalogs.iter().zip(&calls) {
        println!(
            "| {} | {} | {} | {:.2} |",
            catalog.tools(),
            nanos(*whole),
            nanos(*bare),
            ratio(*whole, *bare)
        );
    }
    println!();
    for [whole, bare] in calls {
        broken |= bound("a call before it is sent costs", ratio(whole, bare), MOST_CALL, "the bare check");
    }
    let growth = ratio(calls[SIZES.len() - 1][0], calls[0][0]);
    broken |= bound("ten thousand tools cost", growth, MOST_GROWTH, "a hundred");
    std::process::exit(i32::from(broken));
}

/// Prints a bound; whether it is broken.
fn bound(what: &str, ratio: f64, most: f64, of: &str) -> bool {
    println!("{what} {ratio:.3} × {of} (at most {most})");
    most < ratio
}

/// Real definitions, as text.
fn definitions() -> Vec<String> {
    testkit::corpus::servers().iter().flat_map(testkit::corpus::Recorded::texts).collect()
}

/// Servers of twenty tools each, before they are taken over.
struct Catalog {
    servers: Vec<(ServerName, Vec<String>)>,
    snapshot: Arc<Snapshot>,
    /// One server with a new description.
    changed: (ServerName, Vec<String>),
}

impl Catalog {
    fn new(definitions: &[String], tools: usize) -> Self {
        let servers: Vec<(ServerName, Vec<String>)> = (0..tools / TOOLS)
            .map(|server| {
                let name = ServerName::parse(&format!("server {server}")).unwrap();
                let texts = (0..TOOLS).map(|tool| {
                    let text = &definitions[(server * TOOLS + tool) % definitions.len()];
                    let mut definition: Value = serde_json::from_str(text).unwrap();
                    definition["name"] = format!("{}_{tool}", definition["name"].as_str().unwrap()).into();
                    definition.to_string()
                });
                (name, texts.collect())
            })
            .collect();
        let (name, mut texts) = servers[servers.len() / 2].clone();
        let mut first: Value = serde_json::from_str(&texts[0]).unwrap();
        first["description"] = "another".into();
        texts[0] = first.to_string();
        let snapshot = Arc::new(rebuilt(&servers));
        assert_eq!(snapshot.tools().count(), tools);
        Self { servers, snapshot, changed: (name, texts) }
    }

    fn tools(&self) -> usize {
        self.snapshot.tools().count()
    }

    fn changed(&self) -> Snapshot {
        let (name, texts) = &self.changed;
        self.snapshot.with(part(name, texts)).unwrap()
    }
}

fn rebuilt(servers: &[(ServerName, Vec<String>)]) -> Snapshot {
    Snapshot::default().with_all(servers.iter().map(|(name, texts)| part(name, texts)))
}

fn timed<T>(best: &mut Duration, work: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let made = black_box(work());
    *best = began.elapsed().min(*best);
    made
}

type Pair = [Duration; 2];

/// Everything anew and one server; a view and one from the view before. In turns, and the best of each: a
/// neighbour's work must not count for one of them only.
fn rebuild(catalogs: &[Catalog; 3]) -> ([Pair; 3], [Pair; 3]) {
    let (mut rebuilds, mut views) = ([[Duration::MAX; 2]; 3], [[Duration::MAX; 2]; 3]);
    for _ in 0..ROUNDS {
        for ((catalog, [all, one]), [new, again]) in catalogs.iter().zip(&mut rebuilds).zip(&mut views) {
            drop(timed(all, || rebuilt(&catalog.servers)));
            let next = Arc::new(timed(one, || catalog.changed()));
            let before = timed(new, || view(&catalog.snapshot, None));
            let after = timed(again, || view(&next, Some(&before)));
            let same =
                after.tools().iter().filter(|shown| before.tools().iter().any(|old| Arc::ptr_eq(old, shown)));
            // Looked at in the smallest only: it takes longer than what is measured.
            assert!(SIZES[0] < catalog.tools() || same.count() == catalog.tools() - 1);
        }
    }
    (rebuilds, views)
}

/// One tool to be called: its name, arguments that fit, and its schema by itself.
struct Called {
    name: String,
    arguments: Value,
    bare: Schema,
}

impl Catalog {
    /// The same definitions in every catalog, spread over all of it, so that only its size differs.
    fn called(&self, definitions: usize) -> Vec<Called> {
        let copies = self.tools() / definitions;
        let called = |number: usize| {
            let place = number + number * copies / CALLED * definitions;
            let (server, texts) = &self.servers[place / TOOLS];
            let definition: Value = serde_json::from_str(&texts[place % TOOLS]).unwrap();
            let tool = self.snapshot.tool(server, definition["name"].as_str().unwrap()).unwrap();
            let name = self.snapshot.names().table(NameForm::Full).name(server, &tool.name).unwrap();
            Called {
                name: name.to_string(),
                arguments: example(&tool.input).unwrap(),
                bare: Schema::compile(&tool.input, &Limits::default()).unwrap(),
            }
        };
        (0..CALLED).map(called).collect()
    }
}

/// Per call: find, authorize and check, and the bare check of the same arguments.
fn call(catalogs: &[Catalog; 3], definitions: usize) -> [Pair; 3] {
    let (limits, user) = (Limits::default(), UserId::local());
    let ready: Vec<(View, Vec<Called>)> =
        catalogs.iter().map(|catalog| (view(&catalog.snapshot, None), catalog.called(definitions))).collect();
    let mut best = [[Duration::MAX; 2]; 3];
    for _ in 0..CALL_ROUNDS {
        for ((view, called), [whole, bare]) in ready.iter().zip(&mut best) {
            timed(whole, || {
                for call in called.iter().cycle().take(CALLS) {
                    let NameMatch::One(index) = view.find(black_box(&call.name)) else { panic!("not found") };
                    let shown = view.at(index).unwrap();
                    assert_eq!(AllowAll.authorize(&user, &shown.tool), Decision::Allow);
                    assert!(
                        shown.input(&limits).as_ref().unwrap().check(black_box(&call.arguments)).is_empty()
                    );
                }
            });
            timed(bare, || {
                for call in called.iter().cycle().take(CALLS) {
                    assert!(call.bare.check(black_box(&call.arguments)).is_empty());
                }
            });
        }
    }
    best.map(|pair| pair.map(|time| time / CALLS as u32))
}

fn ratio(part: Duration, whole: Duration) -> f64 {
    part.as_secs_f64() / whole.as_secs_f64()
}

fn millis(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

fn nanos(time: Duration) -> String {
    format!("{} ns", time.as_nanos())
}
