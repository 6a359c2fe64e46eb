//! Programs that fetch the server before they start it: their first start takes as long as a download does.

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
    let (kind, package) = launched(command, args)?;
    let is_local = package.starts_with(['.', '/', '~']) || package.contains("file:");
    (!is_local && !(kind.is_pinned)(package)).then_some(package)
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
    let (_, package) = launched(command, args)?;
    let last = package.trim_end_matches('/').rsplit('/').next()?;
    last.split(['@', '=', ':', '#', '[', '<', '>', '~']).next().filter(|name| !name.is_empty())
}

/// The package or image that a command starts, and by which rules it is named.
fn launched<'a>(
    command: &str,
    args: impl IntoIterator<Item = &'a str>,
) -> Option<(&'static PackageSyntax, &'a str)> {
    let args: Vec<&str> = args.into_iter().collect();
    let name = command.rsplit(['/', '\\']).next().unwrap_or(command);
    let name = name.split_once('.').map_or(name, |(name, _)| name).to_ascii_lowercase();
    let first = args.iter().position(|arg| !arg.starts_with('-')).unwrap_or(args.len());
    let sub = args.get(first).copied().unwrap_or_default();
    let after = args.get(first + 1..).unwrap_or_default();
    let (kind, rest): (&'static PackageSyntax, &[&str]) = match (name.as_str(), sub) {
        ("npx" | "bunx" | "pnpx", _) => (&NODE, args.as_slice()),
        ("npm", "exec" | "x") | ("pnpm" | "yarn", "dlx") | ("bun", "x") => (&NODE, after),
        ("uvx", _) => (&PYTHON, args.as_slice()),
        ("pipx", "run") => (&PYTHON, after),
        ("uv", "tool") if after.first() == Some(&"run") => (&PYTHON, &after[1..]),
        ("docker" | "podman" | "nerdctl", "run") => (&IMAGE, after),
        ("docker" | "podman" | "nerdctl", "container") if after.first() == Some(&"run") => {
            (&IMAGE, &after[1..])
        }
        _ => return None,
    };
    Some((kind, kind.package(rest)?))
}

/// How one kind of launcher is told what to fetch.
struct PackageSyntax {
    /// Options that name the package.
    from: &'static [&'static str],
    /// Which options are followed by a value of their own.
    takes_value: fn(&str) -> bool,
    is_pinned: fn(&str) -> bool,
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
};

const PYTHON: PackageSyntax = PackageSyntax {
    from: &["--from", "--spec"],
    takes_value: |option| {
        let known =
            ["--python", "-p", "--with", "--index-url", "--index", "--extra-index-url", "--directory"];
        known.contains(&option)
    },
    is_pinned: |package| package.contains("==") || has_version(package, '@'),
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
            ("npx", None),
        ] {
            let mut words = line.split(' ');
            assert_eq!(unpinned(words.next().unwrap(), words), expected, "{line}");
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
