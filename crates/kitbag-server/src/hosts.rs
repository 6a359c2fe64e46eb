//! What is known of the programs that connect: one row for each, found by what it calls itself (`clientInfo.name`). It says
//! how many tools the program can show to its model, and how much of a name and of a description is left for them.
//!
//! Whoever is in no row gets every tool under its usual name.

use kitbag_core::names::{LONGEST_SHOWN, SHORTEST_SHOWN};

#[cfg(test)]
mod tests;

/// What we are called in the program's own configuration, where it does not say: our exports call us so.
const ENTRY: &str = "kitbag";

/// One program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Host {
    /// What it calls itself, in any case and however the words are joined.
    names: &'static [&'static str],
    /// Whether the name of our entry follows after that.
    tells_entry: bool,
    /// What it puts before and after the name of our entry, before the name of a tool.
    prefix: (&'static str, &'static str),
    /// The most characters of a whole name.
    longest: usize,
    /// How it copes with many tools.
    pub(crate) many: ManyTools,
    /// The most characters of a description that it shows.
    pub(crate) description: usize,
}

/// How a program copes with many tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ManyTools {
    /// It shows tools to its model as they are needed. A second search below its own would only cost a step.
    Deferred,
    /// It puts every definition before its model, at most so many.
    Shown(usize),
}

/// Nobody in particular: a program that knows what it wants of a list.
pub(crate) static ANYBODY: Host = Host {
    names: &[],
    tells_entry: false,
    prefix: ("", ""),
    longest: usize::MAX,
    many: ManyTools::Deferred,
    description: usize::MAX,
};

const SHOWN: ManyTools = ManyTools::Shown(usize::MAX);
const HOST: Host = Host { prefix: ("", "__"), longest: LONGEST_SHOWN, many: SHOWN, ..ANYBODY };

static HOSTS: &[Host] = &[
    // It cuts descriptions at 2 KiB itself, in the middle of a word.
    Host {
        names: &["claude-code"],
        prefix: ("mcp__", "__"),
        many: ManyTools::Deferred,
        description: 2048,
        ..HOST
    },
    // Its names stand in a namespace, which leaves a tool all the room there is.
    Host {
        names: &["codex-mcp-client", "codex"],
        prefix: ("mcp__", "__"),
        longest: 128,
        many: ManyTools::Deferred,
        ..HOST
    },
    // Drops tools whose name, together with that of the server, has 60 characters.
    Host { names: &["cursor-vscode"], prefix: ("", "_"), longest: 60, many: ManyTools::Deferred, ..HOST },
    Host { names: &["github-copilot-developer"], prefix: ("", "-"), many: ManyTools::Deferred, ..HOST },
    Host {
        names: &["qwen-cli-mcp-client", "qwen-code"],
        tells_entry: true,
        prefix: ("mcp__", "__"),
        longest: 63,
        many: ManyTools::Deferred,
        ..HOST
    },
    Host { names: &["gemini-cli-mcp-client"], tells_entry: true, prefix: ("mcp_", "_"), longest: 63, ..HOST },
    Host { names: &["Visual Studio Code"], prefix: ("mcp_", "_"), many: ManyTools::Shown(128), ..HOST },
    Host { names: &["Cline"], ..HOST },
    Host { names: &["Roo Code"], prefix: ("mcp--", "--"), ..HOST },
    Host { names: &["goose"], ..HOST },
    Host { names: &["opencode"], prefix: ("", "_"), ..HOST },
];

/// The program that calls itself so, and how many characters of a tool's name are left beside what it puts before it.
pub(crate) fn known(name: &str) -> (&'static Host, usize) {
    let is_word = |c: char| c.is_ascii_alphanumeric();
    let entry = |host: &Host| {
        let rest = host
            .names
            .iter()
            .find_map(|known| after(name, known).filter(|rest| !rest.starts_with(is_word)))?;
        match rest.contains(is_word) {
            false => Some(ENTRY.len()),
            true => host.tells_entry.then(|| rest.chars().skip(1).count()),
        }
    };
    let found = HOSTS.iter().find_map(|host| Some((host, entry(host)?)));
    let Some((host, entry)) = found else { return (&ANYBODY, LONGEST_SHOWN) };
    let taken = host.prefix.0.len() + entry + host.prefix.1.len();
    (host, host.longest.saturating_sub(taken).clamp(SHORTEST_SHOWN, LONGEST_SHOWN))
}

/// What follows after a known name, whatever its case and whatever joins its words.
fn after<'a>(name: &'a str, known: &str) -> Option<&'a str> {
    let mut rest = name;
    for letter in known.bytes().filter(u8::is_ascii_alphanumeric) {
        let at = rest.find(|c: char| c.is_ascii_alphanumeric())?;
        let (said, more) = rest[at..].split_at(1);
        rest = more;
        if !said.as_bytes().eq_ignore_ascii_case(&[letter]) {
            return None;
        }
    }
    Some(rest)
}
