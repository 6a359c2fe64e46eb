//! Asks a model which route a conversation should take, and takes it.

use kitbag_agent::{Talk, TextAgent};

use super::define_route::{ROUTES, Route};
use super::{AGENT, AGENT_NAME, drive, record};
use crate::BoxFuture;
use crate::component::{Call, Component, Face, Input, Next};
use crate::raised::Raised;
use crate::value::{Dict, Value};

pub(super) struct AgentRouter;

impl Component for AgentRouter {
    fn face(&self) -> &Face {
        const FACE: Face = Face {
            inputs: &[AGENT_NAME, Input::optional("conversation"), Input::optional("final_context_key")],
            outputs: &["result", "chosen_flow_name"],
            ..Face::new("AgentRouter", AGENT, "Lets a model choose one of the routes")
        };
        &FACE
    }

    fn run<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Next, Raised>> {
        Box::pin(async {
            let record = record(call)?;
            let routes = call.context().get(ROUTES).and_then(|routes| routes.as_dict().cloned());
            let routes =
                routes.ok_or_else(|| Raised::value_error("there is no AgentDefineRoute to choose"))?;
            let (name, route) = choice(call, &record, &routes).await?;
            call.set("chosen_flow_name", name)?;
            let key = call.text_or("final_context_key", "agent_flow_result")?;
            call.context().set("current_conversation_for_flow", call.get("conversation")?);
            call.context().set(&key, Value::None);
            route.follow(call.depth).await?;
            call.set("result", call.context().get(&key).unwrap_or_default())?;
            Ok(Next::Follow)
        })
    }
}

/// What the model chose.
async fn choice(
    call: &Call,
    record: &Dict,
    routes: &Dict,
) -> Result<(String, std::sync::Arc<Route>), Raised> {
    let rows = routes.rows();
    let names: Vec<String> = rows.iter().map(|(name, _)| name.text()).collect();
    let line = |(name, route): &(Value, Value)| {
        let about = route.as_dict().and_then(|route| route.get("description")).unwrap_or_default();
        format!("- {}: {}", name.text(), about.text())
    };
    let listed: Vec<String> = rows.iter().map(line).collect();
    let conversation = call.get("conversation")?.to_json()?;
    let question = format!(
        "Choose the route that fits the latest request of this conversation best.\n\nConversation:\n{conversation:#}\n\n\
         Routes:\n{}\n\nAnswer with the name of one route and nothing else.",
        listed.join("\n")
    );
    let kit = call.host().open_kit().await.map_err(|why| Raised::new("RuntimeError", why))?;
    let none: [String; 0] = [];
    let agent = TextAgent::new(drive::model(call, record)?, kit).servers(none).max_thoughts(1);
    let agent = agent.system("You choose routes.");
    let done =
        agent.run(&Talk::question(question)).await.map_err(|error| drive::failed(&error.to_string()))?;
    let reply = done.last_response.trim();
    let chosen = reply.trim_matches(['"', '\'', '`']).trim();
    let entry = routes.get(chosen).and_then(|entry| entry.as_dict()?.get("component"));
    let Some(Value::Object(object)) = entry else {
        let known = names.join(", ");
        return Err(Raised::value_error(format!(
            "the model chose {reply:?}, which is no route; the routes are {known}"
        )));
    };
    let route = object.get::<Route>().ok_or_else(|| Raised::value_error("a route without a node"))?;
    Ok((chosen.to_owned(), route))
}
