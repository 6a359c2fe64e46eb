//! Completion: what could stand for an argument of a prompt, or in a template.

use kitbag_core::shape::View;
use kitbag_core::{ErrorKind, ServerName};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use super::super::call::link_in;
use super::super::{Inner, Kitbag};
use super::{ServerResult, uri};
use crate::connect::{ListKind, RawReply, RawRequest};
use crate::execute::{CallError, CallInfo, CallOptions};

/// What an argument belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionReference<'a> {
    /// A prompt, by its name.
    Prompt(&'a str),
    /// A template of resources, or a resource, by how it is listed.
    Resource(&'a str),
}

impl Kitbag {
    /// What could stand for an argument: its name and what is written of it so far. `context` are arguments that are known
    /// already. A server that completes nothing is not asked, and gives an empty list.
    pub async fn complete(
        &self,
        view: &View,
        reference: CompletionReference<'_>,
        argument: (&str, &str),
        context: &Map<String, Value>,
        options: CallOptions,
    ) -> Result<ServerResult, CallError> {
        let work = self.0.completed(view, reference, argument, context, &options);
        match &options.cancel {
            None => work.await,
            Some(cancel) => tokio::select! {
                biased;
                () = cancel.cancelled() => Err(CallError::new(ErrorKind::Cancelled, "the caller cancelled it")),
                done = work => done,
            },
        }
    }
}

impl Inner {
    async fn completed(
        &self,
        view: &View,
        reference: CompletionReference<'_>,
        (name, value): (&str, &str),
        context: &Map<String, Value>,
        options: &CallOptions,
    ) -> Result<ServerResult, CallError> {
        let (server, own, tool) = match reference {
            CompletionReference::Prompt(name) => {
                let meant = self.prompt_meant(view, name).await?;
                let own = json!({"type": "ref/prompt", "name": meant.prompt.own_name});
                (meant.prompt.server, own, meant.shown.tool.name.to_string())
            }
            CompletionReference::Resource(asked) => {
                let (server, template) = self.template_meant(view, asked).await?;
                let tool = format!("resource:{template}");
                (server, json!({"type": "ref/resource", "uri": template}), tool)
            }
        };
        let mut params = json!({"ref": own, "argument": {"name": name, "value": value}});
        if !context.is_empty() {
            params["context"] = json!({ "arguments": context });
        }
        if !options.meta.is_empty() {
            params["_meta"] = Value::Object(options.meta.clone());
        }
        let link = link_in(&self.now(), &server)?;
        let info = CallInfo::new(server.clone(), tool);
        if link.features().is_some_and(|features| !features.completions) {
            let nothing = raw(&json!({"completion": {"values": [], "total": 0, "hasMore": false}}))?;
            return Ok(ServerResult { result: nothing, info });
        }
        let params = raw(&params)?;
        let request = RawRequest {
            headers: &options.headers,
            repeatable: true,
            user: view.user().clone(),
            timeout: options.timeout,
            ..RawRequest::new("completion/complete", &params)
        };
        let RawReply { result, retries, took, .. } = link.request(request).await?;
        Ok(ServerResult { result, info: CallInfo { retries, took, ..info } })
    }

    /// The server of a template or resource, and what that server calls it, if the view may have it.
    async fn template_meant(&self, view: &View, asked: &str) -> Result<(ServerName, String), CallError> {
        let now = self.now();
        let servers = self.servers_of(view, &now);
        let (server, own) = match uri::read(asked, &servers) {
            Some((server, own)) => (server.clone(), own.to_owned()),
            None => {
                let listed = self.gather(view, ListKind::Templates).await.lists;
                let has_it = |(_, list): &&(ServerName, std::sync::Arc<crate::connect::ItemList>)| {
                    list.items.iter().any(|item| item.key == asked)
                };
                let having: Vec<ServerName> =
                    listed.iter().filter(has_it).map(|(server, _)| server.clone()).collect();
                match having.as_slice() {
                    [one] => (one.clone(), asked.to_owned()),
                    _ => {
                        let (servers, own) = self.whose(view, asked).await?.in_order(asked);
                        let first = servers.into_iter().next();
                        (first.ok_or_else(|| super::resources::no_resource(asked))?, own)
                    }
                }
            }
        };
        self.resource_now(view, &server, &own)?;
        Ok((server, own))
    }
}

fn raw(value: &Value) -> Result<Box<RawValue>, CallError> {
    to_raw_value(value).map_err(|error| CallError::new(ErrorKind::Internal, error.to_string()))
}
