//! What a person sees who starts `kitbag serve` on a terminal: where the tools come from, how hosts are connected, how each
//! server is, and what the tools cost a model. All of it on stderr: on stdout stands the address.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::time::Instant;

use kitbag::tokens::count;
use kitbag::{Kitbag, LinkState, Mode, PresentOptions, Provider, ServerName, Setup};
use kitbag_core::config::Dialect;
use kitbag_core::config::export::EndpointReach;
use kitbag_core::config::layers::EntryState;
use serde_json::json;

use super::news::News;
use crate::commands::overview::short;
use crate::context::Context;
use crate::snippets::{self, HostSnippet, TOKEN};
use crate::terminal::{DIM, TITLE, plural, styled};

/// Programs that are shown; the others are told by `kitbag servers export --to all --endpoint`.
const MOST_HOSTS: usize = 4;

/// Characters of a line that is to be copied, beside its indentation.
const ROOM: usize = 76;

/// What is served, and where.
pub(super) struct Served<'a> {
    pub(super) setup: &'a Setup,
    pub(super) url: String,
    pub(super) require_token: bool,
    /// Whether the demo tools are served because there is nothing else.
    pub(super) is_demo: bool,
}

impl Served<'_> {
    fn reach(&self) -> EndpointReach {
        let (url, variable) = (self.url.clone(), TOKEN.to_owned());
        if self.require_token {
            EndpointReach::AddressWithToken { url, variable }
        } else {
            EndpointReach::Address(url)
        }
    }
}

/// Says where it serves, for programs and for people.
pub(super) fn begin(context: &mut Context, served: &Served<'_>) {
    if context.global.json {
        context.print(crate::json::line(&as_json(served)) + "\n");
    } else {
        context.print(format!("{}\n", served.url));
    }
    context.flush();
    if shows(context) {
        let text = welcome(served);
        context.tell(&text);
    } else if served.is_demo {
        context.remark("no servers are configured: serving the demo tools (clock, notes, folder)");
    }
}

/// Says what becomes of servers, for as long as it is awaited.
pub(super) async fn follow(context: &mut Context, kit: &Kitbag) -> Infallible {
    if context.global.quiet {
        return std::future::pending().await;
    }
    let (began, mut changes, mut news) = (Instant::now(), kit.watch_status(), News::default());
    let settled = kit.wait(kit.limits().wait_agent);
    tokio::pin!(settled);
    let mut is_settled = false;
    loop {
        let (lines, again) = news.tell(began.elapsed(), &kit.status());
        lines.iter().for_each(|line| told(context, line));
        let pause = async {
            match again {
                Some(again) => tokio::time::sleep(again.saturating_sub(began.elapsed())).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = &mut settled, if !is_settled => {
                is_settled = true;
                if shows(context) {
                    let text = cost(kit);
                    context.tell(&text);
                }
            }
            () = pause => {}
            changed = changes.changed() => if changed.is_err() {
                return std::future::pending().await;
            },
        }
    }
}

/// A line about a server; also for whoever reads it later, in a log.
fn told(context: &mut Context, line: &str) {
    if context.global.json {
        context.remark(anstream::adapter::strip_str(line).to_string());
    } else {
        context.tell(&format!("{line}\n"));
    }
}

/// Whether a person looks.
fn shows(context: &Context) -> bool {
    std::io::stderr().is_terminal() && !context.global.quiet && !context.global.json
}

fn welcome(served: &Served<'_>) -> String {
    let setup = served.setup;
    let mut text = String::from("\n");
    let used = setup.used().count();
    if served.is_demo {
        text += "No servers are configured: these are the demo tools clock, notes and folder.\n";
        text += &format!("  {}\n", styled(DIM, "kitbag servers add time -- uvx mcp-server-time"));
    } else {
        let _ = writeln!(text, "{} from {}", plural(used, "server"), sources(setup).join(", "));
    }
    if let Some(found) = found(setup) {
        let _ = write!(text, "found but unused: {found}\n  {}\n", styled(DIM, "kitbag servers import --all"));
    }
    if setup.merged.servers.iter().any(|row| row.state == EntryState::Held) {
        let _ = writeln!(text, "held until you approve them: {}", styled(DIM, "kitbag trust"));
    }
    if served.require_token {
        let _ = write!(
            text,
            "every client needs a token, here in the variable {TOKEN}\n  {}\n",
            styled(DIM, "kitbag tokens add NAME")
        );
    }
    text += &connect(served);
    let _ = write!(text, "\n{}\n", styled(TITLE, "Servers (Ctrl-C ends them)"));
    text
}

/// The commands and snippets for the programs that seem to be here, and one for every other.
fn connect(served: &Served<'_>) -> String {
    let (name, reach) = (entry_name(), served.reach());
    let all = snippets::all(served.setup.env(), &name, &reach);
    let here: Vec<&HostSnippet> = all.iter().filter(|snippet| snippet.is_here).take(MOST_HOSTS).collect();
    let mut text = format!("\n{}\n", styled(TITLE, "Connect"));
    for snippet in here {
        let (what, more) = match &snippet.command {
            Some(command) => (snippets::folded(command, ROOM), String::new()),
            None => {
                let text = snippets::spread(&snippet.text, ROOM);
                (text, format!(", in {}", short(served.setup, &snippet.file)))
            }
        };
        let _ = write!(text, "  {}{more}\n{}", snippet.title, indented(&what));
    }
    let generic = snippets::spread(&snippets::generic(&name, &reach), ROOM);
    let _ = write!(text, "  any other\n{}", indented(&generic));
    let all = format!("kitbag servers export --to all --endpoint {}", served.url);
    let _ = write!(text, "  every program\n    {}\n", styled(DIM, all));
    text
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}\n")).collect()
}

