//! One server in another program's words. What has no word there is remembered and said.

use std::time::Duration;

use serde_json::{Map, Value};

use super::super::dialect::TimeUnit;
use super::super::dialect::words::{OffWord, RemoteWords};
use super::super::interpolate::template;
use super::{ExportSecrets, ExportTarget};
use crate::model::{
    Auth, Defaults, Endpoint, Piece, Program, ServerRules, ServerSpec, ServerTarget, Template, Transport,
    input_variable,
};
use crate::text::MASK;

/// The entry, unless the program could not use it as it is meant, and what there is to say about it.
pub(super) fn write(
    target: ExportTarget,
    spec: &ServerSpec,
    secrets: ExportSecrets,
) -> (Option<Value>, Vec<String>) {
    let mut writer =
        Writer { target, spec, secrets, entry: Map::new(), unsaid: Vec::new(), remarks: Vec::new() };
    if let Err(reason) = writer.all() {
        return (None, vec![format!("{} is left out: {reason}", spec.name)]);
    }
    let title = target.dialect.title;
    if !writer.unsaid.is_empty() {
        let unsaid = writer.unsaid.join(", ");
        writer.remarks.insert(0, format!("{title} has no key for {unsaid}"));
    }
    let remarks = writer.remarks.iter().map(|remark| format!("{}: {remark}", spec.name)).collect();
    (Some(Value::Object(writer.entry)), remarks)
}

struct Writer<'a> {
    target: ExportTarget,
    spec: &'a ServerSpec,
    secrets: ExportSecrets,
    entry: Map<String, Value>,
    /// What the server has and this program has no key for, by Kitbag's own key.
    unsaid: Vec<String>,
    remarks: Vec<String>,
}

impl<'a> Writer<'a> {
    /// Writes everything, or says why the server is better left out.
    fn all(&mut self) -> Result<(), String> {
        let (spec, words) = (self.spec, self.target.words);
        if let Some(key) = words.name {
            self.put(key, spec.name.as_str());
        }
        match &spec.link {
            ServerTarget::Stdio(program) => self.program(program),
            ServerTarget::Remote(endpoint) => self.endpoint(endpoint)?,
            ServerTarget::InProcess(_) => return Err("it is inside this program".to_owned()),
        }
        self.tools();
        self.wait(spec.waits.call, words.call, "call_timeout");
        self.wait(spec.waits.connect, words.connect, "connect_timeout");
        match (spec.enabled, words.off) {
            (true, _) => {}
            (false, Some(OffWord::Disabled)) => self.put("disabled", true),
            (false, Some(OffWord::Enabled)) => self.put("enabled", false),
            (false, None) => {
                return Err(format!("it is disabled, and {} has no key for that", self.target.dialect.title));
            }
        }
        let required = spec.required.then_some(Value::from(true));
        self.maybe(words.required, required, "required");
        self.maybe(words.description, spec.description.clone().map(Value::from), "description");
        self.our_own();
        Ok(())
    }

    fn put(&mut self, key: &str, value: impl Into<Value>) {
        self.entry.insert(key.to_owned(), value.into());
    }

    /// Under the program's key if it has one; ours stands in the remark otherwise.
    fn maybe(&mut self, key: Option<&str>, value: Option<Value>, ours: &str) {
        match (key, value) {
            (_, None) => {}
            (Some(key), Some(value)) => self.put(key, value),
            (None, Some(_)) => self.unsaid.push(ours.to_owned()),
        }
    }

    fn program(&mut self, program: &'a Program) {
        let words = self.target.words.stdio;
        if let Some((key, word)) = words.kind {
            self.put(key, word);
        }
        let command = program.command.as_ref().map_or(Value::Null, |command| self.text(command));
        let args = self.args(program);
        match words.args {
            Some(key) => {
                self.put(words.command, command);
                self.put(key, args);
            }
            None => {
                let list: Vec<Value> = std::iter::once(command).chain(args).collect();
                self.put(words.command, list);
            }
        }
        let is_passed = |name: &str, text: &Template| words.pass.is_some() && variable(text) == Some(name);
        let mut pass = program.pass.clone();
        let mut env = Map::new();
        for (name, text) in &program.env {
            if is_passed(name, text) {
                pass.push(name.clone());
            } else {
                env.insert(name.clone(), self.value(text));
            }
        }
        if let Some(key) = words.pass.filter(|_| !pass.is_empty()) {
            self.put(key, pass);
        } else {
            env.extend(pass.into_iter().map(|name| {
                let value = self.text(&Template::var(&name));
                (name, value)
            }));
        }
        if !env.is_empty() {
            self.put(words.env, env);
        }
        let cwd = program.cwd.as_ref().map(|text| (words.cwd, text, "cwd"));
        let env_file = program.env_file.as_ref().map(|text| (words.env_file, text, "envFile"));
        for (key, text, ours) in cwd.into_iter().chain(env_file) {
            let value = self.text(text);
            self.maybe(key, Some(value), ours);
        }
        if program.pass_all {
            self.unsaid.push("env_pass".to_owned());
        }
    }

