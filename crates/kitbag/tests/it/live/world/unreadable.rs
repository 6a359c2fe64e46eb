//! f14: a file that cannot be read says what it said before, whichever file it is.

use kitbag::files::TrustStore;
use serde_json::json;

use super::super::farm::{Opens as _, Use as _};
use super::super::{Farm, calm, names};
use super::{LONG, approve, pid, variable};

/// No text in any encoding we read.
const UNREADABLE: &[u8] = b"MODE=\xe9\n";

/// Which of two tools are listed.
fn of_two(kit: &kitbag::Kitbag) -> String {
    let names = names(&kit.own_view());
    ["add", "echo"].into_iter().filter(|tool| names.contains(&format!("mcp_x_{tool}"))).collect()
}

/// Without them what they keep away would be offered.
#[tokio::test]
async fn f14_approved_settings_stay_in_force_until_others_are_approved() {
    let farm = Farm::of("x", &[]);
    let (one, other) = ("[servers.x]\nexclude = ['add']\n", "[servers.x]\nexclude = ['echo']\n");
    let file = "project/kitbag.toml";
    farm.house.put(file, one);
    approve(&farm, "kitbag.toml");
    let kit = farm.open(calm()).await;
    assert_eq!(of_two(&kit), "echo");
    for text in [UNREADABLE, b"[servers.x]\nexclu", b"", other.as_bytes(), b"[servers.x\n"] {
        farm.house.put(file, text);
        // Again: what was kept once is kept on.
        for _ in 0..2 {
            let faults = kit.reload().await.unwrap();
            assert_eq!(of_two(&kit), "echo", "{}", text.escape_ascii());
            let told =
                |fault: &kitbag::Fault| fault.to_string().contains("stay in force") && fault.place.is_some();
            assert!(faults.iter().any(told), "{faults:?}");
        }
    }
    farm.house.put(file, "[servers.x\n");
    let faults = kit.reload().await.unwrap();
    assert!(faults.iter().any(|fault| fault.kind == kitbag::FaultKind::Syntax), "{faults:?}");
    // Whoever never saw what was approved has nothing to keep.
    farm.house.put(file, other);
    let fresh = farm.setup();
    assert!(fresh.settings.is_empty() && fresh.held_settings().next().is_some());
    approve(&farm, "kitbag.toml");
    let faults = kit.reload().await.unwrap();
    assert_eq!((of_two(&kit).as_str(), faults.len()), ("add", 0), "{faults:?}");
    // An approval that is taken back takes its settings with it.
    TrustStore::revoke(&kit.setup().folders, |_| true).unwrap();
    farm.house.put(file, "[servers.x\n");
    kit.reload().await.unwrap();
    assert_eq!(of_two(&kit), "addecho");
    farm.close(kit).await;
}

#[tokio::test]
async fn f14_a_dot_env_that_cannot_be_read_ends_nothing() {
    let farm = Farm::new();
    let entry = farm.entry("p", &[], &json!({"env": {"MODE": "${P_MODE}"}}));
    farm.house.put("project/.mcp.json", json!({"mcpServers": {"p": entry}}).to_string());
    farm.house.put("project/.env", "P_MODE=good\n");
    approve(&farm, "p");
    let kit = farm.open(calm()).await;
    let before = pid(&kit, "p").await;
    farm.house.put("project/.env", UNREADABLE);
    for _ in 0..2 {
        let faults = kit.reload().await.unwrap();
        assert!(faults.iter().any(|fault| fault.to_string().contains(".env")), "{faults:?}");
        assert_eq!(pid(&kit, "p").await, before);
    }
    // One that is gone is not one that cannot be read.
    std::fs::remove_file(farm.house.path("project/.env")).unwrap();
    kit.reload().await.unwrap();
    assert!(kit.link(&super::server("p")).is_none());
    farm.close(kit).await;
}

#[tokio::test]
async fn f14_a_file_of_variables_that_cannot_be_read_ends_nothing() {
    let farm = Farm::new();
    farm.add_with("x", &[], &json!({"envFile": "vars"}));
    let entry = farm.entry("p", &[], &json!({"envFile": "vars"}));
    farm.house.put("project/.mcp.json", json!({"mcpServers": {"p": entry}}).to_string());
    farm.house.put("project/vars", "MODE=good\n");
    approve(&farm, "p");
    let kit = farm.open(calm()).await;
    let before = (pid(&kit, "x").await, pid(&kit, "p").await);
    farm.house.put("project/vars", UNREADABLE);
    for _ in 0..2 {
        let faults = kit.reload().await.unwrap();
        assert!(faults.iter().any(|fault| fault.to_string().contains("vars")), "{faults:?}");
        assert_eq!((pid(&kit, "x").await, pid(&kit, "p").await), before);
    }
    // What was read before is what runs, also after a crash.
    kit.ask("x", "die", json!({"how": "kill"})).await.unwrap_err();
    assert_eq!(variable(&kit, "x", "MODE").await, "good");
    farm.house.put("project/vars", "MODE=new\n");
    assert!(kit.reload().await.unwrap().iter().all(|fault| !fault.to_string().contains("vars")));
    kit.wait(LONG).await;
    assert_eq!(variable(&kit, "x", "MODE").await, "new");
    farm.close(kit).await;
}
