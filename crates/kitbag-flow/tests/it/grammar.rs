//! Every row of the table of `TOOL: name args`, through a drawing.

use kitbag_flow::Drawing;

use crate::scene::{Stage, chat};

/// What a model writes; what of it stays in the conversation; what the tool was given, if it was called.
const ROWS: &[(&str, &str, Option<&str>)] = &[
    ("Let me see.\nTOOL: back hello\nand more", "Let me see.\nTOOL: back hello", Some("hello")),
    ("TOOL: back", "TOOL: back", Some("")),
    ("TOOL: back {\n  \"a\": 1\n}\nmore", "TOOL: back {\n  \"a\": 1\n}", Some("{\"a\":1}")),
    ("TOOL: back one\nTOOL: back two", "TOOL: back one", Some("one")),
    ("You can write TOOL: back x in a line.", "You can write TOOL: back x in a line.", None),
    ("  TOOL: back hello", "TOOL: back hello", Some("hello")),
    ("```\nTOOL: back hello\n```", "TOOL: back hello", Some("hello")),
    ("TOOL: back{\"a\":1}", "TOOL: back {\"a\":1}", Some("{\"a\":1}")),
    ("tool: back x", "tool: back x", None),
    ("Just an answer.", "Just an answer.", None),
];

#[tokio::test]
async fn s0_15_s0_16_s0_17_every_row_of_the_grammar_holds_through_a_drawing() {
    for (reply, kept, given) in ROWS {
        let stage = Stage::says(&[reply, "Done."]);
        let kit = stage.kit(&[]).await;
        let mut drawing = Drawing::build("x");
        let tool =
            drawing.start("AgentDefineTool", [("tool_name", "back".into()), ("description", "x".into())]);
        let print = drawing.then("Print", []);
        drawing.connect((tool, "tool_input"), (print, "msg"));
        drawing.after_start();
        let belt = drawing.then("AgentMakeToolbelt", []);
        let init = drawing.then(
            "AgentInit",
            [
                ("agent_name", "bot".into()),
                ("agent_provider", "openai".into()),
                ("agent_model", "scripted".into()),
                ("system_prompt", "{tools}".into()),
            ],
        );
        drawing.connect((belt, "toolbelt_spec"), (init, "toolbelt_spec"));
        let run = drawing.then("AgentRun", [("agent_name", "bot".into()), ("conversation", chat("go"))]);
        drawing.output((run, "last_response"));
        drawing.output((run, "out_conversation"));
        let done = stage.run(&drawing.finish().unwrap(), &kit).await.unwrap();
        let talk = done.values[1].to_json().unwrap();
        let said = talk[1]["content"].as_str().unwrap();
        assert!(said.trim().contains(kept) || said.trim() == *kept, "{reply:?}: {said:?}");
        match given {
            Some(given) => {
                assert_eq!(stage.printed.text(), format!("{given}\n"), "{reply:?}");
                // A tool that gives nothing is told as one that did.
                let told = talk[2]["content"].as_str().unwrap();
                assert!(told.starts_with("SYSTEM:\n") && 10 < told.len(), "{reply:?}: {told:?}");
                assert_eq!(done.values[0].text(), "Done.", "{reply:?}");
            }
            None => assert_eq!(
                (stage.printed.text().as_str(), done.values[0].text().as_str()),
                ("", *kept),
                "{reply:?}"
            ),
        }
        kit.close().await;
    }
}
