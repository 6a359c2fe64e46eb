//! Two clients, and more, that share servers which ask in every call: nothing of one ever reaches another.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::client::{Client, Era, Served, everything, token};
use super::eras::all_servers;

/// What each call asks for, one after the other.
const KINDS: [&[&str]; 4] =
    [&["elicitation"], &["sampling"], &["roots", "elicitation"], &["sampling", "roots"]];

/// How many calls all clients make together.
const CALLS: usize = 1_000;

/// Makes calls until there were enough; each comes back with what this client answered to questions of this very call.
fn make_calls(
    client: &Client,
    servers: &[&str],
    made: &AtomicUsize,
    most: usize,
    check: impl Fn(&Value, &str),
) {
    loop {
        let number = made.fetch_add(1, Ordering::Relaxed);
        if most <= number {
            return;
        }
        let (server, kinds) = (servers[number % servers.len()], KINDS[number / servers.len() % KINDS.len()]);
        let own = format!("{}-{number}", client.name);
        let arguments = json!({"token": own, "kinds": kinds, "times": 1 + number % 2});
        let reply = client.call(&format!("{server}_ask"), &arguments);
        let answers: Value = serde_json::from_str(&reply.said()).unwrap_or_default();
        check(&answers, &format!("{}:{own} ", client.name));
        for round in answers.as_array().into_iter().flatten() {
            assert!(
                round.as_array().is_some_and(|round| round.len() == kinds.len()),
                "{own} {server}: {reply:?}"
            );
        }
    }
}

/// Nobody was asked for what another called.
#[track_caller]
fn only_own(clients: &[Client]) {
    for client in clients {
        let asked = client.asked.lock().unwrap();
        assert!(!asked.is_empty());
        let foreign: Vec<String> = asked
            .iter()
            .map(token)
            .filter(|token| !token.starts_with(&format!("{}-", client.name)))
            .collect();
        assert_eq!(foreign, Vec::<String>::new(), "{}", client.name);
    }
}

/// Every answer in a result, with the word that it must have.
fn each(answers: &Value, check: impl Fn(&str)) {
    let rounds = answers.as_array().into_iter().flatten();
    rounds.filter_map(Value::as_array).flatten().for_each(|answer| check(&answer.to_string()));
}

fn two_clients(served: &Served) -> [Client; 2] {
    [("a", Era::Older), ("b", Era::Newer)].map(|(name, era)| Client::http(served, name, era, everything()))
}

fn in_threads(clients: &[Client], work: impl Fn(&Client) + Sync) {
    std::thread::scope(|scope| {
        for client in clients {
            for _ in 0..4 {
                scope.spawn(|| work(client));
            }
        }
    });
}

#[test]
fn t16_a_thousand_calls_of_two_clients_do_not_mix_up_what_is_asked() {
    let hosted = all_servers();
    let served = Served::start(&hosted.farm, &[]);
    let (clients, made) = (two_clients(&served), AtomicUsize::new(0));
    in_threads(&clients, |client| {
        make_calls(client, &["oh", "nh", "ns"], &made, CALLS, |answers, own| {
            assert!(answers.as_array().is_some_and(|rounds| !rounds.is_empty()), "{own}: {answers}");
            each(answers, |answer| assert!(answer.contains(own), "{own}: {answer}"));
        });
    });
    only_own(&clients);
    let interviewed: usize =
        ["oh", "nh", "ns"].iter().map(|server| hosted.farm.count(server, "interviewed")).sum();
    assert_eq!(interviewed, CALLS, "each was carried out once");
    served.stop();
}

/// Over a pipe an older server does not say which call a question is about: while several clients wait, nobody is asked.
#[test]
fn t16_without_a_sign_which_call_asks_nobody_is_asked_for_another() {
    let hosted = all_servers();
    let served = Served::start(&hosted.farm, &[]);
    let (clients, made) = (two_clients(&served), AtomicUsize::new(0));
    // Alone each is asked.
    for client in &clients {
        let reply = client.call("os_ask", &json!({"token": format!("{}-alone", client.name)}));
        assert!(reply.said().contains(&format!("{}:{}-alone 0", client.name, client.name)), "{reply:?}");
    }
    in_threads(&clients, |client| {
        make_calls(client, &["os"], &made, CALLS / 4, |answers, own| {
            let is_refused = |answer: &str| answer.contains("not offered");
            each(answers, |answer| assert!(answer.contains(own) || is_refused(answer), "{own}: {answer}"));
        });
    });
    only_own(&clients);
    served.stop();
}
