//! What the server has beside tools: resources, templates, prompts, completion and subscriptions, good and hostile.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::server::Server;
use crate::tools::PNG;
use crate::wire::{self, Request, Speech, code};

/// How its lists and answers are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Offers {
    Good,
    /// Pages without end, a new cursor and a new item on each.
    Endless,
    /// The same page for ever.
    Cycle,
    /// Every item a second time, with other words.
    Twice,
    /// Lists that are no lists.
    Lies,
    /// Lists that never come.
    Hang,
    /// Capabilities without methods.
    Empty,
}

impl Offers {
    pub(crate) fn parse(word: &str) -> Result<Self, String> {
        Ok(match word {
            "good" => Self::Good,
            "endless" => Self::Endless,
            "cycle" => Self::Cycle,
            "twice" => Self::Twice,
            "lies" => Self::Lies,
            "hang" => Self::Hang,
            "empty" => Self::Empty,
            _ => return Err(format!("unknown offers {word}")),
        })
    }
}

/// As further capabilities.
pub(crate) fn capabilities(server: &Server) -> &'static str {
    match (server.options.offers, server.options.tells_changes) {
        (None, _) => "",
        (Some(_), true) => {
            ",\"resources\":{\"subscribe\":true,\"listChanged\":true},\"prompts\":{\"listChanged\":true},\
             \"completions\":{}"
        }
        (Some(_), false) => ",\"resources\":{\"subscribe\":true},\"prompts\":{},\"completions\":{}",
    }
}

#[derive(Default, Deserialize)]
struct Asked {
    #[serde(default)]
    uri: String,
    #[serde(default, rename = "ref")]
    reference: Value,
    #[serde(default)]
    argument: Value,
    #[serde(default)]
    context: Value,
    #[serde(default)]
    name: String,
    #[serde(default)]
    arguments: Value,
}

/// Answers a request about these; whether it was one.
pub(crate) fn serve(server: &Arc<Server>, request: &Request<'_>) -> bool {
    let Some(offers) = server.options.offers else { return false };
    let asked: Asked = serde_json::from_str(request.raw_params()).unwrap_or_default();
    if offers == Offers::Empty && request.method != "ping" {
        return false;
    }
    match request.method {
        "resources/list" => listed(server, request, offers, "resources", resources(server)),
        "resources/templates/list" => listed(server, request, offers, "resourceTemplates", templates()),
        "prompts/list" => listed(server, request, offers, "prompts", prompts(server)),
        "resources/read" => read(server, request, &asked.uri),
        "prompts/get" => got(server, request, &asked),
        "completion/complete" => completed(server, request, &asked),
        "resources/subscribe" | "resources/unsubscribe" if request.speech == Speech::Legacy => {
            let word = request.method.trim_start_matches("resources/");
            server.events.note(&[word, &asked.uri]);
            server.answer(&wire::result(request.id, request.speech, |_| ()));
        }
        _ => return false,
    }
    true
}

fn resources(server: &Server) -> Vec<Value> {
    let name = &server.options.name;
    let mut all = vec![
        json!({"uri": "fake://shared", "name": "shared", "description": "One that every server has",
            "mimeType": "text/plain", "size": 6, "odd": {"kept": 1.50}}),
        json!({"uri": format!("fake://{name}/own"), "name": "own", "title": format!("Of {name}")}),
        json!({"uri": "fake://picture", "name": "picture", "mimeType": "image/png"}),
        json!({"uri": "fake://hang", "name": "hang", "description": "Never answers"}),
        json!({"uri": "fake://linked/secret", "name": "secret"}),
    ];
    all.extend(
        (1..=server.grown.load(Ordering::Relaxed)).map(
            |number| json!({"uri": format!("fake://grown/{number}"), "name": format!("grown_{number}")}),
        ),
    );
    all
}

fn templates() -> Vec<Value> {
    vec![
        json!({"uriTemplate": "fake://echo/{text}", "name": "echo", "description": "Says text"}),
        json!({"uriTemplate": "fake://big/{bytes}", "name": "big"}),
    ]
}

fn prompts(server: &Server) -> Vec<Value> {
    let mut all = vec![
        json!({"name": "greet", "title": "Greeting", "description": "Greets somebody", "arguments": [
            {"name": "name", "description": "Whom", "required": true}, {"name": "style"}]}),
        json!({"name": "plain", "description": "Without arguments"}),
        json!({"name": format!("of-{}", server.options.name)}),
    ];
    // The definition of a prompt of one server is another one each time it lists.
    if server.options.name == "changing" {
        all[0]["description"] = format!("Greets {}", server.grown.load(Ordering::Relaxed)).into();
    }
    all.extend(
        (1..=server.grown.load(Ordering::Relaxed)).map(|number| json!({"name": format!("grown_{number}")})),
    );
    all
}

