//! Calls of a history: each ends in time as the files ask for, with the values of whoever called.

use kitbag::{AgentRules, CallResult, ContentBlock, ErrorKind, Kitbag, ToolCall};
use serde_json::json;

use super::LONG;
use super::files::VALUES;
use super::judge::values;
use super::model::{AGENTS, Process, Seen, TOOLS, Verdict};
use super::scene::{SERVERS, Scene, State};

/// One call.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) who: usize,
    agent: Option<&'static str>,
    server: &'static str,
    tool: &'static str,
    by: By,
    token: String,
}

/// By which of its names a tool is called.
#[derive(Clone, Copy, Debug, PartialEq)]
enum By {
    Full,
    Pair,
    Short,
    Bare,
}

/// How a call ended.
#[derive(Debug)]
pub(super) enum Outcome {
    Answered(Box<CallResult>),
    Failed(ErrorKind, String),
    NoAgent,
}

impl Asked {
    pub(super) fn new(scene: &mut Scene) -> Self {
        let who = scene.dice.roll(scene.handles.len());
        // Mostly of a server that is there.
        let running = scene.handles[who].state.seen.running();
        let used: Vec<&'static str> =
            SERVERS.into_iter().filter(|server| running.contains_key(*server)).collect();
        let server =
            if used.is_empty() || scene.dice.roll(4) == 0 { scene.pick(&SERVERS) } else { scene.pick(&used) };
        let agents = [None, None, Some(AGENTS[0]), Some(AGENTS[1])];
        let tools = [TOOLS[0], TOOLS[1], TOOLS[2], "env", "env", "env", "extra_0001"];
        Self {
            who,
            agent: scene.pick(&agents),
            server,
            tool: scene.pick(&tools),
            by: scene.pick(&[By::Full, By::Full, By::Pair, By::Short, By::Bare]),
            token: scene.token("call"),
        }
    }

    fn name(&self) -> String {
        let Self { server, tool, .. } = self;
        match self.by {
            By::Full => format!("mcp_{server}_{tool}"),
            By::Pair => format!("{server}/{tool}"),
            By::Short => format!("{server}_{tool}"),
            By::Bare => (*tool).to_owned(),
        }
    }

    /// Makes the call; it ends in time.
    pub(super) async fn make(&self, kit: &Kitbag) -> Outcome {
        let rules = match self.agent.map(|agent| kit.agent(agent)) {
            None => AgentRules::default(),
            Some(Ok(rules)) => rules,
            Some(Err(_)) => return Outcome::NoAgent,
        };
        let view = kit.view(kit.user(), &rules).unwrap();
        // Every tool finds what it needs in here.
        let arguments =
            json!({"token": self.token, "message": "hello", "query": "q", "a": 1, "b": 2, "names": VALUES})
                .to_string();
        let name = self.name();
        let call = kit.call_tool(&view, ToolCall::new(&name, &arguments));
        let ended = tokio::time::timeout(LONG, call).await;
        match ended.unwrap_or_else(|_| panic!("{self:?} did not end")) {
            Ok(result) => Outcome::Answered(Box::new(result)),
            Err(failure) => Outcome::Failed(failure.kind, failure.to_string()),
        }
    }

    /// The servers it may reach.
    fn meant(&self) -> &[&'static str] {
        if self.by == By::Bare { &SERVERS } else { std::slice::from_ref(&self.server) }
    }
}

impl Scene {
    /// Whether a call ended as it must for one of the states its handle was in meanwhile.
    pub(super) fn judge_call(&self, asked: &Asked, outcome: &Outcome, states: &[State]) {
        let wrong = |state: &State| self.fits(asked, outcome, state).err();
        let wrong: Vec<String> = states.iter().filter_map(wrong).collect();
        let said = match outcome {
            Outcome::Answered(result) => format!("{:?} of {}", result.content, result.info.server),
            other => format!("{other:?}"),
        };
        assert!(wrong.len() < states.len(), "{asked:?} ended with {said}: {wrong:#?}");
    }

    /// Whatever a handle must refuse is refused.
    pub(super) async fn judge_refusals(&mut self, who: usize) {
        let mut calls = Vec::new();
        for agent in self.handles[who].state.seen.agents() {
            for (server, tool) in SERVERS.into_iter().flat_map(|server| TOOLS.map(|tool| (server, tool))) {
                let verdict = self.handles[who].state.seen.verdict(agent, server, tool);
                if !matches!(verdict, Verdict::Hidden | Verdict::NeedsYes) {
                    continue;
                }
                let token = self.token("refused");
                let asked = Asked { who, agent, server, tool, by: By::Full, token };
                let outcome = asked.make(&self.handles[who].kit).await;
                self.judge_call(&asked, &outcome, std::slice::from_ref(&self.handles[who].state));
                calls.push((asked, outcome));
            }
        }
        self.judge_diaries(&calls);
    }

