//! f4, f22: one record for every call, whichever way it ends, told to the same hooks; and whoever's code panics or never
//! ends costs that call alone.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use kitbag::{
    Answer, ApprovalAnswer, ApprovalRequest, Approver, Authorize, BoxFuture, CallError, CallOptions,
    CallResult, Decision, ErrorKind, Hook, HookAction, Kitbag, LocalTool, OpenOptions, OutgoingCall,
    Question, QuestionKind, Responder, Tool, ToolCall, UserId,
};
use serde_json::{Value, json};

use super::farm::Opens as _;
use super::{Farm, calm, first, until};

const LONG: Duration = Duration::from_secs(60);
const HI: &str = r#"{"message":"hi"}"#;

/// Writes down how every call ended.
#[derive(Default)]
struct Audit(Mutex<Vec<String>>);

impl Hook for Audit {
    fn after<'a>(
        &'a self,
        call: &'a OutgoingCall,
        done: &'a mut Result<CallResult, CallError>,
    ) -> BoxFuture<'a, ()> {
        let how = match done {
            Ok(result) => result.kind(),
            Err(failure) => Some(failure.kind),
        };
        let server = call.server.as_ref().map_or("-", |server| server.as_str());
        let line = format!("{server}/{} {}", call.tool, how.map_or("ok", ErrorKind::as_str));
        self.0.lock().unwrap().push(line);
        Box::pin(async {})
    }
}

/// What the records say in the same words.
fn taken_down(kit: &Kitbag) -> Vec<String> {
    let line = |record: kitbag::CallRecord| {
        let server = record.server.as_ref().map_or("-", |server| server.as_str());
        format!("{server}/{} {}", record.tool, record.kind.map_or("ok", ErrorKind::as_str))
    };
    kit.recent_calls().into_iter().map(line).collect()
}

/// Keeps `pid` from everybody.
struct NoPid;

impl Authorize for NoPid {
    fn authorize(&self, _: &UserId, tool: &Tool) -> Decision {
        if tool.name.as_str() == "pid" { Decision::Deny("never".to_owned()) } else { Decision::Allow }
    }
}

