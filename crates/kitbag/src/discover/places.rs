//! Where other programs keep their files. A row a program; a program without a file here is read when its
//! file is named.

use std::path::PathBuf;

use kitbag_core::config::Dialect;

use crate::Env;

/// The folders that programs keep their files in.
#[derive(Clone, Copy)]
enum Base {
    /// The user's home.
    Home,
    /// Where programs keep settings: `~/.config`, `~/Library/Application Support`, `%APPDATA%`.
    Settings,
    /// `~/.config`, also on macOS.
    Xdg,
}

use Base::{Home, Settings, Xdg};

/// Whose file, in which folder, under which name.
const HOSTS: &[(&str, Base, &str)] = &[
    ("claude-desktop", Settings, "Claude/claude_desktop_config.json"),
    ("claude-code", Home, ".claude.json"),
    ("cursor", Home, ".cursor/mcp.json"),
    ("vscode", Settings, "Code/User/mcp.json"),
    ("vscode", Settings, "Code/User/settings.json"),
    ("vscode", Settings, "Code - Insiders/User/mcp.json"),
    ("windsurf", Home, ".codeium/windsurf/mcp_config.json"),
    ("cline", Settings, "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"),
    ("cline", Home, ".cline/data/settings/cline_mcp_settings.json"),
    ("roo", Settings, "Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json"),
    ("zed", Xdg, "zed/settings.json"),
    ("codex", Home, ".codex/config.toml"),
    ("gemini", Home, ".gemini/settings.json"),
    ("qwen", Home, ".qwen/settings.json"),
    ("goose", Xdg, "goose/config.yaml"),
    ("lmstudio", Home, ".lmstudio/mcp.json"),
    ("opencode", Xdg, "opencode/opencode.json"),
    ("opencode", Xdg, "opencode/opencode.jsonc"),
    ("copilot-cli", Home, ".copilot/mcp-config.json"),
    ("kiro", Home, ".kiro/settings/mcp.json"),
    ("hermes", Home, ".hermes/config.yaml"),
    ("crush", Xdg, "crush/crush.json"),
    ("vibe", Home, ".vibe/config.toml"),
];

/// Files of the working folder, by whose rules they are read; without a dialect that is found out.
const PROJECT: &[(Option<&str>, &str)] = &[
    (Some("claude-code"), ".mcp.json"),
    (None, "mcp.json"),
    (Some("cursor"), ".cursor/mcp.json"),
    (Some("vscode"), ".vscode/mcp.json"),
    (Some("roo"), ".roo/mcp.json"),
    (Some("zed"), ".zed/settings.json"),
    (Some("codex"), ".codex/config.toml"),
    (Some("gemini"), ".gemini/settings.json"),
    (Some("qwen"), ".qwen/settings.json"),
    (Some("kiro"), ".kiro/settings/mcp.json"),
    (Some("opencode"), "opencode.json"),
    (Some("opencode"), "opencode.jsonc"),
    (Some("crush"), "crush.json"),
    (Some("crush"), ".crush.json"),
    (Some("librechat"), "librechat.yaml"),
    (Some("mcp-agent"), "mcp_agent.config.yaml"),
];

/// A place to look, and whose file would be there.
#[derive(Clone, Debug)]
pub struct Found {
    /// Whose rules apply, when the place says so.
    pub dialect: Option<&'static Dialect>,
    /// The file, which need not exist.
    pub file: PathBuf,
}

/// Every place where a program keeps its servers for this user.
pub fn host_files(env: &Env) -> Vec<Found> {
    let Some(home) = env.home() else { return Vec::new() };
    let xdg = env.filled("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let xdg = xdg.unwrap_or_else(|| home.join(".config"));
    let settings = if cfg!(windows) {
        env.filled("APPDATA").map_or_else(|| home.join("AppData/Roaming"), PathBuf::from)
    } else if cfg!(target_os = "macos") {
        home.join("Library/Application Support")
    } else {
        xdg.clone()
    };
    let moved = env.filled("CODEX_HOME").map(PathBuf::from);
    let file = |(host, base, name): &(&str, Base, &str)| match (*host, &moved, base) {
        ("codex", Some(folder), _) => folder.join("config.toml"),
        (_, _, Base::Home) => home.join(name),
        (_, _, Base::Settings) => settings.join(name),
        (_, _, Base::Xdg) => xdg.join(name),
    };
    HOSTS.iter().map(|row| Found { dialect: Dialect::by_id(row.0), file: file(row) }).collect()
}

/// Every place in the working folder where servers may be named.
pub fn project_files(env: &Env) -> Vec<Found> {
    let found = |(host, name): &(Option<&str>, &str)| Found {
        dialect: host.and_then(Dialect::by_id),
        file: env.cwd().join(name),
    };
    PROJECT.iter().map(found).collect()
}
