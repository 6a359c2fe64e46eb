//! Rows to keep: what matters is said, the rest is filled in.

use std::time::Duration;

use kitbag::ErrorKind;
use kitbag::store::{
    ApprovalAsk, AuditBatch, AuditDecision, AuditOutcome, AuditRow, Hash256, InputKey, Pin, PinKey, PinState,
    RowOwner, TokenEntry, WriterId,
};

use crate::stores::{at, server, tool, user};

pub(crate) fn owner(id: &str) -> RowOwner {
    RowOwner::parse(id).unwrap()
}

pub(crate) fn pin(owned_by: &str, tool_name: &str, definition: &str) -> Pin {
    let key = PinKey { owner: owner(owned_by), server: server("files"), tool: tool(tool_name) };
    let (first_seen, last_seen) = (at(1), at(2));
    let hash = Hash256::of(definition);
    Pin { key, hash, definition: definition.to_owned(), state: PinState::Seen, first_seen, last_seen }
}

/// Asked at 0, open until 1000.
pub(crate) fn ask(of: &str) -> ApprovalAsk {
    ApprovalAsk {
        user: user(of),
        session: "process 1".to_owned(),
        server: server("files"),
        tool: tool("write"),
        definition: Hash256::of("{}"),
        arguments: r#"{"path":"/etc/passwd","token":"hunter2","n":1.0}"#.to_owned(),
        shown: r#"{"path":"/etc/passwd","token":"***","n":1.0}"#.to_owned(),
        created: at(0),
        expires: at(1000),
    }
}

pub(crate) fn token(of: &str, name: &str, secret: &str) -> TokenEntry {
    let (expires, used) = (None, None);
    TokenEntry {
        user: user(of),
        name: name.to_owned(),
        hash: Hash256::of(secret),
        created: at(5),
        expires,
        used,
    }
}

pub(crate) fn input(of: &str, id: &str) -> InputKey {
    InputKey { user: user(of), scope: "/home/x/mcp.json".to_owned(), id: id.to_owned() }
}

pub(crate) fn row(of: &str, millis: u64) -> AuditRow {
    AuditRow {
        at: at(millis),
        user: Some(user(of)),
        agent: Some("coder".to_owned()),
        server: Some(server("files")),
        tool: Some("write".to_owned()),
        decision: AuditDecision::Denied,
        rule: Some("groups.dev deny */write".to_owned()),
        outcome: AuditOutcome::Failed(ErrorKind::Denied),
        took: Duration::from_millis(7),
        request_bytes: 10,
        result_bytes: 20,
        arguments: Some(r#"{"path":"***"}"#.to_owned()),
        call: Some("call-1".to_owned()),
    }
}

pub(crate) fn batch(writer: &str, first: u64, rows: Vec<AuditRow>) -> AuditBatch {
    AuditBatch { writer: WriterId::new(writer), first, rows }
}
