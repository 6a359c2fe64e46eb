//! S2.5 and T33: everybody's servers, one's own, and nobody else's.

use std::os::unix::fs::symlink;

use crate::house::{House, Runs as _};

const SHARED: &str = r#"{"mcpServers": {
  "git": {"command": "shared-git"},
  "time": {"command": "shared-time"}
}}"#;

/// Two users with a folder each.
fn house() -> House {
    let house = House::new();
    house.put("kit/config/mcp.json", SHARED);
    house.put("kit/config/servers/wiki.json", r#"{"name": "wiki", "url": "https://wiki.example.com/mcp"}"#);
    house.put("kit/config/servers/user_ada/notes.json", r#"{"name": "notes", "command": "ada-notes"}"#);
    house.put("kit/config/servers/user_ada/git.json", r#"{"name": "git", "command": "ada-git"}"#);
    house.put("kit/config/servers/user_bob/mail.json", r#"{"name": "mail-of-bob", "command": "bob-mail"}"#);
    house.put("kit/config/servers/user_bob/time.json", r#"{"name": "time", "enabled": false}"#);
    house
}

#[test]
fn s2_5_a_user_sees_the_shared_servers_and_their_own() {
    let house = house();
    assert_eq!(house.states(&[]), "git=used time=used wiki=used");
    assert_eq!(house.states(&["--user", "ada"]), "git=used notes=used time=used wiki=used git=shadowed");
    assert_eq!(house.states(&["--user", "bob"]), "git=used mail-of-bob=used time=disabled wiki=used");
    let git = |args: &[&str]| {
        house.run(&[&["servers", "show", "git", "--json"], args].concat()).exits(0).json()["command"].clone()
    };
    assert_eq!(git(&["--user", "ada"]), "ada-git");
    assert_eq!(git(&["--user", "bob"]), "shared-git");
    assert_eq!(git(&[]), "shared-git");
}

#[test]
fn s2_5_another_users_servers_are_never_visible() {
    let house = house();
    let commands: [&[&str]; 12] = [
        &["servers", "list"],
        &["servers", "list", "--json"],
        &["servers", "list", "--verbose"],
        &["config"],
        &["config", "--verbose"],
        &["config", "--json"],
        &["doctor"],
        &["doctor", "--json"],
        &["doctor", "--verbose"],
        &["servers", "export", "--to", "claude"],
        &["trust", "--json"],
        &["--json"],
    ];
    for command in commands {
        for (user, hidden) in
            [("ada", ["bob-mail", "mail-of-bob", "user_bob"]), ("bob", ["ada-notes", "ada-git", "user_ada"])]
        {
            let ran = house.run(&[command, &["--user", user]].concat());
            assert!(ran.code == Some(0) || command[0] == "doctor", "{command:?}: {ran:?}");
            for word in hidden {
                assert!(!ran.all().contains(word), "{command:?} for {user} says {word}: {}", ran.all());
            }
        }
        let ran = house.run(command);
        assert!(!ran.all().contains("user_"), "{command:?}: {}", ran.all());
    }
    // Not even as a near miss.
    let ran = house.run(&["servers", "show", "mail-of-bo", "--user", "ada"]).fails(5, "mail-of-bo");
    assert!(!ran.err.contains("mail-of-bob"), "{}", ran.err);
    for change in ["remove", "disable", "enable"] {
        house.run(&["servers", change, "mail-of-bob", "--user", "ada"]).fails(5, "mail-of-bob");
    }
}

#[test]
fn s2_5_a_user_switches_a_shared_server_off_for_themselves_only() {
    let house = house();
    house.run(&["servers", "disable", "wiki", "--user", "ada"]).exits(0);
    assert!(house.states(&["--user", "ada"]).contains("wiki=disabled"));
    assert!(house.states(&["--user", "bob"]).contains("wiki=used"));
    assert!(house.states(&[]).contains("wiki=used"));
    house.run(&["servers", "enable", "wiki", "--user", "ada"]).exits(0);
    assert!(house.states(&["--user", "ada"]).contains("wiki=used"));
    assert_eq!(house.text("kit/config/mcp.json"), SHARED);
}

#[test]
fn s2_5_an_unknown_user_is_not_found_with_the_fix() {
    let house = house();
    let ran = house.run(&["servers", "list", "--user", "eve"]).fails(5, "no user is called eve");
    assert!(ran.err.contains("[users.eve]") && ran.err.contains("servers/user_eve"), "{}", ran.err);
    for command in [
        &["servers", "add", "x", "--user", "eve", "--", "true"][..],
        &["config", "--user", "eve"],
        &["doctor", "--user", "eve"],
        &["--user", "eve"],
    ] {
        house.run(command).fails(5, "eve");
    }
    assert!(!house.path("kit/config/servers/user_eve").exists());
    house.put("kit/config/kitbag.toml", "[users.eve]\n");
    house.run(&["servers", "list", "--user", "eve"]).exits(0);
}

#[test]
fn s2_5_files_are_read_in_order_of_name() {
    let house = House::new();
    // Written in another order than they are named; the last one wins.
    for name in ["b", "c", "a"] {
        house.put(
            &format!("kit/config/servers/{name}.json"),
            format!(r#"{{"name": "same", "command": "{name}"}}"#),
        );
    }
    let shown = house.run(&["servers", "show", "same", "--json"]).exits(0).json();
    assert_eq!(shown["command"], "c");
    let files: Vec<String> =
        house.rows(&[]).iter().map(|row| row["origin"]["file"].as_str().unwrap().to_owned()).collect();
    assert_eq!(files.len(), 3, "{files:?}");
}

#[test]
fn s2_5_layers_hold_in_a_named_folder_too() {
    let house = House::new();
    house.put("data/x.json", r#"{"name": "x", "command": "everybody"}"#);
    house.put("data/y.json", r#"{"name": "y", "command": "everybody"}"#);
    house.put("data/user_ada/x.json", r#"{"name": "x", "command": "ada"}"#);
    house.put("data/user_ada/y.json", r#"{"name": "y", "enabled": false}"#);
    let data = house.at("data");
    house.put("kit/config/kitbag.toml", format!("[sources]\nservers_dir = {data:?}\n"));
    for way in [&["--config", data.as_str()][..], &[]] {
        let states = house.states(&[way, &["--user", "ada"]].concat());
        assert_eq!(states, "x=used y=disabled x=shadowed", "{way:?}");
        let shown =
            house.run(&[&["servers", "show", "x", "--json", "--user", "ada"], way].concat()).exits(0).json();
        assert_eq!(shown["command"], "ada", "{way:?}");
        assert_eq!(house.states(way), "x=used y=used");
    }
}

fn hostile_ids() -> Vec<String> {
    let single = [
        "",
        ".",
        "..",
        "/",
        "//",
        "../x",
        "a/b",
        "/etc",
        "/etc/passwd",
        "user_1/../user_2",
        "a b",
        " a",
        "a ",
        "ä",
        "．．",
        "\u{2024}\u{2024}",
        "a.b",
        "a.",
        ".a",
        "C:",
        "a\\b",
        "~",
        "~root",
        "$HOME",
        "${HOME}",
        "%2e%2e",
        "%00",
        "a\n",
        "\n",
        "\t",
        "\r",
        "\u{202e}a",
        "\u{200b}",
        "a\u{0301}",
        "con/",
        "a:b",
        "*",
        "?",
        "a|b",
        "a;b",
        "`id`",
        "$(id)",
        "a&b",
        "<a>",
        "\"a\"",
        "'a'",
        "a,b",
        "a=b",
        "#a",
        "@a",
        "!a",
        "(a)",
        "[a]",
        "{a}",
        "a+b",
        "\u{1b}[31m",
        "ａ",
        "а",
        "ſ",
        "\u{212a}",
        "\u{feff}a",
        "\u{7f}",
        "..\u{2215}x",
        "x\u{2044}y",
        "..%c0%af",
        "....//",
        "..;/",
    ];
    let mut ids: Vec<String> = single.map(String::from).to_vec();
    ids.extend(["x".repeat(65), "x".repeat(300), "x".repeat(5000)]);
    for depth in 1..48 {
        ids.push("../".repeat(depth) + "etc/passwd");
        ids.push("..\\".repeat(depth) + "windows");
        ids.push(format!("user_{depth}/../user_{}", depth + 1));
    }
    ids
}

#[test]
fn t33_hostile_ids_of_the_user_flag_are_refused() {
    let house = house();
    let before = house.files("");
    let ids = hostile_ids();
    assert!(200 <= ids.len());
    for (index, id) in ids.iter().enumerate() {
        let flag = format!("--user={id}");
        let args: &[&str] = match index % 3 {
            0 => &["servers", "list", &flag],
            1 => &["servers", "add", "x", &flag, "--", "true"],
            _ => &["servers", "disable", "git", &flag],
        };
        let ran = house.run(args);
        assert_eq!(ran.code, Some(2), "{id:?}: {ran:?}");
        assert!(ran.out.is_empty() && !ran.err.contains('\u{1b}'), "{id:?}: {ran:?}");
    }
    assert_eq!(house.files(""), before);
}

#[test]
fn t33_hostile_folder_names_are_nobodys() {
    let house = house();
    for (index, id) in hostile_ids().iter().enumerate() {
        let folder = house.path("kit/config/servers").join(format!("user_{id}"));
        // What no file system takes is no folder; what leads elsewhere is not below this one.
        if id.contains(['/', '\0']) || 200 < id.len() || id.is_empty() {
            continue;
        }
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("x.json"), format!(r#"{{"name": "hostile-{index}", "command": "x"}}"#))
            .unwrap();
    }
    for args in [&[][..], &["--user", "ada"], &["--user", "bob"]] {
        assert!(!house.states(args).contains("hostile"), "{args:?}");
    }
    let verbose = house.run(&["config", "--verbose"]).exits(0);
    assert!(!verbose.all().contains("hostile-"), "{}", verbose.all());
}

#[test]
fn t33_links_out_of_a_users_folder_are_not_followed() {
    let house = house();
    house.put("outside/secret.json", r#"{"name": "outside", "command": "x"}"#);
    symlink(house.path("outside/secret.json"), house.path("kit/config/servers/user_ada/link.json")).unwrap();
    symlink(
        house.path("kit/config/servers/user_bob/mail.json"),
        house.path("kit/config/servers/user_ada/theirs.json"),
    )
    .unwrap();
    symlink(house.path("outside"), house.path("kit/config/servers/user_eve")).unwrap();
    let list = house.run(&["servers", "list", "--user", "ada"]).exits(0);
    assert!(!list.all().contains("mail-of-bob") && !list.out.contains("outside"), "{}", list.all());
    assert!(list.err.contains("link.json") && list.err.contains("not followed"), "{}", list.err);
    house.run(&["servers", "list", "--user", "eve"]).fails(5, "eve");
    // A user by settings whose folder is a link: nothing is read through it.
    house.put("kit/config/kitbag.toml", "[users.eve]\n");
    assert!(!house.states(&["--user", "eve"]).contains("outside"));
}

#[test]
fn t33_nothing_is_written_through_a_link() {
    let house = house();
    house.put("kit/config/kitbag.toml", "[users.eve]\n[users.ada]\n");
    symlink(house.path("kit/config/servers/user_bob"), house.path("kit/config/servers/user_eve")).unwrap();
    house.put("outside/x.json", "{}");
    symlink(house.path("outside/x.json"), house.path("kit/config/servers/user_ada/x.json")).unwrap();
    let before = house.files("");
    house.run(&["servers", "add", "x", "--user", "eve", "--", "true"]).fails(3, "user_eve");
    house.run(&["servers", "disable", "git", "--user", "eve"]).fails(3, "user_eve");
    house.run(&["servers", "add", "x", "--user", "ada", "--", "true"]).fails(3, "x.json");
    house.run(&["servers", "remove", "x", "--user", "ada"]).exits(5);
    assert_eq!(house.files(""), before);
    assert!(house.path("kit/config/servers/user_ada/x.json").is_symlink());
}

#[test]
fn t33_case_twins_are_two_users() {
    let house = house();
    house.put("kit/config/servers/user_Ada/x.json", r#"{"name": "of-the-twin", "command": "x"}"#);
    assert!(!house.states(&["--user", "ada"]).contains("of-the-twin"));
    assert!(house.states(&["--user", "Ada"]).contains("of-the-twin"));
    assert!(!house.states(&["--user", "Ada"]).contains("notes"));
    house.run(&["servers", "list", "--user", "ADA"]).fails(5, "ADA");
}
