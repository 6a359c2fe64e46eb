//! How the entry says who we are, in the forms that are more than a header.

use super::super::tree::Node;
use super::keys::Field;
use super::{Context, Fields, values};
use crate::config::interpolate::template;
use crate::fault::{Fault, FaultKind};
use crate::model::{Auth, Template};

pub(super) fn read(context: &mut Context<'_>, fields: &Fields<'_>) -> Auth {
    if let Some(pair) = fields.get(Field::Auth) {
        context.remember("auth", pair.at);
        if pair.value.get("type").is_some() {
            return typed(context, &pair.value).unwrap_or(Auth::None);
        }
    }
    if let Some(name) = values::text(context, fields, Field::BearerVar, "auth") {
        return Auth::Bearer(Template::var(&name));
    }
    if let Some(token) = fields.get(Field::BearerText).and_then(|pair| values::one(context, pair, "auth")) {
        return Auth::Bearer(token);
    }
    match values::text(context, fields, Field::ApiKeyVar, "auth") {
        None => Auth::None,
        Some(variable) => {
            let name = values::text(context, fields, Field::ApiKeyHeader, "auth")
                .unwrap_or_else(|| "Authorization".into());
            let format = values::text(context, fields, Field::ApiKeyFormat, "auth")
                .unwrap_or_else(|| "Bearer {token}".into());
            let value = template(&format.replace("{token}", &format!("${{{variable}}}")), context.dialect);
            Auth::Header { name, value }
        }
    }
}

/// `{type: bearer, token}`, `{type: api_key, token, header?}`, `{type: custom, header, token}` or
/// `{type: custom, headers: {one: value}}`.
fn typed(context: &mut Context<'_>, node: &Node) -> Option<Auth> {
    let text = |key: &str| node.get(key).and_then(Node::text);
    let kind = text("type").unwrap_or_default();
    let token = ["token", "key", "apiKey", "value"].iter().find_map(|key| text(key));
    let header = ["header", "headerName", "header_name"].iter().find_map(|key| text(key));
    let inner = node.get("headers").and_then(Node::map).and_then(|pairs| pairs.first());
    let value = |text: &str| template(text, context.dialect);
    let auth = match (kind, token, header, inner) {
        ("none", ..) => Auth::None,
        ("bearer", Some(token), ..) => Auth::Bearer(value(token)),
        ("api_key" | "apiKey" | "api-key", Some(token), header, _) => {
            Auth::Header { name: header.unwrap_or("X-API-Key").to_owned(), value: value(token) }
        }
        ("custom", Some(token), header, _) => {
            Auth::Header { name: header.unwrap_or("Authorization").to_owned(), value: value(token) }
        }
        ("custom", None, _, Some(pair)) if pair.value.text().is_some() => {
            Auth::Header { name: pair.key.clone(), value: value(pair.value.text().unwrap_or_default()) }
        }
        ("bearer" | "api_key" | "apiKey" | "api-key" | "custom", ..) => {
            let fault =
                Fault::error(FaultKind::MissingField, format!("auth of type {kind} needs a \"token\""));
            context.say(fault.hint("add \"token\": \"${NAME_OF_A_VARIABLE}\""), node.at);
            return None;
        }
        ("oauth" | "oauth2", ..) => return None,
        _ => {
            let fault = Fault::error(FaultKind::WrongValue, format!("unknown auth type {kind:?}"));
            context.say(fault.hint("write bearer, api_key or custom"), node.at);
            return None;
        }
    };
    Some(auth)
}
