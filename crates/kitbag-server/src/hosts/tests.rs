use super::*;

#[track_caller]
fn check(name: &str, longest: usize, many: ManyTools) {
    let (host, room) = known(name);
    assert_eq!((room, host.many), (longest, many), "{name}");
}

#[test]
fn hosts_leave_so_much_room_for_a_name() {
    check("claude-code", 64 - "mcp__kitbag__".len(), ManyTools::Deferred);
    check("Claude Code", 51, ManyTools::Deferred);
    check("codex-mcp-client", 64, ManyTools::Deferred);
    check("cursor-vscode", 60 - "kitbag_".len(), ManyTools::Deferred);
    check("Visual Studio Code", 53, ManyTools::Shown(128));
    check("Visual-Studio-Code", 53, ManyTools::Shown(128));
    check("Roo-Code", 64 - "mcp--kitbag--".len(), SHOWN);
    // These say what we are called there.
    check("qwen-cli-mcp-client-kitbag", 63 - "mcp__kitbag__".len(), ManyTools::Deferred);
    check("qwen-cli-mcp-client-all-my-tools", 63 - "mcp__all-my-tools__".len(), ManyTools::Deferred);
    check("gemini-cli-mcp-client", 63 - "mcp_kitbag_".len(), SHOWN);
    let long = format!("qwen-cli-mcp-client-{}", "x".repeat(10_000));
    check(&long, SHORTEST_SHOWN, ManyTools::Deferred);
    for anybody in ["", "mcp", "claude-codex", "my-codex", "goose-fork", "文"] {
        assert_eq!(known(anybody), (&ANYBODY, LONGEST_SHOWN), "{anybody}");
    }
}