    /// Where literals are ordinary, only one without references can hold a secret that the rules see.
    fn args(&mut self, program: &Program) -> Vec<Value> {
        let shown = self.spec.shown_args(Defaults::Masked);
        let is_masked = |arg: &Template| self.secrets == ExportSecrets::Masked && arg.is_literal();
        let masked: Vec<bool> = program.args.iter().map(is_masked).collect();
        let args = program.args.iter().zip(shown).zip(masked);
        args.map(|((arg, shown), masked)| if masked { Value::from(shown) } else { self.text(arg) }).collect()
    }

    fn endpoint(&mut self, endpoint: &'a Endpoint) -> Result<(), String> {
        let title = self.target.dialect.title;
        let Some(words) = self.target.words.remote else {
            return Err(format!("{title} reads no addresses from its file, only programs to start"));
        };
        let by_path = endpoint.transport == Transport::Auto && endpoint.url.written().ends_with("/sse");
        let (word, key) = match endpoint.transport {
            Transport::Sse => words.sse.ok_or_else(|| format!("{title} does not speak SSE"))?,
            _ if by_path => words.sse.unwrap_or(words.http),
            _ => words.http,
        };
        if let Some(kind) = words.kind.filter(|_| !word.is_empty()) {
            self.put(kind, word);
        }
        let shown = endpoint.url.shown_as_url(Defaults::Masked);
        let is_masked = self.secrets == ExportSecrets::Masked && shown.contains(MASK);
        let url = if is_masked { Value::from(shown) } else { self.text(&endpoint.url) };
        self.put(key, url);
        self.headers(endpoint, words);
        Ok(())
    }

    fn headers(&mut self, endpoint: &'a Endpoint, words: RemoteWords) {
        let mut all = endpoint.headers.clone();
        match &endpoint.auth {
            Auth::None => {}
            Auth::Bearer(token) => match (words.bearer_var, variable(token)) {
                (Some(key), Some(name)) => self.put(key, name),
                _ => all.push(("Authorization".to_owned(), token.clone().after("Bearer "))),
            },
            Auth::Header { name, value } => all.push((name.clone(), value.clone())),
        }
        let (mut headers, mut variables) = (Map::new(), Map::new());
        for (name, text) in all {
            match (words.env_headers, variable(&text)) {
                (Some(_), Some(variable)) => _ = variables.insert(name, variable.into()),
                _ => _ = headers.insert(name, self.value(&text)),
            }
        }
        let keys = [(words.headers, headers), (words.env_headers.unwrap_or_default(), variables)];
        for (key, map) in keys.into_iter().filter(|(_, map)| !map.is_empty()) {
            self.put(key, map);
        }
    }

    /// Which tools are taken. Other programs compare names only.
    fn tools(&mut self) {
        let (filter, words) = (&self.spec.filter, self.target.words);
        let list = |names: &[String]| (!names.is_empty()).then(|| Value::from(names.to_vec()));
        let include = list(&filter.include);
        match (words.include, &include) {
            (Some((key, all)), None) if !all.is_empty() => self.put(key, all.to_vec()),
            _ => self.maybe(words.include.map(|(key, _)| key), include, "include"),
        }
        self.maybe(words.exclude, list(&filter.exclude), "exclude");
        let include = filter.include.iter().filter(|_| words.include.is_some());
        let exclude = filter.exclude.iter().filter(|_| words.exclude.is_some());
        let is_pattern = |name: &&String| name.contains(['*', '?', '[', '{']);
        let patterns: Vec<&str> = include.chain(exclude).filter(is_pattern).map(String::as_str).collect();
        if !patterns.is_empty() {
            let title = self.target.dialect.title;
            let patterns = patterns.join(", ");
            self.remarks.push(format!("{title} compares tool names only, so these fit none: {patterns}"));
        }
    }

