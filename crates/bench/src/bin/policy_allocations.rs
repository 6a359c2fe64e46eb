//! Heap allocations of a decision that allows a call: there must be none.
//!
//! Apart from the other figures, because counting costs time. Ends with 1 when there is one.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on stops")]

use std::alloc::System;

use bench::policy::Ruled;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOC: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const ROUNDS: usize = 10_000;

fn main() {
    kitbag::guard::init();
    let server = testkit::bin("fake-mcp");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let made = runtime.block_on(async {
        let ruled = Ruled::start(server.to_str().unwrap()).await;
        ruled.names().take(ROUNDS).for_each(|name| ruled.authorize(name));
        let region = Region::new(ALLOC);
        ruled.names().take(ROUNDS).for_each(|name| ruled.authorize(name));
        let change = region.change();
        ruled.close().await;
        change.allocations + change.reallocations
    });
    println!("\nallocations in {ROUNDS} decisions that allow a call: {made} (at most 0)");
    std::process::exit(i32::from(0 < made));
}
