use std::path::Path;

use serde_json::json;

use super::super::{Editing, EntryChange, Home};
use super::*;
use crate::config::{Dialect, Reading};
use crate::model::Limits;

/// A file as people have it: comments, blanks, an order of their own.
const FILE: &str = r#"# mine
model   = "o3" # keep

[mcp_servers.first]   # the first
command = 'a'
args = [ "x",   # why
  "y" ]

[mcp_servers.first.env]
KEY = "v"

# about the second
[mcp_servers."second one"]
url = "https://h.example/mcp"

[profiles.work]
model = "x"
"#;

fn change(text: &str, name: &str, change: EntryChange<'_>) -> Result<String, EditError> {
    let limits = Limits::default();
    let dialect = Dialect::by_id("codex").unwrap();
    let reading = Reading { dialect: None, workspace: None, limits: &limits };
    let editing = Editing::theirs(Path::new("config.toml"), dialect, reading, Home::Map(&["mcp_servers"]));
    editing.change(text, name, change).map(|edited| match edited {
        super::super::Edited::Text(text) => text,
        super::super::Edited::Gone => panic!("the file is gone"),
    })
}

fn set(text: &str, name: &str) -> Result<String, EditError> {
    let entry =
        json!({"command": "npx", "args": ["-y", "it's \"x\""], "tool_timeout_sec": 1.5, "env": {"A": "b"}});
    change(text, name, EntryChange::Set { entry: &entry, words: None })
}

const NEW: &str = r#"
[mcp_servers.new]
command = "npx"
args = ["-y", "it's \"x\""]
tool_timeout_sec = 1.5

[mcp_servers.new.env]
A = "b"
"#;

#[test]
fn f57_a_new_server_comes_after_the_others_and_every_other_byte_stays() {
    let at = FILE.find("\n[profiles").unwrap();
    let expected = format!("{}{NEW}{}", &FILE[..at], &FILE[at..]);
    assert_eq!(set(FILE, "new").unwrap(), expected);
    let windows = FILE.replace('\n', "\r\n");
    assert_eq!(set(&windows, "new").unwrap(), expected.replace('\n', "\r\n"));
    let mixed = FILE.replacen('\n', "\r\n", 3);
    let new = format!("{}\n", NEW.trim_start()).replace('\n', "\r\n");
    assert_eq!(set(&mixed, "new").unwrap().replace(&new, ""), mixed);
    assert_eq!(set("", "new").unwrap(), NEW.trim_start());
    assert_eq!(set("model = 1", "new").unwrap(), format!("model = 1\n{NEW}"));
    assert_eq!(set(&expected, "new").unwrap(), expected, "a second time");
}

#[test]
fn f57_a_server_is_replaced_where_it_stands() {
    let edited = set(FILE, "second one").unwrap();
    let (head, tail) = FILE.split_once("url = \"https://h.example/mcp\"\n").unwrap();
    assert!(edited.starts_with(head) && edited.ends_with(tail), "{edited}");
    assert!(edited.contains("command = \"npx\"") && !edited.contains("url ="), "{edited}");
}

#[test]
fn f57_a_server_among_lines_is_a_line() {
    let line =
        r#"{ command = "npx", args = ["-y", "it's \"x\""], tool_timeout_sec = 1.5, env = { A = "b" } }"#;
    for (text, expected) in [
        (
            "mcp_servers.a.command = \"a\"\n",
            format!("mcp_servers.a.command = \"a\"\nmcp_servers.new = {line}\n"),
        ),
        ("[mcp_servers]\nnew = { command = \"a\" } # mine\n", format!("[mcp_servers]\nnew = {line}\n")),
        ("[mcp_servers]\nnew.command = \"a\"\n", format!("[mcp_servers]\nnew = {line}\n")),
        (
            "mcp_servers = { a = { command = \"a\" } }\n",
            format!("mcp_servers = {{ a = {{ command = \"a\" }} , new = {line} }}\n"),
        ),
    ] {
        assert_eq!(set(text, "new").as_deref(), Ok(expected.as_str()), "{text}");
    }
}

#[test]
fn f57_what_cannot_be_changed_is_refused() {
    assert!(matches!(set("mcp_servers = 1\n", "new"), Err(EditError::NotAMap(_))));
    assert!(matches!(set("mcp_servers = [\n", "new"), Err(EditError::Broken(_))));
    for other in [EntryChange::Remove, EntryChange::Switch(false), EntryChange::Rename("x")] {
        assert_eq!(change(FILE, "first", other), Err(EditError::Format("TOML")));
    }
}

#[test]
fn f57_every_text_comes_back() {
    let text = "tab\t line\r\n end\u{7f}\u{1}\u{8} \\ \"\"\" ''' ü 😀 \u{2028}";
    let entry = json!({"command": text, "args": [text], "env": {text: text}});
    let edited = change(FILE, "new", EntryChange::Set { entry: &entry, words: None }).unwrap();
    let read: DocumentMut = edited.parse().unwrap();
    let new = &read["mcp_servers"]["new"];
    let read = [&new["command"], &new["args"][0], &new["env"][text]].map(|item| item.as_str().unwrap());
    assert_eq!(read, [text; 3]);
}
