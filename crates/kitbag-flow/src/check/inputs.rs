//! What the inputs of a node are linked to.

use std::collections::HashMap;

use kitbag_core::text::nearest;

use super::{Checker, gives, literals, outputs};
use crate::component::{Input, Shape};
use crate::drawing::{Link, Node as Drawn, NodeKind, Port};
use crate::graph::{Source, What, Wired};
use crate::problem::{Problem, Severity};
use crate::value::Value;

impl<'a> Checker<'a> {
    pub(super) fn inputs(&mut self, node: &'a Drawn) {
        let mut wired = HashMap::new();
        // As Xircuits compiles them: what a link of data brings stands above an argument.
        for arguments in [true, false] {
            for port in node.ports.iter().filter(|port| port.is_in && port.name != "in-0") {
                for link in self.links(node, port) {
                    if link.is_flow == arguments {
                        self.take(node, port, link, &mut wired);
                    }
                }
            }
        }
        self.required(node, &wired);
        self.starred(node);
        self.literals(node, &wired);
        if let Some(own) = self.index.get(&node.id).and_then(|place| self.nodes.get_mut(*place)) {
            own.inputs = wired;
        }
    }

    fn take(&mut self, node: &Drawn, port: &Port, link: &Link, wired: &mut HashMap<Box<str>, Wired>) {
        let shape = match port.data_type.as_str() {
            "dynalist" => Shape::List,
            "dynatuple" => Shape::Tuple,
            _ => Shape::One,
        };
        let name = if shape == Shape::One { &port.label } else { &port.variable };
        if !self.is_known(node, name) {
            let fix = "another version of its library may have it; nothing reads it here";
            let note = Problem::error(self.drawing.file(), format!("there is no input {name:?}"), fix);
            self.problem(note.at(node).port(name).softened(Severity::Note));
            return;
        }
        let Some(source) = self.source(node, port, link) else { return };
        match (shape, wired.get_mut(name.as_str())) {
            (Shape::List, Some(Wired::List(all))) | (Shape::Tuple, Some(Wired::Tuple(all))) => {
                all.push(source)
            }
            (Shape::List, _) => {
                wired.insert(name.as_str().into(), Wired::List(vec![source]));
            }
            (Shape::Tuple, _) => {
                wired.insert(name.as_str().into(), Wired::Tuple(vec![source]));
            }
            (Shape::One, _) => {
                wired.insert(name.as_str().into(), Wired::One(source));
            }
        }
    }

    fn is_known(&self, node: &Drawn, name: &str) -> bool {
        match self.what(node) {
            Some(What::Component(component)) => {
                component.face().inputs.iter().any(|input| input.name == name)
            }
            Some(What::Workflow(graph)) => graph.arguments.iter().any(|argument| argument.name == name),
            None => false,
        }
    }

    fn what(&self, node: &Drawn) -> Option<&What> {
        self.index.get(&node.id).and_then(|place| self.nodes.get(*place)).map(|node| &node.what)
    }

    /// Where a link brings its value from.
    pub(super) fn source(&mut self, node: &Drawn, port: &Port, link: &Link) -> Option<Source> {
        let from = self.drawing.node(&link.source.0)?;
        let out = from.port(&link.source.1)?;
        match &from.kind {
            NodeKind::Literal(kind) => match literals::read(kind, &out.label) {
                Ok(value) => Some(Source::Literal(value)),
                Err((why, fix)) => {
                    let what = format!("{:?} is not a value of the kind {kind}: {why}", cut(&out.label));
                    self.wrong(from, what, fix);
                    None
                }
            },
            NodeKind::Argument(_) => {
                crate::drawing::argument(&from.name).map(|(_, name)| Source::Argument(name.to_owned()))
            }
            NodeKind::Component { .. } | NodeKind::Workflow { .. } => {
                // A node that does not run is a problem of its own.
                let place = *self.index.get(&from.id)?;
                let what = &self.nodes.get(place)?.what;
                if gives(what, &out.label) {
                    return Some(Source::Port { node: place, port: out.label.as_str().into() });
                }
                let fix = match what {
                    What::Component(component) => outputs(&**component),
                    What::Workflow(graph) => format!("it has {} outputs", graph.results.len()),
                };
                let what = format!("there is no output {:?}, which {} reads", out.label, node.name);
                self.wrong_port(from, &out.label, what, fix);
                None
            }
            _ => {
                let what = format!("it is linked to {}, which has no value", from.name);
                self.wrong_port(node, &port.label, what, "link it to a literal or to an output");
                None
            }
        }
    }

    fn required(&mut self, node: &Drawn, wired: &HashMap<Box<str>, Wired>) {
        let Some(What::Component(component)) = self.what(node) else { return };
        let missing: Vec<Input> =
            component.face().inputs.iter().copied().filter(|input| input.is_required).collect();
        for input in missing {
            let linked = node
                .ports
                .iter()
                .any(|port| port.is_in && port.label == input.name && !port.links.is_empty());
            if wired.contains_key(input.name) || linked {
                continue;
            }
            let unknown: Vec<&str> =
                node.ports.iter().filter(|port| port.is_in).map(|port| port.label.as_str()).collect();
            let near = nearest(input.name, unknown.iter().copied()).filter(|near| *near != input.name);
            let near = near.map_or(String::new(), |near| format!(" (is {near:?} meant?)"));
            let what = format!("its compulsory input {:?} is linked to nothing", input.name);
            self.wrong_port(node, input.name, what, format!("link a literal or an output to it{near}"));
        }
    }

    /// A star says that the library of the file cannot do without it; ours can.
    fn starred(&mut self, node: &Drawn) {
        for port in node.ports.iter().filter(|port| port.is_compulsory && port.links.is_empty()) {
            let known = matches!(self.what(node), Some(What::Component(component))
                if component.face().inputs.iter().any(|input| input.name == port.label && input.is_required));
            if !known {
                let what = "it is compulsory in its library, and linked to nothing";
                let note = Problem::error(self.drawing.file(), what, "link a literal or an output to it");
                self.problem(note.at(node).port(&port.label).softened(Severity::Note));
            }
        }
    }

    /// What the component itself says about values written into the drawing.
    fn literals(&mut self, node: &Drawn, wired: &HashMap<Box<str>, Wired>) {
        let Some(What::Component(component)) = self.what(node) else { return };
        let literal = |port: &str| match wired.get(port)? {
            Wired::One(Source::Literal(value)) => Some(value.clone()),
            _ => None,
        };
        if let Some(remark) = component.check(&literal) {
            self.wrong_port(node, remark.port, remark.what, remark.fix);
        }
        self.server(node, literal("server_name"));
    }

    /// A server that is not configured may be there when the flow runs; so this stops nothing.
    fn server(&mut self, node: &Drawn, name: Option<Value>) {
        let (Some(servers), Some(name)) = (self.rules.servers, name) else { return };
        let name = name.text();
        if node.name != "AgentUseMCPTools" || servers.contains(&name) {
            return;
        }
        let near = nearest(&name, servers.iter().map(String::as_str));
        let fix = match near {
            Some(near) => format!("write {near:?}, or `kitbag servers add {name} …`"),
            None => format!("`kitbag servers add {name} …`; `kitbag servers list` shows what there is"),
        };
        let problem = Problem::error(self.drawing.file(), format!("no server is called {name:?}"), fix);
        self.problem(problem.at(node).port("server_name").softened(Severity::Warning));
    }
}

fn cut(text: &str) -> String {
    text.chars().take(60).collect()
}
