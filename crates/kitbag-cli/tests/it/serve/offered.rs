//! Resources, templates, prompts, completion and log levels through the endpoint, in both eras.

use serde_json::{Value, json};
use testkit::Farm;

use super::{Served, request, status};

/// A client of one era.
pub(super) struct Speaker<'s, 'f> {
    served: &'s Served<'f>,
    path: &'s str,
    /// None in the newer era.
    session: Option<String>,
}

impl<'s, 'f> Speaker<'s, 'f> {
    pub(super) fn older(served: &'s Served<'f>) -> Self {
        Self { served, path: "/mcp", session: Some(served.session("")) }
    }

    pub(super) fn newer(served: &'s Served<'f>) -> Self {
        Self { served, path: "/mcp", session: None }
    }

    /// Its session.
    #[track_caller]
    pub(super) fn id(&self) -> &str {
        self.session.as_deref().unwrap()
    }

    fn at(self, path: &'s str) -> Self {
        Self { path, ..self }
    }

    /// The answer to a request: its result or error.
    #[track_caller]
    pub(super) fn ask(&self, method: &str, mut params: Value) -> Value {
        let headers = match &self.session {
            Some(session) => format!("mcp-session-id: {session}\r\n"),
            None => {
                params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
                params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
                let name = params["name"].as_str().or(params["uri"].as_str());
                let name = name.map(|name| format!("mcp-name: {name}\r\n")).unwrap_or_default();
                format!("mcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\n{name}")
            }
        };
        let body = request(2, method, &params).to_string();
        let post = super::post(self.served.address(), &headers, &body);
        let answer = self.served.raw(&post.replacen("/mcp", self.path, 1));
        let text = answer.split("\r\n\r\n").nth(1).unwrap_or_default();
        let text = text.split("data: ").last().unwrap_or_default().split("\n\n").next().unwrap_or_default();
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {answer}"))
    }

    #[track_caller]
    pub(super) fn result(&self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params);
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }
}

fn two() -> Farm {
    let farm = Farm::of("x", &["--offers", "good", "--name", "x", "--era", "legacy"]);
    farm.add("y", &["--offers", "good", "--name", "y", "--era", "modern"]);
    farm
}

fn texts<'v>(list: &'v Value, member: &str, key: &str) -> Vec<&'v str> {
    list[member].as_array().unwrap().iter().filter_map(|item| item[key].as_str()).collect()
}

