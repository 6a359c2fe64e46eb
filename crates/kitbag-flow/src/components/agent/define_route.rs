//! A way that AgentRouter may choose.

use std::future::ready;
use std::sync::{Arc, Weak};

use super::AGENT;
use crate::BoxFuture;
use crate::component::{Call, Component, Face, Input, Next};
use crate::raised::Raised;
use crate::run::Running;
use crate::value::{Object, Value};

/// Where the routes are kept.
pub(super) const ROUTES: &str = "registered_agent_routes";

pub(super) struct AgentDefineRoute;

/// The node at which a route begins.
pub(super) struct Route {
    running: Weak<Running>,
    node: usize,
}

impl Route {
    /// Runs what follows it; whether anything does.
    pub(super) async fn follow(&self, depth: usize) -> Result<bool, Raised> {
        let running = self.running.upgrade();
        let running = running.ok_or_else(|| Raised::new("RuntimeError", "the flow has ended"))?;
        Call { running, node: self.node, depth }.follow().await
    }
}

impl Component for AgentDefineRoute {
    fn face(&self) -> &Face {
        const FACE: Face = Face {
            inputs: &[Input::required("agent_flow_name"), Input::required("description")],
            starts: true,
            ..Face::new("AgentDefineRoute", AGENT, "Makes a route of the nodes that follow it")
        };
        &FACE
    }

    fn init(&self, call: &Call) -> Result<(), Raised> {
        let routes = call.context().get(ROUTES).unwrap_or_else(|| Value::dict([]));
        let route = Route { running: Arc::downgrade(&call.running), node: call.node };
        let entry = [
            ("description", call.get("description")?),
            ("component", Value::Object(Object::new("AgentDefineRoute", route))),
        ];
        if let Some(routes) = routes.as_dict() {
            routes.set(&call.text("agent_flow_name")?, Value::dict(entry));
        }
        call.context().set(ROUTES, routes);
        Ok(())
    }

    fn run<'a>(&'a self, _call: &'a Call) -> BoxFuture<'a, Result<Next, Raised>> {
        Box::pin(ready(Ok(Next::Follow)))
    }
}
