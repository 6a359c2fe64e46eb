//! What a program takes on that depends on the library: how many packages, with which features. A program with the
//! smallest set is really built and run.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, bail};

use crate::{Usage, shell};

/// A set of features, and the most packages it may bring.
const SETS: &[(&str, &str, usize)] =
    &[("smallest", "default-features = false", 140), ("default", "default-features = true", 200)];

/// What the smallest program does: a server of its own, a call, an end.
const PROGRAM: &str = r##"//! Calls a local tool; no server, no file, no network.
use kitbag::{Env, Kitbag, LocalTool, OpenOptions, Setup};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let schema = serde_json::json!({"type": "object"});
    let hello = LocalTool::with_schema("hello", "Says hello", schema, |_, _| async { Ok("hello") });
    let options = OpenOptions { local: vec![hello], ..OpenOptions::default() };
    let (kit, _) = Kitbag::open_with(Setup::empty(Env::default()), options).await?;
    let result = kit.call("hello", "{}").await?;
    assert_eq!(result.content[0].as_text(), Some("hello"));
    kit.close().await;
    Ok(())
}
"##;

pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    if !args.is_empty() {
        bail!(Usage("usage: cargo xtask lean".into()));
    }
    let folder = shell::target()?.join("lean");
    let mut wrong = Vec::new();
    for (name, features, most) in SETS {
        let manifest = program(&folder.join(name), features)?;
        let count = packages(&manifest)?;
        println!("{name}: {count} packages, at most {most}");
        if *most < count {
            wrong.push(format!("{name} brings {count} packages, {most} are allowed"));
        }
    }
    let smallest = folder.join("smallest/Cargo.toml").display().to_string();
    let target = folder.join("target").display().to_string();
    let args = ["run", "--quiet", "--manifest-path", &smallest, "--target-dir", &target];
    shell::run(&mut shell::cargo(&args)).context("the smallest program")?;
    if wrong.is_empty() { Ok(()) } else { bail!("{}", wrong.join("\n")) }
}

/// Writes a program that depends on the library, as its user would; its manifest.
fn program(folder: &std::path::Path, features: &str) -> anyhow::Result<String> {
    fs::create_dir_all(folder.join("src"))?;
    let library = shell::root().join("crates/kitbag");
    let manifest = format!(
        "[package]\nname = \"program\"\nedition = \"2024\"\npublish = false\n\n[workspace]\n\n[dependencies]\n\
         kitbag = {{ path = {library:?}, {features} }}\nserde_json = \"1\"\n\
         tokio = {{ version = \"1\", features = [\"rt\", \"macros\"] }}\n"
    );
    let file = folder.join("Cargo.toml");
    fs::write(&file, manifest)?;
    fs::write(folder.join("src/main.rs"), PROGRAM)?;
    // The same versions as everything else here.
    fs::copy(shell::root().join("Cargo.lock"), folder.join("Cargo.lock"))?;
    Ok(file.display().to_string())
}

/// Every package that `kitbag` brings on this system, itself included.
fn packages(manifest: &str) -> anyhow::Result<usize> {
    let args =
        ["tree", "--manifest-path", manifest, "-p", "kitbag", "-e", "normal,build", "--prefix", "none"];
    let printed = shell::read(&mut shell::cargo(&args))?;
    let words = |line: &str| line.split(' ').take(2).collect::<Vec<_>>().join(" ");
    Ok(printed.lines().map(words).filter(|line| !line.is_empty()).collect::<BTreeSet<_>>().len())
}
