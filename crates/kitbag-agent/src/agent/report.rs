//! What a run came to: the answer, and how it was found.

use std::time::Duration;

use crate::model::Usage;

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ended {
    /// With an answer.
    #[default]
    Answered,
    /// After as many steps as it may take.
    StepLimit,
    /// Because the model made the same call with the same result again and again.
    Repeated,
}

impl Ended {
    /// The word used in JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::StepLimit => "step_limit",
            Self::Repeated => "repeated",
        }
    }
}

/// One call that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    /// In which step; the first is 1.
    pub step: usize,
    /// The tool, as the model called it.
    pub tool: String,
    /// How long it took.
    pub took: Duration,
    /// What went wrong, if something did.
    pub error: Option<String>,
}

/// What a run came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// What the model said last.
    pub text: String,
    /// How it ended.
    pub ended: Ended,
    /// Replies of the model.
    pub steps: usize,
    /// Every call, in the order they were made.
    pub executions: Vec<Execution>,
    /// The calls that agents made which did a task for this one, in the order they were made for each task; the step is that of the task.
    pub delegated: Vec<Execution>,
    /// Tokens of all steps, those of such tasks included.
    pub usage: Usage,
}

impl Report {
    /// The tools that were used, in the order of their first use.
    pub fn tools(&self) -> Vec<&str> {
        let mut tools: Vec<&str> = Vec::new();
        for execution in &self.executions {
            if !tools.contains(&execution.tool.as_str()) {
                tools.push(&execution.tool);
            }
        }
        tools
    }

    /// What went wrong, in order.
    pub fn errors(&self) -> impl Iterator<Item = &str> {
        self.executions.iter().filter_map(|execution| execution.error.as_deref())
    }
}
