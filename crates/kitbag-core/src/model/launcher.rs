//! Programs that fetch the server before they start it: their first start takes as long as a download does.

use super::{Defaults, ServerSpec, ServerTarget};

/// Whether a command may have to download what it starts, judged by its name and its first words.
///
/// ```
/// use kitbag_core::model::may_download;
/// assert!(may_download("npx", ["-y", "@acme/mcp"]));
/// assert!(may_download("/usr/bin/docker", ["run", "-i", "mcp/time"]));
/// assert!(!may_download("docker", ["exec", "-i", "box", "mcp"]));
/// ```
pub fn may_download<'a>(command: &str, args: impl IntoIterator<Item = &'a str>) -> bool {
    let name = command.rsplit(['/', '\\']).next().unwrap_or(command);
    let name = name.split_once('.').map_or(name, |(name, _)| name).to_ascii_lowercase();
    let mut words = args.into_iter().filter(|arg| !arg.starts_with('-'));
    let mut next = || words.next().unwrap_or_default();
    match name.as_str() {
        "npx" | "bunx" | "pnpx" | "uvx" | "dnx" => true,
        "npm" | "pnpm" | "yarn" => matches!(next(), "exec" | "x" | "dlx" | "create" | "init"),
        "bun" | "pipx" | "deno" | "go" | "jbang" => matches!(next(), "x" | "run"),
        "docker" | "podman" | "nerdctl" => match next() {
            "run" => true,
            "container" => next() == "run",
            "compose" => matches!(next(), "run" | "up"),
            _ => false,
        },
        "uv" => match next() {
            "run" | "x" => true,
            "tool" => next() == "run",
            _ => false,
        },
        _ => false,
    }
}

/// The package or image that a command starts without a version, so that each start may run other code than the last.
///
/// ```
/// use kitbag_core::model::unpinned;
/// assert_eq!(unpinned("npx", ["-y", "@acme/mcp"]), Some("@acme/mcp"));
/// assert_eq!(unpinned("npx", ["-y", "@acme/mcp@1.2.3"]), None);
/// ```
pub fn unpinned<'a>(command: &str, args: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let args: Vec<&str> = args.into_iter().collect();
    Some(found(command, &args, is_unpinned)?.1)
}

/// The bare name of the package or image that a command starts, without scope and version.
///
/// ```
/// use kitbag_core::model::package_name;
/// assert_eq!(package_name("npx", ["-y", "@acme/mcp@1.2.3"]), Some("mcp"));
/// assert_eq!(package_name("docker", ["run", "-i", "host/mcp/time:1.2"]), Some("time"));
/// assert_eq!(package_name("node", ["server.js"]), None);
/// ```
pub fn package_name<'a>(command: &str, args: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let args: Vec<&str> = args.into_iter().collect();
    let (_, package) = found(command, &args, |_, _| true)?;
    let last = package.trim_end_matches('/').rsplit('/').next()?;
    last.split(['@', '=', ':', '#', '[', '<', '>', '~']).next().filter(|name| !name.is_empty())
}

/// A package or an image without a version, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnpinnedPackage {
    /// What is started.
    pub package: String,
    /// How it is written with a version.
    pub write: String,
}

impl ServerSpec {
    /// What it starts without a version, judged by what its entry says: a version that only a variable holds is none.
    pub fn unpinned(&self) -> Option<UnpinnedPackage> {
        let ServerTarget::Stdio(program) = &self.link else { return None };
        let command = program.command.as_ref()?.shown_as_text(Defaults::Masked);
        let args = self.shown_args(Defaults::Masked);
        let args: Vec<&str> = args.iter().map(AsRef::as_ref).collect();
        let (syntax, package) = found(&command, &args, is_unpinned)?;
        let name = package.trim_end_matches("@latest").trim_end_matches(":latest");
        Some(UnpinnedPackage { package: package.to_owned(), write: format!("{name}{}", syntax.version) })
    }
}

/// The name a program goes by.
fn program_name(command: &str) -> String {
    let name = command.rsplit(['/', '\\']).next().unwrap_or(command);
    name.split_once('.').map_or(name, |(name, _)| name).to_ascii_lowercase()
}

