//! `kitbag chat` as a person has it: on a real terminal, and with lines from a pipe.

use serde_json::{Value, json};
use testkit::FakeModel;

use super::Farm;
use super::cli_run::{calls, says, with};
use crate::house::{Ran, Runs as _};
use crate::pty::{self, Step, uncoloured};

/// What a terminal is told when a line begins to be edited.
const PROMPT: &str = "\u{1b}[?2004h";
const UP: &str = "\u{1b}[A";
const LEFT: &str = "\u{1b}[D";
const CTRL_C: &str = "\u{3}";
const CTRL_D: &str = "\u{4}";

/// A chat on a terminal of 80 columns. Every step must have been asked for.
#[track_caller]
fn on_terminal(
    farm: &Farm,
    model: &FakeModel,
    args: &[&str],
    env: &[(&str, &str)],
    steps: &[Step<'_>],
) -> Ran {
    let base = format!("{}/v1", model.url());
    let own = [("OPENAI_BASE_URL", base.as_str()), ("OPENAI_MODEL", "scripted")];
    let args = [&["chat"], args].concat();
    let ran = pty::run_env(&farm.house, 80, &args, steps, &[&own, env].concat());
    assert_eq!(ran.err, "", "{}", ran.out);
    ran
}

/// The messages of a request, the system's left out.
fn messages(body: &Value) -> Vec<String> {
    let all = body["messages"].as_array().unwrap().iter();
    let said = all.filter(|message| message["role"] != "system").map(|message| message["content"].clone());
    said.map(|content| content.as_str().map_or_else(|| content.to_string(), str::to_owned)).collect()
}

#[test]
fn s4_17_a_line_is_edited_and_comes_again_by_the_arrow_keys() {
    let farm = Farm::new();
    let model = FakeModel::start(&json!({"turns": [says("First."), says("Second."), says("Third.")]}));
    let edit = format!("helo{LEFT}l\n");
    let again = format!("{UP}\n");
    let half = format!("half a line{CTRL_C}");
    let steps = [
        Step::Keys(PROMPT, &edit),
        Step::Keys(PROMPT, &again),
        // What is half typed is dropped, and the chat goes on.
        Step::Keys(PROMPT, &half),
        Step::Keys(PROMPT, "/he\t\n"),
        Step::Keys(PROMPT, "third\n"),
        Step::Keys(PROMPT, CTRL_D),
    ];
    let ran = on_terminal(&farm, &model, &[], &[], &steps).exits(0);
    let sent = messages(model.bodies().last().unwrap());
    assert_eq!(sent, ["hello", "First.", "hello", "Second.", "third"]);
    let seen = uncoloured(&ran.out);
    assert!(seen.contains("end the chat"), "Tab did not complete /help: {seen}");
}

#[test]
fn s4_17_an_interrupt_cancels_an_answer_and_the_chat_goes_on() {
    let farm = Farm::of("x", &[]);
    let slow = json!({"text": ["Well, it"], "hold": "middle"});
    let sleeps = calls(&[("sleep", json!({"ms": 600_000}))]);
    let model = FakeModel::start(&json!({"turns": [slow, sleeps, says("Here.")]}));
    let steps = [
        Step::Keys(PROMPT, "one\n"),
        Step::Keys("Well, it", CTRL_C),
        Step::Keys(PROMPT, "two\n"),
        Step::Keys("calls sleep", CTRL_C),
        Step::Keys(PROMPT, "three\n"),
        Step::Keys(PROMPT, "/quit\n"),
    ];
    let ran = on_terminal(&farm, &model, &[], &[], &steps).exits(0);
    assert_eq!(ran.out.matches("cancelled; the conversation goes on").count(), 2, "{}", ran.out);
    let last = model.bodies().pop().unwrap();
    let sent = messages(&last);
    assert_eq!((sent[0].as_str(), sent[1].as_str()), ("one", "two"), "{sent:?}");
    assert!(sent.iter().any(|said| said.contains("cancelled by the user")), "{sent:?}");
    assert_eq!(sent.last().unwrap(), "three");
    farm.is_empty();
}

#[test]
fn s4_17_a_call_that_needs_a_yes_is_asked_about_in_the_chat() {
    let farm = Farm::of("x", &[]);
    farm.settings("[servers.x]\napprove = ['echo']\n");
    let call = || calls(&[("echo", json!({"message": "hi"})), ("add", json!({"a": 1, "b": 2}))]);
    let turns = [call(), says("No."), call(), says("Yes."), call(), says("Not any more.")];
    let model = FakeModel::start(&json!({"turns": turns}));
    let steps = [
        Step::Keys(PROMPT, "one\n"),
        Step::Keys(PROMPT, "n\n"),
        Step::Keys(PROMPT, "two\n"),
        Step::Keys(PROMPT, "y\n"),
        Step::Keys(PROMPT, "three\n"),
        // An interrupt is a no, and ends the answer.
        Step::Keys(PROMPT, CTRL_C),
        // An answer is no message that comes again.
        Step::Keys(PROMPT, &format!("{UP}{UP}\n")),
        Step::Keys(PROMPT, CTRL_D),
    ];
    let ran = on_terminal(&farm, &model, &[], &[], &steps).exits(0);
    let seen = uncoloured(&ran.out);
    assert!(seen.contains(r#"x/echo {"message":"hi"} needs your approval"#), "{seen}");
    assert_eq!(farm.count("x", "call echo"), 1, "{seen}");
    assert_eq!(seen.matches("cancelled; the conversation goes on").count(), 1, "{seen}");
    let bodies = model.bodies();
    assert!(bodies[1].to_string().contains("approval"), "{}", bodies[1]);
    assert_eq!(messages(bodies.last().unwrap()).last().unwrap(), "two");
    farm.is_empty();
}

#[test]
fn s4_17_markdown_is_painted_and_nothing_of_a_model_or_a_tool_is_obeyed_by_the_terminal() {
    let farm = Farm::of("x", &[]);
    let evil = "\u{1b}]0;planted\u{7}\u{1b}[2J\u{202e}";
    let text = json!([
        "# Ti",
        "tle\n\n- one **bo",
        "ld** word and `code`\n",
        format!("{evil}\n```\n"),
        "**raw**\n",
        "```\n",
        "a line that is longer than the eighty columns which this terminal has, so that it is broken between words\n",
    ]);
    let fails = calls(&[("echo", json!({"massage": evil}))]);
    let reply = json!({"reasoning": ["thinking", evil], "text": text});
    let model = FakeModel::start(&json!({"turns": [fails, reply, says("Bye.")]}));
    let steps = [Step::Keys(PROMPT, "go\n"), Step::Keys(PROMPT, "/quit\n")];
    let ran = on_terminal(&farm, &model, &[], &[], &steps).exits(0);
    let seen = uncoloured(&ran.out);
    assert!(seen.contains("• one bold word and code\n"), "{seen}");
    assert!(seen.contains("**raw**\n") && ran.out.contains("\u{1b}[1m"), "{seen}");
    assert!(seen.contains("thinking: thinking"), "{seen}");
    for controls in ["\u{1b}]0;", "\u{1b}[2J", "\u{7}", "\u{202e}"] {
        assert!(!ran.out.contains(controls), "{controls:?} in {:?}", ran.out);
    }
    // What a line is overwritten with comes after a carriage return.
    let lines = seen.lines().map(|line| line.rsplit('\r').next().unwrap());
    let long: Vec<&str> =
        lines.filter(|line| 80 < line.chars().count() && !line.contains("massage")).collect();
    assert!(long.is_empty(), "{long:#?}");
    // Without colours it is the same text.
    let model = FakeModel::start(&json!({"turns": [{"text": ["**bold**\n"]}]}));
    let ran = on_terminal(&farm, &model, &["--quiet"], &[("NO_COLOR", "1")], &steps).exits(0);
    assert!(
        ran.out.contains("bold") && !ran.out.contains("\u{1b}[1m") && !ran.out.contains("**"),
        "{}",
        ran.out
    );
    farm.is_empty();
}

#[test]
fn s4_17_commands_of_a_chat_are_obeyed_and_bad_use_is_told_what_to_type() {
    let farm = Farm::of("x", &[]);
    farm.enter("gone", json!({"url": "http://127.0.0.1:9/mcp"}));
    farm.settings("[servers.x]\nexclude = ['die']\n");
    let model = FakeModel::start(&json!({"turns": [says("One."), says("Two.")]}));
    let lines = "/save\none\n/tools\n/servers\n/why add\n/why x/die\n/why nosuch\n/model\n/model gpt\n/model openai/second\n\
                 two\n/cost\n/why\n/tools all\n/toosl\n/help\n/save talk.txt\n/save talk.md\n/save talk.md\n/save talk.json\n";
    let ran = with(&farm, &model, &["chat", "--quiet"]).input(lines).run().exits(0);
    assert_eq!(ran.out, "One.\nTwo.\n", "{}", ran.err);
    let err: String =
        ran.err.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect();
    for told in [
        "nothing was said yet",
        "\necho ",
        "\ngone ",
        "Connection refused",
        "\nx ready",
        "callable as add\n",
        "not callable\n",
        "excluded by its server's exclude list",
        "no tool is called \"nosuch\"",
        "\nopenai/scripted at http",
        "\"gpt\" (/model) is not a model: write <provider>/<name>",
        "\nopenai/second at http",
        "\n1 openai/scripted 5 0 2 -\n",
        "\n2 openai/second 5 0 2 -\n",
        "\nall 10 0 4 -\n",
        "[prices.\"openai/second\"]",
        "type /why TOOL",
        "type /tools",
        "did you mean /tools?",
        "/save [FILE] write the conversation",
        "\"talk.txt\" ends in neither .md nor .json",
        "try: /save NAME.md or /save NAME.json",
        "talk.md exists already",
    ] {
        assert!(err.contains(told), "no {told:?} in {err}");
    }
    assert_eq!(model.bodies()[1]["model"], "second");
    let read = |name: &str| std::fs::read_to_string(farm.house.path("project").join(name)).unwrap();
    assert!(
        read("talk.md").contains("## User\n\none\n\n## openai/scripted\n\nOne.\n"),
        "{}",
        read("talk.md")
    );
    let saved: Value = serde_json::from_str(&read("talk.json")).unwrap();
    assert_eq!(saved["messages"][3]["model"], "openai/second", "{saved}");
    farm.is_empty();
}

#[test]
fn s4_17_a_chat_in_json_has_an_object_for_each_answer() {
    let farm = Farm::of("x", &[]);
    farm.settings("[prices.'openai/scripted']\ninput = 1000\noutput = 2000\n");
    let turn = calls(&[("add", json!({"a": 2, "b": 40}))]);
    let model =
        FakeModel::start(&json!({"turns": [turn, says("It is 42."), {"status": 400, "error": "no"}]}));
    let ran = with(&farm, &model, &["chat", "--json"]).input("one\n/tools\n/cost\ntwo\n").run().exits(0);
    let said = ran.json();
    assert_eq!((&said["answer"], &said["tools"]), (&json!("It is 42."), &json!(["add"])));
    // (7 + 5) tokens in and (3 + 2) out.
    assert_eq!((&said["usage"]["input"], &said["cost_usd"]), (&json!(12), &json!(0.022)));
    let told: Vec<Value> = ran.err.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let has = |key: &str| told.iter().find(|line| line.get(key).is_some()).unwrap()[key].clone();
    assert!(has("tools").as_array().unwrap().contains(&json!("add")));
    assert_eq!(has("cost")[0]["cost_usd"], json!(0.022));
    assert!(has("error").as_str().unwrap().contains("400"));
    farm.is_empty();
}

#[test]
fn what_a_message_cost_is_told_on_request_also_when_it_has_no_answer() {
    let farm = Farm::of("x", &[]);
    farm.settings("[prices.'openai/scripted']\ninput = 1000\ncached = 1\noutput = 2000\n");
    let turn = calls(&[("add", json!({"a": 2, "b": 40}))]);
    let model = FakeModel::start(&json!({"turns": [says("Hi."), turn, {"status": 400, "error": "no"}]}));
    let ran = with(&farm, &model, &["run", "--usage", "Hello"]).run().exits(0);
    assert!(ran.err.contains("tokens: 5 in (0 cached), 2 out, $0.009\n"), "{}", ran.err);
    let ran = with(&farm, &model, &["run", "--usage", "Hello"]).run().exits(11);
    assert!(ran.err.contains("tokens: 7 in (0 cached), 3 out, $0.013\n"), "{}", ran.err);
    farm.settings("");
    let model = FakeModel::start(&json!({"turns": [says("Hi.")]}));
    let ran = with(&farm, &model, &["chat", "--usage"]).input("Hello\n").run().exits(0);
    assert!(ran.err.contains("tokens: 5 in (0 cached), 2 out\n"), "{}", ran.err);
    let ran = with(&farm, &model, &["run", "Hello", "--json"]).run().exits(0);
    assert_eq!(ran.json()["cost_usd"], Value::Null);
    assert!(!ran.err.contains("tokens"), "{}", ran.err);
    // Nobody counted what was never answered.
    let model = FakeModel::start(&json!({"turns": [{"status": 400, "error": "no"}]}));
    let ran = with(&farm, &model, &["run", "--usage", "Hello"]).run().exits(11);
    assert!(!ran.err.contains("tokens"), "{}", ran.err);
    farm.is_empty();
}

#[test]
fn a_chat_in_which_nothing_was_said_is_not_kept() {
    let farm = Farm::new();
    let model = FakeModel::start(&json!({"turns": [says("Hi.")]}));
    with(&farm, &model, &["chat"]).input("/help\n").run().exits(0);
    assert_eq!(farm.house.run(&["conversations", "--json"]).exits(0).json(), json!([]));
    with(&farm, &model, &["chat"]).input("Hello\n").run().exits(0);
    assert_eq!(farm.house.run(&["conversations", "--json"]).exits(0).json().as_array().unwrap().len(), 1);
}
