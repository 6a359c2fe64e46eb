//! f2 on the command line: who may answer for a call that needs approval by a person, and whom a restriction that nothing
//! enforces yet denies.

use crate::house::{Ran, Runs as _};
use crate::pty::{self, Step};

use super::Farm;

#[test]
fn f2_with_nobody_at_a_terminal_a_call_that_needs_a_yes_is_denied() {
    let farm = Farm::of("x", &[]);
    farm.settings("[servers.x]\napprove = ['echo']\n");
    farm.house.run(&["call", "x/echo", "message=hi"]).fails(6, "approval");
    let answer = farm.house.run(&["call", "x/echo", "message=hi", "--json"]).exits(6).json();
    assert_eq!(answer["kind"], "approval_denied", "{answer}");
    farm.house.run(&["call", "x/add", "a=1", "b=2"]).exits(0);
    assert_eq!(farm.count("x", "call echo"), 0);
    farm.is_empty();
}

/// What one user sees and can call by the command line.
#[track_caller]
fn has_tools(farm: &Farm, name: &str, some: bool) {
    let code = if some { 0 } else { 3 };
    let user: &[&str] = if name == "local" { &[] } else { &["--user", name] };
    let before = farm.count("x", "call echo");
    let tools = farm.house.run(&[&["tools", "--json"], user].concat()).exits(code);
    let names: Vec<String> = tools
        .json()
        .as_array()
        .unwrap_or_else(|| panic!("{tools:?}"))
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names.iter().any(|tool| tool.starts_with("mcp_")), some, "{name}: {names:?}");
    let called = farm.house.run(&[&["call", "x/echo", "message=hi"], user].concat()).exits(code);
    assert_eq!(farm.count("x", "call echo") - before, usize::from(some), "{name}: {called:?}");
    if !some {
        for ran in [&tools, &called] {
            assert!(ran.err.contains("kitbag.toml:"), "{name}: {}", ran.err);
            assert!(ran.err.contains("not supported yet"), "{name}: {}", ran.err);
        }
    }
}

#[test]
fn f2_groups_that_nothing_enforces_yet_deny_their_members_alone_in_commands() {
    let farm = Farm::of("x", &[]);
    farm.settings("[users.ada]\ngroups = ['dev']\n[users.bob]\n");
    has_tools(&farm, "ada", false);
    has_tools(&farm, "bob", true);
    has_tools(&farm, "local", true);
    farm.settings("[groups.local]\ndeny = ['x/die']\n[users.bob]\n");
    has_tools(&farm, "local", false);
    has_tools(&farm, "bob", true);
}

/// A farm whose `echo` needs a yes, and a call of it on a terminal.
fn at_terminal(settings: &str, steps: &[Step<'_>]) -> (Farm, Ran) {
    let farm = Farm::of("x", &[]);
    farm.settings(&format!("{settings}\n[servers.x]\napprove = ['echo']\n"));
    let ran = pty::run(&farm.house, 100, &["call", "x/echo", "message=hi"], steps);
    assert!(!ran.err.contains("gave up waiting") && !ran.err.contains("never asked"), "{ran:?}");
    farm.is_empty();
    (farm, ran)
}

#[test]
fn f2_only_a_yes_at_the_terminal_is_one() {
    for (answer, is_yes) in
        [("y", true), ("Y", true), ("yes", true), ("", false), ("n", false), ("yy", false), ("ok", false)]
    {
        let (farm, ran) = at_terminal("", &[Step::Shown("[y/N]", answer)]);
        assert_eq!(ran.code, Some(if is_yes { 0 } else { 6 }), "{answer:?}: {ran:?}");
        assert_eq!(farm.count("x", "call echo"), usize::from(is_yes), "{answer:?}");
    }
}

/// Nobody has to answer to get out of a question.
#[test]
fn f2_a_question_at_the_terminal_ends_by_interrupt_and_by_the_clock() {
    let (farm, ran) = at_terminal("", &[Step::Key("[y/N]", '\u{3}')]);
    assert_eq!(ran.code, Some(130), "{ran:?}");
    assert_eq!(farm.count("x", "call echo"), 0);
    let (farm, ran) = at_terminal("[limits]\nwait_total = '1s'", &[]);
    assert!(ran.out.contains("[y/N]"), "{ran:?}");
    assert_eq!(ran.code, Some(6), "{ran:?}");
    assert_eq!(farm.count("x", "call echo"), 0);
}
