//! Codes of how a call, or a command, ends without a result.

use super::{CodePage, MODEL, USAGE, page};

pub(super) const PAGES: &[CodePage] = &[
    page(
        "not_found",
        "The name is misspelt, or the server or tool is filtered by a rule or not visible to this agent.",
        "`kitbag tools` lists every tool, and `kitbag why <tool>` says what stops one.",
        "error[not_found]: no tool is called \"get_tiem\"",
    ),
    page(
        "ambiguous",
        "Several servers have a tool of this name.",
        "Use server/tool, or the full name that the message shows.",
        "error[ambiguous]: \"search\" may mean any of mcp_web_search, mcp_files_search",
    ),
    page(
        "denied",
        "The settings, or a permission, do not allow this user or agent to make the call.",
        "`kitbag why <tool>` names the rule; change it in kitbag.toml if it is not meant.",
        "error[denied]: github (denied): the user ada may not call delete_repo",
    ),
    page(
        "approval_denied",
        "\"approve\" in kitbag.toml wants a person asked before the call, and nobody could be asked, or said no.",
        "Call it at a terminal, where you are asked, or change \"approve\".",
        "error[approval_denied]: github (approval_denied): create_issue was not approved",
    ),
    page(
        "held",
        "The server comes from the working folder, and nobody has approved that it may run.",
        "Look at what it would start with `kitbag trust`, and approve it there.",
        "error[held]: time comes from the working folder and is not trusted yet",
    ),
    page(
        "invalid_arguments",
        "An argument is missing, misspelt or of another type than the tool's schema says. The tool was not called.",
        "`kitbag show <tool>` lists the arguments and an example to paste.",
        "error[invalid_arguments]: time (invalid_arguments): \"timezone\" is required",
    ),
    page(
        "outcome_unknown",
        "The call was sent, and the connection or the time ended before the answer: it may have been carried out.",
        "Look whether it was carried out before you call it again. For slow tools raise \"timeout\" in \
         [servers.<name>] of kitbag.toml.",
        "error[outcome_unknown]: github (outcome_unknown): no answer within 600s",
    ),
    page(
        "cancelled",
        "Somebody gave up: Ctrl-C, or the program that made the call.",
        "Call it again. It may have been carried out.",
        "error[cancelled]: interrupted",
    ),
    page(
        "bad_answer",
        "The server's answer breaks the protocol: a bug of the server.",
        "Look into `kitbag logs <server>`, and report it to the author of the server.",
        "error[bad_answer]: x (bad_answer): the result has no content",
    ),
    page(
        "server_error",
        "The server answered with an error of the protocol, or does not allow the call.",
        "Read the message, which is the server's own; `kitbag logs <server>` may say more.",
        "error[server_error]: x (server_error): -32603: internal error",
    ),
    page(
        "tool_error",
        "The tool ran and says that it failed.",
        "Read its message and change the arguments.",
        "{\"ok\": false, \"kind\": \"tool_error\"} with --json; exit code 1",
    ),
    page(
        "internal",
        "A bug in Kitbag.",
        "Report it, with the command and its output under --verbose.",
        "error[internal]: cannot listen for signals",
    ),
    page(
        MODEL.0,
        "No model is configured, its key is wrong, it is not known at its host, or the host is busy, away or broke off.",
        "The message names the model, its host and the variable to set; `kitbag run --help` shows how a model is chosen.",
        "error[model]: openai/gpt-5-mini at https://api.openai.com/v1 needs a key: set OPENAI_API_KEY",
    ),
    page(
        USAGE.0,
        "An argument is unknown, missing, or cannot be read.",
        "`kitbag <command> --help` shows what can be typed, with examples.",
        "error[usage]: unexpected argument '--jsn' found",
    ),
];
