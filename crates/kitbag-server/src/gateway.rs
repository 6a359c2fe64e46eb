//! Calls by the names that a client was given: of tools, and of the one tool that stands for all of a server's.

use std::sync::Arc;

use kitbag::{CallError, CallInfo, CallOptions, CallResult, Intent, IntentOutcome, ToolCall, View};
use kitbag_core::names::lookup::NameMatch;
use kitbag_core::present::gateway::{self, GatewayDefinition};

use crate::audience::Style;
use crate::client::Client;
use crate::plan::may_have_gateways;

impl Client {
    /// Calls what a client means by a name: a tool of its view, or something through a gateway. Either way it is the kit that
    /// calls, by the same rules.
    pub(crate) async fn call_tool(
        &self,
        (view, style): (&Arc<View>, &Style),
        name: &str,
        arguments: &str,
        options: CallOptions,
    ) -> Result<CallResult, CallError> {
        let listed = may_have_gateways(style).then(|| self.endpoint.list(&self.kit, view, style));
        let meant = listed.as_ref().and_then(|listed| meant(listed.gateways.all(), view, name));
        let Some(gateway) = meant else {
            return self.kit.call_tool(view, ToolCall::new(name, arguments).with(options)).await;
        };
        let intent = gateway::decode(view, gateway.server.as_str(), arguments);
        let outcome = match (&intent, &options.cancel) {
            // A list may wait for its server.
            (Intent::ListTools { .. }, Some(cancel)) => tokio::select! {
                biased;
                () = cancel.cancelled() => IntentOutcome::Malformed("the caller cancelled it".to_owned()),
                outcome = self.kit.run(view, &intent, &options) => outcome,
            },
            _ => self.kit.run(view, &intent, &options).await,
        };
        match outcome {
            IntentOutcome::Called(done) => done,
            outcome => {
                let info = CallInfo::new(gateway.server.clone(), gateway.name.as_str());
                let (content, is_error) = (outcome.blocks(), outcome.is_error());
                Ok(CallResult { content, is_error, ..CallResult::text("", info) })
            }
        }
    }
}

/// The gateway a name means: by just this name, or by one that is spelt much like it if no tool is.
fn meant<'a>(all: &'a [GatewayDefinition], view: &View, name: &str) -> Option<&'a GatewayDefinition> {
    let exact = all.iter().find(|gateway| gateway.name.as_str() == name);
    let loosely = |name: &str| name.replace('-', "_").to_ascii_lowercase();
    exact.or_else(|| match view.find(name) {
        NameMatch::None { .. } => all.iter().find(|gateway| loosely(gateway.name.as_str()) == loosely(name)),
        _ => None,
    })
}
