//! Tools as the protocol lists them: the server's own definition, with what the rules made of it; or one tool a server.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use kitbag::cli::READ_RESULT;
use kitbag::{Kitbag, ServerName, View, ViewTool, tokens};
use kitbag_core::present::gateway::GatewayDefinition;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::answer::Speech;
use crate::audience::Style;
use crate::older;
use crate::plan::{Gateways, Weight, gateways};
use crate::rpc::{RpcError, raw};

#[cfg(test)]
mod tests;

/// What a client is given.
pub(crate) struct Listed {
    /// The definitions, as one JSON list.
    pub(crate) text: Arc<str>,
    /// The same as clients of the older era can read it.
    pub(crate) older: Arc<str>,
    /// The whole result, once somebody asked for it: in the older era, and in the newer one.
    results: [OnceLock<Box<RawValue>>; 2],
    /// The gateways among them, and the others that there are.
    pub(crate) gateways: Gateways,
}

impl Listed {
    /// What a request for it is answered with.
    pub(crate) fn result(&self, speech: Speech) -> Result<Box<RawValue>, RpcError> {
        let [older, newer] = &self.results;
        let kept = if speech == Speech::Legacy { older } else { newer };
        if let Some(kept) = kept.get() {
            return Ok(kept.clone());
        }
        let made = match speech {
            Speech::Legacy => format!(r#"{{"tools":{}}}"#, self.older),
            Speech::Modern => format!(
                r#"{{"resultType":"complete","tools":{},"ttlMs":0,"cacheScope":"private"}}"#,
                self.text
            ),
        };
        let made = raw(made)?;
        Ok(kept.get_or_init(|| made).clone())
    }
}

/// The tools of a view as a client sees them.
pub(crate) fn list(kit: &Kitbag, view: &Arc<View>, style: &Style) -> Listed {
    let most = style.description;
    // Results travel whole: there is nothing to read on in.
    let of_use = view.tools().iter().filter(|shown| shown.tool.name.as_str() != READ_RESULT);
    let (mut tools, mut unreadable) = (Vec::new(), HashMap::new());
    for shown in of_use {
        let mut definition = definition(shown, most);
        let text = definition.to_string();
        if !older::is_readable(&definition) {
            definition.as_object_mut().and_then(|fields| fields.shift_remove("outputSchema"));
            unreadable.insert(text.clone(), definition.to_string());
        }
        tools.push((&shown.tool.server, text));
    }
    // No text has more tokens than bytes: most lists fit without being counted.
    let is_small = tools.iter().map(|(_, text)| text.len()).sum::<usize>() <= style.budget;
    let size = |text: &str| if is_small { text.len() } else { tokens::count(text) };
    let sizes: OnceCell<Vec<usize>> = OnceCell::new();
    let weigh = |gateway: Option<&GatewayDefinition>, all: &[GatewayDefinition]| {
        let sizes = sizes.get_or_init(|| tools.iter().map(|(_, text)| size(text)).collect());
        let has_gateway = |server: &ServerName| all.iter().any(|other| other.server == *server);
        let is_its = |server: &ServerName| match gateway {
            Some(gateway) => gateway.server == *server,
            None => !has_gateway(server),
        };
        let own = tools.iter().zip(sizes).filter(|((server, _), _)| is_its(server));
        let (count, tokens) = own.fold((0, 0), |(count, sum), (_, size)| (count + 1, sum + size));
        let gateway = gateway.map_or(0, |gateway| size(&gateway_definition(gateway, most).to_string()));
        Weight { tools: count, tokens, gateway }
    };
    let gateways = gateways(kit, view, style, weigh);
    let native = tools.iter().filter(|(server, _)| !gateways.hide(server)).map(|(_, text)| text.clone());
    let of_gateways = gateways.shown().iter().map(|gateway| gateway_definition(gateway, most).to_string());
    let all: Vec<String> = native.chain(of_gateways).collect();
    let written = |all: &[&str]| -> Arc<str> { format!("[{}]", all.join(",")).into() };
    let text = written(&all.iter().map(String::as_str).collect::<Vec<_>>());
    let older = if unreadable.is_empty() {
        text.clone()
    } else {
        written(&all.iter().map(|text| unreadable.get(text).unwrap_or(text).as_str()).collect::<Vec<_>>())
    };
    Listed { text, older, results: Default::default(), gateways }
}

/// One definition. Fields that nobody here knows stay as they are.
fn definition(shown: &ViewTool, most: usize) -> Value {
    let mut fields = match &*shown.tool.raw {
        Value::Object(fields) => fields.clone(),
        _ => Map::new(),
    };
    fields.insert("name".to_owned(), shown.name.as_str().into());
    if shown.tool.description.is_empty() {
        fields.shift_remove("description");
    } else {
        fields.insert("description".to_owned(), shortened(&shown.tool.description, most).into());
    }
    fields.insert("inputSchema".to_owned(), (*shown.tool.input).clone());
    // How a server's own tasks run is between it and its client, and that is Kitbag.
    fields.shift_remove("execution");
    Value::Object(fields)
}

/// One tool a server, in the words for a model.
fn gateway_definition(gateway: &GatewayDefinition, most: usize) -> Value {
    let mut value = gateway.to_model_value();
    if let Some(about) = value["description"].as_str() {
        value["description"] = shortened(about, most).into();
    }
    value
}

/// As much of a description as a program shows, ended where a sentence or at least a word ends.
fn shortened(text: &str, most: usize) -> String {
    let Some((end, _)) =
        text.char_indices().nth(most.saturating_sub(1)).filter(|_| most < text.chars().count())
    else {
        return text.to_owned();
    };
    let begin = &text[..end];
    let is_late = |at: &usize| end / 2 < *at;
    let sentence = begin.rfind(". ").map(|at| at + 1).into_iter().chain(begin.rfind('\n')).max();
    let cut = sentence.filter(is_late).or(begin.rfind(' ').filter(is_late)).unwrap_or(end);
    format!("{}…", begin[..cut].trim_end())
}
