//! Keys beside the servers that switch some of them off or hide tools: `mcp.enabled`, `mcp.allowed`,
//! `mcp.excluded`, `allowMCPServers`, OpenCode's `tools: {"server_tool": false}`, and those that Claude Code was told to
//! leave off in one project.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::super::dialect::Quirk;
use super::super::tree::Node;
use super::Document;
use crate::model::ToolFilter;
use crate::names::LONGEST;

pub(super) fn apply(document: &mut Document, root: &Node, workspace: Option<&Path>) {
    if document.dialect.has(Quirk::Projects) {
        off_in_project(document, root, workspace);
    }
    if !document.dialect.has(Quirk::GlobalSwitches) {
        return;
    }
    let all_off = root.at_path(&["mcp", "enabled"]).and_then(Node::bool) == Some(false);
    let names = |path: &[&str]| -> Option<HashSet<&str>> {
        Some(root.at_path(path)?.list()?.iter().filter_map(Node::text).collect())
    };
    let allowed = names(&["mcp", "allowed"]).or_else(|| names(&["allowMCPServers"]));
    let excluded = names(&["mcp", "excluded"]).or_else(|| names(&["excludeMCPServers"])).unwrap_or_default();
    for spec in document.servers.iter_mut().filter_map(|loaded| loaded.spec.as_mut()) {
        let name = spec.name.as_str();
        let listed = allowed.as_ref().is_none_or(|allowed| allowed.contains(name));
        spec.enabled = spec.enabled && !all_off && listed && !excluded.contains(name);
    }
    hidden_tools(document, root);
}

fn off_in_project(document: &mut Document, root: &Node, workspace: Option<&Path>) {
    let Some(workspace) = workspace.and_then(Path::to_str) else { return };
    let off = root.at_path(&["projects", workspace, "disabledMcpServers"]).and_then(Node::list);
    let off: HashSet<&str> = off.unwrap_or_default().iter().filter_map(Node::text).collect();
    for spec in document.servers.iter_mut().filter_map(|loaded| loaded.spec.as_mut()) {
        spec.enabled = spec.enabled && !off.contains(spec.name.as_str());
    }
}

/// The key joins server and tool; the server is the longest known name it begins with.
fn hidden_tools(document: &mut Document, root: &Node) {
    let tools = root.get("tools").and_then(Node::map).unwrap_or_default();
    let mut specs: HashMap<String, &mut ToolFilter> = HashMap::new();
    if !tools.is_empty() {
        let all = document.servers.iter_mut().filter_map(|loaded| loaded.spec.as_mut());
        specs.extend(all.map(|spec| (spec.name.as_str().to_owned(), &mut spec.filter)));
    }
    for pair in tools.iter().filter(|pair| pair.value.bool() == Some(false)) {
        let longest = pair.key.char_indices().nth(LONGEST + 1).map_or(pair.key.len(), |(byte, _)| byte);
        let joints = pair.key[..longest].rmatch_indices('_').map(|(at, _)| at);
        let owner = joints.into_iter().find(|at| specs.contains_key(&pair.key[..*at]));
        if let Some(at) = owner
            && let Some(filter) = specs.get_mut(&pair.key[..at])
        {
            filter.exclude.push(pair.key[at + 1..].to_owned());
        }
    }
}
