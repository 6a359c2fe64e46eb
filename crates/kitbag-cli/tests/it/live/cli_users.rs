//! Who sees, hears and runs what on the command line: users, agents, folders.

use serde_json::json;

use super::Farm;
use crate::house::Runs as _;

#[test]
fn f8_users_whose_names_differ_by_case_have_logs_of_their_own() {
    let farm = Farm::of("x", &[]);
    farm.settings("[users.ada]\n[users.Ada]\n[users.ADA]\n[servers.x]\nper_user = true\n");
    for (number, name) in ["ada", "Ada", "ADA"].into_iter().enumerate() {
        let calls = ["call", "x/echo", "message=hi", "--user", name];
        (0..=number).for_each(|_| drop(farm.house.run(&calls).exits(0)));
    }
    for (number, name) in ["ada", "Ada", "ADA"].into_iter().enumerate() {
        let log = farm.house.run(&["logs", "x", "--user", name]).exits(0).out;
        assert_eq!(log.matches("call echo ok ").count(), number + 1, "{name}: {log}");
    }
    farm.is_empty();
}

/// A file that cannot be read may have switched off the server it is named after.
#[test]
fn f3_a_users_file_that_cannot_be_read_opens_nothing_in_a_command() {
    let farm = Farm::of("x", &[]);
    farm.add("y", &[]);
    let whole = json!({"name": "x", "enabled": false}).to_string();
    farm.house.put("kit/config/servers/user_ada/x.json", &whole[..whole.len() / 2]);
    farm.house.run(&["tools", "x", "--user", "ada"]).exits(3);
    // Another user's are another's.
    farm.house.run(&["tools", "x"]).exits(0);
    farm.is_empty();
}

#[test]
fn f20_an_agent_hears_nothing_in_a_command_of_servers_it_may_not_see() {
    let farm = Farm::of("x", &[]);
    farm.add_with("hidden-payroll", &["--stderr", "STDERR-CANARY", "--fault", "s09"], &json!({}));
    farm.settings("[agents.b]\nallow = ['x/*']\n[agents.c]\nservers = ['x']\n");
    for agent in ["b", "c"] {
        let ran = farm.house.run(&["call", "nothing", "--agent", agent, "--wait", "60s"]);
        assert_ne!(ran.code, Some(0));
        assert!(!ran.all().contains("payroll") && !ran.all().contains("CANARY"), "{agent}: {}", ran.all());
    }
}

#[test]
fn f15_settings_are_shown_as_they_are_now() {
    let farm = Farm::of("x", &[]);
    farm.house.put("project/kitbag.toml", "[servers.x]\nexclude = ['die']\n");
    farm.house.run(&["trust", "kitbag.toml"]).exits(0);
    farm.house.put("project/kitbag.toml", "[servers.x]\ninclude = ['die']\n");
    let shown = farm.house.run(&["trust"]).exits(0);
    assert!(shown.out.contains("include") && !shown.out.contains("exclude"), "{}", shown.out);
}

#[test]
fn f16_a_program_of_the_working_folder_is_not_found_by_a_command() {
    let farm = Farm::new();
    std::fs::copy(testkit::bin("fake-mcp"), farm.house.path("project/tool")).unwrap();
    farm.add_with("x", &[], &json!({"command": "tool"}));
    for path in ["", ":."] {
        let ran = farm.house.ask(&["call", "x/echo", "message=hi"]).env("PATH", path).run();
        assert_eq!((ran.code, farm.count("x", "start")), (Some(4), 0), "PATH={path:?}: {ran:?}");
    }
}

#[test]
fn f82_a_line_on_stderr_that_does_not_end_is_shown_by_logs() {
    let farm = Farm::new();
    farm.add_with("x", &["--fault", "s04:8,line"], &json!({"env": {"FAKE_SECRET": "planted-5ecret"}}));
    farm.house.run(&["call", "x/add", "a=2", "b=3"]).exits(0);
    let logs = farm.house.run(&["logs", "x"]).exits(0).out;
    assert!(logs.contains("Z the first words ...") && !logs.contains("planted"), "{logs}");
    farm.is_empty();
}
