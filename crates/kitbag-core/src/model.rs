//! What a server's configuration means, whatever file and dialect it came from.

mod activity;
mod clocks;
mod error_kind;
mod fallback;
mod in_process;
mod launcher;
mod limits;
mod mode;
mod pin_mode;
mod risk;
mod rules;
mod secret;
mod shown;
mod spec;
mod template;
mod trifecta;

pub use activity::Activity;
pub use clocks::{Seconds, Timeout, Timeouts};
pub use error_kind::{Delivery, EXIT_CODES, ErrorKind};
pub use fallback::FallbackServer;
pub use in_process::InProcess;
pub use launcher::{UnpinnedPackage, may_download, package_name, unpinned};
pub use limits::{LimitRow, LimitValue, Limits};
pub use mode::Mode;
pub use pin_mode::PinMode;
pub use risk::{Effect, Risk, RiskWord};
pub use rules::{AgentKind, AgentRules, AgentRun, ArgRules, Clash, ServerRules, ToolRules};
pub use secret::Secret;
pub use spec::{
    Auth, Endpoint, EnvPass, Extra, Identity, Input, Origin, Overrides, Program, ResolvedSpec,
    ResolvedTarget, Seen, ServerSpec, ServerTarget, SpecTimeouts, ToolFilter, Transport, input_variable,
};
pub use template::{ConfigFolder, Defaults, Missing, Piece, Template, ValueSource};
pub use trifecta::TrifectaPolicy;