fn listed(server: &Arc<Server>, request: &Request<'_>, offers: Offers, member: &str, mut all: Vec<Value>) {
    server.events.note(&["offered", request.method]);
    let cursor = request.params.cursor.as_deref();
    let page: usize = cursor.and_then(|cursor| cursor.strip_prefix("p-")?.parse().ok()).unwrap_or(0);
    let key = if member == "prompts" {
        "name"
    } else if member == "resources" {
        "uri"
    } else {
        "uriTemplate"
    };
    let next = match offers {
        Offers::Hang => return,
        Offers::Lies => {
            let line = wire::members(request, &json!({ member: "nothing of the kind" }));
            return server.answer(&line);
        }
        Offers::Endless => {
            if 0 < page {
                all = vec![json!({ key: format!("fake_{page}"), "name": format!("endless_{page}") })];
            }
            Some(format!("p-{}", page + 1))
        }
        Offers::Cycle => Some("p-1".to_owned()),
        Offers::Twice => {
            let again: Vec<Value> = all
                .iter()
                .cloned()
                .map(|mut item| {
                    item["description"] = "another one".into();
                    item
                })
                .chain([json!({"name": 7}), json!("none"), json!({ key: "fake://\u{202e}hidden" })])
                .collect();
            all.extend(again);
            None
        }
        Offers::Good | Offers::Empty => None,
    };
    let mut result = json!({ member: all });
    if let Some(next) = next {
        result["nextCursor"] = next.into();
    }
    if request.speech == Speech::Modern {
        result["cacheScope"] = server.options.scope.into();
        if let Some(ttl) = server.options.ttl {
            result["ttlMs"] = ttl.into();
        }
    }
    server.answer(&wire::members(request, &result));
}

fn read(server: &Arc<Server>, request: &Request<'_>, uri: &str) {
    let name = &server.options.name;
    server.events.note(&["read", uri]);
    let text = |text: String| json!([{"uri": uri, "mimeType": "text/plain", "text": text}]);
    let contents = match uri.strip_prefix("fake://").unwrap_or_default() {
        "hang" => return,
        "shared" => text(format!("shared of {name}")),
        "picture" => json!([{"uri": uri, "mimeType": "image/png", "blob": PNG}]),
        "linked/secret" => text(format!("secret of {name}")),
        "variable" => text(std::env::var("VALUE").unwrap_or_default()),
        own if own == format!("{name}/own") => text(format!("own of {name}")),
        rest => match rest.split_once('/') {
            Some(("echo", said)) => text(said.to_owned()),
            Some(("big", bytes)) => text("x".repeat(bytes.parse().unwrap_or(0))),
            Some(("only", server)) if server == name => text(format!("only of {name}")),
            // Told before the answer, so whoever has this knows that it was told.
            Some(("update", _)) => {
                let updated = uri.trim_start_matches("fake://update/");
                server.say("notifications/resources/updated", &json!({ "uri": updated }));
                text("told".to_owned())
            }
            Some(("grown", number)) => text(number.to_owned()),
            _ => {
                let not_found = if request.speech == Speech::Modern { code::BAD_PARAMS } else { -32002 };
                let data = json!({ "uri": uri }).to_string();
                return server.answer(&wire::error(request.id, not_found, "Resource not found", &data));
            }
        },
    };
    let mut result = json!({ "contents": contents, "odd": {"kept": true} });
    if request.speech == Speech::Modern {
        result["ttlMs"] = 0.into();
        result["cacheScope"] = "private".into();
    }
    server.answer(&wire::members(request, &result));
}

fn got(server: &Arc<Server>, request: &Request<'_>, asked: &Asked) {
    server.events.note(&["prompt", &asked.name]);
    let said = match &*asked.name {
        "greet" => format!("Hello {}", asked.arguments["name"].as_str().unwrap_or("nobody")),
        "plain" => format!("plain of {}", server.options.name),
        name if name.starts_with("of-") || name.starts_with("grown_") => name.to_owned(),
        _ => return server.answer(&wire::error(request.id, code::BAD_PARAMS, "Unknown prompt", "")),
    };
    let message = json!({"role": "user", "content": {"type": "text", "text": said}});
    server.answer(&wire::members(request, &json!({"description": "Said", "messages": [message]})));
}

fn completed(server: &Arc<Server>, request: &Request<'_>, asked: &Asked) {
    let about = asked.reference["name"].as_str().or_else(|| asked.reference["uri"].as_str());
    let argument = asked.argument["name"].as_str().unwrap_or_default();
    server.events.note(&["complete", about.unwrap_or("-"), argument, &asked.context.to_string()]);
    let given = asked.argument["value"].as_str().unwrap_or_default();
    let all = ["formal", "friendly", "short"];
    let values: Vec<&str> = all.into_iter().filter(|value| value.starts_with(given)).collect();
    let total = values.len();
    let result = json!({"completion": {"values": values, "total": total, "hasMore": false}});
    server.answer(&wire::members(request, &result));
}
