//! One file: whose it is, where its servers stand, and what each entry says.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use super::dialect::{ALL, Dialect};
use super::entry::{self, Entry};
use super::source::Source;
use super::tree::{self, Format, KeyValue, Node, Position, Tree};
use crate::fault::{Fault, FaultKind, SourceLocation};
use crate::model::{Input, Limits, ServerSpec};
use crate::names::ServerName;
use crate::text::nearest;

mod globals;
mod layout;
mod wrapper;

pub use layout::{Container, ContainerKind, Layout, Spot};

/// Most bytes of what one input says.
const LARGEST_INPUT: usize = 4096;

/// One entry of a file: a server, or the reason why it is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// Its name as written; shown even when it cannot be one.
    pub name: String,
    /// Where it stands.
    pub place: SourceLocation,
    /// The server, unless an error makes it unusable.
    pub spec: Option<ServerSpec>,
    /// What is wrong or odd about it.
    pub faults: Vec<Fault>,
}

/// A switch for a server that some other file defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toggle {
    /// Whose switch.
    pub name: ServerName,
    /// On or off.
    pub enabled: bool,
    /// Where it stands.
    pub place: SourceLocation,
}

/// What one file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The file.
    pub file: Arc<Path>,
    /// Whose rules it was read by.
    pub dialect: &'static Dialect,
    /// Its servers, in the file's order.
    pub servers: Vec<Loaded>,
    /// Its switches.
    pub toggles: Vec<Toggle>,
    /// Faults of the file as a whole.
    pub faults: Vec<Fault>,
}

/// What the caller knows about a file before it is read.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'a> {
    /// Whose file it is; found out by path and content when nobody knows.
    pub dialect: Option<&'static Dialect>,
    /// The root of the project the user works in; some files keep servers of single projects.
    pub workspace: Option<&'a Path>,
    /// The bounds.
    pub limits: &'a Limits,
}

/// Reads one file.
pub fn read(file: &Path, text: &str, reading: Reading<'_>) -> Document {
    locate(file, text, reading).0
}

/// Reads one file and says where each entry stands in it, for whoever is to change one.
pub fn locate(file: &Path, text: &str, reading: Reading<'_>) -> (Document, Layout) {
    let source = Source::new(file, text);
    let known = reading.dialect.or_else(|| Dialect::by_path(file));
    let mut document = Document {
        file: source.file().clone(),
        dialect: known.unwrap_or(&ALL[0]),
        servers: Vec::new(),
        toggles: Vec::new(),
        faults: Vec::new(),
    };
    let (mut dropped, mut layout) = (0, Layout::default());
    match tree::parse(&source, Format::of(file), reading.limits) {
        Ok(root) => {
            if known.is_none() {
                document.dialect = Dialect::by_content(&root);
            }
            let mut reader = Reader {
                source: &source,
                document: &mut document,
                reading,
                inputs: HashMap::new(),
                said: 0,
                dropped: 0,
                layout: Layout::default(),
            };
            reader.root(&root);
            (dropped, layout) = (reader.dropped, reader.layout);
        }
        Err(fault) => {
            layout.unread = Some(fault.message.clone());
            document.faults.push(*fault);
        }
    }
    bound(&mut document, reading.limits.config_faults, dropped);
    (document, layout)
}

/// Whether a file is one server and not a map of servers.
pub(super) fn is_single(root: &Node) -> bool {
    let Some(pairs) = root.map() else { return false };
    pairs.iter().any(|pair| {
        let scalar = matches!(pair.value.tree, Tree::Text(_));
        let list = matches!(pair.value.tree, Tree::List(_));
        match pair.key.as_str() {
            "command" | "cmd" => scalar || list,
            "url" | "httpUrl" | "serverUrl" | "uri" | "server_script_path" | "serverName" => scalar,
            "connection" => pair.value.map().is_some(),
            _ => false,
        }
    }) || root.get("name").and_then(Node::text).is_some()
        && pairs
            .iter()
            .any(|pair| matches!(pair.key.as_str(), "enabled" | "disabled" | "transport" | "mode" | "type"))
}

