//! The rules that come with Kitbag.

use serde_json::{Map, Value};

use super::{Rule, RuleError, Verdict};
use crate::catalog::{OperatorMarks, Tool};
use crate::names::{NameForm, ShownName};
use crate::text::{BadGlob, Globs, neutral};

/// Only these, and never those; globs over the server's own names. Exclude wins.
pub struct Filter {
    /// None at all means every one.
    pub include: Globs,
    /// Never these.
    pub exclude: Globs,
}

impl Rule for Filter {
    fn name(&self) -> &str {
        "filter"
    }

    fn apply(&self, tool: Tool) -> Result<Verdict, RuleError> {
        let name = tool.name.as_str();
        if self.exclude.fit(name) {
            return Ok(Verdict::Drop("excluded by its server's exclude list".to_owned()));
        }
        if !self.include.is_empty() && !self.include.fit(name) {
            return Ok(Verdict::Drop("not in its server's include list".to_owned()));
        }
        Ok(Verdict::keep(tool))
    }
}

/// A rule for some tools only: globs over the names of servers and over the servers' own names of tools. Other tools
/// stay as they are.
///
/// ```
/// use kitbag_core::shape::{Describe, Only, Shaper};
///
/// let rules = Shaper::default()
///     .with(Only::new("github", "create_*", Describe("Asks before it writes".to_owned()))?);
/// # Ok::<(), kitbag_core::text::BadGlob>(())
/// ```
pub struct Only<R> {
    server: Globs,
    tool: Globs,
    rule: R,
}

impl<R: Rule> Only<R> {
    /// This rule for the tools of these servers with these names; `*` means all.
    pub fn new(server: &str, tool: &str, rule: R) -> Result<Self, BadGlob> {
        let (server, tool) = (Globs::new(&[server.to_owned()])?, Globs::new(&[tool.to_owned()])?);
        Ok(Self { server, tool, rule })
    }
}

impl<R: Rule> Rule for Only<R> {
    fn name(&self) -> &str {
        self.rule.name()
    }

    fn apply(&self, tool: Tool) -> Result<Verdict, RuleError> {
        let is_meant = self.server.fit(tool.server.as_str()) && self.tool.fit(tool.name.as_str());
        if is_meant { self.rule.apply(tool) } else { Ok(Verdict::keep(tool)) }
    }
}

/// Only those for which a question is answered with yes.
pub struct KeepIf<F>(pub F);

impl<F: Fn(&Tool) -> bool + Send + Sync> Rule for KeepIf<F> {
    fn name(&self) -> &str {
        "predicate"
    }

    fn apply(&self, tool: Tool) -> Result<Verdict, RuleError> {
        Ok(if (self.0)(&tool) {
            Verdict::keep(tool)
        } else {
            Verdict::Drop("refused by a predicate".to_owned())
        })
    }
}

/// A rule that changes one thing about every tool it is given.
macro_rules! change {
    ($(#[$doc:meta])* $rule:ident($of:ty), $name:literal, |$value:ident, $tool:ident| $work:expr) => {
        $(#[$doc])*
        pub struct $rule(pub $of);

        impl Rule for $rule {
            fn name(&self) -> &str {
                $name
            }

            fn apply(&self, mut $tool: Tool) -> Result<Verdict, RuleError> {
                let $value = &self.0;
                $work;
                Ok(Verdict::keep($tool))
            }
        }
    };
}

change!(
    /// The name a model sees, exactly. The wire keeps the server's own.
    Rename(String), "name",
    |name, tool| tool.name_override = Some(ShownName::parse(name).map_err(|invalid| RuleError(invalid.to_string()))?)
);
change!(
    /// Which form of name: with `mcp_` and server, with the server, or bare.
    UseNameForm(NameForm), "names",
    |form, tool| tool.form = Some(*form)
);
change!(
    /// What a model reads, instead of what the server wrote.
    Describe(String), "description",
    |text, tool| tool.description = neutral(text).into_owned()
);
change!(
    /// Put before the description, so that a model sees where a tool comes from.
    Tag(String), "tag",
    |tag, tool| tool.description = format!("{}{}", neutral(tag), tool.description)
);
change!(
    /// The heading it stands under.
    Categorize(String), "category",
    |category, tool| tool.category = Some(neutral(category).into_owned())
);
change!(
    /// Arguments to show as examples.
    WithExamples(Vec<Value>), "examples",
    |examples, tool| tool.examples.clone_from(examples)
);
change!(
    /// Options for one provider's definition, by provider; merged deeply into what is there.
    ProviderOptions(Map<String, Value>), "options",
    |options, tool| merge(&mut tool.options, options)
);
change!(
    /// Earlier ones stand before later ones.
    Order(i64), "order",
    |order, tool| tool.order = *order
);

fn merge(into: &mut Map<String, Value>, from: &Map<String, Value>) {
    for (key, value) in from {
        match (into.get_mut(key), value) {
            (Some(Value::Object(old)), Value::Object(new)) => merge(old, new),
            _ => drop(into.insert(key.clone(), value.clone())),
        }
    }
}

/// What an operator says about what tools do; globs over the server's own names.
pub struct MarkAs {
    /// These may be called twice.
    pub repeatable: Globs,
    /// These need approval by a person.
    pub approve: Globs,
}

impl Rule for MarkAs {
    fn name(&self) -> &str {
        "marks"
    }

    fn apply(&self, mut tool: Tool) -> Result<Verdict, RuleError> {
        let name = tool.name.as_str();
        tool.marks = OperatorMarks { repeatable: self.repeatable.fit(name), approve: self.approve.fit(name) };
        Ok(Verdict::keep(tool))
    }
}

/// Any change to the schema a model sees. Arguments are still checked against the server's own before they are
/// sent, so a schema that allows more than the server takes does no harm.
pub struct EditSchema<F>(pub F);

impl<F: Fn(&mut Value) -> Result<(), String> + Send + Sync> Rule for EditSchema<F> {
    fn name(&self) -> &str {
        "schema"
    }

    fn apply(&self, mut tool: Tool) -> Result<Verdict, RuleError> {
        let mut schema = Value::clone(&tool.input);
        (self.0)(&mut schema).map_err(RuleError)?;
        if !schema.is_object() {
            return Err(RuleError("an input schema must stay an object".to_owned()));
        }
        tool.input = std::sync::Arc::new(schema);
        Ok(Verdict::keep(tool))
    }
}
