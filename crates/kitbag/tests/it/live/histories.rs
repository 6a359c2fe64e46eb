//! Random histories of files, users, slips, reloads, restarts, crashes and calls against real servers: what runs is
//! what a fresh start from the same files would run, no call uses another owner's values, and a restriction that
//! stands in a file is never exceeded.

use std::time::{Duration, SystemTime};

use super::until;

mod calls;
mod changes;
mod files;
mod judge;
mod model;
mod scene;
mod steps;

use scene::{Scene, USERS};

/// Histories of each of the ten tests. The full size is run by `cargo xtask soak`.
const EACH: u64 = if IS_FULL { 100 } else { 3 };

const IS_FULL: bool = option_env!("KITBAG_FULL_TESTS").is_some() || option_env!("KITBAG_SOAK").is_some();

/// Nothing that has to come takes as long.
const LONG: Duration = Duration::from_secs(30);

/// One history from its beginning to its end.
async fn history(seed: u64) {
    let mut scene = Scene::new(seed);
    for _ in 0..4 {
        scene.change_entry();
    }
    for _ in 0..4 {
        scene.answer();
    }
    if scene.dice.roll(2) == 0 {
        scene.change_settings();
    }
    for user in &USERS[..2 + scene.dice.roll(2)] {
        let handle = scene.open(user).await;
        scene.handles.push(handle);
    }
    let everybody = 0..scene.handles.len();
    for who in everybody.clone() {
        scene.judge(who).await;
    }
    for _ in 0..12 + scene.dice.roll(12) {
        scene.step().await;
    }
    if scene.dice.roll(2) == 0 {
        scene.write_all();
    }
    for who in everybody.clone() {
        scene.reload_one(who).await;
    }
    for who in everybody {
        scene.judge_by_fresh_start(who).await;
    }
    while let Some(handle) = scene.handles.pop() {
        handle.kit.close().await;
        scene.judge_ended();
    }
    scene.farm.is_empty();
}

/// A tenth of all histories: the same ones at every small run, others at every full one.
async fn tenth(number: u64) {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    let first = if IS_FULL { now * 1_000 } else { 0 } + number * EACH;
    let seeds = match testkit::seed() {
        Some(seed) => seed..seed + u64::from(number == 0),
        None => first..first + EACH,
    };
    for seed in seeds {
        println!("history {seed}");
        history(seed).await;
    }
}

macro_rules! tenths {
    ($($name:ident $number:literal)*) => {
        $(
            #[tokio::test]
            async fn $name() {
                tenth($number).await;
            }
        )*
    };
}

tenths! {
    what_runs_is_what_the_files_say_0 0
    what_runs_is_what_the_files_say_1 1
    what_runs_is_what_the_files_say_2 2
    what_runs_is_what_the_files_say_3 3
    what_runs_is_what_the_files_say_4 4
    what_runs_is_what_the_files_say_5 5
    what_runs_is_what_the_files_say_6 6
    what_runs_is_what_the_files_say_7 7
    what_runs_is_what_the_files_say_8 8
    what_runs_is_what_the_files_say_9 9
}
