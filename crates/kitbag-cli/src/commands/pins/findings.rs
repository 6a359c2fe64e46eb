//! What definitions say to a model instead of describing their tool, beside what a person decides about: hints only.

use kitbag::Fault;
use kitbag::approvals::{PinStatus, PinnedTool};
use kitbag_core::text::visible;
use serde_json::{Value, json};

use crate::terminal::{DIM, ODD, styled};

/// The codes of what is found, in the definition as it is now or, where there is none, as it was.
pub(super) fn codes(tool: &PinnedTool) -> String {
    let found = if tool.now.is_some() { &tool.findings } else { &tool.pinned_findings };
    let mut codes: Vec<&str> = found.iter().map(|fault| fault.kind.as_str()).collect();
    codes.dedup();
    codes.join(" ")
}

/// A line for each of them; of a definition that changed, what was said before and what is said now.
pub(super) fn described(tool: &PinnedTool) -> String {
    let lines = |when: &str, found: &[Fault]| {
        let line = |fault: &Fault| {
            let said = visible(&format!("{}/{}{when}: {}", tool.server, tool.tool, fault.message));
            format!("{} {}\n", styled(ODD, fault.kind.as_str()), styled(DIM, said))
        };
        found.iter().map(line).collect::<String>()
    };
    match tool.status {
        PinStatus::Changed => lines(" (pinned)", &tool.pinned_findings) + &lines(" (now)", &tool.findings),
        PinStatus::Gone => lines("", &tool.pinned_findings),
        PinStatus::New | PinStatus::Seen | PinStatus::Approved => lines("", &tool.findings),
    }
}

pub(super) fn as_json(found: &[Fault]) -> Value {
    found.iter().map(|fault| json!({"code": fault.kind.as_str(), "message": fault.message})).collect()
}
