//! Codes of why a server cannot be started or reached.

use super::{CodePage, page};

pub(super) const PAGES: &[CodePage] = &[
    page(
        "missing_program",
        "The program is not installed, or not in the PATH that Kitbag was started with.",
        "Install it, or write its full path as \"command\". `which <program>` shows where a shell finds it.",
        "error[missing_program]: time: \"uvx\" cannot be found",
    ),
    page(
        "missing_folder",
        "The folder that \"cwd\" names does not exist.",
        "Create the folder, or correct \"cwd\".",
        "error[unavailable]: time (unavailable): missing folder: /srv/tools",
    ),
    page(
        "spawn_failed",
        "The file is not executable, or is made for another system.",
        "Run the command by hand in a shell, and `chmod +x` the file.",
        "error[unavailable]: time (unavailable): cannot be started: permission denied",
    ),
    page(
        "exited",
        "The program ended by itself: an argument or a variable is missing, or it crashed.",
        "Look into `kitbag logs <server>`. If it wants a variable of your environment, add it to \"env_pass\" in \
         [servers.<name>] of kitbag.toml.",
        "error[unavailable]: github (unavailable): exited: code 1: GITHUB_TOKEN is not set",
    ),
    page(
        "connection_refused",
        "No program listens at the address: the server is not running, or has another port.",
        "Start the server, or correct its url.",
        "error[unavailable]: api (unavailable): connection: refused at http://127.0.0.1:8080/mcp",
    ),
    page(
        "dns",
        "The host is misspelt, or there is no network.",
        "Correct the host in the url, or check the network and the proxy variables.",
        "error[unavailable]: api (unavailable): connection: the host cannot be looked up at https://exmple.com/mcp",
    ),
    page(
        "unreachable",
        "A network, proxy or firewall between here and the server lets nothing through.",
        "Try the address with `curl -v`, and check HTTPS_PROXY and NO_PROXY.",
        "error[unavailable]: api (unavailable): connection: no route to host at https://example.com/mcp",
    ),
    page(
        "certificate",
        "The certificate is expired, for another host, or signed by an authority this machine does not know.",
        "Renew the certificate, or add the authority to the system, or name its file in SSL_CERT_FILE.",
        "error[unavailable]: api (unavailable): certificate: unknown issuer at https://example.com/mcp",
    ),
    page(
        "invalid_url",
        "The address, with its variables filled in, is not one that can be connected to.",
        "Correct the url, or the variables in it: `kitbag servers show <name>` shows where each value comes from.",
        "error[unavailable]: api (unavailable): invalid url: no host",
    ),
    page(
        "forbidden",
        "The server knows who asks and does not allow it: the account or the token lacks a permission.",
        "Give the account the permission, or use another token.",
        "error[server_error]: github (server_error): forbidden: 403 at https://example.com/mcp",
    ),
    page(
        "refused",
        "The server answered the connection with an error of its own.",
        "Check the path of the url, and look into the server's own log.",
        "error[unavailable]: api (unavailable): refused: 500 at https://example.com/mcp",
    ),
    page(
        "session_lost",
        "The server was restarted, or forgot the session after a while.",
        "Nothing: Kitbag opens a new session by itself. If it happens all the time, look into the server's own log.",
        "error[unavailable]: api (unavailable): the session is gone: 404 at https://example.com/mcp",
    ),
    page(
        "not_mcp",
        "Something answers that is not an MCP server: a website, a login page, or a program that prints other things on stdout.",
        "Correct the url or the command; many servers need an argument such as `stdio` or `mcp`.",
        "error[unavailable]: web (unavailable): not MCP: it answers with text/html at https://example.com",
    ),
    page(
        "protocol_version",
        "The server is older or newer than every revision of the protocol that Kitbag speaks.",
        "Install another version of the server.",
        "error[unavailable]: old (unavailable): protocol version: it speaks 2023-01-01",
    ),
    page(
        "cut_short",
        "The list of tools has more pages, bytes or tools than the limits allow, or its pages repeat.",
        "Raise pages, list or tools under [limits] in kitbag.toml.",
        "warning[list_cut]: x: tool list cut short: more than 100 pages",
    ),
    page(
        "stopped",
        "Kitbag ended the server: the command is over, or the configuration no longer has it.",
        "Nothing, or run the command again.",
        "error[unavailable]: time (unavailable): stopped: the configuration changed",
    ),
    page(
        "unavailable",
        "The server is not connected: it is switched off, still starting, or cannot be started or reached.",
        "Run `kitbag status <server>`, which says why, and `kitbag logs <server>`, which shows what it wrote.",
        "error[unavailable]: time (unavailable): failed: exited: code 1",
    ),
    page(
        "timeout",
        "Of a server: it takes longer to start or to answer than it may. Of a setting: the unit was probably mistaken, or \
         had to be guessed.",
        "Raise \"timeout\" or \"connect_timeout\" in [servers.<name>] of kitbag.toml, with a unit: \"90s\". \
         `kitbag servers warm` waits for servers that download first.",
        "error[timeout]: time (timeout): the call could not be sent within 60s",
    ),
    page(
        "auth_required",
        "The server wants a token or a password, and got none, or one that is not valid.",
        "Add the token to \"headers\" or \"env\" of the server, as a reference: \"Bearer ${TOKEN}\".",
        "error[auth_required]: github (auth_required): auth required: 401 at https://example.com/mcp",
    ),
    page(
        "rate_limited",
        "The server gets more calls than it allows.",
        "Wait and call again, or lower \"concurrency\" in [servers.<name>] of kitbag.toml.",
        "error[rate_limited]: github (rate_limited): 429 at https://example.com/mcp",
    ),
];
