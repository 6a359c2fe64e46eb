//! Servers that ask: for what nobody offered, and for what somebody does.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use kitbag::connect::RawCall;
use kitbag::{Answer, BoxFuture, ErrorKind, Kitbag, OpenOptions, Question, QuestionKind, Responder};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use super::farm::{Opens as _, Use as _};
use super::{Farm, Hosted, calm, said, until};

const LONG: Duration = Duration::from_secs(30);

#[tokio::test]
async fn t16_what_nobody_asked_for_is_refused() {
    for era in ["legacy", "modern"] {
        let farm = Farm::of("x", &["--fault", "s26", "--era", era]);
        let kit = farm.open(calm()).await;
        for number in 0..5 {
            let reply = kit.ask("x", "echo", json!({"message": format!("m{number}")})).await.unwrap();
            assert_eq!(said(&reply), format!("m{number}"));
        }
        let all = until(LONG, || 220 <= farm.count("x", "answered")).await;
        let answers = farm.events("x", "answered");
        assert!(all, "{era}: only {} answers", answers.len());
        assert!(answers.iter().all(|answer| answer.ends_with(" error -32601")), "{era}: {answers:?}");
        kit.lives("x").await;
        farm.close(kit).await;
    }
}

#[tokio::test]
async fn t16_a_server_that_keeps_asking_gets_no_answer_of_ours() {
    let farm = Farm::of("x", &["--fault", "s27", "--era", "legacy"]);
    let mut limits = calm();
    limits.wait_total = Duration::from_secs(1);
    let kit = farm.open(limits).await;
    let error = kit.ask("x", "echo", json!({"message": "x"})).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::OutcomeUnknown, "{error}");
    kit.lives("x").await;
    farm.close(kit).await;

    // The newer protocol asks by its answer, which ends the call: nothing is sent after it.
    let farm = Farm::of("x", &["--fault", "s27", "--era", "modern"]);
    let kit = farm.open(calm()).await;
    let error = kit.ask("x", "echo", json!({"message": "x"})).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::ServerError, "{error}");
    assert!(error.message.contains("asks for input"), "{error}");
    kit.lives("x").await;
    assert_eq!(farm.count("x", "asked"), 1);
    farm.close(kit).await;
}

/// Answers with what it was asked, and keeps count.
struct Echoes {
    offers: Vec<QuestionKind>,
    heard: Mutex<Vec<Question>>,
}

impl Echoes {
    fn of(offers: &[QuestionKind]) -> Arc<Self> {
        Arc::new(Self { offers: offers.to_vec(), heard: Mutex::default() })
    }
}

impl Responder for Echoes {
    fn answers(&self) -> &[QuestionKind] {
        &self.offers
    }

    fn answer(&self, question: Question) -> BoxFuture<'_, Answer> {
        let text = match question.kind {
            QuestionKind::Sampling => {
                json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "4"}})
            }
            QuestionKind::Elicitation => json!({"action": "accept", "content": {"name": "Ada"}}),
            QuestionKind::Roots => json!({"roots": [{"uri": "file:///work"}]}),
        };
        self.heard.lock().unwrap().push(question);
        Box::pin(async move { Ok(to_raw_value(&text).unwrap()) })
    }
}

const ALL: [QuestionKind; 3] = [QuestionKind::Sampling, QuestionKind::Elicitation, QuestionKind::Roots];

#[tokio::test]
async fn t16_whoever_answers_is_asked_for_the_call_that_caused_it() {
    for era in ["legacy", "modern"] {
        let farm = Farm::of("x", &["--era", era]);
        let echoes = Echoes::of(&ALL);
        let options = OpenOptions { responder: Some(echoes.clone()), ..farm.options(calm()) };
        let kit = Kitbag::start(farm.setup(), options);
        for (what, answer) in [("sampling", "\"4\""), ("elicitation", "\"Ada\""), ("roots", "file:///work")] {
            let reply = kit.ask("x", "ask", json!({"what": what})).await.unwrap();
            assert!(said(&reply).contains(answer), "{era} {what}: {}", said(&reply));
        }
        let heard = echoes.heard.lock().unwrap().clone();
        let asked: Vec<QuestionKind> = heard.iter().map(|question| question.kind).collect();
        assert_eq!(asked, ALL, "{era}");
        assert!(heard.iter().all(|question| question.tool.as_deref() == Some("ask")), "{era}: {heard:?}");
        assert!(heard.iter().all(|question| question.server.as_str() == "x"));
        farm.close(kit).await;
    }
}

