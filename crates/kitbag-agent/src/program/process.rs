//! One run: the program is started, given its input, and read to its end, which comes in bounded time and takes everything
//! along that the program started.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitStatus;

use kitbag::Limits;
use kitbag::connect::program_variables;
use kitbag::guard::{GuardedProgram, Pipes, ProgramStart};
use kitbag::kitbag_core::model::EnvPass;
use kitbag::kitbag_core::text::visible;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::ChildStdin;

use super::dialect::{Order, Output};
use super::folder::PrivateFolder;
use super::telling::Telling;
use super::{ProgramAgent, ProgramError};
use crate::agent::{AgentError, AgentEvent, Events};
use crate::conversation::Masks;

/// Read in one piece.
const CHUNK: usize = 32 << 10;

/// How a program ended.
struct Ended {
    status: ExitStatus,
    /// Its last words.
    stderr: String,
}

/// Runs the program, and tells what it tells. The report is told also where the run came to nothing.
pub(super) async fn work(agent: &ProgramAgent, input: &str, events: &Events) -> Result<(), AgentError> {
    let limits = agent.kit.limits();
    let setup = agent.kit.setup();
    let folder = PrivateFolder::new(&setup.folders.state.join("run").join("agents"))?;
    let program = program(agent, &folder, &limits)?;
    let start = |why: String| ProgramError::Start { program: agent.name().to_owned(), why };
    let (mut guarded, pipes) = GuardedProgram::start(&program, agent.options.launcher.clone())
        .map_err(|error| start(error.to_string()))?;
    let redactors = agent.kit.links().into_iter().map(|link| agent.kit.redactor(link.name()));
    let mut told = Telling::masked(Masks::new(redactors));
    let ended = async {
        let stderr = read(agent, input, pipes, &mut told, events, &limits).await;
        let status = guarded.wait().await.map_err(|error| start(error.to_string()))?;
        Ok::<_, ProgramError>(Ended { status, stderr })
    };
    let ended = tokio::time::timeout(limits.agent_program, ended).await;
    if ended.is_err() {
        guarded.end(limits.wait_end).await;
    }
    told.end();
    flush(&mut told, events).await;
    let _ = events.send(AgentEvent::Done(std::mem::take(&mut told.report))).await;
    match ended {
        Ok(ended) => Ok(verdict(agent, told, &ended?)?),
        Err(_) => {
            let (program, after) = (agent.name().to_owned(), limits.agent_program);
            Err(ProgramError::Timeout { program, after }.into())
        }
    }
}

/// What is started.
fn program(
    agent: &ProgramAgent,
    folder: &PrivateFolder,
    limits: &Limits,
) -> Result<ProgramStart, ProgramError> {
    let (options, dialect) = (&agent.options, agent.kind.0);
    let (name, words) = match options.command.split_first() {
        Some((name, words)) => (name.as_str(), words),
        None => (dialect.word, &[][..]),
    };
    let cwd = options.env.cwd().to_owned();
    let missing = || ProgramError::Missing { program: name.to_owned(), install: dialect.install };
    let path = options.env.program(name, &cwd).ok_or_else(missing)?;
    let order = Order {
        words,
        endpoint: &agent.endpoint,
        folder,
        model: options.model.as_deref(),
        steps: options.max_steps,
        env: &options.env,
        limits,
    };
    let launch = (dialect.launch)(&order)?;
    let is_asked_for = |name: &str| match &options.env_pass {
        Some(EnvPass::All) => true,
        Some(EnvPass::Names(names)) if names.iter().any(|asked| asked == name) => true,
        _ => dialect.variables.iter().any(|beginning| name.starts_with(beginning)),
    };
    let mut env: Vec<(String, OsString)> = program_variables(&options.env, is_asked_for)
        .into_iter()
        .map(|(name, value)| (name, value.into()))
        .collect();
    env.extend(launch.env.into_iter().map(|(name, value)| (name, value.into())));
    Ok(ProgramStart {
        path,
        args: launch.args,
        env,
        folder: PathBuf::from(&cwd),
        name: dialect.word.to_owned(),
    })
}

