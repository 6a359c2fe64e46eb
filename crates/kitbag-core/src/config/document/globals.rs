//! Keys beside the servers that switch some of them off or hide tools: `mcp.enabled`, `mcp.allowed`,
//! `mcp.excluded`, `allowMCPServers`, and OpenCode's `tools: {"server_tool": false}`.

use super::super::tree::Node;
use super::Document;

pub(super) fn apply(document: &mut Document, root: &Node) {
    if !matches!(document.dialect.id, "gemini" | "qwen" | "opencode" | "openai" | "plain") {
        return;
    }
    let all_off = root.at_path(&["mcp", "enabled"]).and_then(Node::bool) == Some(false);
    let names = |path: &[&str]| -> Option<Vec<&str>> {
        Some(root.at_path(path)?.list()?.iter().filter_map(Node::text).collect())
    };
    let allowed = names(&["mcp", "allowed"]).or_else(|| names(&["allowMCPServers"]));
    let excluded = names(&["mcp", "excluded"]).or_else(|| names(&["excludeMCPServers"])).unwrap_or_default();
    for spec in document.servers.iter_mut().filter_map(|loaded| loaded.spec.as_mut()) {
        let name = spec.name.as_str();
        let listed = allowed.as_ref().is_none_or(|allowed| allowed.contains(&name));
        spec.enabled = spec.enabled && !all_off && listed && !excluded.contains(&name);
    }
    hidden_tools(document, root);
}

/// The key joins server and tool; the server is the longest known name it begins with.
fn hidden_tools(document: &mut Document, root: &Node) {
    for pair in root.get("tools").and_then(Node::map).unwrap_or_default() {
        if pair.value.bool() != Some(false) {
            continue;
        }
        let specs = document.servers.iter_mut().filter_map(|loaded| loaded.spec.as_mut());
        let owner = specs
            .filter(|spec| {
                pair.key.strip_prefix(spec.name.as_str()).is_some_and(|rest| rest.starts_with('_'))
            })
            .max_by_key(|spec| spec.name.as_str().len());
        if let Some(spec) = owner {
            spec.filter.exclude.push(pair.key[spec.name.as_str().len() + 1..].to_owned());
        }
    }
}
