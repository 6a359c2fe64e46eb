//! How the server is reached: a program to start or an address to connect to, and never a guess between
//! the two.

use url::Url;

use super::super::dialect::{BareUrl, Quirk};
use super::super::tree::{KeyValue, Node, Position, Tree};
use super::keys::Field;
use super::{Context, Fields, auth, values};
use crate::fault::{Fault, FaultKind};
use crate::model::{Endpoint, Program, ServerTarget, Template, Transport};
use crate::text::nearest;

/// What the entry says about its transport.
enum Said {
    Nothing,
    Stdio,
    Remote(Transport),
    /// Something another program does by itself.
    Elsewhere,
}

const WORDS: [&str; 7] = ["stdio", "http", "sse", "streamable-http", "local", "remote", "websocket"];

pub(super) fn read(context: &mut Context<'_>, fields: &Fields<'_>, at: Position) -> Option<ServerTarget> {
    let said = said(context, fields)?;
    let command = fields.get(Field::Command).or_else(|| fields.get(Field::Script));
    let url = fields.get(Field::HttpUrl).or_else(|| fields.get(Field::Url));
    match (said, command, url) {
        (Said::Elsewhere, ..) => None,
        (Said::Stdio | Said::Nothing, Some(_), None) => program(context, fields).map(ServerTarget::Stdio),
        (Said::Stdio, Some(_), Some(url)) => {
            ignored(context, url, "stdio");
            program(context, fields).map(ServerTarget::Stdio)
        }
        (Said::Remote(transport), None, Some(url)) => {
            endpoint(context, fields, url, transport).map(ServerTarget::Remote)
        }
        (Said::Remote(transport), Some(command), Some(url)) => {
            ignored(context, command, transport.as_str());
            endpoint(context, fields, url, transport).map(ServerTarget::Remote)
        }
        (Said::Nothing, None, Some(url)) => {
            let transport = bare(context, url);
            endpoint(context, fields, url, transport).map(ServerTarget::Remote)
        }
        (Said::Nothing, Some(_), Some(url)) => {
            let fault = Fault::error(FaultKind::Conflict, "has both a command and a url");
            context.say(fault.hint("remove one of them, or say which by \"transport\""), url.at);
            None
        }
        (Said::Stdio, None, _) => missing(context, at, "command", "stdio"),
        (Said::Remote(transport), _, None) => missing(context, at, "url", transport.as_str()),
        (Said::Nothing, None, None) => neither(context, fields, at),
    }
}

fn said(context: &mut Context<'_>, fields: &Fields<'_>) -> Option<Said> {
    let Some(pair) = fields.get(Field::Transport) else { return Some(Said::Nothing) };
    context.remember("transport", pair.at);
    let Some(word) = pair.value.text() else {
        context.wrong_type(pair, "a string");
        return None;
    };
    let folded: String =
        word.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    Some(match folded.as_str() {
        "stdio" | "local" | "command" => Said::Stdio,
        "http" | "streamablehttp" | "streamable" | "https" => Said::Remote(Transport::Http),
        "sse" => Said::Remote(Transport::Sse),
        "remote" | "auto" | "url" => Said::Remote(Transport::Auto),
        "ws" | "websocket" => {
            let fault = Fault::note(FaultKind::Unsupported, "websocket is taken as streamable HTTP");
            context.say(fault, pair.value.at);
            Said::Remote(Transport::Http)
        }
        "builtin" | "sdk" | "tcp" | "platform" | "frontend" | "inlinepython" => {
            let message = format!(
                "{word:?} servers live inside {} and cannot be reached from outside",
                context.dialect.title
            );
            context.say(Fault::note(FaultKind::Unsupported, message), pair.value.at);
            Said::Elsewhere
        }
        _ => {
            let near = nearest(word, WORDS).unwrap_or("stdio, http, sse or auto");
            let fault = Fault::error(FaultKind::WrongValue, format!("unknown transport {word:?}"));
            context.say(fault.hint(format!("write {near}")), pair.value.at);
            return None;
        }
    })
}

