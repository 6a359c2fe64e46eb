//! `kitbag servers edit`: one entry in the person's own editor, checked before it is written.

use std::path::{Path, PathBuf};
use std::process::Command;

use kitbag::files::Registry;
use kitbag::{ServerName, Setup};
use kitbag_core::config::Source;
use kitbag_core::config::tree::{self, Format};
use serde_json::Value;

use super::{done, registry};
use crate::context::{Context, server_name};
use crate::exit::{Exit, Failure};
use crate::terminal::{confirm, is_interactive};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The server, which must be defined in one of Kitbag's own files
    name: String,
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let name = server_name(&args.name)?;
    let setup = context.setup()?;
    let registry = registry(context, &setup)?;
    let (file, before) = registry.entry_text(&name, &setup.merged)?;
    let editor = editor(&setup, &name)?;
    // It may hold secrets, so it lies where only its owner reads it, and goes once it is of no use.
    let draft = setup.folders.state.join(format!("edit-{}.json", name.slug()));
    kitbag::files::write(&draft, &format!("{before}\n"))?;
    let changed = loop {
        let text = edited(&editor, &draft)?;
        if text.trim().is_empty() || text.trim() == before.trim() {
            break false;
        }
        let failure = match save(&setup, &registry, &name, &text) {
            Ok(()) => break true,
            Err(failure) => failure,
        };
        let kept = format!("your text is kept in {}", draft.display());
        if !is_interactive() || context.global.quiet {
            let hint = failure.hint.map_or(kept.clone(), |hint| format!("{hint}; {kept}"));
            return Err(Failure { hint: Some(hint), ..failure });
        }
        context.failed(&failure);
        if !confirm("Edit it again?") {
            context.remark(format!("nothing was changed; {kept}"));
            return Ok(failure.exit);
        }
    };
    // Whoever removed it meanwhile did what was to be done.
    let _ = std::fs::remove_file(&draft);
    match changed {
        true => done(context, "changed", &name, &file),
        false => context.remark("nothing was changed"),
    }
    Ok(Exit::Done)
}

/// The editor and its arguments.
fn editor(setup: &Setup, name: &ServerName) -> Result<Vec<String>, Failure> {
    let env = setup.env();
    let said = env.filled("VISUAL").or_else(|| env.filled("EDITOR"));
    let usual =
        || ["vi", "nano", "notepad.exe"].into_iter().find(|word| env.program(word, env.cwd()).is_some());
    let words: Vec<String> =
        said.or_else(usual).unwrap_or_default().split_whitespace().map(str::to_owned).collect();
    if words.is_empty() {
        let failure = Failure::new(Exit::Usage, "no editor is known: neither VISUAL nor EDITOR is set");
        return Err(failure.hint(format!("EDITOR=nano kitbag servers edit {name}")));
    }
    Ok(words)
}

/// Lets a person change the draft; what it says then.
fn edited(editor: &[String], draft: &Path) -> Result<String, Failure> {
    let failed =
        |why: String| Failure::new(Exit::Usage, why).hint("set EDITOR to a program that edits files");
    let [program, arguments @ ..] = editor else { return Err(failed("no editor is known".to_owned())) };
    let status = Command::new(program).args(arguments).arg(draft).status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => {
            return Err(failed(format!("the editor {program} failed ({status}); nothing was changed")));
        }
        Err(error) => return Err(failed(format!("the editor {program} cannot be started: {error}"))),
    }
    std::fs::read_to_string(draft)
        .map_err(|error| Failure::new(Exit::Config, format!("{} cannot be read: {error}", draft.display())))
}

fn save(setup: &Setup, registry: &Registry, name: &ServerName, text: &str) -> Result<(), Failure> {
    let entry = parsed(setup, name, text)?;
    let _: Vec<PathBuf> = registry.replace_entries(&[(name.clone(), entry)])?;
    Ok(())
}

/// The entry: `"name": {…}` as it stands in a map, or `{…}` with or without its name inside.
fn parsed(setup: &Setup, name: &ServerName, text: &str) -> Result<Value, Failure> {
    let wrong = |why: String| Failure::new(Exit::Config, why);
    let inside = text.trim().trim_end_matches(',');
    let is_member = inside.starts_with('"');
    let whole = if is_member { format!("{{\n{inside}\n}}") } else { inside.to_owned() };
    let source = Source::new(Path::new("<edited>"), &whole);
    let node = tree::parse(&source, Format::Json, &setup.limits)
        .map_err(|fault| wrong(format!("{name} is not valid JSON: {}", fault.message)))?;
    let Value::Object(mut map) = node.to_json() else {
        return Err(wrong(format!("{name} must be a JSON object")));
    };
    let said = if is_member { map.keys().next().cloned() } else { inner_name(&mut map) };
    if let Some(other) = said.filter(|said| said != name.as_str()) {
        let failure = wrong(format!("the name cannot be changed here ({other:?})"));
        return Err(failure.hint(format!("kitbag servers rename {name} {other}")));
    }
    match is_member {
        true if map.len() == 1 => Ok(map.shift_remove(name.as_str()).unwrap_or_default()),
        true => Err(wrong(format!("there must be one entry, found {}", map.len()))),
        false => Ok(Value::Object(map)),
    }
}

fn inner_name(map: &mut serde_json::Map<String, Value>) -> Option<String> {
    let name = map.shift_remove("name").or_else(|| map.shift_remove("serverName"))?;
    name.as_str().map(str::to_owned)
}
