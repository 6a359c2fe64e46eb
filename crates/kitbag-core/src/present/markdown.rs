//! A view as a text in Markdown, for prompts: every tool under a heading of its own, with its parameters.
//!
//! What servers wrote stands in it as words only. Every text of theirs is one line behind a label of ours, so
//! whatever it contains, the headings, items and rules of the text are ours.

use crate::names::ServerName;
use crate::shape::{View, ViewTool};

mod group;
mod lines;

#[cfg(test)]
mod tests;

use group::{Group, groups};
use lines::push_tool;

/// Under which headings tools stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    /// Their server.
    #[default]
    Server,
    /// Their category: the operator's word, else the server's own, else "Other".
    Category,
    /// What their server says they do: read, change, or destroy.
    Effect,
}

/// Which examples are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Examples {
    /// Those an operator wrote down.
    #[default]
    Configured,
    /// Those, and for the other tools one made from the schema.
    Generated,
    /// None.
    Never,
}

/// How the text is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MarkdownOptions {
    /// Under which headings tools stand.
    pub grouping: Grouping,
    /// Which examples are shown.
    pub examples: Examples,
    /// Under which name the program's own tools stand. They are no MCP tools, and [`markdown`] leaves them out.
    pub local: Option<ServerName>,
    /// What stands before every name: what the program of an agent puts there.
    pub prefix: String,
}

/// The text about the tools of servers; empty when there is nothing to tell. Equal views give equal bytes.
pub fn markdown(view: &View, options: &MarkdownOptions) -> String {
    let is_mcp = |shown: &&ViewTool| Some(&shown.tool.server) != options.local.as_ref();
    of_servers(&view.tools().iter().map(|shown| &**shown).filter(is_mcp).collect::<Vec<_>>(), options)
}

/// A text about all of these tools: those of servers, then those that stand under the program's own name.
pub(super) fn of<'a>(
    tools: impl Iterator<Item = &'a ViewTool>,
    local: Option<&ServerName>,
    options: &MarkdownOptions,
) -> String {
    let (own, theirs): (Vec<&ViewTool>, Vec<&ViewTool>) =
        tools.partition(|shown| Some(&shown.tool.server) == local);
    let texts = [of_servers(&theirs, options), of_program(&own, options)];
    texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
}

fn of_servers(tools: &[&ViewTool], options: &MarkdownOptions) -> String {
    let Some(first) = tools.first() else { return String::new() };
    let mut out = String::from(
        "# Available MCP Tools\n\n\
         The following MCP (Model Context Protocol) servers are available with their tools:\n\n",
    );
    for Group { heading, tools } in groups(tools, options.grouping) {
        out.push_str(&format!("## {heading}\n\n"));
        push_tools(&mut out, &tools, options);
    }
    let mut servers: Vec<&ServerName> = tools.iter().map(|shown| &shown.tool.server).collect();
    servers.sort();
    servers.dedup();
    out.push_str(&format!(
        "---\n\n\
         **Total MCP tools available**: {} from {} server(s)\n\n\
         **Usage**: Call these tools using their agent tool name (e.g., `{}`)",
        tools.len(),
        servers.len(),
        name(first, options)
    ));
    out
}

/// The program's own tools need no headings among themselves: they are few, and one hand wrote them.
fn of_program(tools: &[&ViewTool], options: &MarkdownOptions) -> String {
    let Some(first) = tools.first() else { return String::new() };
    let mut out =
        String::from("# Available Tools of This Program\n\nThe following tools need no server:\n\n");
    push_tools(&mut out, tools, options);
    out.push_str(&format!(
        "---\n\n**Usage**: Call these tools using their agent tool name (e.g., `{}`)",
        name(first, options)
    ));
    out
}

fn push_tools(out: &mut String, tools: &[&ViewTool], options: &MarkdownOptions) {
    for shown in tools {
        push_tool(out, shown, options);
        out.push('\n');
    }
}

/// What a tool is called.
fn name(shown: &ViewTool, options: &MarkdownOptions) -> String {
    format!("{}{}", options.prefix, shown.name)
}

/// The text as part of a system prompt; nothing for nothing.
pub fn system_form(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    format!(
        "## MCP Tools Available\n\n\
         You have access to additional tools via MCP (Model Context Protocol):\n\n\
         {text}\n\n\
         Use these tools when appropriate for the task."
    )
}

/// The text to be put after a prompt of a user; nothing for nothing.
pub fn user_form(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    // The blank line first: a rule right below a line would make a heading of it.
    format!("\n\n---\n\n{text}\n")
}
