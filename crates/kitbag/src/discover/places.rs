//! Where other programs keep their files. A row a program; a program without a file here is read when its
//! file is named.

use std::path::{Path, PathBuf};

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

/// Programs whose folder a variable moves, and the file's name there.
const MOVED: &[(&str, &str, &str)] =
    &[("codex", "CODEX_HOME", "config.toml"), ("claude-code", "CLAUDE_CONFIG_DIR", ".claude.json")];

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
pub struct HostFile {
    /// Whose rules apply, when the place says so.
    pub dialect: Option<&'static Dialect>,
    /// The file, which need not exist.
    pub file: PathBuf,
}

/// Every place where a program keeps its servers for this user.
pub fn host_files(env: &Env) -> Vec<HostFile> {
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
    let moved = |host: &str| {
        let (_, variable, name) = MOVED.iter().find(|(moved, ..)| *moved == host)?;
        Some(env.path(env.filled(variable)?, env.cwd()).join(name))
    };
    let file = |(host, base, name): &(&str, Base, &str)| match (moved(host), base) {
        (Some(file), _) => file,
        (None, Base::Home) => home.join(name),
        (None, Base::Settings) => settings.join(name),
        (None, Base::Xdg) => xdg.join(name),
    };
    HOSTS.iter().map(|row| HostFile { dialect: Dialect::by_id(row.0), file: file(row) }).collect()
}

/// The folders whose files belong to the project: from the root of the repository down to the working folder. Without
/// a repository it is the working folder alone.
pub fn project_folders(env: &Env) -> Vec<PathBuf> {
    let is_root = |folder: &&Path| folder.join(".git").exists();
    let depth = env.cwd().ancestors().take_while(|folder| !is_root(folder)).count();
    let above: Vec<&Path> = env.cwd().ancestors().take(depth + 1).collect();
    // No root was found when all folders above were looked at in vain.
    let has_root = above.last().is_some_and(is_root);
    let within = if has_root { above.len() } else { 1 };
    above.into_iter().take(within).map(Path::to_path_buf).rev().collect()
}

/// Every place in the project where servers may be named; the nearest to the working folder last.
pub fn project_files(env: &Env) -> Vec<HostFile> {
    let in_folder = |folder: PathBuf| {
        PROJECT.iter().map(move |(host, name)| HostFile {
            dialect: host.and_then(Dialect::by_id),
            file: folder.join(name),
        })
    };
    project_folders(env).into_iter().flat_map(in_folder).collect()
}
