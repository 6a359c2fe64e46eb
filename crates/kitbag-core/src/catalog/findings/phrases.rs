//! The words that are looked for, in one table per kind. They were chosen so that real definitions hardly ever have
//! them: a hint that is often wrong is not read.

use std::sync::LazyLock;

use super::words::Phrases;
use crate::fault::FaultKind;

/// The phrases of each kind.
pub(super) fn tables() -> &'static [(FaultKind, Phrases)] {
    static TABLES: LazyLock<Vec<(FaultKind, Phrases)>> = LazyLock::new(|| {
        vec![
            (FaultKind::InstructsModel, Phrases::new(ORDERS, TAGS)),
            (FaultKind::AsksForSecrets, Phrases::new(SECRETS, PRIVATE_FILES)),
            (FaultKind::AsksForContext, Phrases::new(CONTEXT, &[])),
        ]
    });
    &TABLES
}

/// Orders to whoever reads the definition.
const ORDERS: &[&str] = &[
    "ignore|disregard|forget|override|bypass all|any|the|your|my? previous|prior|above|earlier|preceding|system|safety|other .. instructions|instruction|rules|prompt|prompts|guidelines|restrictions|directives|messages|validation|controls",
    "do not|never tell|inform|notify|alert|mention|reveal|disclose|say .. user|users|human|operator|person",
    "dont|never|not tell|inform|notify|alert|mention|reveal|disclose .. user|users|human|operator|person",
    "without telling|informing|notifying|alerting the|any? user|users|human|person",
    "hide|keep|conceal this|it? .. from the user|users|human",
    "keep this|it .. secret|hidden",
    "do not ask .. user|human|person .. permission|confirmation|approval|consent",
    "before|after using|calling|running|invoking|executing any|all|every|each other? tool|tools|function|functions",
    "before|after any|every|each|all other tool|tools",
    "instead|place of any|all|every|the other tool|tools",
    "over all|any|every other tool|tools",
    "always|must call|use|run|invoke|execute this tool|function first",
    "only tool .. should|may|must use|call",
    "this|it is the best tool",
    "best tool in the world",
    "system|role|metadata|hidden|override|admin|secret|instruction directive|override",
    "act as a|an|the? .. administrator|admin|root|developer|hacker",
    "jailbreak",
    "reveal|print|repeat|output|leak the|your? system prompt",
    "otherwise the|this tool will not work|function",
    "pass its|their|the contents|content as",
    "always bcc|cc|forward|copy",
    "you are now",
    "new instructions",
    "important system note",
];

/// Marks that set text apart for a model.
const TAGS: &[&str] = &[
    "<important>",
    "<system>",
    "<system-reminder>",
    "<system_prompt>",
    "<instructions>",
    "<instruction>",
    "<secret>",
    "<hidden>",
    "<critical>",
    "<override>",
    "<admin>",
    "<assistant>",
    "<|im_start|>",
    "<|system|>",
    "<<sys>>",
    "[inst]",
    "<!--",
];

/// Secrets somebody is to take or hand over.
const SECRETS: &[&str] = &[
    "harvest|harvests|steal|steals|stealing|exfiltrate|dump|dumps|leak|grab|grabs|sniff|crack|capture|captures .. credentials|credential|passwords|password|secrets|secret|tokens|token|cookies|hashes|keys|keystrokes",
    "extract|extracts .. credentials|credential|passwords|password|secrets|secret|tokens",
    "credential|credentials|token|password harvesting|theft|extraction|exfiltration",
    "exfil|exfiltrate|exfiltrates|exfiltrated|exfiltration",
    "stolen data|credentials|files",
    "read|send|pass|include|attach|paste|provide|upload .. private|ssh key|keys",
    "read|send|pass|include|attach|paste|upload .. environment variables",
    "read|send|pass|include|attach|paste|upload .. seed phrase",
    "attacker|attackers controlled|server|endpoint",
];

/// Files nobody describes a tool with.
const PRIVATE_FILES: &[&str] = &[
    "~/.ssh",
    ".ssh/",
    "id_rsa",
    "id_ed25519",
    "authorized_keys",
    "/etc/passwd",
    "/etc/shadow",
    "~/.aws",
    ".aws/credentials",
    "~/.cursor",
    "~/.claude",
    "~/.gnupg",
    "~/.netrc",
    "~/.kube",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    "mcp.json",
    "claude_desktop_config.json",
    "wallet.dat",
    "/proc/self/environ",
    "~/.bash_history",
    "~/.zsh_history",
    "~/.env",
];

/// What a tool has no need to know of whoever calls it.
const CONTEXT: &[&str] = &[
    "llm|ai model name|version",
    "name|version of the llm|ai|language? model that|which calls|called|is",
    "your system prompt",
    "conversation|chat|dialogue|message history",
    "full|entire|whole|complete|previous|current conversation|chat|dialogue",
    "all previous|prior|earlier messages",
    "list|names of the? tools you can|have",
    "context window",
];
