//! Runs a checked drawing: those that start by themselves first, then along the links of the flow. Data is read where it is
//! needed, from where it stands at that moment, as the programs of Xircuits do.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use kitbag::BoxFuture;
use tokio::time::Instant;

use crate::component::{Call, Next};
use crate::graph::{Graph, Node, Source, What, Wired};
use crate::host::{Host, NodeDone};
use crate::raised::Raised;
use crate::value::{Dict, Value};

/// What an output holds.
#[derive(Clone, Debug)]
pub(crate) enum Cell {
    Value(Value),
    /// Whatever this key of the context is when it is read.
    Variable(Box<str>),
}

/// What all drawings of one run share.
pub(crate) struct Shared {
    context: Dict,
    host: Host,
    steps: AtomicUsize,
}

/// One drawing that runs.
pub(crate) struct Running {
    graph: Arc<Graph>,
    /// What the inputs of each node are linked to; literals are this run's own.
    inputs: Vec<HashMap<Box<str>, Wired>>,
    results: Vec<Source>,
    outputs: Mutex<Vec<HashMap<Box<str>, Cell>>>,
    states: Mutex<Vec<Value>>,
    /// The drawings that are nodes of this one.
    within: Vec<Option<Arc<Running>>>,
    given: Given,
    shared: Arc<Shared>,
}

/// Where the arguments of a drawing come from.
enum Given {
    Values(HashMap<String, Value>),
    Node(Weak<Running>, usize),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Running {
    /// A drawing that is about to run with these arguments.
    pub(crate) fn new(graph: &Arc<Graph>, host: Host, arguments: HashMap<String, Value>) -> Arc<Self> {
        let context = Dict::default();
        let args = Dict::default();
        arguments.iter().for_each(|(name, value)| args.set(name, value.clone()));
        context.set("args", Value::Dict(args));
        let shared = Arc::new(Shared { context, host, steps: AtomicUsize::new(0) });
        Self::of(graph, Given::Values(arguments), shared)
    }

    fn of(graph: &Arc<Graph>, given: Given, shared: Arc<Shared>) -> Arc<Self> {
        Arc::new_cyclic(|this: &Weak<Self>| {
            let within = graph.nodes.iter().enumerate().map(|(place, node)| match &node.what {
                What::Component(_) => None,
                What::Workflow(inner) => {
                    Some(Self::of(inner, Given::Node(this.clone(), place), Arc::clone(&shared)))
                }
            });
            let own = |wired: &HashMap<Box<str>, Wired>| {
                wired.iter().map(|(port, wired)| (port.clone(), wired.own_copy())).collect()
            };
            Self {
                within: within.collect(),
                inputs: graph.nodes.iter().map(|node| own(&node.inputs)).collect(),
                results: graph.results.iter().map(Source::own_copy).collect(),
                outputs: Mutex::new(vec![HashMap::new(); graph.nodes.len()]),
                states: Mutex::new(vec![Value::None; graph.nodes.len()]),
                graph: Arc::clone(graph),
                given,
                shared,
            }
        })
    }

    /// Runs it to its end.
    pub(crate) async fn execute(self: &Arc<Self>, depth: usize) -> Result<(), Raised> {
        for place in &self.graph.starts {
            if let Some((node, What::Component(component))) = self.node(*place).map(|node| (node, &node.what))
            {
                component
                    .init(&self.call(*place, depth))
                    .map_err(|raised| raised.at(&node.name, &node.id))?;
            }
        }
        match self.graph.entry {
            Some(entry) => self.clone().chain(entry, depth).await,
            None => Ok(()),
        }
    }

    /// What Finish is linked to.
    pub(crate) fn results(&self) -> Result<Vec<Value>, Raised> {
        self.results.iter().map(|source| self.read(source)).collect()
    }

    pub(crate) fn context(&self) -> &Dict {
        &self.shared.context
    }

    pub(crate) fn host(&self) -> &Host {
        &self.shared.host
    }

    pub(crate) fn input(&self, node: usize, port: &str) -> Result<Value, Raised> {
        match self.inputs.get(node).and_then(|inputs| inputs.get(port)) {
            None => Ok(self.empty(node, port)),
            Some(Wired::One(source)) => self.read(source),
            Some(Wired::List(sources)) => Ok(Value::list(
                sources.iter().map(|source| self.read(source)).collect::<Result<Vec<_>, _>>()?,
            )),
            Some(Wired::Tuple(sources)) => {
                Ok(Value::Tuple(sources.iter().map(|source| self.read(source)).collect::<Result<_, _>>()?))
            }
        }
    }

    /// What an input without a link holds.
    fn empty(&self, node: usize, port: &str) -> Value {
        use crate::component::Shape;
        let Some(What::Component(component)) = self.node(node).map(|node| &node.what) else {
            return Value::None;
        };
        match component.face().inputs.iter().find(|input| input.name == port).map(|input| input.shape) {
            Some(Shape::List) => Value::list([]),
            Some(Shape::Tuple) => Value::Tuple([].into()),
            _ => Value::None,
        }
    }

    fn read(&self, source: &Source) -> Result<Value, Raised> {
        match source {
            Source::Literal(value) => Ok(value.clone()),
            Source::Argument(name) => match &self.given {
                Given::Values(values) => Ok(values.get(name).cloned().unwrap_or_default()),
                Given::Node(outer, node) => match outer.upgrade() {
                    Some(outer) => outer.input(*node, name),
                    None => Ok(Value::None),
                },
            },
            Source::Port { node, port } => {
                if let Some(inner) = self.within.get(*node).and_then(Option::as_ref) {
                    let result = crate::graph::result_place(port).and_then(|place| inner.results.get(place));
                    return result.map_or(Ok(Value::None), |source| inner.read(source));
                }
                let cell = lock(&self.outputs).get(*node).and_then(|outputs| outputs.get(&**port).cloned());
                match cell {
                    None => Ok(Value::None),
                    Some(Cell::Value(value)) => Ok(value),
                    Some(Cell::Variable(name)) => {
                        let missing = || Raised::new("KeyError", Value::from(&*name).repr());
                        self.shared.context.get(&name).ok_or_else(missing)
                    }
                }
            }
        }
    }

    pub(crate) fn set(&self, node: usize, port: &str, cell: Cell) -> Result<(), Raised> {
        let most = self.host().bounds().flow_value;
        let size = match &cell {
            Cell::Value(Value::Str(text)) => text.len(),
            Cell::Value(Value::List(list)) => list.len().saturating_mul(std::mem::size_of::<Value>()),
            _ => 0,
        };
        if most < size {
            return Err(Raised::limit(format!("{port} is larger than {most} bytes (limit flow_value)")));
        }
        if let Some(outputs) = lock(&self.outputs).get_mut(node) {
            outputs.insert(port.into(), cell);
        }
        Ok(())
    }

    pub(crate) fn state(&self, node: usize) -> Value {
        lock(&self.states).get(node).cloned().unwrap_or_default()
    }

    pub(crate) fn remember(&self, node: usize, value: Value) {
        if let Some(state) = lock(&self.states).get_mut(node) {
            *state = value;
        }
    }

    pub(crate) fn branch(
        self: Arc<Self>,
        node: usize,
        name: &str,
        depth: usize,
    ) -> BoxFuture<'static, Result<bool, Raised>> {
        let to = self.node(node).and_then(|node| node.branches.get(name).copied());
        Box::pin(async move {
            match to {
                None => Ok(false),
                Some(None) => Ok(true),
                Some(Some(to)) => self.chain(to, depth + 1).await.map(|()| true),
            }
        })
    }

