//! Whoever looks at calls: rewrites them, answers them, refuses them, and sees what came back.

use std::sync::{Arc, Mutex};

use kitbag::execute::{Block, Flow, Hook, HookFuture, Meta, Outgoing};
use kitbag::{CallOptions, CallResult, ErrorKind, Failure, Kitbag, Options, ToolCall};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::farm::member;
use super::{Farm, calm, first};

type Diary = Arc<Mutex<Vec<String>>>;

/// Notes that it was there, and does one thing before the call.
struct Watcher<F> {
    name: &'static str,
    diary: Diary,
    work: F,
}

impl<F: Fn(&mut Outgoing) -> Flow + Send + Sync> Hook for Watcher<F> {
    fn before<'a>(&'a self, call: &'a mut Outgoing) -> HookFuture<'a, Flow> {
        Box::pin(async move {
            self.note(&format!("before {}/{}", call.server.as_ref().unwrap(), call.tool));
            (self.work)(call)
        })
    }

    fn after<'a>(
        &'a self,
        _: &'a Outgoing,
        result: &'a mut Result<CallResult, Failure>,
    ) -> HookFuture<'a, ()> {
        Box::pin(async move {
            let how = match result {
                Ok(result) => {
                    result.content.push(Block::text(self.name));
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
    work: impl Fn(&mut Outgoing) -> Flow + Send + Sync + 'static,
) -> Arc<dyn Hook> {
    Arc::new(Watcher { name, diary: diary.clone(), work })
}

async fn open(farm: &Farm, hooks: Vec<Arc<dyn Hook>>) -> Kitbag {
    farm.open_with(Options { hooks, ..farm.options(calm()) }).await
}

#[tokio::test]
async fn s3_22_hooks_rewrite_arguments_and_meta_and_see_results_in_order() {
    for era in ["legacy", "modern"] {
        let farm = Farm::of("x", &["--era", era]);
        let diary = Diary::default();
        let one = hook("1", &diary, |call| {
            call.arguments.insert("added".into(), json!({"by": 1}));
            call.meta.insert("trace/id".into(), json!("t-1"));
            Flow::Go
        });
        let two = hook("2", &diary, |call| {
            assert_eq!(call.arguments["added"], json!({"by": 1}), "the first one's change is seen");
            call.arguments.shift_remove("secret");
            Flow::Go
        });
        let kit = open(&farm, vec![one, two]).await;
        let meta = RawValue::from_string(r#"{"given":true}"#.to_owned()).unwrap();
        let intent = ToolCall {
            options: CallOptions { meta: Some(&meta), ..CallOptions::default() },
            ..ToolCall::new("mcp_x_raw_echo", r#"{"a": 1,"secret":"s"}"#)
        };
        let result = kit.call_tool(&kit.own_view(), intent).await.unwrap();
        assert_eq!(member(first(&result), "arguments"), r#"{"a":1,"added":{"by":1}}"#, "{era}");
        let arrived: Value = serde_json::from_str(&member(first(&result), "_meta")).unwrap();
        assert_eq!(
            (&arrived["trace/id"], &arrived["given"]),
            (&json!("t-1"), &json!(true)),
            "{era}: {arrived}"
        );
        let marks: Vec<_> = result.content[1..].iter().filter_map(Block::as_text).collect();
        assert_eq!(marks, ["2", "1"], "after hooks go the other way round and may change the result");
        let seen = ["1 before x/raw_echo", "2 before x/raw_echo", "2 after ok", "1 after ok"];
        assert_eq!(*diary.lock().unwrap(), seen);
        farm.close(kit).await;
    }
}

#[tokio::test]
async fn s3_22_a_hook_that_changes_nothing_leaves_the_bytes_alone() {
    let farm = Farm::of("x", &[]);
    let kit = open(&farm, vec![hook("1", &Diary::default(), |_| Flow::Go)]).await;
    let given = r#"{ "z":1.10, "a":123456789012345678901234567890 }"#;
    kit.call("mcp_x_raw_echo", given).await.unwrap();
    assert_eq!(farm.arrived("x"), [given]);
    farm.close(kit).await;
}

#[tokio::test]
async fn s3_22_a_hook_answers_instead_of_the_server() {
    let farm = Farm::of("x", &[]);
    let diary = Diary::default();
    let cache = hook("cache", &diary, |call| {
        let meta = Meta {
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
        let content = vec![Block::text("from memory")];
        Flow::Answer(Box::new(CallResult { content, structured: None, is_error: false, meta }))
    });
    let never = hook("never", &diary, |_| panic!("the call has ended before"));
    let kit = open(&farm, vec![cache, never]).await;
    let result = kit.call("mcp_x_count", r#"{"token":"t"}"#).await.unwrap();
    assert_eq!((first(&result), result.meta.cache_hit), ("from memory", true));
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
            return Flow::Refuse(ErrorKind::RateLimited, "two calls a day are enough".to_owned());
        }
        *left -= 1;
        Flow::Go
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