/// Gives the program its input and reads all it says; its last words.
async fn read(
    agent: &ProgramAgent,
    input: &str,
    pipes: Pipes,
    told: &mut Telling,
    events: &Events,
    limits: &Limits,
) -> String {
    let Pipes { stdin, stdout, stderr } = pipes;
    let masked = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        text.replace(agent.endpoint.token.expose(), "***")
    };
    let said = async {
        let mut output = Lines { pipe: stdout, bytes: Vec::new(), most: limits.agent_program_said };
        let read = match agent.kind.0.output {
            Output::Text => {
                let all = output.all().await;
                return told.say(masked(&all).trim_end());
            }
            Output::Events(read) => read,
        };
        while let Some(line) = output.next().await {
            // What is no JSON is a remark of somebody beside the program.
            if let Ok(event) = serde_json::from_str(&masked(&line)) {
                read(&event, told);
                flush(told, events).await;
            }
        }
    };
    let ((), (), last) = tokio::join!(feed(stdin, input), said, last_words(stderr, limits.error));
    visible(masked(&last).trim())
}

async fn feed(mut stdin: ChildStdin, input: &str) {
    // A program that does not read its input says why itself.
    let _ = stdin.write_all(input.as_bytes()).await;
    let _ = stdin.shutdown().await;
}

async fn flush(told: &mut Telling, events: &Events) {
    for event in told.events.drain(..) {
        let _ = events.send(event).await;
    }
}

/// What the end of a program means. What it was not let do counts, however well it ended.
fn verdict(agent: &ProgramAgent, told: Telling, ended: &Ended) -> Result<(), ProgramError> {
    let program = agent.name().to_owned();
    let code = ended.status.code().filter(|code| *code != 0);
    if !ended.status.success() || told.failure.is_some() {
        let stderr = || told.masks.text(ended.stderr.clone());
        let why = told.failure.filter(|why| !why.is_empty()).unwrap_or_else(stderr);
        let why = if why.is_empty() { "it said nothing".to_owned() } else { why };
        return Err(ProgramError::Failed { program, code, why });
    }
    if !told.denied.is_empty() {
        return Err(ProgramError::Denied { program, denied: told.denied });
    }
    if !told.has_answered {
        return Err(ProgramError::Empty { program, said: told.masks.text(ended.stderr.clone()) });
    }
    Ok(())
}

/// The end of what a program says beside its output. All of it is read: a full pipe would stop the program.
async fn last_words(mut pipe: impl AsyncRead + Unpin, most: usize) -> Vec<u8> {
    let (mut kept, mut bytes) = (Vec::new(), vec![0; CHUNK]);
    while let Ok(read @ 1..) = pipe.read(&mut bytes).await {
        kept.extend_from_slice(&bytes[..read]);
        let over = kept.len().saturating_sub(most);
        kept.drain(..over);
    }
    kept
}

/// The output of a program, no more of it at once than there is room for.
struct Lines<P> {
    pipe: P,
    bytes: Vec<u8>,
    most: usize,
}

impl<P: AsyncRead + Unpin> Lines<P> {
    /// The next line; of one that is too long nothing is told.
    async fn next(&mut self) -> Option<Vec<u8>> {
        let (mut seen, mut is_too_long) = (0, false);
        loop {
            if let Some(end) = self.bytes[seen..].iter().position(|byte| *byte == b'\n') {
                let mut line: Vec<u8> = self.bytes.drain(..=seen + end).collect();
                line.pop();
                if !std::mem::take(&mut is_too_long) && line.len() <= self.most {
                    return Some(line);
                }
                seen = 0;
                continue;
            }
            if self.most < self.bytes.len() {
                is_too_long = true;
                self.bytes.clear();
            }
            seen = self.bytes.len();
            if !self.fill().await {
                let rest = std::mem::take(&mut self.bytes);
                return (!rest.is_empty() && !is_too_long).then_some(rest);
            }
        }
    }

    /// Everything; the beginning of it, where it is too long.
    async fn all(&mut self) -> Vec<u8> {
        let mut all = Vec::new();
        while self.fill().await {
            let room = self.most.saturating_sub(all.len()).min(self.bytes.len());
            all.extend_from_slice(&self.bytes[..room]);
            self.bytes.clear();
        }
        all
    }

    async fn fill(&mut self) -> bool {
        let mut bytes = vec![0; CHUNK];
        match self.pipe.read(&mut bytes).await {
            Ok(read @ 1..) => {
                self.bytes.extend_from_slice(&bytes[..read]);
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
