//! A result on its way to a person or a program.

use std::path::PathBuf;

use kitbag::cli::READ_RESULT;
use kitbag::{CallResult, ContentBlock, ErrorKind};
use kitbag_core::text::visible;
use serde_json::{Value, json};

use super::Hide;
use super::save::{Folder, Saved, Saving};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::terminal::{plural, readable};

/// Prints a result; what is not text is saved as files. A person or a file sees it here, so secrets are hidden.
pub(in crate::commands) fn show(
    context: &mut Context,
    received: &CallResult,
    folder: &Folder,
    hide: &Hide,
    files: usize,
) -> Result<Exit, Failure> {
    let mut saving = Saving::new(folder, received, files);
    let result = &hide.result(received);
    if context.global.json {
        if folder.is_asked_for() {
            for (mime, bytes) in received.content.iter().filter_map(ContentBlock::bytes) {
                saving.save(&mime, &hide.bytes(bytes));
            }
        }
        context.print_json(&as_json(result, &saving.saved));
    } else {
        say_if_failed(context, result);
        for (block, received) in result.content.iter().zip(&received.content) {
            // Taken from what was received: with a mask in it, base64 is none any more.
            let file = received.bytes().map(|(mime, bytes)| (mime, hide.bytes(bytes)));
            context.print(lines(block, file, &mut saving));
        }
        if let (true, Some(structured)) = (result.content.is_empty(), &result.structured) {
            context.print_json(structured);
        }
        say_more(context, result);
    }
    let unsaved = saving.end();
    if !folder.is_asked_for() && !saving.saved.is_empty() {
        let (files, folder) = (plural(saving.saved.len(), "file"), folder.path().display());
        context.remark(format!("{files} kept in {folder}; --save DIR chooses another folder"));
    }
    context.faults(&unsaved);
    Ok(match (result.is_error, unsaved.is_empty()) {
        (true, _) => Exit::ToolError,
        (false, true) => Exit::Done,
        (false, false) => Exit::Config,
    })
}

/// Says that what follows is no result: on stderr, so that what the tool wrote is all that a pipe gets.
fn say_if_failed(context: &mut Context, result: &CallResult) {
    if result.is_error {
        let message = format!("{}/{} reports an error:", result.info.server, result.info.tool);
        context.failed(&Failure::new(Exit::ToolError, message));
    }
}

/// One block as lines.
fn lines(block: &ContentBlock, file: Option<(String, Vec<u8>)>, saving: &mut Saving<'_>) -> String {
    let value = block.as_value();
    let word = |value: &Value, key: &str| value[key].as_str().map(visible);
    if let Some(text) = block.as_text() {
        return readable(text) + "\n";
    }
    let kind = visible(block.kind());
    if let Some((mime, bytes)) = file {
        return match saving.save(&mime, &bytes) {
            Saved::At(file) => {
                let (file, mime) = (visible(&file.to_string_lossy()), visible(&mime));
                format!("[{kind}] {file} ({mime}, {} bytes)\n", bytes.len())
            }
            Saved::Failed => format!("[{kind}] not saved\n"),
            // Told once, at the end.
            Saved::Beyond => String::new(),
        };
    }
    match block.kind() {
        "resource" => {
            let resource = &value["resource"];
            let text = resource["text"].as_str().map(|text| readable(text) + "\n").unwrap_or_default();
            format!("[resource] {}\n{text}", word(resource, "uri").unwrap_or_default())
        }
        "resource_link" => {
            let title = word(value, "title").or_else(|| word(value, "name"));
            let title = title.map(|title| format!(" ({title})")).unwrap_or_default();
            format!("[link] {}{title}\n", word(value, "uri").unwrap_or_default())
        }
        "image" | "audio" => format!("[{kind}] cannot be read\n"),
        _ => format!("[{kind}] {}\n", crate::json::line(value)),
    }
}

/// How to get the rest, and what was odd.
fn say_more(context: &mut Context, result: &CallResult) {
    let links = || result.content.iter().filter(|block| block.kind() == "resource_link");
    if let Some(uri) = links().find_map(|link| link.as_value()["uri"].as_str()) {
        let uri = crate::arguments::quoted(&kitbag::cli::unique_uri(&result.info.server, uri));
        let command = context.to_type(&format!("kitbag resources read {uri}"));
        let which = if links().nth(1).is_some() { "the first link" } else { "the link" };
        context.remark(format!("read {which}: {command}"));
    }
    if let Some(handle) = &result.info.handle {
        let command = context.to_type(&format!("kitbag call {READ_RESULT} handle={handle} page=2"));
        context.remark(format!("read on: {command}; all at once: --full"));
    }
    for coercion in &result.info.coerced {
        let place = if coercion.path.is_empty() { "the arguments" } else { &coercion.path };
        context.aside(&format!("{place}: {} taken for {}", coercion.from, coercion.to));
    }
    for note in &result.info.notes {
        context.aside(&format!("{}: {note}", result.info.server));
    }
}

fn as_json(result: &CallResult, saved: &[PathBuf]) -> Value {
    let meta = &result.info;
    let content: Vec<&Value> = result.content.iter().map(ContentBlock::as_value).collect();
    let coerced: Vec<&String> = meta.coerced.iter().map(|coercion| &coercion.path).collect();
    json!({
        "ok": !result.is_error,
        "kind": result.kind().map(ErrorKind::as_str),
        "content": content,
        "structured": result.structured,
        "is_error": result.is_error,
        "saved": saved.iter().map(|file| file.to_string_lossy()).collect::<Vec<_>>(),
        "meta": {
            "server": meta.server.as_str(),
            "tool": meta.tool,
            "transport": meta.transport.map(|transport| transport.as_str()),
            "duration_ms": meta.took.as_millis() as u64,
            "retries": meta.retries,
            "cache_hit": meta.cache_hit,
            "handle": meta.handle,
            "coerced": coerced,
            "notes": meta.notes,
        },
    })
}
