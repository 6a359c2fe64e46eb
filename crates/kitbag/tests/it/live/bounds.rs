//! What a server makes grow has a bound: names, kept results, errors, saved files. And what a call is checked by is
//! what is sent.

use std::time::Duration;

use kitbag::cli::READ_RESULT;
use kitbag::{
    AgentRules, CallResult, ErrorKind, FaultKind, Kitbag, LocalTool, OpenOptions, ServerName, ToolCall,
    UserId,
};
use kitbag_core::names::NameForm;
use serde_json::{Value, json};

use super::farm::{Opens as _, Use as _};
use super::{Farm, calm, first, names, until};

const LONG: Duration = Duration::from_secs(30);

fn server(name: &str) -> ServerName {
    ServerName::parse(name).unwrap()
}

/// Tools come and go under fresh names.
#[tokio::test]
async fn f18_fresh_names_at_every_refresh_are_not_kept_for_ever() {
    let farm = Farm::of("x", &["--fault", "c15"]);
    farm.add("y", &[]);
    let mut limits = calm();
    limits.names = 12;
    let kit = farm.open(limits.clone()).await;
    let shown = |tool: &str| {
        let snapshot = kit.snapshot();
        let tool = kitbag::ToolName::parse(tool).unwrap();
        snapshot.names().table(NameForm::Full).name(&server("x"), &tool).map(ToString::to_string)
    };
    let is_listed = |tool: &str| kit.snapshot().tool(&server("x"), tool).is_some();
    let mut given = Vec::new();
    for round in 0..20 {
        let tool = format!("fresh_{round}");
        kit.ask("x", "add_tool", json!({"name": tool})).await.unwrap();
        assert!(until(LONG, || is_listed(&tool)).await, "{tool}");
        given.push((tool.clone(), shown(&tool).unwrap()));
        kit.call(&given[round].1, "{}").await.unwrap();
        kit.ask("x", "remove_tool", json!({"name": tool})).await.unwrap();
        assert!(until(LONG, || !is_listed(&tool)).await, "{tool}");
    }
    for form in NameForm::ALL {
        let count = kit.snapshot().names().table(form).count(&server("x"));
        assert!(count <= 13, "{form:?}: {count}");
    }
    assert!(names(&kit.own_view()).contains(&"mcp_x_one".to_owned()), "what is listed keeps its name");
    let fault = kit.faults().into_iter().find(|fault| fault.kind == FaultKind::TooLarge).unwrap();
    assert!(fault.message.contains("12 names are kept"), "{}", fault.message);
    assert!(
        shown("fresh_0").is_some() && shown("fresh_10").is_none(),
        "plain names are kept, others come back"
    );
    farm.close(kit).await;

    let written: Value = serde_json::from_str(&farm.house.text("kit/config/names.json")).unwrap();
    for form in NameForm::ALL {
        let rows = written[form.as_str()].as_array().unwrap();
        let of = |server: &str| rows.iter().filter(|row| row[0] == *server).count();
        assert_eq!((of("x"), of("y")), (12, 12), "{form:?}: y lists more at once");
    }
    // Whatever was let go has the name it had, in the next run too.
    let kit = farm.open(limits).await;
    for (tool, name) in [&given[0], &given[10], &given[19]] {
        kit.ask("x", "add_tool", json!({"name": tool})).await.unwrap();
        assert!(
            until(LONG, || names(&kit.own_view()).contains(name)).await,
            "{name}: {:?}",
            names(&kit.own_view())
        );
    }
    farm.close(kit).await;
}

async fn bulk(kit: &Kitbag, user: &str, kind: &str, size: usize) -> Result<CallResult, kitbag::CallError> {
    let view = kit.view(&UserId::parse(user).unwrap(), &AgentRules::default()).unwrap();
    let arguments = json!({"kind": kind, "size": size}).to_string();
    kit.call_tool(&view, ToolCall::new("mcp_x_bulk", arguments.as_str())).await
}

/// Whether a result can be read on by a user.
async fn can_read(kit: &Kitbag, user: &str, handle: &str) -> bool {
    let view = kit.view(&UserId::parse(user).unwrap(), &AgentRules::default()).unwrap();
    let arguments = json!({"handle": handle, "page": 2}).to_string();
    !kit.call_tool(&view, ToolCall::new(READ_RESULT, arguments.as_str())).await.unwrap().is_error
}