/// A url without a transport: the key or the dialect may still say which.
fn bare(context: &Context<'_>, url: &KeyValue) -> Transport {
    match (url.key.as_str(), context.dialect.bare_url) {
        ("httpUrl", _) | (_, BareUrl::Http) => Transport::Http,
        ("ws_url", _) => Transport::Http,
        (_, BareUrl::Sse) => Transport::Sse,
        (_, BareUrl::Auto) => Transport::Auto,
    }
}

fn program(context: &mut Context<'_>, fields: &Fields<'_>) -> Option<Program> {
    let mut program = Program::default();
    if let Some(pair) = fields.get(Field::Command) {
        command(context, pair, &mut program)?;
    } else if let Some(pair) = fields.get(Field::Script) {
        // Elysia's script path means: run it with Python.
        program.command = Some(Template::literal("python"));
        program.args.extend(values::one(context, pair, "command"));
    }
    if let Some(pair) = fields.get(Field::Args) {
        args(context, pair, &mut program);
    }
    if let Some(pair) = fields.get(Field::Env) {
        program.env.extend(values::map(context, pair, "env"));
    }
    if let Some(pair) = fields.get(Field::EnvNames) {
        context.remember("pass", pair.at);
        let names = pair.value.list().unwrap_or_default();
        let name = |node: &Node| node.text().or_else(|| node.get("name")?.text()).map(str::to_owned);
        program.pass.extend(names.iter().filter_map(name));
    }
    program.env_file = fields.get(Field::EnvFile).and_then(|pair| values::one(context, pair, "env_file"));
    program.cwd = fields.get(Field::Cwd).and_then(|pair| values::one(context, pair, "cwd"));
    Some(program)
}

/// A text, a list of program and arguments, or Zed's older map of path, args and env.
fn command(context: &mut Context<'_>, pair: &KeyValue, program: &mut Program) -> Option<()> {
    context.remember("command", pair.at);
    match &pair.value.tree {
        Tree::Text(text) if text.trim().is_empty() => {
            context.say(
                Fault::error(FaultKind::MissingField, format!("{:?} is empty", pair.key)),
                pair.value.at,
            );
            return None;
        }
        Tree::Text(text) if context.dialect.has(Quirk::SplitCommand) && text.contains(' ') => {
            let words = text
                .split_whitespace()
                .map(|word| super::super::interpolate::template(word, context.dialect));
            let mut words: Vec<Template> = words.collect();
            program.command = Some(words.remove(0));
            program.args = words;
        }
        Tree::Text(text) => {
            if looks_like_a_line(text) {
                let fault = Fault::warning(
                    FaultKind::WrongValue,
                    format!("{:?} holds blanks and is started as one program", pair.key),
                );
                context.say(fault.hint("put the words after the first into \"args\""), pair.value.at);
            }
            program.command = values::templated(context, &pair.value);
        }
        Tree::List(words) if !words.is_empty() => {
            let mut words: Vec<Template> =
                words.iter().filter_map(|word| values::templated(context, word)).collect();
            if words.is_empty() {
                context.wrong_type(pair, "a string or a list of strings");
                return None;
            }
            program.command = Some(words.remove(0));
            program.args = words;
        }
        Tree::Map(_) if pair.value.get("path").is_some() => {
            let inner = |key: &str| pair.value.pair(key);
            program.command = inner("path").and_then(|path| values::one(context, path, "command"));
            if let Some(list) = inner("args") {
                args(context, list, program);
            }
            if let Some(map) = inner("env") {
                program.env = values::map(context, map, "env");
            }
        }
        _ => {
            context.wrong_type(pair, "a string or a list of strings");
            return None;
        }
    }
    Some(())
}

/// `npx -y thing` is a line for a shell; `/opt/my tools/run` is a path.
fn looks_like_a_line(text: &str) -> bool {
    text.split_once(' ').is_some_and(|(first, rest)| {
        !first.contains(['/', '\\']) && !rest.contains(['/', '\\'])
            || rest.contains(" -")
            || rest.starts_with('-')
    })
}

