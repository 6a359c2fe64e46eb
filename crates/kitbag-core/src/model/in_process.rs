//! A server inside the program itself. What it is made of is known to whoever connects; here it is a value that
//! can be compared.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// A server inside the program; clones are the same server.
#[derive(Clone)]
pub struct InProcess(Arc<dyn Any + Send + Sync>);

impl InProcess {
    /// Whatever makes connections to it.
    pub fn new(server: impl Any + Send + Sync) -> Self {
        Self(Arc::new(server))
    }

    /// Whatever makes connections to it, if that is of this type.
    pub fn downcast<T: Any>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }

    /// Tells servers of one program apart.
    pub(in crate::model) fn id(&self) -> String {
        Arc::as_ptr(&self.0).addr().to_string()
    }
}

impl PartialEq for InProcess {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for InProcess {}

impl fmt::Debug for InProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InProcess")
    }
}
