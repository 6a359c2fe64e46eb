//! Rules between what servers define and what one agent sees: filter, rename, describe, change arguments.
//!
//! A rule takes a tool and gives it back, changed or not, or drops it with a reason. One that fails drops the
//! tool it failed on and nothing else. Every change to arguments brings its way back, so that the server gets
//! its own words.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::catalog::Tool;

mod arguments;
mod config;
mod permit;
pub mod policy;
mod rules;
pub mod trifecta;
mod unmatched;
mod unreadable;
mod view;

#[cfg(test)]
mod tests;

pub use arguments::{ArgumentChange, ArgumentChanges, restore, restore_exact};
pub use config::{approvals, shaper};
pub use permit::{AllowAll, Authorize, Decision, Permissions, PermittedBy, ToolRefusal};
pub use rules::{
    Categorize, Describe, EditSchema, Filter, KeepIf, MarkAs, Only, Order, ProviderOptions, Rename, Tag,
    UseNameForm, WithExamples,
};
pub use unmatched::{KnownTools, unmatched};
use unreadable::Unreadable;
pub use view::{ClashError, HiddenTool, Shapers, View, ViewRequest, ViewTool};

/// Changes how one tool is shown to agents, or drops it.
///
/// ```
/// use kitbag_core::catalog::Tool;
/// use kitbag_core::shape::{Rule, RuleError, Shaper, Verdict};
///
/// /// Leaves out tools that nobody described.
/// struct Described;
///
/// impl Rule for Described {
///     fn name(&self) -> &str {
///         "described"
///     }
///
///     fn apply(&self, tool: Tool) -> Result<Verdict, RuleError> {
///         if tool.description.is_empty() {
///             return Ok(Verdict::Drop("it has no description".to_owned()));
///         }
///         Ok(Verdict::keep(tool))
///     }
/// }
///
/// let rules = Shaper::default().with(Described);
/// ```
pub trait Rule: Send + Sync {
    /// For `kitbag why`.
    fn name(&self) -> &str;
    /// `Keep`, `Drop(reason)`, or an error, which drops this tool alone with a fault.
    /// A rule that changes arguments pushes the way back onto `tool.undo`.
    fn apply(&self, tool: Tool) -> Result<Verdict, RuleError>;
}

/// What a [`Rule`] decides about a tool: keep it, perhaps changed, or drop it.
pub enum Verdict {
    /// It stays, perhaps changed.
    Keep(Box<Tool>),
    /// It goes, for a reason.
    Drop(String),
}

impl Verdict {
    /// It stays.
    pub fn keep(tool: Tool) -> Self {
        Self::Keep(Box::new(tool))
    }
}

/// The error of a [`Rule`]; it drops the tool it was applied to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RuleError(pub String);

/// What one rule did to one tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleStep {
    /// The rule.
    pub rule: String,
    /// What it did.
    pub outcome: RuleOutcome,
}

/// What a rule did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleOutcome {
    /// It left the tool as it was.
    Kept,
    /// It changed the tool.
    Changed,
    /// It dropped the tool.
    Dropped(String),
    /// It could not do its work.
    Failed(String),
}

/// What one tool went through; `kitbag why` prints it.
pub struct Shaped {
    /// The tool, if it is still there.
    pub tool: Option<Tool>,
    /// Step by step.
    pub trail: Vec<RuleStep>,
}

/// A list of [`Rule`]s, applied to each tool in order.
#[derive(Default)]
pub struct Shaper {
    rules: Vec<Box<dyn Rule>>,
    closed: Option<String>,
}

impl std::fmt::Debug for Shaper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.rules.iter().map(|rule| rule.name())).finish()
    }
}

impl Shaper {
    /// One more rule, after the others.
    #[must_use]
    pub fn with(mut self, rule: impl Rule + 'static) -> Self {
        self.push(Box::new(rule));
        self
    }

    /// Whether there is no rule.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// One more rule, after the others.
    pub fn push(&mut self, rule: Box<dyn Rule>) {
        self.rules.push(rule);
    }

    /// Rules that drop every tool, because a restriction of their server cannot be read.
    pub fn closed(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self { closed: Some(reason.clone()), ..Self::default() }.with(Unreadable(reason))
    }

    /// Why every tool is dropped, if a restriction cannot be read.
    pub fn closed_reason(&self) -> Option<&str> {
        self.closed.as_deref()
    }

    /// Takes a tool through all rules.
    pub fn shape(&self, tool: Tool) -> Shaped {
        let mut trail = Vec::new();
        let mut kept = Some(tool);
        for rule in &self.rules {
            let Some(tool) = kept.take() else { break };
            let (step, next) = RuleStep::of(rule.as_ref(), tool);
            trail.push(step);
            kept = next;
        }
        Shaped { tool: kept, trail }
    }
}

impl RuleStep {
    fn of(rule: &dyn Rule, tool: Tool) -> (Self, Option<Tool>) {
        let before = tool.clone();
        // The one place where a rule's panic is caught: it costs its tool, not the catalog.
        let verdict = catch_unwind(AssertUnwindSafe(|| rule.apply(tool)));
        let (outcome, kept) = match verdict {
            Ok(Ok(Verdict::Keep(tool))) => {
                let same = *tool == before;
                (if same { RuleOutcome::Kept } else { RuleOutcome::Changed }, Some(*tool))
            }
            Ok(Ok(Verdict::Drop(reason))) => (RuleOutcome::Dropped(reason), None),
            Ok(Err(error)) => (RuleOutcome::Failed(error.to_string()), None),
            Err(panic) => (RuleOutcome::Failed(format!("panicked: {}", words_of(&*panic))), None),
        };
        (Self { rule: rule.name().to_owned(), outcome }, kept)
    }
}

fn words_of(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a word")
}
