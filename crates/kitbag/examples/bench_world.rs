//! What a new world costs: putting ten thousand servers in place, one change among them, and looking at what is
//! true while worlds are replaced without a pause.
//!
//! Prints markdown tables. What counts are the ratios, taken in one run: one change against all servers, a look while
//! worlds change against a look alone. Exit code 1 when one is broken.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on stops")]

#[path = "open/figures.rs"]
mod figures;

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use figures::Figures;
use kitbag::guard::Launcher;
use kitbag::{AgentRules, DiscoverOptions, Env, Kitbag, OpenOptions, ServerName, ServerSpec, Setup, UserId};
use kitbag_core::names::lookup::NameMatch;
use tokio::runtime::Runtime;

const SERVERS: usize = 10_000;
const ROUNDS: usize = 5;
const REST: Duration = Duration::from_millis(300);
/// One change, as a share of putting everything in place.
const MOST_CHANGE: f64 = 0.05;
/// Looks that are timed together: one alone is shorter than the clock can tell.
const LOOKS: u32 = 64;
const SAMPLES: usize = 20_000;
const LOOK_ROUNDS: usize = 9;
/// A look while worlds change, as a multiple of a look alone.
const MOST_LOOK: f64 = 1.2;

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let broken = [changes(&runtime), looks(&runtime)];
    std::process::exit(i32::from(broken.contains(&true)));
}

/// All servers put in place, and one of them changed; whether the bound is broken.
fn changes(runtime: &Runtime) -> bool {
    let home = tempfile::tempdir().unwrap();
    let [mut first, mut change, mut same, mut compared] = [Duration::MAX; 4];
    for _ in 0..ROUNDS {
        let specs: Vec<Arc<ServerSpec>> = anew("first");
        let mut changed = specs.clone();
        changed[SERVERS / 2] = spec(SERVERS / 2, "second").into();
        let [one, two, three] = [&specs, &changed, &changed].map(|specs| of(home.path(), specs.clone()));
        let (four, five) = (of(home.path(), anew("second")), of(home.path(), anew("third")));
        runtime.block_on(async {
            let began = Instant::now();
            let kit = Kitbag::start(one, options());
            first = first.min(began.elapsed());
            // What starting left to its tasks is no part of the change.
            tokio::time::sleep(REST).await;
            let began = Instant::now();
            kit.apply(two).await.unwrap();
            change = change.min(began.elapsed());
            let began = Instant::now();
            kit.apply(three).await.unwrap();
            same = same.min(began.elapsed());
            kit.apply(four).await.unwrap();
            let began = Instant::now();
            kit.apply(five).await.unwrap();
            compared = compared.min(began.elapsed());
            kit.close().await;
        });
    }
    println!(
        "| servers | put in place | one changed | nothing changed | one changed, all described anew | ratio |"
    );
    println!("|---:|---:|---:|---:|---:|---:|");
    let ratio = change.as_secs_f64() / first.as_secs_f64();
    let [first, change, same, compared] = [first, change, same, compared].map(millis);
    println!("| {SERVERS} | {first} | {change} | {same} | {compared} | {ratio:.4} |\n");
    bound("one change costs", ratio, MOST_CHANGE, "putting all in place")
}

/// A lazy server; the one in the middle is given this word.
fn spec(number: usize, word: &str) -> ServerSpec {
    let name = ServerName::parse(&format!("server-{number:05}")).unwrap();
    let word = if number == SERVERS / 2 { word } else { "same" };
    let args = ["--port", "8080", "--root", "/srv/data", "--word", word];
    ServerSpec { lazy: true, ..ServerSpec::program(name, "/usr/bin/server", args) }
}

/// All servers described again, as after reading a file.
fn anew(word: &str) -> Vec<Arc<ServerSpec>> {
    (0..SERVERS).map(|number| spec(number, word).into()).collect()
}

fn of(home: &Path, specs: Vec<Arc<ServerSpec>>) -> Setup {
    Setup::from_specs(env(home), specs)
}

/// A view and a name in it, alone and while worlds are replaced; whether the bound is broken.
fn looks(runtime: &Runtime) -> bool {
    let _inside = runtime.enter();
    let home = tempfile::tempdir().unwrap();
    let catalog = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/tools");
    let setup = || {
        let request = DiscoverOptions {
            env: env(home.path()),
            catalog: Some(catalog.clone()),
            ..DiscoverOptions::default()
        };
        Setup::discover(&request).unwrap()
    };
    let kit = Kitbag::start(setup(), options());
    let names: Vec<String> = kit.own_view().tools().iter().map(|shown| shown.name.to_string()).collect();
    let (mut alone, mut beside) = (Figures::default(), Figures::default());
    let applied = Arc::new(AtomicU64::new(0));
    for _ in 0..LOOK_ROUNDS {
        alone.better(samples(&kit, &names));
        let stop = Arc::new(AtomicBool::new(false));
        let (other, handle) = (kit.clone(), runtime.handle().clone());
        let (worlds, until, count) = ([setup(), tightened(setup())], stop.clone(), applied.clone());
        let applying = std::thread::spawn(move || {
            for world in worlds.iter().cycle() {
                if until.load(Ordering::Relaxed) {
                    break;
                }
                handle.block_on(other.apply(world.clone())).unwrap();
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
        beside.better(samples(&kit, &names));
        stop.store(true, Ordering::Relaxed);
        applying.join().unwrap();
    }
    let ratio = beside.p50 / alone.p50;
    println!("| view and lookup | p50 | p99 |\n|---|---:|---:|");
    println!("| alone | {:.0} ns | {:.0} ns |", alone.p50 * 1e3, alone.p99 * 1e3);
    println!("| while worlds change | {:.0} ns | {:.0} ns |", beside.p50 * 1e3, beside.p99 * 1e3);
    println!("\n{} worlds were applied meanwhile; {} tools", applied.load(Ordering::Relaxed), names.len());
    let broken = bound("a look while worlds change costs", ratio, MOST_LOOK, "a look alone");
    runtime.block_on(kit.close());
    broken
}

/// The same with other limits, so that it is another world.
fn tightened(mut setup: Setup) -> Setup {
    setup.limits.result /= 2;
    setup
}

/// Times per look.
fn samples(kit: &Kitbag, names: &[String]) -> Vec<Duration> {
    let (user, agent) = (UserId::local(), AgentRules::default());
    let mut names = names.iter().cycle();
    let mut look = || {
        let view = kit.view(&user, &agent).unwrap();
        let found = view.find(names.next().unwrap());
        assert!(matches!(black_box(found), NameMatch::One(_)));
    };
    let mut sample = || {
        let began = Instant::now();
        (0..LOOKS).for_each(|_| look());
        began.elapsed() / LOOKS
    };
    (0..SAMPLES).map(|_| sample()).collect()
}

fn env(home: &Path) -> Env {
    Env::new([("KITBAG_HOME".into(), home.into())], home)
}

fn options() -> OpenOptions {
    OpenOptions { launcher: Some(Launcher::None), ..OpenOptions::default() }
}

fn bound(what: &str, ratio: f64, most: f64, of: &str) -> bool {
    let broken = most < ratio;
    println!("{what} {ratio:.3} × {of} (bound {most}){}", if broken { ": broken" } else { "" });
    broken
}

fn millis(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}
