//! A server as it may be shown: every value that may be a secret is masked.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::{Auth, Defaults, ServerSpec, ServerTarget, Template};

impl ServerSpec {
    /// The server by Kitbag's own keys, without secrets. Keys without a value are left out.
    pub fn shown(&self) -> Map<String, Value> {
        self.show(Defaults::Masked, |_, template| template.shown_as_value())
    }

    /// The same for somebody who decides whether it may run, and must see what its variables do.
    pub fn shown_for_review(&self) -> Map<String, Value> {
        self.show(Defaults::Shown, |name, template| template.shown_for_review(name))
    }

    fn show(&self, defaults: Defaults, value: impl Fn(&str, &Template) -> String) -> Map<String, Value> {
        let text = |template: &Template| template.shown_as_text(defaults);
        let values = |pairs: &[(String, Template)]| {
            let shown =
                pairs.iter().map(|(name, template)| (name.clone(), Value::from(value(name, template))));
            Value::Object(shown.collect())
        };
        let mut shown = Map::new();
        let mut put = |key: &str, value: Value| {
            let empty = value.is_null()
                || value.as_array().is_some_and(Vec::is_empty)
                || value.as_object().is_some_and(Map::is_empty);
            if !empty {
                shown.insert(key.to_owned(), value);
            }
        };
        put("transport", self.transport().as_str().into());
        put("enabled", self.enabled.into());
        match &self.link {
            ServerTarget::Stdio(program) => {
                put("command", program.command.as_ref().map(text).into());
                put("args", self.shown_args(defaults).into());
                put("env", values(&program.env));
                let pass = if program.pass_all { "all".into() } else { program.pass.clone().into() };
                put("pass_env", pass);
                put("env_file", program.env_file.as_ref().map(text).into());
                put("cwd", program.cwd.as_ref().map(text).into());
            }
            ServerTarget::Remote(endpoint) => {
                put("url", endpoint.url.shown_as_url(defaults).into());
                put("headers", values(&endpoint.headers));
                match &endpoint.auth {
                    Auth::None => {}
                    Auth::Bearer(token) => {
                        put("auth", json!({"type": "bearer", "token": token.shown_as_value()}))
                    }
                    Auth::Header { name, value } => {
                        put("auth", json!({"type": "header", "name": name, "value": value.shown_as_value()}))
                    }
                }
            }
            ServerTarget::InProcess(_) => {}
        }
        put("connect_timeout_ms", self.waits.connect.map(millis).into());
        put("call_timeout_ms", self.waits.call.map(millis).into());
        put("include", self.filter.include.clone().into());
        put("exclude", self.filter.exclude.clone().into());
        put("required", self.required.then_some(true).into());
        put("lazy", self.lazy.then_some(true).into());
        put("concurrency", self.concurrency.into());
        put("fallback", self.fallback.as_ref().map(|fallback| fallback.server.clone()).into());
        put("per_user", self.per_user.then_some(true).into());
        put("mask_results", self.mask_results.then_some(true).into());
        put("description", self.description.clone().into());
        put("inputs", self.inputs.iter().map(|input| input.id.clone()).collect::<Vec<_>>().into());
        put("kept", self.extra.0.keys().cloned().collect::<Vec<_>>().into());
        shown
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
