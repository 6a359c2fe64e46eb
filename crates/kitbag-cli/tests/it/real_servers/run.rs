//! One conversation with tools of several real servers, over every wire format, streamed.

use serde_json::{Value, json};
use testkit::FakeModel;

use super::installed::Server;
use super::place::Place;

#[test]
fn a_model_uses_real_servers_in_one_conversation_over_every_wire_format() {
    let servers = [Server::Everything, Server::Filesystem, Server::TimeNew];
    let place = Place::with(&servers);
    std::fs::write(place.data().join("note.txt"), "a note of 4711 words").unwrap();
    let name = |server: Server, tool: &str| format!("mcp_{}_{tool}", server.name()).replace('-', "_");
    let path = place.data().join("note.txt");
    let script = json!({"turns": [
        {"text": ["First ", "these."], "calls": [
            {"name": name(Server::Everything, "get-sum"), "arguments": {"a": 2, "b": 40}},
            {"name": name(Server::Filesystem, "read_text_file"), "arguments": {"path": path}},
            {"name": name(Server::TimeNew, "convert_time"), "arguments": {
                "source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo",
            }},
        ]},
        {"text": ["All ", "done."]},
    ]});
    for vendor in ["openai", "openai-responses", "anthropic", "gemini", "ollama"] {
        let model = FakeModel::start(&script);
        let mut run = place.kitbag(&["run", "--agent", "autonomous", "--json", "Use them all"]);
        run.env("KITBAG_MODEL", format!("{vendor}/scripted"))
            .env("OPENAI_BASE_URL", format!("{}/v1", model.url()));
        for variable in ["ANTHROPIC_BASE_URL", "GEMINI_BASE_URL", "OLLAMA_BASE_URL"] {
            run.env(variable, model.url());
        }
        let ran = run.output().unwrap();
        place.assert_empty();
        let told = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(0), "{vendor}: {told}");
        let report: Value = serde_json::from_slice(&ran.stdout).unwrap();
        assert_eq!((&report["answer"], &report["steps"]), (&json!("All done."), &json!(2)), "{vendor}");
        assert_eq!(report["errors"], json!([]), "{vendor}: {report}");
        let sent = model.bodies().pop().unwrap().to_string();
        let place_of =
            |word: &str| sent.find(word).unwrap_or_else(|| panic!("{vendor}: no {word:?} in {sent}"));
        let places = [place_of("is 42"), place_of("4711 words"), place_of("+9.0h")];
        assert!(places.is_sorted(), "{vendor}: in the order of the calls: {places:?}");
    }
}
