//! The last pass over the tools of a view: whether together they could carry private data off, and what the policy makes
//! of it. What one user's groups leave is another set than what another's leave, so it is asked for each view.

use std::sync::OnceLock;

use super::{HiddenTool, Kept, ViewRequest};
use crate::catalog::Tool;
use crate::fault::{Fault, FaultKind, Severity, Stage};
use crate::model::TrifectaPolicy;
use crate::shape::policy::ToolAccess;
use crate::shape::trifecta::{ToolLabels, ToxicSet};
use crate::shape::{RuleOutcome, RuleStep};

/// The name of the step that keeps a tool away.
const RULE: &str = "trifecta";

/// A set of tools by which private data can be carried off, and what the policy makes of it.
#[derive(Clone, Debug)]
pub(super) struct Toxic {
    pub(super) set: ToxicSet,
    policy: TrifectaPolicy,
}

impl Toxic {
    /// Where nobody decided what becomes of it.
    pub(super) fn unset<'a>(tools: impl Iterator<Item = &'a Tool>) -> Option<Self> {
        let set = ToxicSet::of(tools.map(|tool| (tool, ToolLabels::of(tool, tool.marks.risk))))?;
        Some(Self { set, policy: TrifectaPolicy::Unset })
    }

    /// As it is told: a warning where that is what the policy asks for, worth knowing where nobody decided, or where it
    /// was seen to.
    pub(super) fn fault(&self) -> Fault {
        let (severity, hint) = match self.policy {
            TrifectaPolicy::Unset => {
                (Severity::Note, "set trifecta = \"ask\" or \"deny\" under [policy] in kitbag.toml")
            }
            TrifectaPolicy::Warn => {
                (Severity::Warning, "leave one of them out, or set trifecta = \"ask\" under [policy]")
            }
            TrifectaPolicy::Ask => (Severity::Note, "[policy] trifecta has a person asked before what sends"),
            TrifectaPolicy::Deny => (Severity::Note, "[policy] trifecta leaves out what sends"),
        };
        let fault =
            Fault::note(FaultKind::Trifecta, format!("private data can be carried off: {}", self.set));
        Fault { stage: Stage::Shape, severity, ..fault }.hint(hint)
    }
}

/// Asks for approval of what sends, or leaves it out, as the policy has it.
pub(super) fn judge(
    request: &ViewRequest<'_>,
    kept: Vec<Kept>,
    left_out: &mut Vec<HiddenTool>,
) -> (Vec<Kept>, OnceLock<Option<Toxic>>) {
    let policy = request.permissions.trifecta();
    let untouched = |kept: Vec<Kept>| {
        kept.into_iter().map(|kept| kept.with(ToolAccess::default())).collect::<Vec<Kept>>()
    };
    // Views are made often, and words are looked at one by one: only where something comes of it.
    if policy == TrifectaPolicy::Unset {
        return (untouched(kept), OnceLock::new());
    }
    let labels: Vec<ToolLabels> =
        kept.iter().map(|kept| ToolLabels::of(kept.tool(), request.permissions.risk(kept.tool()))).collect();
    let Some(set) = ToxicSet::of(kept.iter().map(Kept::tool).zip(labels.iter().copied())) else {
        return (untouched(kept), OnceLock::from(None));
    };
    let mut left = Vec::with_capacity(kept.len());
    for (kept, labels) in kept.into_iter().zip(labels) {
        match policy {
            TrifectaPolicy::Deny if labels.sends => {
                let why = format!("it sends out, and in this view {set}");
                let step = RuleStep { rule: RULE.to_owned(), outcome: RuleOutcome::Dropped(why) };
                let trail = kept.trail().iter().cloned().chain([step]);
                left_out.push(HiddenTool::new(kept.tool(), trail));
            }
            TrifectaPolicy::Ask if labels.sends => {
                left.push(kept.with(ToolAccess::ask(format!("[policy] trifecta asks for it: {set}"))));
            }
            _ => left.push(kept.with(ToolAccess::default())),
        }
    }
    (left, OnceLock::from(Some(Toxic { set, policy })))
}
