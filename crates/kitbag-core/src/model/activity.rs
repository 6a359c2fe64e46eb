//! What takes time while a call is made.

use std::fmt;

/// A step of a call that may take time; told before it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Activity {
    /// A server is being connected.
    Connecting {
        /// Which.
        server: String,
    },
    /// Its tools are being asked for.
    Listing {
        /// Of which.
        server: String,
    },
    /// A tool is running.
    Executing {
        /// Of which server.
        server: String,
        /// Which tool.
        tool: String,
    },
}

impl fmt::Display for Activity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connecting { server } => write!(f, "Connecting to MCP server '{server}'…"),
            Self::Listing { server } => write!(f, "Listing the tools of MCP server '{server}'…"),
            Self::Executing { server, tool } => write!(f, "Executing '{tool}' on MCP server '{server}'…"),
        }
    }
}
