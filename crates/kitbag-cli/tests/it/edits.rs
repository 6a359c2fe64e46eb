//! A change reaches one entry, wherever the reader found it, or is refused: no neighbour is lost.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::process::{Child, Stdio};

use crate::house::{BINARY, House, Ran, Runs as _};

const ENDPOINT: &str = "http://127.0.0.1:7777/mcp";

/// Two servers in every shape that a file of ours is read in.
const SHAPES: [(&str, &str); 9] = [
    ("bare", r#"{"time": {"command": "t"}, "other": {"command": "o", "odd": 1.50}}"#),
    ("mcpServers", r#"{"mcpServers": {"time": {"command": "t"}, "other": {"command": "o", "odd": 1.50}}}"#),
    ("servers", r#"{"servers": {"time": {"command": "t"}, "other": {"command": "o", "odd": 1.50}}}"#),
    (
        "mcp.servers",
        r#"{"mcp": {"servers": {"time": {"command": "t"}, "other": {"command": "o", "odd": 1.50}}}}"#,
    ),
    ("mcp_servers", r#"{"mcp_servers": {"time": {"command": "t"}, "other": {"command": "o", "odd": 1.50}}}"#),
    ("extensions", r#"{"extensions": {"time": {"cmd": "t"}, "other": {"cmd": "o", "odd": 1.50}}}"#),
    ("misspelt", r#"{"MCPServers": {"time": {"command": "t"}, "other": {"command": "o", "odd": 1.50}}}"#),
    ("list", r#"[{"name": "time", "command": "t"}, {"name": "other", "command": "o", "odd": 1.50}]"#),
    (
        "nested list",
        r#"{"mcp_servers": [{"name": "time", "command": "t"}, {"name": "other", "command": "o", "odd": 1.50}]}"#,
    ),
];

const OTHER: &str = r#""o", "odd": 1.50}"#;

#[test]
fn f91_a_change_in_a_file_of_several_servers_leaves_the_others() {
    for (shape, text) in SHAPES {
        let house = House::new();
        let file = "kit/config/servers/time.json";
        house.put(file, text);
        assert_eq!(house.states(&[]), "other=used time=used", "{shape}");
        house.run(&["servers", "disable", "time"]).exits(0);
        assert_eq!(house.states(&[]), "other=used time=disabled", "{shape}: {}", house.text(file));
        house.run(&["servers", "enable", "time"]).exits(0);
        assert_eq!(house.states(&[]), "other=used time=used", "{shape}: {}", house.text(file));
        house.run(&["servers", "remove", "time"]).exits(0);
        assert_eq!(house.states(&[]), "other=used", "{shape}");
        assert!(house.text(file).contains(OTHER), "{shape}: {}", house.text(file));
        assert!(!house.path("kit/config/mcp.json").exists(), "{shape}: a switch for what is gone");
    }
}

#[test]
fn f91_a_users_file_of_several_servers_is_not_overwritten() {
    for (shape, text) in SHAPES {
        let house = House::new();
        let text = text.replace("time", "clock");
        house.put("kit/config/servers/user_b/time.json", &text);
        house.run(&["servers", "add", "time", "--user", "b", "--", "new"]).exits(0);
        assert_eq!(house.states(&["--user", "b"]), "clock=used other=used time=used", "{shape}");
        assert_eq!(house.text("kit/config/servers/user_b/time.json"), text, "{shape}");
        house.run(&["servers", "add", "clock", "--user", "b", "--", "new"]).fails(3, "time.json");
        house.run(&["servers", "disable", "clock", "--user", "b"]).exits(0);
        house.run(&["servers", "remove", "other", "--user", "b"]).exits(0);
        assert_eq!(house.states(&["--user", "b"]), "clock=disabled time=used", "{shape}");
    }
}

#[test]
fn f91_a_file_that_is_the_server_goes_with_it() {
    let house = House::new();
    house.put("kit/config/servers/time.json", r#"{"command": "t"}"#);
    house.put("kit/config/servers/odd.json", r#"{"name": "wiki", "url": "https://w.example.com/mcp"}"#);
    house.run(&["servers", "disable", "time"]).exits(0);
    assert_eq!(house.states(&[]), "time=disabled wiki=used");
    house.run(&["servers", "remove", "time"]).exits(0);
    house.run(&["servers", "remove", "wiki"]).exits(0);
    assert_eq!(house.files("kit/config").len(), 0);
}

#[test]
fn f92_a_change_in_our_file_of_any_shape_leaves_the_others() {
    for (shape, text) in SHAPES {
        let house = House::new();
        let file = "kit/config/mcp.json";
        house.put(file, text);
        assert_eq!(house.states(&[]), "other=used time=used", "{shape}");
        house.run(&["servers", "add", "new", "--", "n"]).exits(0);
        assert_eq!(house.states(&[]), "new=used other=used time=used", "{shape}: {}", house.text(file));
        house.run(&["servers", "disable", "time"]).exits(0);
        assert_eq!(house.states(&[]), "new=used other=used time=disabled", "{shape}: {}", house.text(file));
        house.run(&["servers", "rename", "time", "clock"]).exits(0);
        assert_eq!(house.states(&[]), "clock=disabled new=used other=used", "{shape}: {}", house.text(file));
        house.run(&["servers", "remove", "new"]).exits(0);
        house.run(&["servers", "remove", "clock"]).exits(0);
        assert_eq!(house.states(&[]), "other=used", "{shape}: {}", house.text(file));
        assert!(house.text(file).contains(OTHER), "{shape}: {}", house.text(file));
    }
}

#[test]
fn f92_a_file_that_is_one_server_takes_no_second() {
    let house = House::new();
    let text = r#"{"name": "time", "command": "t"}"#;
    house.put("kit/config/mcp.json", text);
    house.run(&["servers", "add", "new", "--", "n"]).fails(3, "one server");
    assert_eq!(house.text("kit/config/mcp.json"), text);
    house.run(&["servers", "disable", "time"]).exits(0);
    assert_eq!(house.states(&[]), "time=disabled");
}

#[test]
fn f92_a_switch_beside_the_entry_is_the_one_that_is_turned() {
    let house = House::new();
    house.put("kit/config/servers/time.json", r#"{"command": "t"}"#);
    house.put("kit/config/mcp.json", r#"{"mcpServers": {"time": {"enabled": false}}}"#);
    assert_eq!(house.states(&[]), "time=disabled");
    house.run(&["servers", "enable", "time"]).exits(0);
    assert_eq!(house.states(&[]), "time=used");
    // YAML is not edited: it gets a switch of its own.
    house.put("kit/config/servers/wiki.yaml", "name: wiki\ncommand: w\n");
    house.run(&["servers", "disable", "wiki"]).exits(0);
    assert_eq!(house.states(&[]), "time=used wiki=disabled");
    house.run(&["servers", "enable", "wiki"]).exits(0);
    assert_eq!(house.states(&[]), "time=used wiki=used");
    house.run(&["servers", "remove", "wiki"]).exits(0);
    house.run(&["servers", "remove", "wiki"]).fails(3, "YAML");
    assert_eq!(house.text("kit/config/servers/wiki.yaml"), "name: wiki\ncommand: w\n");
    house.put("kit/config/servers/user_b/notes.yaml", "name: notes\ncommand: n\n");
    house.run(&["servers", "disable", "notes", "--user", "b"]).exits(0);
    assert_eq!(house.states(&["--user", "b"]), "notes=disabled time=used wiki=used");
    house.run(&["servers", "enable", "notes", "--user", "b"]).exits(0);
    assert_eq!(house.states(&["--user", "b"]), "notes=used time=used wiki=used");
}

fn export(house: &House, target: &str, file: &str) -> Ran {
    house.run(&["servers", "export", "--to", target, "--endpoint", ENDPOINT, "--write", file])
}

#[test]
fn f93_an_export_onto_another_shape_is_refused() {
    let house = House::new();
    for (target, text) in [
        ("claude", r#"{"servers": {"a": {"command": "x"}}}"#),
        ("cursor", r#"[{"name": "a", "command": "x"}]"#),
        ("cursor", r#"{"name": "a", "command": "x"}"#),
        ("openai", r#"{"mcp": {"servers": {"a": {"command": "x"}}}}"#),
        ("openai", r#"{"mcpServers": {"a": {"command": "x"}}}"#),
        ("qwen", r#"{"mcp_servers": {"a": {"command": "x"}}}"#),
    ] {
        let file = house.put("theirs.json", text);
        export(&house, target, file.to_str().unwrap()).fails(3, "theirs.json");
        assert_eq!(house.text("theirs.json"), text, "{target}");
    }
    assert_eq!(house.files("").len(), 1, "no backup of what was not changed");
    // Where the program does look, whatever the key.
    let file = house.put("lm.json", r#"{"mcpServers": {"a": {"command": "x"}}}"#);
    export(&house, "lmstudio", file.to_str().unwrap()).exits(0);
    assert_eq!(house.states(&["--config", file.to_str().unwrap()]), "a=used kitbag=used");
}

#[test]
fn f93_an_export_into_a_list_keeps_every_byte_of_the_others() {
    let house = House::new();
    let deep = format!("{}1{}", "[".repeat(40), "]".repeat(40));
    let theirs = format!(
        "{{\"name\": \"a\", \"url\": \"http://u.example/mcp\", /* why */ \"big\": 12345678901234567890123, \"f\": 1.500, \"x\": 1, \"x\": 2, \"deep\": {deep}}}"
    );
    let before =
        format!("{{\"mcp\": {{\"enabled\": true, \"servers\": [\n  {theirs}, // first\n]}}, \"n\": 1e400}}");
    let file = house.put("openai.json", &before);
    export(&house, "openai", file.to_str().unwrap()).exits(0);
    let after = house.text("openai.json");
    let (head, tail) = before.split_once("\n]").unwrap();
    assert!(after.starts_with(head) && after.ends_with(tail), "{after}");
    assert_eq!(house.states(&["--config", file.to_str().unwrap()]), "a=used kitbag=used");
    // Too deep for the reader: nobody knows what stands there.
    let before = before.replace(&deep, &format!("{}1{}", "[".repeat(90), "]".repeat(90)));
    house.put("openai.json", &before);
    export(&house, "openai", file.to_str().unwrap()).fails(3, "nested");
    assert_eq!(house.text("openai.json"), before);
}

fn all_done(children: Vec<Child>) {
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

fn start(house: &House, args: &[&str]) -> Child {
    let mut command = house.ask(args).command();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn f93_thirty_processes_at_once_lose_nothing() {
    let house = House::new();
    let (cursor, openai) = (house.at("cursor.json"), house.at("openai.json"));
    house.put("cursor.json", "{\"theme\": \"dark\", \"mcpServers\": {\"theirs\": {\"command\": \"x\"}}}");
    let one = |n: usize| {
        let name = format!("s{n}");
        match n % 3 {
            0 => start(&house, &["servers", "add", &name, "--", "true"]),
            1 => start(
                &house,
                &[
                    "servers",
                    "export",
                    "--to",
                    "cursor",
                    "--endpoint",
                    ENDPOINT,
                    "--name",
                    &name,
                    "--write",
                    &cursor,
                ],
            ),
            _ => start(
                &house,
                &[
                    "servers",
                    "export",
                    "--to",
                    "openai",
                    "--endpoint",
                    ENDPOINT,
                    "--name",
                    &name,
                    "--write",
                    &openai,
                ],
            ),
        }
    };
    all_done((0..30).map(one).collect());
    assert_eq!(house.rows(&[]).len(), 10);
    assert_eq!(house.rows(&["--config", &cursor]).len(), 11);
    assert_eq!(house.rows(&["--config", &openai]).len(), 10);
    // Every copy is of what somebody read: ten for ten changes, the first as it was.
    let copies = house
        .files("")
        .into_iter()
        .filter(|(file, _)| file.to_str().unwrap().contains("cursor.json.kitbag-"));
    let mut sizes: Vec<usize> = copies.map(|(_, bytes)| bytes.len()).collect();
    sizes.sort_unstable();
    sizes.dedup();
    assert_eq!(sizes.len(), 10);
}

#[test]
fn f103_owner_mode_and_links_stay_or_the_edit_is_refused() {
    let house = House::new();
    let text = "{\"mcpServers\": {\"theirs\": {\"command\": \"x\"}}}";
    let file = house.put("theirs.json", text);
    let path = file.to_str().unwrap();

    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    let is_root = std::os::unix::fs::chown(&file, Some(4321), Some(4322)).is_ok();
    export(&house, "cursor", path).exits(0);
    for file in [&file, &house.path("theirs.json.kitbag-1.bak")] {
        let meta = std::fs::metadata(file).unwrap();
        assert_eq!(meta.mode() & 0o777, 0o640);
        assert!(!is_root || (meta.uid(), meta.gid()) == (4321, 4322), "{file:?} is {}'s", meta.uid());
    }

    let read_only = house.put("read-only.json", text);
    std::fs::set_permissions(&read_only, std::fs::Permissions::from_mode(0o444)).unwrap();
    export(&house, "cursor", read_only.to_str().unwrap()).fails(3, "read-only");

    let dangling = house.path("dangling.json");
    symlink(house.path("nowhere.json"), &dangling).unwrap();
    export(&house, "cursor", dangling.to_str().unwrap()).fails(3, "nowhere.json");
    assert!(dangling.is_symlink() && !house.path("nowhere.json").exists());

    let twin = house.put("twin.json", text);
    std::fs::hard_link(&twin, house.path("other-name.json")).unwrap();
    export(&house, "cursor", twin.to_str().unwrap()).fails(3, "hard link");

    for name in ["read-only.json", "twin.json", "other-name.json"] {
        assert_eq!(house.text(name), text);
    }
    let linked = house.put("dotfiles/mcp.json", text);
    symlink(&linked, house.path("link.json")).unwrap();
    export(&house, "cursor", &house.at("link.json")).exits(0);
    assert!(house.path("link.json").is_symlink() && house.text("dotfiles/mcp.json").contains(ENDPOINT));
    let left =
        house.files("").into_iter().map(|(file, _)| file.file_name().unwrap().to_str().unwrap().to_owned());
    let left: Vec<String> =
        left.filter(|name| name.contains(".bak") || name.starts_with(".kitbag")).collect();
    assert_eq!(left, ["link.json.kitbag-1.bak", "theirs.json.kitbag-1.bak"]);
}

#[test]
fn f103_a_copy_that_cannot_be_made_leaves_nothing_behind() {
    let house = House::new();
    // No file may grow beyond a block: the new text fits, the copy of the old does not.
    let text = format!("{{\"mcpServers\": {{\"kitbag\": {{\"command\": \"{}\"}}}}}}", "x".repeat(9000));
    let file = house.put("theirs.json", &text);
    let ran = std::process::Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\"", BINARY])
        .args(["servers", "export", "--to", "cursor", "--endpoint", ENDPOINT, "--write"])
        .arg(&file)
        .env_clear()
        .envs(house.vars())
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(3), "{ran:?}");
    assert!(String::from_utf8_lossy(&ran.stderr).contains("cannot copy"), "{ran:?}");
    assert_eq!(house.text("theirs.json"), text);
    assert_eq!(house.files("").len(), 1, "nothing beside it: {:?}", house.files(""));
}

#[test]
fn f92_a_rename_does_not_leave_rules_behind() {
    let house = House::new();
    house.run(&["servers", "add", "time", "--", "t"]).exits(0);
    house.run(&["servers", "add", "other", "--", "o"]).exits(0);
    let before = house.text("kit/config/mcp.json");
    house.put("kit/config/kitbag.toml", "[servers.time]\nexclude = [\"set_*\"]\n");
    house.run(&["servers", "rename", "time", "clock"]).fails(3, "kitbag.toml");
    house.put("kit/config/kitbag.toml", "[servers.clock]\nexclude = [\"set_*\"]\n");
    house.run(&["servers", "rename", "time", "other"]).fails(3, "other is already there");
    house.run(&["servers", "rename", "tim", "x"]).fails(5, "time");
    house.run(&["servers", "rename", "time", "clock"]).exits(0);
    assert_eq!(house.text("kit/config/mcp.json"), before.replace("time", "clock"));
    // A switch that stands elsewhere would stay with the old name.
    house.put("kit/config/servers/wiki.json", r#"{"command": "w"}"#);
    house.put("kit/config/mcp.json", r#"{"mcpServers": {"wiki": {"enabled": false}}}"#);
    house.run(&["servers", "rename", "wiki", "pedia"]).fails(3, "mcp.json");
    house.put("home/.cursor/mcp.json", r#"{"mcpServers": {"web": {"command": "x"}}}"#);
    house.run(&["servers", "rename", "web", "net"]).fails(3, ".cursor/mcp.json");
}
