//! The command line, by hand: starting must cost nothing, since benchmarks start fifty of us at once.

use std::path::PathBuf;
use std::time::Duration;

use crate::cut::{How, Step};

mod http;

pub(crate) use http::{Form, HttpOptions, Sessions, Style, Wire};

pub(crate) const HELP: &str = "\
fake-mcp: an MCP server over stdio for tests

  --era legacy|modern|both   which protocol it speaks (both)
  --legacy-probe error|silent|exit|invalid|empty
                             what a legacy server does with server/discover (error)
  --version X                the version answered in initialize, whatever was asked
  --name N                   its name (fake-mcp)
  --tools N                  N more tools, 400 bytes each, `extra_0001`…
  --tools FILE               the definitions of FILE and no others; a call gives its params back
  --offers good|endless|cycle|twice|lies|hang|empty
                             has resources, templates, prompts and completion, too; how their lists are
  --no-tools                 says that it has none
  --pick NAME                that server's definitions, where FILE holds several servers
  --page N                   tools per page
  --scope public|private     who may keep the list of a modern server (public)
  --ttl MS|none              how long the list of a modern server holds (60000)
  --no-changes               does not say that its tools may change, and takes no subscriptions
  --start-delay MS           sleeps before it reads or writes anything
  --events FILE              appends a line per event
  --stderr TEXT              a line on stderr at start
  --fault LABEL[:mode]       misbehaves; --list-faults shows how
  --cut STEP:HOW             start|handshake|list|request|half|answer : kill|eof
  --once FILE                cuts only if FILE does not exist yet, and creates it

  --http PORT                over HTTP on 127.0.0.1 instead (0: any port); says its URL on stdout, then serves
                             until stdin ends. Cuts there also end only the connection: rst|fin, and there are
                             two more steps: head, listen
  --answer auto|json|sse     the form of answers; auto: JSON unless a notification comes first (auto)
  --sse                      the HTTP+SSE transport of 2024-11-05
  --stateless                a legacy server without sessions
  --bearer TOKEN             refuses every request without this token
  --header NAME=VALUE        refuses every request without this header; may be repeated
  --retry MS                 tells clients when to come back to a stream
  --idle MS                  hears no more on a connection this long after its last answer, and closes it half as
                             long later, as if that took its way
  --door FILE                no new connection can be made while FILE exists
  --elsewhere URL            another server, for the faults that lead there
  --canary                   only notes what comes and answers 200";

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    Legacy,
    Modern,
    Both,
}

#[derive(Clone, Copy)]
pub(crate) enum LegacyProbe {
    Error,
    Silent,
    Exit,
    Invalid,
    /// A result without anything in it, as to whatever it does not know.
    Empty,
}

/// The processes that fault s13 starts besides the server.
#[derive(Clone, Copy)]
pub(crate) enum Child {
    /// Dies by TERM like any program.
    Plain,
    /// Starts the stray one and ends, so that the stray one has lost its parent.
    Middle,
    /// In a session of its own, deaf to TERM.
    Stray,
}

pub(crate) enum Run {
    Serve(Options),
    Child(Child, Options),
    ListFaults,
    ListHttpFaults,
    Help,
}

pub(crate) struct Options {
    pub(crate) era: Era,
    pub(crate) legacy_probe: LegacyProbe,
    pub(crate) version: Option<String>,
    pub(crate) name: String,
    pub(crate) tools: usize,
    pub(crate) has_tools: bool,
    pub(crate) offers: Option<crate::offered::Offers>,
    pub(crate) corpus: Option<PathBuf>,
    pub(crate) pick: Option<String>,
    pub(crate) page: Option<usize>,
    pub(crate) scope: &'static str,
    pub(crate) ttl: Option<u64>,
    pub(crate) tells_changes: bool,
    pub(crate) start_delay: Duration,
    pub(crate) events: Option<PathBuf>,
    pub(crate) stderr: Option<String>,
    pub(crate) fault: Option<String>,
    pub(crate) cut: Option<(Step, How)>,
    pub(crate) once: Option<PathBuf>,
    pub(crate) http: HttpOptions,
}

