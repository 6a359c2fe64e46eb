//! A server with values instead of references, and the hash by which two of them are the same.

use std::fmt;

use sha2::{Digest, Sha256};

use super::{Auth, Program, ServerSpec, ServerTarget, Transport, put};
use crate::fault::{Fault, FaultKind};
use crate::model::{InProcess, Missing, Secret, Template, ValueSource};
use crate::names::hex;

/// A server whose references have all been given their values.
#[derive(Clone, Debug)]
pub struct ResolvedSpec {
    /// How to reach it.
    pub link: ResolvedTarget,
}

/// [`ServerTarget`] with values instead of references; what a reference brought in does not print.
#[derive(Clone)]
pub enum ResolvedTarget {
    /// Start it.
    Stdio {
        /// What to start.
        command: String,
        /// Its arguments.
        args: Vec<Secret>,
        /// Variables given to it.
        env: Vec<(String, Secret)>,
        /// Variables of its file of variables; those above win.
        file_env: Vec<(String, Secret)>,
        /// Where it runs.
        cwd: Option<String>,
    },
    /// Connect to it.
    Remote {
        /// How.
        transport: Transport,
        /// The address; may hold a secret.
        url: Secret,
        /// Headers, the one for authentication included.
        headers: Vec<(String, Secret)>,
    },
    /// It is inside this program.
    InProcess(InProcess),
}

impl ResolvedTarget {
    /// A hash of every value, those of variables passed on by name too: equal only for servers that start or reach
    /// the same thing with the same values.
    pub fn identity(&self, passed: &[(String, Secret)]) -> Identity {
        let mut sha = Sha256::new();
        let named = |sha: &mut Sha256, key: &str, pairs: &[(String, Secret)]| {
            for (name, value) in pairs {
                put(sha, &format!("{key} {name}"), value.expose());
            }
        };
        match self {
            Self::Stdio { command, args, env, file_env, cwd } => {
                put(&mut sha, "command", command);
                args.iter().for_each(|arg| put(&mut sha, "arg", arg.expose()));
                named(&mut sha, "env", env);
                named(&mut sha, "file", file_env);
                named(&mut sha, "passed", passed);
                cwd.iter().for_each(|cwd| put(&mut sha, "cwd", cwd));
            }
            Self::Remote { transport, url, headers } => {
                put(&mut sha, "transport", transport.as_str());
                put(&mut sha, "url", url.expose());
                named(&mut sha, "header", headers);
            }
            Self::InProcess(server) => put(&mut sha, "in process", &server.id()),
        }
        Identity(sha.finalize().into())
    }
}

/// Which values a server runs with, without the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity([u8; 32]);

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0[..16]))
    }
}

impl fmt::Debug for ResolvedTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio { args, env, .. } => {
                f.debug_struct("Stdio").field("args", args).field("env", env).finish_non_exhaustive()
            }
            Self::Remote { transport, url, headers } => f
                .debug_struct("Remote")
                .field("transport", transport)
                .field("url", url)
                .field("headers", headers)
                .finish(),
            Self::InProcess(server) => server.fmt(f),
        }
    }
}

impl ServerSpec {
    /// Gives every reference its value. Each one without is a fault of this server alone.
    pub fn resolve(&self, lookup: &dyn ValueSource) -> Result<ResolvedSpec, Vec<Fault>> {
        let mut faults: Vec<Fault> = Vec::new();
        for (key, text) in self.templates() {
            for missing in text.resolve(lookup).err().into_iter().flatten() {
                let fault = self.missing(key, &missing);
                if !faults.iter().any(|known| known.message == fault.message) {
                    faults.push(fault);
                }
            }
        }
        let value = |text: &Template| text.resolve(lookup).unwrap_or_default();
        let mut file_env = Vec::new();
        if let ServerTarget::Stdio(Program { env_file: Some(file), .. }) = &self.link
            && faults.is_empty()
        {
            match lookup.env_file(&value(file)) {
                Ok(variables) => file_env = variables,
                Err(why) => faults.push(self.unreadable_env_file(&why)),
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let secret = |text: &Template| Secret::new(value(text));
        let named = |pairs: &[(String, Template)]| {
            pairs.iter().map(|(n, v)| (n.clone(), secret(v))).collect::<Vec<_>>()
        };
        let link = match &self.link {
            ServerTarget::Stdio(program) => ResolvedTarget::Stdio {
                command: program.command.as_ref().map(value).unwrap_or_default(),
                args: program.args.iter().map(secret).collect(),
                env: named(&program.env),
                file_env,
                cwd: program.cwd.as_ref().map(value),
            },
            ServerTarget::Remote(endpoint) => {
                let mut headers = named(&endpoint.headers);
                match &endpoint.auth {
                    Auth::None => {}
                    Auth::Bearer(text) => {
                        headers.push(("Authorization".into(), Secret::new(format!("Bearer {}", value(text)))))
                    }
                    Auth::Header { name, value } => headers.push((name.clone(), secret(value))),
                }
                ResolvedTarget::Remote { transport: endpoint.transport, url: secret(&endpoint.url), headers }
            }
            ServerTarget::InProcess(server) => ResolvedTarget::InProcess(server.clone()),
        };
        Ok(ResolvedSpec { link })
    }

    fn unreadable_env_file(&self, why: &str) -> Fault {
        let fault =
            Fault::error(FaultKind::Unreadable, format!("its file of variables cannot be read: {why}"));
        let place = self.places.get("env_file").unwrap_or(&self.origin.place);
        fault.hint("correct the path of \"envFile\", or remove the key").of(&self.name).at(place.clone())
    }

    fn missing(&self, key: &'static str, missing: &Missing) -> Fault {
        let fault = match missing {
            Missing::Var(name) => {
                Fault::error(FaultKind::MissingVariable, format!("variable {name} is not set"))
                    .hint(format!("set {name} in the environment, or write ${{{name}:-default}}"))
            }
            Missing::Input(id) => Fault::error(FaultKind::MissingInput, format!("no value for input {id:?}"))
                .hint(format!(
                    "set {}, or run `kitbag doctor` on a terminal to be asked once",
                    input_variable(id)
                )),
            Missing::Folder(folder) => Fault::error(
                FaultKind::MissingVariable,
                format!("${{{}}} is not known here", folder.as_str()),
            )
            .hint("write the folder's path instead"),
        };
        let place = self.places.get(key).unwrap_or(&self.origin.place);
        fault.of(&self.name).at(place.clone())
    }
}

/// The variable that answers for an input.
pub fn input_variable(id: &str) -> String {
    let word: String =
        id.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    format!("KITBAG_INPUT_{word}")
}
