//! Configuration written for other programs: Kitbag's own endpoint as one server, or the servers
//! themselves, in the shape and with the references each program reads.

use serde_json::{Map, Value, json};

use super::dialect::{ALL, Dialect};
use crate::model::{Auth, Defaults, Link, Piece, ServerSpec, Template, Transport};
use crate::text::MASK;

/// Who the configuration is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Claude Desktop and Claude Code.
    Claude,
    /// Cursor.
    Cursor,
    /// Qwen Code and Gemini CLI.
    Qwen,
    /// LM Studio.
    LmStudio,
    /// OpenAI-like servers.
    OpenAi,
}

impl Target {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Claude, Self::Cursor, Self::Qwen, Self::LmStudio, Self::OpenAi];

    /// The word used on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Cursor => "cursor",
            Self::Qwen => "qwen",
            Self::LmStudio => "lmstudio",
            Self::OpenAi => "openai",
        }
    }

    /// By its word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|target| target.as_str() == word)
    }

    /// The rules by which this program reads its file.
    pub fn dialect(self) -> &'static Dialect {
        let id = match self {
            Self::Claude => "claude-code",
            Self::Cursor => "cursor",
            Self::Qwen => "qwen",
            Self::LmStudio => "lmstudio",
            Self::OpenAi => "openai",
        };
        Dialect::by_id(id).unwrap_or(&ALL[0])
    }

    /// The keys that lead to the servers in this program's file.
    pub fn wrapper(self) -> &'static [&'static str] {
        match self {
            Self::Claude | Self::Cursor | Self::Qwen => &["mcpServers"],
            Self::LmStudio => &["mcp_servers"],
            Self::OpenAi => &["mcp", "servers"],
        }
    }
}

/// Whether values that may be secrets are written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrets {
    /// Literal values of variables and headers become `***`.
    Masked,
    /// They stand as written.
    Written,
}

/// Kitbag's own endpoint, as the one server of another program.
pub fn endpoint(target: Target, name: &str, url: &str) -> Value {
    let timeout_ms = 600_000;
    match target {
        Target::Claude => wrap(target, vec![(name, json!({"type": "http", "url": url}))]),
        Target::Cursor => wrap(target, vec![(name, json!({"url": url}))]),
        Target::Qwen => wrap(target, vec![(name, json!({"httpUrl": url, "timeout": timeout_ms}))]),
        Target::LmStudio | Target::OpenAi => {
            let description = "All tools of Kitbag";
            let entry = json!({"transport": "http", "url": url, "timeout": timeout_ms, "enabled": true, "description": description});
            wrap(target, vec![(name, entry)])
        }
    }
}

/// The servers themselves.
pub fn servers<'a>(
    target: Target,
    specs: impl IntoIterator<Item = &'a ServerSpec>,
    secrets: Secrets,
) -> Value {
    let entries = specs.into_iter().map(|spec| (spec.name.as_str(), entry(target, spec, secrets)));
    wrap(target, entries.collect())
}

/// The single entries of what was exported, by name.
pub fn entries(target: Target, exported: &Value) -> Vec<(String, Value)> {
    let pointer: String = target.wrapper().iter().map(|key| format!("/{key}")).collect();
    match exported.pointer(&pointer) {
        Some(Value::Object(map)) => map.clone().into_iter().collect(),
        Some(Value::Array(list)) => list.iter().filter_map(unnamed).collect(),
        _ => Vec::new(),
    }
}

/// An entry of a list without the name inside it.
fn unnamed(entry: &Value) -> Option<(String, Value)> {
    let mut entry = entry.as_object()?.clone();
    let name = entry.shift_remove("name")?;
    Some((name.as_str()?.to_owned(), Value::Object(entry)))
}

fn wrap(target: Target, entries: Vec<(&str, Value)>) -> Value {
    match target {
        Target::OpenAi => {
            let named = |(name, entry): (&str, Value)| {
                let mut all = Map::from_iter([("name".to_owned(), Value::from(name))]);
                all.extend(
                    entry
                        .as_object()
                        .cloned()
                        .unwrap_or_default()
                        .into_iter()
                        .filter(|(key, _)| key != "enabled"),
                );
                Value::Object(all)
            };
            json!({"mcp": {"enabled": true, "servers": entries.into_iter().map(named).collect::<Vec<_>>()}})
        }
        _ => {
            let entries: Map<String, Value> =
                entries.into_iter().map(|(name, entry)| (name.to_owned(), entry)).collect();
            let [key] = target.wrapper() else { return Value::Object(entries) };
            json!({ *key: entries })
        }
    }
}