#[tokio::test]
async fn f22_every_call_leaves_one_record_and_reaches_the_hooks() {
    let farm = Farm::of("x", &[]);
    farm.settings("[servers.x]\napprove = [\"add\"]\n");
    let audit = Arc::new(Audit::default());
    let options =
        OpenOptions { hooks: vec![audit.clone()], permit: Some(Arc::new(NoPid)), ..farm.options(calm()) };
    let kit = farm.open_with(options).await;
    kit.call("x/echo", HI).await.unwrap();
    kit.call("x/nothing\u{7}", r#"{"password":"hunter22","a":1}"#).await.unwrap_err();
    kit.call("x/pid", "{}").await.unwrap_err();
    kit.call("x/echo", r#"{"message":[]}"#).await.unwrap_err();
    kit.call("x/add", r#"{"a":1,"b":2}"#).await.unwrap_err();
    kit.call("x/fail", "{}").await.ok();
    let view = kit.own_view();
    let slow = kit.call_tool(&view, ToolCall::new("x/sleep", r#"{"ms":60000}"#));
    let _ = tokio::time::timeout(Duration::from_millis(300), slow).await.unwrap_err();
    assert!(until(Duration::from_secs(10), || audit.0.lock().unwrap().len() == 7).await, "{:?}", audit.0);
    let heard = audit.0.lock().unwrap().clone();
    assert_eq!(heard, taken_down(&kit));
    assert_eq!(heard[0], "x/echo ok");
    assert!(heard[1].starts_with("-/x/nothing") && heard[1].ends_with("not_found"), "{heard:?}");
    assert_eq!(heard[2], "-/x/pid not_found", "as if it were not there");
    assert_eq!(heard[3..5], ["x/echo invalid_arguments", "x/add approval_denied"]);
    assert_eq!(heard[6], "x/sleep cancelled");
    let records = kit.recent_calls();
    assert!(
        records[1].arguments.contains(r#""a":1"#) && !records[1].arguments.contains("hunter"),
        "{records:?}"
    );
    farm.close(kit).await;
}

/// A secret stays one after its server is gone, or has been given another.
#[tokio::test]
async fn f71_records_hide_the_secrets_of_the_moment_of_their_call() {
    let farm = Farm::new();
    let with = |token: &str| farm.add_with("x", &[], &json!({"env": {"API_TOKEN": token}}));
    with("correct-horse-battery");
    let kit = farm.open(calm()).await;
    kit.call("x/echo", r#"{"message":"it is correct-horse-battery"}"#).await.unwrap();
    let is_hidden = || {
        let arguments = &kit.recent_calls()[0].arguments;
        assert_eq!(arguments, r#"{"message":"it is ***"}"#);
    };
    is_hidden();
    with("another-one-altogether");
    kit.reload().await.unwrap();
    is_hidden();
    farm.remove("x");
    kit.reload().await.unwrap();
    is_hidden();
    farm.close(kit).await;
}

/// Where a program's own code panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Panics {
    Tool,
    ToolBefore,
    HookBefore,
    HookAfter,
    Approver,
    Permit,
    Revision,
    Status,
}

struct Bad(Panics);

impl Hook for Bad {
    fn before<'a>(&'a self, _: &'a mut OutgoingCall) -> BoxFuture<'a, HookAction> {
        let panics = self.0 == Panics::HookBefore;
        Box::pin(async move { if panics { panic!("BOOM") } else { HookAction::Go } })
    }

    fn after<'a>(
        &'a self,
        _: &'a OutgoingCall,
        _: &'a mut Result<CallResult, CallError>,
    ) -> BoxFuture<'a, ()> {
        assert!(self.0 != Panics::HookAfter, "BOOM");
        Box::pin(async {})
    }
}

impl Approver for Bad {
    fn approve(&self, _: ApprovalRequest) -> BoxFuture<'_, ApprovalAnswer> {
        panic!("BOOM")
    }
}

impl Authorize for Bad {
    fn authorize(&self, _: &UserId, tool: &Tool) -> Decision {
        match tool.name.as_str() {
            "add" => Decision::Ask,
            "greet" if self.0 == Panics::Permit => panic!("BOOM"),
            _ => Decision::Allow,
        }
    }

    fn revision(&self) -> Option<u64> {
        assert!(self.0 != Panics::Revision, "BOOM");
        None
    }
}

#[tokio::test]
async fn f22_a_panic_costs_the_call_it_happened_in() {
    use Panics::{Approver, HookAfter, HookBefore, Permit, Revision, Status, Tool, ToolBefore};
    for panics in [Tool, ToolBefore, HookBefore, HookAfter, Approver, Permit, Revision, Status] {
        let farm = Farm::of("x", &[]);
        let greet = LocalTool::with_schema("greet", "Greets", json!({"type": "object"}), move |_, _| {
            assert!(panics != ToolBefore, "BOOM");
            Box::pin(async move { if panics == Tool { panic!("BOOM") } else { Ok(Value::from("hello")) } })
        });
        let bad = Arc::new(Bad(panics));
        let options = OpenOptions {
            hooks: vec![bad.clone()],
            approver: Some(bad.clone()),
            permit: Some(bad),
            local: vec![greet],
            ..farm.options(calm())
        };
        let kit = farm.open_with(options).await;
        let view = kit.own_view();
        let status: Option<Arc<dyn Fn(kitbag::Activity) + Send + Sync>> =
            (panics == Status).then(|| Arc::new(|_| -> () { panic!("BOOM") }) as _);
        let tool = match panics {
            Approver => ToolCall::new("x/add", r#"{"a":1,"b":2}"#),
            Status => ToolCall::new("x/echo", HI),
            _ => ToolCall::new("greet", "{}"),
        };
        let call =
            ToolCall { options: CallOptions { on_activity: status, ..CallOptions::default() }, ..tool };
        let done = kit.call_tool(&view, call).await;
        let kinds: Vec<_> = kit.recent_calls().into_iter().map(|record| record.kind).collect();
        match panics {
            Status => assert_eq!((first(&done.unwrap()), &kinds[..]), ("hi", &[None][..])),
            Permit => assert_eq!(done.unwrap_err().kind, ErrorKind::NotFound),
            // Whether the permit changed is then not known, and it is asked anew.
            Revision => assert_eq!((first(&done.unwrap()), &kinds[..]), ("hello", &[None][..])),
            _ => {
                let failure = done.unwrap_err();
                assert_eq!(failure.kind, ErrorKind::Internal, "{panics:?}: {failure}");
                assert!(failure.message.contains("BOOM"), "{panics:?}: {failure}");
                assert_eq!(kinds, [Some(ErrorKind::Internal)], "{panics:?}");
            }
        }
        // The next one is as good as any.
        if !matches!(panics, HookBefore | HookAfter) {
            assert_eq!(first(&kit.call("x/echo", HI).await.unwrap()), "hi", "{panics:?}");
        }
        farm.close(kit).await;
    }
}

/// A tool of the program that never gives way costs its call, where there is another thread.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f22_a_tool_that_never_gives_way_costs_its_call() {
    let farm = Farm::new();
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let ended = Mutex::new(ended);
    let stuck = LocalTool::with_schema("stuck", "Never ends", json!({"type": "object"}), move |_, _| {
        // Until the test lets go, or has failed: the thread is needed at the end.
        let _ = ended.lock().unwrap().recv_timeout(LONG);
        Box::pin(async { Ok(Value::Null) })
    });
    let kit = farm.open_with(OpenOptions { local: vec![stuck], ..farm.options(calm()) }).await;
    let view = kit.own_view();
    let options = CallOptions { timeout: Some(Duration::from_millis(200)), ..CallOptions::default() };
    let failure =
        kit.call_tool(&view, ToolCall { options, ..ToolCall::new("stuck", "{}") }).await.unwrap_err();
    assert_eq!(failure.kind, ErrorKind::OutcomeUnknown);
    drop(end);
    farm.close(kit).await;
}

/// Where a program's own code never gives way, until it is let go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hangs {
    Tool,
    HookBefore,
    HookAfter,
    Approver,
    Permit,
    Rule,
    Responder,
}

struct Hanging(Hangs, Mutex<std::sync::mpsc::Receiver<()>>);

impl Hanging {
    /// Blocks the thread it is called on, as an endless loop does, until the test lets go, or has failed: the thread
    /// may be the test's own.
    fn hang(&self, here: Hangs) {
        if self.0 == here {
            let _ = self.1.lock().unwrap_or_else(std::sync::PoisonError::into_inner).recv_timeout(LONG);
        }
    }
}

impl Hook for Hanging {
    fn before<'a>(&'a self, call: &'a mut OutgoingCall) -> BoxFuture<'a, HookAction> {
        Box::pin(async move {
            if call.tool == "pid" {
                self.hang(Hangs::HookBefore);
            }
            HookAction::Go
        })
    }

    fn after<'a>(
        &'a self,
        call: &'a OutgoingCall,
        _: &'a mut Result<CallResult, CallError>,
    ) -> BoxFuture<'a, ()> {
        if call.tool == "pid" {
            self.hang(Hangs::HookAfter);
        }
        Box::pin(async {})
    }
}

impl Approver for Hanging {
    fn approve(&self, _: ApprovalRequest) -> BoxFuture<'_, ApprovalAnswer> {
        self.hang(Hangs::Approver);
        Box::pin(async { ApprovalAnswer::Once })
    }
}

