//! f15 and f16: what runs is what somebody approved, and a folder's own programs are found by nobody.

use kitbag::files::TrustStore;
use kitbag::{DiscoverOptions, Env, Kitbag, LinkState, OpenOptions, Setup};
use serde_json::json;

use super::super::farm::{Opens as _, Use as _};
use super::super::{Farm, alone, calm};
use super::{LONG, approve, server, state, variable};

/// Puts a server with a file of variables into the working folder.
fn project(farm: &Farm, env: &str) {
    let entry = farm.entry("p", &[], &json!({"envFile": ".env.server"}));
    farm.house.put("project/.mcp.json", json!({"mcpServers": {"p": entry}}).to_string());
    farm.house.put("project/.env.server", env);
}

#[tokio::test]
async fn f15_the_contents_of_an_env_file_are_part_of_an_approval() {
    let farm = Farm::of("x", &[]);
    project(&farm, "TOOL_MODE=good\n");
    assert_eq!(state(&farm, "p"), "held");
    approve(&farm, "p");
    assert_eq!(state(&farm, "p"), "used");
    let kit = farm.open(calm()).await;
    assert_eq!(variable(&kit, "p", "TOOL_MODE").await, "good");
    for text in ["TOOL_MODE=good\nLD_PRELOAD=/tmp/evil.so\n", "TOOL_MODE=evil\n", ""] {
        farm.house.put("project/.env.server", text);
        assert_eq!(state(&farm, "p"), "held", "{text:?}");
        // Whoever has it open lets go of it at the next look, and starts no other.
        let starts = farm.count("p", "start");
        kit.reload().await.unwrap();
        assert!(kit.link(&server("p")).is_none(), "{text:?}");
        assert_eq!(farm.count("p", "start"), starts, "{text:?}");
        kit.lives("x").await;
        farm.house.put("project/.env.server", "TOOL_MODE=good\n");
        kit.reload().await.unwrap();
        kit.wait(LONG).await;
        assert_eq!(variable(&kit, "p", "TOOL_MODE").await, "good", "what was approved runs again");
    }
    std::fs::remove_file(farm.house.path("project/.env.server")).unwrap();
    assert_ne!(state(&farm, "p"), "used");
    farm.close(kit).await;
}

/// What runs is what was hashed, also when the file changes between the two.
#[tokio::test]
async fn f15_an_env_file_is_read_once() {
    let farm = Farm::new();
    project(&farm, "TOOL_MODE=good\n");
    approve(&farm, "p");
    let setup = farm.setup();
    farm.house.put("project/.env.server", "TOOL_MODE=evil\n");
    let kit = Kitbag::start(setup, farm.options(calm()));
    kit.wait(LONG).await;
    assert_eq!(variable(&kit, "p", "TOOL_MODE").await, "good");
    // A crash does not read it again.
    kit.ask("p", "die", json!({"how": "kill"})).await.unwrap_err();
    assert_eq!(variable(&kit, "p", "TOOL_MODE").await, "good");
    farm.close(kit).await;
}

#[test]
fn f15_settings_that_were_shown_are_those_that_are_approved() {
    let farm = Farm::of("x", &[]);
    let (good, evil) = ("[servers.x]\nexclude = ['die']\n", "[servers.x]\ninclude = ['die']\n");
    farm.house.put("project/kitbag.toml", good);
    let setup = farm.setup();
    let held = setup.held_settings().next().unwrap().clone();
    assert_eq!(held.text, good);
    // The file changes after it was shown: the approval is of what was shown.
    farm.house.put("project/kitbag.toml", evil);
    TrustStore::approve(&setup.folders, std::slice::from_ref(&held.approval)).unwrap();
    assert_eq!(farm.setup().held_settings().next().unwrap().text, evil);
    assert!(farm.setup().settings.iter().all(|(file, _)| !file.starts_with(farm.house.path("project"))));
    farm.house.put("project/kitbag.toml", good);
    assert!(farm.setup().held_settings().next().is_none(), "approved");
}

/// A farm with this `PATH`, and a program of its own in the working folder.
fn env(farm: &Farm, path: &str) -> Env {
    farm.env().with("PATH", path)
}

#[tokio::test]
async fn f16_a_program_of_the_working_folder_is_not_found() {
    let farm = Farm::new();
    let program = farm.house.path("project/tool");
    std::fs::copy(testkit::bin("fake-mcp"), &program).unwrap();
    farm.add_with("x", &[], &json!({"command": "tool"}));
    let project = farm.house.at("project");
    for (path, found) in [("", false), (":.", false), (".", false), ("bin:", false), (&*project, true)] {
        let request = DiscoverOptions { env: env(&farm, path), ..DiscoverOptions::default() };
        let kit = Kitbag::start(Setup::discover(&request).unwrap(), farm.options(calm()));
        kit.wait(LONG).await;
        assert_eq!(farm.count("x", "start"), usize::from(found), "PATH={path:?}");
        kit.reaches("x", if found { LinkState::Ready } else { LinkState::Failed }).await;
        farm.close(kit).await;
    }
}

/// Nor is one of our own name, which would guard every server.
#[tokio::test]
async fn f16_a_kitbag_of_the_working_folder_is_not_run() {
    use std::os::unix::fs::PermissionsExt as _;
    if !alone("live::world::trust::f16_a_kitbag_of_the_working_folder_is_not_run") {
        return;
    }
    let farm = Farm::new();
    // Relative parts of a path mean the folder of the process.
    std::env::set_current_dir(farm.house.path("project")).unwrap();
    let marker = farm.house.path("was-run");
    let script = format!("#!/bin/sh\necho run >> {:?}\nexec sleep 3600\n", marker);
    let program = farm.house.put("project/kitbag", script);
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    for path in ["", ":.", "./"] {
        let request = DiscoverOptions { env: env(&farm, path), ..DiscoverOptions::default() };
        let setup = Setup::discover(&request).unwrap();
        let kit = Kitbag::start(setup, OpenOptions { launcher: None, ..farm.options(calm()) });
        farm.close(kit).await;
        assert!(!marker.exists(), "PATH={path:?}");
    }
    // On an absolute path it is asked who it is, and not waited for.
    let request =
        DiscoverOptions { env: env(&farm, &farm.house.at("project")), ..DiscoverOptions::default() };
    let kit = Kitbag::start(
        Setup::discover(&request).unwrap(),
        OpenOptions { launcher: None, ..farm.options(calm()) },
    );
    assert!(marker.exists());
    farm.close(kit).await;
}
