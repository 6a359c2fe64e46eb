//! Starts other programs from the workspace root, so that no command depends on the folder it was typed in.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};

/// The folder of the workspace's `Cargo.toml`: the one cargo runs this program for. A clone that shares its target
/// folder with another may run what the other built, so the folder of the build counts only without cargo.
pub(crate) fn root() -> &'static Path {
    static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
        #[expect(clippy::disallowed_methods, reason = "cargo tells it in no other way")]
        let run_for = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let here = run_for.unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        here.parent().unwrap_or(&here).to_owned()
    });
    &ROOT
}

/// The folder cargo builds into, known by where this program lies in it; with `--target` it is one higher.
pub(crate) fn target() -> anyhow::Result<PathBuf> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let folders = program.ancestors().skip(1).take(4);
    let tagged = folders.filter(|folder| folder.join("CACHEDIR.TAG").exists()).last();
    tagged.map(Path::to_owned).ok_or_else(|| anyhow!("{} is in no target folder", program.display()))
}

/// `cargo <args>` in the workspace root.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let mut command = at_root("cargo");
    command.args(args);
    command
}

/// `cargo build` for programs of any crates of the workspace. All crates' features, those of their tests too, are put
/// together for it, so nothing that `cargo xtask test` compiled is compiled again with others.
pub(crate) fn build(targets: &[&str]) -> anyhow::Result<()> {
    let mut cargo = cargo(&["build", "--locked", "--workspace", "--example", "echo_rate"]);
    run(cargo.args(targets))
}

/// `program` in the workspace root.
pub(crate) fn at_root(program: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

/// Runs to the end, output shown; anything but success is an error that names the command.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    let shown = shown(command);
    eprintln!("+ {shown}");
    let status = command.status().with_context(|| format!("cannot start `{shown}`"))?;
    if !status.success() {
        bail!("`{shown}` failed ({status})");
    }
    Ok(())
}

/// The same for what must end by itself: killed when it takes longer.
pub(crate) fn run_within(command: &mut Command, most: Duration) -> anyhow::Result<()> {
    let shown = shown(command);
    eprintln!("+ {shown}");
    let mut child = command.spawn().with_context(|| format!("cannot start `{shown}`"))?;
    let end = Instant::now() + most;
    loop {
        match child.try_wait().with_context(|| format!("cannot wait for `{shown}`"))? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => bail!("`{shown}` failed ({status})"),
            None if end <= Instant::now() => break,
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    bail!("`{shown}` did not end within {most:?}");
}

/// Runs with errors shown and gives back what it printed.
pub(crate) fn read(command: &mut Command) -> anyhow::Result<String> {
    let shown = shown(command);
    eprintln!("+ {shown}");
    let output =
        command.stderr(Stdio::inherit()).output().with_context(|| format!("cannot start `{shown}`"))?;
    if !output.status.success() {
        bail!("`{shown}` failed ({})", output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{shown}` printed something else than UTF-8"))
}

/// Whether it starts and succeeds; says nothing itself.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
