//! Data that goes around in a circle: some node of it would read what is only there after it has run.

use crate::drawing::Drawing;
use crate::graph::{Node, Source};
use crate::problem::Problem;

/// One problem for each circle that is found.
pub(super) fn find(drawing: &Drawing, nodes: &[Node]) -> Vec<Problem> {
    let from: Vec<Vec<(usize, &str)>> = nodes.iter().map(sources).collect();
    let mut state = vec![State::New; nodes.len()];
    let mut problems = Vec::new();
    for first in 0..nodes.len() {
        // Not by calling itself: a chain may be as long as there are nodes.
        let mut path = vec![(first, 0)];
        while let Some((place, next)) = path.pop() {
            if next == 0 {
                match state.get(place) {
                    Some(State::New) => {}
                    _ => continue,
                }
                mark(&mut state, place, State::Open);
            }
            match from.get(place).and_then(|sources| sources.get(next)) {
                None => mark(&mut state, place, State::Done),
                Some((source, port)) => {
                    path.push((place, next + 1));
                    match state.get(*source) {
                        Some(State::New) => path.push((*source, 0)),
                        Some(State::Open) => {
                            problems.extend(problem(drawing, nodes, place, port, *source));
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    problems
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    New,
    Open,
    Done,
}

fn mark(state: &mut [State], place: usize, as_is: State) {
    if let Some(own) = state.get_mut(place) {
        *own = as_is;
    }
}

fn sources(node: &Node) -> Vec<(usize, &str)> {
    let mut all: Vec<(usize, &str)> = Vec::new();
    for (port, wired) in &node.inputs {
        all.extend(wired.sources().iter().filter_map(|source| match source {
            Source::Port { node, .. } => Some((*node, &**port)),
            _ => None,
        }));
    }
    all.sort_unstable();
    all
}

fn problem(drawing: &Drawing, nodes: &[Node], place: usize, port: &str, source: usize) -> Option<Problem> {
    let (node, source) = (nodes.get(place)?, nodes.get(source)?);
    let what = format!("its value comes from {:?}, which itself reads what comes of it", source.name);
    let fix =
        "keep the value in a variable: DefineVariableComponent before, SetVariableComponent in the loop";
    Some(Problem::error(drawing.file(), what, fix).at(drawing.node(&node.id)?).port(port))
}
