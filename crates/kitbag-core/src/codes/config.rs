//! Codes of what is wrong with files and settings.

use super::{CodePage, page};

pub(super) const PAGES: &[CodePage] = &[
    page(
        "unreadable",
        "The file has no read permission, is a folder, or was removed while it was being read.",
        "Check the path and its permissions with `ls -l`.",
        "error[unreadable]: cannot be read: permission denied",
    ),
    page(
        "encoding",
        "The file was saved in another encoding, such as UTF-16 or Latin-1.",
        "Save the file as UTF-8.",
        "error[encoding]: not valid UTF-8",
    ),
    page(
        "syntax",
        "A comma, quote or bracket is missing. The message names the line and the column.",
        "Correct the line that is shown. Comments and trailing commas are allowed in JSON files.",
        "error[syntax]: not valid JSON: the file ends too early",
    ),
    page(
        "too_large",
        "A file, a tool list or an answer is larger than the limit that protects against runaway servers.",
        "Ask the tool for less, or raise the limit that the message names under [limits] in kitbag.toml; \
         `kitbag limits` lists all of them.",
        "error[too_large]: github (too_large): the answer is larger than 16 MiB",
    ),
    page(
        "wrong_wrapper",
        "The servers are under the key of another program, such as \"servers\" instead of \"mcpServers\".",
        "Rename the key as the message says.",
        "warning[wrong_wrapper]: unknown key for servers: \"mcpServer\"",
    ),
    page(
        "no_servers",
        "The file has no servers, or they are under a key that is not read.",
        "Write {\"mcpServers\": {\"time\": {\"command\": \"uvx\", \"args\": [\"mcp-server-time\"]}}}, or let \
         `kitbag servers add` write it.",
        "warning[no_servers]: no servers found in this file",
    ),
    page(
        "unknown_key",
        "A key is misspelt, or belongs to another program.",
        "Write the key that the message suggests, or remove it. docs/kitbag.schema.json lists the keys of kitbag.toml.",
        "warning[unknown_key]: time: unknown key \"commnd\"",
    ),
    page(
        "wrong_type",
        "The value has another type than the key wants, for example a string instead of a list.",
        "Write a value of the type that the message names.",
        "error[wrong_type]: time: \"args\" must be a list of strings, found a string",
    ),
    page(
        "wrong_value",
        "The value has the right type and is not one of those that are possible.",
        "Write one of the values that the message names.",
        "error[wrong_value]: unknown program \"curser\"",
    ),
    page(
        "missing_field",
        "An entry lacks a key without which it cannot be used.",
        "Add \"command\" to start a program, or \"url\" to connect to one.",
        "error[missing_field]: time: has neither a command nor a url",
    ),
    page(
        "conflict",
        "Two keys of one entry contradict each other.",
        "Remove one of the two.",
        "error[conflict]: time: has both a command and a url",
    ),
    page(
        "duplicate",
        "Two entries of one file have the same name; only one of them can be used.",
        "Give one of them another name: `kitbag servers rename <old> <new>`.",
        "warning[duplicate]: \"time\" is given twice in this file",
    ),
    page(
        "bad_name",
        "The name is empty, too long, or holds characters that cannot be seen.",
        "Choose a name of at most 128 visible characters.",
        "error[bad_name]: \"\" cannot be the name of a server",
    ),
    page(
        "bad_url",
        "The address has no scheme or no host, or holds a space.",
        "Write it with http:// or https:// and a host, for example https://example.com/mcp.",
        "error[bad_url]: github: not a URL that can be connected to",
    ),
    page(
        "unsupported",
        "The entry uses a transport or a launcher that works in another program only.",
        "Use the server's http address, or start its program with \"command\".",
        "error[unsupported]: chat: WebSocket addresses are not supported",
    ),
    page(
        "missing_variable",
        "The entry refers to an environment variable that is not set, or is empty.",
        "Set the variable before you start Kitbag, or write a default: ${NAME:-default}.",
        "error[missing_variable]: github: variable GITHUB_TOKEN is not set",
    ),
    page(
        "missing_input",
        "The entry asks for an input, such as a token, and nobody has given it a value yet.",
        "Run `kitbag doctor` on a terminal, where you are asked once, or set the variable the message names.",
        "error[missing_input]: github: no value for input \"token\"",
    ),
    page(
        "not_expanded",
        "The value holds a reference in a form that this kind of file does not know, so it is used as it is written.",
        "Write the reference as the message says, or escape it if the text itself is meant.",
        "warning[not_expanded]: github: \"GITHUB_TOKEN\" holds $TOKEN",
    ),
    page(
        "loose_toggle",
        "[servers.x] in kitbag.toml, or a switch, speaks of a server that no file defines: usually the name is misspelt.",
        "Correct the name, remove the section, or add the server.",
        "warning[loose_toggle]: [servers.githib] speaks of a server that no file defines",
    ),
    page(
        "no_match",
        "A pattern or a name in the rules matches no server or no tool: it is misspelt, or the server does not have the \
         tool (any more). The rule has no effect.",
        "Write the name as `kitbag tools <server>` shows it in the key \"tool\" of --json, or remove the rule.",
        "warning[no_match]: \"servers\" in [agents.coder]: no server is called \"wep\"",
    ),
    page(
        "unpinned",
        "The entry starts a package or an image without a version, so each start may run other code than the last one: \
         what its author, or whoever took over the name, published meanwhile.",
        "Write the version you have looked at: `npx -y name@1.2.3`, `uvx name==1.2.3`, `docker run image@sha256:…`.",
        "note[unpinned]: 2 servers may run another version at every start: time (mcp-server-time), fs (@acme/fs)",
    ),
    page(
        "untrusted",
        "The server or the settings come from the working folder, and nobody has approved that they may run.",
        "Look at what would be started with `kitbag trust`, and approve it there.",
        "warning[untrusted]: this folder's settings are not used until you approve them",
    ),
    page(
        "exposed",
        "A file with a secret can be read by other users of this machine, or a secret is written where it is shown.",
        "Run `chmod 600` on the file, or move the secret into a variable and write ${NAME}.",
        "warning[exposed]: others can read this file, which holds a secret",
    ),
    page(
        "closed",
        "Of a setting: a restriction cannot be read, so everything it could have meant is kept away. Of a connection: the \
         server, or something between, closed it.",
        "Correct the setting that the message names. For a connection look into `kitbag logs <server>`.",
        "error[closed]: github offers no tool: \"include\" must be a list of strings",
    ),
    page(
        "not_yet",
        "The setting is known and nothing obeys it in this version.",
        "Remove it. Where it restricts, those it is for see nothing until it is supported or removed.",
        "error[not_yet]: [groups.local] is not supported yet",
    ),
    page(
        "config",
        "A value that the server needs is missing or cannot be used, or a file could not be changed as asked.",
        "Run `kitbag doctor`: it names the file, the line and what to write.",
        "error[config]: github cannot be used: variable GITHUB_TOKEN is not set",
    ),
];
