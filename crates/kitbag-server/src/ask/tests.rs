use serde_json::json;

use super::*;
use kitbag::{ServerName, UserId};

fn question(kind: QuestionKind, params: &Value) -> Question {
    let server = ServerName::parse("x").unwrap();
    Question { server, user: UserId::local(), tool: None, kind, params: to_raw_value(params).unwrap() }
}

#[test]
fn a_client_is_asked_what_it_declares_and_nothing_else() {
    use QuestionKind::{Elicitation, Sampling};
    let check = |declared: Value, kind: QuestionKind, params: Value, is_asked: bool| {
        let refused = Declared::read(&declared).refuses(&question(kind, &params));
        assert_eq!(refused.is_none(), is_asked, "{declared} {params}: {refused:?}");
    };
    let (form, link) = (json!({"mode": "form"}), json!({"mode": "url", "url": "https://x.example"}));
    for (elicitation, forms, links) in [
        (json!({}), true, false),
        (json!({"form": {}}), true, false),
        (json!({"url": {}}), false, true),
        (json!({"form": {}, "url": {}}), true, true),
    ] {
        let declared = json!({"elicitation": elicitation});
        check(declared.clone(), Elicitation, form.clone(), forms);
        check(declared.clone(), Elicitation, json!({"message": "no mode is a form"}), forms);
        check(declared, Elicitation, link.clone(), links);
    }
    let (plain, tools) = (json!({"messages": []}), json!({"messages": [], "tools": []}));
    check(json!({"sampling": {}}), Sampling, plain.clone(), true);
    check(json!({"sampling": {}}), Sampling, tools.clone(), false);
    check(json!({"sampling": {}}), Sampling, json!({"toolChoice": {"mode": "auto"}}), false);
    check(json!({"sampling": {"tools": {}}}), Sampling, tools, true);
}

#[test]
fn what_is_there_counts_and_null_is_not() {
    let kinds = |declared: Value| Declared::read(&declared).kinds;
    assert_eq!(kinds(json!({"roots": {"listChanged": true}, "sampling": null})), [QuestionKind::Roots]);
    assert_eq!(kinds(json!({"extensions": {"io.modelcontextprotocol/tasks": {}}})), []);
    assert_eq!(kinds(Value::Null), []);
    assert_eq!(kinds(json!("elicitation")), []);
}

#[tokio::test]
async fn a_call_that_has_ended_does_not_count_as_too_many_questions() {
    let (asked, questions) = mpsc::channel(1);
    let declared = Declared::read(&json!({"roots": {}}));
    let client = ToClient { declared, asked: asked.clone(), way: Way::Result };
    let refused = async || client.ask(question(QuestionKind::Roots, &json!({}))).await.unwrap_err();
    let (reply, _) = oneshot::channel();
    let first = Unanswered { question: question(QuestionKind::Roots, &json!({})), reply };
    asked.try_send(Asked::Result(first)).map_err(|_| ()).unwrap();
    assert!(refused().await.contains("too many questions"));
    drop(questions);
    assert!(refused().await.contains("has ended"));
}
