//! What people see: help, the overview, tables that fit.

use crate::house::{House, Runs as _};
use crate::pty::{self, Step, uncoloured};

#[test]
fn help_of_every_command() {
    let house = House::new();
    for command in [
        "",
        "servers",
        "servers list",
        "servers show",
        "servers add",
        "servers remove",
        "servers enable",
        "servers disable",
        "servers import",
        "servers export",
        "config",
        "tools",
        "prompt",
        "resources",
        "resources read",
        "prompts",
        "prompts get",
        "cost",
        "show",
        "call",
        "serve",
        "run",
        "chat",
        "conversations",
        "why",
        "trust",
        "doctor",
        "completions",
        "man",
    ] {
        let args: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
        let ran = house.run(&args).exits(0);
        assert_eq!(ran.err, "");
        let name = format!("help_{}", command.replace(' ', "_"));
        insta::assert_snapshot!(name.trim_end_matches('_'), ran.out);
    }
}

#[test]
fn overview_of_an_empty_machine() {
    let house = House::new();
    let ran = house.run::<&str>(&[]).exits(0);
    assert_eq!(ran.err, "");
    insta::assert_snapshot!(house.plain(&ran.out));
}

/// Something of everything.
fn full() -> House {
    let house = House::new();
    house.put(
        "kit/config/mcp.json",
        r#"{"mcpServers": {
  "files": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/srv/documents", "/srv/projects", "--read-only"]},
  "tickets": {"url": "https://tickets.example.com/a/rather/long/path/to/the/endpoint/mcp?team=north&token=PLANTED-SECRET"},
  "resting": {"command": "x", "enabled": false},
  "broken": {"commnd": "x"}
}}"#,
    );
    house.put("kit/config/servers/cut.json", "{\"name\": \"cut\"");
    house.put("project/.mcp.json", r#"{"mcpServers": {"held-by-a-long-name-that-people-give": {"command": "uvx", "args": ["some-server", "--flag"]}}}"#);
    house.put(
        "home/.cursor/mcp.json",
        r#"{"mcpServers": {"one": {"command": "x"}, "two": {"command": "y"}}}"#,
    );
    house.put(
        "home/.config/Code/User/mcp.json",
        r#"{"servers": {"three": {"command": "x"}, "broken-there": {"comand": "y"}}}"#,
    );
    house
}

#[test]
fn overview_of_a_full_machine() {
    let house = full();
    let ran = house.run::<&str>(&[]).exits(0);
    assert_eq!(ran.err, "");
    insta::assert_snapshot!(house.plain(&ran.out));
}

#[test]
fn list_of_a_full_machine() {
    let house = full();
    let ran = house.run(&["servers", "list"]).exits(0);
    insta::assert_snapshot!(squeezed(&house.plain(&ran.out)));
}

/// Columns are as wide as the temporary folder's name is long; blanks say nothing.
fn squeezed(text: &str) -> String {
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect()
}

#[test]
fn doctor_of_a_full_machine() {
    let house = full();
    // What is installed on this machine is not this test's business.
    let npx = house.put("bin/npx", "");
    std::fs::set_permissions(npx, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let run = house.ask(&["doctor", "--config", &house.at("kit/config")]);
    let ran = run.env("PATH", &house.at("bin")).run().exits(3);
    insta::assert_snapshot!(house.plain(&ran.err));
}

#[test]
fn tables_fit_a_terminal_of_80_columns() {
    let house = full();
    // An import is offered on a first run only, and this house has a file of its own.
    for columns in [80_u16, 60, 120] {
        for args in [&[][..], &["servers", "list"], &["config"], &["config", "--verbose"]] {
            let ran = pty::run(&house, columns, args, &[]).exits(0);
            // Faults with their files' lines are not wrapped; tables are.
            let plain = uncoloured(&ran.out);
            let table =
                plain.lines().take_while(|line| !line.starts_with("error") && !line.starts_with("warning"));
            let long: Vec<&str> = table
                .filter(|line| usize::from(columns) < line.chars().count() && !line.contains(" = "))
                .collect();
            let long: Vec<&str> = long
                .into_iter()
                .filter(|line| !line.starts_with("config folder") && !line.contains(" ("))
                .collect();
            assert!(long.is_empty(), "{args:?} at {columns}: {long:#?}");
        }
    }
}

#[test]
fn overview_and_list_have_no_line_over_80() {
    let house = full();
    for args in [&[][..], &["servers", "list"]] {
        let ran = pty::run(&house, 80, &[args, &["--quiet"]].concat(), &[]).exits(0);
        let plain = uncoloured(&ran.out);
        let rows: Vec<&str> = plain.lines().take_while(|line| !line.starts_with("error")).collect();
        assert!(5 < rows.len());
        for line in rows {
            assert!(line.chars().count() <= 80, "{} characters: {line:?}", line.chars().count());
        }
    }
    let empty = House::new();
    for line in uncoloured(&pty::run(&empty, 80, &[], &[]).exits(0).out).lines() {
        assert!(line.chars().count() <= 80, "{line:?}");
    }
}

#[test]
fn a_terminal_gets_colours() {
    let house = full();
    assert!(pty::run(&house, 80, &["servers", "list"], &[]).exits(0).out.contains('\u{1b}'));
    assert!(
        !pty::run(&house, 80, &["servers", "list", "--color", "never"], &[]).exits(0).out.contains('\u{1b}')
    );
}

#[test]
fn a_first_run_on_a_terminal_offers_an_import() {
    let house = House::new();
    house.put("home/.cursor/mcp.json", r#"{"mcpServers": {"one": {"command": "x"}}}"#);
    let no = pty::run(&house, 80, &[], &[Step::Shown("[y/N]", "n")]).exits(0);
    assert_eq!(no.err, "", "{}", no.out);
    assert_eq!(house.states(&[]), "one=found");
    let yes = pty::run(&house, 80, &[], &[Step::Shown("[y/N]", "y")]).exits(0);
    assert_eq!(yes.err, "", "{}", yes.out);
    assert_eq!(house.states(&[]), "one=used");
    let again = pty::run(&house, 80, &[], &[]).exits(0);
    assert!(!again.out.contains("[y/N]"), "{}", again.out);
}

#[test]
fn f55_the_overview_counts_missing_programs_and_doctor_names_what_is_unpinned() {
    let house = House::new();
    let entry = r#"{"mcpServers": {"a": {"command": "no-such-program"}, "b": {"command": "npx", "args": ["-y", "pkg"]}}}"#;
    house.put("kit/config/mcp.json", entry);
    let seen = house.run::<&str>(&[]).exits(0).out;
    assert!(seen.contains("1 error") || seen.contains("2 errors"), "{seen}");
    assert!(seen.contains("kitbag doctor"), "{seen}");
    let told = house.run(&["doctor"]).exits(3).err;
    assert!(told.contains("error[missing_program]: a: ") && told.contains("note[unpinned]"), "{told}");
    assert!(told.contains("b (pkg)"), "{told}");
}

#[test]
fn f55_a_code_can_be_looked_up_as_it_was_printed() {
    let house = House::new();
    let page = house.run(&["errors", "error[missing_program]"]).exits(0).out;
    assert!(page.contains("Cause") && page.contains("not installed"), "{page}");
    assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
    house.run(&["errors", "missing_progam"]).fails(5, "kitbag errors missing_program");
    house.run(&["--nonsense"]).fails(2, "error[usage]");
}
