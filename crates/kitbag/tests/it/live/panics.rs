//! f22: a responder or rule that panics (or, past every rule, hangs) costs its call or its tool, and neither the conversation nor the view.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use kitbag::connect::RawCall;
use kitbag::{
    Answer, BoxFuture, CallOptions, ErrorKind, FaultKind, OpenOptions, Question, QuestionKind, Responder,
    Rule, RuleError, ServerName, Shaper, Tool, ToolCall, Verdict,
};
use serde_json::json;
use serde_json::value::to_raw_value;

use super::farm::{Opens as _, Use as _, raw};
use super::{Farm, calm, first, said};

const LONG: Duration = Duration::from_secs(30);
const ALL: [QuestionKind; 3] = [QuestionKind::Sampling, QuestionKind::Elicitation, QuestionKind::Roots];

/// Where a responder panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Panics {
    Answers,
    /// Only when asked a second time what it answers.
    AnswersAgain,
    Answer,
    /// Once its answer is waited for.
    Later,
}

struct Bad(Panics, AtomicUsize);

impl Bad {
    fn new(panics: Panics) -> Arc<Self> {
        Arc::new(Self(panics, AtomicUsize::new(0)))
    }
}

impl Responder for Bad {
    fn answers(&self) -> &[QuestionKind] {
        let before = self.1.fetch_add(1, Ordering::Relaxed);
        assert!(self.0 != Panics::Answers, "BOOM");
        assert!(self.0 != Panics::AnswersAgain || before == 0, "BOOM");
        &ALL
    }

    fn answer(&self, _: Question) -> BoxFuture<'_, Answer> {
        assert!(self.0 != Panics::Answer, "BOOM");
        Box::pin(async {
            tokio::task::yield_now().await;
            assert!(self.0 != Panics::Later, "BOOM");
            Ok(to_raw_value(&json!({"action": "accept", "content": {"name": "Ada"}})).unwrap())
        })
    }
}

#[tokio::test]
async fn f22_a_responder_that_panics_costs_its_call() {
    let everywhere = [Panics::Answer, Panics::Answers, Panics::Later];
    for (era, panics) in ["legacy", "modern"].into_iter().flat_map(|era| everywhere.map(|at| (era, at))) {
        let farm = Farm::of("x", &["--era", era]);
        let kit = farm.open_with(OpenOptions { answers: ALL.to_vec(), ..farm.options(calm()) }).await;
        let view = kit.own_view();
        let (what, boom) = (r#"{"what":"elicitation"}"#, "the responder panicked: BOOM");

        let options = CallOptions { responder: Some(Bad::new(panics)), ..CallOptions::default() };
        let call = ToolCall { options, ..ToolCall::new("x/ask", what) };
        let done = tokio::time::timeout(LONG, kit.call_tool(&view, call)).await.unwrap();
        let failure = done.unwrap_err();
        assert_eq!(failure.kind, ErrorKind::Internal, "{era} {panics:?}: {failure}");
        assert!(failure.message.contains(boom), "{era} {panics:?}: {failure}");
        let kinds: Vec<_> = kit.recent_calls().into_iter().map(|record| record.kind).collect();
        assert_eq!(kinds, [Some(ErrorKind::Internal)], "{era} {panics:?}");
        kit.lives("x").await;

        let arguments = raw(&json!({"what": "elicitation"}));
        let call = RawCall { responder: Some(Bad::new(panics)), ..RawCall::new("ask", &arguments) };
        let server = ServerName::parse("x").unwrap();
        let done = tokio::time::timeout(LONG, kit.call_raw(&server, call)).await.unwrap();
        let error = done.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Internal, "{era} {panics:?}: {error}");
        assert!(error.message.contains(boom), "{era} {panics:?}: {error}");
        kit.lives("x").await;
        farm.close(kit).await;
    }
}

/// Never gives way in what it answers or in its answer, until the test lets go or has failed.
struct Hanging(Hangs, Mutex<mpsc::Receiver<()>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hangs {
    Answers,
    Answer,
}

impl Hanging {
    fn hang(&self, here: Hangs) {
        if self.0 == here {
            let _ = self.1.lock().unwrap().recv_timeout(LONG);
        }
    }
}

impl Responder for Hanging {
    fn answers(&self) -> &[QuestionKind] {
        self.hang(Hangs::Answers);
        &ALL
    }

    fn answer(&self, _: Question) -> BoxFuture<'_, Answer> {
        self.hang(Hangs::Answer);
        Box::pin(async { Err("no".to_owned()) })
    }
}

