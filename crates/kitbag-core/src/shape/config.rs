//! The rules that files ask for.

use super::policy::{PolicyRule, RuleSet};
use super::{
    ArgumentChange, ArgumentChanges, Categorize, Describe, Filter, MarkAs, ProviderOptions, Rename, Rule,
    RuleError, Shaper, Tag, Unreadable, UseNameForm, Verdict, WithExamples,
};
use crate::catalog::Tool;
use crate::fault::{Fault, FaultKind, Stage};
use crate::model::{ArgRules, Risk, ServerSpec, ToolRules};
use crate::names::ToolName;
use crate::text::Globs;

/// The rules for one server's tools, in a fixed order: what cannot be read, filter, marks, then what is said of all its tools, then
/// what is said of single ones. A pattern that cannot be read is a fault, and filters that have one let
/// nothing through: better too little than what was meant to be kept away.
pub fn shaper(spec: &ServerSpec) -> (Shaper, Vec<Fault>) {
    let mut faults = Vec::new();
    let mut globs = |patterns: &[String], otherwise: &str| {
        Globs::new(patterns).unwrap_or_else(|bad| {
            let fault = Fault::error(FaultKind::WrongValue, bad.to_string()).of(&spec.name);
            faults.push(Fault { stage: Stage::Shape, ..fault });
            Globs::new(&[otherwise.to_owned()]).unwrap_or_default()
        })
    };
    let filter =
        Filter { include: globs(&spec.filter.include, ""), exclude: globs(&spec.filter.exclude, "*") };
    let rules = &spec.rules;
    let repeatable: Vec<String> = rules.idempotent.iter().chain(&rules.read_only).cloned().collect();
    let risk = |words: &[String]| Risk::of_words(words.iter().map(String::as_str));
    let single = rules.tools.iter().map(|(own, rules)| (own.clone(), risk(&rules.risk)));
    let marks = MarkAs {
        repeatable: globs(&repeatable, ""),
        read_only: globs(&rules.read_only, ""),
        risk: (risk(&rules.risk), single.collect()),
    };
    let shaper = rules.closed.as_ref().map(Shaper::closed).unwrap_or_default();
    let mut shaper = shaper.with(filter).with(marks);
    if let Some(form) = rules.names {
        shaper.push(Box::new(UseNameForm(form)));
    }
    if let Some(category) = &rules.category {
        shaper.push(Box::new(Categorize(category.clone())));
    }
    // Each tool of these is spoken of by its own name.
    for (tool, rules) in &rules.tools {
        for rule in of_tool(rules) {
            shaper.push(Box::new(Of { tool: tool.clone(), rule }));
        }
    }
    // After the descriptions, so that a tool with one of its own has the tag, too.
    if let Some(tag) = &rules.tag {
        shaper.push(Box::new(Tag(tag.clone())));
    }
    (shaper, faults)
}

/// The calls of one server's tools that need a person's approval, as the files say. A rule that cannot be read has a
/// person asked about every call.
pub fn approvals(spec: &ServerSpec) -> (RuleSet, Vec<Fault>) {
    let place = spec.places.get("settings").cloned();
    let mut faults = Vec::new();
    let mut read = |text: &String| {
        PolicyRule::parse_of(&spec.name, text, place.clone()).or_else(|bad| {
            let fault = Fault::error(FaultKind::WrongValue, bad.to_string()).of(&spec.name);
            faults.push(Fault { stage: Stage::Shape, place: place.clone(), ..fault });
            PolicyRule::parse_of(&spec.name, "*", place.clone())
        })
    };
    let rules: Vec<PolicyRule> = spec.rules.approve.iter().filter_map(|text| read(text).ok()).collect();
    (RuleSet::new(format!("[servers.{}]", spec.name), None, Vec::new(), rules), faults)
}

fn of_tool(rules: &ToolRules) -> Vec<Box<dyn Rule>> {
    let mut all: Vec<Box<dyn Rule>> = Vec::new();
    if let Some(reason) = &rules.closed {
        all.push(Box::new(Unreadable(reason.clone())));
    }
    if let Some(name) = &rules.name {
        all.push(Box::new(Rename(name.clone())));
    }
    if let Some(description) = &rules.description {
        all.push(Box::new(Describe(description.clone())));
    }
    if let Some(category) = &rules.category {
        all.push(Box::new(Categorize(category.clone())));
    }
    let changes: Vec<(String, ArgumentChange)> =
        rules.args.iter().flat_map(|(own, rules)| of_argument(own, rules)).collect();
    if !changes.is_empty() {
        all.push(Box::new(ArgumentChanges(changes)));
    }
    if !rules.examples.is_empty() {
        all.push(Box::new(WithExamples(rules.examples.clone())));
    }
    if !rules.options.is_empty() {
        all.push(Box::new(ProviderOptions(rules.options.clone())));
    }
    all
}

/// Renaming comes last: everything else speaks of the argument by the server's own name.
fn of_argument(own: &str, rules: &ArgRules) -> Vec<(String, ArgumentChange)> {
    let describe = rules.describe.clone().map(ArgumentChange::Describe);
    let value = match (&rules.pin, &rules.default, rules.hide) {
        (Some(value), ..) => vec![ArgumentChange::Pin(value.clone())],
        (None, Some(value), true) => vec![ArgumentChange::Default(value.clone()), ArgumentChange::Hide],
        (None, Some(value), false) => vec![ArgumentChange::Default(value.clone())],
        (None, None, true) => vec![ArgumentChange::Hide],
        (None, None, false) => Vec::new(),
    };
    let gone = rules.pin.is_some() || rules.hide;
    let rename = rules.rename.clone().filter(|_| !gone).map(ArgumentChange::Rename);
    let describe = describe.filter(|_| !gone);
    describe.into_iter().chain(value).chain(rename).map(|change| (own.to_owned(), change)).collect()
}

/// A rule for one tool.
struct Of {
    tool: String,
    rule: Box<dyn Rule>,
}

impl Rule for Of {
    fn name(&self) -> &str {
        self.rule.name()
    }

    fn apply(&self, tool: Tool) -> Result<Verdict, RuleError> {
        if ToolName::as_str(&tool.name) == self.tool {
            self.rule.apply(tool)
        } else {
            Ok(Verdict::keep(tool))
        }
    }
}