impl Authorize for Hanging {
    fn authorize(&self, _: &UserId, tool: &Tool) -> Decision {
        match tool.name.as_str() {
            "add" => Decision::Ask,
            "pid" => {
                self.hang(Hangs::Permit);
                Decision::Allow
            }
            _ => Decision::Allow,
        }
    }

    fn revision(&self) -> Option<u64> {
        (self.0 != Hangs::Permit).then_some(0)
    }
}

struct HangingRule(Arc<Hanging>);

impl kitbag::Rule for HangingRule {
    fn name(&self) -> &str {
        "hanging"
    }

    fn apply(&self, tool: Tool) -> Result<kitbag::Verdict, kitbag::RuleError> {
        if tool.name.as_str() == "pid" {
            self.0.hang(Hangs::Rule);
        }
        Ok(kitbag::Verdict::keep(tool))
    }
}

impl Responder for Hanging {
    fn answers(&self) -> &[QuestionKind] {
        &[QuestionKind::Sampling, QuestionKind::Elicitation, QuestionKind::Roots]
    }

    fn answer(&self, _: Question) -> BoxFuture<'_, Answer> {
        self.hang(Hangs::Responder);
        Box::pin(async { Err("no".to_owned()) })
    }
}

async fn hang_everywhere() {
    use Hangs::{Approver, HookAfter, HookBefore, Permit, Responder, Rule, Tool};
    for hangs in [Tool, HookBefore, HookAfter, Approver, Responder, Permit, Rule] {
        let farm = Farm::of("x", &[]);
        let (go_on, held) = std::sync::mpsc::channel();
        let hanging = Arc::new(Hanging(hangs, Mutex::new(held)));
        let tool = hanging.clone();
        let stuck = LocalTool::with_schema("stuck", "Never ends", json!({"type": "object"}), move |_, _| {
            tool.hang(Tool);
            Box::pin(async { Ok(Value::Null) })
        });
        let mut limits = calm();
        limits.wait_code = kitbag::Limits::default().faster(50).wait_code;
        let is_judged = matches!(hangs, Permit | Rule | Approver);
        let options = OpenOptions {
            hooks: if matches!(hangs, HookBefore | HookAfter) { vec![hanging.clone()] } else { Vec::new() },
            approver: Some(hanging.clone()),
            permit: is_judged.then(|| hanging.clone() as Arc<dyn Authorize>),
            rules: Arc::new(kitbag::Shaper::default().with(HangingRule(hanging.clone()))),
            responder: (hangs == Responder).then(|| hanging.clone() as Arc<dyn kitbag::Responder>),
            local: vec![stuck],
            ..farm.options(limits)
        };
        let kit = farm.open_with(options).await;
        let (tool, arguments) = match hangs {
            Tool => ("stuck", "{}"),
            Approver => ("x/add", r#"{"a":1,"b":2}"#),
            Responder => ("x/ask", r#"{"what":"elicitation"}"#),
            _ => ("x/pid", "{}"),
        };
        let done = tokio::time::timeout(LONG, kit.call(tool, arguments)).await.unwrap();
        let failure = done.unwrap_err();
        assert_eq!(failure.kind, ErrorKind::Internal, "{hangs:?}: {failure}");
        let whose = match hangs {
            Tool => "the tool hangs",
            HookBefore | HookAfter => "a hook hangs",
            Approver => "the approver hangs",
            Responder => "the responder hangs",
            Permit | Rule => "a rule or the permit of the program hangs",
        };
        assert!(failure.message.contains(whose), "{hangs:?}: {failure}");
        let kinds: Vec<_> = kit.recent_calls().into_iter().map(|record| record.kind).collect();
        assert_eq!(kinds, [Some(ErrorKind::Internal)], "{hangs:?}");
        // Others go on.
        if !matches!(hangs, Permit | Rule) {
            let next = tokio::time::timeout(LONG, kit.call("x/echo", HI)).await.unwrap();
            assert_eq!(first(&next.unwrap()), "hi", "{hangs:?}");
        }
        drop(go_on);
        farm.close(kit).await;
    }
}

#[tokio::test]
async fn f22_code_that_never_gives_way_costs_its_call_on_one_thread() {
    hang_everywhere().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f22_code_that_never_gives_way_costs_its_call_on_several_threads() {
    hang_everywhere().await;
}

#[tokio::test]
async fn f4_no_number_of_a_page_takes_long() {
    let farm = Farm::of("x", &[]);
    let mut limits = calm();
    limits.result = 64;
    let kit = farm.open(limits).await;
    let message = json!({"message": "a".repeat(200)}).to_string();
    let handle = kit.call("x/echo", &message).await.unwrap().info.handle.unwrap();
    for page in ["18446744073709551615", "9000000000000000000", "5", "0"] {
        let arguments = format!(r#"{{"handle":"{handle}","page":{page}}}"#);
        let done = tokio::time::timeout(Duration::from_secs(10), kit.call("kitbag_read_result", &arguments));
        let done = done.await.unwrap();
        // Told by the tool or by its schema; not by the clock that ends what hangs.
        let is_told = match &done {
            Ok(result) => result.is_error,
            Err(failure) => failure.kind == ErrorKind::InvalidArguments,
        };
        assert!(is_told, "{page}: {done:?}");
    }
    let last = kit.call("kitbag_read_result", &format!(r#"{{"handle":"{handle}","page":4}}"#)).await.unwrap();
    assert!(first(&last).contains("page 4 of 4, the last"), "{}", first(&last));
    farm.close(kit).await;
}
