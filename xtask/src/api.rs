//! The public face of the library, counted: few names at its root, each documented, none standing for two things.
//! `docs/api.md` is written from it, so a change of the face shows in every review.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use anyhow::{Context, bail};
use serde_json::Value;

use crate::{Usage, shell};

/// The most names at the root of `kitbag`.
const MOST: usize = 80;
const PAGE: &str = "docs/api.md";
const CRATES: [&str; 2] = ["kitbag", "kitbag-core"];

/// One crate's documentation, as rustdoc writes it for programs.
struct Docs {
    name: &'static str,
    json: Value,
}

pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let words: Vec<_> = args.iter().map(String::as_str).collect();
    let is_check = match words[..] {
        [] => false,
        ["--check"] => true,
        _ => bail!(Usage("usage: cargo xtask api [--check]".into())),
    };
    let docs = CRATES.into_iter().map(Docs::build).collect::<anyhow::Result<Vec<_>>>()?;
    let root = docs[0].root()?;
    let mut wrong = Vec::new();
    if MOST < root.len() {
        wrong.push(format!("{} names at the root of kitbag, {MOST} are allowed", root.len()));
    }
    wrong.extend(docs.iter().flat_map(Docs::undocumented));
    wrong.extend(twice(&docs));
    let page = page(&root, &docs);
    let file = shell::root().join(PAGE);
    if is_check {
        let before = fs::read_to_string(&file).unwrap_or_default();
        if before != page {
            wrong.push(format!("{PAGE} is not what `cargo xtask api` writes"));
        }
    } else {
        fs::write(&file, page).with_context(|| format!("cannot write {PAGE}"))?;
    }
    println!("{} names at the root of kitbag", root.len());
    if wrong.is_empty() {
        return Ok(());
    }
    bail!("{}", wrong.join("\n"));
}

impl Docs {
    /// Needs a switch that only nightly compilers admit; this variable lets a stable one do the same.
    fn build(name: &'static str) -> anyhow::Result<Self> {
        let args = ["rustdoc", "--locked", "--quiet", "--lib", "-p", name, "--"];
        let mut command = shell::cargo(&args);
        command.args(["-Z", "unstable-options", "--output-format", "json", "-D", "warnings"]);
        shell::run(command.env("RUSTC_BOOTSTRAP", "1"))?;
        let file = shell::target()?.join("doc").join(format!("{}.json", name.replace('-', "_")));
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        Ok(Self { name, json: serde_json::from_str(&text)? })
    }

    fn item(&self, id: &Value) -> &Value {
        &self.json["index"][id.to_string()]
    }

    /// The names a program can write after `kitbag::`, with their kind.
    fn root(&self) -> anyhow::Result<BTreeMap<String, String>> {
        let items = self.item(&self.json["root"])["inner"]["module"]["items"].as_array();
        let items = items.context("rustdoc's JSON has no root module")?;
        let mut names = BTreeMap::new();
        for item in items.iter().map(|id| self.item(id)) {
            let (kind, inner) = item["inner"].as_object().and_then(|inner| inner.iter().next()).unzip();
            let kind = kind.map_or("item", String::as_str);
            match (kind, inner) {
                ("use", Some(reexport)) if reexport["is_glob"] == true => {
                    bail!("a glob at the root of {} hides how many names there are", self.name)
                }
                ("use", Some(reexport)) => {
                    let kind = self.json["paths"][reexport["id"].to_string()]["kind"].as_str();
                    let name = reexport["name"].as_str().unwrap_or_default();
                    names.insert(name.to_owned(), kind.unwrap_or("item").to_owned());
                }
                _ => {
                    names.insert(item["name"].as_str().unwrap_or_default().to_owned(), kind.to_owned());
                }
            }
        }
        Ok(names)
    }

    /// Public items of this crate.
    fn items(&self) -> impl Iterator<Item = &Value> {
        let all = self.json["index"].as_object().into_iter().flat_map(|index| index.values());
        all.filter(|item| item["crate_id"] == 0 && item["visibility"] == "public")
    }

    fn undocumented(&self) -> Vec<String> {
        let is_bare = |item: &&Value| item["docs"].is_null() && item["inner"]["use"].is_null();
        // The field of a tuple has a number for a name, and its type's docs.
        let is_word = |name: &&str| name.parse::<usize>().is_err();
        let name = |item: &Value| item["name"].as_str().filter(is_word).map(str::to_owned);
        let bare = self.items().filter(is_bare).filter_map(name);
        bare.map(|name| format!("{}: {name} has no docs", self.name)).collect()
    }

    /// Types and traits by name, with their paths.
    fn types(&self) -> impl Iterator<Item = (String, String)> {
        let paths = self.json["paths"].as_object().into_iter().flat_map(|paths| paths.values());
        let is_type = |path: &&Value| {
            let kind = path["kind"].as_str().unwrap_or_default();
            path["crate_id"] == 0 && matches!(kind, "struct" | "enum" | "trait" | "type_alias" | "union")
        };
        paths.filter(is_type).filter_map(|path| {
            let words: Vec<_> = path["path"].as_array()?.iter().filter_map(Value::as_str).collect();
            Some(((*words.last()?).to_owned(), words.join("::")))
        })
    }
}

/// Names that stand for two public types.
fn twice(docs: &[Docs]) -> Vec<String> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, path) in docs.iter().flat_map(Docs::types) {
        all.entry(name).or_default().push(path);
    }
    let twice = all.into_iter().filter(|(_, paths)| 1 < paths.len());
    twice.map(|(name, paths)| format!("{name} is the name of {}", paths.join(" and "))).collect()
}

fn page(root: &BTreeMap<String, String>, docs: &[Docs]) -> String {
    let mut page = format!(
        "# The library's public names\n\nWritten by `cargo xtask api`; a test compares it. {} names at the root of \
         `kitbag` (at most {MOST}):\n\n",
        root.len()
    );
    let mut kinds: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, kind) in root {
        kinds.entry(kind).or_default().push(name);
    }
    for (kind, names) in kinds {
        let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
        let _ = writeln!(page, "- {kind} ({}): {}", names.len(), names.join(", "));
    }
    page.push('\n');
    for docs in docs {
        let _ = writeln!(page, "`{}`: {} public types and traits.", docs.name, docs.types().count());
    }
    page
}
