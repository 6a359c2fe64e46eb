//! Tools as each provider's API wants them defined, and the way back from the calls a model makes of them.
//!
//! Every tool is compiled alone. What a provider would refuse is said in another way that can be undone before
//! the call ([`Back`]); what cannot be said at all is left out with the reason. So one tool never costs a
//! request, and the server always gets its own words.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::catalog::Tool;
use crate::model::Limits;
use crate::names::{ServerName, ShownName, ToolName};
use crate::schema::SchemaError;
use crate::shape::View;

mod anthropic;
mod back;
mod decode;
mod definition;
mod describe;
mod encode;
mod facts;
mod gemini;
mod generic;
mod openai;
mod options;
mod provider;
mod reduce;
mod rename;
mod rewrite;
mod root;
mod strict;

#[cfg(test)]
mod tests;

pub use back::Back;
pub use decode::decode;
pub(super) use decode::reply_value;
pub use describe::DescriptionLimit;
pub use encode::{ToolAnswer, encode};
pub use provider::{Provider, UnknownProvider};

use definition::Definition;
use options::Asked;
use strict::Weight;

/// What to do when there are more tools than a provider takes.
const FEWER: &str = "leave some out in kitbag.toml (exclude of a server, allow of an agent, deny of a group), or set \
                     mode = \"gateway\" or mode = \"signatures\" for the largest servers";

/// Whether definitions are written so that a provider can hold the model to them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strict {
    /// As servers mean them.
    #[default]
    Off,
    /// Strict where that can be undone and the provider's budget allows, in the order of the list.
    WithinBudget,
}

/// Whether words that tell a model nothing are left out. What validates is the same either way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Slim {
    /// Without `$schema`, titles that repeat a name, unused definitions, and what goes without saying.
    #[default]
    On,
    /// As servers wrote it, as far as the provider takes that.
    Off,
}

/// How tools are to be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NativeRequest {
    /// For whom.
    pub provider: Provider,
    /// Held to it or not.
    pub strict: Strict,
    /// Short or as written.
    pub slim: Slim,
    /// How long a description may be.
    pub describe: DescriptionLimit,
    /// The bounds of a schema.
    pub limits: Limits,
}

impl NativeRequest {
    /// As that provider is best served.
    pub fn new(provider: Provider) -> Self {
        let (strict, slim) = (Strict::default(), Slim::default());
        Self { provider, strict, slim, describe: DescriptionLimit::of(provider), limits: Limits::default() }
    }
}

/// Why a tool cannot be shown to a provider.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unfit {
    /// Nobody could use its schema.
    #[error(transparent)]
    Schema(SchemaError),
    /// This provider has no references, and without them the schema is too large.
    #[error("the schema has more than {limit} values once its references are written out")]
    FanOut {
        /// The limit.
        limit: usize,
    },
}

impl From<SchemaError> for Unfit {
    fn from(error: SchemaError) -> Self {
        match error {
            SchemaError::FanOut { limit } => Self::FanOut { limit },
            error => Self::Schema(error),
        }
    }
}

/// One tool, compiled.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// What the provider gets.
    pub definition: Value,
    /// The way back for the arguments.
    pub back: Back,
    /// What the provider's form cannot say, and what was ignored.
    pub notes: Vec<String>,
    /// What it takes of the provider's budget, if it is strict.
    weight: Option<Weight>,
}

impl Compiled {
    /// Whether the provider holds the model to it.
    pub fn is_strict(&self) -> bool {
        self.weight.is_some()
    }
}

/// A tool that a provider would not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quarantined {
    /// What it would be called by.
    pub name: ShownName,
    /// Whose it is.
    pub server: ServerName,
    /// What its server calls it.
    pub tool: ToolName,
    /// Why.
    pub why: Unfit,
}

/// Worth knowing about what was compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileNote {
    /// Which tool; none if it is about all of them.
    pub tool: Option<ShownName>,
    /// A short sentence.
    pub text: String,
    /// What to do about it, if anything can be done.
    pub hint: Option<String>,
}

/// The ways back of all tools that need one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reversals(BTreeMap<ShownName, Back>);

impl Reversals {
    /// That of one tool, if it has one.
    pub fn get(&self, shown: &str) -> Option<&Back> {
        self.0.get(shown)
    }

    /// Turns the arguments a model gave into those the view's schema wants.
    pub fn restore(&self, shown: &str, arguments: &mut Map<String, Value>) {
        if let Some(back) = self.get(shown) {
            back.restore(arguments);
        }
    }

