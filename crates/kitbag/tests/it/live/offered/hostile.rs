//! Servers whose lists have no end, repeat, lie or never come: they cost themselves alone.

use std::time::Duration;

use kitbag::{CallOptions, ErrorKind, FaultKind};

use super::super::farm::{Opens as _, Use as _};
use super::super::{Farm, Hosted, calm};
use super::{get, prompts, read, uris};

#[tokio::test]
async fn t07_lists_beside_tools_without_end_are_cut_and_kept() {
    let mut limits = calm();
    limits.pages = 5;
    limits.prompts = 4;
    let farm = Farm::of("bad", &["--offers", "endless"]);
    farm.add("good", &["--offers", "good"]);
    let kit = farm.open(limits).await;
    let view = kit.own_view();
    let (resources, faults) = kit.resources(&view).await;
    let of = |server: &str| resources.iter().filter(|one| one.server.as_str() == server).count();
    assert_eq!((of("bad"), of("good")), (5 + 4, 5));
    assert!(faults.iter().any(|fault| fault.kind == FaultKind::ListCut), "{faults:?}");
    let (named, faults) = kit.prompts(&view).await;
    let bad: Vec<_> = named.iter().filter(|one| one.server.as_str() == "bad").collect();
    assert_eq!(bad.len(), 4);
    let cut = faults.iter().find(|fault| fault.kind == FaultKind::ListCut).unwrap();
    assert!(cut.message.contains("more than 4 prompts"), "{cut:?}");
    farm.close(kit).await;
}

#[tokio::test]
async fn t07_lists_beside_tools_are_bounded_by_their_rows() {
    let mut limits = calm();
    (limits.resources, limits.uri) = (3, 14);
    let farm = Farm::of("x", &["--offers", "good"]);
    let kit = farm.open(limits).await;
    let (resources, faults) = kit.resources(&kit.own_view()).await;
    let own: Vec<&str> = resources.iter().map(|one| one.own_uri.as_str()).collect();
    assert_eq!(
        own,
        ["fake://shared", "fake://picture", "fake://hang"]
            .map(|uri| uri)
            .iter()
            .copied()
            .filter(|uri| uri.len() <= 14)
            .collect::<Vec<_>>()
    );
    assert!(faults.iter().any(|fault| fault.message.contains("longer than 14 bytes")), "{faults:?}");
    let long = format!("kitbag+x:fake://echo/{}", "x".repeat(20));
    let error = read(&kit, &kit.own_view(), &long).await.unwrap_err();
    assert_eq!(error, ErrorKind::InvalidArguments);
    farm.close(kit).await;
}

#[tokio::test]
async fn bad_lists_cost_themselves_alone() {
    let farm = Farm::of("good", &["--offers", "good"]);
    for how in ["cycle", "twice", "lies", "empty"] {
        farm.add(how, &["--offers", how]);
    }
    let kit = farm.open(calm()).await;
    let view = kit.own_view();
    let (resources, faults) = kit.resources(&view).await;
    let of = |server: &str| resources.iter().filter(|one| one.server.as_str() == server).count();
    assert_eq!(["good", "cycle", "twice", "lies", "empty"].map(of), [5, 5, 5, 0, 0]);
    let said = |server: &str| -> Vec<String> {
        let of =
            faults.iter().filter(|fault| fault.server.as_ref().is_some_and(|name| name.as_str() == server));
        of.map(|fault| fault.message.clone()).collect()
    };
    assert!(said("good").is_empty() && said("empty").is_empty(), "{faults:?}");
    assert!(said("cycle")[0].contains("the pages repeat"), "{faults:?}");
    assert!(said("lies")[0].contains("has no list of resources"), "{faults:?}");
    assert_eq!(said("twice").len(), 5 + 3, "{faults:?}");
    assert!(faults.iter().all(|fault| !fault.message.contains('\u{202e}')));
    assert_eq!(prompts(&kit, &view).await.iter().filter(|name| name.contains("_greet")).count(), 3);
    assert_eq!(read(&kit, &view, "kitbag+good:fake://echo/hi").await.unwrap(), "hi");
    kit.lives("lies").await;
    farm.close(kit).await;
}

#[tokio::test]
async fn a_list_that_never_comes_holds_up_nobody() {
    for era in ["legacy", "modern"] {
        let mut limits = calm();
        limits.wait_agent = Duration::from_secs(1);
        limits.wait_list = Duration::from_secs(20);
        let farm = Farm::of("hangs", &["--offers", "hang", "--era", era]);
        farm.add("good", &["--offers", "good"]);
        let kit = farm.open(limits).await;
        // Started as a pair, so that the wait above is not over before both are there.
        kit.wait_for_all(Duration::from_secs(60)).await;
        let view = kit.own_view();
        let (resources, faults) = kit.resources(&view).await;
        assert_eq!(resources.len(), 5, "{faults:?}");
        assert!(faults[0].message.contains("no answer to resources/list"), "{faults:?}");
        assert_eq!(get(&kit, &view, "mcp_good_plain", "{}").await.unwrap(), "plain of fake-mcp");
        // It was waited for once; the next look does not wait again.
        let again = kit.resources(&view).await;
        assert_eq!(again.0.len(), 5);
        assert_eq!(farm.count("hangs", "offered resources/list"), 1);
        kit.lives("hangs").await;
        farm.close(kit).await;
    }
}

#[tokio::test]
async fn a_read_that_is_too_large_fails_alone() {
    let mut limits = calm();
    limits.line = 100_000;
    let farm = Farm::of("x", &["--offers", "good"]);
    let kit = farm.open(limits.clone()).await;
    let view = kit.own_view();
    assert_eq!(read(&kit, &view, "kitbag+x:fake://big/90000").await.unwrap().len(), 90_000);
    assert_eq!(read(&kit, &view, "kitbag+x:fake://big/200000").await.unwrap_err(), ErrorKind::TooLarge);
    kit.lives("x").await;
    farm.close(kit).await;
    let hosted = Hosted::of("x", &["--offers", "good"]);
    let kit = hosted.open(limits).await;
    let done = kit.read_resource(&kit.own_view(), "kitbag+x:fake://big/200000", CallOptions::default()).await;
    assert_eq!(done.unwrap_err().kind, ErrorKind::TooLarge);
    kit.lives("x").await;
    hosted.close(kit).await;
}

#[tokio::test]
async fn odd_uris_are_refused_before_anybody_is_asked() {
    let farm = Farm::of("x", &["--offers", "good"]);
    let kit = farm.open(calm()).await;
    let view = kit.own_view();
    assert_eq!(uris(&kit, &view).await.len(), 5);
    for odd in ["", "a\nb", "fake://\u{202e}", &"x".repeat(100_000)] {
        assert_eq!(read(&kit, &view, odd).await.unwrap_err(), ErrorKind::InvalidArguments);
    }
    assert_eq!(farm.count("x", "read"), 0);
    farm.close(kit).await;
}
