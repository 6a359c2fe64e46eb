//! What the command line exits with and says when a server cannot be used.

use std::net::TcpListener;

use kitbag::ErrorKind;
use kitbag::connect::ReasonClass;
use serde_json::{Value, json};

use super::{Farm, Hosted};
use crate::house::Runs as _;

#[test]
fn f28_a_first_401_is_auth_required_in_every_command() {
    let hosted = Hosted::of("x", &["--fault", "h17"]);
    let house = &hosted.farm.house;
    let named = ["call", "show", "why"].map(|command| [vec![command, "x/add"], vec![command, "add"]]);
    for args in named.into_iter().flatten().chain([vec!["tools"]]) {
        let ran = house.run(&args).exits(12);
        assert!(ran.all().contains("auth required: answered 401"), "{args:?}: {ran:?}");
    }
    // With another server away for another reason nobody can say what would help.
    hosted.farm.add_with("gone", &[], &json!({"command": "no-such-program"}));
    assert_eq!(house.run(&["call", "add", "--json"]).exits(4).json()["kind"], "unavailable");
    assert_eq!(house.run(&["call", "x/add", "--json"]).exits(12).json()["kind"], "auth_required");
}

#[test]
fn f59_a_401_says_which_line_to_write() {
    let hosted = Hosted::of("x", &["--fault", "h17"]);
    let house = &hosted.farm.house;
    for args in [&["call", "x/add"][..], &["tools"], &["status"], &["logs", "x"]] {
        let all = house.run(args).all();
        assert!(all.contains("answered 401 Unauthorized: expired; invalid_token at http"), "{args:?}: {all}");
        assert!(all.contains(r#""headers": {"Authorization": "Bearer ${MY_TOKEN}"}"#), "{args:?}: {all}");
    }
    // A token that is not accepted is not asked for once more.
    let hosted = Hosted::new();
    hosted.add("x", &["--fault", "h17"], &json!({"headers": {"Authorization": "Bearer stale-token-4f1b"}}));
    let all = hosted.farm.house.run(&["tools"]).exits(12).all();
    assert!(all.contains("was not accepted") && !all.contains("MY_TOKEN"), "{all}");
}

#[test]
fn f59_a_404_at_the_root_says_which_address_to_try() {
    let hosted = Hosted::new();
    let url = hosted.host("y", &[]);
    hosted.enter("root", &url.replace("/mcp", "/"), &json!({}));
    let told = hosted.farm.house.run(&["tools", "--wait", "2s"]).err;
    assert!(told.contains(&format!(r#"try "url": "{url}""#)), "{told}");
}

#[test]
fn f59_a_folder_that_does_not_exist_is_named() {
    let farm = Farm::new();
    farm.add_with("x", &[], &json!({"cwd": "/no/such/folder"}));
    farm.house.run(&["call", "x/add"]).fails(4, "/no/such/folder");
}

#[test]
fn f28_a_401_for_the_list_alone_is_auth_required_in_a_command() {
    let hosted = Hosted::of("x", &["--fault", "h17:list"]);
    hosted.farm.house.run(&["call", "add", "a=1", "b=1"]).fails(12, "tools cannot be listed: answered 401");
}

/// Credentials do not help against a plain 403.
#[test]
fn f28_a_403_is_forbidden_in_a_command() {
    let hosted = Hosted::of("x", &["--fault", "h17:forbidden"]);
    let ran = hosted.farm.house.run(&["call", "x/add", "--json"]).exits(13);
    let said = ran.json();
    assert_eq!(said["kind"], "server_error", "{said}");
    assert!(!ran.all().contains("auth required"), "{ran:?}");
    assert!(said["message"].as_str().unwrap().contains("forbidden: answered 403"), "{said}");
    let rows = hosted.farm.house.run(&["status", "--json"]).exits(0).json();
    assert_eq!(
        (&rows[0]["auth_required"], &rows[0]["reason"]["class"]),
        (&json!(false), &json!("forbidden"))
    );
    assert!(rows[0]["next_try"].is_string(), "{rows}");
}

#[test]
fn f79_unreachable_is_unavailable_in_every_command() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let pipe = Farm::new();
    pipe.add_with("x", &[], &json!({"command": "no-such-program"}));
    let hosted = Hosted::new();
    hosted.enter("x", &format!("http://{free}/mcp"), &json!({}));
    for farm in [&pipe, &hosted.farm] {
        for name in ["x/add", "mcp_x_add", "add"] {
            let called = farm.house.run(&["call", name, "--json", "--wait", "3s"]).exits(4).json();
            assert_eq!(called["kind"], "unavailable", "{name}: {called}");
            for command in ["show", "why"] {
                let ran = farm.house.run(&[command, name, "--wait", "3s"]).exits(4);
                assert!(
                    ["x: ", "x is "].iter().any(|word| ran.all().contains(word)),
                    "{command} {name}: {ran:?}"
                );
            }
        }
        farm.house.run(&["tools", "--wait", "3s"]).exits(4);
    }
    // A name that is wrong whoever is away stays that.
    pipe.add("good", &[]);
    let called = pipe.house.run(&["call", "good/no-such-tool", "--json"]).exits(5).json();
    assert_eq!(called["kind"], "not_found", "{called}");
}

#[test]
fn f79_every_kind_a_server_can_bring_about_has_its_exit_code() {
    for (fault, kind, code) in [
        ("h09:html,call", "bad_answer", 13),
        ("h17:call", "auth_required", 12),
        ("h17:forbidden,call", "server_error", 13),
        ("h19:1,429,call", "rate_limited", 14),
        ("h19:1,503,call", "outcome_unknown", 9),
    ] {
        let hosted = Hosted::of("x", &["--era", "modern", "--fault", fault]);
        let ran = hosted.farm.house.run(&["call", "x/echo", "message=a", "--json"]).exits(code);
        assert_eq!(ran.json()["kind"], kind, "{fault}");
    }
    let farm = Farm::of("x", &[]);
    farm.house.put("kit/config/kitbag.toml", "[limits]\nline = \"20KiB\"\n");
    let ran = farm.house.run(&["call", "x/big", "bytes=100000", "--json"]).exits(13);
    assert_eq!(ran.json()["kind"], "too_large", "{ran:?}");
    let ran = farm.house.run(&["call", "x/rpc_error", "code=-32050", "--json"]).exits(13);
    assert_eq!(ran.json()["kind"], "server_error");
}

#[test]
fn f79_errors_are_listed_as_they_are_in_the_table() {
    let farm = Farm::new();
    let listed = farm.house.run(&["errors", "--json"]).exits(0).json();
    let words: Vec<&str> =
        listed["kinds"].as_array().unwrap().iter().map(|row| row["kind"].as_str().unwrap()).collect();
    assert_eq!(words, ErrorKind::ALL.iter().map(|kind| kind.as_str()).collect::<Vec<_>>());
    let classes: Vec<&Value> =
        listed["reasons"].as_array().unwrap().iter().map(|row| &row["class"]).collect();
    assert_eq!(classes, ReasonClass::ALL.iter().map(|class| class.as_str()).collect::<Vec<_>>());
    let text = farm.house.run(&["errors"]).exits(0).out;
    assert!(words.iter().all(|word| text.contains(word)), "{text}");
}
