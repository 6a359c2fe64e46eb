//! Resources, templates and prompts of the endpoint: lists as the protocol has them, and results as servers wrote them.

use std::sync::Arc;

use kitbag::connect::raw::members;
use kitbag::offered::{CompletionReference, ServerResult};
use kitbag::{CallError, CallOptions, ErrorKind, Fault, Repair, View};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::answer::{Incoming, Speech};
use crate::client::{Client, Out};
use crate::flight::carry;
use crate::rpc::{RpcError, code, raw};

/// What of it is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Listed {
    Resources,
    Templates,
    Prompts,
}

impl Listed {
    /// Under which key of the result the items stand.
    fn member(self) -> &'static str {
        match self {
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
            Self::Prompts => "prompts",
        }
    }
}

/// A list of everything of one kind that a client may have.
pub(crate) async fn list(
    client: &Client,
    request: &Incoming,
    what: Listed,
) -> Result<Box<RawValue>, RpcError> {
    request.no_cursor()?;
    client.endpoint.wait(&client.kit, &client.user).await;
    let (view, _) = client.view()?;
    let items = items(client, &view, what).await;
    client.read.note(what, &items);
    let mut result = Map::from_iter([(what.member().to_owned(), Value::Array(items))]);
    if request.speech() == Speech::Modern {
        result.insert("ttlMs".to_owned(), 0.into());
        result.insert("cacheScope".to_owned(), "private".into());
    }
    raw(Value::Object(result).to_string())
}

/// The definitions a client gets now. What is wrong with some of them is told where faults are.
pub(crate) async fn items(client: &Client, view: &View, what: Listed) -> Vec<Value> {
    fn told<T>((items, _): (Vec<T>, Vec<Fault>)) -> impl Iterator<Item = T> {
        items.into_iter()
    }
    let kit = &client.kit;
    match what {
        Listed::Resources => told(kit.resources(view).await).map(|item| item.definition).collect(),
        Listed::Templates => told(kit.templates(view).await).map(|item| item.definition).collect(),
        Listed::Prompts => told(kit.prompts(view).await).map(|item| item.definition).collect(),
    }
}

/// Reads a resource.
pub(crate) async fn read(
    client: &Arc<Client>,
    request: &Incoming,
    out: &Out,
) -> Result<Box<RawValue>, RpcError> {
    let (uri, speech) = (request.text("uri", "the resource")?, request.speech());
    let place = client.place()?;
    let ((view, _), kit) = (client.view()?, client.kit.clone());
    let not_found = match speech {
        Speech::Legacy => code::NO_RESOURCE,
        Speech::Modern => code::INVALID_PARAMS,
    };
    let made = move |options: CallOptions| async move {
        let _place = place;
        match kit.read_resource(&view, &uri, options).await {
            Ok(done) if speech == Speech::Modern => hinted(done),
            Ok(done) => Ok(done.result),
            Err(error) => {
                let error = failed(&error, speech, not_found);
                let is_bare = error.code == not_found && error.data.is_none();
                Err(if is_bare { error.with(json!({ "uri": uri })) } else { error })
            }
        }
    };
    carry(client, request, out, made).await
}

/// Gets a prompt.
pub(crate) async fn get(
    client: &Arc<Client>,
    request: &Incoming,
    out: &Out,
) -> Result<Box<RawValue>, RpcError> {
    let (name, speech) = (request.text("name", "the prompt")?, request.speech());
    let place = client.place()?;
    let ((view, _), kit) = (client.view()?, client.kit.clone());
    let arguments = request.read()?.arguments.map_or("", RawValue::get).to_owned();
    let made = move |options: CallOptions| async move {
        let _place = place;
        match kit.get_prompt(&view, &name, &arguments, options).await {
            Ok(done) => Ok(done.result),
            Err(error) => Err(failed(&error, speech, code::INVALID_PARAMS)),
        }
    };
    carry(client, request, out, made).await
}

