//! f10, f11, f12 and f20: a view shows what its user may have now, no more, and whoever decides may ask back.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use kitbag::rules::KeepIf;
use kitbag::{
    AgentRules, Authorize, CallOptions, Decision, ErrorKind, Intent, IntentOutcome, Kitbag, OpenOptions,
    Shaper, Tool, ToolCall, UserId,
};
use serde_json::json;

use super::super::farm::{Opens as _, first};
use super::super::{Farm, calm};
use super::{listed, user};

fn wants(tool: &str, arguments: &str) -> Intent {
    Intent::Call { tool: tool.to_owned(), arguments: arguments.to_owned() }
}

#[tokio::test]
async fn f10_a_narrowing_survives_the_start_of_a_cold_server() {
    for name in ["x/echo", "mcp_x_echo", "echo"] {
        let farm = Farm::new();
        farm.add_with("x", &[], &json!({"lazy": true}));
        let kit = farm.open(calm()).await;
        assert_eq!(farm.count("x", "start"), 0, "cold");
        let narrow = kit.own_view().only(|shown| shown.tool.name.as_str() == "add");
        let done = kit.run(&narrow, &wants(name, r#"{"message":"hi"}"#), &CallOptions::default()).await;
        assert!(done.is_error(), "{name}: {done:?}");
        let call = ToolCall::new(name, r#"{"message":"hi"}"#);
        kit.call_tool(&narrow, call).await.unwrap_err();
        let list = Intent::ListTools { server: "x".to_owned(), query: None, page: 1 };
        let IntentOutcome::Listed(list) = kit.run(&narrow, &list, &CallOptions::default()).await else {
            panic!()
        };
        assert_eq!(list.total, 1, "{name}: {:?}", list.tools);
        let done = kit.run(&narrow, &wants("x/add", r#"{"a":1,"b":2}"#), &CallOptions::default()).await;
        let IntentOutcome::Called(Ok(done)) = done else { panic!("{name}: {done:?}") };
        assert_eq!(first(&done), "3");
        assert_eq!((farm.count("x", "call echo"), farm.count("x", "call add")), (0, 1), "{name}");
        farm.close(kit).await;
    }
}

/// A permit that changes while it is used.
#[derive(Default)]
struct Grants {
    granted: Mutex<BTreeSet<(String, String)>>,
    revision: AtomicU64,
    counts: bool,
}

impl Grants {
    fn grant(&self, user: &str, tool: &str) {
        self.granted.lock().unwrap().insert((user.to_owned(), tool.to_owned()));
        self.revision.fetch_add(1, Ordering::SeqCst);
    }

    fn revoke(&self, user: &str, tool: &str) {
        self.granted.lock().unwrap().remove(&(user.to_owned(), tool.to_owned()));
        self.revision.fetch_add(1, Ordering::SeqCst);
    }
}

impl Authorize for Grants {
    fn authorize(&self, user: &UserId, tool: &Tool) -> Decision {
        let wanted = (user.to_string(), tool.name.to_string());
        match self.granted.lock().unwrap().contains(&wanted) {
            true => Decision::Allow,
            false => Decision::Deny("not granted".to_owned()),
        }
    }

    fn revision(&self) -> Option<u64> {
        self.counts.then(|| self.revision.load(Ordering::SeqCst))
    }
}

#[tokio::test]
async fn f11_grants_and_revocations_show_at_once() {
    for counts in [false, true] {
        let farm = Farm::of("x", &[]);
        let grants = Arc::new(Grants { counts, ..Grants::default() });
        let kit = farm.open_with(OpenOptions { permit: Some(grants.clone()), ..farm.options(calm()) }).await;
        let view = |name| kit.view(&user(name), &AgentRules::default()).unwrap();
        assert_eq!(listed(&view("ada")), Vec::<String>::new());
        grants.grant("ada", "echo");
        assert_eq!(listed(&view("ada")), ["mcp_x_echo"], "{counts}");
        assert_eq!(listed(&view("bob")), Vec::<String>::new(), "{counts}");
        let call = || ToolCall::new("mcp_x_echo", r#"{"message":"hi"}"#);
        kit.call_tool(&view("ada"), call()).await.unwrap();
        let held = view("ada");
        assert!(Arc::ptr_eq(&held, &view("ada")), "nothing changed, so it is the same view");
        grants.grant("ada", "add");
        grants.revoke("ada", "echo");
        assert_eq!(listed(&view("ada")), ["mcp_x_add"], "{counts}");
        // A view somebody still holds shows what it showed; the call goes by what holds now.
        let error = kit.call_tool(&held, call()).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::NotFound, "{counts}: {error}");
        assert_eq!(farm.count("x", "call echo"), 1, "{counts}");
        farm.close(kit).await;
    }
}

/// Looks at the handle it decides for, once at a time: a look may be what it decides for.
#[derive(Default)]
struct Curious {
    kit: OnceLock<Kitbag>,
    is_looking: AtomicBool,
    looks: AtomicU64,
}

impl Curious {
    fn look(&self) {
        let Some(kit) = self.kit.get() else { return };
        if self.is_looking.swap(true, Ordering::SeqCst) {
            return;
        }
        let shown = kit.own_view().tools().len()
            + kit.view(&user("other"), &AgentRules::default()).unwrap().tools().len();
        assert!(0 < shown + kit.status().len() + kit.faults().len() + kit.snapshot().parts().count());
        self.looks.fetch_add(1, Ordering::SeqCst);
        self.is_looking.store(false, Ordering::SeqCst);
    }
}

struct Asks(Arc<Curious>);

impl Authorize for Asks {
    fn authorize(&self, _: &UserId, _: &Tool) -> Decision {
        self.0.look();
        Decision::Allow
    }
}

#[tokio::test]
async fn f12_rules_and_permits_may_look_at_the_handle() {
    let farm = Farm::of("x", &[]);
    let (rule, permit) = (Arc::new(Curious::default()), Arc::new(Curious::default()));
    let own = rule.clone();
    let rules = Shaper::default().with(KeepIf(move |_: &Tool| {
        own.look();
        true
    }));
    let options = OpenOptions {
        rules: Arc::new(rules),
        permit: Some(Arc::new(Asks(permit.clone()))),
        ..farm.options(calm())
    };
    let kit = farm.open_with(options).await;
    for curious in [&rule, &permit] {
        let _ = curious.kit.set(kit.clone());
    }
    // In a thread of its own, which a deadlock would hold for ever.
    let (work, (told, looked)) = (kit.clone(), tokio::sync::oneshot::channel());
    std::thread::spawn(move || {
        let tools = ["ada", "bob"].map(|name| {
            work.view(&user(name), &AgentRules::default()).unwrap().tools().len()
                + work.own_view().tools().len()
        });
        let _ = told.send(tools);
    });
    let tools = tokio::time::timeout(Duration::from_secs(60), looked).await.expect("a deadlock").unwrap();
    assert!(tools.iter().all(|count| 0 < *count), "{tools:?}");
    let view = kit.own_view();
    kit.call_tool(&view, ToolCall::new("mcp_x_echo", r#"{"message":"hi"}"#)).await.unwrap();
    kit.reload().await.unwrap();
    for curious in [rule, permit] {
        assert!(0 < curious.looks.load(Ordering::SeqCst), "it never looked");
    }
    farm.close(kit).await;
}

#[tokio::test]
async fn f20_an_agent_hears_nothing_of_servers_it_may_not_see() {
    let farm = Farm::of("x", &[]);
    // One that fails at once and says a lot about it, one that the agent may see and one that it may not.
    for name in ["hidden-payroll", "shown-notes"] {
        farm.add_with(name, &["--stderr", "STDERR-CANARY", "--fault", "s09"], &json!({}));
    }
    farm.settings(
        "[agents.a]\nservers = ['x', 'shown-*']\n[agents.b]\nallow = ['x/*']\n[agents.c]\nservers = ['x']\n",
    );
    let kit = farm.open(calm()).await;
    for (agent, sees) in [("a", true), ("b", false), ("c", false)] {
        let view = kit.view(&UserId::local(), &kit.agent(agent).unwrap()).unwrap();
        for name in ["nothing", "x/nothing", "hidden-payroll/echo", "mcp_hidden_payroll_echo"] {
            let error = kit.call_tool(&view, ToolCall::new(name, "{}")).await.unwrap_err();
            // A name like no other could be one of whoever is away and may be seen.
            let is_open = sees && name == "nothing";
            let kind = if is_open { ErrorKind::Unavailable } else { ErrorKind::NotFound };
            assert_eq!(error.kind, kind, "{agent} {name}: {error}");
            let told = error.for_model().replace(&format!("{name:?}"), "");
            assert!(!told.contains("payroll"), "{agent} {name}: {told}");
            assert!(!told.contains("CANARY"), "{agent} {name}: {told}");
            assert_eq!(told.contains("shown-notes"), sees, "{agent} {name}: {told}");
            let run = kit.run(&view, &wants(name, "{}"), &CallOptions::default()).await;
            let told = format!("{:?}", run.blocks()).replace(name, "");
            assert!(!told.contains("payroll") && !told.contains("CANARY"), "{agent} {name}: {told}");
        }
    }
    farm.close(kit).await;
}
