//! Where the servers of a file stand, and what to say when they stand where their program will not look.

use std::path::Path;

use super::super::dialect::{ALL, ContainerShape, Dialect, Quirk};
use super::super::tree::{KeyValue, Node, Position, Tree};
use super::{is_private, is_single};
use crate::fault::{Fault, FaultKind};
use crate::text::nearest;

/// The keys under which some program keeps its servers.
const WRAPPERS: [&str; 6] = ["mcpServers", "servers", "context_servers", "mcp_servers", "extensions", "mcp"];

/// What holds servers.
pub(super) struct Wrapper<'a> {
    pub(super) shape: ContainerShape,
    /// The keys that lead to it.
    pub(super) way: Vec<String>,
    /// Whether the file's own program looks there.
    pub(super) is_expected: bool,
    pub(super) node: &'a Node,
}

/// The containers found, and complaints about the way they are wrapped.
pub(super) struct Found<'a> {
    pub(super) containers: Vec<Wrapper<'a>>,
    pub(super) complaints: Vec<(Fault, Position)>,
}

/// Finds the servers: where the dialect keeps them, else where any other does, with a complaint.
pub(super) fn find<'a>(dialect: &'static Dialect, root: &'a Node, workspace: Option<&Path>) -> Found<'a> {
    let mut containers = by_shapes(dialect.shapes, root);
    if dialect.has(Quirk::Projects) {
        containers.extend(of_project(root, workspace));
    }
    if !containers.is_empty() {
        return Found { complaints: left_out(dialect, root, &containers), containers };
    }
    let mut containers = by_shapes(ALL[0].shapes, root);
    let wanted = wrapper_of(dialect.shapes);
    if let Some(Wrapper { shape, node, is_expected, .. }) = containers.first_mut() {
        *is_expected = false;
        let here =
            wrapper_of(&[*shape]).map_or_else(|| "the top of the file".to_owned(), |key| format!("{key:?}"));
        let complaints = wanted.into_iter().filter(|_| !dialect.is_fallback()).map(|wanted| {
            let message = format!("{} reads servers under {wanted:?}, these are under {here}", dialect.title);
            (Fault::warning(FaultKind::WrongWrapper, message).hint(format!("write {wanted:?}")), node.at)
        });
        return Found { complaints: complaints.collect(), containers };
    }
    if let Some((pair, near)) = misspelt(root) {
        let right = wanted.as_deref().unwrap_or(near);
        let fault =
            Fault::warning(FaultKind::WrongWrapper, format!("unknown key for servers: {:?}", pair.key));
        let complaints = vec![(fault.hint(format!("write {right:?}")), pair.at)];
        let way = vec![pair.key.clone()];
        let container =
            Wrapper { shape: ContainerShape::Map(&[]), way, is_expected: false, node: &pair.value };
        return Found { containers: vec![container], complaints };
    }
    // A host's settings file without servers is an ordinary thing; a file somebody named is not.
    let complaints = dialect.is_fallback().then(|| {
        let fault = Fault::error(FaultKind::NoServers, "no servers found in this file");
        (fault.hint("servers go under \"mcpServers\": {\"name\": {\"command\": …} or {\"url\": …}}"), root.at)
    });
    Found { containers, complaints: complaints.into_iter().collect() }
}