    /// How many tools have one.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether arguments are what they seem for all tools.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A view in a provider's words.
#[derive(Clone, Debug, PartialEq)]
pub struct Native {
    /// The provider's `tools`.
    pub tools: Value,
    /// The ways back, by shown name.
    pub back: Reversals,
    /// What is not in it.
    pub quarantined: Vec<Quarantined>,
    /// What else is worth knowing.
    pub notes: Vec<CompileNote>,
}

/// Compiles all tools of a view, in its order.
pub fn compile(view: &View, request: &NativeRequest) -> Native {
    compile_tools(view.tools().iter().map(|shown| (&shown.name, &shown.tool)), request)
}

/// Compiles these tools, in this order.
pub fn compile_tools<'a>(
    tools: impl IntoIterator<Item = (&'a ShownName, &'a Tool)>,
    request: &NativeRequest,
) -> Native {
    let mut definitions = Vec::new();
    let mut back = BTreeMap::new();
    let (mut quarantined, mut notes) = (Vec::new(), Vec::new());
    let mut spent = Weight::default();
    for (name, tool) in tools {
        match compile_within(name, tool, request, &mut spent) {
            Ok(compiled) => {
                definitions.push(compiled.definition);
                if !compiled.back.is_plain() {
                    back.insert(name.clone(), compiled.back);
                }
                let of = |text| CompileNote { tool: Some(name.clone()), text, hint: None };
                notes.extend(compiled.notes.into_iter().map(of));
            }
            Err(why) => {
                let (server, tool) = (tool.server.clone(), tool.name.clone());
                quarantined.push(Quarantined { name: name.clone(), server, tool, why });
            }
        }
    }
    if let Some(most) = request.provider.most_tools()
        && most < definitions.len()
    {
        let (provider, count) = (request.provider, definitions.len());
        let over = count - most;
        let text = format!(
            "{provider} takes at most {most} tools in one request; these are {count}, {over} too many"
        );
        notes.push(CompileNote { tool: None, text, hint: Some(FEWER.to_owned()) });
    }
    if request.strict == Strict::WithinBudget && !request.provider.has_strict() {
        let text = format!("{} has no strict definitions", request.provider);
        notes.push(CompileNote { tool: None, text, hint: None });
    }
    let tools = (request.provider.row().list)(definitions);
    Native { tools, back: Reversals(back), quarantined, notes }
}

/// Strict as long as the budget lasts.
fn compile_within(
    name: &ShownName,
    tool: &Tool,
    request: &NativeRequest,
    spent: &mut Weight,
) -> Result<Compiled, Unfit> {
    let compiled = compile_tool(name, tool, request)?;
    let Some(weight) = &compiled.weight else { return Ok(compiled) };
    let budget = request.provider.row().strict.as_ref().map(|rules| &rules.request);
    match budget.and_then(|budget| spent.and(weight).over(budget)) {
        None => {
            *spent = spent.and(weight);
            Ok(compiled)
        }
        Some(what) => {
            let mut loose = compile_as(name, tool, request, Asked::Loose)?;
            loose.notes.push(format!("is not strict: {what}"));
            Ok(loose)
        }
    }
}

/// Compiles one tool.
pub fn compile_tool(name: &ShownName, tool: &Tool, request: &NativeRequest) -> Result<Compiled, Unfit> {
    let asked = match (Asked::of(tool, request.provider), request.strict) {
        (Asked::Unsaid, Strict::WithinBudget) => Asked::Strict,
        (asked, _) => asked,
    };
    compile_as(name, tool, request, asked)
}

fn compile_as(
    name: &ShownName,
    tool: &Tool,
    request: &NativeRequest,
    asked: Asked,
) -> Result<Compiled, Unfit> {
    let row = request.provider.row();
    let (mut made, tried) = match asked {
        Asked::Strict => strict::schema(tool, row, request)?,
        _ => (row.schema(tool, request)?, Ok(None)),
    };
    let weight = tried.unwrap_or_else(|why| {
        made.notes.push(format!("is not strict: {why}"));
        None
    });
    let description = describe::description(tool, &made.said, request, &mut made.notes);
    let one = Definition { name, description, schema: made.schema, is_strict: weight.is_some() };
    let definition = options::merge((row.define)(one), tool, request.provider, &mut made.notes);
    Ok(Compiled { definition, back: made.back, notes: made.notes, weight })
}

/// A schema in a provider's words.
struct Made {
    schema: Map<String, Value>,
    back: Back,
    /// What the tool's description must say in its stead.
    said: Vec<String>,
    notes: Vec<String>,
    /// Whether it leaves unsaid that an object takes properties which are not named.
    opened: bool,
}

/// The schema a way back goes by.
fn goes_by(tool: &Tool) -> Arc<Value> {
    tool.input.clone()
}
