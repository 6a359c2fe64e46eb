//! The good server among all hostile ones.

use std::time::Duration;

use kitbag::LinkState;
use serde_json::json;

use super::farm::{Opens as _, Use as _, peak_mib};
use super::{Farm, alone, calm, said, until};

/// Sizes that are hostile enough and still quick.
const SIZES: [(&str, &str); 4] = [("s02", "64"), ("s03", "32"), ("s04", "20"), ("s24", "20000")];

/// Every label with every mode it has.
fn faults() -> Vec<String> {
    let listed = std::process::Command::new(testkit::bin("fake-mcp")).arg("--list-faults").output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let mut faults = Vec::new();
    for line in listed.lines() {
        let (label, rest) = line.split_once("  [").unwrap();
        let modes = rest.split_once(']').unwrap().0;
        let size = SIZES.iter().find(|(sized, _)| *sized == label).map(|(_, size)| *size);
        faults.push(size.map_or_else(|| label.to_owned(), |size| format!("{label}:{size}")));
        for mode in modes.split(',').filter(|mode| !mode.is_empty() && *mode != "N") {
            faults.push(match size {
                Some(size) => format!("{label}:{size},{mode}"),
                None => format!("{label}:{mode}"),
            });
        }
    }
    assert!(29 <= faults.len(), "{listed}");
    faults
}

#[test]
fn t02_the_good_server_is_unharmed_among_all_hostile_ones() {
    if !alone("live::crowd::t02_the_good_server_is_unharmed_among_all_hostile_ones") {
        return;
    }
    let farm = Farm::of("good", &[]);
    let faults = faults();
    for fault in &faults {
        farm.add(&fault.replace([':', ','], "-"), &["--fault", fault]);
    }
    let mut limits = calm();
    limits.wait_stdio = Duration::from_secs(8);
    limits.probe = Duration::from_secs(4);
    limits.wait_list = Duration::from_secs(4);
    limits.wait_agent = Duration::from_secs(8);
    limits.wait_idle = Duration::from_secs(4);
    limits.wait_total = Duration::from_secs(6);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let kit = farm.start(limits);
        kit.on("good").settled().await;
        assert!(!kit.on("good").tools().tools.is_empty());
        // It did not wait for those that will never be there.
        assert_eq!(kit.on("s05").status().state, LinkState::Starting);
        assert_eq!(kit.on("s12-start").status().state, LinkState::Starting);
        // Every hostile server is called while the good one works.
        let hostile: Vec<_> = kit.links().into_iter().filter(|link| link.name().as_str() != "good").collect();
        let attacks =
            hostile.iter().map(|link| kit.ask(link.name().as_str(), "echo", json!({"message": "x"})));
        let attacks = join_all(attacks.collect());
        let (outcomes, ()) = tokio::join!(attacks, hundred(&kit));
        for (link, outcome) in hostile.iter().zip(outcomes) {
            if let Err(error) = outcome {
                assert!(!error.message.is_empty() && error.server == *link.name(), "{error:?}");
            }
        }
        for link in kit.links() {
            let explained = || {
                let status = link.status();
                let settled = !matches!(status.state, LinkState::Starting | LinkState::Idle);
                settled
                    && (status.state == LinkState::Ready
                        || status.error.is_some_and(|why| !why.root.is_empty()))
            };
            assert!(until(Duration::from_secs(60), explained).await, "{}: {:?}", link.name(), link.status());
        }
        kit.lives("good").await;
        kit.close().await;
    });
    farm.is_empty();
    assert!(peak_mib() < 256, "{} MiB", peak_mib());
    println!("peak: {} MiB", peak_mib());
}

async fn hundred(kit: &kitbag::Kitbag) {
    let mut slowest = Duration::ZERO;
    for number in 0..100 {
        let reply = kit.ask("good", "echo", json!({"message": format!("m{number}")})).await.unwrap();
        assert_eq!((said(&reply), reply.retries), (format!("m{number}"), 0));
        slowest = slowest.max(reply.took);
    }
    println!("the slowest of 100 good calls took {slowest:?}");
}

async fn join_all<F: Future>(futures: Vec<F>) -> Vec<F::Output> {
    let mut running: Vec<_> = futures.into_iter().map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(|context| {
        for (future, done) in running.iter_mut().filter(|(_, done)| done.is_none()) {
            if let std::task::Poll::Ready(output) = future.as_mut().poll(context) {
                *done = Some(output);
            }
        }
        match running.iter().all(|(_, done)| done.is_some()) {
            true => std::task::Poll::Ready(()),
            false => std::task::Poll::Pending,
        }
    })
    .await;
    running.into_iter().filter_map(|(_, done)| done).collect()
}