struct Reader<'a> {
    source: &'a Source<'a>,
    document: &'a mut Document,
    reading: Reading<'a>,
    inputs: HashMap<String, Input>,
    /// Faults of the entries so far.
    said: usize,
    /// Faults that were one too many.
    dropped: usize,
    /// Where the entries stand.
    layout: Layout,
}

impl Reader<'_> {
    fn root(&mut self, root: &Node) {
        if matches!(root.tree, Tree::Null) {
            return; // An empty file has no servers, and that is no fault.
        }
        if root.map().is_none() && root.list().is_none() {
            let message = format!("expected a map of servers, found {}", root.kind());
            return self.complain(Fault::error(FaultKind::WrongType, message), root.at);
        }
        self.inputs = self.inputs(root);
        let found = wrapper::find(self.document.dialect, root, self.reading.workspace);
        for (fault, at) in found.complaints {
            self.complain(fault, at);
        }
        for container in found.containers {
            self.container(container);
        }
        globals::apply(self.document, root, self.reading.workspace);
    }

    fn container(&mut self, found: wrapper::Wrapper<'_>) {
        let (kind, node) = (found.shape.kind(), found.node);
        self.layout.containers.push(Container { way: found.way, kind, is_expected: found.is_expected });
        match (kind, &node.tree) {
            (ContainerKind::Map, Tree::Map(pairs)) => {
                self.duplicates(pairs);
                for (index, pair) in pairs.iter().enumerate().filter(|(_, pair)| !is_private(&pair.key)) {
                    self.entry(&pair.key, pair.at, index, &pair.value);
                }
            }
            (ContainerKind::List, Tree::List(nodes)) => {
                nodes.iter().enumerate().for_each(|(index, node)| self.named(node, index, None));
            }
            (ContainerKind::Single, Tree::Map(_)) => {
                let stem = self.document.file.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned);
                self.named(node, 0, stem);
            }
            _ => {}
        }
    }

    /// An entry that carries its name inside, or, when it is a whole file, takes that file's.
    fn named(&mut self, node: &Node, index: usize, otherwise: Option<String>) {
        let inside = ["name", "serverName"].iter().find_map(|key| node.pair(key));
        match inside.map(|pair| (pair, pair.value.text())) {
            Some((pair, Some(name))) => self.entry(name, pair.at, index, node),
            Some((pair, None)) => {
                let message = format!("a server's name must be a string, found {}", pair.value.kind());
                self.complain(Fault::error(FaultKind::WrongType, message), pair.value.at);
            }
            None => match otherwise {
                Some(name) => self.entry(&name, node.at, index, node),
                None => {
                    let slip = node.map().and_then(|pairs| {
                        pairs.iter().find(|pair| nearest(&pair.key, ["name", "serverName"]).is_some())
                    });
                    let fault = Fault::error(FaultKind::MissingField, "this server has no name");
                    let hint = slip.map_or_else(
                        || "add a \"name\"".to_owned(),
                        |pair| format!("write \"name\" instead of {:?}", pair.key),
                    );
                    self.complain(fault.hint(hint), slip.map_or(node.at, |pair| pair.at));
                }
            },
        }
    }

    fn entry(&mut self, name: &str, at: Position, index: usize, node: &Node) {
        let container = self.layout.containers.len().saturating_sub(1);
        self.layout.spots.push(Spot { name: name.to_owned(), container, index });
        let place = self.source.place(at);
        let mut loaded =
            Loaded { name: name.to_owned(), place: place.clone(), spec: None, faults: Vec::new() };
        match ServerName::parse(name) {
            Err(invalid) => {
                let fault = Fault::error(FaultKind::BadName, invalid.to_string());
                loaded.faults.push(self.source.mark(fault, at));
            }
            Ok(name) => {
                let given = entry::Given {
                    source: self.source,
                    dialect: self.document.dialect,
                    limits: self.reading.limits,
                    said: self.said,
                    inputs: &self.inputs,
                };
                let read = entry::read(name.clone(), place.clone(), node, &given);
                loaded.faults = read.faults;
                self.said += loaded.faults.len();
                self.dropped += read.dropped;
                match read.entry {
                    Some(Entry::Server(spec)) => loaded.spec = Some(*spec),
                    Some(Entry::Toggle(enabled)) => {
                        self.document.toggles.push(Toggle { name, enabled, place });
                        self.document.faults.extend(loaded.faults);
                        return;
                    }
                    None => {}
                }
            }
        }
        self.document.servers.push(loaded);
    }

    /// Of two entries with one name the later counts, as every JSON reader has it; say so.
    fn duplicates(&mut self, pairs: &[KeyValue]) {
        let mut seen = BTreeSet::new();
        for pair in pairs {
            if !seen.insert(&pair.key) {
                let message = format!("{:?} is defined twice in this file; only this one is used", pair.key);
                self.complain(
                    Fault::warning(FaultKind::Duplicate, message).hint("give one of them another name"),
                    pair.at,
                );
            }
        }
    }

    /// What the file asks for; each server that refers to one keeps a copy, so none may be large.
    fn inputs(&mut self, root: &Node) -> HashMap<String, Input> {
        let lists = [root.get("inputs"), root.at_path(&["mcp", "inputs"])];
        let mut inputs = HashMap::new();
        for node in lists.into_iter().flatten().filter_map(Node::list).flatten() {
            let Some(input) = entry::input(node) else { continue };
            let texts =
                [&input.id, &input.description].into_iter().chain(&input.options).chain(&input.default);
            if LARGEST_INPUT < texts.map(|text| text.len() + 16).sum::<usize>() {
                let message = format!("this input is longer than {LARGEST_INPUT} bytes");
                self.complain(Fault::error(FaultKind::TooLarge, message).hint("make it shorter"), node.at);
                continue;
            }
            inputs.insert(input.id.clone(), input);
        }
        inputs
    }

    fn complain(&mut self, fault: Fault, at: Position) {
        if self.reading.limits.config_faults <= self.document.faults.len() {
            self.dropped += 1;
            return;
        }
        let fault = self.source.mark(fault, at);
        self.document.faults.push(fault);
    }
}

