//! f13: a server that could not be had is tried again when somebody has reason to, and holds up nobody.

use std::time::Duration;

use kitbag::{Kitbag, LinkState, OpenOptions};
use serde_json::json;

use super::super::farm::{Opens as _, Use as _};
use super::super::{Farm, Hosted, calm, names, until};
use super::{LONG, open_for, server};

/// A farm whose server's program is not there yet.
fn without_program() -> Farm {
    let farm = Farm::new();
    let program = farm.house.at("bin/late");
    farm.add_with("x", &[], &json!({"command": program}));
    farm
}

fn install(farm: &Farm) {
    std::fs::create_dir_all(farm.house.path("bin")).unwrap();
    std::os::unix::fs::symlink(testkit::bin("fake-mcp"), farm.house.path("bin/late")).unwrap();
}

#[tokio::test]
async fn f13_a_reload_revives_a_server_whose_program_came_later() {
    let farm = without_program();
    let kit = farm.open(calm()).await;
    kit.reaches("x", LinkState::Failed).await;
    kit.reload().await.unwrap();
    kit.reaches("x", LinkState::Failed).await;
    install(&farm);
    kit.reload().await.unwrap();
    kit.reaches("x", LinkState::Ready).await;
    kit.lives("x").await;
    assert!(until(LONG, || names(&kit.own_view()).contains(&"mcp_x_echo".to_owned())).await);
    assert_eq!(farm.count("x", "start"), 1);
    farm.close(kit).await;
}

#[tokio::test]
async fn f13_a_new_handle_revives_what_failed_for_an_older_one() {
    let farm = without_program();
    farm.settings("[users.ada]\n[users.bob]\n");
    let ada = open_for(&farm, "ada", farm.options(calm())).await;
    ada.reaches("x", LinkState::Failed).await;
    install(&farm);
    let bob = Kitbag::start(super::setup_of(&farm, "bob"), farm.options(calm()));
    bob.reaches("x", LinkState::Ready).await;
    bob.lives("x").await;
    ada.lives("x").await;
    assert_eq!(farm.count("x", "start"), 1, "they share it");
    ada.close().await;
    farm.close(bob).await;
}

/// One who ends a server does so for themselves.
#[tokio::test]
async fn f13_a_stop_by_one_handle_ends_nobody_elses_server() {
    let farm = Farm::of("x", &[]);
    farm.settings("[users.ada]\n[users.bob]\n");
    let ada = open_for(&farm, "ada", farm.options(calm())).await;
    let bob = open_for(&farm, "bob", farm.options(calm())).await;
    ada.stop(&server("x")).await.unwrap();
    let error = ada.call("mcp_x_echo", r#"{"message":"hi"}"#).await.unwrap_err();
    assert_eq!(error.kind, kitbag::ErrorKind::Unavailable, "{error}");
    bob.lives("x").await;
    ada.reload().await.unwrap();
    ada.lives("x").await;
    assert_eq!(farm.count("x", "start"), 1);
    ada.close().await;
    farm.close(bob).await;
}

#[tokio::test]
async fn f13_a_reload_revives_an_address_that_refused_us() {
    let hosted = Hosted::new();
    hosted.add("x", &["--bearer", "secret"], &json!({}));
    let kit = hosted.farm.open(calm()).await;
    kit.reaches("x", LinkState::Failed).await;
    assert!(kit.on("x").status().auth_required());
    hosted.crash("x");
    hosted.again_with("x", &[]);
    kit.reload().await.unwrap();
    kit.reaches("x", LinkState::Ready).await;
    kit.lives("x").await;
    hosted.close(kit).await;
}

#[tokio::test]
async fn f13_a_server_that_keeps_crashing_does_not_use_up_the_wait() {
    for fault in ["s08", "s09"] {
        let farm = Farm::of("x", &["--fault", fault]);
        farm.add("good", &[]);
        let options = OpenOptions { wait: Some(Duration::from_secs(600)), ..farm.options(calm()) };
        let opening = Kitbag::open_with(farm.setup(), options);
        let (kit, faults) = tokio::time::timeout(Duration::from_secs(60), opening).await.unwrap().unwrap();
        assert!(faults.iter().any(|fault| fault.server == Some(server("x"))), "{faults:?}");
        kit.lives("good").await;
        farm.close(kit).await;
    }
}