    fn wait(&mut self, wait: Option<Duration>, key: Option<(&str, TimeUnit)>, ours: &str) {
        let unit = key.map_or(TimeUnit::Seconds, |(_, unit)| unit);
        let number = wait.map(|wait| match (unit, wait.subsec_nanos()) {
            (TimeUnit::Millis | TimeUnit::Guess, _) => Value::from(wait.as_millis() as u64),
            (TimeUnit::Seconds, 0) => Value::from(wait.as_secs()),
            (TimeUnit::Seconds, _) => Value::from(wait.as_secs_f64()),
        });
        self.maybe(key.map(|(key, _)| key), number, ours);
    }

    /// What only Kitbag does, and keys of other programs that it only keeps.
    fn our_own(&mut self) {
        let spec = self.spec;
        let ours = [
            (spec.lazy, "lazy"),
            (spec.concurrency.is_some(), "concurrency"),
            (spec.per_user, "per_user"),
            (spec.mask_results, "mask_results"),
            (spec.rules != ServerRules::default(), "its rules in kitbag.toml"),
        ];
        self.unsaid.extend(ours.iter().filter(|(is_set, _)| *is_set).map(|(_, key)| (*key).to_owned()));
        let is_comment = |key: &&String| key.starts_with(['_', '$', '/']) || key.starts_with("x-");
        self.unsaid.extend(spec.extra.0.keys().filter(|key| !is_comment(key)).cloned());
    }

    /// A text whose literals are ordinary.
    fn text(&mut self, template: &Template) -> Value {
        self.references(template);
        Value::from(template.spelt(|piece| spell(self.target, piece)))
    }

    /// A text whose literals may be secrets.
    fn value(&mut self, template: &Template) -> Value {
        match self.secrets {
            ExportSecrets::Written => self.text(template),
            ExportSecrets::Masked => {
                self.references(template);
                Value::from(template.masked_in(|piece| spell(self.target, piece)))
            }
        }
    }

    /// What the program would take for a reference in a text that holds none.
    fn mistaken(&self, text: &str) -> Option<String> {
        let read = template(text, self.target.dialect);
        read.pieces().iter().find_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Var { name, .. } => Some(name.clone()),
            Piece::Input(_) | Piece::Folder(_) => Some(spell(self.target, piece)),
        })
    }

    /// Says which references of a text the program does not take for what they are.
    fn references(&mut self, template: &Template) {
        let (title, words) = (self.target.dialect.title, self.target.words);
        for piece in template.pieces() {
            let shown = spell(self.target, piece);
            let remark = match (piece, words.reference) {
                (Piece::Text(text), _) => match self.mistaken(text) {
                    Some(name) => format!("{title} expands the variable {name}, which is plain text here"),
                    None => continue,
                },
                (Piece::Folder(_), Some(_)) if words.folders => continue,
                (Piece::Var { default: None, .. }, Some(_)) => continue,
                (Piece::Var { default: Some(_), .. }, Some(words)) if words.defaults => continue,
                (Piece::Var { name, default: Some(_) }, Some(_)) => {
                    format!("{title} knows no defaults: set the variable {name}")
                }
                (Piece::Input(id), Some(_)) => {
                    format!("{title} is not asked for {id:?}: set the variable {}", input_variable(id))
                }
                (Piece::Folder(_), _) | (_, None) => format!("{title} does not expand {shown}"),
            };
            if !self.remarks.contains(&remark) {
                self.remarks.push(remark);
            }
        }
    }
}

/// The one variable that a text is, if it is nothing else.
fn variable(template: &Template) -> Option<&str> {
    match template.pieces() {
        [Piece::Var { name, default: None }] => Some(name),
        _ => None,
    }
}

/// A piece in the spelling the target expands.
fn spell(target: ExportTarget, piece: &Piece) -> String {
    let words = target.words.reference;
    let (open, close) = words.map_or(("${", "}"), |words| (words.open, words.close));
    match piece {
        Piece::Text(text) => text.clone(),
        Piece::Var { name, default: Some(default) } if words.is_some_and(|words| words.defaults) => {
            format!("{open}{name}:-{default}{close}")
        }
        Piece::Var { name, .. } => format!("{open}{name}{close}"),
        Piece::Input(id) => format!("{open}{}{close}", input_variable(id)),
        Piece::Folder(folder) => format!("${{{}}}", folder.as_str()),
    }
}