    pub(crate) fn follow(
        self: Arc<Self>,
        node: usize,
        depth: usize,
    ) -> BoxFuture<'static, Result<bool, Raised>> {
        let to = self.node(node).and_then(|node| node.next);
        Box::pin(async move {
            match to {
                None => Ok(false),
                Some(to) => self.chain(to, depth + 1).await.map(|()| true),
            }
        })
    }

    fn call(self: &Arc<Self>, node: usize, depth: usize) -> Call {
        Call { running: Arc::clone(self), node, depth }
    }

    fn node(&self, place: usize) -> Option<&Node> {
        self.graph.nodes.get(place)
    }

    /// From a node along the links until there is none.
    fn chain(self: Arc<Self>, from: usize, depth: usize) -> BoxFuture<'static, Result<(), Raised>> {
        Box::pin(async move {
            let mut at = Some(from);
            while let Some(place) = at {
                let Some(node) = self.node(place) else { break };
                self.count(depth)?;
                let began = Instant::now();
                let ended =
                    self.step(place, node, depth).await.map_err(|raised| raised.at(&node.name, &node.id));
                let (took, failed) = (began.elapsed(), ended.is_err());
                self.host().output().done(&NodeDone { name: &node.name, id: &node.id, depth, took, failed });
                at = match ended? {
                    Next::Follow => node.next,
                    Next::Again => Some(place),
                };
                // A flow without anything to wait for lets others run too.
                tokio::task::coop::consume_budget().await;
            }
            Ok(())
        })
    }

    async fn step(self: &Arc<Self>, place: usize, node: &Node, depth: usize) -> Result<Next, Raised> {
        match &node.what {
            What::Component(component) => component.run(&self.call(place, depth)).await,
            What::Workflow(_) => {
                if let Some(inner) = self.within.get(place).and_then(Option::as_ref) {
                    Box::pin(inner.execute(depth + 1)).await?;
                }
                Ok(Next::Follow)
            }
        }
    }

    fn count(&self, depth: usize) -> Result<(), Raised> {
        let limits = self.host().bounds();
        if limits.flow_steps <= self.shared.steps.fetch_add(1, Ordering::Relaxed) {
            let most = limits.flow_steps;
            return Err(Raised::limit(format!(
                "the flow ran {most} nodes and has no end (limit flow_steps)"
            )));
        }
        if limits.flow_depth < depth {
            let most = limits.flow_depth;
            return Err(Raised::limit(format!("branches are nested {most} deep (limit flow_depth)")));
        }
        Ok(())
    }
}