/// Servers beside the ones found, under a key that this program does not look at.
fn left_out(dialect: &Dialect, root: &Node, found: &[Wrapper<'_>]) -> Vec<(Fault, Position)> {
    let Some(wanted) = wrapper_of(dialect.shapes) else { return Vec::new() };
    let taken = |pair: &KeyValue| {
        found.iter().any(|container| std::ptr::eq(container.node, &pair.value))
            || pair.key == "mcp" && pair.value.get("servers").is_some()
    };
    let wrong = |pair: &&KeyValue| {
        !taken(pair)
            && looks_like_servers(&pair.value)
            && (WRAPPERS.contains(&pair.key.as_str()) || nearest(&pair.key, WRAPPERS).is_some())
    };
    let whole =
        found.iter().any(|found| matches!(found.shape, ContainerShape::Bare | ContainerShape::Single));
    let pairs = root.map().filter(|_| !whole).unwrap_or_default();
    pairs
        .iter()
        .filter(wrong)
        .map(|pair| {
            let message = format!("{} does not read servers under {:?}", dialect.title, pair.key);
            (
                Fault::warning(FaultKind::WrongWrapper, message).hint(format!("move them under {wanted:?}")),
                pair.at,
            )
        })
        .collect()
}

/// The first shape that fits, in the order given.
fn by_shapes<'a>(shapes: &[ContainerShape], root: &'a Node) -> Vec<Wrapper<'a>> {
    let fits = |shape: &ContainerShape| match shape {
        ContainerShape::Map(path) => root.at_path(path).filter(|node| !is_single(node) && is_container(node)),
        ContainerShape::List(path) => root.at_path(path).filter(|node| node.list().is_some()),
        ContainerShape::Single => Some(root).filter(|node| is_single(node)),
        ContainerShape::Bare => Some(root).filter(|node| holds_a_server(node)),
    };
    let container = |shape: &ContainerShape| {
        let way = match shape {
            ContainerShape::Map(path) | ContainerShape::List(path) => {
                path.iter().map(|key| (*key).to_owned()).collect()
            }
            ContainerShape::Single | ContainerShape::Bare => Vec::new(),
        };
        Some(Wrapper { shape: *shape, way, is_expected: true, node: fits(shape)? })
    };
    shapes.iter().find_map(container).into_iter().collect()
}

/// A map with maps in it; `mcp` holds other settings in some programs.
fn is_container(node: &Node) -> bool {
    let Some(pairs) = node.map() else { return false };
    let mut entries = pairs.iter().filter(|pair| !is_private(&pair.key)).peekable();
    entries.peek().is_none() || entries.any(|pair| matches!(pair.value.tree, Tree::Map(_)))
}

/// A map of which at least one value surely is a server.
fn holds_a_server(node: &Node) -> bool {
    node.map().is_some_and(|pairs| pairs.iter().any(|pair| !is_private(&pair.key) && is_single(&pair.value)))
}

/// A map of which every value could be a server and at least one surely is.
fn looks_like_servers(node: &Node) -> bool {
    let Some(pairs) = node.map() else { return false };
    let mut entries = pairs.iter().filter(|pair| !is_private(&pair.key));
    entries.clone().all(|pair| pair.value.map().is_some()) && entries.any(|pair| is_single(&pair.value))
}

/// Claude Code keeps servers of single projects in its one file, by the root of a repository or else by the folder;
/// they count only there.
fn of_project<'a>(root: &'a Node, workspace: Option<&Path>) -> Option<Wrapper<'a>> {
    let way = ["projects", workspace?.to_str()?, "mcpServers"];
    let node = root.at_path(&way).filter(|node| node.map().is_some())?;
    let way = way.map(str::to_owned).to_vec();
    Some(Wrapper { shape: ContainerShape::Map(&[]), way, is_expected: true, node })
}

fn misspelt(root: &Node) -> Option<(&KeyValue, &'static str)> {
    let is_map = |pair: &&KeyValue| pair.value.map().is_some();
    root.map()?.iter().filter(is_map).find_map(|pair| {
        let near = nearest(&pair.key, WRAPPERS)?;
        // Of two with one key the later counts, as everywhere.
        let pair = root.pair(&pair.key).filter(is_map)?;
        Some((pair, near))
    })
}

fn wrapper_of(shapes: &[ContainerShape]) -> Option<String> {
    shapes.iter().find_map(|shape| match shape {
        ContainerShape::Map(path) | ContainerShape::List(path) if !path.is_empty() => Some(path.join(".")),
        _ => None,
    })
}