/// Keys such as `_comment`, `$schema` and `x-note` are never servers.
fn is_private(key: &str) -> bool {
    key.starts_with(['_', '$']) || key.starts_with("x-") || key.starts_with("//")
}

/// A file made of mistakes must not become a report of unbounded length.
fn bound(document: &mut Document, most: usize, mut dropped: usize) {
    // Of two entries with one name the later counts.
    let mut seen = BTreeSet::new();
    let mut kept: Vec<Loaded> = Vec::with_capacity(document.servers.len());
    for loaded in std::mem::take(&mut document.servers).into_iter().rev() {
        if seen.insert(loaded.name.clone()) {
            kept.push(loaded);
        }
    }
    kept.reverse();
    document.servers = kept;
    let mut room = most;
    for faults in std::iter::once(&mut document.faults)
        .chain(document.servers.iter_mut().map(|loaded| &mut loaded.faults))
    {
        // One fault of an entry always stays: the reason why it is unusable, if it is.
        let keep = faults.len().min(room.max(1));
        if keep < faults.len() {
            faults.sort_by_key(|fault| std::cmp::Reverse(fault.severity));
        }
        dropped += faults.len() - keep;
        faults.truncate(keep);
        room -= keep.min(room);
    }
    if 0 < dropped {
        let fault =
            Fault::note(FaultKind::TooLarge, format!("{dropped} more faults in this file are not shown"));
        document.faults.push(fault.at(SourceLocation::file(document.file.clone())));
    }
}
