//! Key and address of the API of OpenAI, or of what speaks like it.

use std::future::ready;

use super::{OPENAI, drive};
use crate::BoxFuture;
use crate::component::{Call, Component, Face, Input, Next};
use crate::raised::Raised;

pub(super) struct OpenAiAuthorize;

impl Component for OpenAiAuthorize {
    fn face(&self) -> &Face {
        const FACE: Face = Face {
            inputs: &[
                Input::optional("organization"),
                Input::optional("base_url"),
                Input::optional("api_key"),
                Input::optional("from_env"),
            ],
            ..Face::new("OpenAIAuthorize", OPENAI, "Key and address of the API of OpenAI")
        };
        &FACE
    }

    fn run<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Next, Raised>> {
        Box::pin(ready(authorize(call).map(|()| Next::Follow)))
    }
}

fn authorize(call: &Call) -> Result<(), Raised> {
    let given = |port: &str| -> Result<Option<String>, Raised> {
        Ok(if call.get(port)?.truth() { Some(call.text(port)?) } else { None })
    };
    // Without a key of its own the one of the environment counts.
    let key = if call.get("from_env")?.truth() { None } else { given("api_key")? };
    call.context().set(drive::CLIENT, drive::client(key, given("base_url")?));
    Ok(())
}
