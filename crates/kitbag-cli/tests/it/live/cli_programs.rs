//! `kitbag run` with any program as its agent: what it is given, what counts as its answer, and how it ends.

use std::process::{Command, Stdio};

use testkit::{PATIENCE, proc, wait_until};

use super::Farm;
use crate::house::{BINARY, Ran, Runs as _};

/// An agent that is a script of the shell.
fn agent(farm: &Farm, script: &str, rest: &str) {
    let file = farm.house.put("agent.sh", script);
    let file = file.to_str().unwrap();
    farm.settings(&format!("[agents.mine]\ncommand = ['sh', '{file}', '{{mcp_config}}']\n{rest}\n"));
}

#[track_caller]
fn run(farm: &Farm, args: &[&str]) -> Ran {
    let ran = farm.house.run(&[&["run", "--agent", "mine"], args].concat());
    nothing_is_left(farm);
    ran
}

#[track_caller]
fn nothing_is_left(farm: &Farm) {
    let processes = || proc::with_env_marker("HOME", &farm.house.at("home"));
    assert!(wait_until(PATIENCE, || processes().is_empty()), "left behind: {:?}", processes());
    farm.is_empty();
}

#[test]
fn s2_9_a_program_is_told_its_instruction_the_message_and_the_tools_in_user_form() {
    let farm = Farm::of("mem-agent", &[]);
    agent(&farm, "cat", "instruction = 'Work.'\nallow = ['mem-agent/add']");
    let told = run(&farm, &["Do it"]).exits(0).out;
    let (prompt, description) = told.split_once("\n\n---\n\n").unwrap();
    assert_eq!(prompt, "Work.\n\nDo it");
    assert!(description.starts_with("# Available MCP Tools\n"), "{description}");
    assert!(description.contains("### mem_agent_add\n") && !description.contains("echo"), "{description}");
    // Without tools nothing is said of them.
    agent(&farm, "cat", "allow = []");
    assert_eq!(run(&farm, &["Do it"]).exits(0).out, "Do it\n");
}

#[test]
fn s2_19_a_program_has_the_tools_of_its_agent_and_nothing_else() {
    let farm = Farm::of("x", &[]);
    farm.add("y", &[]);
    let script = format!(
        "cat > /dev/null\nkitbag() {{ '{BINARY}' \"$@\" 2>> err; echo \"exit $?\"; }}\n\
         kitbag call x_add a=2 b=40 --config \"$1\"\n\
         kitbag call y_count token=never --config \"$1\"\n\
         sed 's,/mcp?,/mcp/s/y?,' \"$1\" > other.json\n\
         kitbag call y_count token=never --config other.json\n\
         sed 's,Bearer,Basic,' \"$1\" > other.json\n\
         kitbag call x_add a=2 b=40 --config other.json\n\
         rm other.json\n\
         test \"$KITBAG_MCP_CONFIG\" = \"$1\" && stat -c '%a %n' \"$1\" \"${{1%/*}}\" | sed 's, /.*,,'\n\
         grep -c \"$KITBAG_TOKEN\" \"$1\"\necho \"$KITBAG_TOKEN\" >&2\n"
    );
    agent(&farm, &script, "allow = ['x/*']");
    let ran = run(&farm, &["Go", "--verbose"]).exits(0);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines[..2], ["42", "exit 0"], "{ran:?} {}", farm.house.text("project/err"));
    assert_eq!(lines[2..4], ["exit 5", "exit 5"], "{ran:?}");
    // Who does not bring the token is not let in.
    assert!(lines[4].starts_with("exit ") && lines[4] != "exit 0", "{ran:?}");
    assert_eq!(lines[5..], ["600", "700", "1"], "{ran:?}");
    assert_eq!(farm.events("y", "exec never"), Vec::<String>::new());
    assert!(!ran.all().contains("kb_"), "{ran:?}");
}