#[tokio::test]
async fn f17_kept_results_have_one_bound_for_all_users() {
    let farm = Farm::of("x", &["--fault", "c16"]);
    farm.settings("[users.ada]\n[users.bob]\n");
    let mut limits = calm();
    limits.result = 10_000;
    limits.results = 100_000;
    let kit = farm.open(limits).await;
    let kept = || -> u64 {
        let folder = farm.house.path("kit/state/results");
        let users = std::fs::read_dir(folder).unwrap().map(|user| user.unwrap().path());
        let files = users.flat_map(|user| std::fs::read_dir(user).unwrap().map(|file| file.unwrap()));
        files.map(|file| file.metadata().unwrap().len()).sum()
    };
    let mut handles = Vec::new();
    for user in ["ada", "bob", "ada", "bob", "bob"] {
        handles.push((user, bulk(&kit, user, "text", 45_000).await.unwrap().info.handle.unwrap()));
        assert!(kept() <= 100_000, "{}", kept());
    }
    let mut readable = Vec::new();
    for (user, handle) in &handles {
        readable.push(can_read(&kit, user, handle).await);
    }
    assert_eq!(readable, [false, false, false, true, true], "the oldest went, whoever's it was");
    // One that alone is more than the bound is not kept, and costs nobody theirs.
    let large = bulk(&kit, "ada", "text", 150_000).await.unwrap();
    assert_eq!(large.info.handle, None);
    assert!(large.content[1].as_text().unwrap().contains("could not be kept"), "{:?}", large.content[1]);
    assert!(kept() <= 100_000, "{}", kept());
    assert!(can_read(&kit, "bob", &handles[4].1).await, "what could not be kept takes nobody's place");
    farm.close(kit).await;
}

#[tokio::test]
async fn f17_the_words_of_an_error_are_bounded() {
    let farm = Farm::of("x", &["--fault", "c16"]);
    let kit = farm.open(calm()).await;
    let most = kit.limits().error;
    for size in [most / 2, 4 << 20] {
        let error = bulk(&kit, "local", "error", size).await.unwrap_err();
        assert_eq!(
            (error.kind, error.code),
            (ErrorKind::ServerError, Some(-32603)),
            "{}",
            error.message.len()
        );
        assert!(size.min(most) <= error.message.len() && error.message.len() <= size.min(most) + 64);
        assert!(error.for_model().len() <= size.min(most) + 256);
        assert!(error.reason.is_none_or(|reason| reason.to_string().len() <= most + 64));
    }
    assert!(kit.on("x").status().error.is_none_or(|error| error.to_string().len() <= most));
    farm.close(kit).await;
}