/// The first package or image that a command starts and that is meant, and by which rules it is named.
fn found<'a>(
    command: &str,
    args: &[&'a str],
    is_meant: fn(&PackageSyntax, &str) -> bool,
) -> Option<(&'static PackageSyntax, &'a str)> {
    let name = program_name(command);
    // Programs that only start another.
    match (name.as_str(), args) {
        ("cmd", [flag, command, rest @ ..]) if flag.eq_ignore_ascii_case("/c") => {
            return found(command, rest, is_meant);
        }
        ("env", _) => {
            let at = args.iter().position(|arg| !arg.starts_with('-') && !arg.contains('='))?;
            return found(args[at], &args[at + 1..], is_meant);
        }
        ("sh" | "bash" | "zsh" | "dash", [.., flag, line])
            if flag.starts_with('-') && flag.ends_with('c') =>
        {
            let words: Vec<&'a str> = line.split([' ', '\n', '\t', ';', '&', '|', '"', '\'']).collect();
            let words: Vec<&'a str> = words.into_iter().filter(|word| !word.is_empty()).collect();
            let mut starts = (0..words.len()).filter(|at| !is_shell(words[*at]));
            return starts.find_map(|at| found(words[at], &words[at + 1..], is_meant));
        }
        _ => {}
    }
    let first = args.iter().position(|arg| !arg.starts_with('-')).unwrap_or(args.len());
    let sub = args.get(first).copied().unwrap_or_default();
    let after = args.get(first + 1..).unwrap_or_default();
    let (kind, rest): (&'static PackageSyntax, &[&str]) = match (name.as_str(), sub) {
        ("npx" | "bunx" | "pnpx", _) => (&NODE, args),
        ("npm", "exec" | "x") | ("pnpm" | "yarn", "dlx") | ("bun", "x") => (&NODE, after),
        ("uvx", _) => (&PYTHON, args),
        ("pipx", "run") => (&PYTHON, after),
        ("uv", "tool") if after.first() == Some(&"run") => (&PYTHON, &after[1..]),
        ("docker" | "podman" | "nerdctl", "run") => (&IMAGE, after),
        ("docker" | "podman" | "nerdctl", "container") if after.first() == Some(&"run") => {
            (&IMAGE, &after[1..])
        }
        _ => return None,
    };
    let package = kind.package(rest)?;
    is_meant(kind, package).then_some((kind, package))
}

/// Whether a package may be another one at each start.
fn is_unpinned(kind: &PackageSyntax, package: &str) -> bool {
    let is_local = package.starts_with(['.', '/', '~']) || package.contains("file:");
    !is_local && !(kind.is_pinned)(package)
}

/// Within a line of a shell no further shell is looked into, so that a line is gone through once.
fn is_shell(word: &str) -> bool {
    matches!(program_name(word).as_str(), "sh" | "bash" | "zsh" | "dash" | "cmd" | "env")
}

/// How one kind of launcher is told what to fetch.
struct PackageSyntax {
    /// Options that name the package.
    from: &'static [&'static str],
    /// Which options are followed by a value of their own.
    takes_value: fn(&str) -> bool,
    is_pinned: fn(&str) -> bool,
    /// What a version looks like behind a name.
    version: &'static str,
}

impl PackageSyntax {
    fn package<'a>(&self, args: &[&'a str]) -> Option<&'a str> {
        let mut args = args.iter().copied();
        let mut first = None;
        while let Some(arg) = args.next() {
            match arg.split_once('=') {
                Some((option, value)) if self.from.contains(&option) => return Some(value),
                _ if self.from.contains(&arg) => return args.next(),
                _ if !arg.starts_with('-') => {
                    first = Some(arg);
                    break;
                }
                None if (self.takes_value)(arg) => drop(args.next()),
                _ => {}
            }
        }
        first
    }
}

const NODE: PackageSyntax = PackageSyntax {
    from: &["-p", "--package"],
    takes_value: |option| matches!(option, "--registry" | "--cache" | "--userconfig"),
    // The first letter may be the @ of a scope.
    is_pinned: |package| package.get(1..).is_some_and(|rest| has_version(rest, '@') || rest.contains('#')),
    version: "@<version>",
};

