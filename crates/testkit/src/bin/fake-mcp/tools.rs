//! The tools of the good server.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::server::Server;
use crate::wire::{self, Request, code};

mod ask;
mod content;
mod interview;
mod plain;
mod raw;
mod timed;

pub(crate) use ask::{answered, questions};
pub(crate) use content::PNG;
pub(crate) use interview::{Interview, is_of};
pub(crate) use raw::echoed;

/// One tool; its schema is written with `'` for `"`.
pub(crate) struct Tool {
    name: &'static str,
    about: &'static str,
    properties: &'static str,
    /// Further members of the definition, each with a comma before it.
    more: &'static str,
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
        more: "",
        run: plain::echo,
    },
    Tool {
        name: "add",
        about: "Adds two numbers",
        properties: "'a':{'type':'number'},'b':{'type':'number'}",
        more: "",
        run: plain::add,
    },
    Tool {
        name: "sleep",
        about: "Answers later",
        properties: "'ms':{'type':'integer'}",
        more: "",
        run: timed::sleep,
    },
    Tool {
        name: "big",
        about: "A text of that many bytes",
        properties: "'bytes':{'type':'integer'}",
        more: "",
        run: plain::big,
    },
    Tool {
        name: "env",
        about: "The names of its environment, or the values of those asked for",
        properties: "'names':{'type':'array','items':{'type':'string'}}",
        more: "",
        run: plain::env,
    },
    Tool {
        name: "fds",
        about: "The file descriptors it inherited and those open now",
        properties: "",
        more: "",
        run: plain::fds,
    },
    Tool { name: "pid", about: "Its process id", properties: "", more: "", run: plain::pid },
    Tool {
        name: "count",
        about: "Leaves a trace in the events",
        properties: "'token':{'type':'string'}",
        more: "",
        run: plain::count,
    },
    Tool {
        name: "progress",
        about: "Reports progress n times, ms apart, then answers",
        properties: "'n':{'type':'integer'},'ms':{'type':'integer'}",
        more: "",
        run: timed::progress,
    },
    Tool {
        name: "slow_progress",
        about: "Reports progress 20 times, 250 ms apart, then answers",
        properties: "'n':{'type':'integer'},'ms':{'type':'integer'}",
        more: "",
        run: timed::slow_progress,
    },
    Tool {
        name: "log",
        about: "Sends n log messages, then answers",
        properties: "'n':{'type':'integer'}",
        more: "",
        run: timed::log,
    },
    Tool { name: "fail", about: "Fails as a tool", properties: "", more: "", run: plain::fail },
    Tool {
        name: "rpc_error",
        about: "Fails as a request",
        properties: "'code':{'type':'integer'}",
        more: "",
        run: plain::rpc_error,
    },
    Tool {
        name: "die",
        about: "Ends the server without an answer",
        properties: "'how':{'enum':['exit','kill','eof']}",
        more: "",
        run: plain::die,
    },
    Tool { name: "grow", about: "Adds a tool and says so", properties: "", more: "", run: plain::grow },
    Tool {
        name: "ask",
        about: "Asks the client, after ms if that is given, and gives its answer back",
        properties: "'what':{'enum':['sampling','elicitation','roots','fields','url']},'ms':{'type':'integer'}",
        more: "",
        run: ask::ask,
    },
    Tool {
        name: "raw_echo",
        about: "Gives back the params of the call as they came",
        properties: "",
        more: "",
        run: raw::raw_echo,
    },
    Tool { name: "image", about: "A picture", properties: "", more: "", run: content::image },
    Tool { name: "audio", about: "A sound", properties: "", more: "", run: content::audio },
    Tool {
        name: "resource",
        about: "Embedded resources: a text, a blob, or both",
        properties: "'kind':{'enum':['text','blob']}",
        more: "",
        run: content::resource,
    },
    Tool {
        name: "resource_link",
        about: "A link to a resource",
        properties: "",
        more: "",
        run: content::resource_link,
    },
    Tool {
        name: "structured",
        about: "A value and its length, by an output schema",
        properties: "'value':{'type':'string'}",
        more: ",'title':'Structured answer','outputSchema':{'type':'object','properties':{'value':\
               {'type':'string'},'length':{'type':'integer'}},'required':['value','length']},\
               'annotations':{'readOnlyHint':true,'openWorldHint':false},'_meta':{'fake/mark':1}",
        run: content::structured,
    },
    Tool {
        name: "mixed",
        about: "Every kind of content in one result",
        properties: "",
        more: "",
        run: content::mixed,
    },
];

/// Tools that only fill lists; a call of one gives its name back.
const FILLING: &[&str] = &["extra_", "grown_", "page_", "many_"];

impl Tool {
    pub(crate) fn definition(&self) -> String {
        let Self { name, about, properties, more, .. } = self;
        format!(
            "{{'name':'{name}','description':'{about}','inputSchema':{{'type':'object','properties':\
             {{{properties}}}}}{more}}}"
        )
        .replace('\'', "\"")
    }
}

pub(crate) fn call(server: &Arc<Server>, request: &Request<'_>) {
    let name = &*request.params.name;
    let done = match &server.corpus {
        Some(corpus) if corpus.has(name) => {
            server.events.note(&["exec", name]);
            Done::Answer(echoed(server, request))
        }
        Some(_) => Done::Answer(unknown(request)),
        None => own(server, request),
    };
    match done {
        Done::Answer(line) => server.answer_call(&line),
        Done::Elsewhere => {}
        Done::BadArguments => {
            server.answer_call(&wire::error(request.id, code::BAD_PARAMS, "invalid arguments", ""));
        }
    }
}

/// The answer for a tool that nobody knows.
pub(crate) fn unknown(request: &Request<'_>) -> Vec<u8> {
    wire::error(request.id, code::BAD_PARAMS, &format!("unknown tool {}", request.params.name), "")
}

fn own(server: &Arc<Server>, request: &Request<'_>) -> Done {
    let name = &*request.params.name;
    match TOOLS.iter().find(|tool| tool.name == name) {
        Some(tool) => (tool.run)(server, request),
        None if FILLING.iter().any(|prefix| name.starts_with(prefix)) => {
            Done::Answer(wire::text_result(request.id, request.speech, &wire::quoted(name)))
        }
        None => Done::Answer(unknown(request)),
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
pub(crate) fn arguments<'a, T: Deserialize<'a>>(request: &Request<'a>) -> Option<T> {
    serde_json::from_str(request.params.arguments.map_or("{}", |raw| raw.get())).ok()
}
