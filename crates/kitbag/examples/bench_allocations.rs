//! Heap allocations a call costs, for a small and a large result: the same, or something copies by the piece.
//!
//! Apart from the other figures, because counting costs time.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on stops")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the environment")]

#[path = "open/link.rs"]
mod on_link;
#[path = "open/kit.rs"]
mod open;

use std::alloc::System;

use kitbag::connect::Link;
use on_link::{arguments, call, with_link};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOC: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() {
    kitbag::guard::init();
    let program = format!("\"command\": {:?}", testkit::bin("fake-mcp"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let [small, large] = [1_000, 1_000_000]
        .map(|bytes| runtime.block_on(with_link(&program, async |link| allocations(&link, bytes).await)));
    println!("| allocations a call | |\n|---|---:|");
    println!("| result of 1 kB | {small:.1} |\n| result of 1 MB | {large:.1} |");
    std::process::exit(i32::from(small != large));
}

async fn allocations(link: &Link, bytes: usize) -> f64 {
    let arguments = arguments(&format!(r#"{{"bytes":{bytes}}}"#));
    for _ in 0..20 {
        call(link, "big", &arguments).await;
    }
    let rounds = 200;
    let region = Region::new(ALLOC);
    for _ in 0..rounds {
        assert!(bytes <= call(link, "big", &arguments).await);
    }
    let change = region.change();
    (change.allocations + change.reallocations) as f64 / f64::from(rounds)
}
