//! Why a run of another program came to nothing.

use std::time::Duration;

/// A tool that a program did not let its model use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeniedTool {
    /// The tool, as the model called it.
    pub tool: String,
    /// What the program said about it; may be empty.
    pub why: String,
}

/// Why a run of another program came to nothing.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// It is not there.
    #[error("{program:?} cannot be found on PATH")]
    Missing {
        /// The program.
        program: String,
        /// How it is installed, where that is known.
        install: &'static str,
    },
    /// It cannot be started.
    #[error("{program:?} cannot be started: {why}")]
    Start {
        /// The program.
        program: String,
        /// Why.
        why: String,
    },
    /// It has no limit of steps.
    #[error("{program} has no limit of steps: --max-steps and max_steps cannot be kept")]
    NoStepLimit {
        /// The program.
        program: String,
    },
    /// The folder for its configuration cannot be made.
    #[error("the configuration for the run cannot be written ({path}): {why}")]
    Folder {
        /// Where.
        path: String,
        /// Why.
        why: String,
    },
    /// It ended with an error.
    #[error("{program:?} failed{}: {why}", code.map(|code| format!(" with exit code {code}")).unwrap_or_default())]
    Failed {
        /// The program.
        program: String,
        /// Its exit code, if it had one that says so.
        code: Option<i32>,
        /// What it said.
        why: String,
    },
    /// It ended well and said nothing.
    #[error("{program:?} gave no answer{}", if said.is_empty() { String::new() } else { format!("; it said: {said}") })]
    Empty {
        /// The program.
        program: String,
        /// What it said beside.
        said: String,
    },
    /// It did not let its model use tools.
    #[error("{program:?} denied its model {}", names(denied))]
    Denied {
        /// The program.
        program: String,
        /// Which tools, in the order they were asked for.
        denied: Vec<DeniedTool>,
    },
    /// It took too long, and was ended.
    #[error("{program:?} was ended after {after:?} (agent_program in [limits])")]
    Timeout {
        /// The program.
        program: String,
        /// After how long.
        after: Duration,
    },
}

fn names(denied: &[DeniedTool]) -> String {
    let one = |denied: &DeniedTool| match denied.why.lines().next() {
        Some(why) if !why.is_empty() => format!("{} ({why})", denied.tool),
        _ => denied.tool.clone(),
    };
    denied.iter().map(one).collect::<Vec<_>>().join(", ")
}