/// What we are called in the configuration of other programs.
pub(in crate::commands) fn entry_name() -> ServerName {
    ServerName::parse("kitbag").unwrap_or_else(|_| ServerName::local())
}

/// The files that servers in use come from, each once.
fn sources(setup: &Setup) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for row in setup.merged.servers.iter().filter(|row| row.state == EntryState::Used) {
        let file = short(setup, &row.origin.place.file);
        if !files.contains(&file) {
            files.push(file);
        }
    }
    let more = files.len().saturating_sub(3);
    files.truncate(3);
    if 0 < more {
        files.push(format!("{} more", plural(more, "file")));
    }
    files
}

/// Servers of other programs that are not used.
fn found(setup: &Setup) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for row in setup.merged.servers.iter().filter(|row| row.state == EntryState::Found) {
        let title = Dialect::by_id(row.origin.dialect).map_or(row.origin.dialect, |dialect| dialect.title);
        *counts.entry(title).or_default() += 1;
    }
    let total: usize = counts.values().sum();
    let names: Vec<&str> = counts.keys().copied().collect();
    (0 < total).then(|| format!("{} of {}", plural(total, "server"), names.join(", ")))
}

/// What the tools take of a model's context, whole and as one tool a server.
fn cost(kit: &Kitbag) -> String {
    let view = kit.own_view();
    let tokens = |mode: Mode| {
        let shown = kit.present(&view, &PresentOptions::new(Provider::Generic, mode));
        count(&shown.tools.to_string())
    };
    let starting = kit.status().iter().filter(|row| row.status.state == LinkState::Starting).count();
    let late =
        if 0 < starting { format!("; {} still starting", plural(starting, "server")) } else { String::new() };
    let tools = view.tools().iter().filter(|shown| shown.name.as_str() != kitbag::cli::READ_RESULT).count();
    let (native, gateway) = (tokens(Mode::Native), tokens(Mode::Gateway));
    let saving = if gateway < native { format!(", {gateway} as one tool per server") } else { String::new() };
    let line = format!("{} take {native} tokens of a model's context{saving}{late}", plural(tools, "tool"));
    format!("{}\n", styled(DIM, line))
}

fn as_json(served: &Served<'_>) -> serde_json::Value {
    let names = |state: EntryState| -> Vec<&str> {
        let rows = served.setup.merged.servers.iter().filter(move |row| row.state == state);
        rows.map(|row| row.name.as_str()).collect()
    };
    json!({
        "url": served.url,
        "require_token": served.require_token,
        "demo": served.is_demo,
        "servers": names(EntryState::Used),
        "found": names(EntryState::Found),
        "held": names(EntryState::Held),
        "pid": std::process::id(),
    })
}
