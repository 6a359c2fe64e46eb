//! How each program is told of Kitbag: the command it has for that, or what goes into its file.

use std::path::{Path, PathBuf};

use kitbag::files::host_files;
use kitbag::{Env, ServerName};
use kitbag_core::config::Dialect;
use kitbag_core::config::export::{self, EndpointReach, ExportTarget, Exported};
use kitbag_core::config::tree::Format;

use crate::arguments::quoted;

#[cfg(test)]
mod tests;

/// The variable that hosts take the token from.
pub(crate) const TOKEN: &str = "KITBAG_TOKEN";

/// How one program is told.
pub(crate) struct HostSnippet {
    pub(crate) title: &'static str,
    /// The word by which `--to` knows it; none for one whose file is never written.
    pub(crate) id: Option<&'static str>,
    /// Whether the program seems to be on this machine.
    pub(crate) is_here: bool,
    /// What to type, if the program has a command for it.
    pub(crate) command: Option<String>,
    /// Its file, and what goes into it.
    pub(crate) file: PathBuf,
    pub(crate) text: String,
}

/// The programs with a command of their own: its name, and how it adds a server.
const COMMANDS: &[(&str, &str, Add)] = &[
    ("claude-code", "claude", claude),
    ("codex", "codex", codex),
    ("gemini", "gemini", gemini),
    ("qwen", "qwen", qwen),
    ("vscode", "code", vscode),
];

type Add = fn(&str, &EndpointReach) -> String;

/// Every program that can be told, those that seem to be on this machine first.
pub(crate) fn all(env: &Env, name: &ServerName, reach: &EndpointReach) -> Vec<HostSnippet> {
    let targets = ExportTarget::all().filter(|target| !target.dialect().files.is_empty());
    let mut all: Vec<HostSnippet> = targets.filter_map(|target| of(env, target, name, reach)).collect();
    all.extend(goose(env, name, reach));
    all.sort_by_key(|snippet| !snippet.is_here);
    all
}

/// How a program whose entry may have any of the usual keys is told.
pub(crate) fn generic(name: &ServerName, reach: &EndpointReach) -> String {
    let exported = export::endpoint(ExportTarget::project(), name, reach);
    let entries = exported.entries.into_iter().map(|(name, entry)| {
        let kept = entry.as_object().into_iter().flatten();
        let kept =
            kept.filter(|(key, _)| matches!(key.as_str(), "type" | "url" | "headers" | "command" | "args"));
        (name, kept.map(|(key, value)| (key.clone(), value.clone())).collect())
    });
    let exported = Exported { entries: entries.collect(), remarks: Vec::new() };
    exported.document(ExportTarget::project()).to_string()
}

/// What one program is told. One that starts programs only gets a process of its own.
pub(crate) fn entry(target: ExportTarget, name: &ServerName, reach: &EndpointReach) -> Exported {
    let exported = export::endpoint(target, name, reach);
    if exported.entries.is_empty() { export::endpoint(target, name, &process()) } else { exported }
}

/// Kitbag as a process. Programs with a window often have another search path than the shell.
pub(crate) fn process() -> EndpointReach {
    let command = std::env::current_exe().ok().and_then(|path| path.to_str().map(str::to_owned));
    EndpointReach::Process {
        command: command.unwrap_or_else(|| "kitbag".to_owned()),
        args: vec!["stdio".to_owned()],
    }
}

/// A command in lines of so many characters, to be pasted as they are.
pub(crate) fn folded(command: &str, room: usize) -> String {
    if command.chars().count() <= room {
        return command.to_owned();
    }
    let mut quote = None;
    let words = command.split(|c: char| {
        quote = match quote {
            None if matches!(c, '\'' | '"') => Some(c),
            Some(open) if open == c => None,
            quote => quote,
        };
        c == ' ' && quote.is_none()
    });
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            // Room for the sign that the next line belongs to it.
            Some(line) if line.chars().count() + word.chars().count() + 3 <= room => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) => lines.push(format!("  {word}")),
            None => lines.push(word.to_owned()),
        }
    }
    lines.join(" \\\n")
}

/// What goes into a file: on one line where that has room.
pub(crate) fn spread(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    serde_json::from_str::<serde_json::Value>(text)
        .map_or_else(|_| text.to_owned(), |value| format!("{value:#}"))
}

fn of(env: &Env, target: ExportTarget, name: &ServerName, reach: &EndpointReach) -> Option<HostSnippet> {
    let (id, title) = (target.dialect().id, target.dialect().title);
    let files = files(env, target.dialect());
    let file = files.first()?.clone();
    let known = COMMANDS.iter().find(|(host, ..)| *host == id);
    let exported = entry(target, name, reach);
    let text = match target.format() {
        Format::Json => exported.document(target).to_string(),
        _ => exported.text(target).trim_end().to_owned(),
    };
    let is_installed = known.is_some_and(|(_, program, _)| is_on_path(env, program));
    let is_here = is_installed || files.iter().any(|file| is_there(env, file));
    let command = known.map(|(_, _, add)| add(name.as_str(), reach));
    Some(HostSnippet { title, id: Some(id), is_here, command, file, text })
}