const PYTHON: PackageSyntax = PackageSyntax {
    from: &["--from", "--spec"],
    takes_value: |option| {
        let known =
            ["--python", "-p", "--with", "--index-url", "--index", "--extra-index-url", "--directory"];
        known.contains(&option)
    },
    is_pinned: |package| package.contains("==") || has_version(package, '@'),
    version: "==<version>",
};

const IMAGE: PackageSyntax = PackageSyntax {
    from: &[],
    takes_value: |option| {
        let flags = ["--rm", "--init", "--privileged", "--read-only", "--interactive", "--tty", "--detach"];
        let short = option.len() < 4 && option.chars().skip(1).all(|c| matches!(c, 'i' | 't' | 'd' | 'P'));
        !flags.contains(&option) && !short
    },
    is_pinned: |image| {
        let tag = image.rsplit('/').next().and_then(|name| name.split_once(':'));
        image.contains('@') || tag.is_some_and(|(_, tag)| tag != "latest")
    },
    version: ":<version>",
};

/// Whether a number stands behind the last mark.
fn has_version(package: &str, mark: char) -> bool {
    let version = package.rsplit_once(mark).map(|(_, version)| version.trim_start_matches('v'));
    version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t43_packages_without_a_version_are_found() {
        for (line, expected) in [
            ("npx -y @acme/mcp", Some("@acme/mcp")),
            ("npx -y @acme/mcp@latest", Some("@acme/mcp@latest")),
            ("npx -y @acme/mcp@1.2.3", None),
            ("npx -y mcp@2 --port 3", None),
            ("npx --package=x run-x", Some("x")),
            ("npx ./local", None),
            ("pnpm dlx x", Some("x")),
            ("uvx mcp-server-time --utc", Some("mcp-server-time")),
            ("uvx --python 3.12 mcp-server-time==1.0", None),
            ("uvx --from git+https://example.com/x x", Some("git+https://example.com/x")),
            ("uv tool run x@1.0", None),
            ("docker run -i --rm -e TOKEN mcp/time", Some("mcp/time")),
            ("docker run -it -v /a:/b host:5000/mcp/time:latest", Some("host:5000/mcp/time:latest")),
            ("docker run -i mcp/time:1.2", None),
            ("docker run -i mcp/time@sha256:00", None),
            ("node server.js", None),
            ("cmd /c npx -y x", Some("x")),
            ("cmd.exe /C npx -y x@1.0.0", None),
            ("env A=1 uvx x", Some("x")),
            ("npx", None),
        ] {
            let mut words = line.split(' ');
            assert_eq!(unpinned(words.next().unwrap(), words), expected, "{line}");
        }
    }

    #[test]
    fn t43_packages_that_a_shell_starts_are_found() {
        for (line, expected) in [
            ("npx -y x", Some("x")),
            ("cd /srv && exec npx -y 'x'; true", Some("x")),
            ("npx -y x@1.2.3", None),
            ("node server.js", None),
            ("sh -c sh -c npx x", Some("x")),
        ] {
            assert_eq!(unpinned("/bin/sh", ["-lc", line]), expected, "{line}");
        }
    }

    #[track_caller]
    fn check(line: &str, expected: bool) {
        let mut words = line.split(' ');
        assert_eq!(may_download(words.next().unwrap(), words), expected, "{line}");
    }

    #[test]
    fn f51_launchers_that_download_are_known_by_name() {
        for line in [
            "npx -y @acme/mcp",
            "C:\\nodejs\\npx.cmd -y x",
            "/usr/bin/uvx mcp-server-time",
            "bunx x",
            "bun x x",
            "pnpm dlx x",
            "npm exec -- x",
            "pipx run x",
            "uv run server.py",
            "uv tool run x",
            "docker run -i --rm mcp/time",
            "podman container run x",
        ] {
            check(line, true);
        }
        for line in
            ["node server.js", "python -m mcp_server", "docker exec x y", "npm start", "uv pip", "my-npx"]
        {
            check(line, false);
        }
    }
}
