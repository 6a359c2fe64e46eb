//! The tools of the good server.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::server::Server;
use crate::wire::{self, Request, code};

mod ask;
mod plain;
mod timed;

pub(crate) use ask::{answered, questions};

/// One tool; its schema is written with `'` for `"`.
pub(crate) struct Tool {
    name: &'static str,
    about: &'static str,
    properties: &'static str,
    run: fn(&Arc<Server>, &Request<'_>) -> Done,
}

/// What became of a call.
pub(crate) enum Done {
    Answer(Vec<u8>),
    /// It was answered already, or will be.
    Elsewhere,
    BadArguments,
}

pub(crate) const TOOLS: &[Tool] = &[
    Tool {
        name: "echo",
        about: "Gives the message back",
        properties: "'message':{'type':'string'},'token':{'type':'string'}",
        run: plain::echo,
    },
    Tool {
        name: "add",
        about: "Adds two numbers",
        properties: "'a':{'type':'number'},'b':{'type':'number'}",
        run: plain::add,
    },
    Tool { name: "sleep", about: "Answers later", properties: "'ms':{'type':'integer'}", run: timed::sleep },
    Tool {
        name: "big",
        about: "A text of that many bytes",
        properties: "'bytes':{'type':'integer'}",
        run: plain::big,
    },
    Tool {
        name: "env",
        about: "The names of its environment, or the values of those asked for",
        properties: "'names':{'type':'array','items':{'type':'string'}}",
        run: plain::env,
    },
    Tool {
        name: "fds",
        about: "The file descriptors it inherited and those open now",
        properties: "",
        run: plain::fds,
    },
    Tool { name: "pid", about: "Its process id", properties: "", run: plain::pid },
    Tool {
        name: "count",
        about: "Leaves a trace in the events",
        properties: "'token':{'type':'string'}",
        run: plain::count,
    },
    Tool {
        name: "progress",
        about: "Reports progress n times, ms apart, then answers",
        properties: "'n':{'type':'integer'},'ms':{'type':'integer'}",
        run: timed::progress,
    },
    Tool {
        name: "slow_progress",
        about: "Reports progress 20 times, 250 ms apart, then answers",
        properties: "'n':{'type':'integer'},'ms':{'type':'integer'}",
        run: timed::slow_progress,
    },
    Tool {
        name: "log",
        about: "Sends n log messages, then answers",
        properties: "'n':{'type':'integer'}",
        run: timed::log,
    },
    Tool { name: "fail", about: "Fails as a tool", properties: "", run: plain::fail },
    Tool {
        name: "rpc_error",
        about: "Fails as a request",
        properties: "'code':{'type':'integer'}",
        run: plain::rpc_error,
    },
    Tool {
        name: "die",
        about: "Ends the server without an answer",
        properties: "'how':{'enum':['exit','kill','eof']}",
        run: plain::die,
    },
    Tool { name: "grow", about: "Adds a tool and says so", properties: "", run: plain::grow },
    Tool {
        name: "ask",
        about: "Asks the client and gives its answer back",
        properties: "'what':{'enum':['sampling','elicitation','roots']}",
        run: ask::ask,
    },
];

/// Tools that only fill lists; a call of one gives its name back.
const FILLING: &[&str] = &["extra_", "grown_", "page_", "many_"];

impl Tool {
    pub(crate) fn definition(&self) -> String {
        let Self { name, about, properties, .. } = self;
        format!(
            "{{'name':'{name}','description':'{about}','inputSchema':{{'type':'object','properties':\
             {{{properties}}}}}}}"
        )
        .replace('\'', "\"")
    }
}

pub(crate) fn call(server: &Arc<Server>, request: &Request<'_>) {
    let name = &*request.params.name;
    let done = match TOOLS.iter().find(|tool| tool.name == name) {
        Some(tool) => (tool.run)(server, request),
        None if FILLING.iter().any(|prefix| name.starts_with(prefix)) => {
            Done::Answer(wire::text_result(request.id, request.speech, &wire::quoted(name)))
        }
        None => Done::Answer(wire::error(request.id, code::BAD_PARAMS, &format!("unknown tool {name}"), "")),
    };
    match done {
        Done::Answer(line) => server.answer_call(&line),
        Done::Elsewhere => {}
        Done::BadArguments => {
            server.answer_call(&wire::error(request.id, code::BAD_PARAMS, "invalid arguments", ""));
        }
    }
}

/// The `token` argument of a call as a word, `-` without one.
pub(crate) fn token(request: &Request<'_>) -> String {
    #[derive(Deserialize)]
    struct Token<'a> {
        #[serde(borrow)]
        token: Option<&'a RawValue>,
    }
    let token = arguments::<Token<'_>>(request).and_then(|arguments| arguments.token);
    token.map_or_else(|| "-".to_owned(), wire::bare)
}

/// The arguments of a call; none are as good as an empty object.
fn arguments<'a, T: Deserialize<'a>>(request: &Request<'a>) -> Option<T> {
    serde_json::from_str(request.params.arguments.map_or("{}", |raw| raw.get())).ok()
}
