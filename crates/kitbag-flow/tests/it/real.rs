//! The examples of Xircuits itself, compiled and run by it and by us.

use kitbag_flow::{CheckOptions, Drawing, Flow, Palette, Value};

use crate::scene::{example, file, lines, plain, printed, problems, really, really_alone};

async fn check(name: &str, arguments: &[(&str, &str)]) {
    let drawing = example(name);
    let ours = printed(&drawing, arguments).await;
    let real = tokio::task::block_in_place(|| really_alone(name, &drawing, arguments));
    assert_eq!(plain(&ours), real, "{name}");
}

#[tokio::test(flavor = "multi_thread")]
async fn hello_xircuits_prints_what_its_program_prints() {
    check("HelloXircuits", &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn argument_parameters_prints_what_its_program_prints() {
    check("ArgumentParameters", &[("str1", "Hello "), ("str2", "wörld")]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn controlflow_example_prints_what_its_program_prints() {
    check("ControlflowExample", &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn dynamic_ports_prints_what_its_program_prints() {
    check("DynamicPorts", &[]).await;
}

/// All values of Python that a drawing can hold, printed each way it can be.
#[tokio::test(flavor = "multi_thread")]
async fn values_are_spelled_as_python_spells_them() {
    let mut drawings = Vec::new();
    for (number, value) in values().into_iter().enumerate() {
        for printer in ["Print", "PrettyPrint"] {
            let mut drawing = Drawing::build("values");
            let text = drawing.then("ToString", [("obj", value.clone())]);
            drawing.then("Print", [("msg", value.clone())]);
            let shown = drawing.then(printer, []);
            drawing.connect((text, "string"), (shown, "msg"));
            drawing.output((text, "string"));
            drawings.push((format!("values_{number}_{printer}"), drawing.finish().unwrap()));
        }
        let mut drawing = Drawing::build("given");
        let list = drawing.then("ListAppend", [("item", value.clone())]);
        let json = drawing.then("ToJson", []);
        drawing.connect((list, "out_list"), (json, "obj"));
        drawing.then("PrettyPrint", [("msg", value)]);
        drawing.output((list, "out_list"));
        drawing.output((json, "json_str"));
        drawings.push((format!("given_{number}"), drawing.finish().unwrap()));
    }
    equal(&drawings).await;
}

pub(crate) async fn equal(drawings: &[(String, Drawing)]) {
    let real = tokio::task::block_in_place(|| really(drawings));
    for (name, drawing) in drawings {
        let ours = plain(&printed(drawing, &[]).await);
        assert_eq!(ours, real[name], "{name}:\n{}", drawing.text());
    }
}

fn values() -> Vec<Value> {
    let text = |text: &str| Value::from(text);
    let long = "a rather long sentence with 'quotes', \"more of them\", tabs\tand\nlines, again and again; "
        .repeat(3);
    let nested = serde_json::json!({
        "b": [1, 2.5, null, true, "x"], "a": {"deep": [[], {}, [{"k": "v"}]]}, "long": long,
        "list": (0..40).collect::<Vec<_>>(), "Z": "ünï\u{200b}cödé \u{1f600}",
    });
    vec![
        Value::from(0_i64),
        Value::from(-7_i64),
        Value::from(true),
        Value::from(1.0),
        Value::from(0.1),
        Value::from(1e16),
        Value::from(123_456_789_012_345.6),
        Value::from(1e-5),
        Value::from(0.0001),
        Value::from(-2.5e-300),
        text("plain"),
        text("it's"),
        text("\"both\" it's"),
        text("back\\slash \u{7f} \u{a0} \u{301} é \u{e000} \u{10ffff}"),
        text(&long),
        Value::of_json(&nested),
        Value::of_json(&serde_json::json!([nested, "tail"])),
        Value::Tuple([Value::from(1_i64)].into()),
        Value::Tuple([Value::from("a"), Value::None, Value::list([Value::from(2.0)])].into()),
    ]
}

#[test]
fn s0_26_all_six_examples_load() {
    for name in [
        "HelloXircuits",
        "ArgumentParameters",
        "ControlflowExample",
        "DynamicPorts",
        "agent_example",
        "AgentTemplate",
    ] {
        let drawing = example(name);
        let text = std::fs::read_to_string(file(&format!("{name}.xircuits"))).unwrap();
        assert_eq!(drawing.text(), text, "{name} is kept as it was");
    }
}

#[test]
fn s0_26_what_does_not_run_natively_is_named_with_its_library_and_place() {
    let problems = problems(&example("AgentTemplate"));
    let told = lines(&problems);
    for name in ["ConverseMakeServer", "ConverseRun", "ConverseDefineAgent", "ConverseEmitResponse"] {
        let word = format!("component {name} of library xai_converse does not run natively");
        assert!(told.contains(&word), "{name}: {told}");
    }
    let foreign = problems.iter().filter(|problem| problem.what.contains("does not run natively"));
    assert_eq!(foreign.count(), 4, "{told}");
    let server = problems.iter().find(|problem| problem.what.contains("ConverseMakeServer")).unwrap();
    let place = server.node.as_ref().unwrap();
    assert!(place.x != 0.0 && place.name == "ConverseMakeServer", "{place:?}");
}

#[test]
fn a_component_of_the_program_itself_takes_its_place_beside_the_others() {
    let options = CheckOptions { palette: Palette::native(), ..CheckOptions::default() };
    assert!(Flow::new(&example("HelloXircuits"), &options).is_ok());
}
