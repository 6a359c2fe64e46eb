//! Prompts: what a view lists, under which names, and which one a name means. They are named like tools, by tables of their
//! own.

use std::sync::{Arc, PoisonError};

use kitbag_core::names::lookup::{NameIndex, NameMatch, NameRow};
use kitbag_core::names::{NameForm, NameTable, Naming, ToolKey, assign};
use kitbag_core::shape::{View, ViewTool};
use kitbag_core::{ErrorKind, Fault, FaultKind, ServerName, ShownName, Stage, ToolName};

use super::super::views::WHOSE;
use super::super::{Inner, Kitbag};
use super::rows::{Prompt, definition};
use super::{Gathered, Offered};
use crate::connect::ListKind;
use crate::execute::{CallError, Repair, troubled};
use crate::roster::Now;

/// The most names an ambiguous one is said to mean.
const MOST_NAMES: usize = 10;

/// The names given to prompts, in each form. A name that was given is not given to another as long as this process runs.
#[derive(Default)]
pub(in crate::kit) struct PromptNames {
    full: NameTable,
    short: NameTable,
    bare: NameTable,
}

impl PromptNames {
    /// Names for prompts that have none yet.
    fn give(&mut self, pairs: &[ToolKey], most: usize) {
        for (form, table) in [
            (NameForm::Full, &mut self.full),
            (NameForm::Short, &mut self.short),
            (NameForm::Bare, &mut self.bare),
        ] {
            *table = assign(table, pairs.iter().cloned(), &Naming::new(form).keeping(most));
        }
    }

    fn of(&self, form: NameForm, (server, prompt): &ToolKey) -> Option<ShownName> {
        let table = match form {
            NameForm::Full => &self.full,
            NameForm::Short => &self.short,
            NameForm::Bare => &self.bare,
        };
        table.name(server, prompt).cloned()
    }
}

/// A prompt, and what it is judged by.
pub(super) struct MeantPrompt {
    pub(super) now: Arc<Now>,
    pub(super) prompt: Prompt,
    pub(super) shown: Arc<ViewTool>,
}

/// All prompts of a view.
struct PromptRows {
    now: Arc<Now>,
    rows: Vec<(Prompt, Arc<ViewTool>)>,
    held: Vec<(ServerName, String, String)>,
    faults: Vec<Fault>,
}

impl Kitbag {
    /// The prompts that whoever has this view may get, of all servers, and what is wrong with some of them. They are named
    /// like tools, in the form of name that the view has.
    pub async fn prompts(&self, view: &View) -> (Vec<Prompt>, Vec<Fault>) {
        match self.0.prompt_rows(view).await {
            Ok(PromptRows { rows, faults, held, .. }) => {
                let held = held.iter().map(|(server, prompt, why)| held_fault(server, prompt, why));
                let faults = faults.into_iter().chain(held).collect();
                (rows.into_iter().map(|(prompt, _)| prompt).collect(), faults)
            }
            Err(error) => {
                let fault = Fault::error(FaultKind::RuleFailed, error.message);
                (Vec::new(), vec![Fault { stage: Stage::Shape, ..fault }])
            }
        }
    }
}

