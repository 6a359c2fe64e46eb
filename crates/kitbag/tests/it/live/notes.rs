//! What is worth knowing about a server's list and tools, as the library tells it.

use std::time::Duration;

use kitbag::{FaultKind, LinkState, ServerName, Severity};
use serde_json::json;

use super::farm::{Opens as _, Use as _};
use super::{Farm, calm, until};

const LONG: Duration = Duration::from_secs(30);

/// The same that commands tell of (`told.rs` of the command line).
#[tokio::test]
async fn f81_what_commands_tell_is_in_the_status_of_the_library() {
    for (fault, limits, code) in [
        ("c02", "", "hidden_characters"),
        ("c03", "", "hidden_characters"),
        ("c05:a", "", "twin_names"),
        ("c05:b", "", "twin_names"),
        ("c06", "", "bad_tool"),
        ("c02", "", "bad_tool"),
        ("s20", "", "list_cut"),
        ("s20", "pages = 7", "list_cut"),
        ("s20", "list = '30KiB'", "list_cut"),
        ("s21:same", "", "list_cut"),
        ("s21:cycle", "", "list_cut"),
        ("s22:60,50", "tools = 40", "list_cut"),
    ] {
        let farm = Farm::of("x", &["--fault", fault]);
        farm.settings(&format!("[limits]\n{limits}\n"));
        let kit = farm.open(farm.setup().limits).await;
        let notes = kit.status().remove(0).notes;
        assert!(notes.iter().any(|note| note.kind.as_str() == code), "{fault} {limits}: {notes:?}");
        farm.close(kit).await;
    }
}

/// While a kit is open a change stays marked, also when the same list comes again.
#[tokio::test]
async fn f81_a_change_of_a_schema_stays_told_while_the_program_runs() {
    let farm = Farm::of("x", &["--fault", "c15"]);
    let kit = farm.open(calm()).await;
    let changed = || {
        let notes = kit.status().remove(0).notes;
        notes.iter().filter(|note| note.kind == FaultKind::SchemaChanged).count()
    };
    assert_eq!(changed(), 0);
    kit.call("mcp_x_change_tool", "{}").await.unwrap();
    assert!(until(LONG, || changed() == 1).await, "{:?}", kit.status());
    kit.call("mcp_x_add_tool", "{}").await.unwrap();
    assert!(until(LONG, || kit.status()[0].status.tools == Some(9)).await);
    assert_eq!(changed(), 1);
    farm.close(kit).await;
}

#[tokio::test]
async fn f81_a_kept_list_is_marked_stale_until_the_server_lists_again() {
    for how in ["error", "garbage", "half"] {
        let farm = Farm::of("x", &["--fault", "c15"]);
        let kit = farm.open(calm()).await;
        let server = ServerName::parse("x").unwrap();
        assert_eq!(kit.snapshot().stale(&server), None);
        kit.call("mcp_x_break_list", &json!({"how": how}).to_string()).await.unwrap();
        kit.reaches("x", LinkState::Degraded).await;
        let stale = || kit.snapshot().stale(&server).cloned();
        assert!(until(LONG, || stale().is_some()).await, "{how}");
        let stale = stale().unwrap();
        assert!(stale.since.is_some() && stale.why.is_some_and(|why| why.contains("cannot be listed")));
        let row = kit.status().remove(0);
        let note = row.notes.iter().find(|note| note.kind == FaultKind::ListStale).unwrap();
        assert_eq!(note.severity, Severity::Warning, "{how}");
        assert!(note.message.contains("from the last good list of 20"), "{how}: {note}");
        kit.call("mcp_x_mend_list", "{}").await.unwrap();
        assert!(until(LONG, || kit.snapshot().stale(&server).is_none()).await, "{how}");
        assert_eq!(kit.status().remove(0).notes, [], "{how}");
        farm.close(kit).await;
    }
}

#[tokio::test]
async fn f81_a_result_that_breaks_its_schema_is_told_of_its_tool() {
    let farm = Farm::of("x", &["--fault", "c10"]);
    let kit = farm.open(calm()).await;
    let told = || {
        let notes = kit.status().remove(0).notes;
        notes.into_iter().filter(|note| note.kind == FaultKind::ResultMismatch).collect::<Vec<_>>()
    };
    assert_eq!(told(), []);
    for _ in 0..2 {
        let result = kit.call("mcp_x_structured_wrong", "{}").await.unwrap();
        assert!(result.info.notes.iter().any(|note| note.contains("does not match")), "{result:?}");
    }
    let [note] = &told()[..] else { panic!("{:?}", told()) };
    let said = "the tool \"structured_wrong\" gave a result that does not match its output schema at count";
    assert_eq!((note.message.as_str(), note.severity), (said, Severity::Warning));
    assert!(!note.to_string().contains("five"), "what stood there stays with whoever called it");
    farm.close(kit).await;
}

/// A server may write its own secret into the name of a tool that cannot be used.
#[tokio::test]
async fn f81_notes_hold_no_secret() {
    let secret = "sk-PLANTED-0123456789abcdef";
    let farm = Farm::new();
    let bad = json!([{"name": format!("x\u{200b}{secret}"), "inputSchema": {"type": "object"}},
        {"name": "a", "inputSchema": {"type": secret}},
        {"name": "b", "inputSchema": {"properties": {secret: {"pattern": "(?=a)"}}}}]);
    let file = farm.house.put("tools.json", bad.to_string());
    let keys = json!({"env": {"API_KEY": secret}});
    farm.add_with("x", &["--tools", file.to_str().unwrap()], &keys);
    let kit = farm.open(calm()).await;
    let notes = kit.notes();
    assert_eq!(notes.iter().filter(|note| note.kind == FaultKind::BadTool).count(), 2, "{notes:#?}");
    let text = format!("{notes:?} {:?}", kit.status());
    assert!(!text.contains("PLANTED"), "{text}");
    farm.close(kit).await;
    // What is remembered tells no more.
    let kit = farm.start(calm());
    let text = format!("{:?}", kit.notes());
    assert!(text.contains("ListStale"), "{text}");
    assert!(!text.contains("PLANTED"), "{text}");
    farm.close(kit).await;
}
