//! A string in pieces, as if it were typed.

use std::future::ready;

use super::AGENT;
use crate::BoxFuture;
use crate::component::{Call, Component, Face, Input, Next};
use crate::raised::Raised;
use crate::value::Value;

/// A word of more characters comes in pairs of them.
const LONG: usize = 10;

pub(super) struct AgentStreamStringResponse;

impl Component for AgentStreamStringResponse {
    fn face(&self) -> &Face {
        const FACE: Face = Face {
            inputs: &[Input::required("input_str")],
            outputs: &["result_stream"],
            ..Face::new("AgentStreamStringResponse", AGENT, "A string in pieces, which ForEach goes through")
        };
        &FACE
    }

    fn run<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Next, Raised>> {
        let done =
            call.text("input_str").and_then(|text| call.set("result_stream", Value::list(pieces(&text))));
        Box::pin(ready(done.map(|()| Next::Follow)))
    }
}

fn pieces(text: &str) -> Vec<Value> {
    let mut pieces = Vec::new();
    for (place, word) in text.split(' ').enumerate() {
        if 0 < place {
            pieces.push(Value::from(" "));
        }
        let letters: Vec<char> = word.chars().collect();
        let size = if LONG < letters.len() { 2 } else { letters.len().max(1) };
        pieces.extend(letters.chunks(size).map(|piece| Value::from(piece.iter().collect::<String>())));
    }
    pieces
}
