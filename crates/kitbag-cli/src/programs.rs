//! `kitbag run --agent claude`: agents that are other programs, with a private endpoint for each run.

use kitbag::guard::Launcher;
use kitbag::{Kitbag, OpenOptions, Setup};
use kitbag_agent::{
    AgentError, AgentEvent, AgentState, ConnectionState, DeniedTool, ProgramAgent, ProgramError, ProgramKind,
    ProgramOptions, Report,
};
use kitbag_core::model::AgentRun;
use serde_json::{Value, json};

use crate::agents::AgentArgs;
use crate::commands::run::{executions, tell};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::link_args::{self, LinkArgs};
use crate::live;
use crate::terminal::readable;

mod door;

use door::Door;

/// An agent that is another program, as it was asked for.
pub(crate) struct Asked {
    kind: ProgramKind,
    name: String,
    run: AgentRun,
    setup: Setup,
    model: Option<String>,
    max_steps: Option<usize>,
}

/// The agent of the flags, if it is another program: known by its word, or by `command` in the settings.
pub(crate) fn asked(
    context: &mut Context,
    args: &AgentArgs,
    link: &LinkArgs,
) -> Result<Option<Asked>, Failure> {
    let Some(name) = context.global.agent.clone() else { return Ok(None) };
    let is_known = ProgramKind::by_word(&name).is_some();
    // A name that needs no entry is taken out of the flags; others are checked by whoever takes them.
    context.global.agent = None;
    let setup = link_args::setup_in_use(context, link);
    let is_entry =
        |setup: &Setup| setup.settings.iter().any(|(_, all)| all.agents.iter().any(|(of, _)| *of == name));
    if !is_known || setup.as_ref().is_ok_and(is_entry) {
        context.global.agent = Some(name.clone());
    }
    let setup = setup?;
    let run = setup.agent_run(&name);
    if !is_known && run.command.is_none() {
        return Ok(None);
    }
    let kind = ProgramKind::of(&name, run.command.as_deref().unwrap_or_default());
    let (model, max_steps) = (args.model.clone().or(run.model.clone()), args.max_steps.or(run.max_steps));
    Ok(Some(Asked { kind, name, run, setup, model, max_steps }))
}

impl Asked {
    /// Has it answer.
    pub(crate) fn run(self, context: &mut Context, message: &str) -> Result<Exit, Failure> {
        let (wait, local) = (context.global.wait, live::demo(context, &self.setup));
        let options = link_args::options(context, &self.setup)?;
        let options = OpenOptions { wait, local, approver: live::approver(context), ..options };
        live::say_if_off(context, &self.setup);
        let (env, rest) = (self.setup.env().clone(), (self.kind, self.name, self.run));
        let (model, max_steps) = (self.model, self.max_steps);
        live::block_on(async {
            let (kit, faults) = Kitbag::open_with(self.setup, options).await?;
            let (kind, name, run) = rest;
            let rules = kit.agent(&name);
            let options = ProgramOptions {
                command: run.command.unwrap_or_default(),
                model,
                max_steps,
                instruction: run.instruction,
                env_pass: run.env_pass,
                env,
                launcher: Launcher::choose(None),
            };
            let done = async {
                let door = Door::open(&kit, rules.is_ok().then_some(name), kind).await?;
                let agent =
                    ProgramAgent::new(kind, kit.clone(), rules.unwrap_or_default(), door.endpoint(), options);
                live::tell(context, &live::beside(&*agent.view()?, &faults));
                let said = say(context, &agent, &kit, message).await;
                door.close().await;
                said
            };
            let done = done.await;
            kit.close_and_exit().await;
            done
        })
    }
}

async fn say(
    context: &mut Context,
    agent: &ProgramAgent,
    kit: &Kitbag,
    message: &str,
) -> Result<Exit, Failure> {
    let mut run = agent.send(message);
    let (mut said, mut report, mut failed) = (String::new(), Report::default(), None);
    while let Some(event) = run.next().await {
        match event {
            Ok(AgentEvent::Text(text)) => said.push_str(&text),
            // What is said before calls is no answer.
            Ok(AgentEvent::Step { calls, .. }) => {
                let said = std::mem::take(&mut said);
                if 0 < calls && !said.trim().is_empty() && !context.global.json {
                    context.remark(said.trim());
                }
            }
            Ok(AgentEvent::Done(done)) => report = done,
            Ok(event) => tell(context, &event),
            Err(error) => failed = Some(error),
        }
    }
    drop(run);
    // What it said is worth reading also where a tool was denied.
    let is_answer = matches!(&failed, None | Some(AgentError::Program(ProgramError::Denied { .. })));
    if context.global.json && is_answer {
        context.print_json(&as_json(agent, kit, &report, failed.as_ref()));
    } else if is_answer && !report.text.is_empty() {
        context.print(readable(&report.text) + "\n");
    }
    failed.map_or(Ok(Exit::Done), |error| Err(error.into()))
}

/// What a run came to; `docs/json.md` describes it.
fn as_json(agent: &ProgramAgent, kit: &Kitbag, report: &Report, failed: Option<&AgentError>) -> Value {
    let denied: &[DeniedTool] = match failed {
        Some(AgentError::Program(ProgramError::Denied { denied, .. })) => denied,
        _ => &[],
    };
    let denied: Vec<Value> =
        denied.iter().map(|denied| json!({"tool": denied.tool, "why": denied.why})).collect();
    let view = agent.view().ok();
    json!({
        "ok": failed.is_none(), "answer": report.text, "program": agent.name(), "model": agent.model(),
        "steps": report.steps, "tools": report.tools(), "executions": executions(&report.executions),
        "errors": report.errors().collect::<Vec<_>>(), "denied": denied,
        "usage": {
            "input": report.usage.input, "cached": report.usage.cached, "output": report.usage.output,
        },
        "agent_state": AgentState::of(kit, view.as_deref()).as_str(),
        "connection": ConnectionState::of(kit).as_str(),
    })
}

impl From<ProgramError> for Failure {
    fn from(error: ProgramError) -> Self {
        let message = error.to_string();
        match error {
            ProgramError::Missing { install: "", .. } => {
                Self::new(Exit::Usage, message).hint("correct \"command\" of the agent in kitbag.toml")
            }
            ProgramError::Missing { install, .. } => Self::new(Exit::Usage, message).hint(install),
            ProgramError::NoStepLimit { .. } => Self::new(Exit::Usage, message),
            ProgramError::Folder { .. } => Self::new(Exit::Config, message),
            ProgramError::Denied { .. } => Self::new(Exit::Held, message).hint(
                "allow it in the program's own settings, or by an argument in \"command\" of the agent",
            ),
            ProgramError::Timeout { .. } => {
                Self::new(Exit::Timeout, message).hint("[limits] agent_program = \"2h\" in kitbag.toml")
            }
            _ => Self::new(Exit::Model, message),
        }
    }
}
