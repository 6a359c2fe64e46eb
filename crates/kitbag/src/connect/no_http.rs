//! Stands for [`http`](super::http) in builds without the feature `http`: nothing can be reached by an address.

use kitbag_core::Secret;

use super::list::ToolList;
use super::reason::Reason;
use crate::Env;

/// There is none.
#[derive(Clone)]
pub(crate) enum Streamable {}

impl Streamable {
    pub(crate) fn address(&self) -> &str {
        match *self {}
    }

    pub(crate) fn has_session(&self) -> bool {
        match *self {}
    }

    pub(crate) fn is_over(&self) -> bool {
        match *self {}
    }

    pub(crate) fn learn(&self, _list: &mut ToolList) {
        match *self {}
    }
}

/// No certificates and proxies are needed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Route;

impl Route {
    pub(crate) fn of(_env: &Env) -> Self {
        Self
    }
}

/// Nothing is sent in headers.
pub(crate) fn check_headers(_pairs: &[(String, Secret)]) -> Result<(), Reason> {
    Ok(())
}
