//! A tool on its way into a view: shaped and permitted, without a name yet. What was so in the view before is taken over
//! with its compiled schemas.

use std::sync::{Arc, OnceLock};

use super::ViewTool;
use crate::catalog::Tool;
use crate::names::ShownName;
use crate::shape::RuleStep;
use crate::shape::policy::ToolAccess;

/// A tool that is left, before it has its name.
pub(super) enum Kept {
    /// As it was in the view before.
    Same(Arc<ViewTool>),
    New(Box<NewTool>),
}

/// One that was shaped or judged anew.
pub(super) struct NewTool {
    tool: Tool,
    trail: Vec<RuleStep>,
    /// What the user may do with it, whatever else is in the view.
    own_access: ToolAccess,
    access: ToolAccess,
    base: Arc<Tool>,
}

impl Kept {
    pub(super) fn new(tool: Tool, trail: Vec<RuleStep>, access: ToolAccess, base: &Arc<Tool>) -> Self {
        let (own_access, base) = (access.clone(), base.clone());
        Self::New(Box::new(NewTool { tool, trail, own_access, access, base }))
    }

    pub(super) fn tool(&self) -> &Tool {
        match self {
            Self::Same(shown) => &shown.tool,
            Self::New(new) => &new.tool,
        }
    }

    pub(super) fn trail(&self) -> &[RuleStep] {
        match self {
            Self::Same(shown) => &shown.trail,
            Self::New(new) => &new.trail,
        }
    }

    /// The same with what comes of the other tools of the view.
    pub(super) fn with(self, more: ToolAccess) -> Self {
        match self {
            Self::Same(shown) => {
                let access = shown.own_access.clone().and(more);
                if access.is_same(&shown.access) {
                    return Self::Same(shown);
                }
                Self::New(Box::new(NewTool { access, ..NewTool::of(&shown) }))
            }
            Self::New(mut new) => {
                new.access = new.own_access.clone().and(more);
                Self::New(new)
            }
        }
    }

    pub(super) fn show(self, name: ShownName, full: ShownName) -> Arc<ViewTool> {
        let new = match self {
            Self::Same(shown) if shown.name == name && shown.full == full => return shown,
            Self::Same(shown) => NewTool::of(&shown),
            Self::New(new) => *new,
        };
        let NewTool { tool, trail, own_access, access, base } = new;
        let (input, own_input, output) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Arc::new(ViewTool { name, full, tool, trail, access, own_access, base, input, own_input, output })
    }
}

impl NewTool {
    fn of(shown: &ViewTool) -> Self {
        Self {
            tool: shown.tool.clone(),
            trail: shown.trail.clone(),
            own_access: shown.own_access.clone(),
            access: shown.access.clone(),
            base: shown.base.clone(),
        }
    }
}
