//! The screens of the commands that people look at most, as a terminal of 80 and of 120 columns shows them: a machine like
//! many, with servers that are well, one that cannot be started, one that cannot be listed, one that is switched off, one
//! whose entry is broken and one that nobody approved. The snapshots are read before they are committed.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::Farm;
use crate::pty::{self, uncoloured};

fn tools() -> serde_json::Value {
    let path = json!({"type": "string", "description": "Where the file is, relative to the project's root or absolute \
        where the server's settings allow that"});
    json!([
        {"name": "read_file", "description": "Reads a file and returns its text.\n\nLarge files are cut.",
         "inputSchema": {"type": "object", "required": ["path"], "properties": {"path": path,
            "encoding_of_the_contents": {"enum": ["utf-8", "latin-1", "ascii"], "default": "utf-8"},
            "limit": {"type": "integer", "minimum": 1}}}},
        {"name": "list_directory_with_sizes_and_permissions_recursively", "inputSchema": {"type": "object"},
         "description": "Lists a folder and everything below it, with the size and the permissions of each file"},
        {"name": "write_file", "title": "Write", "inputSchema": {"type": "object", "properties": {"path": path}},
         "annotations": {"destructiveHint": true}},
    ])
}

const SERVERS: &str = r#"{
  "mcpServers": {
    "filesystem": {"command": "./bin/files-mcp", "args": ["--root", "/srv/projects", "/srv/documents", "--follow-links"]},
    "web-search": {"command": "./bin/search-mcp"},
    "issue-tracker": {"command": "./bin/issues-mcp"},
    "postgres": {"command": "no-such-program", "args": ["--dsn", "postgres://localhost/main"]},
    "calendar": {"url": "http://127.0.0.1:1/mcp", "enabled": false},
    "notes": {"commnd": "notes-mcp"}
  }
}
"#;

/// Commands and files have the same names on every machine: paths of this one do not belong into a snapshot.
fn farm() -> Farm {
    let farm = Farm::new();
    let house = &farm.house;
    let definitions = house.put("tools.json", tools().to_string());
    for (name, args) in [
        ("files-mcp", format!("--tools {}", definitions.display())),
        ("search-mcp", String::new()),
        ("issues-mcp", "--fault c15:broken".to_owned()),
    ] {
        let (mark, fake) = (house.at(""), testkit::bin("fake-mcp"));
        let text = format!("#!/bin/sh\n{}={mark} exec {} {args}\n", Farm::MARK, fake.display());
        let file = house.put(&format!("project/bin/{name}"), text);
        std::fs::set_permissions(file, PermissionsExt::from_mode(0o755)).unwrap();
    }
    house.put("home/.config/kitbag/mcp.json", SERVERS);
    house.put("project/.mcp.json", r#"{"mcpServers": {"build": {"command": "make", "args": ["mcp"]}}}"#);
    let slips = "[agents.coder]\nservers = ['web-serch']\n[servers.filesystem]\nexclude = ['delte_*']\n";
    house.put("home/.config/kitbag/kitbag.toml", slips);
    farm
}

/// Without the paths of this run, and without how long things took.
fn stable(farm: &Farm, text: &str) -> String {
    let word = |word: &str| {
        let bare = word.trim_end();
        let number = bare.strip_suffix('s').map(|number| number.strip_suffix('m').unwrap_or(number));
        let is_time = number.is_some_and(|number| number.parse::<f64>().is_ok());
        if is_time { format!("{:>1$}", "#", bare.len()) + &word[bare.len()..] } else { word.to_owned() }
    };
    let line =
        |line: &str| line.split_inclusive(' ').map(word).collect::<String>().trim_end().to_owned() + "\n";
    farm.house.plain(text).lines().map(line).collect()
}

#[test]
fn f61_screens_at_80_and_120_columns() {
    let farm = farm();
    let commands: [(&str, &[&str], i32); 10] = [
        ("tools", &["tools"], 0),
        ("overview", &[], 0),
        ("servers", &["servers"], 0),
        ("show", &["show", "filesystem/read_file"], 0),
        ("call", &["call", "web-search/structured", "value=text"], 0),
        ("call_that_fails", &["call", "web-search/fail"], 1),
        ("cost", &["cost"], 0),
        ("status", &["status"], 0),
        ("doctor", &["doctor"], 3),
        ("doctor_that_connects", &["doctor", "--connect"], 3),
    ];
    for columns in [80_u16, 120] {
        for (name, args, code) in commands {
            let ran = pty::run_at_home(&farm.house, columns, args).exits(code);
            let plain = uncoloured(&last_of_each_line(&ran.out));
            let text = stable(&farm, &plain);
            insta::assert_snapshot!(format!("{name}_at_{columns}"), text);
            check_shape(&plain, columns, name);
        }
    }
    farm.is_empty();
}

/// A line that was written over shows what was written last.
fn last_of_each_line(text: &str) -> String {
    text.split('\n').map(|line| line.rsplit('\r').next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// Tables keep to the terminal, no line ends in blanks, and nothing is two blank lines apart. Messages with the lines of
/// files are the terminal's to wrap.
#[track_caller]
fn check_shape(plain: &str, columns: u16, name: &str) {
    let is_message = |line: &&str| {
        let begins = ["error", "warning", "note", "the tools of"].iter().any(|word| line.starts_with(word));
        begins
            || line.contains("-->")
            || line.contains(" | ")
            || line.contains("= help:")
            || line.contains(" from ")
    };
    for line in plain.lines().filter(|line| !is_message(line)) {
        assert!(line.chars().count() <= usize::from(columns), "{name} at {columns}: {line:?}");
    }
    assert!(!plain.contains("\n\n\n"), "{name} at {columns}: {plain}");
}
