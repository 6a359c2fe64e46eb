//! Secrets of a server in what models, hosts, records and logs get.

use kitbag::ContentBlock;
use serde_json::json;

use super::farm::Opens as _;
use super::{Farm, calm, first};

/// What a model or host gets is what was received, unless the operator says otherwise; what is recorded is not.
#[tokio::test]
async fn f71_a_server_may_have_its_own_secrets_masked_for_models_too() {
    let all =
        |blocks: &[ContentBlock]| blocks.iter().map(|block| block.as_value().to_string()).collect::<String>();
    for (settings, masked) in [("", false), ("[servers.x]\nmask_results = true\n", true)] {
        let farm = Farm::new();
        let secret = "PLANTED-own-secret-1";
        farm.add_with("x", &[], &json!({"env": {"MY_TOKEN": secret}}));
        farm.settings(settings);
        let kit = farm.open(calm()).await;
        let result = kit.call("mcp_x_env", r#"{"names": ["MY_TOKEN"]}"#).await.unwrap();
        let want = if masked { r#"{"MY_TOKEN":"***"}"# } else { r#"{"MY_TOKEN":"PLANTED-own-secret-1"}"# };
        assert_eq!((first(&result), all(&result.for_model()).contains(secret)), (want, !masked));
        let echoed = json!({"message": format!("it is {secret}"), "token": secret}).to_string();
        let result = kit.call("mcp_x_echo", &echoed).await.unwrap();
        assert_eq!(result.structured, Some(json!({"token": if masked { "***" } else { secret }})));
        // A person sees it masked either way, and so does whoever reads the records.
        let name = kitbag::ServerName::parse("x").unwrap();
        assert_eq!(first(&result.masked(&kit.redactor(&name))), "it is ***");
        let records = kit.recent_calls();
        assert!(records[1].arguments.contains("it is ***"), "{}", records[1].arguments);
        assert!(records.iter().all(|record| !record.arguments.contains("PLANTED")));
        farm.close(kit).await;
        assert!(!farm.log("x").contains("PLANTED"), "{}", farm.log("x"));
    }
}

/// A large result goes through a file, so a model gets it masked from its first page on.
#[tokio::test]
async fn f71_what_is_kept_in_a_file_is_masked_there() {
    let secret = "PLANTED-own-secret-1";
    let farm = Farm::new();
    farm.add_with("x", &[], &json!({"env": {"MY_TOKEN": secret}}));
    let kit = farm.open(calm()).await;
    let long = format!("{secret} {} {secret}", "y".repeat(kit.limits().result));
    let result = kit.call("mcp_x_echo", &json!({"message": long}).to_string()).await.unwrap();
    assert!(first(&result).starts_with("*** yyy"), "{}", &first(&result)[..40]);
    let handle = result.info.handle.clone().unwrap();
    let rest = json!({"handle": handle, "page": 2}).to_string();
    let page = kit.call("kitbag_read_result", &rest).await.unwrap();
    assert!(first(&page).contains("y ***\n[page 2 of 2, the last]"), "{}", first(&page));
    farm.close(kit).await;
}

/// What was called with what is nobody's business in a log.
#[tokio::test]
async fn f84_arguments_are_not_written_to_logs() {
    let farm = Farm::of("x", &[]);
    let kit = farm.open(calm()).await;
    kit.call("mcp_x_echo", r#"{"message": "dear diary"}"#).await.unwrap();
    assert!(kit.recent_calls()[0].arguments.contains("dear diary"));
    farm.close(kit).await;
    let kept = farm.house.files("kit/state");
    assert!(farm.log("x").contains("call echo ok "), "{}", farm.log("x"));
    for (file, bytes) in kept {
        assert!(!String::from_utf8_lossy(&bytes).contains("diary"), "{}", file.display());
    }
    farm.is_empty();
}
