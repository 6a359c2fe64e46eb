//! Exit codes, which scripts rely on, and what goes where.

use std::io::Read as _;
use std::process::Stdio;

use crate::house::{House, Runs as _};

fn house() -> House {
    let house = House::new();
    house.put("kit/config/mcp.json", r#"{"mcpServers": {"git": {"command": "true"}}}"#);
    house
}

#[test]
fn exit_codes_and_an_empty_stdout_on_failure() {
    let house = house();
    house.put("project/.mcp.json", r#"{"mcpServers": {"p": {"command": "x"}}}"#);
    house.put("broken.json", "{");
    let broken = house.at("broken.json");
    for (args, code) in [
        (&["--nonsense"][..], 2),
        (&["nonsense"], 2),
        (&["servers", "nonsense"], 2),
        (&["servers", "show"], 2),
        (&["--quiet", "--verbose"], 2),
        (&["--color", "sometimes"], 2),
        (&["--hosts", "curser"], 2),
        (&["--config", "nowhere.json"], 2),
        (&["--user", "../x"], 2),
        (&["completions", "tcsh-9"], 2),
        (&["servers", "import"], 2),
        (&["servers", "add", "git", "--", "x"], 3),
        (&["servers", "add", "x"], 3),
        (&["servers", "show", "nobody"], 5),
        (&["--agent", "nobody"], 5),
        (&["--user", "nobody"], 5),
        (&["trust", "nobody"], 5),
        (&["servers", "import", "nobody"], 5),
        (&["servers", "export", "p", "--to", "claude"], 6),
    ] {
        if args == ["servers", "import"] {
            house.put("home/.cursor/mcp.json", r#"{"mcpServers": {"c": {"command": "x"}}}"#);
        }
        house.run(args).fails(code, "");
        let ran = house.run(&[&["--json"], args].concat()).fails(code, "");
        // What clap says about usage is text; everything of ours is JSON.
        if !ran.err.contains("Usage:") && !ran.err.contains("For more information") {
            let last: serde_json::Value = serde_json::from_str(ran.err.lines().last().unwrap()).unwrap();
            assert_eq!(last["exit"], code, "{args:?}: {}", ran.err);
        }
    }
    house.run(&["servers", "list", "--config", &broken]).exits(3);
    house.run(&["doctor", "--config", &broken]).exits(3);
    house.run(&["--help"]).exits(0);
    house.run(&["--version"]).exits(0);
    house.run(&["doctor"]).exits(0);
}

#[test]
fn an_unknown_program_is_answered_with_the_near_miss() {
    let house = house();
    house.run(&["--hosts", "curser"]).fails(2, "did you mean cursor?");
    house.put("home/.cursor/mcp.json", r#"{"mcpServers": {"c": {"command": "x"}}}"#);
    house.run(&["servers", "import", "--all", "--from", "curser"]).fails(2, "did you mean cursor?");
}

#[test]
fn a_reader_that_went_away_is_no_panic() {
    let house = house();
    for args in [&["servers", "list"][..], &["config", "--json"], &["completions", "zsh"], &["--help"], &[]] {
        let mut command = house.ask(args).command();
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        let status = child.wait().unwrap();
        assert!(!err.contains("panicked"), "{args:?}: {err}");
        assert_eq!(status.code(), Some(0), "{args:?}: {err}");
    }
}

#[test]
fn a_full_disk_is_not_a_success() {
    let house = house();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = house.ask(&["servers", "list", "--json"]).command();
    let status = command.stdin(Stdio::null()).stdout(full).stderr(Stdio::null()).status().unwrap();
    assert_ne!(status.code(), Some(0));
}

#[test]
fn quiet_prints_results_only() {
    let house = house();
    house.put("kit/config/kitbag.toml", "[servers.nobody]\nlazy = true\n");
    let loud = house.run(&["servers", "list"]).exits(0);
    assert!(loud.err.contains("nobody"), "{}", loud.err);
    let quiet = house.run(&["servers", "list", "--quiet"]).exits(0);
    assert_eq!((quiet.out.as_str(), quiet.err.as_str()), (loud.out.as_str(), ""));
    let quiet = house.run(&["servers", "add", "-q", "x", "--", "y"]).exits(0);
    assert_eq!((quiet.out.as_str(), quiet.err.as_str()), ("", ""));
    // Errors are said all the same.
    house.run(&["servers", "show", "-q", "nobody"]).fails(5, "nobody");
    house.put("kit/config/servers/broken.json", "{");
    assert!(house.run(&["servers", "list", "--quiet"]).exits(0).err.contains("broken.json"));
}

#[test]
fn colours_when_asked_for() {
    let house = house();
    let esc = '\u{1b}';
    for args in [&[][..], &["servers", "list"], &["servers", "show", "git"], &["config"], &["doctor"]] {
        assert!(!house.run(args).all().contains(esc), "{args:?}");
        assert!(!house.run(&[args, &["--color", "never"]].concat()).all().contains(esc), "{args:?}");
        assert!(house.run(&[args, &["--color", "always"]].concat()).all().contains(esc), "{args:?}");
    }
    assert!(!house.run(&["servers", "list", "--json", "--color", "always"]).exits(0).out.contains(esc));
    let failed = house.run(&["servers", "show", "nobody", "--color", "always"]).fails(5, "nobody");
    assert!(failed.err.contains(esc));
}

#[test]
fn what_a_file_says_cannot_drive_the_terminal() {
    let house = House::new();
    let esc = "\\u001b[31m\\u0007\\u202e";
    house.put("project/.mcp.json", format!("{{\"mcpServers\": {{\"p\": {{\"command\": \"x{esc}\", \"args\": [\"{esc}\"], \"description\": \"{esc}\", \"commnd{esc}\": 1}}, \"n{esc}\": {{\"command\": \"x\"}}}}}}"));
    house.put("kit/config/servers/raw.json", "{\"name\": \"x\", \u{1b}[2J \u{202e}oops");
    for args in [
        &[][..],
        &["servers", "list", "--verbose"],
        &["servers", "show", "p"],
        &["config", "--verbose"],
        &["doctor", "--verbose"],
        &["trust"],
    ] {
        let text = house.run(args).all();
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{args:?}: {text:?}");
    }
}

#[test]
fn completions_for_the_usual_shells() {
    let house = House::new();
    for shell in ["bash", "zsh", "fish"] {
        let ran = house.run(&["completions", shell]).exits(0);
        assert!(ran.out.contains("KITBAG_COMPLETE"), "{shell}");
    }
}
