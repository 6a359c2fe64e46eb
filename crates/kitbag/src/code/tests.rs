//! Code that waits, panics, hangs, and fills every thread, on a runtime of one thread.

use std::sync::mpsc;

use super::*;

fn limits() -> Limits {
    let mut limits = Limits::default().faster(50);
    limits.code_threads = 2;
    limits
}

/// Nothing here takes so long, however busy the machine is.
fn patient() -> Limits {
    let mut limits = limits();
    limits.wait_code = Duration::from_secs(30);
    limits
}

fn on_one_thread(test: impl AsyncFn()) {
    let one = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    one.block_on(test());
}

/// Blocks its thread until the test lets go, or so long that the test has failed.
fn hang(until: &mpsc::Receiver<()>) {
    let _ = until.recv_timeout(Duration::from_secs(30));
}

#[test]
fn f22_code_that_gives_way_may_take_its_time() {
    on_one_thread(async || {
        let threads = Threads::default();
        let work = async {
            // Longer in all than it may hang, in steps that are far shorter.
            testkit::until(limits().wait_code * 2, || false).await;
            7
        };
        assert_eq!(threads.run(&limits(), work).await, Ok(7));
    });
}

#[test]
fn f22_a_panic_is_told() {
    on_one_thread(async || {
        let done = Threads::default().run(&patient(), async { panic!("BOOM") }).await;
        assert_eq!(done, Err::<(), _>(Trouble::Panicked("BOOM".to_owned())));
    });
}

#[test]
fn f22_code_that_waits_for_nothing_is_bounded_as_well() {
    let threads = Threads::default();
    assert_eq!(threads.run_now(&patient(), || 1), Ok(1));
    assert_eq!(
        threads.run_now(&patient(), || panic!("BOOM")),
        Err::<(), _>(Trouble::Panicked("BOOM".to_owned()))
    );
    let (_end, ended) = mpsc::channel::<()>();
    let done = threads.run_now(&limits(), move || hang(&ended));
    assert_eq!(done, Err(Trouble::Hung(limits().wait_code)));
}

#[test]
fn f22_code_that_hangs_costs_its_thread_until_it_ends() {
    on_one_thread(async || {
        let threads = Threads::default();
        let mut ends = Vec::new();
        for _ in 0..2 {
            let (end, ended) = mpsc::channel::<()>();
            ends.push(end);
            let done = threads.run(&limits(), async move { hang(&ended) }).await;
            assert_eq!(done, Err(Trouble::Hung(limits().wait_code)));
        }
        let refused = threads.run(&limits(), async {}).await;
        assert_eq!(refused, Err(Trouble::Refused(2)));
        ends.pop();
        while threads.0.0.lock().stuck == 2 {
            tokio::task::yield_now().await;
        }
        assert_eq!(threads.run(&patient(), async { 1 }).await, Ok(1));
    });
}

#[tokio::test]
async fn work_that_ended_is_never_taken_for_work_that_hangs() {
    let threads = Threads::default();
    let mut limits = Limits::default();
    limits.code_threads = 1;
    for count in 0..2_000 {
        assert_eq!(threads.run(&limits, async move { count }).await, Ok(count));
        assert_eq!(threads.run_now(&limits, move || count), Ok(count));
    }
}

#[test]
fn work_that_got_no_thread_is_not_said_to_hang() {
    let threads = Threads::default();
    let mut limits = limits();
    limits.code_threads = 1;
    let (end, ended) = mpsc::channel::<()>();
    let (begin, began) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let mut patient = limits.clone();
        patient.wait_code = Duration::from_secs(30);
        let threads = &threads;
        let first = scope.spawn(move || {
            threads.run_now(&patient, move || {
                let _ = begin.send(());
                hang(&ended);
            })
        });
        began.recv_timeout(Duration::from_secs(30)).unwrap();
        assert_eq!(threads.run_now(&limits, || 1), Err(Trouble::Refused(1)));
        drop(end);
        assert_eq!(first.join().unwrap(), Ok(()));
    });
    assert_eq!(threads.run_now(&patient(), || 1), Ok(1));
}
