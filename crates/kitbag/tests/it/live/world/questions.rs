//! f5: a server's question goes to the person of the call that caused it, or to nobody.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use kitbag::{
    Answer, BoxFuture, CallOptions, CallResult, Kitbag, Limits, OpenOptions, Question, QuestionKind,
    Responder, ToolCall,
};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::super::farm::{Opens as _, Use as _, first};
use super::super::{Farm, Hosted, calm, said, until};
use super::{LONG, open_for, pid, server};

const ROOTS: &str = r#"{"what":"roots"}"#;
const HOUR: &str = r#"{"ms":3600000}"#;

/// Answers for one person, and keeps who was asked for.
#[derive(Default)]
struct Person(Mutex<Vec<String>>);

impl Person {
    fn heard(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl Responder for Person {
    fn answers(&self) -> &[QuestionKind] {
        &[QuestionKind::Roots]
    }

    fn answer(&self, question: Question) -> BoxFuture<'_, Answer> {
        self.0.lock().unwrap().push(question.user.to_string());
        let roots = to_raw_value(&json!({"roots": [{"uri": "file:///mine"}]})).unwrap();
        Box::pin(async move { Ok(roots) })
    }
}

/// A call with a person behind it, or none.
async fn call(kit: &Kitbag, tool: &str, arguments: &str, person: Option<&Arc<Person>>) -> CallResult {
    let responder = person.map(|person| person.clone() as Arc<dyn Responder>);
    let options = CallOptions { responder, ..CallOptions::default() };
    kit.call_tool(&kit.own_view(), ToolCall { options, ..ToolCall::new(tool, arguments) }).await.unwrap()
}

/// Handles of ada and bob, who share one server that was told that roots can be asked for.
async fn two(farm: &Farm) -> [Kitbag; 2] {
    two_within(farm, &calm()).await
}

async fn two_within(farm: &Farm, limits: &Limits) -> [Kitbag; 2] {
    farm.settings("[users.ada]\n[users.bob]\n");
    let options = || OpenOptions { answers: vec![QuestionKind::Roots], ..farm.options(limits.clone()) };
    let both = [open_for(farm, "ada", options()).await, open_for(farm, "bob", options()).await];
    assert_eq!(pid(&both[0], "x").await, pid(&both[1], "x").await, "one process");
    both
}

/// Makes a call while another waits for its answer, which is then given up.
async fn beside<T>(farm: &Farm, slow: impl Future<Output = CallResult>, work: impl Future<Output = T>) -> T {
    let work = async {
        assert!(until(LONG, || farm.count("x", "call sleep") == 1).await);
        work.await
    };
    tokio::select! {
        _ = slow => panic!("an hour is over"),
        done = work => done,
    }
}

#[tokio::test]
async fn f5_a_call_without_a_person_is_not_answered_for_by_anothers() {
    let farm = Farm::of("x", &["--era", "legacy"]);
    let [ada, bob] = two(&farm).await;
    let person = Arc::new(Person::default());
    // Bob waits with a person behind him; it is ada's call that asks, and she has none.
    let slow = call(&bob, "mcp_x_sleep", HOUR, Some(&person));
    let asked = beside(&farm, slow, call(&ada, "mcp_x_ask", ROOTS, None)).await;
    assert!(first(&asked).contains("-32601"), "{asked:?}");
    assert_eq!(person.heard(), Vec::<String>::new());
    bob.close().await;
    farm.close(ada).await;
}

#[tokio::test]
async fn f5_while_a_call_without_a_person_waits_nobody_is_asked() {
    let farm = Farm::of("x", &["--era", "legacy"]);
    let [ada, bob] = two(&farm).await;
    let person = Arc::new(Person::default());
    let slow = call(&ada, "mcp_x_sleep", HOUR, None);
    let asked = beside(&farm, slow, call(&bob, "mcp_x_ask", ROOTS, Some(&person))).await;
    assert!(first(&asked).contains("several callers wait"), "{asked:?}");
    assert_eq!(person.heard(), Vec::<String>::new());
    // Her call was given up and never answered: what is asked may still be about it.
    assert!(until(LONG, || ada.on("x").in_flight() == 0).await);
    let asked = call(&bob, "mcp_x_ask", ROOTS, Some(&person)).await;
    assert!(first(&asked).contains("several callers wait"), "{asked:?}");
    assert_eq!(person.heard(), Vec::<String>::new());
    // Alone he is asked, in his own name.
    bob.restart(&server("x")).await.unwrap();
    let asked = call(&bob, "mcp_x_ask", ROOTS, Some(&person)).await;
    assert!(first(&asked).contains("file:///mine"), "{asked:?}");
    assert_eq!(person.heard(), ["bob"]);
    bob.close().await;
    farm.close(ada).await;
}

/// One program may answer for all its users by one object: that does not make them one person.
#[tokio::test]
async fn f5_one_responder_for_two_users_is_two_persons() {
    let farm = Farm::of("x", &["--era", "legacy"]);
    let [ada, bob] = two(&farm).await;
    let desk = Arc::new(Person::default());
    let slow = call(&ada, "mcp_x_sleep", HOUR, Some(&desk));
    let asked = beside(&farm, slow, call(&bob, "mcp_x_ask", ROOTS, Some(&desk))).await;
    assert!(first(&asked).contains("several callers wait"), "{asked:?}");
    assert_eq!(desk.heard(), Vec::<String>::new());
    assert!(until(LONG, || ada.on("x").in_flight() == 0).await);
    // Two calls of one user are one person.
    let farm_two = &farm;
    let slow = call(&ada, "mcp_x_progress", r#"{"n":3600000,"ms":100}"#, Some(&desk));
    let asking = async {
        assert!(until(LONG, || farm_two.count("x", "call progress") == 1).await);
        call(&ada, "mcp_x_ask", ROOTS, Some(&desk)).await
    };
    let asked = tokio::select! {
        _ = slow => panic!("days are over"),
        asked = asking => asked,
    };
    assert!(first(&asked).contains("file:///mine"), "{asked:?}");
    assert_eq!(desk.heard(), ["ada"]);
    bob.close().await;
    farm.close(ada).await;
}

/// Calls `ask`, which asks after a while, and gives the call up before: by going away, or by the clock.
async fn give_up(farm: &Farm, kit: &Kitbag, person: &Arc<Person>, timeout: Option<Duration>) {
    let options = CallOptions { responder: Some(person.clone()), timeout, ..CallOptions::default() };
    let view = kit.own_view();
    let late = ToolCall { options, ..ToolCall::new("mcp_x_ask", r#"{"what":"roots","ms":1500}"#) };
    let before = farm.count("x", "call ask");
    let arrived = async {
        assert!(until(LONG, || before < farm.count("x", "call ask")).await);
        if timeout.is_some() {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        ended = kit.call_tool(&view, late) => assert!(ended.is_err() && timeout.is_some(), "{ended:?}"),
        () = arrived => {}
    }
}

/// A server goes on with a call that nobody waits for, and asks.
#[tokio::test]
async fn f5_a_late_question_goes_to_nobody_else() {
    for timeout in [None, Some(Duration::from_millis(300))] {
        let farm = Farm::of("x", &["--era", "legacy"]);
        let [ada, bob] = two(&farm).await;
        let (hers, his) = (Arc::new(Person::default()), Arc::new(Person::default()));
        give_up(&farm, &ada, &hers, timeout).await;
        // Only bob waits by now, for something else.
        let (notes, mut heard) = mpsc::channel(16);
        let options = CallOptions {
            responder: Some(his.clone()),
            notifications: Some(notes),
            ..CallOptions::default()
        };
        let view = bob.own_view();
        let slow = bob.call_tool(&view, ToolCall { options, ..ToolCall::new("mcp_x_sleep", HOUR) });
        tokio::select! {
            _ = slow => panic!("an hour is over"),
            told = until(LONG, || farm.count("x", "told") == 1) => assert!(told),
        }
        let told = farm.events("x", "told").concat();
        assert!(told.contains("-32601"), "{told}");
        assert_eq!((hers.heard(), his.heard()), (vec![], vec![]), "{timeout:?}");
        assert!(heard.try_recv().is_err(), "what the server said about her call");
        // It has answered by now, so nothing is left to ask about but what he calls.
        assert!(until(LONG, || bob.on("x").in_flight() == 0).await);
        let asked = call(&bob, "mcp_x_ask", ROOTS, Some(&his)).await;
        assert!(first(&asked).contains("file:///mine"), "{asked:?}");
        assert_eq!((hers.heard(), his.heard()), (vec![], vec!["bob".to_owned()]));
        bob.close().await;
        farm.close(ada).await;
    }
}

/// What there is no room to remember stands between others and a question for good.
#[tokio::test]
async fn f5_a_call_given_up_and_forgotten_is_never_taken_for_answered() {
    for (unanswered, is_asked) in [(1, false), (2, true)] {
        let farm = Farm::of("x", &["--era", "legacy"]);
        let mut limits = calm();
        limits.unanswered = unanswered;
        let [ada, bob] = two_within(&farm, &limits).await;
        let (hers, his) = (Arc::new(Person::default()), Arc::new(Person::default()));
        give_up(&farm, &ada, &hers, None).await;
        beside(&farm, call(&bob, "mcp_x_sleep", HOUR, Some(&his)), async {}).await;
        assert!(until(LONG, || farm.count("x", "told") == 1).await);
        let asked = call(&bob, "mcp_x_ask", ROOTS, Some(&his)).await;
        assert_eq!(first(&asked).contains("file:///mine"), is_asked, "{unanswered}: {asked:?}");
        bob.close().await;
        farm.close(ada).await;
    }
}

/// The newer protocol says which call a question belongs to, so others may wait.
#[tokio::test]
async fn f5_modern_questions_find_their_person_beside_others() {
    let farm = Farm::of("x", &["--era", "modern"]);
    let [ada, bob] = two(&farm).await;
    let (hers, his) = (Arc::new(Person::default()), Arc::new(Person::default()));
    let slow = call(&ada, "mcp_x_sleep", HOUR, Some(&hers));
    let asked = beside(&farm, slow, call(&bob, "mcp_x_ask", ROOTS, Some(&his))).await;
    assert!(first(&asked).contains("file:///mine"), "{asked:?}");
    assert_eq!((hers.heard(), his.heard()), (vec![], vec!["bob".to_owned()]));
    bob.close().await;
    farm.close(ada).await;
}

/// What a server was told that may be asked for.
async fn told(farm: &Farm, kit: &Kitbag, era: &str) -> Value {
    if era == "legacy" {
        let greeting = farm.events("x", "greeted").pop().unwrap();
        let greeting: Value = serde_json::from_str(greeting.strip_prefix("greeted ").unwrap()).unwrap();
        return greeting["capabilities"].clone();
    }
    let params = said(&kit.ask("x", "raw_echo", json!({})).await.unwrap());
    let params: Value = serde_json::from_str(&params).unwrap();
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"].clone()
}

#[tokio::test]
async fn f5_servers_are_told_what_callers_can_answer() {
    for era in ["legacy", "modern"] {
        let farm = Farm::of("x", &["--era", era]);
        let options = OpenOptions {
            answers: vec![QuestionKind::Roots, QuestionKind::Sampling],
            ..farm.options(calm())
        };
        let able = farm.open_with(options).await;
        // Newer servers are told with each call, and nobody answers for this one.
        let all = if era == "legacy" { json!({"roots": {}, "sampling": {}}) } else { json!({}) };
        assert_eq!(told(&farm, &able, era).await, all, "{era}");
        // Who can answer nothing has another link, on which nothing is offered.
        let unable = farm.open(calm()).await;
        assert_ne!(pid(&able, "x").await, pid(&unable, "x").await, "{era}");
        assert_eq!(told(&farm, &unable, era).await, json!({}), "{era}");
        unable.close().await;
        farm.close(able).await;
    }
}

#[tokio::test]
async fn f23_newer_servers_are_told_with_each_call_who_answers_for_it() {
    let farm = Farm::of("x", &["--era", "modern"]);
    let kit = farm.open(calm()).await;
    let person = Arc::new(Person::default());
    let echoed = call(&kit, "mcp_x_raw_echo", "{}", Some(&person)).await;
    let params: Value = serde_json::from_str(first(&echoed)).unwrap();
    let offered = &params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    assert_eq!(*offered, json!({"roots": {}}));
    assert_eq!(told(&farm, &kit, "modern").await, json!({}), "nobody answers for this one");
    // An honest server asks for nothing else.
    let asked = call(&kit, "mcp_x_ask", ROOTS, Some(&person)).await;
    assert!(first(&asked).contains("file:///mine"), "{asked:?}");
    let asked = call(&kit, "mcp_x_ask", r#"{"what":"sampling"}"#, Some(&person)).await;
    assert!(first(&asked).contains("does not offer sampling"), "{asked:?}");
    assert_eq!(person.heard(), ["local"]);
    farm.close(kit).await;
}

#[tokio::test]
async fn f23_handles_whose_persons_answer_the_same_share_a_server() {
    for era in ["legacy", "modern"] {
        let farm = Farm::of("x", &["--era", era]);
        farm.settings("[users.ada]\n[users.bob]\n");
        let (hers, his) = (Arc::new(Person::default()), Arc::new(Person::default()));
        let with =
            |person: &Arc<Person>| OpenOptions { responder: Some(person.clone()), ..farm.options(calm()) };
        let (ada, bob) =
            (open_for(&farm, "ada", with(&hers)).await, open_for(&farm, "bob", with(&his)).await);
        assert_eq!(pid(&ada, "x").await, pid(&bob, "x").await, "{era}: one process");
        for kit in [&ada, &bob, &bob] {
            let asked = call(kit, "mcp_x_ask", ROOTS, None).await;
            assert!(first(&asked).contains("file:///mine"), "{era}: {asked:?}");
        }
        assert_eq!((hers.heard(), his.heard()), (vec!["ada".to_owned()], vec!["bob".to_owned(); 2]), "{era}");
        bob.close().await;
        farm.close(ada).await;
    }
}

/// A question that comes with the answer to a call belongs to that call, whoever else waits.
#[tokio::test]
async fn f23_older_servers_at_an_address_say_by_their_stream_whom_they_ask() {
    let hosted = Hosted::of("x", &["--era", "legacy", "--answer", "sse"]);
    let farm = &hosted.farm;
    farm.settings("[users.ada]\n[users.bob]\n");
    let options = || OpenOptions { answers: vec![QuestionKind::Roots], ..farm.options(calm()) };
    let (ada, bob) = (open_for(farm, "ada", options()).await, open_for(farm, "bob", options()).await);
    let (hers, his) = (Arc::new(Person::default()), Arc::new(Person::default()));
    let slow = call(&ada, "mcp_x_sleep", HOUR, Some(&hers));
    let silent = async {
        // Nobody answers for this call, and another's person does not either.
        let refused = call(&bob, "mcp_x_ask", ROOTS, None).await;
        assert!(first(&refused).contains("-32601"), "{refused:?}");
        call(&bob, "mcp_x_ask", ROOTS, Some(&his)).await
    };
    let asked = beside(farm, slow, silent).await;
    assert!(first(&asked).contains("file:///mine"), "{asked:?}");
    assert_eq!((hers.heard(), his.heard()), (vec![], vec!["bob".to_owned()]));
    bob.close().await;
    hosted.close(ada).await;
}