#[tokio::test]
async fn f22_a_responder_that_hangs_costs_its_call_past_every_rule_too() {
    let mut limits = calm();
    limits.wait_code = kitbag::Limits::default().faster(50).wait_code;
    for hangs in [Hangs::Answer, Hangs::Answers] {
        let farm = Farm::of("x", &[]);
        let options = OpenOptions { answers: ALL.to_vec(), ..farm.options(limits.clone()) };
        let kit = farm.open_with(options).await;
        let (go_on, held) = mpsc::channel();
        let responder: Arc<dyn Responder> = Arc::new(Hanging(hangs, Mutex::new(held)));
        let arguments = raw(&json!({"what": "elicitation"}));
        let call = RawCall { responder: Some(responder), ..RawCall::new("ask", &arguments) };
        let error = kit.call_raw(&ServerName::parse("x").unwrap(), call).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Internal, "{hangs:?}: {error}");
        assert!(error.message.contains("the responder hangs"), "{hangs:?}: {error}");
        kit.lives("x").await;
        drop(go_on);
        farm.close(kit).await;
    }
}

/// A link, below the handle, is given the responder itself.
#[tokio::test]
async fn f22_the_reader_of_a_server_runs_no_code_of_a_responder() {
    for era in ["legacy", "modern"] {
        let farm = Farm::of("x", &["--era", era]);
        let kit = farm.open_with(OpenOptions { answers: ALL.to_vec(), ..farm.options(calm()) }).await;
        let arguments = raw(&json!({"what": "elicitation"}));
        for (panics, answer) in
            [(Panics::AnswersAgain, "Ada"), (Panics::Answer, "decline"), (Panics::Answers, "")]
        {
            let call = RawCall { responder: Some(Bad::new(panics)), ..RawCall::new("ask", &arguments) };
            let done = tokio::time::timeout(LONG, kit.on("x").call(call)).await.unwrap();
            // One that cannot say what it answers answers nothing: the server is refused, and tells.
            if panics != Panics::Answers {
                let reply = done.unwrap();
                assert!(said(&reply).contains(answer), "{era} {panics:?}: {}", said(&reply));
            }
            kit.lives("x").await;
        }
        farm.close(kit).await;
    }
}

/// Opening asks a responder what it answers, so that servers can be told.
#[tokio::test]
async fn f22_a_responder_that_panics_at_the_opening_costs_its_calls_alone() {
    let farm = Farm::of("x", &[]);
    let responder: Arc<dyn Responder> = Bad::new(Panics::Answers);
    let kit = farm.open_with(OpenOptions { responder: Some(responder), ..farm.options(calm()) }).await;
    let failure = kit.call("x/echo", r#"{"message":"hi"}"#).await.unwrap_err();
    assert_eq!(failure.kind, ErrorKind::Internal, "{failure}");
    let view = kit.own_view();
    let options = CallOptions { responder: Some(Bad::new(Panics::Later)), ..CallOptions::default() };
    let call = ToolCall { options, ..ToolCall::new("x/echo", r#"{"message":"hi"}"#) };
    assert_eq!(first(&kit.call_tool(&view, call).await.unwrap()), "hi");
    farm.close(kit).await;
}

struct BadRule;

impl Rule for BadRule {
    fn name(&self) -> &str {
        "bad"
    }

    fn apply(&self, tool: Tool) -> Result<Verdict, RuleError> {
        assert!(tool.name.as_str() != "pid", "BOOM");
        Ok(Verdict::keep(tool))
    }
}

#[tokio::test]
async fn f22_a_rule_that_panics_costs_its_tool_and_not_the_view() {
    let farm = Farm::of("x", &[]);
    let rules = Arc::new(Shaper::default().with(BadRule));
    let kit = farm.open_with(OpenOptions { rules, ..farm.options(calm()) }).await;
    assert_eq!(first(&kit.call("x/echo", r#"{"message":"hi"}"#).await.unwrap()), "hi");
    assert_eq!(kit.call("x/pid", "{}").await.unwrap_err().kind, ErrorKind::NotFound);
    let view = kit.own_view();
    assert!(view.tools().iter().all(|shown| shown.tool.name.as_str() != "pid"));
    let told: Vec<_> = view.faults().iter().filter(|fault| fault.kind == FaultKind::RuleFailed).collect();
    assert!(matches!(told[..], [fault] if fault.to_string().contains("BOOM")), "{told:?}");
    farm.close(kit).await;
}
