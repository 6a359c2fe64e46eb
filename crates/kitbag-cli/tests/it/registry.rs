//! S2.13: adding, showing, switching and removing, with every other byte left alone.

use std::path::Path;

use crate::house::{House, Runs as _};

/// A file as a person keeps it: comments, odd order, keys we do not know, blank lines, a trailing comma.
const KEPT: &str = r#"// my servers
{
  "unknownTop": {"x": [1, 2,   3]},

  "mcpServers": {
    /* the first */ "git": {"command": "git-mcp", "futureKey": true}, // stays
    "zeta": {
        "args": ["a"],   "command": "zeta",
    },
  },
  "last": null,
}
"#;

fn house() -> House {
    let house = House::new();
    house.put("kit/config/mcp.json", KEPT);
    house
}

/// Everything of `KEPT` in order, whatever stands between.
#[track_caller]
fn check_kept(text: &str, left_out: &str) {
    let mut rest = text;
    for line in KEPT.lines().filter(|line| left_out.is_empty() || !line.contains(left_out)) {
        let at = rest.find(line.trim_end()).unwrap_or_else(|| panic!("{line:?} is gone or moved in\n{text}"));
        rest = &rest[at + line.trim_end().len()..];
    }
}

#[test]
fn s2_13_add_show_switch_remove_leave_the_rest_byte_identical() {
    let house = house();
    let file = "kit/config/mcp.json";
    house.run(&["servers", "add", "time", "--", "uvx", "mcp-server-time", "--tz", "UTC"]).exits(0);
    check_kept(&house.text(file), "");
    assert_eq!(house.states(&[]), "git=used time=used zeta=used");
    let shown = house.run(&["servers", "show", "time", "--json"]).exits(0).json();
    assert_eq!(shown["args"], serde_json::json!(["mcp-server-time", "--tz", "UTC"]));
    house.run(&["servers", "disable", "time"]).exits(0);
    check_kept(&house.text(file), "");
    assert!(house.states(&[]).contains("time=disabled"));
    house.run(&["servers", "enable", "time"]).exits(0);
    check_kept(&house.text(file), "");
    assert!(house.states(&[]).contains("time=used"));
    house.run(&["servers", "remove", "time"]).exits(0);
    assert_eq!(house.text(file), KEPT, "adding and removing is nothing");
    house.run(&["servers", "disable", "git"]).exits(0);
    check_kept(&house.text(file), "futureKey");
    assert!(
        house.text(file).contains(r#""command": "git-mcp", "futureKey": true, "enabled": false}, // stays"#),
        "{}",
        house.text(file)
    );
    house.run(&["servers", "remove", "git"]).exits(0);
    check_kept(&house.text(file), "futureKey");
    assert_eq!(house.states(&[]), "zeta=used");
}

#[test]
fn s2_13_add_refuses_a_duplicate() {
    let house = house();
    house.put("kit/config/servers/wiki.json", r#"{"name": "wiki", "url": "https://wiki.example.com/mcp"}"#);
    house.put("kit/config/servers/user_ada/two.json", r#"{"mcpServers": {"notes": {"command": "x"}}}"#);
    let before = house.files("kit/config");
    house.run(&["servers", "add", "git", "--", "other"]).fails(3, "mcp.json:6");
    // One that stands in a file of its own is there as well.
    house.run(&["servers", "add", "wiki", "--", "other"]).fails(3, "wiki.json");
    house.run(&["servers", "add", "notes", "--user", "ada", "--", "other"]).fails(3, "two.json");
    house
        .run(&[
            "servers",
            "add",
            "--paste",
            r#"{"mcpServers": {"new": {"command": "x"}, "git": {"command": "y"}}}"#,
        ])
        .fails(3, "git");
    assert_eq!(house.files("kit/config"), before);
}

#[test]
fn s2_13_add_refuses_what_cannot_be_used() {
    let house = house();
    let before = house.files("kit/config");
    for (args, code) in [
        (&["x"][..], 3),
        (&["x", "--env", "A=1"], 3),
        (&["x", "--transport", "carrier-pigeon", "--", "y"], 3),
        (&["x", "--transport", "http"], 3),
        (&["x", "--header", "no colon", "--url", "https://x.example.com/mcp"], 2),
        (&["x", "--env", "PLANTED-SECRET", "--", "y"], 2),
        (&["--", "y"], 3),
        (&[], 2),
        (&["", "--", "y"], 2),
        (&["a\nb", "--", "y"], 2),
        (&["a\u{202e}b", "--", "y"], 2),
        (&["x", "--url", "u", "--", "y"], 2),
        (&["x", "--bearer", "t", "--", "y"], 2),
    ] {
        let ran = house.run(&[&["servers", "add"], args].concat()).fails(code, "error");
        assert!(!ran.err.contains("PLANTED-SECRET"), "{}", ran.err);
    }
    house.run(&["servers", "add", &"x".repeat(129), "--", "y"]).fails(2, "128");
    assert_eq!(house.files("kit/config"), before);
}

#[test]
fn s2_13_what_is_not_there_is_not_found() {
    let house = house();
    let ran = house.run(&["servers", "show", "zete"]).fails(5, "no server is called zete");
    assert!(ran.err.contains("zeta"), "the near miss: {}", ran.err);
    for command in ["remove", "enable", "disable"] {
        let ran = house.run(&["servers", command, "zete"]).fails(5, "zete");
        assert!(ran.err.contains("zeta"), "{command}: {}", ran.err);
        house.run(&["servers", command, "quite-something-else"]).fails(5, "quite-something-else");
    }
    house.run(&["servers", "export", "zete", "--to", "claude"]).fails(5, "zete");
    assert_eq!(house.text("kit/config/mcp.json"), KEPT);
}

#[test]
fn s2_13_a_broken_registry_is_left_alone() {
    let house = House::new();
    let broken = "{\"mcpServers\": {\"a\": {\"command\": \"x\"}";
    house.put("kit/config/mcp.json", broken);
    house.put("kit/config/servers/user_ada/x.json", broken);
    house.run(&["servers", "add", "x", "--", "y"]).fails(3, "mcp.json");
    house.run(&["servers", "add", "x", "--user", "ada", "--", "y"]).fails(3, "x.json");
    assert_eq!(house.text("kit/config/mcp.json"), broken);
    assert_eq!(house.text("kit/config/servers/user_ada/x.json"), broken);
}

#[test]
fn s2_13_a_users_change_lands_in_their_folder_only() {
    let house = house();
    std::fs::create_dir_all(house.path("kit/config/servers/user_ada")).unwrap();
    house.run(&["servers", "add", "notes", "--user", "ada", "--", "notes-mcp"]).exits(0);
    house.run(&["servers", "disable", "git", "--user", "ada"]).exits(0);
    let files: Vec<String> =
        house.files("kit/config").iter().map(|(file, _)| house.plain(file.to_str().unwrap())).collect();
    let ours = [
        "[kit]/config/mcp.json",
        "[kit]/config/servers/user_ada/git.json",
        "[kit]/config/servers/user_ada/notes.json",
    ];
    assert_eq!(files, ours);
    assert_eq!(house.text("kit/config/mcp.json"), KEPT);
    assert_eq!(house.states(&["--user", "ada"]), "git=disabled notes=used zeta=used");
    house.run(&["servers", "disable", "notes", "--user", "ada"]).exits(0);
    assert!(house.states(&["--user", "ada"]).contains("notes=disabled"));
    house.run(&["servers", "remove", "notes", "--user", "ada"]).exits(0);
    house.run(&["servers", "remove", "git", "--user", "ada"]).exits(0);
    assert_eq!(house.states(&["--user", "ada"]), "git=used zeta=used");
    // A user cannot remove what is everybody's.
    house.run(&["servers", "remove", "zeta", "--user", "ada"]).fails(3, "zeta");
    assert_eq!(house.text("kit/config/mcp.json"), KEPT);
}

#[test]
fn s2_13_a_users_file_with_other_things_in_it_is_not_overwritten() {
    let house = house();
    // The file that `notes` would get holds other servers, and a comment.
    let theirs =
        "// mine\n{\"mcpServers\": {\"one\": {\"command\": \"1\"}, \"two\": {\"command\": \"2\"}}}\n";
    house.put("kit/config/servers/user_ada/notes.json", theirs);
    let other = "{\"name\": \"somebody\", \"command\": \"x\"}";
    house.put("kit/config/servers/user_ada/git.json", other);
    house.run(&["servers", "add", "notes", "--user", "ada", "--", "notes-mcp"]).exits(0);
    house.run(&["servers", "disable", "git", "--user", "ada"]).exits(0);
    let states = house.states(&["--user", "ada"]);
    assert_eq!(states, "git=disabled notes=used one=used somebody=used two=used zeta=used");
    assert_eq!(house.text("kit/config/servers/user_ada/git.json"), other);
    assert!(house.text("kit/config/servers/user_ada/notes.json").starts_with("// mine\n"));
    // The same for a user's own entry that is switched: the comment beside it stays.
    house.put(
        "kit/config/servers/user_ada/own.json",
        "{\n  // why\n  \"name\": \"own\", \"command\": \"x\", \"mine\": 1\n}\n",
    );
    house.run(&["servers", "disable", "own", "--user", "ada"]).exits(0);
    let text = house.text("kit/config/servers/user_ada/own.json");
    assert!(
        text.contains("// why") && text.contains("\"mine\": 1") && text.contains("\"enabled\": false"),
        "{text}"
    );
}

#[test]
fn s2_13_names_cannot_leave_the_folder() {
    let house = house();
    std::fs::create_dir_all(house.path("kit/config/servers/user_ada")).unwrap();
    let long = "x".repeat(128);
    let names = [
        "../../x",
        "a/b",
        "CON",
        "nul.json",
        "文件系统",
        &long,
        "..",
        ".",
        "/etc/passwd",
        "C:\\x",
        "~",
        "a b",
        "(touch x)",
        "-dash",
        "#",
    ];
    let outside = |house: &House| {
        let folders = ["home", "project", "kit/config/servers/user_ada"];
        let count = |name: &str| std::fs::read_dir(house.path(name)).unwrap().count();
        (
            count(folders[0]),
            count(folders[1]),
            std::fs::read_dir(house.path("kit/config/servers")).unwrap().count(),
            std::fs::read_dir(house.path("kit/config")).unwrap().count(),
        )
    };
    let before = outside(&house);
    for name in names {
        house
            .run(&[
                "servers",
                "add",
                "--user",
                "ada",
                "--paste",
                &serde_json::json!({"mcpServers": {name: {"command": "x"}}}).to_string(),
            ])
            .exits(0);
        house
            .run(&[
                "servers",
                "add",
                "--paste",
                &serde_json::json!({"mcpServers": {name: {"command": "y"}}}).to_string(),
            ])
            .exits(0);
        let shown = house.run(&["servers", "show", "--user", "ada", "--json", "--", name]).exits(0).json();
        assert_eq!((&shown["name"], &shown["command"]), (&name.into(), &"x".into()));
        let file = shown["origin"]["file"].as_str().unwrap().to_owned();
        assert_eq!(Path::new(&file).parent().unwrap(), house.path("kit/config/servers/user_ada"), "{name:?}");
        let stem = Path::new(&file).file_stem().unwrap().to_str().unwrap().to_owned();
        assert!(
            stem.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_'),
            "{name:?} in {file}"
        );
    }
    assert_eq!(outside(&house), before);
    assert_eq!(std::fs::read_dir(house.path("kit/config/servers/user_ada")).unwrap().count(), names.len());
    for name in names {
        house.run(&["servers", "remove", "--user", "ada", "--", name]).exits(0);
    }
    assert_eq!(std::fs::read_dir(house.path("kit/config/servers/user_ada")).unwrap().count(), 0);
}

#[test]
fn s2_13_a_switch_for_another_programs_server_is_written_into_ours() {
    let house = house();
    let cursor = "{\"mcpServers\": {\"web\": {\"command\": \"web-mcp\"}}}";
    house.put("home/.cursor/mcp.json", cursor);
    house.put("project/.mcp.json", cursor.replace("web", "proj"));
    let (home, project) = (house.files("home"), house.files("project"));
    house.run(&["servers", "disable", "web", "--hosts", "cursor"]).exits(0);
    assert!(house.states(&["--hosts", "cursor"]).contains("web=disabled"));
    house.run(&["servers", "enable", "web", "--hosts", "cursor"]).exits(0);
    assert!(house.states(&["--hosts", "cursor"]).contains("web=used"));
    house.run(&["servers", "disable", "proj"]).exits(0);
    house.run(&["trust", "proj"]).exits(0);
    assert!(house.states(&[]).contains("proj=disabled"));
    check_kept(&house.text("kit/config/mcp.json"), "");
    // The switch goes, the server stays.
    house.run(&["servers", "remove", "proj"]).exits(0);
    assert!(house.states(&[]).contains("proj=used"));
    house.run(&["servers", "remove", "web", "--hosts", "cursor"]).exits(0);
    assert_eq!(house.text("kit/config/mcp.json"), KEPT);
    house.run(&["servers", "remove", "web", "--hosts", "cursor"]).fails(3, ".cursor/mcp.json");
    assert_eq!((house.files("home"), house.files("project")), (home, project));
}

#[test]
fn s2_13_switching_what_is_only_found_says_what_to_do() {
    let house = House::new();
    house.put("home/.cursor/mcp.json", "{\"mcpServers\": {\"web\": {\"command\": \"web-mcp\"}}}");
    let ran = house.run(&["servers", "enable", "web"]);
    assert!(ran.err.contains("import web"), "{}", ran.err);
    assert!(house.states(&[]).contains("web=found"));
}

#[test]
fn s2_13_what_was_switched_off_stays_off_when_it_is_added() {
    let house = House::new();
    house.put("home/.cursor/mcp.json", "{\"mcpServers\": {\"web\": {\"command\": \"web-mcp\"}}}");
    house.run(&["servers", "disable", "web", "--hosts", "cursor"]).exits(0);
    house.run(&["servers", "import", "web"]).exits(0);
    assert!(house.states(&[]).contains("web=disabled"), "{}", house.states(&[]));
}

#[test]
fn s2_13_a_new_file_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let house = House::new();
    house.run(&["servers", "add", "x", "--", "y"]).exits(0);
    let mode = |name: &str| std::fs::metadata(house.path(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("kit/config/mcp.json"), 0o600);
    assert_eq!(mode("kit/config"), 0o700);
    // A file that others may read stays so: its owner decided that.
    std::fs::set_permissions(house.path("kit/config/mcp.json"), std::fs::Permissions::from_mode(0o644))
        .unwrap();
    house.run(&["servers", "disable", "x"]).exits(0);
    assert_eq!(mode("kit/config/mcp.json"), 0o644);
}

#[test]
fn s2_13_a_name_that_no_file_could_hold_is_refused() {
    let house = house();
    for name in ["_x", "$x", "x-ray", "//x"] {
        let ran = house.run(&["servers", "add", name, "--", "y"]).fails(3, name);
        assert!(ran.err.contains("begin with"), "{}", ran.err);
    }
    assert_eq!(house.text("kit/config/mcp.json"), KEPT);
}

#[test]
fn s2_13_a_switch_uses_the_key_the_entry_has() {
    let house = House::new();
    house.put("kit/config/mcp.json", r#"{"mcpServers": {"off": {"command": "x", "disabled": true}}}"#);
    house.run(&["servers", "enable", "off"]).exits(0);
    assert_eq!(house.states(&[]), "off=used");
    house.run(&["servers", "disable", "off"]).exits(0);
    assert_eq!(house.states(&[]), "off=disabled");
    assert_eq!(house.text("kit/config/mcp.json").matches("abled").count(), 1);
}

#[test]
fn s2_13_a_switch_that_the_settings_overrule_is_refused() {
    let house = House::new();
    house.run(&["servers", "add", "s1", "--", "x"]).exits(0);
    house.put("kit/config/kitbag.toml", "[servers.s1]\nenabled = false\n");
    house.run(&["servers", "enable", "s1"]).fails(3, "kitbag.toml");
}