pub(crate) fn parse(mut args: impl Iterator<Item = String>) -> Result<Run, String> {
    let mut options = Options {
        era: Era::Both,
        legacy_probe: LegacyProbe::Error,
        version: None,
        name: "fake-mcp".into(),
        tools: 0,
        has_tools: true,
        offers: None,
        corpus: None,
        pick: None,
        page: None,
        scope: "public",
        ttl: Some(60_000),
        tells_changes: true,
        start_delay: Duration::ZERO,
        events: None,
        stderr: None,
        fault: None,
        cut: None,
        once: None,
        http: HttpOptions::default(),
    };
    let mut child = None;
    while let Some(option) = args.next() {
        match &*option {
            "--help" => return Ok(Run::Help),
            "--list-faults" => return Ok(Run::ListFaults),
            "--list-http-faults" => return Ok(Run::ListHttpFaults),
            "--no-tools" => {
                options.has_tools = false;
                continue;
            }
            "--no-changes" => {
                options.tells_changes = false;
                continue;
            }
            _ if options.http.flag(&option) => continue,
            _ => {}
        }
        let value = args.next().ok_or_else(|| format!("{option} needs a value"))?;
        if option == "--child" {
            child = Some(child_of(&value)?);
        } else {
            options.set(&option, value)?;
        }
    }
    if options.http.style == Style::OldSse {
        options.era = Era::Legacy;
    }
    Ok(match child {
        Some(child) => Run::Child(child, options),
        None => Run::Serve(options),
    })
}

impl Options {
    fn set(&mut self, option: &str, value: String) -> Result<(), String> {
        match option {
            "--era" => self.era = era(&value)?,
            "--legacy-probe" => self.legacy_probe = legacy_probe(&value)?,
            "--version" => self.version = Some(value),
            "--name" => self.name = value,
            "--tools" => match value.parse() {
                Ok(number) => self.tools = number,
                Err(_) => self.corpus = Some(value.into()),
            },
            "--offers" => self.offers = Some(crate::offered::Offers::parse(&value)?),
            "--pick" => self.pick = Some(value),
            "--page" => self.page = Some(number(&value)?).filter(|page| 0 < *page),
            "--scope" => self.scope = scope(&value)?,
            "--ttl" if value == "none" => self.ttl = None,
            "--ttl" => self.ttl = Some(number(&value)?),
            "--start-delay" => self.start_delay = Duration::from_millis(number(&value)?),
            "--events" => self.events = Some(value.into()),
            "--stderr" => self.stderr = Some(value),
            "--fault" => self.fault = Some(value),
            "--cut" => self.cut = Some(crate::cut::parse(&value)?),
            "--once" => self.once = Some(value.into()),
            _ => self.http.set(option, value)?,
        }
        Ok(())
    }
}

pub(crate) fn number<N: std::str::FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| format!("{text} is no number"))
}

fn era(text: &str) -> Result<Era, String> {
    match text {
        "legacy" => Ok(Era::Legacy),
        "modern" => Ok(Era::Modern),
        "both" => Ok(Era::Both),
        _ => Err(format!("unknown era {text}")),
    }
}

fn scope(text: &str) -> Result<&'static str, String> {
    match text {
        "public" => Ok("public"),
        "private" => Ok("private"),
        _ => Err(format!("unknown scope {text}")),
    }
}

fn legacy_probe(text: &str) -> Result<LegacyProbe, String> {
    match text {
        "error" => Ok(LegacyProbe::Error),
        "silent" => Ok(LegacyProbe::Silent),
        "exit" => Ok(LegacyProbe::Exit),
        "invalid" => Ok(LegacyProbe::Invalid),
        "empty" => Ok(LegacyProbe::Empty),
        _ => Err(format!("unknown answer to a probe {text}")),
    }
}

fn child_of(text: &str) -> Result<Child, String> {
    match text {
        "plain" => Ok(Child::Plain),
        "middle" => Ok(Child::Middle),
        "stray" => Ok(Child::Stray),
        _ => Err(format!("unknown child {text}")),
    }
}
