//! The resources, their template, and what reading them gives.

use rmcp::ErrorData;
use serde_json::{Value, json};

/// The one that changes on demand.
pub(crate) const WATCHED: &str = "test://watched-resource";
/// A red dot.
pub(crate) const IMAGE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";

/// The result of `resources/list`.
pub(crate) fn list() -> Value {
    let row = |uri: &str, name: &str, mime: &str| json!({"uri": uri, "name": name, "description": format!("{name}, for tests"), "mimeType": mime});
    json!({"resources": [
        row("test://static-text", "Static text", "text/plain"),
        row("test://static-binary", "Static binary", "image/png"),
        row(WATCHED, "Watched resource", "text/plain"),
    ]})
}

/// The result of `resources/templates/list`.
pub(crate) fn templates() -> Value {
    json!({"resourceTemplates": [{
        "uriTemplate": "test://template/{id}/data",
        "name": "Template",
        "description": "Data of an id, for tests",
        "mimeType": "application/json",
    }]})
}

/// The result of `resources/read`.
pub(crate) fn read(uri: &str, changes: u64) -> Result<Value, ErrorData> {
    let text = |mime: &str, text: String| json!({"contents": [{"uri": uri, "mimeType": mime, "text": text}]});
    let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
    Ok(match (uri, id) {
        ("test://static-text", _) => {
            text("text/plain", "This is the content of the static text resource.".to_owned())
        }
        ("test://static-binary", _) => {
            json!({"contents": [{"uri": uri, "mimeType": "image/png", "blob": IMAGE}]})
        }
        (WATCHED, _) => text("text/plain", format!("changed {changes} times")),
        (_, Some(id)) => {
            let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
            text("application/json", data.to_string())
        }
        _ => return Err(ErrorData::resource_not_found("resource not found", Some(json!({"uri": uri})))),
    })
}