/// One server as this program writes it.
pub fn entry(target: Target, spec: &ServerSpec, secrets: Secrets) -> Value {
    let text = |template: &Template| Value::from(template.spelt(|piece| spell(target, piece)));
    let value = |template: &Template| match secrets {
        Secrets::Masked => Value::from(template.masked_in(|piece| spell(target, piece))),
        Secrets::Written => text(template),
    };
    // Where literals are ordinary, only one without references can hold a secret that the rules see.
    let ordinary = |template: &Template, shown: String| {
        if template.is_literal() { Value::from(shown) } else { text(template) }
    };
    let named = |pairs: &[(String, Template)]| {
        pairs.iter().map(|(name, v)| (name.clone(), value(v))).collect::<Map<_, _>>()
    };
    let mut entry = Map::new();
    match &spec.link {
        Link::Stdio(program) => {
            entry.insert("command".into(), program.command.as_ref().map_or(Value::Null, text));
            let args = match secrets {
                Secrets::Masked => program
                    .args
                    .iter()
                    .zip(spec.shown_args(Defaults::Masked))
                    .map(|(arg, shown)| ordinary(arg, shown))
                    .collect(),
                Secrets::Written => program.args.iter().map(text).collect::<Vec<_>>(),
            };
            entry.insert("args".into(), Value::Array(args));
            let mut env = named(&program.env);
            env.extend(
                program.pass.iter().map(|name| (name.clone(), Value::from(spell(target, &var(name))))),
            );
            if !env.is_empty() {
                entry.insert("env".into(), Value::Object(env));
            }
            if let Some(cwd) = &program.cwd {
                entry.insert("cwd".into(), text(cwd));
            }
        }
        Link::Remote(endpoint) => {
            let url = match secrets {
                Secrets::Masked if endpoint.url.shown_as_url(Defaults::Masked).contains(MASK) => {
                    Value::from(endpoint.url.shown_as_url(Defaults::Masked))
                }
                Secrets::Masked => text(&endpoint.url),
                Secrets::Written => text(&endpoint.url),
            };
            let by_path = endpoint.transport == Transport::Auto && endpoint.url.written().ends_with("/sse");
            remote(&mut entry, target, by_path || endpoint.transport == Transport::Sse, url);
            let mut headers = named(&endpoint.headers);
            match &endpoint.auth {
                Auth::None => {}
                Auth::Bearer(token) => {
                    headers.insert("Authorization".into(), value(&token.clone().after("Bearer ")));
                }
                Auth::Header { name, value: header } => {
                    headers.insert(name.clone(), value(header));
                }
            }
            if !headers.is_empty() {
                entry.insert("headers".into(), Value::Object(headers));
            }
        }
    }
    if let (Some(description), Target::LmStudio | Target::OpenAi) = (&spec.description, target) {
        entry.insert("description".into(), description.clone().into());
    }
    Value::Object(entry)
}

fn remote(entry: &mut Map<String, Value>, target: Target, sse: bool, url: Value) {
    match target {
        Target::Claude => {
            entry.insert("type".into(), if sse { "sse" } else { "http" }.into());
            entry.insert("url".into(), url);
        }
        Target::Cursor => {
            entry.insert("url".into(), url);
        }
        Target::Qwen => {
            entry.insert(if sse { "url" } else { "httpUrl" }.into(), url);
        }
        Target::LmStudio | Target::OpenAi => {
            entry.insert("transport".into(), if sse { "sse" } else { "http" }.into());
            entry.insert("url".into(), url);
        }
    }
}

fn var(name: &str) -> Piece {
    Piece::Var { name: name.to_owned(), default: None }
}

/// A piece in the spelling the target expands.
fn spell(target: Target, piece: &Piece) -> String {
    let env = if target == Target::Cursor { "env:" } else { "" };
    match piece {
        Piece::Text(text) => text.clone(),
        Piece::Var { name, default: Some(default) } if target == Target::Claude => {
            format!("${{{name}:-{default}}}")
        }
        Piece::Var { name, .. } => format!("${{{env}{name}}}"),
        Piece::Input(id) => format!("${{{env}{}}}", crate::model::input_variable(id)),
        Piece::Folder(folder) => format!("${{{}}}", folder.as_str()),
    }
}
