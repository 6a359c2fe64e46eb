//! What a server's configuration means, whatever file and dialect it came from.

mod clocks;
mod error_kind;
mod limits;
mod mode;
mod rules;
mod secret;
mod shown;
mod spec;
mod template;

pub use clocks::{Clock, Clocks, Seconds};
pub use error_kind::{Delivery, EXIT_CODES, ErrorKind};
pub use limits::{Bound, Limits, Row};
pub use mode::Mode;
pub use rules::{AgentRules, ArgRules, Clash, ServerRules, ToolRules};
pub use secret::Secret;
pub use spec::{
    Auth, Endpoint, Extra, Identity, Input, Link, Origin, Overrides, Program, Resolved, ResolvedLink, Seen,
    ServerSpec, ToolFilter, Transport, Waits, input_variable,
};
pub use template::{Defaults, Folder, Lookup, Missing, Piece, Template};
