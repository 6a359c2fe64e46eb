//! Whoever looks at calls: rewrites them, answers them, refuses them, and sees what came back.

use std::sync::{Arc, Mutex};

use kitbag::{
    BoxFuture, CallError, CallInfo, CallOptions, CallResult, ContentBlock, ErrorKind, Hook, HookAction,
    Kitbag, OpenOptions, OutgoingCall, ToolCall,
};
use serde_json::{Map, Value, json};

use super::farm::Opens as _;
use super::{Farm, calm, first};
use testkit::member;

type Diary = Arc<Mutex<Vec<String>>>;

/// Notes that it was there, and does one thing before the call.
struct Watcher<F> {
    name: &'static str,
    diary: Diary,
    work: F,
}

impl<F: Fn(&mut OutgoingCall) -> HookAction + Send + Sync> Hook for Watcher<F> {
    fn before<'a>(&'a self, call: &'a mut OutgoingCall) -> BoxFuture<'a, HookAction> {
        Box::pin(async move {
            self.note(&format!("before {}/{}", call.server.as_ref().unwrap(), call.tool));
            (self.work)(call)
        })
    }

    fn after<'a>(
        &'a self,
        _: &'a OutgoingCall,
        result: &'a mut Result<CallResult, CallError>,
    ) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let how = match result {
                Ok(result) => {
                    result.content.push(ContentBlock::text(self.name));
                    "ok"
                }
                Err(failure) => failure.kind.as_str(),
            };
            self.note(&format!("after {how}"));
        })
    }
}

impl<F> Watcher<F> {
    fn note(&self, what: &str) {
        self.diary.lock().unwrap().push(format!("{} {what}", self.name));
    }
}

fn hook(
    name: &'static str,
    diary: &Diary,
    work: impl Fn(&mut OutgoingCall) -> HookAction + Send + Sync + 'static,
) -> Arc<dyn Hook> {
    Arc::new(Watcher { name, diary: diary.clone(), work })
}

async fn open(farm: &Farm, hooks: Vec<Arc<dyn Hook>>) -> Kitbag {
    farm.open_with(OpenOptions { hooks, ..farm.options(calm()) }).await
}