#[test]
fn s2_21_what_a_program_says_beside_is_told_where_it_fails() {
    let farm = Farm::new();
    agent(&farm, "echo half; echo 'no money left' >&2; exit 3", "");
    run(&farm, &["Go"]).fails(11, "failed with exit code 3: no money left");
    agent(&farm, "exit 3", "");
    run(&farm, &["Go"]).fails(11, "failed with exit code 3: it said nothing");
    agent(&farm, "echo 'odd' >&2", "");
    run(&farm, &["Go"]).fails(11, "gave no answer; it said: odd");
    agent(&farm, "echo answer; echo 'a remark' >&2", "");
    let ran = run(&farm, &["Go"]).exits(0);
    assert_eq!(ran.out, "answer\n");
    assert!(!ran.err.contains("a remark"), "{}", ran.err);
}

#[test]
fn s2_21_a_program_that_is_missing_is_named_with_how_to_install_it() {
    let farm = Farm::new();
    for (word, package) in [
        ("claude", "@anthropic-ai/claude-code"),
        ("codex", "@openai/codex"),
        ("gemini", "@google/gemini-cli"),
        ("qwen", "@qwen-code/qwen-code"),
    ] {
        let run = farm.house.ask(&["run", "--agent", word, "Hello"]).env("PATH", "/nowhere").run();
        let ran = run.fails(2, &format!("\"{word}\" cannot be found"));
        assert!(ran.err.contains(&format!("npm install -g {package}")), "{}", ran.err);
    }
    farm.settings("[agents.mine]\ncommand = ['no-such-program']\n");
    run(&farm, &["Go"]).fails(2, "\"no-such-program\" cannot be found");
    farm.house.run(&["run", "--agent", "mine", "--conversation", "new", "Go"]).fails(2, "--conversation");
    run(&farm, &["Go", "--max-steps", "3"]).fails(2, "no-such-program");
    farm.settings("[agents.mine]\ncommand = ['true']\n");
    run(&farm, &["Go", "--max-steps", "3"]).fails(2, "no limit of steps");
}

/// A program that goes on, with a child that left its group and does not care for signals.
const STUBBORN: &str = "trap '' TERM INT HUP\nsetsid sh -c 'trap \"\" TERM; echo > up; sleep 600; sleep 600' &\n\
                        while :; do sleep 600; done\n";

#[test]
fn s2_21_a_program_that_takes_too_long_is_ended_with_all_it_started() {
    let farm = Farm::new();
    agent(&farm, STUBBORN, "[limits]\nagent_program = '3s'");
    run(&farm, &["Go"]).fails(8, "was ended after 3s");
    assert!(farm.house.path("project/up").exists(), "it had a child");
}

#[test]
fn s2_21_an_interrupt_ends_a_program_with_all_it_started() {
    let farm = Farm::new();
    agent(&farm, STUBBORN, "");
    let mut command = farm.house.ask(&["run", "--agent", "mine", "Go"]).command();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    assert!(wait_until(PATIENCE, || farm.house.path("project/up").exists()), "it has a child");
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    nothing_is_left(&farm);
}

#[test]
fn an_agent_of_the_settings_may_be_a_program_that_gets_variables_by_name() {
    let farm = Farm::new();
    let run = |env_pass: &str| {
        agent(&farm, "echo \"${MY_KEY:-none} ${OTHER:-none}\"", env_pass);
        let run = farm.house.ask(&["run", "--agent", "mine", "Go"]);
        run.env("MY_KEY", "mine").env("OTHER", "theirs").run().exits(0).out
    };
    assert_eq!(run(""), "none none\n");
    assert_eq!(run("env_pass = ['MY_KEY']"), "mine none\n");
    assert_eq!(run("env_pass = 'all'"), "mine theirs\n");
    farm.settings("[agents.mine]\n");
    farm.house.run(&["run", "--agent", "mine", "Go"]).fails(11, "set OPENAI_API_KEY");
}
