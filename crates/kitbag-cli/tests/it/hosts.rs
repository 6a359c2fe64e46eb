//! Other programs' files: found, used when asked for, imported.

use std::os::unix::fs::symlink;

use crate::house::{House, Runs as _};

/// Whose file, where on Linux, and a golden file for it.
const PLACES: &[(&str, &str, &str)] = &[
    (
        "claude-desktop",
        ".config/Claude/claude_desktop_config.json",
        "claude-desktop/claude_desktop_config.json",
    ),
    ("claude-code", ".claude.json", "claude-code/claude.json"),
    ("cursor", ".cursor/mcp.json", "cursor/mcp.json"),
    ("vscode", ".config/Code/User/mcp.json", "vscode/mcp.json"),
    ("vscode", ".config/Code/User/settings.json", "vscode/settings.json"),
    ("vscode", ".config/Code - Insiders/User/mcp.json", "vscode/mcp.json"),
    ("windsurf", ".codeium/windsurf/mcp_config.json", "windsurf/mcp_config.json"),
    (
        "cline",
        ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        "cline/cline_mcp_settings.json",
    ),
    ("cline", ".cline/data/settings/cline_mcp_settings.json", "cline/cline_mcp_settings.json"),
    (
        "roo",
        ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
        "roo/mcp_settings.json",
    ),
    ("zed", ".config/zed/settings.json", "zed/settings.json"),
    ("codex", ".codex/config.toml", "codex/config.toml"),
    ("gemini", ".gemini/settings.json", "gemini/settings.json"),
    ("qwen", ".qwen/settings.json", "qwen/settings.json"),
    ("goose", ".config/goose/config.yaml", "goose/config.yaml"),
    ("lmstudio", ".lmstudio/mcp.json", "lmstudio/mcp.json"),
    ("opencode", ".config/opencode/opencode.json", "opencode/opencode.jsonc"),
    ("opencode", ".config/opencode/opencode.jsonc", "opencode/opencode.jsonc"),
    ("copilot-cli", ".copilot/mcp-config.json", "copilot-cli/mcp-config.json"),
    ("kiro", ".kiro/settings/mcp.json", "kiro/mcp.json"),
    ("hermes", ".hermes/config.yaml", "hermes/config.yaml"),
    ("crush", ".config/crush/crush.json", "crush/crush.json"),
    ("vibe", ".vibe/config.toml", "vibe/config.toml"),
];

#[test]
fn every_place_is_found_used_and_imported() {
    for (id, place, golden) in PLACES {
        let house = House::new();
        let text = std::fs::read_to_string(House::golden(golden)).unwrap();
        house.put(&format!("home/{place}"), &text);
        let before = house.files("home");
        let found: Vec<_> = house.rows(&[]).into_iter().filter(|row| row["state"] == "found").collect();
        assert!(!found.is_empty(), "{id}: nothing in {place}");
        let states = house.states(&["--hosts", id]);
        assert!(states.contains("=used") && !states.contains("=found"), "{id}: {states}");
        assert_eq!(house.states(&["--hosts", "all"]), states, "{id}");
        house.put("kit/config/kitbag.toml", format!("[sources]\nhosts = [{id:?}]\n"));
        assert_eq!(house.states(&[]), states, "{id} by settings");
        std::fs::remove_file(house.path("kit/config/kitbag.toml")).unwrap();

        let shown = |name: &str| {
            let mut row = house.run(&["servers", "show", "--json", "--", name]).exits(0).json();
            for key in ["origin", "places", "state", "layer", "also", "faults", "kept"] {
                row.as_object_mut().unwrap().remove(key);
            }
            // A filter that stands in a key we keep is read a second time; what it lets through is the same.
            for key in ["include", "exclude"] {
                if let Some(globs) = row.get_mut(key).and_then(|globs| globs.as_array_mut()) {
                    let mut seen = std::collections::BTreeSet::new();
                    globs.retain(|glob| seen.insert(glob.to_string()));
                }
            }
            row
        };
        let names: Vec<String> = found.iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect();
        let originals: Vec<_> = names.iter().map(|name| shown(name)).collect();
        house.run(&["servers", "import", "--all", "--from", id]).exits(0);
        assert_eq!(house.files("home"), before, "{id}: import changes only our file");
        for (name, original) in names.iter().zip(originals) {
            assert_eq!(shown(name), original, "{id}: {name} changed on its way");
        }
        // Equal fingerprints make one row with two origins.
        // (References are spelt anew, and a fingerprint is of the text as written.)
        let plain =
            |row: &&serde_json::Value| !shown(row["name"].as_str().unwrap()).to_string().contains("${");
        for row in house.rows(&[]).iter().filter(|row| row["layer"] == "shared").filter(plain) {
            assert_eq!(row["also"].as_array().unwrap().len(), 1, "{id}: {row}");
        }
    }
}

