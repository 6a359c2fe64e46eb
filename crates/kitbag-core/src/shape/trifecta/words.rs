//! The words by which tools are taken to read private data, to bring in text of others or to send: one table, which
//! `docs/findings.md` shows.

/// A list of words, where they are looked for, and what they mean.
#[derive(Clone, Copy, Debug)]
pub struct WordList {
    /// What it is called in the rules that use it.
    pub name: &'static str,
    /// Where the words stand.
    pub place: &'static str,
    /// The words.
    pub words: &'static [&'static str],
}

const NAME: &str = "the tool's name";
const AROUND: &str = "the tool's name, its server's, its category, the first sentence of its description";
const ARGUMENTS: &str = "the names of its arguments";

/// All of them.
pub const WORD_LISTS: &[WordList] = &[
    WordList { name: "read", place: NAME, words: READ },
    WordList { name: "private", place: AROUND, words: PRIVATE },
    WordList { name: "private alone", place: NAME, words: PRIVATE_ALONE },
    WordList { name: "web", place: NAME, words: WEB },
    WordList { name: "foreign", place: AROUND, words: FOREIGN },
    WordList { name: "send", place: NAME, words: SEND },
    WordList { name: "write", place: NAME, words: WRITE },
    WordList { name: "public", place: NAME, words: PUBLIC },
    WordList { name: "recipient", place: ARGUMENTS, words: RECIPIENTS },
    WordList { name: "body", place: ARGUMENTS, words: BODIES },
    WordList { name: "address", place: ARGUMENTS, words: ADDRESSES },
    WordList { name: "run", place: NAME, words: RUN },
    WordList { name: "code", place: NAME, words: CODE },
    WordList { name: "command", place: ARGUMENTS, words: COMMANDS },
];

pub(super) const READ: &[&str] = &[
    "read", "get", "list", "search", "find", "query", "fetch", "show", "view", "export", "download",
    "retrieve", "load", "recall", "lookup", "dump", "select", "open",
];

pub(super) const PRIVATE: &[&str] = &[
    "file",
    "files",
    "directory",
    "folder",
    "folders",
    "email",
    "emails",
    "mail",
    "mails",
    "gmail",
    "inbox",
    "message",
    "messages",
    "calendar",
    "contact",
    "contacts",
    "note",
    "notes",
    "memory",
    "memories",
    "database",
    "sql",
    "table",
    "secret",
    "secrets",
    "credential",
    "credentials",
    "password",
    "passwords",
    "customer",
    "customers",
    "invoice",
    "invoices",
    "drive",
    "attachment",
    "attachments",
    "transaction",
    "transactions",
    "private",
    "personal",
];

pub(super) const PRIVATE_ALONE: &[&str] = &["query", "sql", "clipboard", "inbox", "screenshot"];

pub(super) const WEB: &[&str] = &[
    "fetch", "scrape", "crawl", "browse", "navigate", "web", "website", "webpage", "url", "rss", "feed",
    "news", "internet", "html",
];

pub(super) const FOREIGN: &[&str] = &[
    "email",
    "emails",
    "mail",
    "mails",
    "gmail",
    "inbox",
    "message",
    "messages",
    "issue",
    "issues",
    "comment",
    "comments",
    "review",
    "reviews",
    "tweet",
    "tweets",
    "post",
    "posts",
    "ticket",
    "tickets",
    "web",
    "website",
    "webpage",
    "internet",
    "news",
    "attachment",
    "attachments",
    "untrusted",
];

pub(super) const SEND: &[&str] = &[
    "send",
    "post",
    "publish",
    "tweet",
    "reply",
    "forward",
    "upload",
    "share",
    "email",
    "notify",
    "invite",
    "comment",
    "push",
    "submit",
    "broadcast",
    "webhook",
];

pub(super) const WRITE: &[&str] = &["create", "add", "update", "edit", "write", "open"];

pub(super) const PUBLIC: &[&str] = &[
    "issue",
    "issues",
    "comment",
    "comments",
    "pr",
    "pull",
    "gist",
    "tweet",
    "post",
    "ticket",
    "event",
    "review",
    "message",
    "discussion",
    "release",
];

pub(super) const RECIPIENTS: &[&str] = &["to", "recipient", "recipients", "cc", "bcc", "channel"];

pub(super) const BODIES: &[&str] = &["subject", "body", "message", "text", "content"];

pub(super) const ADDRESSES: &[&str] = &["url", "urls", "uri", "uris", "endpoint", "webhook"];

pub(super) const RUN: &[&str] =
    &["run", "exec", "execute", "eval", "evaluate", "start", "shell", "bash", "terminal"];

pub(super) const CODE: &[&str] =
    &["shell", "bash", "terminal", "command", "code", "python", "javascript", "script"];

pub(super) const COMMANDS: &[&str] = &["command", "cmd", "script", "code", "expression"];