/// A result as received, with the hints that the newer era wants where a server of the older one gives none.
fn hinted(done: ServerResult) -> Result<Box<RawValue>, RpcError> {
    let members = members(&done.result).unwrap_or_default();
    let has = |name: &str| members.iter().any(|(key, _)| key == name);
    // A question to its client is not a result that could be kept.
    if members.iter().any(|(key, value)| key == "resultType" && value.get() != "\"complete\"") {
        return Ok(done.result);
    }
    let missing = [("ttlMs", "0"), ("cacheScope", "\"private\"")].into_iter().filter(|(key, _)| !has(key));
    let mut hints: Vec<String> = missing.map(|(key, value)| format!("\"{key}\":{value}")).collect();
    let rest = done.result.get().trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    let Some(rest) = rest.filter(|_| !hints.is_empty()) else { return Ok(done.result) };
    if !rest.trim().is_empty() {
        hints.push(rest.to_owned());
    }
    raw(format!("{{{}}}", hints.join(",")))
}

/// Unlike a call, these have no result that says it failed.
pub(crate) fn failed(error: &CallError, speech: Speech, not_found: i64) -> RpcError {
    let near = match error.repair.as_deref() {
        Some(Repair::Names(names)) if !names.is_empty() => {
            format!("; did you mean {}?", names.join(", "))
        }
        _ => String::new(),
    };
    let message = format!("{error}{near}");
    let kind = json!({"kitbag/kind": error.kind.as_str()});
    match (error.kind, error.code) {
        (ErrorKind::NotFound, _) => RpcError::new(not_found, format!("{}{near}", error.message)),
        (ErrorKind::Ambiguous | ErrorKind::InvalidArguments, _) => {
            RpcError::new(code::INVALID_PARAMS, format!("{}{near}", error.message))
        }
        (ErrorKind::ServerError, Some(code::NO_RESOURCE)) if speech == Speech::Modern => {
            RpcError::new(code::INVALID_PARAMS, error.message.clone())
        }
        (ErrorKind::ServerError, Some(code)) => RpcError::new(code, error.message.clone()),
        _ => RpcError::new(code::INTERNAL, message).with(kind),
    }
}

/// Completes an argument.
pub(crate) async fn complete(
    client: &Arc<Client>,
    request: &Incoming,
    out: &Out,
) -> Result<Box<RawValue>, RpcError> {
    let bad = |why: String| RpcError::new(code::INVALID_PARAMS, format!("invalid params: {why}"));
    let asked: Completion =
        serde_json::from_str(request.params.get()).map_err(|error| bad(error.to_string()))?;
    let Completion { reference: asked, argument, context } = asked;
    let is_prompt = match (&*asked.kind, &asked.name, &asked.uri) {
        ("ref/prompt", Some(_), _) => true,
        ("ref/resource", _, Some(_)) => false,
        (kind, ..) => return Err(bad(format!("ref is neither a prompt nor a resource: {kind:?}"))),
    };
    let named = if is_prompt { asked.name } else { asked.uri }.unwrap_or_default();
    let ((view, _), kit, speech) = (client.view()?, client.kit.clone(), request.speech());
    let made = move |options: CallOptions| async move {
        let reference = match is_prompt {
            true => CompletionReference::Prompt(&named),
            false => CompletionReference::Resource(&named),
        };
        let argument = (argument.name.as_str(), argument.value.as_str());
        match kit.complete(&view, reference, argument, &context.arguments, options).await {
            Ok(done) => Ok(done.result),
            Err(error) => Err(failed(&error, speech, code::INVALID_PARAMS)),
        }
    };
    carry(client, request, out, made).await
}

#[derive(Deserialize)]
struct Completion {
    #[serde(rename = "ref")]
    reference: Reference,
    argument: Argument,
    #[serde(default)]
    context: Context,
}

#[derive(Deserialize)]
struct Reference {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    uri: Option<String>,
}

#[derive(Deserialize)]
struct Argument {
    name: String,
    #[serde(default)]
    value: String,
}

#[derive(Default, Deserialize)]
struct Context {
    #[serde(default)]
    arguments: Map<String, Value>,
}
