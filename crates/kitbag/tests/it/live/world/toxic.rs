//! `[policy]`: tools by which private data could be carried off, and packages without a version.

use std::os::unix::fs::PermissionsExt as _;

use kitbag::{AgentRules, ErrorKind, Kitbag, LinkState, ToolCall};
use serde_json::json;
use testkit::bin;

use super::super::farm::Opens as _;
use super::super::{Farm, calm};
use super::{listed, user};

/// Ada sees all of it; Bob nothing that others wrote.
const USERS: &str =
    "[groups.inside]\ndeny = ['web/*']\n[users.ada]\n[users.bob]\ngroups = ['inside']\n[policy]\n";

fn farm() -> Farm {
    let farm = Farm::new();
    for (server, tool) in [("fs", "read_file"), ("web", "search_web"), ("mail", "send_email")] {
        farm.add_echo(server, &json!([{"name": tool, "inputSchema": {"type": "object"}}]));
    }
    farm
}

fn names(kit: &Kitbag, who: &str) -> Vec<String> {
    listed(&kit.view(&user(who), &AgentRules::default()).unwrap())
}

async fn sends(kit: &Kitbag, who: &str) -> Option<ErrorKind> {
    let view = kit.view(&user(who), &AgentRules::default()).unwrap();
    kit.call_tool(&view, ToolCall::new("mail/send_email", "{}")).await.err().map(|error| error.kind)
}

#[tokio::test]
async fn t28_the_policy_binds_calls_by_what_each_user_sees() {
    let farm = farm();
    farm.settings(USERS);
    let kit = farm.open(calm()).await;
    let all = ["mcp_fs_read_file", "mcp_mail_send_email", "mcp_web_search_web"];
    for (words, of_ada) in [
        ("", None),
        ("trifecta = 'warn'", None),
        ("trifecta = 'ask'", Some(ErrorKind::ApprovalDenied)),
        ("trifecta = 'deny'", Some(ErrorKind::NotFound)),
        // Ada's mail stays inside, says the operator.
        ("trifecta = 'deny'\n[servers.mail]\nrisk = ['write']", None),
    ] {
        farm.settings(&format!("{USERS}{words}\n"));
        kit.reload().await.unwrap();
        let expected: Vec<&str> = all
            .iter()
            .filter(|name| of_ada != Some(ErrorKind::NotFound) || !name.contains("mail"))
            .copied()
            .collect();
        assert_eq!(names(&kit, "ada"), expected, "{words}");
        assert_eq!(names(&kit, "bob"), all[..2], "{words}");
        let before = farm.count("mail", "exec send_email");
        assert_eq!(sends(&kit, "ada").await, of_ada, "{words}");
        assert_eq!(farm.count("mail", "exec send_email") - before, usize::from(of_ada.is_none()), "{words}");
        assert_eq!(sends(&kit, "bob").await, None, "{words}");
    }
    // What cannot be read lets nobody through.
    farm.settings(&format!("{USERS}trifecta = 'dney'\n"));
    kit.reload().await.unwrap();
    assert_eq!((names(&kit, "ada"), names(&kit, "bob")), (Vec::new(), Vec::new()));
    farm.close(kit).await;
}

/// A launcher that has everything at hand: what it is to start stands behind the package.
const NPX: &str = "#!/bin/sh\necho \"$2\" >> \"$0.started\"\nshift 2\nexec \"$@\"\n";

#[tokio::test]
async fn t43_pinned_only_starts_nothing_without_a_version() {
    let farm = Farm::of("plain", &[]);
    let npx = farm.house.put("bin/npx", NPX);
    std::fs::set_permissions(&npx, std::fs::Permissions::from_mode(0o755)).unwrap();
    for (name, package) in
        [("loose", "@acme/mcp"), ("newest", "@acme/mcp@latest"), ("fixed", "@acme/mcp@1.2.3")]
    {
        let args = json!(["-y", package, bin("fake-mcp"), "--events", farm.diary(name)]);
        farm.enter(name, json!({"command": npx, "args": args, "env": {Farm::MARK: farm.house.at("")}}));
    }
    farm.settings("[policy]\npinned_only = true\n");
    let kit = farm.open(calm()).await;
    let states = |kit: &Kitbag| -> Vec<(String, LinkState)> {
        let mut rows: Vec<_> = kit.status().into_iter().map(|row| (row.name, row.status.state)).collect();
        rows.sort_by(|a, b| a.0.cmp(&b.0));
        rows
    };
    let expected = [
        ("fixed", LinkState::Ready),
        ("loose", LinkState::Held),
        ("newest", LinkState::Held),
        ("plain", LinkState::Ready),
    ]
    .map(|(name, state)| (name.to_owned(), state));
    assert_eq!(states(&kit), expected);
    assert_eq!(farm.house.text("bin/npx.started"), "@acme/mcp@1.2.3\n");
    let faults: Vec<String> = kit.faults().iter().map(ToString::to_string).collect();
    let told =
        |name: &str, words: &str| faults.iter().any(|fault| fault.contains(name) && fault.contains(words));
    assert!(told("loose", "write the version, such as \"@acme/mcp@<version>\""), "{faults:?}");
    assert!(told("newest", "\"@acme/mcp@latest\" has no fixed version and is not started"), "{faults:?}");
    let row = kit.status().into_iter().find(|row| row.name == "loose").unwrap();
    assert!(row.status.error.is_some_and(|reason| reason.to_string().contains("no fixed version")));
    // Without the key all are started.
    farm.settings("[policy]\npinned_only = false\n");
    kit.reload().await.unwrap();
    kit.wait(super::LONG).await;
    assert!(states(&kit).iter().all(|(_, state)| *state == LinkState::Ready), "{:?}", states(&kit));
    farm.close(kit).await;
}
