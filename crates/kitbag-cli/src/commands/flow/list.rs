//! `kitbag flow list`: the components that run natively.

use kitbag_flow::{Face, Palette, Shape};
use serde_json::{Value, json};

use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::terminal::{DIM, cell, lines, table};

pub(super) fn run(context: &mut Context) -> Result<Exit, Failure> {
    let palette = Palette::native();
    let mut faces: Vec<&Face> = palette.all().map(|component| component.face()).collect();
    faces.sort_by_key(|face| (face.library(), face.name));
    if context.global.json {
        context.print_json(&faces.iter().map(|face| as_json(face)).collect());
        return Ok(Exit::Done);
    }
    let mut rows = table();
    rows.set_header(["component", "library", "inputs", "outputs and branches", "what it does"]);
    for face in faces {
        let given: Vec<String> = face.outputs.iter().map(|name| (*name).to_owned()).collect();
        let ways = face.branches.iter().map(|name| format!("{name} ▶"));
        rows.add_row([
            cell(anstyle(), face.name),
            cell(DIM, face.library()),
            cell(anstyle(), inputs(face)),
            cell(anstyle(), given.into_iter().chain(ways).collect::<Vec<_>>().join(", ")),
            cell(DIM, face.about),
        ]);
    }
    context.print(lines(&rows));
    context.remark("★ compulsory · [] takes several values · ▶ leads to other nodes");
    Ok(Exit::Done)
}

fn anstyle() -> clap::builder::styling::Style {
    clap::builder::styling::Style::new()
}

fn inputs(face: &Face) -> String {
    let one = |input: &kitbag_flow::Input| {
        let star = if input.is_required { "★" } else { "" };
        let many = if input.shape == Shape::One { "" } else { "[]" };
        format!("{star}{}{many}", input.name)
    };
    face.inputs.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// `docs/json.md` describes it.
fn as_json(face: &Face) -> Value {
    let input = |input: &kitbag_flow::Input| {
        let shape = match input.shape {
            Shape::One => "one",
            Shape::List => "list",
            Shape::Tuple => "tuple",
        };
        json!({"name": input.name, "required": input.is_required, "shape": shape})
    };
    json!({
        "name": face.name, "library": face.library(), "path": face.path, "description": face.about,
        "starts": face.starts, "inputs": face.inputs.iter().map(input).collect::<Vec<_>>(),
        "outputs": face.outputs, "branches": face.branches,
    })
}