#[test]
fn f57_another_server_of_the_same_name_is_imported_under_its_programs() {
    let house = House::new();
    house.put(
        "home/.cursor/mcp.json",
        r#"{"mcpServers": {"a": {"command": "cursor-a"}, "b": {"command": "b"}}}"#,
    );
    house.put("home/.gemini/settings.json", r#"{"mcpServers": {"a": {"command": "gemini-a"}}}"#);
    house.run(&["servers", "import", "b"]).exits(0);
    assert_eq!(house.states(&[]), "b=used a=found a=found");
    let ran = house.run(&["servers", "import", "--all"]).exits(0);
    assert!(ran.err.contains("becomes a-gemini: another server is called a"), "{}", ran.err);
    let own = || -> serde_json::Value { serde_json::from_str(&house.text("kit/config/mcp.json")).unwrap() };
    let command = |name: &str| own()["mcpServers"][name]["command"].as_str().unwrap().to_owned();
    assert_eq!([command("a"), command("a-gemini"), command("b")], ["cursor-a", "gemini-a", "b"]);
    // A second time there is nothing new, and that is no failure.
    let before = own();
    let ran = house.run(&["servers", "import", "--all"]).exits(0);
    assert!(ran.err.contains("is there already as a-gemini"), "{}", ran.err);
    assert_eq!(own(), before);
    let preview = house.run(&["servers", "import"]).fails(2, "nothing was imported");
    assert!(preview.err.contains("a"), "{}", preview.err);
}

#[test]
fn f57_one_server_in_several_programs_is_imported_once() {
    let house = House::new();
    // The same address: one program has a word for the transport, one has none.
    house.put(
        "home/.cursor/mcp.json",
        r#"{"mcpServers": {"web": {"url": "https://h/mcp"}, "fs": {"command": "fs", "env": {"K": "${env:K}"}}}}"#,
    );
    house.put(
        "home/.claude.json",
        r#"{"mcpServers": {"web": {"type": "http", "url": "https://h/mcp"}, "fs": {"command": "fs", "env": {"K": "${K}"}}}}"#,
    );
    let ran = house.run(&["servers", "import", "--all", "--json"]).exits(0);
    let names: Vec<_> = ran.json().as_array().unwrap().iter().map(|row| row["name"].clone()).collect();
    assert_eq!((names, ran.err.as_str()), (vec!["fs".into(), "web".into()], ""));
}

#[test]
fn f57_servers_are_imported_under_the_names_asked_for() {
    let house = House::new();
    let file = r#"{"mcpServers": {"a": {"command": "a"}, "b": {"command": "b"}, "c": {"command": "c"}}}"#;
    house.put("home/.cursor/mcp.json", file);
    house.run(&["servers", "import", "--rename", "a=x", "--rename", "b=y"]).exits(0);
    assert_eq!(house.states(&[]), "x=used y=used a=found b=found c=found");
    house.run(&["servers", "import", "--rename", "c=x"]).fails(3, "the name x is taken");
    house.run(&["servers", "import", "--all", "--rename", "z=y"]).fails(5, "no found server is called z");
    house.run(&["servers", "import", "--rename", "z"]).fails(2, "OLD=NEW");
}

#[test]
fn f57_programs_are_known_by_the_names_people_use() {
    for word in ["cursor", "Cursor", "CURSOR"] {
        let house = House::new();
        house.put("home/.cursor/mcp.json", r#"{"mcpServers": {"c": {"command": "x"}}}"#);
        assert_eq!(house.states(&["--hosts", word]), "c=used");
        house.run(&["servers", "import", "--all", "--from", word]).exits(0);
        assert_eq!(house.states(&[]), "c=used");
    }
    let house = House::new();
    house.put("home/.claude.json", r#"{"mcpServers": {"code": {"command": "x"}}}"#);
    house.put(
        "home/.config/Claude/claude_desktop_config.json",
        r#"{"mcpServers": {"desktop": {"command": "x"}}}"#,
    );
    house.put("home/.config/Code/User/mcp.json", r#"{"servers": {"v": {"command": "x"}}}"#);
    assert_eq!(house.states(&["--hosts", "VS Code"]), "v=used code=found desktop=found");
    house.run(&["servers", "import", "--all", "--from", "claude"]).exits(0);
    assert_eq!(house.states(&[]), "code=used desktop=used v=found");
    house.run(&["servers", "import", "--from", "curser"]).fails(2, "did you mean cursor?");
    house.run(&["servers", "import", "--from", "nothing-like-it"]).fails(2, "one of claude-code,");
}

#[test]
fn an_unknown_program_in_the_settings_is_a_fault_with_its_line() {
    let house = House::new();
    house.put("kit/config/kitbag.toml", "[sources]\nhosts = [\n  \"cursor\",\n  \"curser\",\n]\n");
    let ran = house.run(&["servers", "list"]).exits(0);
    assert!(
        ran.err.contains("kitbag.toml:4:3") && ran.err.contains("did you mean \"cursor\"?"),
        "{}",
        ran.err
    );
    house.put("home/.cursor/mcp.json", r#"{"mcpServers": {"c": {"command": "x"}}}"#);
    assert_eq!(house.states(&[]), "c=used", "the others count");
}

#[test]
fn working_at_home_lists_nothing_twice() {
    let house = House::new();
    house.put("home/.cursor/mcp.json", r#"{"mcpServers": {"c": {"command": "x"}}}"#);
    house.put("home/.codex/config.toml", "[mcp_servers.k]\ncommand = \"x\"\n");
    let at_home = |home: &str| {
        let run = house.ask(&["servers", "list", "--json"]).cwd(house.path("home")).env("HOME", home);
        crate::house::states(run.run().exits(0).json().as_array().unwrap())
    };
    assert_eq!(at_home(&house.at("home")), "c=found k=found");
    // The same through a link, as on systems whose /home is one.
    symlink(house.path("home"), house.path("link")).unwrap();
    assert_eq!(at_home(&house.at("link")), "c=found k=found");
    assert_eq!(at_home(&(house.at("home") + "/")), "c=found k=found");
}

#[test]
fn a_file_that_cannot_be_read_costs_itself_alone() {
    let house = House::new();
    house.put("kit/config/mcp.json", r#"{"mcpServers": {"own": {"command": "x"}}}"#);
    std::fs::create_dir_all(house.path("home/.cursor/mcp.json")).unwrap();
    house.put("home/.gemini/settings.json", b"{\"mcpServers\": {\"g\": {\"command\": \"\xff\xfe\"}}}");
    house.put("kit/config/servers/latin.json", b"{\"name\": \"l\", \"command\": \"\xe9\"}");
    house.put("project/.env/bin/python", "a virtual environment");
    let ran = house.run(&["servers", "list", "--hosts", "all"]).exits(0);
    assert!(ran.out.contains("own"), "{}", ran.out);
    for word in [".cursor/mcp.json", ".gemini/settings.json", "latin.json"] {
        assert!(ran.err.contains(word), "no fault for {word}: {}", ran.err);
    }
    assert!(!ran.err.contains(".env"), "{}", ran.err);
    house.run(&["doctor"]).exits(3);
}

#[test]
fn utf_16_as_windows_editors_write_it() {
    let text = r#"{"mcpServers": {"wide": {"command": "x", "args": ["ü"]}}}"#;
    let wide = |mark: u16, bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
        std::iter::once(mark).chain(text.encode_utf16()).flat_map(bytes).collect()
    };
    for bytes in [
        wide(0xfeff, u16::to_le_bytes),
        wide(0xfeff, u16::to_be_bytes),
        [b"\xef\xbb\xbf", text.as_bytes()].concat(),
    ] {
        let house = House::new();
        house.put("home/.cursor/mcp.json", &bytes);
        assert_eq!(house.states(&["--hosts", "cursor"]), "wide=used");
        let shown = house.run(&["servers", "show", "wide", "--json"]).exits(0).json();
        assert_eq!(shown["args"][0], "ü");
        // Half a character is no text.
        house.put("home/.cursor/mcp.json", [0xff, 0xfe, b'{', 0, b'}']);
        assert!(
            house.run(&["servers", "list", "--hosts", "cursor"]).exits(0).err.contains(".cursor/mcp.json")
        );
    }
}

#[test]
fn codex_home_and_xdg_config_home_are_followed() {
    let house = House::new();
    house.put("codex/config.toml", "[mcp_servers.k]\ncommand = \"x\"\n");
    house.put("xdg/zed/settings.json", r#"{"context_servers": {"z": {"command": "x"}}}"#);
    house.put("xdg/kitbag/mcp.json", r#"{"mcpServers": {"own": {"command": "x"}}}"#);
    let run = house.ask(&["servers", "list", "--json"]).without("KITBAG_HOME");
    let ran =
        run.env("CODEX_HOME", &house.at("codex")).env("XDG_CONFIG_HOME", &house.at("xdg")).run().exits(0);
    assert_eq!(crate::house::states(ran.json().as_array().unwrap()), "own=used k=found z=found");
}