impl Inner {
    async fn prompt_rows(&self, view: &View) -> Result<PromptRows, CallError> {
        let Gathered { now, lists, mut faults } = self.gather(view, ListKind::Prompts).await;
        let offers: Vec<Offered> =
            lists.iter().flat_map(|(server, list)| self.offered(&now, server, list)).collect();
        let judged = self.judge_offers(view, &now, ListKind::Prompts, &offers);
        let judged = judged.map_err(|trouble| troubled(WHOSE, &trouble))?;
        faults.extend(judged.faults.iter().cloned());
        let pair = |offered: &Offered| Some((offered.server.clone(), ToolName::parse(&offered.key).ok()?));
        let pairs: Vec<ToolKey> = offers.iter().filter_map(pair).collect();
        let mut names = self.offered.prompt_names.lock().unwrap_or_else(PoisonError::into_inner);
        names.give(&pairs, now.world.limits.names);
        let form = view.agent().names.unwrap_or(now.world.form);
        let row = |offered: &Offered| {
            let (key, name) = (pair(offered)?, ToolName::of_prompt(&offered.key).ok()?);
            let shown = judged.get(&offered.server, &name)?;
            let [name, full, short] =
                [form, NameForm::Full, NameForm::Short].map(|form| names.of(form, &key));
            let (name, full, short) = (name?, full?, short?);
            let definition = definition(offered, shown, "name", name.as_str());
            let (server, own_name) = (offered.server.clone(), offered.key.clone());
            Some((Prompt { name, server, own_name, definition, full, short }, shown.clone()))
        };
        let rows: Vec<_> = offers.iter().filter_map(row).collect();
        drop(names);
        Ok(PromptRows { now, rows, held: judged.held, faults })
    }

    /// The prompt a name means in a view, by what is true now.
    pub(super) async fn prompt_meant(&self, view: &View, name: &str) -> Result<MeantPrompt, CallError> {
        let PromptRows { now, rows, held, .. } = self.prompt_rows(view).await?;
        let index = NameIndex::new(rows.iter().filter_map(|(prompt, _)| {
            Some(NameRow {
                shown: prompt.name.clone(),
                full: prompt.full.clone(),
                short: prompt.short.clone(),
                server: prompt.server.clone(),
                tool: ToolName::parse(&prompt.own_name).ok()?,
            })
        }));
        let names = |places: &[usize]| -> Vec<String> {
            let named = places.iter().filter_map(|place| Some(rows.get(*place)?.0.name.to_string()));
            named.take(MOST_NAMES).collect()
        };
        match index.find(name) {
            NameMatch::One(place) => {
                let (prompt, shown) =
                    rows.into_iter().nth(place).ok_or_else(|| no_prompt(name, Vec::new()))?;
                Ok(MeantPrompt { now, prompt, shown })
            }
            NameMatch::Ambiguous(places) => {
                let names = names(&places);
                let message = format!("{name:?} may mean any of {}", names.join(", "));
                Err(CallError::new(ErrorKind::Ambiguous, message).repair(Repair::Names(names)))
            }
            NameMatch::None { near } => {
                let near = names(&near);
                Err(self.held_prompt(name, &held).unwrap_or_else(|| no_prompt(name, near)))
            }
        }
    }

    /// That a prompt of this name waits for a person's approval.
    fn held_prompt(&self, asked: &str, held: &[(ServerName, String, String)]) -> Option<CallError> {
        let names = self.offered.prompt_names.lock().unwrap_or_else(PoisonError::into_inner);
        let is_meant = |(server, tool, _): &&(ServerName, String, String)| {
            let own = tool.strip_prefix("prompt:").unwrap_or(tool);
            let Ok(name) = ToolName::parse(own) else { return false };
            let key = (server.clone(), name);
            let is_shown = |form| names.of(form, &key).is_some_and(|name| name.as_str() == asked);
            asked == own || NameForm::ALL.into_iter().any(is_shown)
        };
        let (server, tool, why) = held.iter().find(is_meant)?;
        let message = format!("is held: {why}; kitbag pins diff {server}/{tool}");
        Some(CallError::new(ErrorKind::Held, message).of(server, tool))
    }
}

fn no_prompt(name: &str, near: Vec<String>) -> CallError {
    let shown: String = kitbag_core::text::visible(name).chars().take(120).collect();
    let failure = CallError::new(ErrorKind::NotFound, format!("no prompt is called {shown:?}"));
    failure.repair(Repair::Names(near))
}

fn held_fault(server: &ServerName, prompt: &str, why: &str) -> Fault {
    let message = format!("held until it is approved: {prompt} ({why})");
    let fault = Fault::warning(FaultKind::DefinitionChanged, message).of(server);
    Fault { stage: Stage::Shape, ..fault }
        .hint(format!("kitbag pins diff {server}, then kitbag pins approve"))
}
