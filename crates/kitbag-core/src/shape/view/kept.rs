//! A tool on its way into a view: shaped and permitted, without a name yet. What was so in the view before is taken over
//! with its compiled schemas.

use std::sync::{Arc, OnceLock};

use super::ViewTool;
use crate::catalog::Tool;
use crate::names::ShownName;
use crate::shape::RuleStep;
use crate::shape::policy::Access;

/// A tool that is left, before it has its name.
pub(super) enum Kept {
    /// As it was in the view before.
    Same(Arc<ViewTool>),
    New {
        tool: Box<Tool>,
        trail: Vec<RuleStep>,
        /// What the user may do with it, whatever else is in the view.
        own_access: Access,
        access: Access,
        base: Arc<Tool>,
    },
}

impl Kept {
    pub(super) fn new(tool: Box<Tool>, trail: Vec<RuleStep>, access: Access, base: &Arc<Tool>) -> Self {
        Self::New { tool, trail, own_access: access.clone(), access, base: base.clone() }
    }

    pub(super) fn tool(&self) -> &Tool {
        match self {
            Self::Same(shown) => &shown.tool,
            Self::New { tool, .. } => tool,
        }
    }

    pub(super) fn trail(&self) -> &[RuleStep] {
        match self {
            Self::Same(shown) => &shown.trail,
            Self::New { trail, .. } => trail,
        }
    }

    /// The same with what comes of the other tools of the view.
    pub(super) fn with(self, more: Access) -> Self {
        match self {
            Self::Same(shown) if shown.own_access.clone().and(more.clone()).is_same(&shown.access) => {
                Self::Same(shown)
            }
            Self::Same(shown) => {
                let (tool, trail) = (Box::new(shown.tool.clone()), shown.trail.clone());
                let (own_access, base) = (shown.own_access.clone(), shown.base.clone());
                Self::New { tool, trail, access: own_access.clone().and(more), own_access, base }
            }
            Self::New { tool, trail, own_access, base, .. } => {
                Self::New { tool, trail, access: own_access.clone().and(more), own_access, base }
            }
        }
    }

    pub(super) fn show(self, name: ShownName, full: ShownName) -> Arc<ViewTool> {
        let (tool, trail, own_access, access, base) = match self {
            Self::Same(shown) if shown.name == name && shown.full == full => return shown,
            Self::Same(shown) => {
                let (tool, trail, base) = (shown.tool.clone(), shown.trail.clone(), shown.base.clone());
                (tool, trail, shown.own_access.clone(), shown.access.clone(), base)
            }
            Self::New { tool, trail, own_access, access, base } => (*tool, trail, own_access, access, base),
        };
        let (input, own_input, output) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Arc::new(ViewTool { name, full, tool, trail, access, own_access, base, input, own_input, output })
    }
}
