//! Which protocol a server speaks: found out, remembered, or refused.

use std::time::Duration;

use kitbag::LinkState;

use super::farm::{Opens as _, Use as _};
use super::{Farm, calm};

#[tokio::test]
async fn t15_a_version_nobody_speaks_is_refused_naming_both() {
    let odd = [("future", "2099-12-31"), ("past", "2023-01-01"), ("empty", "\"\""), ("number", "20251125")];
    for (mode, theirs) in odd {
        for era in ["legacy", "modern", "both"] {
            let farm = Farm::of("x", &["--fault", &format!("s16:{mode}"), "--era", era]);
            let kit = farm.open(calm()).await;
            let status = kit.on("x").status();
            assert_eq!(status.state, LinkState::Failed, "{mode} {era}: {status:?}");
            let error = status.error.unwrap().to_string();
            let named = [theirs, "2025-11-25", "2026-07-28"].iter().all(|version| error.contains(version));
            assert!(named, "{mode} {era}: {error}");
            assert_eq!(farm.count("x", "start"), 1, "{mode} {era}: tried again");
            farm.close(kit).await;
        }
    }
}

/// Whatever an older server does with a probe; and then it is remembered, and not probed again.
#[tokio::test]
async fn t15_a_probe_falls_back_and_the_era_is_remembered() {
    for (answer, starts) in [("error", 1), ("invalid", 1), ("empty", 1), ("silent", 2), ("exit", 2)] {
        let farm = Farm::of("x", &["--era", "legacy", "--legacy-probe", answer]);
        let mut limits = calm();
        if answer == "silent" {
            limits.probe = Duration::from_millis(300);
        }
        let kit = farm.open(limits.clone()).await;
        kit.lives("x").await;
        assert_eq!(kit.on("x").status().version.as_deref(), Some("2025-11-25"));
        assert_eq!(farm.count("x", "start"), starts, "{answer}");
        assert_eq!(farm.count("x", "discover"), 1, "{answer}");
        farm.close(kit).await;
        let kept = farm.house.text("kit/cache/eras.json");
        assert!(kept.contains("legacy"), "{kept}");
        let kit = farm.open(limits).await;
        kit.lives("x").await;
        assert_eq!(farm.count("x", "start"), starts + 1, "{answer}");
        assert_eq!(farm.count("x", "discover"), 1, "{answer}: probed again");
        farm.close(kit).await;
    }
}

#[tokio::test]
async fn t15_a_server_that_changed_its_era_is_found_out() {
    let farm = Farm::of("x", &["--era", "legacy"]);
    let kit = farm.open(calm()).await;
    farm.close(kit).await;
    let kept = farm.house.text("kit/cache/eras.json");
    // The same command, and another protocol behind it.
    farm.add("x", &["--era", "modern"]);
    let kit = farm.open(calm()).await;
    farm.close(kit).await;
    let both = farm.house.text("kit/cache/eras.json");
    assert!(both.contains("modern") && both.contains("legacy"), "{kept} {both}");
    farm.house.put("kit/cache/eras.json", both.replace("modern", "legacy"));
    let kit = farm.open(calm()).await;
    kit.lives("x").await;
    assert_eq!(kit.on("x").status().version.as_deref(), Some("2026-07-28"));
    farm.close(kit).await;
}

#[tokio::test]
async fn every_version_is_spoken() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] {
        let farm = match version {
            "2026-07-28" => Farm::of("x", &["--era", "modern"]),
            _ => Farm::of("x", &["--era", "legacy", "--version", version]),
        };
        let kit = farm.open(calm()).await;
        kit.lives("x").await;
        assert_eq!(kit.on("x").status().version.as_deref(), Some(version));
        farm.close(kit).await;
    }
}

/// The protocol says to choose from the list of a refusal; one that goes on refusing what it names is given up.
#[tokio::test]
async fn a_server_that_refuses_the_version_it_names_is_asked_once_more() {
    let farm = Farm::of("x", &["--fault", "s30", "--era", "modern"]);
    let kit = farm.open(calm()).await;
    kit.lives("x").await;
    assert_eq!(farm.count("x", "discover"), 2);
    farm.close(kit).await;

    let farm = Farm::of("x", &["--fault", "s30:always", "--era", "modern"]);
    let kit = farm.open(calm()).await;
    let status = kit.on("x").status();
    assert_eq!(status.state, LinkState::Failed, "{status:?}");
    assert!(status.error.unwrap().to_string().contains("2026-07-28"));
    assert_eq!(farm.count("x", "discover"), 2);
    farm.close(kit).await;
}