/// Readers disagree about which of two equal keys counts.
#[tokio::test]
async fn f26_arguments_with_a_key_twice_are_not_sent() {
    let farm = Farm::of("x", &[]);
    let kit = farm.open(calm()).await;
    for twice in [
        r#"{"message":"shown","message":"hidden"}"#,
        r#"{"message":"a","token":{"b":1,"b":2}}"#,
        r#"{"message":"a","m\u0065ssage":"b"}"#,
        r#""{\"message\":\"a\",\"message\":\"b\"}""#,
    ] {
        let error = kit.call("mcp_x_echo", twice).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::InvalidArguments, "{twice}");
        assert!(error.message.contains("is given twice"), "{twice}: {}", error.message);
    }
    assert_eq!(farm.count("x", "call echo"), 0);
    assert_eq!(first(&kit.call("mcp_x_echo", r#"{"message":"once"}"#).await.unwrap()), "once");
    farm.close(kit).await;
}

#[tokio::test]
async fn f26_two_local_tools_of_one_name_are_told() {
    let farm = Farm::new();
    let says = |name: &str, what: &'static str| {
        LocalTool::with_schema(name, "Here", json!({"type": "object"}), move |_, _| async move { Ok(what) })
    };
    let local =
        vec![says("greet", "first"), says("greet", "second"), says(READ_RESULT, "mine"), says("other", "x")];
    let kit = farm.open_with(OpenOptions { local, ..farm.options(calm()) }).await;
    let twice: Vec<String> = kit
        .faults()
        .into_iter()
        .filter(|fault| fault.kind == FaultKind::Duplicate)
        .map(|fault| fault.message)
        .collect();
    assert_eq!(twice.len(), 2, "{twice:?}");
    assert!(twice[0].contains("greet") && twice[1].contains(READ_RESULT), "{twice:?}");
    assert_eq!(first(&kit.call("greet", "{}").await.unwrap()), "first");
    assert!(kit.call(READ_RESULT, r#"{"handle":"x"}"#).await.unwrap().is_error, "ours is not replaced");
    farm.close(kit).await;
}

/// A refused handshake, a refused list, a list that breaks off: in the status, the list, the faults and the log.
#[tokio::test]
async fn f17_what_a_server_says_when_it_refuses_is_bounded_wherever_it_is_told() {
    for fault in ["c16:start", "c16:list", "c16:page"] {
        let farm = Farm::of("x", &["--fault", fault, "--page", "1"]);
        let kit = farm.start(calm());
        let most = kit.limits().error + 8;
        let link = kit.on("x");
        link.settled().await;
        assert!(until(LONG, || link.status().error.is_some()).await, "{fault}");
        let error = link.status().error.unwrap();
        assert!(error.root.contains("eeee") && error.root.len() <= most, "{fault}: {}", error.root.len());
        let truncated =
            kit.snapshot().parts().filter_map(|part| Some(part.truncated.as_ref()?.why.len())).max();
        assert!(truncated.is_none_or(|length| length <= most), "{fault}: {truncated:?}");
        for fault in kit.faults() {
            assert!(fault.message.len() <= most + 200, "{}", fault.message.len());
        }
        farm.close(kit).await;
        let log = farm.log("x");
        assert!(log.len() < 3 * most && !log.contains("more was written"), "{fault}: {}", log.len());
    }
}

#[tokio::test]
async fn f18_a_file_of_names_beyond_its_bound_is_neither_read_nor_written() {
    let farm = Farm::of("x", &[]);
    let limits = |names_file| {
        let mut limits = calm();
        limits.names_file = names_file;
        limits
    };
    let told = |kit: &Kitbag| kit.faults().iter().any(|fault| fault.message.contains("names given to tools"));
    let file = farm.house.path("kit/config/names.json");
    let kit = farm.open(limits(100)).await;
    assert!(!told(&kit));
    farm.close(kit).await;
    assert!(!file.exists(), "what could not be read again is not written");
    let kit = farm.open(limits(100_000)).await;
    farm.close(kit).await;
    let written = std::fs::read_to_string(&file).unwrap();
    let large = format!("{written}{}", " ".repeat(100_000));
    std::fs::write(&file, &large).unwrap();
    let kit = farm.open(limits(100_000)).await;
    let faults = kit.faults();
    let fault = faults.iter().find(|fault| fault.kind == FaultKind::TooLarge);
    assert!(fault.is_some_and(|fault| fault.message.contains("larger than 100000 bytes")), "{faults:?}");
    kit.call("mcp_x_echo", r#"{"message":"a"}"#).await.unwrap();
    farm.close(kit).await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), large, "nor is it written over");
    let kit = farm.open(limits(1_000_000)).await;
    assert!(!told(&kit), "{:?}", kit.faults());
    farm.close(kit).await;
}

/// Names that differ in case alone.
#[tokio::test]
async fn f17_an_ambiguous_name_is_told_in_a_bounded_line() {
    let farm = Farm::new();
    let name = |number: u32| -> String {
        (0..8).map(|bit| if number >> bit & 1 == 1 { 'A' } else { 'a' }).collect()
    };
    let tool = |number| {
        LocalTool::with_schema(&name(number), "Here", json!({"type": "object"}), |_, _| async { Ok("x") })
    };
    let local = (1..200).map(tool).collect();
    let kit = farm.open_with(OpenOptions { local, ..farm.options(calm()) }).await;
    let error = kit.call("aaaaaaaa", "{}").await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Ambiguous);
    assert!(error.message.ends_with("and 189 more") && error.for_model().len() < 1_000, "{}", error.message);
    farm.close(kit).await;
}
