//! What the command line says about HTTP.

use std::path::PathBuf;
use std::time::Duration;

use super::number;

#[derive(Default)]
pub(crate) struct HttpOptions {
    /// Without one it is stdio.
    pub(crate) port: Option<u16>,
    pub(crate) style: Style,
    pub(crate) answer: Form,
    pub(crate) sessions: Sessions,
    pub(crate) bearer: Option<String>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) retry: Option<u64>,
    pub(crate) elsewhere: Option<String>,
    pub(crate) idle: Option<Duration>,
    pub(crate) door: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    Stdio,
    Http,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Style {
    #[default]
    Streamable,
    OldSse,
    Canary,
}

/// How an answer is written.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// Decided by what comes first.
    #[default]
    Auto,
    Json,
    Sse,
}

/// Whether the legacy era has sessions.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Sessions {
    #[default]
    Kept,
    None,
}

impl HttpOptions {
    pub(crate) fn wire(&self) -> Wire {
        if self.port.is_some() { Wire::Http } else { Wire::Stdio }
    }

    /// Takes an option without a value; whether it is one.
    pub(super) fn flag(&mut self, option: &str) -> bool {
        match option {
            "--sse" => self.style = Style::OldSse,
            "--canary" => self.style = Style::Canary,
            "--stateless" => self.sessions = Sessions::None,
            _ => return false,
        }
        true
    }

    pub(super) fn set(&mut self, option: &str, value: String) -> Result<(), String> {
        match option {
            "--http" => self.port = Some(number(&value)?),
            "--answer" => self.answer = form(&value)?,
            "--bearer" => self.bearer = Some(value),
            "--header" => {
                let (name, value) = value.split_once('=').ok_or("--header needs NAME=VALUE")?;
                self.headers.push((name.into(), value.into()));
            }
            "--retry" => self.retry = Some(number(&value)?),
            "--elsewhere" => self.elsewhere = Some(value),
            "--idle" => self.idle = Some(Duration::from_millis(number(&value)?)),
            "--door" => self.door = Some(value.into()),
            _ => return Err(format!("unknown option {option}")),
        }
        Ok(())
    }
}

fn form(text: &str) -> Result<Form, String> {
    match text {
        "auto" => Ok(Form::Auto),
        "json" => Ok(Form::Json),
        "sse" => Ok(Form::Sse),
        _ => Err(format!("unknown form {text}")),
    }
}