#[test]
fn what_is_listed_is_read_in_both_eras() {
    let farm = two();
    let served = Served::start(&farm, &[]);
    for client in [Speaker::older(&served), Speaker::newer(&served)] {
        let is_newer = client.session.is_none();
        let resources = client.result("resources/list", json!({}));
        assert_eq!(resources["ttlMs"].is_number(), is_newer, "{resources}");
        assert_eq!(resources["resultType"] == "complete", is_newer, "{resources}");
        let uris = texts(&resources, "resources", "uri");
        assert!(
            uris.contains(&"kitbag+x:fake://shared") && uris.contains(&"kitbag+y:fake://y/own"),
            "{uris:?}"
        );
        let templates = client.result("resources/templates/list", json!({}));
        assert!(
            texts(&templates, "resourceTemplates", "uriTemplate").contains(&"kitbag+x:fake://echo/{text}")
        );
        for server in ["x", "y"] {
            let read =
                client.result("resources/read", json!({"uri": format!("kitbag+{server}:fake://shared")}));
            assert_eq!(read["contents"][0]["text"], format!("shared of {server}"));
            assert_eq!(read["odd"], json!({"kept": true}), "as its server wrote it");
            assert_eq!(
                read["ttlMs"].is_number() && read["cacheScope"].is_string(),
                is_newer || server == "y"
            );
            let prompts = client.result("prompts/list", json!({}));
            let name = format!("{server}_greet");
            assert!(texts(&prompts, "prompts", "name").contains(&name.as_str()), "{prompts}");
            let got = client.result("prompts/get", json!({"name": name, "arguments": {"name": "Ada"}}));
            assert_eq!(got["messages"][0]["content"]["text"], "Hello Ada");
            let asked = json!({"ref": {"type": "ref/prompt", "name": name},
                "argument": {"name": "style", "value": "f"}, "context": {"arguments": {"name": "Ada"}}});
            let completed = client.result("completion/complete", asked);
            assert_eq!(completed["completion"]["values"], json!(["formal", "friendly"]));
            let asked = json!({"ref": {"type": "ref/resource", "uri": format!("kitbag+{server}:fake://echo/{{text}}")},
                "argument": {"name": "text", "value": "s"}});
            assert_eq!(client.result("completion/complete", asked)["completion"]["total"], 1);
        }
        let missing = client.ask("resources/read", json!({"uri": "kitbag+x:fake://none"}));
        assert_eq!(missing["error"]["code"], if is_newer { -32602 } else { -32002 }, "{missing}");
        let missing = client.ask("resources/read", json!({"uri": "kitbag+nobody:fake://none"}));
        assert_eq!(missing["error"]["code"], if is_newer { -32602 } else { -32002 }, "{missing}");
        for (method, params) in [
            ("resources/read", json!({})),
            ("resources/list", json!({"cursor": "x"})),
            ("prompts/get", json!({"name": "x_gret"})),
            ("prompts/get", json!({"name": "x_greet"})),
            (
                "completion/complete",
                json!({"ref": {"type": "ref/odd"}, "argument": {"name": "a", "value": ""}}),
            ),
        ] {
            let refused = client.ask(method, params);
            assert_eq!(refused["error"]["code"], -32602, "{method}: {refused}");
        }
    }
    assert!(farm.events("x", "complete").iter().any(|line| line.contains(r#"{"arguments":{"name":"Ada"}}"#)));
    served.stop();
}

#[test]
fn a_scope_of_one_server_has_its_own_uris() {
    let farm = two();
    let served = Served::start(&farm, &[]);
    let client = Speaker::newer(&served).at("/mcp/s/x");
    let resources = client.result("resources/list", json!({}));
    let uris = texts(&resources, "resources", "uri");
    assert!(uris.contains(&"fake://shared") && !uris.iter().any(|uri| uri.contains("//y/")), "{uris:?}");
    assert_eq!(
        client.result("resources/read", json!({"uri": "fake://shared"}))["contents"][0]["text"],
        "shared of x"
    );
    assert_eq!(client.ask("resources/read", json!({"uri": "fake://y/own"}))["error"]["code"], -32602);
    served.stop();
}

#[test]
fn what_is_denied_is_not_there_through_the_endpoint() {
    let farm = two();
    farm.settings(
        "[agents.narrow]\nservers = ['x']\n[groups.local]\ndeny = ['x/resource:fake://linked/**', 'y/*']\n",
    );
    let served = Served::start(&farm, &[]);
    for client in [Speaker::older(&served), Speaker::newer(&served)] {
        let resources = client.result("resources/list", json!({}));
        let uris = texts(&resources, "resources", "uri");
        assert!(uris.iter().all(|uri| uri.starts_with("kitbag+x:") && !uri.contains("linked")), "{uris:?}");
        for uri in ["kitbag+x:fake://linked/secret", "kitbag+y:fake://shared", "kitbag+z:fake://shared"] {
            let (denied, unknown) = (
                client.ask("resources/read", json!({"uri": uri})),
                client.ask("resources/read", json!({"uri": "kitbag+x:fake://none/a"})),
            );
            assert_eq!(denied["error"]["code"], unknown["error"]["code"], "{uri}");
        }
        assert_eq!(client.ask("prompts/get", json!({"name": "y_plain"}))["error"]["code"], -32602);
    }
    assert_eq!(farm.count("x", "read fake://linked/secret") + farm.count("y", "read"), 0);
    served.stop();
}

#[test]
fn log_levels_are_each_clients_own() {
    let farm = Farm::of("x", &["--era", "legacy"]);
    let served = Served::start(&farm, &[]);
    let (quiet, loud) = (Speaker::older(&served), Speaker::older(&served));
    assert_eq!(quiet.ask("logging/setLevel", json!({"level": "loud"}))["error"]["code"], -32602);
    quiet.result("logging/setLevel", json!({"level": "error"}));
    loud.result("logging/setLevel", json!({"level": "debug"}));
    let call = |client: &Speaker<'_, '_>| {
        let body = request(3, "tools/call", &json!({"name": "x_log", "arguments": {"n": 2}})).to_string();
        let headers = format!("mcp-session-id: {}\r\n", client.session.as_ref().unwrap());
        served.raw(&super::post(served.address(), &headers, &body))
    };
    let (heard, unheard) = (call(&loud), call(&quiet));
    assert_eq!((status(&heard), status(&unheard)), ("200", "200"));
    assert!(heard.contains("notifications/message"), "{heard}");
    assert!(!unheard.contains("notifications/message"), "{unheard}");
    served.stop();
}

/// SDKs of the older era refuse the whole result, or the whole list, for it.
#[test]
fn structured_content_that_is_no_object_reaches_older_clients_as_text() {
    let farm = Farm::of("x", &["--fault", "c10"]);
    farm.add("y", &["--fault", "c06"]);
    let served = Served::start(&farm, &[]);
    for client in [Speaker::older(&served), Speaker::newer(&served)] {
        let is_newer = client.session.is_none();
        let list = client.result("tools/list", json!({}));
        let schema = |name: &str| {
            let tools = list["tools"].as_array().unwrap().iter();
            tools.clone().find(|tool| tool["name"] == name).unwrap()["outputSchema"].clone()
        };
        assert_eq!(schema("y_output_list")["type"] == "array", is_newer, "{list}");
        assert_eq!(schema("x_structured_wrong")["type"], "object", "{list}");
        let done = client.result("tools/call", json!({"name": "x_structured_list", "arguments": {}}));
        let content = if is_newer { json!([]) } else { json!([{"type": "text", "text": "[1,2]"}]) };
        assert_eq!(done["content"], content, "{done}");
        assert_eq!(done["structuredContent"] == json!([1, 2]), is_newer, "{done}");
    }
    served.stop();
}
