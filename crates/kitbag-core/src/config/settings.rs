//! `kitbag.toml`: Kitbag's own settings. One table of keys drives the checking, the hints and the JSON
//! Schema that is shipped, so the three cannot differ.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::source::Source;
use super::tree::{self, Format, Node};
use crate::fault::{Fault, FaultKind, Place, Severity};
use crate::model::{AgentRules, Bound, Limits, Mode, Overrides};
use crate::names::{Form, UserId};

mod check;
mod keys;
mod rules;
mod schema;

#[cfg(test)]
mod tests;

pub use schema::json_schema;

/// How long things may take, where the settings say so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wait {
    /// How long an agent or command waits for its servers.
    pub agent: Option<Duration>,
    /// Until a started program is connected.
    pub stdio: Option<Duration>,
    /// Until an address is connected.
    pub http: Option<Duration>,
    /// Until the tools are listed.
    pub list: Option<Duration>,
    /// Silence during a call.
    pub idle: Option<Duration>,
    /// A whole call.
    pub total: Option<Duration>,
}

/// A value with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sited<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub place: Place,
}

/// What one `kitbag.toml` says, as far as this part of Kitbag acts on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Other programs whose files are used.
    pub hosts: Vec<Sited<String>>,
    /// Further files.
    pub files: Vec<Sited<String>>,
    /// A folder of one-file servers.
    pub servers_dir: Option<Sited<String>>,
    /// What is said about single servers.
    pub servers: Vec<(String, Sited<Overrides>)>,
    /// The agents it names, and what each may see.
    pub agents: Vec<(String, AgentRules)>,
    /// Which form of name tools have.
    pub names: Option<Form>,
    /// How tools are shown.
    pub mode: Option<Mode>,
    /// The users it names.
    pub users: Vec<UserId>,
    /// How long things may take.
    pub wait: Wait,
    /// The bounds.
    pub limits: Limits,
}

/// Reads a `kitbag.toml`. What cannot be used is a fault; the rest counts.
pub fn read(file: &Path, text: &str, limits: &Limits) -> (Settings, Vec<Fault>) {
    let source = Source::new(Arc::<Path>::from(file), text);
    let root = match tree::parse(&source, Format::Toml, limits) {
        Ok(root) => root,
        Err(fault) => return (Settings::default(), vec![*fault]),
    };
    let mut faults = check::check(&source, &root, limits.config_faults);
    let reader = Reader { source: &source, root: &root };
    let (users, bad) = reader.users(limits.config_faults);
    faults.extend(bad);
    let settings = Settings {
        hosts: reader.texts(&["sources", "hosts"]),
        files: reader.texts(&["sources", "files"]),
        servers_dir: reader.texts(&["sources", "servers_dir"]).pop(),
        servers: reader.servers(),
        agents: rules::agents(&root),
        names: rules::form(&root, &["present", "names"]),
        mode: rules::mode(&root, &["present", "mode"]),
        users,
        wait: reader.wait(),
        limits: reader.limits(limits),
    };
    faults.truncate(limits.config_faults);
    (settings, faults)
}

/// Whether any of the faults means that a value was not taken over.
pub fn is_broken(faults: &[Fault]) -> bool {
    faults.iter().any(|fault| fault.severity == Severity::Error)
}

struct Reader<'a> {
    source: &'a Source<'a>,
    root: &'a Node,
}

