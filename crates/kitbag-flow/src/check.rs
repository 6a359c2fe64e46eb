//! From a drawing to what can run: every link resolved, every literal read, every node known, or a problem that names the node,
//! the port and what to do. Nothing has run by then.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kitbag_core::text::nearest;

use crate::component::Component;
use crate::drawing::{Drawing, Link, Node as Drawn, NodeKind, Port};
use crate::graph::{Argument, Graph, Node, Source, What};
use crate::library::Palette;
use crate::problem::{Problem, Severity};

mod cycles;
mod inputs;
mod literals;
mod workflows;

/// What can be said about a drawing: what it becomes if nothing is wrong with it, and everything worth knowing.
pub(crate) struct Checked {
    pub(crate) graph: Option<Arc<Graph>>,
    pub(crate) problems: Vec<Problem>,
}

/// Reads the text of another drawing.
pub(crate) type Files<'a> = &'a dyn Fn(&Path) -> std::io::Result<String>;

/// What a check goes by.
#[derive(Clone, Copy)]
pub(crate) struct Rules<'a> {
    pub(crate) palette: &'a Palette,
    pub(crate) files: Files<'a>,
    /// Nodes a drawing may have, with those it contains.
    pub(crate) most: usize,
    /// The names of configured servers, where they are known.
    pub(crate) servers: Option<&'a [String]>,
}

/// Checks a drawing and those it contains.
pub(crate) fn check(drawing: &Drawing, rules: Rules<'_>) -> Checked {
    check_within(drawing, rules, &mut vec![drawing.file().to_owned()])
}

fn check_within(drawing: &Drawing, rules: Rules<'_>, open: &mut Vec<PathBuf>) -> Checked {
    let mut checker = Checker {
        drawing,
        rules,
        problems: Vec::new(),
        nodes: Vec::new(),
        index: HashMap::new(),
        arguments: Vec::new(),
    };
    let graph = checker.graph(open);
    let is_wrong = checker.problems.iter().any(|problem| problem.severity == Severity::Error);
    Checked { graph: graph.filter(|_| !is_wrong).map(Arc::new), problems: checker.problems }
}

struct Checker<'a> {
    drawing: &'a Drawing,
    rules: Rules<'a>,
    problems: Vec<Problem>,
    nodes: Vec<Node>,
    /// Where the nodes of the drawing that run are among these.
    index: HashMap<String, usize>,
    arguments: Vec<Argument>,
}

impl<'a> Checker<'a> {
    fn graph(&mut self, open: &mut Vec<PathBuf>) -> Option<Graph> {
        let drawing = self.drawing;
        if self.rules.most < drawing.nodes.len() {
            let what = format!("more than {} nodes (limit flow_nodes)", self.rules.most);
            self.problem(Problem::error(drawing.file(), what, "divide it into several drawings"));
            return None;
        }
        let start = self.only("Start", &NodeKind::Start)?;
        let finish = self.only("Finish", &NodeKind::Finish)?;
        let reached = reached(drawing);
        let runs: Vec<&Drawn> =
            drawing.nodes.iter().filter(|node| reached.contains(node.id.as_str())).collect();
        for node in &runs {
            self.place(node, open);
        }
        self.arguments(&runs);
        for node in &runs {
            self.wire(node);
        }
        let entry = self.entry(start);
        let results = self.results(finish);
        for problem in cycles::find(drawing, &self.nodes) {
            self.problem(problem);
        }
        let starts = runs.iter().filter_map(|node| match node.kind {
            NodeKind::Component { starts: true, .. } => self.index.get(&node.id).copied(),
            _ => None,
        });
        Some(Graph {
            file: drawing.file().to_owned(),
            starts: starts.collect(),
            entry: entry?,
            results,
            arguments: std::mem::take(&mut self.arguments),
            nodes: std::mem::take(&mut self.nodes),
        })
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    fn wrong(&mut self, node: &Drawn, what: impl Into<String>, fix: impl Into<String>) {
        self.problem(Problem::error(self.drawing.file(), what, fix).at(node));
    }

    fn wrong_port(&mut self, node: &Drawn, port: &str, what: impl Into<String>, fix: impl Into<String>) {
        self.problem(Problem::error(self.drawing.file(), what, fix).at(node).port(port));
    }

    /// The one node of a kind of which there is one.
    fn only(&mut self, name: &str, kind: &NodeKind) -> Option<&'a Drawn> {
        let mut all = self.drawing.nodes.iter().filter(|node| node.kind == *kind);
        let Some(first) = all.next() else {
            let (what, fix) = (format!("it has no {name} node"), format!("add a {name} node"));
            self.problem(Problem::error(self.drawing.file(), what, fix));
            return None;
        };
        for second in all.collect::<Vec<_>>() {
            self.wrong(second, format!("a second {name} node"), "remove it: a drawing has one");
        }
        Some(first)
    }

    /// Finds what a node is, and a place for it.
    fn place(&mut self, node: &Drawn, open: &mut Vec<PathBuf>) {
        let what = match &node.kind {
            NodeKind::Component { .. } => match self.rules.palette.find(&node.library(), &node.name) {
                Some(component) => What::Component(Arc::clone(component)),
                None => return self.foreign(node),
            },
            NodeKind::Workflow { path } => match self.workflow(node, path, open) {
                Some(graph) => What::Workflow(graph),
                None => return,
            },
            NodeKind::Unknown(kind) if node.ports.iter().any(|port| !port.links.is_empty()) => {
                let what = format!("a node of the type {kind:?} is not known");
                return self.wrong(node, what, "remove it, or run this drawing with Xircuits");
            }
            _ => return,
        };
        self.index.insert(node.id.clone(), self.nodes.len());
        self.nodes.push(Node {
            id: node.id.clone(),
            name: node.name.clone(),
            what,
            inputs: HashMap::new(),
            next: None,
            branches: HashMap::new(),
        });
    }