#[tokio::test]
async fn s3_22_hooks_rewrite_arguments_and_meta_and_see_results_in_order() {
    for era in ["legacy", "modern"] {
        let farm = Farm::of("x", &["--era", era]);
        let diary = Diary::default();
        let one = hook("1", &diary, |call| {
            call.arguments.insert("added".into(), json!({"by": 1}));
            call.meta.insert("trace/id".into(), json!("t-1"));
            HookAction::Go
        });
        let two = hook("2", &diary, |call| {
            assert_eq!(call.arguments["added"], json!({"by": 1}), "the first one's change is seen");
            call.arguments.shift_remove("secret");
            HookAction::Go
        });
        let kit = open(&farm, vec![one, two]).await;
        let meta = Map::from_iter([("given".to_owned(), json!(true))]);
        let options = CallOptions { meta, ..CallOptions::default() };
        let intent = ToolCall::new("mcp_x_raw_echo", r#"{"a": 1,"secret":"s"}"#).with(options);
        let result = kit.call_tool(&kit.own_view(), intent).await.unwrap();
        assert_eq!(member(first(&result), "arguments"), r#"{"a":1,"added":{"by":1}}"#, "{era}");
        let arrived: Value = serde_json::from_str(&member(first(&result), "_meta")).unwrap();
        assert_eq!(
            (&arrived["trace/id"], &arrived["given"]),
            (&json!("t-1"), &json!(true)),
            "{era}: {arrived}"
        );
        let marks: Vec<_> = result.content[1..].iter().filter_map(ContentBlock::as_text).collect();
        assert_eq!(marks, ["2", "1"], "after hooks go the other way round and may change the result");
        let seen = ["1 before x/raw_echo", "2 before x/raw_echo", "2 after ok", "1 after ok"];
        assert_eq!(*diary.lock().unwrap(), seen);
        farm.close(kit).await;
    }
}

#[tokio::test]
async fn s3_22_a_hook_that_changes_nothing_leaves_the_bytes_alone() {
    let farm = Farm::of("x", &[]);
    let kit = open(&farm, vec![hook("1", &Diary::default(), |_| HookAction::Go)]).await;
    let given = r#"{ "z":1.10, "a":123456789012345678901234567890 }"#;
    kit.call("mcp_x_raw_echo", given).await.unwrap();
    assert_eq!(farm.arrived("x"), [given]);
    farm.close(kit).await;
}

#[tokio::test]
async fn f95_a_hook_that_changes_one_argument_leaves_the_digits_of_the_others() {
    let farm = Farm::of("x", &[]);
    let change = hook("1", &Diary::default(), |call| {
        call.arguments["in"]["b"] = json!(2);
        HookAction::Go
    });
    let kit = open(&farm, vec![change]).await;
    kit.call("mcp_x_raw_echo", r#"{"z": 1e400, "in": {"a": 123456789012345678901, "b": 1}}"#).await.unwrap();
    assert_eq!(farm.arrived("x"), [r#"{"z":1e400,"in":{"a":123456789012345678901,"b":2}}"#]);
    farm.close(kit).await;
}

#[tokio::test]
async fn s3_22_a_hook_answers_instead_of_the_server() {
    let farm = Farm::of("x", &[]);
    let diary = Diary::default();
    let cache = hook("cache", &diary, |call| {
        let meta = CallInfo {
            server: call.server.clone().unwrap(),
            tool: call.tool.clone(),
            transport: None,
            took: std::time::Duration::ZERO,
            retries: 0,
            cache_hit: false,
            coerced: Vec::new(),
            handle: None,
            notes: Vec::new(),
        };
        let content = vec![ContentBlock::text("from memory")];
        HookAction::Answer(Box::new(CallResult {
            content,
            structured: None,
            is_error: false,
            meta: None,
            raw: None,
            info: meta,
        }))
    });
    let never = hook("never", &diary, |_| panic!("the call has ended before"));
    let kit = open(&farm, vec![cache, never]).await;
    let result = kit.call("mcp_x_count", r#"{"token":"t"}"#).await.unwrap();
    assert_eq!((first(&result), result.info.cache_hit), ("from memory", true));
    assert_eq!(farm.count("x", "call"), 0);
    // What does not fit is refused before any hook is asked; all of them hear of it.
    let before = diary.lock().unwrap().len();
    kit.call("mcp_x_count", r#"{"token":[1]}"#).await.unwrap_err();
    let heard = ["never after invalid_arguments", "cache after invalid_arguments"];
    assert_eq!(diary.lock().unwrap()[before..], heard);
    assert_eq!(kit.recent_calls().len(), 2);
    farm.close(kit).await;
}

#[tokio::test]
async fn s3_22_a_hook_refuses() {
    let farm = Farm::of("x", &[]);
    let diary = Diary::default();
    let left = Mutex::new(2);
    let limit = hook("limit", &diary, move |_| {
        let mut left = left.lock().unwrap();
        if *left == 0 {
            return HookAction::Refuse(ErrorKind::RateLimited, "two calls a day are enough".to_owned());
        }
        *left -= 1;
        HookAction::Go
    });
    let kit = open(&farm, vec![limit]).await;
    for _ in 0..2 {
        kit.call("mcp_x_count", r#"{"token":"t"}"#).await.unwrap();
    }
    let refused = kit.call("mcp_x_count", r#"{"token":"t"}"#).await.unwrap_err();
    assert_eq!(refused.kind, ErrorKind::RateLimited);
    assert_eq!(refused.for_model(), "rate_limited (x/count: two calls a day are enough).");
    assert_eq!(farm.count("x", "exec t"), 2);
    assert_eq!(diary.lock().unwrap().last().unwrap(), "limit after rate_limited");
    assert_eq!(kit.recent_calls().last().unwrap().kind, Some(ErrorKind::RateLimited));
    farm.close(kit).await;
}