impl Reader<'_> {
    fn texts(&self, path: &[&str]) -> Vec<Sited<String>> {
        let Some(node) = self.root.at_path(path) else { return Vec::new() };
        let nodes = node.list().unwrap_or(std::slice::from_ref(node));
        let sited =
            |node: &Node| Some(Sited { value: node.text()?.to_owned(), place: self.source.place(node.at) });
        nodes.iter().filter_map(sited).collect()
    }

    fn servers(&self) -> Vec<(String, Sited<Overrides>)> {
        let pairs = self.root.get("servers").and_then(Node::map).unwrap_or_default();
        pairs
            .iter()
            .map(|pair| {
                let flag = |key: &str| pair.value.get(key).and_then(Node::bool);
                let list = |key: &str| {
                    let nodes = pair.value.get(key)?.list()?;
                    Some(nodes.iter().filter_map(Node::text).map(str::to_owned).collect())
                };
                let value = Overrides {
                    enabled: flag("enabled"),
                    required: flag("required"),
                    lazy: flag("lazy"),
                    concurrency: pair
                        .value
                        .get("concurrency")
                        .and_then(Node::number)
                        .map(|number| number as u32),
                    include: list("include"),
                    exclude: list("exclude"),
                    rules: rules::server(&pair.value),
                };
                (pair.key.clone(), Sited { value, place: self.source.place(pair.at) })
            })
            .collect()
    }

    fn users(&self, most: usize) -> (Vec<UserId>, Vec<Fault>) {
        let mut users = Vec::new();
        let mut faults = Vec::new();
        for pair in self.root.get("users").and_then(Node::map).unwrap_or_default() {
            match UserId::parse(&pair.key) {
                Ok(user) => users.push(user),
                Err(_) if most <= faults.len() => {}
                Err(invalid) => faults
                    .push(self.source.mark(Fault::error(FaultKind::BadName, invalid.to_string()), pair.at)),
            }
        }
        (users, faults)
    }

    fn wait(&self) -> Wait {
        let get = |key: &str| self.root.at_path(&["wait", key]).and_then(Node::text).and_then(duration);
        Wait {
            agent: get("agent"),
            stdio: get("stdio"),
            http: get("http"),
            list: get("list"),
            idle: get("idle"),
            total: get("total"),
        }
    }

    fn limits(&self, base: &Limits) -> Limits {
        let mut limits = base.clone();
        for pair in self.root.get("limits").and_then(Node::map).unwrap_or_default() {
            if let Some(bound) = bound(&pair.value) {
                limits.set(&pair.key, bound);
            }
        }
        let wait = self.wait();
        let clocks = [
            (&mut limits.wait_agent, wait.agent),
            (&mut limits.wait_stdio, wait.stdio),
            (&mut limits.wait_http, wait.http),
            (&mut limits.wait_list, wait.list),
            (&mut limits.wait_idle, wait.idle),
            (&mut limits.wait_total, wait.total),
        ];
        for (clock, time) in clocks {
            *clock = time.unwrap_or(*clock);
        }
        limits
    }
}

/// A bound: a time, a size, or a number from 1.
fn bound(node: &Node) -> Option<Bound> {
    let time = node.text().and_then(duration).filter(|time| !time.is_zero()).map(Bound::Time);
    let bytes = || node.text().and_then(size).filter(|size| 0 < *size).map(Bound::Bytes);
    let items = || {
        node.number()
            .filter(|number| 1.0 <= *number && number.fract() == 0.0 && *number < 1e15)
            .map(|number| Bound::Items(number as usize))
    };
    time.or_else(bytes).or_else(items)
}

/// `500ms`, `5s`, `2m`, `1h`, with a fraction if need be.
pub fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = split_unit(text)?;
    let seconds = match unit {
        "ms" => number / 1000.0,
        "s" => number,
        "m" | "min" => number * 60.0,
        "h" => number * 3600.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|duration| *duration <= Duration::from_secs(30 * 24 * 3600))
}

/// `16MiB`, `64KiB`, `1GiB`, `10MB`, `512B`.
pub fn size(text: &str) -> Option<usize> {
    let (number, unit) = split_unit(text)?;
    let factor: u32 = match unit {
        "B" | "" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        _ => return None,
    };
    let bytes = number * f64::from(factor);
    (0.0..1e15).contains(&bytes).then_some(bytes as usize)
}

fn split_unit(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    Some((number.parse().ok()?, unit.trim_start()))
}