    fn foreign(&mut self, node: &Drawn) {
        let library = node.library();
        let what = format!("component {} of library {library} does not run natively", node.name);
        let names =
            self.rules.palette.all().map(|component| component.face()).filter(|f| f.library() == library);
        let near = nearest(&node.name, names.map(|face| face.name));
        let near = near.map_or(String::new(), |near| format!(", use {near}"));
        self.wrong(
            node,
            what,
            format!("remove it{near}, or run this drawing with Xircuits; `kitbag flow list`"),
        );
    }

    fn arguments(&mut self, runs: &[&Drawn]) {
        for node in runs {
            let NodeKind::Argument(kind) = &node.kind else { continue };
            let Some((_, name)) = crate::drawing::argument(&node.name) else { continue };
            if !["string", "int", "float", "boolean", "secret", "any"].contains(&kind.as_str()) {
                let what = format!("an argument cannot be of the kind {kind:?}");
                self.wrong(node, what, "use string, int, float, boolean, secret or any");
            }
            let argument = Argument { name: name.to_owned(), kind: kind.clone() };
            match self.arguments.iter().find(|known| known.name == name) {
                Some(known) if *known != argument => {
                    let what = format!("argument {name:?} has two kinds");
                    self.wrong(node, what, "give one of them another name");
                }
                Some(_) => {}
                None => self.arguments.push(argument),
            }
        }
    }

    /// Everything that leads to a node and away from it.
    fn wire(&mut self, node: &'a Drawn) {
        let Some(place) = self.index.get(&node.id).copied() else { return };
        self.inputs(node);
        for port in node.ports.iter().filter(|port| !port.is_in) {
            for link in self.links(node, port) {
                if !link.is_flow {
                    continue;
                }
                let to = self.index.get(&link.target.0).copied();
                let Some(own) = self.nodes.get_mut(place) else { continue };
                match port.name.strip_prefix("out-flow-") {
                    Some(branch) => {
                        own.branches.insert(branch.into(), to);
                    }
                    None => own.next = to,
                }
            }
        }
    }

    /// The links of a port; one that leads to nothing is a problem.
    fn links(&mut self, node: &Drawn, port: &Port) -> Vec<&'a Link> {
        let mut links = Vec::new();
        for id in &port.links {
            let Some(link) = self.drawing.links.get(id) else {
                let what = format!("link {id:?} is not in the file");
                self.wrong_port(node, &port.label, what, "draw the link again");
                continue;
            };
            let has = |(node, port): &(String, String)| {
                self.drawing.node(node).is_some_and(|node| node.port(port).is_some())
            };
            if !has(&link.source) || !has(&link.target) {
                let what = "its link leads to a node or port that is not in the file".to_owned();
                self.wrong_port(node, &port.label, what, "draw the link again");
                continue;
            }
            links.push(link);
        }
        links
    }

    /// Where the flow begins. Outer none: nowhere.
    fn entry(&mut self, start: &'a Drawn) -> Option<Option<usize>> {
        let ports = start.ports.iter().filter(|port| !port.is_in);
        let links: Vec<&Link> = ports.flat_map(|port| self.links(start, port)).collect();
        let Some(link) = links.first() else {
            self.wrong(start, "it leads nowhere", "draw a link from Start to the first node");
            return None;
        };
        Some(self.index.get(&link.target.0).copied())
    }

    fn results(&mut self, finish: &'a Drawn) -> Vec<Source> {
        let mut results = Vec::new();
        for port in finish.ports.iter().filter(|port| port.is_in && port.data_type == "dynalist") {
            for link in self.links(finish, port) {
                results.extend(self.source(finish, port, link));
            }
        }
        results
    }
}

/// What a component or drawing gives.
fn gives(what: &What, port: &str) -> bool {
    match what {
        What::Component(component) => component.face().outputs.contains(&port),
        What::Workflow(graph) => {
            crate::graph::result_place(port).is_some_and(|place| place < graph.results.len())
        }
    }
}

fn outputs(component: &dyn Component) -> String {
    match component.face().outputs {
        [] => "it has no outputs".to_owned(),
        outputs => format!("its outputs are {}", outputs.join(", ")),
    }
}

/// The nodes that anything that starts is linked with, in whatever direction.
fn reached(drawing: &Drawing) -> HashSet<&str> {
    let starts =
        |node: &&Drawn| matches!(node.kind, NodeKind::Start | NodeKind::Component { starts: true, .. });
    let mut waiting: Vec<&Drawn> = drawing.nodes.iter().filter(starts).collect();
    let mut reached = HashSet::new();
    while let Some(node) = waiting.pop() {
        if !reached.insert(node.id.as_str()) {
            continue;
        }
        let links = node.ports.iter().flat_map(|port| &port.links).filter_map(|id| drawing.links.get(id));
        let ends = links.flat_map(|link| [&link.source.0, &link.target.0]);
        waiting.extend(ends.filter_map(|id| drawing.node(id)));
    }
    reached
}