/// Its file is YAML, which is never written by us.
fn goose(env: &Env, name: &ServerName, reach: &EndpointReach) -> Option<HostSnippet> {
    let file = files(env, Dialect::by_id("goose")?).into_iter().next()?;
    let name = quoted_yaml(name.as_str());
    let link = match reach {
        EndpointReach::Process { command, args } => format!(
            "    type: stdio\n    cmd: {}\n    args: [{}]\n",
            quoted_yaml(command),
            args.iter().map(|arg| quoted_yaml(arg)).collect::<Vec<_>>().join(", ")
        ),
        EndpointReach::Address(url) => format!("    type: streamable_http\n    uri: {}\n", quoted_yaml(url)),
        EndpointReach::AddressWithToken { url, variable } => format!(
            "    type: streamable_http\n    uri: {}\n    headers:\n      Authorization: \"Bearer ${{{variable}}}\"\n",
            quoted_yaml(url)
        ),
    };
    let text = format!("extensions:\n  {name}:\n    name: {name}\n{link}    enabled: true\n    timeout: 600");
    let is_here = is_on_path(env, "goose") || is_there(env, &file);
    Some(HostSnippet { title: "goose", id: None, is_here, command: None, file, text })
}

fn quoted_yaml(text: &str) -> String {
    // A string of JSON is one of YAML.
    serde_json::Value::from(text).to_string()
}

fn files(env: &Env, dialect: &'static Dialect) -> Vec<PathBuf> {
    let found = host_files(env).into_iter().filter(|found| found.dialect == Some(dialect));
    found.map(|found| found.file).collect()
}

/// A file, or the folder that is the program's own.
fn is_there(env: &Env, file: &Path) -> bool {
    let is_own = |folder: &&Path| Some(*folder) != env.home().map(Path::new) && !folder.ends_with(".config");
    file.exists() || file.parent().filter(is_own).is_some_and(Path::is_dir)
}

fn is_on_path(env: &Env, program: &str) -> bool {
    let path = env.filled("PATH").unwrap_or_default();
    std::env::split_paths(path).any(|folder| folder.join(program).is_file())
}

fn words(words: &[&str]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// What a shell puts the token into.
fn bearer(variable: &str) -> String {
    format!("\"Authorization: Bearer ${variable}\"")
}

fn claude(name: &str, reach: &EndpointReach) -> String {
    match reach {
        EndpointReach::Address(url) => {
            words(&["claude", "mcp", "add", "-s", "user", "-t", "http", name, url])
        }
        EndpointReach::AddressWithToken { url, variable } => {
            words(&["claude", "mcp", "add", "-s", "user", "-t", "http", name, url, "-H"])
                + " "
                + &bearer(variable)
        }
        EndpointReach::Process { .. } => {
            words(&["claude", "mcp", "add", "-s", "user", name, "--"]) + &started(reach)
        }
    }
}

fn codex(name: &str, reach: &EndpointReach) -> String {
    match reach {
        EndpointReach::Address(url) => words(&["codex", "mcp", "add", name, "--url", url]),
        EndpointReach::AddressWithToken { url, variable } => {
            words(&["codex", "mcp", "add", name, "--url", url, "--bearer-token-env-var", variable])
        }
        EndpointReach::Process { .. } => words(&["codex", "mcp", "add", name, "--"]) + &started(reach),
    }
}

fn gemini(name: &str, reach: &EndpointReach) -> String {
    like_gemini("gemini", name, reach)
}

fn qwen(name: &str, reach: &EndpointReach) -> String {
    like_gemini("qwen", name, reach)
}

fn like_gemini(program: &str, name: &str, reach: &EndpointReach) -> String {
    match reach {
        EndpointReach::Address(url) => words(&[program, "mcp", "add", "-s", "user", "-t", "http", name, url]),
        EndpointReach::AddressWithToken { url, variable } => {
            words(&[program, "mcp", "add", "-s", "user", "-t", "http", name, url, "-H"])
                + " "
                + &bearer(variable)
        }
        EndpointReach::Process { .. } => {
            words(&[program, "mcp", "add", "-s", "user", name]) + &started(reach)
        }
    }
}

fn vscode(name: &str, reach: &EndpointReach) -> String {
    let server = ServerName::parse(name).ok();
    let target = ExportTarget::by_word("vscode");
    let entry = server.zip(target).and_then(|(server, target)| entry(target, &server, reach).entries.pop());
    let fields = entry.and_then(|(_, entry)| entry.as_object().cloned()).unwrap_or_default();
    let mut all = serde_json::Map::from_iter([("name".to_owned(), name.into())]);
    all.extend(fields);
    words(&["code", "--add-mcp", &serde_json::Value::Object(all).to_string()])
}

fn started(reach: &EndpointReach) -> String {
    let EndpointReach::Process { command, args } = reach else { return String::new() };
    let all = std::iter::once(command).chain(args);
    all.map(|word| format!(" {}", quoted(word))).collect()
}
