//! A drawing as mermaid text: what a person reads in a terminal or a pull request.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::drawing::{Drawing, Node, NodeKind};

impl Drawing {
    /// The servers that AgentUseMCPTools names in it, each once.
    pub fn servers(&self) -> Vec<String> {
        let mut servers: Vec<String> = Vec::new();
        for node in self.nodes.iter().filter(|node| node.name == "AgentUseMCPTools") {
            let names = self.given(node, "server_name");
            servers.extend(names.filter(|name| !servers.contains(name)).collect::<Vec<_>>());
        }
        servers
    }

    /// The literals at an input.
    fn given(&self, node: &Node, port: &str) -> impl Iterator<Item = String> {
        let links = node.ports.iter().filter(move |own| own.is_in && own.label == port);
        let links = links.flat_map(|port| &port.links).filter_map(|id| self.links.get(id));
        let source = |link: &crate::drawing::Link| {
            let source = self.node(&link.source.0)?;
            let is_literal = matches!(source.kind, NodeKind::Literal(_));
            Some(source.port(&link.source.1)?.label.clone()).filter(|_| is_literal)
        };
        links.filter_map(source).collect::<Vec<_>>().into_iter()
    }

    /// The drawing as a mermaid graph, with the tools of servers, given by their names.
    pub fn mermaid(&self, tools: &[(String, Vec<String>)]) -> String {
        let mut out = String::from("graph LR\n");
        let names: HashMap<&str, usize> =
            self.nodes.iter().enumerate().map(|(place, node)| (node.id.as_str(), place)).collect();
        for (place, node) in self.nodes.iter().enumerate() {
            let _ = match &node.kind {
                NodeKind::Comment => Ok(()),
                NodeKind::Start | NodeKind::Finish => writeln!(out, "  n{place}([{}])", quoted(&node.name)),
                NodeKind::Literal(kind) => {
                    let label = node.ports.first().map(|port| port.label.as_str()).unwrap_or_default();
                    let label = if kind == "secret" { "***" } else { label };
                    writeln!(out, "  n{place}>{}]", quoted(label))
                }
                NodeKind::Argument(_) => writeln!(out, "  n{place}[/{}/]", quoted(&node.name)),
                _ => writeln!(out, "  n{place}[{}]", quoted(&node.name)),
            };
        }
        let mut links: Vec<_> = self.links.values().collect();
        links.sort_by_key(|link| {
            (
                names.get(link.source.0.as_str()),
                &link.source.1,
                names.get(link.target.0.as_str()),
                &link.target.1,
            )
        });
        for link in links {
            let ends = names.get(link.source.0.as_str()).zip(names.get(link.target.0.as_str()));
            let Some((from, to)) = ends else { continue };
            let label = |(node, port): &(String, String)| {
                self.node(node)
                    .and_then(|node| node.port(port))
                    .map(|port| port.label.replace(" ▶", ""))
                    .unwrap_or_default()
            };
            let (source, target) = (label(&link.source), label(&link.target));
            let _ = match (link.is_flow, source.as_str(), target.as_str()) {
                (true, "▶", "▶") => writeln!(out, "  n{from} ==> n{to}"),
                (true, "▶", port) | (false, _, port) => {
                    writeln!(out, "  n{from} -. {} .-> n{to}", quoted(port))
                }
                (true, branch, _) => writeln!(out, "  n{from} == {} ==> n{to}", quoted(branch)),
            };
        }
        self.tools(tools, &mut out);
        out
    }

    fn tools(&self, tools: &[(String, Vec<String>)], out: &mut String) {
        for (place, node) in self.nodes.iter().enumerate().filter(|(_, node)| node.name == "AgentUseMCPTools")
        {
            for server in self.given(node, "server_name") {
                let Some((at, (_, names))) = tools.iter().enumerate().find(|(_, (name, _))| *name == server)
                else {
                    continue;
                };
                let _ = writeln!(out, "  s{at}[({})]", quoted(&format!("{server}: {}", names.join(", "))));
                let _ = writeln!(out, "  s{at} -.- n{place}");
            }
        }
    }
}

/// A label; mermaid ends one at its quote.
fn quoted(text: &str) -> String {
    let cut: String = text.chars().take(80).collect();
    let more = if cut.len() < text.len() { "…" } else { "" };
    format!("\"{}{more}\"", cut.replace('"', "#quot;").replace(['\n', '\r'], " "))
}