fn args(context: &mut Context<'_>, pair: &KeyValue, program: &mut Program) {
    context.remember("args", pair.at);
    match &pair.value.tree {
        Tree::Null => {}
        Tree::List(words) => {
            for word in words {
                match values::templated(context, word) {
                    Some(word) => program.args.push(word),
                    None => {
                        let message = format!("every argument must be a string, found {}", word.kind());
                        context.say(Fault::error(FaultKind::WrongType, message), word.at);
                    }
                }
            }
        }
        _ => {
            let fault = Fault::error(
                FaultKind::WrongType,
                format!("{:?} must be a list of strings, found {}", pair.key, pair.value.kind()),
            );
            context.say(fault.hint("write [\"first\", \"second\"]"), pair.value.at);
        }
    }
}

fn endpoint(
    context: &mut Context<'_>,
    fields: &Fields<'_>,
    url: &KeyValue,
    transport: Transport,
) -> Option<Endpoint> {
    let address = values::one(context, url, "url");
    let Some(address) = address else {
        if matches!(url.value.tree, Tree::Text(_) | Tree::Null) {
            context
                .say(Fault::error(FaultKind::MissingField, format!("{:?} is empty", url.key)), url.value.at);
        }
        return None;
    };
    check_url(context, url, &address);
    let mut headers = match fields.get(Field::Headers) {
        Some(pair) => values::map(context, pair, "headers"),
        None => Vec::new(),
    };
    for pair in fields.get(Field::EnvHeaders).and_then(|pair| pair.value.map()).unwrap_or_default() {
        match pair.value.text() {
            Some(name) => headers.push((pair.key.clone(), Template::var(name))),
            None => context.wrong_type(pair, "the name of a variable"),
        }
    }
    let auth = auth::read(context, fields);
    Some(Endpoint { transport, url: address, headers, auth })
}

/// Only what no reference could correct is a fault here; whether the address answers shows when connecting.
fn check_url(context: &mut Context<'_>, pair: &KeyValue, address: &Template) {
    if !address.is_literal() {
        return;
    }
    let text = address.written();
    let (fault, hint) = match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => return,
        Ok(url) if matches!(url.scheme(), "ws" | "wss") => {
            let fault = Fault::error(FaultKind::Unsupported, "WebSocket addresses are not supported");
            (
                fault,
                format!(
                    "use the server's {} address",
                    if url.scheme() == "wss" { "https://" } else { "http://" }
                ),
            )
        }
        Ok(url) if matches!(url.scheme(), "unix" | "pipe" | "npipe") => {
            let fault = Fault::error(
                FaultKind::Unsupported,
                format!("{}: addresses are not supported", url.scheme()),
            );
            (fault, "use the server's http address".to_owned())
        }
        _ => {
            let fault = Fault::error(FaultKind::BadUrl, "not a URL that can be connected to");
            (fault, "write it with http:// or https:// and a host".to_owned())
        }
    };
    context.say(fault.hint(hint), pair.value.at);
}

fn ignored(context: &mut Context<'_>, pair: &KeyValue, transport: &str) {
    let message = format!("{:?} is not used: the transport is {transport}", pair.key);
    context.say(Fault::warning(FaultKind::Conflict, message).hint("remove one of the two"), pair.at);
}

fn missing(context: &mut Context<'_>, at: Position, key: &str, transport: &str) -> Option<ServerTarget> {
    let fault = Fault::error(FaultKind::MissingField, format!("transport {transport} needs a {key:?}"));
    context.say(fault.hint(format!("add {key:?}")), at);
    None
}

fn neither(context: &mut Context<'_>, fields: &Fields<'_>, at: Position) -> Option<ServerTarget> {
    if context.dialect.has(Quirk::Extensions)
        && fields.0.iter().any(|(_, pair)| matches!(pair.key.as_str(), "settings" | "source"))
    {
        context.say(
            Fault::note(
                FaultKind::Unsupported,
                "started by a Zed extension, which cannot be done from outside",
            ),
            at,
        );
        return None;
    }
    let fault = Fault::error(FaultKind::MissingField, "has neither a command nor a url");
    context.say(fault.hint("add \"command\" to start a program, or \"url\" to connect to one"), at);
    None
}