    fn fits(&self, asked: &Asked, outcome: &Outcome, state: &State) -> Result<(), String> {
        let seen = &state.seen;
        let is_known = seen.agents().contains(&asked.agent);
        let (kind, text) = match outcome {
            Outcome::NoAgent if is_known => return Err("the agent is not known".to_owned()),
            Outcome::NoAgent => return Ok(()),
            _ if !is_known => return Err("the agent is known".to_owned()),
            Outcome::Answered(result) => return answered(asked, result, seen),
            Outcome::Failed(kind, text) => (*kind, text),
        };
        let verdict = |server: &&str| {
            let verdict = seen.verdict(asked.agent, server, asked.tool);
            let is_stopped = state.stopped.contains(*server) && verdict != Verdict::Hidden;
            if is_stopped { Verdict::Away } else { verdict }
        };
        let verdicts: Vec<Verdict> =
            asked.meant().iter().map(verdict).filter(|verdict| *verdict != Verdict::Hidden).collect();
        let lacks_values = |server: &&str| seen.lacks_values(asked.agent, server);
        // A short name may be one of a server that has not said what it has.
        let is_of_server = matches!(asked.by, By::Full | By::Pair);
        let is_open = !is_of_server
            && (SERVERS.iter().any(|server| verdict(server) == Verdict::Away || lacks_values(server)));
        let is_right = match &verdicts[..] {
            // Nobody can tell whether a server has a tool that never listed any.
            [] if kind == ErrorKind::Unavailable => is_open || is_of_server && lacks_values(&asked.server),
            [] => kind == ErrorKind::NotFound,
            [Verdict::NeedsYes] => kind == ErrorKind::ApprovalDenied,
            [Verdict::Away] => true,
            [Verdict::Runs(process)] => self.may_be_lost(process, kind),
            [..] => kind == ErrorKind::Ambiguous || verdicts.contains(&Verdict::Away),
        };
        let is_right = is_right || is_open && kind == ErrorKind::Ambiguous;
        if is_right { Ok(()) } else { Err(format!("{kind:?} ({text}) instead of {verdicts:?}")) }
    }

    fn may_be_lost(&self, process: &Process, kind: ErrorKind) -> bool {
        self.killed.contains(process) && matches!(kind, ErrorKind::OutcomeUnknown | ErrorKind::Unavailable)
    }

    /// What was refused reached no server; what was answered was done once.
    pub(super) fn judge_diaries(&self, calls: &[(Asked, Outcome)]) {
        let lines: Vec<String> = SERVERS.iter().flat_map(|server| self.farm.events(server, "call")).collect();
        for (asked, outcome) in calls {
            let line = format!("call {} {}", asked.tool, asked.token);
            let count = lines.iter().filter(|other| **other == line).count();
            let is_right = match outcome {
                Outcome::Answered(_) => count == 1,
                Outcome::Failed(ErrorKind::OutcomeUnknown, _) => count <= 1,
                Outcome::Failed(..) | Outcome::NoAgent => count == 0,
            };
            assert!(is_right, "{asked:?} arrived {count} times: {outcome:?}");
        }
    }
}

/// Whether an answer came from a server that may be called, with the caller's values.
fn answered(asked: &Asked, result: &CallResult, seen: &Seen) -> Result<(), String> {
    let server = result.info.server.as_str();
    if result.info.tool != asked.tool || !asked.meant().contains(&server) {
        return Err(format!("{server}/{} answered", result.info.tool));
    }
    let process = match seen.verdict(asked.agent, server, asked.tool) {
        Verdict::Runs(process) => process,
        other => return Err(format!("{server} answered instead of {other:?}")),
    };
    let others = asked.meant().iter().filter(|other| **other != server);
    let is_alone = |other: &&str| seen.verdict(asked.agent, other, asked.tool) == Verdict::Hidden;
    if let Some(other) = others.copied().find(|other| !is_alone(other)) {
        return Err(format!("{other} has a tool of that name too"));
    }
    let text = result.content.first().and_then(ContentBlock::as_text).unwrap_or_default();
    if asked.tool != "env" {
        return Ok(());
    }
    let expected = process.values.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
    let found = values(text);
    let is_same = found == expected.collect();
    if is_same { Ok(()) } else { Err(format!("values {found:?} instead of {:?}", process.values)) }
}
