//! Heap allocations of one call through the link, the whole of Kitbag and the official client.
//!
//! Apart from the other figures, because counting costs time. Ends with 1 when a whole call makes too many.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on stops")]

use std::alloc::System;

use bench::{Client, on_link, on_official, on_whole};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOC: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const MOST: f64 = 12.0;

fn main() {
    kitbag::guard::init();
    let server = testkit::bin("fake-mcp");
    let server = server.to_str().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let link = runtime.block_on(on_link(server, allocations));
    let whole = runtime.block_on(on_whole(server, allocations));
    let rmcp = runtime.block_on(on_official(server, allocations));
    println!("| allocations a call | |\n|---|---:|");
    println!("| link | {link:.1} |\n| whole call | {whole:.1} |\n| rmcp | {rmcp:.1} |");
    println!("\nbound: a whole call at most {MOST}");
    std::process::exit(i32::from(MOST < whole));
}

async fn allocations(client: impl Client) -> f64 {
    // Long enough that every table has its size.
    for _ in 0..2_000 {
        client.call().await;
    }
    let rounds = 1_000;
    let region = Region::new(ALLOC);
    for _ in 0..rounds {
        client.call().await;
    }
    let change = region.change();
    (change.allocations + change.reallocations) as f64 / f64::from(rounds)
}
