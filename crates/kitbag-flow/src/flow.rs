//! A drawing that can run, and its run.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use kitbag::Limits;
use kitbag_core::text::nearest;

use crate::check::{Rules, check};
use crate::drawing::Drawing;
use crate::graph::{Argument, Graph, result_name};
use crate::host::Host;
use crate::library::Palette;
use crate::problem::{Problem, Severity};
use crate::raised::Raised;
use crate::run::Running;
use crate::value::{Dialect, Value, pretty, read};

/// A drawing that was checked and can run.
#[derive(Clone)]
pub struct Flow {
    graph: Arc<Graph>,
    notes: Vec<Problem>,
}

/// What a check goes by.
#[derive(Clone)]
pub struct CheckOptions {
    /// The components there are.
    pub palette: Palette,
    /// What bounds a drawing.
    pub limits: Arc<Limits>,
    /// The names of the servers that are configured, where that is known.
    pub servers: Option<Vec<String>>,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self { palette: Palette::native(), limits: Arc::default(), servers: None }
    }
}

/// Why a flow did not come to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FlowError {
    /// An argument that is not known, or not of its kind.
    #[error("{what}")]
    Argument {
        /// What is wrong.
        what: String,
        /// What to do.
        fix: String,
    },
    /// A node failed.
    #[error("{}: {}{raised} ({})", .file.display(), at(.raised), .raised.kind())]
    Raised {
        /// The file.
        file: std::path::PathBuf,
        /// What it said.
        raised: Raised,
    },
}

fn at(raised: &Raised) -> String {
    raised.node().map(|(name, id)| format!("node {name:?} ({id}): ")).unwrap_or_default()
}

/// What a flow came to.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Results {
    /// What Finish was linked to, in its order.
    pub values: Vec<Value>,
}

impl Results {
    /// The values with their names: `output`, `output_1`, …
    pub fn named(&self) -> impl Iterator<Item = (String, &Value)> {
        self.values.iter().enumerate().map(|(place, value)| (result_name(place), value))
    }

    /// The values as a program of Xircuits prints them.
    pub fn text(&self) -> String {
        self.named().map(|(name, value)| format!("{name}:\n{}\n", pretty(value, 1))).collect()
    }
}

impl Flow {
    /// Checks a drawing. What is worth knowing about one that can run is in [`Flow::notes`].
    pub fn new(drawing: &Drawing, options: &CheckOptions) -> Result<Self, Vec<Problem>> {
        let most = options.limits.flow_file;
        let files = |path: &Path| read_file(path, most);
        let rules = Rules {
            palette: &options.palette,
            files: &files,
            most: options.limits.flow_nodes,
            servers: options.servers.as_deref(),
        };
        let checked = check(drawing, rules);
        match checked.graph {
            Some(graph) => Ok(Self { graph, notes: checked.problems }),
            None => Err(checked.problems),
        }
    }

    /// Reads and checks a file.
    pub fn open(file: &Path, options: &CheckOptions) -> Result<Self, Vec<Problem>> {
        Self::new(&load(file, &options.limits).map_err(|problem| vec![problem])?, options)
    }

    /// What is worth knowing about it.
    pub fn notes(&self) -> &[Problem] {
        &self.notes
    }

    /// What can be given to it.
    pub fn arguments(&self) -> &[Argument] {
        &self.graph.arguments
    }

    /// Values for its arguments, as they are typed: `name` and text.
    pub fn values<'a>(
        &self,
        typed: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<HashMap<String, Value>, FlowError> {
        let mut values = HashMap::new();
        for (name, text) in typed {
            let Some(argument) = self.arguments().iter().find(|argument| argument.name == name) else {
                return Err(self.unknown(name));
            };
            let value = typed_value(&argument.kind, text).ok_or_else(|| FlowError::Argument {
                what: format!("argument {name} is of the kind {}, and {text:?} is not", argument.kind),
                fix: example(argument),
            })?;
            values.insert(name.to_owned(), value);
        }
        Ok(values)
    }

    fn unknown(&self, name: &str) -> FlowError {
        let names: Vec<&str> = self.arguments().iter().map(|argument| argument.name.as_str()).collect();
        let fix = match (nearest(name, names.iter().copied()), names.as_slice()) {
            (Some(near), _) => format!("{near}=…"),
            (None, []) => "it takes no arguments".to_owned(),
            (None, names) => format!("it takes {}", names.join(", ")),
        };
        FlowError::Argument { what: format!("there is no argument {name:?}"), fix }
    }

    /// Runs it from its beginning to its end.
    pub async fn run(&self, host: &Host, arguments: HashMap<String, Value>) -> Result<Results, FlowError> {
        let running = Running::new(&self.graph, host.clone(), arguments);
        let ended = async {
            running.execute(0).await?;
            running.results()
        };
        match ended.await {
            Ok(values) => Ok(Results { values }),
            Err(raised) => Err(FlowError::Raised { file: self.graph.file.clone(), raised }),
        }
    }
}

/// Reads a file as a drawing.
pub fn load(file: &Path, limits: &Limits) -> Result<Drawing, Problem> {
    let text = read_file(file, limits.flow_file).map_err(|error| {
        Problem::error(file, format!("cannot be read: {error}"), "give the path of a .xircuits file")
    })?;
    Drawing::read(file, text)
}

fn read_file(path: &Path, most: usize) -> std::io::Result<String> {
    use std::io::{Error, ErrorKind, Read as _};
    let file = std::fs::File::open(path)?;
    let bound = u64::try_from(most).unwrap_or(u64::MAX);
    let mut text = String::new();
    file.take(bound.saturating_add(1)).read_to_string(&mut text)?;
    if most < text.len() {
        let what = format!("it is larger than {most} bytes (limit flow_file)");
        return Err(Error::new(ErrorKind::FileTooLarge, what));
    }
    Ok(text)
}

/// A value of a kind of argument, as the programs of Xircuits read it.
fn typed_value(kind: &str, text: &str) -> Option<Value> {
    match kind {
        "int" => match read(text.trim(), Dialect::Python).ok()? {
            number @ Value::Int(_) => Some(number),
            _ => None,
        },
        "float" => match text.trim().to_ascii_lowercase().as_str() {
            "nan" => Some(Value::Float(f64::NAN)),
            "inf" | "infinity" => Some(Value::Float(f64::INFINITY)),
            "-inf" | "-infinity" => Some(Value::Float(f64::NEG_INFINITY)),
            number => number.replace('_', "").parse().ok().map(Value::Float),
        },
        "boolean" => match text.to_ascii_lowercase().as_str() {
            "true" | "t" | "yes" | "y" | "1" => Some(Value::Bool(true)),
            "false" | "f" | "no" | "n" | "0" => Some(Value::Bool(false)),
            _ => None,
        },
        _ => Some(Value::from(text)),
    }
}

fn example(argument: &Argument) -> String {
    let value = match argument.kind.as_str() {
        "int" => "5",
        "float" => "0.5",
        "boolean" => "true",
        _ => "text",
    };
    format!("{}={value}", argument.name)
}

/// The problems that keep a drawing from running.
pub fn errors(problems: &[Problem]) -> impl Iterator<Item = &Problem> {
    problems.iter().filter(|problem| problem.severity == Severity::Error)
}

impl fmt::Debug for Flow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flow").field("file", &self.graph.file).finish_non_exhaustive()
    }
}
