//! Several handles in one process, one link for each server.

use kitbag::connect::StartServers;
use kitbag::{Kitbag, OpenOptions};
use serde_json::json;

use super::farm::{Opens as _, Use as _};
use super::{Farm, calm, said};

#[tokio::test]
async fn s3_4_two_handles_share_one_server_until_both_are_closed() {
    let farm = Farm::of("x", &[]);
    let (one, two) = (farm.open(calm()).await, farm.open(calm()).await);
    let first = said(&one.ask("x", "pid", json!({})).await.unwrap());
    assert_eq!(first, said(&two.ask("x", "pid", json!({})).await.unwrap()));
    assert_eq!(farm.count("x", "start"), 1);
    one.close().await;
    assert_eq!(first, said(&two.ask("x", "pid", json!({})).await.unwrap()), "still the same process");
    farm.close(two).await;
    // A new handle gets a new server, not the ended one.
    let three = farm.open(calm()).await;
    assert_ne!(first, said(&three.ask("x", "pid", json!({})).await.unwrap()));
    farm.close(three).await;
}

#[tokio::test]
async fn s3_4_what_differs_is_not_shared() {
    let farm = Farm::of("x", &[]);
    let one = farm.open(calm()).await;
    let first = said(&one.ask("x", "pid", json!({})).await.unwrap());
    let mut narrow = calm();
    narrow.line = 1 << 20;
    let two = farm.open(narrow).await;
    assert_ne!(first, said(&two.ask("x", "pid", json!({})).await.unwrap()), "other bounds, other link");
    farm.add_with("x", &[], &json!({"env": {"OTHER": "value"}}));
    let three = farm.open(calm()).await;
    assert_ne!(first, said(&three.ask("x", "pid", json!({})).await.unwrap()), "other values, other link");
    one.close().await;
    two.close().await;
    farm.close(three).await;
}

#[tokio::test]
async fn a_handle_that_is_dropped_ends_its_servers() {
    let farm = Farm::of("x", &[]);
    let kit =
        Kitbag::start(farm.setup(), OpenOptions { start: StartServers::AtOnce, ..farm.options(calm()) });
    kit.lives("x").await;
    drop(kit);
    super::until(std::time::Duration::from_secs(10), || farm.alive().is_empty()).await;
    farm.is_empty();
}

#[tokio::test]
async fn servers_described_in_code_are_opened_and_called() {
    let farm = Farm::new();
    let fake = testkit::bin("fake-mcp");
    let name = kitbag::ServerName::parse("mine").unwrap();
    let spec = kitbag::ServerSpec::program(name, fake.to_str().unwrap(), ["--era", "modern"]);
    let env = farm.setup().env().clone();
    let (kit, faults) =
        Kitbag::open_with(kitbag::Setup::from_specs(env, vec![spec]), farm.options(calm())).await.unwrap();
    assert!(faults.is_empty(), "{faults:?}");
    let result = kit.call("mcp_mine_add", r#"{"a": 2, "b": 3}"#).await.unwrap();
    assert_eq!(result.content[0].as_text(), Some("5"));
    farm.close(kit).await;
}