#[tokio::test]
async fn t16_questions_over_http_are_answered_too() {
    for args in
        [&["--era", "legacy", "--answer", "sse"][..], &["--era", "modern"], &["--era", "legacy", "--sse"]]
    {
        let hosted = Hosted::new();
        let kind = if args.contains(&"--sse") { "sse" } else { "http" };
        hosted.add("x", args, &json!({"type": kind}));
        let echoes = Echoes::of(&ALL);
        let options = OpenOptions { responder: Some(echoes.clone()), ..hosted.farm.options(calm()) };
        let kit = Kitbag::start(hosted.farm.setup(), options);
        for (what, answer) in [("sampling", "\"4\""), ("elicitation", "\"Ada\""), ("roots", "file:///work")] {
            let reply = kit.ask("x", "ask", json!({"what": what})).await.unwrap();
            assert!(said(&reply).contains(answer), "{args:?} {what}: {}", said(&reply));
        }
        assert_eq!(echoes.heard.lock().unwrap().len(), 3, "{args:?}");
        hosted.close(kit).await;
    }
}

#[tokio::test]
async fn t16_only_what_is_offered_is_answered_and_only_so_often() {
    let farm = Farm::of("x", &["--era", "legacy"]);
    let roots = Echoes::of(&[QuestionKind::Roots]);
    let options = OpenOptions { responder: Some(roots.clone()), ..farm.options(calm()) };
    let kit = Kitbag::start(farm.setup(), options);
    let reply = kit.ask("x", "ask", json!({"what": "sampling"})).await.unwrap();
    assert!(said(&reply).contains("-32601"), "{}", said(&reply));
    assert_eq!(roots.heard.lock().unwrap().len(), 0);
    farm.close(kit).await;

    let farm = Farm::of("x", &["--fault", "s27:form", "--era", "modern"]);
    let mut limits = calm();
    limits.rounds = 3;
    let echoes = Echoes::of(&ALL);
    let options = OpenOptions { responder: Some(echoes.clone()), ..farm.options(limits) };
    let kit = Kitbag::start(farm.setup(), options);
    let error = kit.ask("x", "echo", json!({"message": "x"})).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::ServerError, "{error}");
    assert!(error.message.contains("keeps asking"), "{error}");
    assert!(echoes.heard.lock().unwrap().len() <= 4);
    farm.close(kit).await;
}

#[tokio::test]
async fn t16_links_that_are_not_of_the_web_are_never_passed_on() {
    let farm = Farm::of("x", &["--fault", "s27:url", "--era", "legacy"]);
    let mut limits = calm();
    limits.wait_total = Duration::from_secs(1);
    let echoes = Echoes::of(&ALL);
    let options = OpenOptions { responder: Some(echoes.clone()), ..farm.options(limits) };
    let kit = Kitbag::start(farm.setup(), options);
    kit.ask("x", "echo", json!({"message": "x"})).await.unwrap_err();
    let heard = echoes.heard.lock().unwrap().clone();
    assert!(!heard.is_empty());
    assert!(heard.iter().all(|question| question.params.get().contains("\"http://")), "{heard:?}");
    farm.close(kit).await;
}

#[tokio::test]
async fn t16_with_several_callers_waiting_nobody_is_asked() {
    let farm = Farm::of("x", &["--era", "legacy"]);
    let (ada, bob) = (Echoes::of(&ALL), Echoes::of(&ALL));
    let options = OpenOptions { responder: Some(ada.clone()), ..farm.options(calm()) };
    let kit = Kitbag::start(farm.setup(), options);
    kit.wait(LONG).await;
    let link = kit.links().into_iter().next().unwrap();
    let (slow, what) = (json!({"ms": 1500}).to_string(), json!({"what": "roots"}).to_string());
    let (slow, what) = (RawValue::from_string(slow).unwrap(), RawValue::from_string(what).unwrap());
    let waiting = link.call(RawCall::new("sleep", &slow));
    let asking = async {
        until(LONG, || link.in_flight() == 1).await;
        link.call(RawCall { responder: Some(bob.clone()), ..RawCall::new("ask", &what) }).await.unwrap()
    };
    let (_, reply) = tokio::join!(waiting, asking);
    assert!(said(&reply).contains("several callers wait"), "{}", said(&reply));
    assert_eq!(ada.heard.lock().unwrap().len() + bob.heard.lock().unwrap().len(), 0);
    farm.close(kit).await;
}
